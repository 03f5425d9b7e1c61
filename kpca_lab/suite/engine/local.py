"""The jobs of a run in processes of this machine."""

import time
from multiprocessing.connection import wait

from kpca_lab.suite.engine.pool import TICK, start_worker, stop_worker

__all__ = ["compute_locally"]

# Seconds between looks at jobs that other processes hold.
RETRY_CLAIMS = 0.2
# How often a process may end while it starts before the run is given up.
MOST_FALSE_STARTS = 5


def compute_locally(tasks: list, desk, n_workers: int, threads: int) -> None:
    """Compute tasks by worker processes.

    Parameters
    ----------
    tasks : list
        In order.
    desk : object
        With ``claim(task)``, which returns True if the task is ours to compute, False if it is done, and None
        if another process is at it; ``put_back(task)``; and ``take(task, answer)``.
    n_workers, threads : int
        Processes, and BLAS threads of each.
    """
    _LocalRun(tasks, desk, n_workers, threads).all()


class _LocalRun:
    def __init__(self, tasks, desk, n_workers, threads):
        self.waiting, self.held = tasks[::-1], []
        self.desk, self.n_workers, self.threads = desk, n_workers, threads
        self.busy = {}
        self.retry_at, self.false_starts = 0.0, 0

    def all(self):
        try:
            while self.waiting or self.held or self._at_work():
                self._look_again()
                self._start()
                self._give()
                ready = [end for worker in self.busy for end in (worker.pipe, worker.output)]
                if ready:
                    wait(ready, TICK)
                else:
                    time.sleep(TICK)
                self._take()
            for worker in self.busy:
                stop_worker(worker)
        except BaseException:
            for worker in self.busy:
                worker.end()
            raise

    def _at_work(self):
        return sum(task is not None for task in self.busy.values())

    def _look_again(self):
        """Try again to get what other processes held."""
        if self.held and not self.waiting and time.monotonic() > self.retry_at:
            self.waiting, self.held = self.held[::-1], []
            self.retry_at = time.monotonic() + RETRY_CLAIMS

    def _start(self):
        while len(self.busy) < min(self.n_workers, len(self.waiting) + self._at_work()):
            self.busy[start_worker(self.threads)] = None

    def _give(self):
        for worker in list(self.busy):
            while worker.ready and not worker.ended and self.busy[worker] is None and self.waiting:
                task = self.waiting.pop()
                ours = self.desk.claim(task)
                if ours is None:
                    self.held.append(task)
                elif ours and worker.give(task.job, task.plan.settings.limits):
                    self.busy[worker] = task
                elif ours:
                    self.desk.put_back(task)
                    self.waiting.append(task)
            if worker.ended:
                del self.busy[worker]

    def _take(self):
        for worker, task in list(self.busy.items()):
            answer = worker.answer()
            if worker.ended:
                del self.busy[worker]
                self.false_starts += not worker.ready
                if self.false_starts > MOST_FALSE_STARTS:
                    raise RuntimeError(f"{self.false_starts} worker processes ended while they started")
            elif answer is not None:
                self.busy[worker] = None
            if answer is not None:
                self.desk.take(task, answer)
