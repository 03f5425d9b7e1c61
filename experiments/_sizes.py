"""Sizes of data sets that the texts of several papers state."""

import pandas as pd

from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.published import load_published
from kpca_lab.suite.registry import experiment
from kpca_lab.suite.samples import load_samples

__all__ = ["count_parts", "one_job_for_each", "stated"]

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


def stated(paper: str, place: str, column: str, used: float) -> pd.DataFrame:
    """A number of the text as it was used here; not to be judged where the profile reduces it on purpose."""
    same = bool(used == load_published(paper).set_index(["table", "column"])["value"]["text", column])
    cell = {"table": "text", "row": place, "column": column, "ours": used, "ours_sd": float("nan")}
    cell |= {"trials": 1, "note": "" if same else "reduced in this profile", "comparable": same}
    return pd.DataFrame([cell])
