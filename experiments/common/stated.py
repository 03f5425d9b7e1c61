"""Sizes of data sets and settings that the texts of several papers state."""

from functools import cache

import pandas as pd

from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import verdict
from kpca_lab.suite.measure.samples import load_samples

__all__ = ["configured", "count_parts", "kernel_value", "one_job_for_each", "stated", "stated_all"]

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
    printed = load_published(paper).set_index(["table", "column"]).loc[("text", column)]
    same = verdict(printed["value"], int(printed["decimals"]), used) == "exact"
    cell = {"table": "text", "row": place, "column": column, "ours": used, "ours_sd": float("nan")}
    cell |= {"trials": 1, "note": "" if same else "reduced in this profile", "comparable": same}
    return pd.DataFrame([cell])


def stated_all(paper: str, place: str, used: dict) -> pd.DataFrame:
    """The same for several numbers of one place, by column."""
    return pd.concat(stated(paper, place, column, value) for column, value in used.items())


@cache
def _configured(item, profile):
    from kpca_lab.suite.config.composing import compose_settings

    return compose_settings([f"+experiment={item}", f"profile={profile}"])


def configured(records: pd.DataFrame):
    """Settings of the item and the profile that records are of, as the configuration has them."""
    return _configured(records["experiment"].iloc[0], records["profile"].iloc[0])


def kernel_value(records: pd.DataFrame, name: str) -> float:
    """A parameter of the kernel that all records have which have it at all; ``sigma`` comes from gamma."""
    if name == "sigma":
        return (2 * kernel_value(records, "gamma")) ** -0.5
    (found,) = set(records["kernel"].str.extract(f"{name}=([^,)]+)")[0].dropna())
    return float(found)
