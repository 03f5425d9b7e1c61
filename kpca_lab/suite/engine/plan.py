"""An experiment cut into jobs, each with its identity."""

import math
import re
import statistics
from dataclasses import dataclass

from kpca_lab.suite.config.settings import Settings
from kpca_lab.suite.engine.identity import job_id
from kpca_lab.suite.engine.pool import memory_text, time_text
from kpca_lab.suite.engine.sizes import refuse_impossible_sizes
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, grid_jobs
from kpca_lab.suite.papers import load_experiments

__all__ = ["Plan", "make_plan"]

# How users call the settings of a run whose names differ.
KEYS_OF_FIELDS = {
    "datasets": "dataset",
    "kernels": "kernel",
    "methods": "method",
    "selectors": "selector",
    "metrics": "metric",
    "seeds": "seed",
}


@dataclass
class Plan:
    """An experiment cut into jobs.

    Attributes
    ----------
    settings : Settings
    jobs : dict
        The jobs by identity.
    records_name : str
        Where its rows go: the experiment's, or ``custom/...`` if its axes were changed.
    """

    settings: Settings
    jobs: dict[str, Job]
    records_name: str

    @property
    def name(self) -> str:
        """The experiment."""
        return self.settings.experiment

    @property
    def store(self) -> Store:
        """Where its results are."""
        return Store(self.settings.results_dir, self.settings.profile)

    @property
    def labels(self) -> list[str]:
        """A few words on each job."""
        return [job.label for job in self.jobs.values()]

    def value(self) -> float:
        """The mean of the first metric over all rows of its jobs that are done; NaN if there are none."""
        metric = next(iter(self.settings.metrics), None)
        found = self.store.rows(self.name, self.jobs)
        values = [row["value"] for row in found if row["metric"] == metric and row["status"] == "done"]
        return statistics.fmean(values) if values else math.nan

    @property
    def accepted_errors(self) -> tuple[str, ...]:
        """Errors that would only come again: those of the limits in force."""
        seconds, megabytes = self.settings.limits["seconds"], self.settings.limits["memory_mb"]
        texts = (seconds and time_text(seconds), megabytes and memory_text(megabytes))
        return tuple(text for text in texts if text)


def make_plan(settings: Settings) -> Plan:
    """Cut an experiment into jobs.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError
        If the user has changed something that the experiment does not depend on.
    """
    load_experiments(settings.experiment.partition("/")[0])
    make = experiment.job_makers.get(settings.experiment, grid_jobs)
    watched = _Watched(**vars(settings))
    try:
        jobs = {job_id(job): job for job in make(watched)}
    except (TypeError, ValueError) as error:
        if settings.canonical:
            raise
        raise ConfigError(f"{settings.experiment} cannot be run with {_said(settings)}: {error}") from error
    used = vars(watched).get("used", set())
    for key in settings.changes:
        name = _field(key)
        if name in Settings.__dataclass_fields__ and name not in used:
            axes = (KEYS_OF_FIELDS.get(name, name) for name in sorted(used - {"experiment"}))
            raise ConfigError(
                f"{key} does not change {settings.experiment}, which has a protocol of its own and "
                f"depends on: {', '.join(axes)}"
            )
    if make is grid_jobs:
        refuse_impossible_sizes(settings)
    own = settings.canonical or settings.experiment.startswith("custom/")
    return Plan(settings, jobs, settings.experiment if own else f"custom/{settings.experiment}")


class _Watched(Settings):
    """Settings that remember which of them were read since.

    An experiment with a protocol of its own may not depend on what the user has changed. It would give its
    usual values under another name; so what its function reads is watched, and other changes are refused.
    """

    def __getattribute__(self, name):
        if name in Settings.__dataclass_fields__:
            vars(self).setdefault("used", set()).add(name)
        return super().__getattribute__(name)


def _field(key):
    """The field of Settings that an override goes to."""
    first = re.split("[./@]", key)[0]
    fields = {known: name for name, known in KEYS_OF_FIELDS.items()} | {"n_trials": "seeds"}
    return fields.get(first, first)


def _said(settings):
    return ", ".join(f"{key}={value}" for key, value in settings.changes.items())
