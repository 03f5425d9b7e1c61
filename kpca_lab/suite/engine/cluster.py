"""The jobs of a run on a Dask cluster; what they give is stored by the client.

Each job runs in a process of its own beside the Dask worker, which can be killed, so that limits hold as on
one machine. Dask runs the jobs of a worker that is lost again on another one. Data that a worker does not
have it must be able to fetch; a file of the user's must have the same path everywhere.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kpca_lab.extras import require
from kpca_lab.suite.engine.pool import Answer, end_running, run_job

__all__ = ["on_cluster"]

# Seconds to wait for the scheduler, and between looks at jobs that other processes hold.
PATIENCE = 10
RETRY_CLAIMS = 0.2


@contextmanager
def on_cluster(scheduler: str) -> Iterator[Callable]:
    """A way to compute tasks on a cluster, for ``run(plans, compute=...)``.

    Parameters
    ----------
    scheduler : str
        Address of the scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    ConnectionError
        If it does not answer.
    """
    distributed = require("distributed", "dist")
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    try:
        yield lambda tasks, desk, n_workers, threads: _Cluster(client, tasks, desk, threads).all()
    finally:
        client.close()


class _Cluster:
    def __init__(self, client, tasks, desk, threads):
        self.client, self.desk, self.threads = client, desk, threads
        self.waiting, self.held = list(tasks), []
        # Where times are measured, jobs must not disturb each other.
        self.most = 1 if any(task.plan.settings.timing for task in tasks) else len(tasks)
        self.running = {}

    def all(self):
        try:
            while self.waiting or self.held or self.running:
                self._submit()
                self._take()
        except BaseException:
            self._cancel()
            raise

    def _submit(self):
        while self.waiting and len(self.running) < self.most:
            task = self.waiting.pop(0)
            ours = self.desk.claim(task)
            if ours is None:
                self.held.append(task)
            elif ours:
                limits = dict(task.plan.settings.limits)
                key = f"job-{task.id}-{uuid.uuid4().hex[:8]}"
                future = self.client.submit(run_job, task.job, limits, self.threads, key=key, pure=False)
                self.running[future] = task
        if not self.waiting:
            self.waiting, self.held = self.held, []

    def _take(self):
        """Take what has ended; wait a little if nothing has."""
        ended = [future for future in self.running if future.done()]
        if not ended:
            time.sleep(RETRY_CLAIMS / 4 if self.running else RETRY_CLAIMS)
        for future in ended:
            task = self.running.pop(future)
            if future.status in ("cancelled", "lost"):
                self.desk.put_back(task)
                self.waiting.append(task)
                continue
            error = future.exception() if future.status == "error" else None
            self.desk.take(task, future.result() if error is None else _failed(error))

    def _cancel(self):
        """End what is running: a task that Dask cancels would go on in its process."""
        with suppress(Exception):
            self.client.cancel(list(self.running), force=True)
            self.client.run(end_running)


def _failed(error):
    return Answer(("failed", "failed", f"the cluster gave up: {type(error).__name__}: {error}", ""), 0.0)
