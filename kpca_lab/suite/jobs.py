"""Jobs: the unit that is computed, stored and skipped when done; and the rows that it gives."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kpca_lab.datasets.catalogue import dataset_options, entry_of

__all__ = [
    "COLUMNS",
    "SOUND",
    "Job",
    "Outcome",
    "dataset_of",
    "grid_jobs",
    "one_line",
    "plain_value",
    "row",
    "with_labels",
]

COLUMNS = (
    "experiment",
    "dataset",
    "split",
    "seed",
    "method",
    "selector",
    "m",
    "r",
    "kernel",
    "parameters",
    "metric",
    "value",
    "seconds",
    "status",
    "error",
    "job",
)
# Rows that are no failures: a value, or none because the method does not have this metric.
SOUND = ("done", "inapplicable")


@dataclass(frozen=True)
class Job:
    """One data set, split and kernel, and all that is to be evaluated on them. Plain values only.

    Attributes
    ----------
    experiment : str
        ``<paper>/<item>``.
    dataset : dict or None
        ``name``, ``options``, ``scaling`` and ``split`` (``kind``, ``held_out``): see `dataset_of`.
    split : int
        Number of the split, 0 where there is none.
    seed : int
        Number of the trial.
    kernel : dict or None
        ``kernel``, ``gamma``, ``gamma_rule``, ``degree``, ``coef0``.
    settings : dict
        Whatever else determines the values. Code named by the key ``target``, at any depth, is part of
        the identity of the job.
    """

    experiment: str
    dataset: dict | None = None
    split: int = 0
    seed: int = 0
    kernel: dict | None = None
    settings: dict = field(default_factory=dict)

    @property
    def data_name(self) -> str:
        """The name of its data for people: that of the file where it is the user's own."""
        if self.dataset is None:
            return ""
        path = self.dataset.get("options", {}).get("path")
        return self.dataset["name"] if path is None else Path(path).name

    @property
    def label(self) -> str:
        """A few words for people."""
        parts = [self.experiment]
        if self.dataset is not None:
            parts.append(self.data_name)
        for group in ("methods", "selectors"):  # where it is about one of them
            parts += self.settings.get(group, ()) if len(self.settings.get(group, ())) == 1 else ()
        if self.kernel and self.kernel.get("gamma") is not None:
            gamma = self.kernel["gamma"]
            parts.append(f"gamma={gamma}" if isinstance(gamma, str) else f"gamma={gamma:g}")
        sizes = self.settings.get("n_basis")
        if isinstance(sizes, list) and len(sizes) == 1:
            parts.append(f"n_basis={sizes[0]}")
        parts.append(f"seed {self.seed}")
        return " ".join(parts)


@dataclass
class Outcome:
    """What a job gives: rows made by `row`, and small named arrays for figures."""

    rows: list[dict]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)


def row(
    job: Job,
    metric: str,
    value: float | None,
    *,
    method: str = "",
    selector: str = "",
    m: int | None = None,
    r: int | None = None,
    kernel: str = "",
    parameters: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    status: str = "done",
    error: str = "",
) -> dict:
    """One measurement of a job as a tidy row.

    Parameters
    ----------
    job : Job
    metric : str
    value : float or None
        One that is not finite is a failure.
    method, selector, m, r, kernel
        What was measured; empty where it does not apply.
    parameters : mapping, optional
        Other settings that tell rows apart.
    seconds : float, optional
        Time that it took to fit.
    status : {"done", "inapplicable", "failed", "timeout", "memory"}
    error : str

    Returns
    -------
    dict
        With the keys `COLUMNS`, but for ``job``, which the store adds.
    """
    if value is not None and not math.isfinite(value):
        status, error, value = "failed", error or f"ValueError: {metric} is {float(value)}", None
    return {
        "experiment": job.experiment,
        "dataset": job.data_name,
        "split": job.split,
        "seed": job.seed,
        "method": method,
        "selector": selector,
        "m": None if m is None else int(m),
        "r": None if r is None else int(r),
        "kernel": kernel,
        "parameters": json.dumps(dict(parameters or {}), sort_keys=True, default=plain_value),
        "metric": metric,
        "value": None if value is None else float(value),
        "seconds": None if seconds is None else float(seconds),
        "status": status,
        "error": one_line(error),
    }


def one_line(text: str) -> str:
    """A text that can be stored and printed anywhere: without line breaks, NULs and lone surrogates.

    Examples
    --------
    >>> print(one_line("a\\nb\\0\\ud800"))
    a b\\x00\\ud800
    """
    text = " ".join(text.splitlines()).replace("\0", "\\x00")
    return text.encode("utf-8", "backslashreplace").decode()


def with_labels(row: dict, labels: Mapping[str, Any]) -> dict:
    """A row that tells further settings, in its parameters."""
    if not labels:
        return row
    parameters = dict(labels) | json.loads(row["parameters"])
    return {**row, "parameters": json.dumps(parameters, sort_keys=True, default=plain_value)}


def dataset_of(config, name: str, seed: int) -> tuple[dict, int]:
    """The data of one trial: what a Job's ``dataset`` holds, and the number of its split.

    Parameters
    ----------
    config : Settings
    name : str
        A key of ``config.datasets``.
    seed : int
        Number of the trial.

    Returns
    -------
    dataset : dict
    split : int
    """
    chosen = config.datasets[name]
    options = dict(chosen["options"])
    kind, split = chosen["split"]["kind"], 0
    synthetic = entry_of(chosen["name"]).kind == "synthetic"
    if synthetic and config.redraw:
        options["seed"] = (options.get("seed") or 0) + seed
    if kind == "random":
        split = seed + 1
    elif kind == "published":
        split = options["realisation"] = options.get("realisation", 1) + seed
    if config.n_train is not None:
        # a generator draws so many, unless its size is another option; then a subset is taken
        drawn = synthetic and "n" in dataset_options(chosen["name"])
        options["n" if drawn else "n_train"] = config.n_train
    if config.n_test is not None:
        options["n_test"] = config.n_test
    held_out = chosen["split"]["held_out"]
    dataset = {
        "name": chosen["name"],
        "options": options,
        "scaling": chosen["scaling"],
        "split": {"kind": kind, "held_out": held_out},
    }
    return dataset, split


def grid_jobs(config) -> list[Job]:
    """Jobs of an experiment without a function of its own: one for each data set, trial and kernel."""
    jobs = []
    for name, chosen in config.datasets.items():
        settings = {
            "methods": config.methods,
            "selectors": config.selectors,
            "metrics": config.metrics,
            "n_basis": config.n_basis,
            "n_components": config.n_components or [chosen["n_components"]],
            "center": config.center,
            "repeats": config.repeats,
            "timing": config.timing,
            "parameters": config.parameters,
        }
        for seed in config.seeds:
            dataset, split = dataset_of(config, name, seed)
            for kernel in config.kernels[name]:
                jobs.append(Job(config.experiment, dataset, split, seed, kernel, settings))
    return jobs


def plain_value(value: Any) -> Any:
    """What JSON has instead of a value of NumPy."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"jobs and parameters hold plain values, not {type(value).__name__}")
