"""How ``kpca-lab run -m`` runs a sweep: all jobs through one pool of workers.

Hydra finds this file by its place. Its own sweeper composes every job twice, at some tenths of a
second each, which is more than many jobs take; here a choice of groups is composed once, and all jobs are
checked before the first is computed.
"""

import math
import sys
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from omegaconf import OmegaConf, open_dict, read_write


class PoolLauncher(Launcher):
    """Runs all jobs of a sweep in one pool of worker processes."""

    def setup(self, *, hydra_context, task_function, config):
        """Keep what Hydra hands over."""
        self.hydra_context, self.config = hydra_context, config

    def launch(self, job_overrides, initial_job_idx):
        """Compose and check all jobs, run them, and report once."""
        from kpca_lab.cli.sweep import run_sweep

        loader, chosen = self.hydra_context.config_loader, self.config.hydra
        optimises = not chosen.sweeper._target_.endswith(("FastSweeper", "BasicSweeper"))
        if optimises:  # what it has found is written there
            Path(str(chosen.sweep.dir)).mkdir(parents=True, exist_ok=True)
        if chosen.output_subdir is not None:
            for number, overrides in enumerate(job_overrides, initial_job_idx):
                _write_configuration(self.config, loader.load_sweep_config(self.config, overrides), number)
        status, values = run_sweep(
            job_overrides,
            lambda texts: loader.load_sweep_config(self.config, texts),
            chosen.launcher,
            verbose=bool(chosen.verbose),
        )
        if status and not optimises:
            sys.exit(status)
        return [_returned(overrides, value, optimises) for overrides, value in zip(job_overrides, values)]


class DaskLauncher(PoolLauncher):
    """Runs all jobs of a sweep on a Dask cluster.

    Parameters
    ----------
    scheduler : str, optional
        Its address, such as ``tcp://host:8786``.
    """

    def __init__(self, scheduler=None):
        self.scheduler = scheduler


class FastSweeper(BasicSweeper):
    """The product of all choices, as Hydra's own, but composed once, by the launcher."""

    def validate_batch_is_legal(self, batch):
        """The launcher checks every job before it computes any."""


def _returned(overrides, value, optimises):
    """What a sweeper is given of a job: its value, or if it optimises an error where there is none.

    A job without a value has failed, or lacks its data or the metric: the others of a sweep go on.
    """
    failed = optimises and math.isnan(value)
    done = JobReturn(overrides=overrides, status=JobStatus.FAILED if failed else JobStatus.COMPLETED)
    done.return_value = RuntimeError("the job failed: see above") if failed else value
    return done


def _write_configuration(sweep, composed, number):
    """Leave the files of a job that Hydra leaves: asked for by ``hydra=standard``."""
    with read_write(composed.hydra), open_dict(composed.hydra):
        composed.hydra.job.num, composed.hydra.job.id = number, str(number)
    folder = Path(str(sweep.hydra.sweep.dir), str(composed.hydra.sweep.subdir), composed.hydra.output_subdir)
    folder.mkdir(parents=True, exist_ok=True)
    task = composed.copy()
    with open_dict(task):
        del task["hydra"]
    OmegaConf.save(task, folder / "config.yaml")
    OmegaConf.save(composed.hydra.overrides.task, folder / "overrides.yaml")
