"""A worker process: takes jobs from its parent through a pipe, one after the other, and answers.

:mod:`kpca_lab.suite.engine.pool` starts this file as a script, so that nothing is imported before the worker
listens: it ends in the middle of its start, or of a job, when its parent is gone.
"""

import contextlib
import ctypes
import os
import queue
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

__all__ = ["main"]

PR_SET_CHILD_SUBREAPER = 36


def main(descriptor: int) -> None:
    """Answer jobs until the parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _adopt_orphans()
    pipe = Connection(descriptor)
    received = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, received), daemon=True).start()
    sys.path[:] = received.get()
    try:
        from kpca_lab.suite.engine.execute import execute, prepare

        prepare()
    except BaseException as error:
        pipe.send(("broken", f"{type(error).__name__}: {error}"))
        raise
    pipe.send(("ready", os.getpid()))
    while True:
        folder, job = received.get()
        os.chdir(folder)  # it may be another than that of the run which this process was started for
        start = time.perf_counter()
        answer = execute(job)
        seconds = time.perf_counter() - start
        _end_children()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        pipe.send((*answer, seconds))


def _listen(pipe, received):
    """Read from the parent; end the process and what it has started when the parent is gone."""
    while True:
        try:
            received.put(pipe.recv())
        except (EOFError, OSError):
            _end_children()
            os.killpg(0, signal.SIGKILL)  # this process leads its group


def _adopt_orphans():
    """Become the parent of processes whose own parent in a job has ended, so that they can be ended too."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_children():
    """End what a job has started and left behind."""
    for _ in range(10):  # those of a process that ends become ours
        children = _children()
        if not children:
            return
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            with contextlib.suppress(OSError):
                os.waitpid(child, 0)


def _children():
    """Numbers of the processes that are children of this one; none where the system does not tell."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]))
