"""The data and the kernel of a job."""

import json
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from kpca_lab.datasets import Dataset, load_dataset, scale, split
from kpca_lab.kernel_table import KernelTable
from kpca_lab.suite.jobs import Job
from kpca_lab.widths import resolve_gamma

__all__ = ["Samples", "kernel_parameters", "kernel_text", "load_samples"]


@dataclass(frozen=True, eq=False)
class Samples:
    """Training rows and held-out rows of one split, scaled.

    ``held_out`` is the test part of the data set where the split is official or published, and None where
    nothing is held out. ``variance`` is that of all entries of the data before it is divided.
    """

    dataset: Dataset
    train: np.ndarray
    held_out: np.ndarray | None
    labels: np.ndarray | None
    held_out_labels: np.ndarray | None
    variance: float

    @cached_property
    def kernel_table(self) -> KernelTable | None:
        """Where jobs on these training rows share kernel values; None if they are too many for a table."""
        return KernelTable(self.train) if KernelTable.fits(len(self.train)) else None


@lru_cache(maxsize=1)
def _load(name, options, stamp):
    return load_dataset(name, **json.loads(options))


def load_samples(job: Job) -> Samples:
    """Load, divide and scale the data of a job.

    Those of the last job are kept, for other kernels on them, unless a file of the user's has changed since.

    Parameters
    ----------
    job : Job

    Returns
    -------
    Samples
    """
    stamp = _stamp(job.dataset["options"].get("path"))
    key = json.dumps([job.dataset, job.split, stamp], sort_keys=True)
    if key not in _last:
        _last.clear()  # before the next ones are loaded, so that two never take up memory together
        _last[key] = _divide(job.dataset, job.split, stamp)
    return _last[key]


_last: dict[str, Samples] = {}


def _stamp(path):
    """When a file of the user's was last changed, and its size."""
    if path is None:
        return None
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _divide(chosen, number, stamp):
    data = _load(chosen["name"], json.dumps(chosen["options"], sort_keys=True), stamp)
    train, labels, held_out, held_out_labels = data.X, data.y, data.X_test, data.y_test
    if chosen["split"]["kind"] == "random":
        share = chosen["split"]["held_out"]
        count = None if share is None else round(share * len(data.X)) if share < 1 else int(share)
        if count is not None and count >= len(data.X):
            count = None
        rows = split(chosen["name"], number, n_samples=len(data.X), n_held_out=count)
        train, held_out = data.X[rows.train], data.X[rows.held_out]
        if labels is not None:
            labels, held_out_labels = labels[rows.train], labels[rows.held_out]
    train, held_out = scale(train, held_out, scaling=chosen["scaling"], pixel_range=data.pixel_range)
    whole = train if chosen["scaling"] is not None else data.X
    return Samples(data, train, held_out, labels, held_out_labels, float(np.var(whole)))


def kernel_parameters(kernel: dict, samples: Samples) -> dict:
    """The kernel's parameters as estimators take them, the rule for gamma applied.

    Parameters
    ----------
    kernel : dict
        ``kernel``, ``gamma``, ``gamma_rule``, ``degree``, ``coef0``; null is the estimator's default.
    samples : Samples

    Returns
    -------
    dict
    """
    parameters = {
        key: kernel[key] for key in ("kernel", "gamma", "degree", "coef0") if kernel.get(key) is not None
    }
    if isinstance(parameters.get("gamma"), str):
        parameters["gamma"] = resolve_gamma(parameters["gamma"], samples.train)
    if kernel.get("gamma_rule") == "variance" and "gamma" not in parameters:
        parameters["gamma"] = 1.0 / (2.0 * samples.variance)
    if parameters["kernel"] in ("rbf", "laplacian", "poly", "sigmoid"):
        parameters.setdefault("gamma", 1.0 / samples.train.shape[1])
    return parameters


def kernel_text(parameters: dict) -> str:
    """A kernel in words, such as ``rbf(gamma=0.1)``."""
    rest = ",".join(f"{key}={value:.6g}" for key, value in parameters.items() if key != "kernel")
    return f"{parameters['kernel']}({rest})" if rest else parameters["kernel"]
