"""One run or a sweep, composed by Hydra.

    python -m experiments.run dataset=concrete method=subset selector=kmeans n_basis=0.1 seed=3
    python -m experiments.run 'method=[subset,reduced,nystrom]' n_trials=50 dataset=concrete
    python -m experiments.run -m method=subset,reduced,nystrom 'seed=range(0,50)' dataset=concrete
    python -m experiments.run +experiment=<paper>/table1 profile=smoke

A list gives one job with shared work; ``-m`` gives a job for each combination.
"""

import sys

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode

from kpca_lab.cli.sweep import run_one_of_a_sweep, show
from kpca_lab.suite.config.meaning import settings_of
from kpca_lab.suite.config.overrides import check_keys
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.places import conf_folder

__all__ = ["main"]


@hydra.main(config_path=str(conf_folder()), config_name="config", version_base="1.3")
def composed_run(config):
    """Run what Hydra composed: alone with its tables, or as one of a sweep."""
    chosen = HydraConfig.get()
    try:
        plan = make_plan(settings_of(config))
    except ConfigError as error:
        sys.exit(f"error: {error}")
    if chosen.mode == RunMode.MULTIRUN:
        run_one_of_a_sweep(plan, chosen)
        return
    summary = run([plan])
    show(plan.store, plan.records_name, plan.jobs)
    print(summary.text(), file=sys.stderr)
    sys.exit(summary.exit_code)


def main(arguments: list[str] | None = None) -> None:
    """Check the keys of the command line, then let Hydra compose and run it.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.
    """
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
