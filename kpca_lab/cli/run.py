"""``kpca-lab run``: one run or a sweep, composed by Hydra.

``conf/config.yaml`` has the examples that ``--help`` shows.
"""

import os
import sys

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import OmegaConf

from kpca_lab.cli.faults import end_with_a_line
from kpca_lab.cli.sweep import run_one_of_a_sweep, show, way_to_compute
from kpca_lab.suite.config.meaning import settings_of
from kpca_lab.suite.config.overrides import check_keys
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.places import NEEDS_CLONE, conf_folder, experiments_folder

__all__ = ["main"]


@hydra.main(config_path=str(conf_folder()), config_name="config", version_base="1.3")
def composed_run(config):
    """Run what Hydra composed: alone with its tables, or as one of a sweep."""
    chosen = HydraConfig.get()
    with end_with_a_line():
        plan = make_plan(settings_of(config))
        if chosen.verbose:
            print(OmegaConf.to_yaml(config, resolve=True), *plan.labels, sep="\n", file=sys.stderr)
        if chosen.mode == RunMode.MULTIRUN:
            return run_one_of_a_sweep(plan, chosen)
        with way_to_compute(chosen.launcher) as compute:
            summary = run([plan], verbose=bool(chosen.verbose), compute=compute)
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
    # Among overrides, argparse takes those that follow a flag for none.
    sys.argv[1:] = sorted(sys.argv[1:], key=lambda word: word not in ("-m", "--multirun"))
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(
            os.getcwd()
        )  # a console script does not have it, and methods of one's own may be there
    overrides = [word for word in sys.argv[1:] if "=" in word and not word.startswith("-")]
    with end_with_a_line():
        if experiments_folder() is None and any("experiment=" in word for word in overrides):
            raise ConfigError(NEEDS_CLONE)
        if not {"--shell-completion", "-sc"} & set(sys.argv):
            check_keys(overrides)
        composed_run()
