"""Running experiments: what is done is skipped, the rest is computed by workers and stored job by job."""

import dataclasses
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TextIO

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.cores import share_cores
from kpca_lab.suite.engine.data_identity import data_version, fetch_data, has_substitute
from kpca_lab.suite.engine.environment import write_environment
from kpca_lab.suite.engine.identity import job_id
from kpca_lab.suite.engine.local import compute_locally
from kpca_lab.suite.engine.plan import Plan
from kpca_lab.suite.engine.pool import Answer
from kpca_lab.suite.engine.progress import LINE_EVERY, Progress, job_weights
from kpca_lab.suite.engine.summary import Failure, Summary
from kpca_lab.suite.jobs import SOUND, Job, Outcome, row, with_labels

__all__ = ["run"]

# Lines that jobs print which are shown: the last ones of a job, and in all.
LINES_OF_A_JOB, MOST_LINES = 40, 400


@dataclass
class Task:
    """A job of a plan, and the hold on it."""

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

    def __init__(self, plans, stream, compact, every, compute):
        self.plans, self.compact, self.compute = plans, compact, compute
        self.began = time.time()
        self.summary = Summary()
        self.left, self.shown = {}, set()
        self.blas = (1, 1)
        tasks = self._pending()
        weights = job_weights(plans)
        self.weights = {id(task): weights[task.plan.name] for task in tasks}
        self.progress = Progress(len(tasks), stream, sum(self.weights.values()), every=every)
        self.groups = {}
        for task in tasks:
            wanted = task.plan.settings
            shares = share_cores(wanted.workers, wanted.threads, timing=wanted.timing)
            self.groups.setdefault((wanted.timing, *shares), []).append(task)

    def _pending(self):
        tasks, unavailable, known = [], {}, {}
        self._look_for_exact_files(unavailable)
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
                    tasks.append(Task(plan, self._again(plan, id, job), job))
        # One after the other, jobs on the same samples share what their worker has kept of them.
        order = {}
        return sorted(tasks, key=lambda task: order.setdefault(_samples_key(task), len(order)))

    def _look_for_exact_files(self, asked):
        """Replace files that stand in for others where that is possible by now, and with them the jobs."""
        substituted = [
            (plan, id, job)
            for plan in self.plans
            for id, job in plan.jobs.items()
            if has_substitute(job.dataset)
        ]
        for plan, id, job in substituted:
            if _data_key(job) not in asked:
                asked[_data_key(job)] = self._fetch(job.dataset)
            self._again(plan, id, job)

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
                self.compute(tasks, self, workers, threads)
        finally:
            self.progress.close()
        return self.summary

    def claim(self, task: Task) -> bool | None:
        """Hold a task: True if it is ours to compute, False if it is done, None if another process has it."""
        store, name = task.plan.store, task.plan.name
        task.claim = store.claim(name, task.id)
        if task.claim is None:
            return None
        path = store.job_path(name, task.id)
        fresh = not task.plan.settings.force or (path.exists() and path.stat().st_mtime >= self.began)
        if fresh and store.is_settled(name, task.id, task.plan.accepted_errors):
            self._end(task, "done", 0.0)
            return False
        self.progress.begin(task.job.label)
        return True

    def put_back(self, task: Task) -> None:
        """Let go of a task that was not begun."""
        task.claim.release()

    def take(self, task: Task, answer: Answer) -> None:
        """Store what came of a task."""
        kind, *content = answer.content
        if kind == "outcome":
            self._store(task, content[0], answer)
        elif kind == "unavailable":
            self._skip(task.plan, *content)
            self._end(task, "skipped", answer.seconds)
        else:
            status, error, trace = content
            if trace:
                self.progress.say(trace.rstrip())
            outcome = Outcome([row(task.job, "", None, status=status, error=error)])
            self._store(task, outcome, answer)

    def _store(self, task, outcome, answer):
        seconds = answer.seconds
        header = {"job": task.id, "spec": dataclasses.asdict(task.job), "seconds": round(seconds, 6)}
        header["data"] = data_version(task.job.dataset)
        outcome.rows = [with_labels(entry, task.plan.settings.labels) for entry in outcome.rows]
        bad = [entry for entry in outcome.rows if entry["status"] not in SOUND]
        if bad:
            header["printed"] = answer.printed
        task.plan.store.write(task.plan.name, task.id, outcome, header)
        self._repeat(answer.printed)
        for failure in self._note_failures(task.job, bad):
            self.progress.say(f"{failure.status}: {failure.job}: {failure.error}")
        self.summary.renewed.add(task.plan.name)
        self._end(task, bad[0]["status"] if bad else "done", seconds)

    def _repeat(self, printed):
        """Show what a job has printed, each line once: jobs and workers say the same things."""
        lines = [line for line in printed.splitlines() if line.strip() and line not in self.shown]
        if lines and len(self.shown) < MOST_LINES:
            self.progress.say("\n".join(lines[-LINES_OF_A_JOB:]))
            self.shown.update(lines)

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
        self.summary.failed += status not in ("skipped", "done")
        self.progress.end(task.job.label, status, seconds, self.weights[id(task)])
        self.left[id(task.plan)] -= 1
        if not self.left[id(task.plan)]:
            self._complete(task.plan)

    def _complete(self, plan):
        if self.compact:
            custom = plan.records_name.startswith("custom/")
            path = plan.store.compact(plan.name, plan.jobs, into=plan.records_name, keep_others=custom)
            if path.exists() and not custom:
                plan.store.write_settings(plan.name, _of_the_values(plan.settings))


def _of_the_values(settings):
    """The settings that say what was computed, without those on how, where and by which command."""
    how = {"title", "limits", "workers", "threads", "force", "results_dir", "changes", "command"}
    return {name: value for name, value in dataclasses.asdict(settings).items() if name not in how}


def _environment_folder(plan):
    """Runs of one's own leave that of the papers' records alone."""
    return plan.store.root / "custom" if plan.records_name.startswith("custom/") else plan.store.root


def run(
    plans: Iterable[Plan],
    *,
    stream: TextIO | None = None,
    compact: bool = True,
    verbose: bool = False,
    compute: Callable = compute_locally,
) -> Summary:
    """Compute what is not done of some experiments, and write their records.

    Parameters
    ----------
    plans : iterable of Plan
    stream : text stream, optional
        For progress and errors; standard error by default.
    compact : bool
        Whether to write the CSV files of records; without, only the job files are written.
    verbose : bool
        Whether to tell of every job that ends; else of one in two seconds.
    compute : callable
        How jobs are computed: on this machine, or by :func:`kpca_lab.suite.engine.cluster.on_cluster`.

    Returns
    -------
    Summary
    """
    plans = list(plans)
    start = time.monotonic()
    current = _Run(plans, stream, compact, 0.0 if verbose else LINE_EVERY, compute)
    summary = current.all()
    summary.seconds = time.monotonic() - start
    for folder in {_environment_folder(plan) for plan in plans}:
        if summary.computed or not (folder / "environment.json").exists():
            write_environment(folder, *current.blas)
    return summary
