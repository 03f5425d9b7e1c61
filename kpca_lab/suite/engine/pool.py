"""Worker processes that can be killed: for being too slow, too big, or when the run ends.

:func:`run_job` runs one job in such a process; :mod:`kpca_lab.suite.engine.local` keeps several of them busy.
"""

import atexit
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import psutil

from kpca_lab.suite.cores import thread_environment
from kpca_lab.suite.jobs import Job

__all__ = [
    "TICK",
    "Answer",
    "Worker",
    "close_idle",
    "end_running",
    "memory_text",
    "run_job",
    "start_worker",
    "stop_worker",
    "time_text",
]

# Seconds between looks at limits.
TICK = 0.05
# Bytes of what a job prints that are kept: its end.
MOST_OUTPUT = 20_000
# Seconds between looks at the memory of a job and of the processes it has started.
MEMORY_TICK = 0.2

_idle: list["Worker"] = []
_idle_lock = threading.Lock()
# Those that `run_job` waits for, in any thread.
_running: set["Worker"] = set()


def time_text(seconds: float) -> str:
    """The error of a job that was stopped after so many seconds."""
    return f"over the time limit of {seconds:g} s"


def memory_text(megabytes: float) -> str:
    """The error of a job that was stopped for using more memory."""
    return f"over the memory limit of {megabytes:g} MB"


@dataclass(frozen=True)
class Answer:
    """What came of a job.

    Attributes
    ----------
    content : tuple
        As :func:`kpca_lab.suite.engine.execute.execute` returns it.
    seconds : float
    printed : str
        What the job has printed; the end of it if that is long.
    """

    content: tuple
    seconds: float
    printed: str = ""


class Worker:
    """A process with one job at a time, and all that the job starts.

    Attributes
    ----------
    pipe : Connection
        Readable when there is an answer, or when the process is gone.
    output : file
        Readable when the process has printed something.
    threads : int
    ready, busy : bool
        Whether it has started up, and whether it has a job.
    ended : bool
        Whether it can take no further job.
    """

    def __init__(self, threads: int):
        self.threads = threads
        self.ready = self.ended = self.busy = False
        self.limits: dict = {}
        self.started = 0.0
        self._next_look = 0.0
        self._printed = b""
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("worker.py")), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | thread_environment(threads),
            start_new_session=True,  # a group of its own, which ends with it
        )
        theirs.close()
        self.output = self.process.stdout
        os.set_blocking(self.output.fileno(), False)
        with contextlib.suppress(OSError):  # it is gone already, which the pipe will tell
            self.pipe.send(sys.path)

    def give(self, job: Job, limits: dict) -> bool:
        """Hand over a job, to run in this folder, and start its clock; False if the process is gone."""
        folder = os.getcwd()
        self.limits = limits
        self.started = time.monotonic()
        self._printed = b""
        try:
            self.pipe.send((folder, job))
        except OSError:
            self.end()
            return False
        self.busy = True
        return True

    def answer(self) -> Answer | None:
        """What came of the job, if it has ended: by itself, with the process, or for a limit.

        Raises
        ------
        RuntimeError
            If the process cannot run any job.
        """
        self._listen()
        if self.pipe.poll():
            try:
                kind, *content = self.pipe.recv()
            except (EOFError, OSError):
                return self._died()
            if kind == "broken":
                raise RuntimeError(f"a worker process could not start: {content[0]}")
            if kind == "ready":
                self.ready = True
                return None
            seconds = content.pop()
            self.busy = False
            return Answer((kind, *content), seconds, self._text())
        if self.process.poll() is not None:  # a child of it may keep the pipe open
            return self._died()
        excess = self._excess() if self.busy else None
        return None if excess is None else self._stopped(*excess)

    def _died(self):
        printed, busy = self._text(), self.busy
        how = self.end()
        error = f"the worker process died: {how or 'it closed its pipe'}"
        return self._failed("failed", error, printed) if busy else None

    def _stopped(self, status, error):
        printed = self._text()
        self.end()
        return self._failed(status, error, printed)

    def _failed(self, status, error, printed):
        return Answer(("failed", status, error, ""), time.monotonic() - self.started, printed)

    def _excess(self):
        """Status and error if the job is over a limit."""
        seconds, megabytes = self.limits.get("seconds"), self.limits.get("memory_mb")
        now = time.monotonic()
        if seconds is not None and now - self.started > seconds:
            return "timeout", time_text(seconds)
        if megabytes is not None and now > self._next_look:
            self._next_look = now + MEMORY_TICK
            if self._resident() > megabytes * 2**20:
                return "memory", memory_text(megabytes)
        return None

    def _resident(self):
        """Bytes in memory of the process, and of its children without what they share with it."""
        total = 0
        with contextlib.suppress(psutil.Error):
            total += psutil.Process(self.process.pid).memory_info().rss
        for child in self._descendants():
            with contextlib.suppress(psutil.Error):
                total += child.memory_full_info().uss
        return total

    def _descendants(self):
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.Error:
            return []

    def _listen(self):
        """Take in what the process has printed."""
        with contextlib.suppress(OSError, ValueError):
            while content := os.read(self.output.fileno(), 65536):
                self._printed = (self._printed + content)[-MOST_OUTPUT - 1 :]

    def _text(self):
        """What the job has printed."""
        self._listen()
        cut = "[...] " if len(self._printed) > MOST_OUTPUT else ""
        return cut + self._printed[-MOST_OUTPUT:].decode("utf-8", "replace").replace("\0", "")

    def end(self) -> str:
        """End the process and all it has started at once; tell how it had ended if it was dead already."""
        try:
            code = self.process.wait(0.5 if self.process.poll() is None and self._closed() else 0)
        except subprocess.TimeoutExpired:
            code = None
        others = self._descendants()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for other in others:
            with contextlib.suppress(psutil.Error):
                other.kill()
        self.process.kill()
        self.process.wait()
        self.pipe.close()
        self.output.close()
        self.ended, self.busy = True, False
        if code is None:
            return ""
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def _closed(self):
        """Whether the other end of the pipe is closed, though the process may still be ending."""
        try:
            return self.pipe.poll() and not self.pipe.recv()
        except (EOFError, OSError):
            return True


def start_worker(threads: int) -> Worker:
    """A worker with so many BLAS threads: an idle one of an earlier run, or a new one."""
    with _idle_lock:
        for worker in list(_idle):
            if worker.threads == threads and worker.process.poll() is None:
                _idle.remove(worker)
                return worker
    return Worker(threads)


def stop_worker(worker: Worker) -> None:
    """Keep an idle worker for the next run of this process."""
    if worker.ended:
        return
    if worker.ready and worker.process.poll() is None:
        _idle.append(worker)
    else:
        worker.end()


def run_job(job: Job, limits: dict, threads: int = 1) -> Answer:
    """Run one job in a process of its own, within limits.

    Parameters
    ----------
    job : Job
    limits : dict
        ``seconds`` and ``memory_mb``, None for no limit.
    threads : int
        BLAS threads.

    Returns
    -------
    Answer
    """
    worker = start_worker(threads)
    _running.add(worker)
    try:
        answer = None
        while answer is None:
            wait([worker.pipe, worker.output], TICK)
            answer = worker.answer()
            if worker.ended and answer is None:
                raise RuntimeError("a worker process could not start")
            if worker.ready and not worker.busy and answer is None:
                worker.give(job, limits)
    except BaseException:
        worker.end()
        raise
    finally:
        _running.discard(worker)
    stop_worker(worker)
    return answer


def end_running() -> None:
    """End the processes that `run_job` waits for; their jobs fail."""
    for worker in list(_running):
        with contextlib.suppress(OSError):
            os.killpg(worker.process.pid, signal.SIGKILL)


def close_idle() -> None:
    """End all idle workers."""
    while _idle:
        _idle.pop().end()


atexit.register(close_idle)
