"""How ``python -m experiments.run -m`` runs a sweep: all jobs through one pool of workers.

Hydra finds this file by its place. Its own sweeper composes every job twice, at some tenths of a
second each, which is more than many jobs take; here a choice of groups is composed once, and all jobs are
checked before the first is computed.
"""

import sys

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher


class PoolLauncher(Launcher):
    """Runs all jobs of a sweep in one pool of worker processes."""

    def setup(self, *, hydra_context, task_function, config):
        """Keep what Hydra hands over."""
        self.hydra_context, self.config = hydra_context, config

    def launch(self, job_overrides, initial_job_idx):
        """Compose and check all jobs, run them, and report once."""
        from kpca_lab.cli.sweep import run_sweep

        loader = self.hydra_context.config_loader
        status = run_sweep(job_overrides, lambda texts: loader.load_sweep_config(self.config, texts))
        if status:
            sys.exit(status)
        return [_completed(overrides) for overrides in job_overrides]


class FastSweeper(BasicSweeper):
    """The product of all choices, as Hydra's own, but composed once, by the launcher."""

    def validate_batch_is_legal(self, batch):
        """The launcher checks every job before it computes any."""


def _completed(overrides):
    done = JobReturn(overrides=overrides, status=JobStatus.COMPLETED)
    done.return_value = None
    return done
