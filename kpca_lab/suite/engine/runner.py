"""Running experiments: what is done is skipped, the rest is computed by workers and stored job by job."""

import dataclasses
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.cores import share_cores
from kpca_lab.suite.engine.data_identity import data_version, fetch_data
from kpca_lab.suite.engine.environment import write_environment
from kpca_lab.suite.engine.identity import job_id
from kpca_lab.suite.engine.plan import Plan
from kpca_lab.suite.engine.pool import Worker, start_worker, stop_worker
from kpca_lab.suite.engine.progress import Progress
from kpca_lab.suite.engine.summary import Failure, Summary
from kpca_lab.suite.jobs import Job, Outcome, row, with_labels

__all__ = ["run"]

# Seconds between looks at limits, and at jobs that other processes hold.
TICK = 0.05
RETRY_CLAIMS = 0.2


@dataclass
class _Task:
    plan: Plan
    id: str
    job: Job
    claim: object = None


def _data_key(job):
    """What files a job needs."""
    return job.dataset["name"], job.dataset["options"].get("variant"), job.dataset["options"].get("path")


def _samples_key(task):
    """What samples a job of an experiment works on."""
    return task.plan.name, json.dumps([task.job.dataset, task.job.split], sort_keys=True)


class _Run:
    """The state of one call of `run`."""

    def __init__(self, plans, stream, compact):
        self.plans, self.compact = plans, compact
        self.began = time.time()
        self.summary = Summary()
        self.left = {}
        self.blas = (1, 1)
        tasks = self._pending()
        self.progress = Progress(len(tasks), stream)
        self.groups = {}
        for task in tasks:
            wanted = task.plan.settings
            shares = share_cores(wanted.workers, wanted.threads, timing=wanted.timing)
            self.groups.setdefault((wanted.timing, *shares), []).append(task)

    def _pending(self):
        tasks, unavailable, known = [], {}, {}
        for plan in self.plans:
            # A sweep has a plan for each of its jobs, all of one experiment.
            key = (plan.store.root, plan.name, plan.accepted_errors, plan.settings.force)
            if key not in known:
                asked = not plan.settings.force
                known[key] = plan.store.settled(plan.name, plan.accepted_errors) if asked else {}
            settled = known[key]
            for id in [id for id in plan.jobs if id in settled]:
                self.summary.kept += 1
                self._note_failures(plan.jobs[id], settled[id])
            wanted = {id: job for id, job in plan.jobs.items() if id not in settled}
            if not wanted:
                continue
            for job in wanted.values():
                if job.dataset and _data_key(job) not in unavailable:
                    unavailable[_data_key(job)] = self._fetch(job.dataset)
            for id, job in wanted.items():
                if job.dataset and unavailable[_data_key(job)]:
                    self._skip(plan, job.dataset["name"], unavailable[_data_key(job)])
                else:
                    # What was fetched may be a substitute with other values.
                    tasks.append(_Task(plan, self._again(plan, id, job), job))
        # One after the other, jobs on the same samples share what their worker has kept of them.
        order = {}
        return sorted(tasks, key=lambda task: order.setdefault(_samples_key(task), len(order)))

    @staticmethod
    def _fetch(dataset):
        """The command that would fetch the data if they cannot be had, else nothing."""
        try:
            fetch_data(dataset)
        except DatasetUnavailableError as error:
            return error.command
        return ""

    @staticmethod
    def _again(plan, id, job):
        now = job_id(job)
        if now != id:
            plan.jobs[now] = plan.jobs.pop(id)
        return now

    def _skip(self, plan, missing, command):
        experiments, _ = self.summary.skipped.setdefault(missing, ([], command))
        if plan.name not in experiments:
            experiments.append(plan.name)

    def all(self):
        """Compute every group in turn: those that measure time last, one job at a time."""
        for plan in self.plans:
            self.left[id(plan)] = sum(task.plan is plan for group in self.groups.values() for task in group)
            if not self.left[id(plan)]:
                self._complete(plan)
        try:
            for (_, workers, threads), tasks in sorted(self.groups.items(), key=lambda item: item[0]):
                self.blas = (workers, threads)
                self._group(tasks, workers, threads)
        finally:
            self.progress.close()
        return self.summary

    def _group(self, tasks, n_workers, threads):
        waiting, held = tasks[::-1], []
        busy: dict[Worker, _Task | None] = {}
        retry_at = 0.0
        try:
            while waiting or held or any(task is not None for task in busy.values()):
                if held and not waiting and time.monotonic() > retry_at:
                    waiting, held = held[::-1], []
                    retry_at = time.monotonic() + RETRY_CLAIMS
                while len(busy) < min(
                    n_workers, len(waiting) + sum(task is not None for task in busy.values())
                ):
                    busy[start_worker(threads)] = None
                for worker in busy:
                    while worker.ready and busy[worker] is None and waiting:
                        task = waiting.pop()
                        if self._claim(task, held):
                            busy[worker] = task
                            self.progress.begin(task.job.label)
                            worker.give(task.job, task.plan.settings.limits)
                for worker in [found for found in busy if found.pipe in wait([w.pipe for w in busy], TICK)]:
                    self._answer(worker, busy)
                for worker, task in list(busy.items()):
                    excess = worker.excess() if task is not None else None
                    if excess:
                        del busy[worker]
                        seconds = time.monotonic() - worker.started
                        worker.end()
                        self._failed(task, *excess, seconds)
            for worker in busy:
                stop_worker(worker)
        except BaseException:
            for worker in busy:
                worker.end()
            raise

    def _claim(self, task, held):
        """Hold the task, unless another process does, or has done it meanwhile."""
        store, name = task.plan.store, task.plan.name
        task.claim = store.claim(name, task.id)
        if task.claim is None:
            held.append(task)
            return False
        path = store.job_path(name, task.id)
        fresh = not task.plan.settings.force or (path.exists() and path.stat().st_mtime >= self.began)
        if fresh and store.is_settled(name, task.id, task.plan.accepted_errors):
            self._end(task, "done", 0.0)
            return False
        return True

    def _answer(self, worker, busy):
        task = busy[worker]
        try:
            kind, *content = worker.pipe.recv()
        except (EOFError, OSError):
            del busy[worker]
            how = worker.end()
            if task is None:
                raise RuntimeError(
                    f"a worker process could not start ({how or 'it closed its pipe'})"
                ) from None
            self._failed(task, "failed", f"the worker process died: {how}", time.monotonic() - worker.started)
            return
        if kind == "ready":
            worker.ready = True
            return
        if kind == "broken":
            raise RuntimeError(f"a worker process could not start: {content[0]}")
        busy[worker] = None
        seconds = content.pop()
        if kind == "outcome":
            self._store(task, content[0], seconds)
        elif kind == "unavailable":
            self._skip(task.plan, *content)
            self._end(task, "skipped", seconds)
        else:
            status, text, trace = content
            self._failed(task, status, text, seconds, trace)

    def _failed(self, task, status, error, seconds, trace=""):
        if trace:
            self.progress.say(trace.rstrip())
        outcome = Outcome([row(task.job, "", None, status=status, error=error)])
        self._store(task, outcome, seconds)

    def _store(self, task, outcome, seconds):
        header = {"job": task.id, "spec": dataclasses.asdict(task.job), "seconds": round(seconds, 6)}
        header["data"] = data_version(task.job.dataset)
        outcome.rows = [with_labels(entry, task.plan.settings.labels) for entry in outcome.rows]
        task.plan.store.write(task.plan.name, task.id, outcome, header)
        bad = [entry for entry in outcome.rows if entry["status"] != "done"]
        for failure in self._note_failures(task.job, bad):
            self.progress.say(f"{failure.status}: {failure.job}: {failure.error}")
        self.summary.renewed.add(task.plan.name)
        self._end(task, bad[0]["status"] if bad else "done", seconds)

    def _note_failures(self, job, rows):
        found = []
        for entry in rows:
            where = [entry["method"], entry["selector"], entry["m"] and f"m={entry['m']}"]
            label = " ".join([job.label, *filter(None, where)])
            found.append(Failure(label, entry["status"], entry["error"]))
        self.summary.failures += found
        return found

    def _end(self, task, status, seconds):
        task.claim.release()
        self.summary.computed += status != "skipped"
        self.progress.end(task.job.label, status, seconds)
        self.left[id(task.plan)] -= 1
        if not self.left[id(task.plan)]:
            self._complete(task.plan)

    def _complete(self, plan):
        if self.compact:
            custom = plan.records_name.startswith("custom/")
            plan.store.compact(plan.name, plan.jobs, into=plan.records_name, keep_others=custom)


def _environment_folder(plan):
    """Runs of one's own leave that of the papers' records alone."""
    return plan.store.root / "custom" if plan.records_name.startswith("custom/") else plan.store.root


def run(plans: Iterable[Plan], *, stream=None, compact: bool = True) -> Summary:
    """Compute what is not done of some experiments, and write their records.

    Parameters
    ----------
    plans : iterable of Plan
    stream : text stream, optional
        For progress and errors; standard error by default.
    compact : bool
        Whether to write the CSV files of records; without, only the job files are written.

    Returns
    -------
    Summary
    """
    plans = list(plans)
    start = time.monotonic()
    current = _Run(plans, stream, compact)
    summary = current.all()
    summary.seconds = time.monotonic() - start
    for folder in {_environment_folder(plan) for plan in plans}:
        if summary.computed or not (folder / "environment.json").exists():
            write_environment(folder, *current.blas)
    return summary
