"""Sweeps: what the jobs that a launcher of Hydra runs give, put together and shown once."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hydra.experimental.callback import Callback

from kpca_lab.cli.faults import end_with_a_line
from kpca_lab.suite.config.composing import Composer
from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine.cluster import on_cluster
from kpca_lab.suite.engine.local import compute_locally
from kpca_lab.suite.engine.plan import Plan, make_plan
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.engine.summary import Failure, Summary
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.render.show import rows_table
from kpca_lab.suite.render.tables import write_summary

__all__ = ["SweepSummary", "run_one_of_a_sweep", "run_sweep", "show", "way_to_compute"]


def run_sweep(
    job_overrides: Iterable[list[str]], compose: Callable, launcher, *, verbose: bool = False
) -> tuple[int, list[float]]:
    """Run all jobs of a sweep together: what the launcher ``pool`` does.

    Parameters
    ----------
    job_overrides : iterable of list of str
    compose : callable
        From overrides to a composed configuration.
    launcher : DictConfig
        The node ``hydra.launcher``.
    verbose : bool
        Whether to tell of every job.

    Returns
    -------
    code : int
        Exit code.
    values : list of float
        Of the first metric, for each job.
    """
    composer = Composer(compose)
    with end_with_a_line():
        plans = [make_plan(composer.settings(overrides)) for overrides in job_overrides]
        with way_to_compute(launcher) as compute:
            summary = run(plans, compact=False, verbose=verbose, compute=compute)
        jobs: dict[tuple, set] = {}
        for plan in plans:
            key = (plan.settings.results_dir, plan.settings.profile, plan.name, plan.records_name)
            jobs.setdefault(key, set()).update(plan.jobs)
        _report(summary, jobs)
    return summary.exit_code, [plan.value() for plan in plans]


@contextmanager
def way_to_compute(launcher) -> Iterator[Callable]:
    """How a launcher computes jobs: on a Dask cluster, or by processes of this machine.

    Parameters
    ----------
    launcher : DictConfig
        The node ``hydra.launcher``.
    """
    if not launcher._target_.endswith("DaskLauncher"):
        yield compute_locally
        return
    if launcher.scheduler is None:
        raise ConfigError("tell where the Dask scheduler is: hydra.launcher.scheduler=tcp://HOST:8786")
    with on_cluster(launcher.scheduler) as compute:
        yield compute


def run_one_of_a_sweep(plan: Plan, chosen) -> float:
    """Run one job of a sweep, and leave a file that tells :class:`SweepSummary` what it gave.

    Parameters
    ----------
    plan : Plan
    chosen : DictConfig
        The node ``hydra`` of the configuration.

    Returns
    -------
    float
        The value of the first metric, for a sweeper that optimises.
    """
    stream = None
    if _side_by_side(chosen.launcher):
        cores = max(1, available_cores() // _processes(chosen.launcher))
        plan.settings = replace(plan.settings, workers=1, threads=min(plan.settings.threads or 1, cores))
        stream = _Lines(sys.stderr)  # one terminal has no room for the bars of several processes
    summary = run([plan], compact=False, stream=stream)
    part = {
        "results_dir": plan.settings.results_dir,
        "profile": plan.settings.profile,
        "name": plan.name,
        "records": plan.records_name,
        "jobs": list(plan.jobs),
        "computed": summary.computed,
        "failed": summary.failed,
        "kept": summary.kept,
        "failures": [[entry.job, entry.status, entry.error] for entry in summary.failures],
        "skipped": summary.skipped,
        "seconds": summary.seconds,
    }
    path = Path(chosen.sweep.dir) / f"{chosen.job.num}.json"
    write_atomically(path, json.dumps(part).encode())
    return plan.value()


class SweepSummary(Callback):
    """Puts together the parts of a sweep whose jobs Hydra's other launchers ran one by one."""

    def on_multirun_start(self, config, **kwargs):
        """Refuse more processes than there are cores."""
        launcher, cores = config.hydra.launcher, available_cores()
        if _side_by_side(launcher) and launcher.get("n_jobs") and _processes(launcher) > cores:
            with end_with_a_line():
                raise ConfigError(f"hydra.launcher.n_jobs={launcher.n_jobs} is more than the cores, {cores}")

    def on_multirun_end(self, config, **kwargs):
        """Write the records when all jobs have ended."""
        folder = Path(config.hydra.sweep.dir)
        parts = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        if not parts:
            return
        summary, jobs = _together(parts)
        _report(summary, jobs)
        if summary.exit_code:
            sys.exit(summary.exit_code)


def show(store: Store, name: str, ids: Iterable[str]) -> None:
    """Print what some jobs gave, and for a run of one's own write all that its records hold as a table.

    Parameters
    ----------
    store : Store
    name : str
        Name of the records.
    ids : iterable of str
        The jobs.
    """
    records, path = store.records(name), store.records_path(name)
    print(rows_table(records, ids))
    done = records[records["status"] == "done"]
    if path.exists():
        print(f"records: {path}", file=sys.stderr)
    if name.startswith("custom/") and len(done):
        written = write_summary(path.with_name(f"{path.stem}_table"), done)
        print(f"table: {', '.join(map(str, written))}", file=sys.stderr)


def _together(parts):
    """One summary of the parts of a sweep, and the jobs behind each file of records."""
    summary, jobs = Summary(), {}
    for part in parts:
        key = (part["results_dir"], part["profile"], part["name"], part["records"])
        jobs.setdefault(key, set()).update(part["jobs"])
        summary.computed += part["computed"]
        summary.failed += part["failed"]
        summary.kept += part["kept"]
        summary.failures += [Failure(*entry) for entry in part["failures"]]
        for dataset, (experiments, command) in part["skipped"].items():
            known = summary.skipped.setdefault(dataset, ([], command))[0]
            known.extend(name for name in experiments if name not in known)
        summary.seconds += part["seconds"]
    return summary, jobs


def _report(summary, jobs):
    """Write the records of a sweep once, and say how it went."""
    for (results_dir, profile, name, records), ids in sorted(jobs.items()):
        store = Store(results_dir, profile)
        store.compact(name, ids, into=records, keep_others=True)
        show(store, records, ids)
    print(summary.text(), file=sys.stderr)


def _side_by_side(launcher):
    """Whether a launcher runs several jobs at a time on this machine."""
    return launcher._target_.endswith(("JoblibLauncher", "LocalLauncher"))


def _processes(launcher):
    """How many jobs such a launcher runs at a time."""
    wanted = launcher.get("n_jobs") or launcher.get("array_parallelism") or 1
    return wanted if wanted > 0 else max(1, available_cores() + 1 + wanted)


class _Lines:
    """A stream that is no terminal, whatever is behind it."""

    def __init__(self, stream):
        self.write, self.flush, self.isatty = stream.write, stream.flush, lambda: False
