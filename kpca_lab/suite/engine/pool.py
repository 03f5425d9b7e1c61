"""Worker processes that can be killed: for being too slow, too big, or when the run ends."""

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import psutil

from kpca_lab.suite.cores import thread_environment
from kpca_lab.suite.jobs import Job

__all__ = ["Worker", "close_idle", "memory_text", "start_worker", "stop_worker", "time_text"]

_idle: list["Worker"] = []


def time_text(seconds: float) -> str:
    """The error of a job that was stopped after so many seconds."""
    return f"over the time limit of {seconds:g} s"


def memory_text(megabytes: float) -> str:
    """The error of a job that was stopped for using more memory."""
    return f"over the memory limit of {megabytes:g} MB"


class Worker:
    """A process with one job at a time.

    Attributes
    ----------
    pipe : Connection
        Readable when there is an answer, or when the process is gone.
    threads : int
    ready : bool
        Whether it has started up.
    """

    def __init__(self, threads: int):
        self.threads = threads
        self.ready = False
        self.limits = {}
        self.started = None
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kpca_lab.suite.engine.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env=os.environ | thread_environment(threads),
        )
        theirs.close()
        try:
            self.memory = psutil.Process(self.process.pid)
        except psutil.NoSuchProcess:
            self.memory = None
        self.pipe.send(sys.path)

    def give(self, job: Job, limits: dict) -> None:
        """Hand over a job; the clock starts."""
        self.limits = limits
        self.started = time.monotonic()
        self.pipe.send(job)

    def excess(self) -> tuple[str, str] | None:
        """Status and error if the job is over a limit."""
        seconds, megabytes = self.limits.get("seconds"), self.limits.get("memory_mb")
        if seconds is not None and time.monotonic() - self.started > seconds:
            return "timeout", time_text(seconds)
        if megabytes is not None and self._resident() > megabytes * 2**20:
            return "memory", memory_text(megabytes)
        return None

    def _resident(self):
        try:
            return self.memory.memory_info().rss if self.memory else 0
        except psutil.Error:
            return 0

    def end(self) -> str:
        """End the process at once, and tell how it had ended if it was dead already."""
        try:
            code = self.process.wait(0.5 if self.process.poll() is None and self._gone() else 0)
        except subprocess.TimeoutExpired:
            code = None
        self.process.kill()
        self.process.wait()
        self.pipe.close()
        if code is None:
            return ""
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def _gone(self):
        """Whether the other end of the pipe is closed, though the process may still be ending."""
        try:
            return self.pipe.poll() and not self.pipe.recv()
        except (EOFError, OSError):
            return True


def start_worker(threads: int) -> Worker:
    """A worker with so many BLAS threads: an idle one of an earlier run, or a new one."""
    for worker in list(_idle):
        if worker.threads == threads and worker.process.poll() is None:
            _idle.remove(worker)
            return worker
    return Worker(threads)


def stop_worker(worker: Worker) -> None:
    """Keep an idle worker for the next run of this process."""
    if worker.process.poll() is None:
        _idle.append(worker)
    else:
        worker.end()


def close_idle() -> None:
    """End all idle workers."""
    while _idle:
        _idle.pop().end()


atexit.register(close_idle)
