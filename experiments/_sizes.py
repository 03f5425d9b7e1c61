"""Sizes of data sets that the texts of several papers state."""

from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.registry import experiment
from kpca_lab.suite.samples import load_samples

__all__ = ["count_parts", "one_job_for_each"]

TEXTS = ("washizawa2012/text", "wang2016/text")


@experiment.jobs("washizawa2012/table2", *TEXTS)
def one_job_for_each(config) -> list[Job]:
    """One job for each data set."""
    return [Job(config.experiment, *dataset_of(config, name, 0)) for name in config.datasets]


@experiment.run(*TEXTS)
def count_parts(job: Job) -> Outcome:
    """Count the samples of a data set, and of the parts of its first division."""
    samples = load_samples(job)
    parts = {
        "n_samples": samples.dataset.X,
        "n_test": samples.dataset.X_test,
        "n_train": samples.train,
        "n_held_out": samples.held_out,
    }
    return Outcome([row(job, metric, len(part)) for metric, part in parts.items() if part is not None])
