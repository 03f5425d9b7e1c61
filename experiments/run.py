"""One run or a sweep, composed by Hydra.

    python -m experiments.run dataset=concrete method=subset selector=kmeans n_basis=0.1 seed=3
    python -m experiments.run 'method=[subset,reduced,nystrom]' n_trials=50 dataset=concrete
    python -m experiments.run -m method=subset,reduced,nystrom 'seed=range(0,50)' dataset=concrete
    python -m experiments.run +experiment=washizawa2012/table1 profile=smoke

A list gives one job with shared work; ``-m`` gives a job for each combination.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode

from kpca_lab.suite.config.composing import Composer, ConfigError, check_keys, settings_of
from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine.runner import Failure, Summary, make_plan, run
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.render.show import rows_table
from kpca_lab.suite.render.tables import write_summary

CONF = str(Path(__file__).resolve().parents[1] / "conf")


@hydra.main(config_path=CONF, config_name="config", version_base="1.3")
def composed_run(config):
    """Run what Hydra composed: alone with its tables, or as one of a sweep."""
    chosen = HydraConfig.get()
    try:
        plan = make_plan(settings_of(config))
    except ConfigError as error:
        sys.exit(f"error: {error}")
    if chosen.mode == RunMode.MULTIRUN:
        _one_of_a_sweep(plan, chosen)
        return
    summary = run([plan])
    _show(plan.store, plan.records, plan.jobs)
    print(summary.text(), file=sys.stderr)
    sys.exit(summary.exit_code)


def _one_of_a_sweep(plan, chosen):
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
        "records": plan.records,
        "jobs": list(plan.jobs),
        "computed": summary.computed,
        "kept": summary.kept,
        "failures": [[entry.job, entry.status, entry.error] for entry in summary.failures],
        "skipped": summary.skipped,
        "seconds": summary.seconds,
    }
    path = Path(chosen.sweep.dir) / f"{chosen.job.num}.json"
    write_atomically(path, json.dumps(part).encode())


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


def run_sweep(job_overrides, compose):
    """Run all jobs of a sweep together: what the launcher ``pool`` does.

    Parameters
    ----------
    job_overrides : list of list of str
    compose : callable
        From overrides to a composed configuration.

    Returns
    -------
    int
        Exit code.
    """
    composer = Composer(compose)
    try:
        plans = [make_plan(composer.settings(overrides)) for overrides in job_overrides]
    except ConfigError as error:
        sys.exit(f"error: {error}")
    summary = run(plans, compact=False)
    jobs = {}
    for plan in plans:
        key = (plan.settings.results_dir, plan.settings.profile, plan.name, plan.records)
        jobs.setdefault(key, set()).update(plan.jobs)
    _report(summary, jobs)
    return summary.exit_code


def _report(summary, jobs):
    """Write the records of a sweep once, and say how it went."""
    for (results_dir, profile, name, records), ids in sorted(jobs.items()):
        store = Store(results_dir, profile)
        store.compact(name, ids, into=records, keep_others=True)
        _show(store, records, ids)
    print(summary.text(), file=sys.stderr)


def _show(store, name, ids):
    """Print what some jobs gave, and for a run of one's own write all that its records hold as a table."""
    records, path = store.records(name), store.records_path(name)
    print(rows_table(records, ids))
    done = records[records["status"] == "done"]
    if path.exists():
        print(f"records: {path}", file=sys.stderr)
    if name.startswith("custom/") and len(done):
        written = write_summary(path.with_name(f"{path.stem}_table"), done)
        print(f"table: {', '.join(map(str, written))}", file=sys.stderr)


class SweepSummary(Callback):
    """Puts together the parts of a sweep whose jobs Hydra's other launchers ran one by one."""

    def on_multirun_start(self, config, **kwargs):
        """Refuse more processes than there are cores."""
        launcher, cores = config.hydra.launcher, available_cores()
        if _side_by_side(launcher) and launcher.get("n_jobs") and _processes(launcher) > cores:
            sys.exit(f"error: hydra.launcher.n_jobs={launcher.n_jobs} is more than the cores, {cores}")

    def on_multirun_end(self, config, **kwargs):
        """Write the records when all jobs have ended."""
        folder = Path(config.hydra.sweep.dir)
        parts = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        if not parts:
            return
        summary, jobs = Summary(), {}
        for part in parts:
            key = (part["results_dir"], part["profile"], part["name"], part["records"])
            jobs.setdefault(key, set()).update(part["jobs"])
            summary.computed += part["computed"]
            summary.kept += part["kept"]
            summary.failures += [Failure(*entry) for entry in part["failures"]]
            for dataset, (experiments, command) in part["skipped"].items():
                known = summary.skipped.setdefault(dataset, ([], command))[0]
                known.extend(name for name in experiments if name not in known)
            summary.seconds += part["seconds"]
        _report(summary, jobs)
        if summary.exit_code:
            sys.exit(summary.exit_code)


def main(arguments=None):
    """Check the keys of the command line, then let Hydra compose and run it."""
    if arguments is not None:
        sys.argv[1:] = arguments
    try:
        check_keys([word for word in sys.argv[1:] if "=" in word and not word.startswith("-")])
    except ConfigError as error:
        sys.exit(f"error: {error}")
    try:
        composed_run()
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
