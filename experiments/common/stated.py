"""Sizes of data sets and settings that the texts of several papers state."""

from kpca_lab.suite.hooks import Cell
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.judge.records import only_value
from kpca_lab.suite.measure.samples import load_samples

__all__ = ["count_parts", "one_job_for_each", "sigma", "stated"]


def one_job_for_each(config) -> list[Job]:
    """One job for each data set."""
    return [Job(config.experiment, *dataset_of(config, name, 0)) for name in config.datasets]


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


def stated(place: str, used: dict, **about) -> list[Cell]:
    """Numbers of the text at one place as they were used here, by column."""
    return [Cell("text", place, column, float(value), **about) for column, value in used.items()]


def sigma(records) -> float:
    """The width of the one Gaussian kernel ``exp(-d^2 / (2 sigma^2))`` of the records."""
    return (2 * only_value(records, "gamma")) ** -0.5
