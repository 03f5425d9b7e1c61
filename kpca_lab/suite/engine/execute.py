"""Running one job inside a worker."""

import importlib
import traceback

import threadpoolctl

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.cores import threads_wanted
from kpca_lab.suite.errors import MissingPackageError, failure
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job
from kpca_lab.suite.measure.evaluate import evaluate
from kpca_lab.suite.papers import load_experiments

__all__ = ["execute", "prepare"]


def prepare() -> None:
    """Hold BLAS to the threads that the environment allows, and import what would else count for some job."""
    importlib.import_module("sklearn.cluster")
    if threads_wanted() is not None:
        threadpoolctl.threadpool_limits(threads_wanted())


def execute(job: Job) -> tuple:
    """Run a job; whatever happens, an answer comes back.

    Returns
    -------
    tuple
        ``("outcome", Outcome)``, ``("unavailable", what is missing, the command that gets it)`` or
        ``("failed", status, text, traceback)``.
    """
    try:
        load_experiments(job.experiment.partition("/")[0])
        run = experiment.runners.get(job.experiment, evaluate)
        return "outcome", run(job)
    except DatasetUnavailableError as error:
        return "unavailable", error.dataset, error.command
    except MissingPackageError as error:
        return "unavailable", error.package, error.command
    except (Exception, SystemExit) as error:
        return "failed", *failure(error), traceback.format_exc(limit=-5)
