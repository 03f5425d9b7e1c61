"""A worker process: takes jobs from its parent through a pipe, one after the other, and answers.

Started by :mod:`kpca_lab.suite.engine.pool` as ``python -m kpca_lab.suite.engine.worker DESCRIPTOR``.
"""

import os
import queue
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

__all__ = ["main"]


def main(descriptor: int) -> None:
    """Answer jobs until the parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    os.dup2(2, 1)  # what jobs print must not mix with the tables of the parent
    pipe = Connection(descriptor)
    sys.path[:] = pipe.recv()
    try:
        from kpca_lab.suite.engine.execute import execute, prepare

        prepare()
    except BaseException as error:
        pipe.send(("broken", f"{type(error).__name__}: {error}"))
        raise
    pipe.send(("ready", os.getpid()))
    jobs = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        start = time.perf_counter()
        answer = execute(job)
        pipe.send((*answer, time.perf_counter() - start))


def _listen(pipe, jobs):
    """Read jobs; end the process, in the middle of a job too, when the parent is gone."""
    while True:
        try:
            jobs.put(pipe.recv())
        except (EOFError, OSError):
            os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
