"""Measures on a sample of the rows: every method has them, and they cost little however many rows there are.

Errors are in the feature space of the job's kernel. A linear method does not work there: it has the part
outside its scores, and no other error.
"""

import tracemalloc
import weakref

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.multiclass import type_of_target

from kpca_lab.datasets import derive_rng
from kpca_lab.kernel_table import use_table
from kpca_lab.linalg import rank_tolerance
from kpca_lab.methods.full import FullKPCA
from kpca_lab.metrics import empirical_error, error_ratio
from kpca_lab.metrics import residual_outside_scores as outside_scores
from kpca_lab.suite.errors import NotApplicableError
from kpca_lab.suite.measure.samples import Samples, kernel_text
from kpca_lab.suite.measure.timing import median_seconds
from kpca_lab.suite.measure.workbench import Workbench

# The least error on a sample is the same for all methods on the same rows.
_least: weakref.WeakKeyDictionary[Samples, dict] = weakref.WeakKeyDictionary()


def residual_outside_scores(evaluation, *, max_samples: int = 1000) -> float:
    """Mean squared error in feature space of the best linear reconstruction from the scores of some rows.

    Every method has it, with an operator in feature space or without.

    Parameters
    ----------
    evaluation : Evaluation
    max_samples : int
        How many of the training samples to judge by.
    """
    rows = _some(evaluation, "train", max_samples)[0]
    kernel = evaluation.bench.kernel_of(evaluation.samples.train)
    return outside_scores(_scores(evaluation, rows), rows, kernel, max_samples=None)


def sampled_error(evaluation, *, part: str = "train", max_samples: int = 1000) -> float:
    """Mean squared reconstruction error of some rows.

    Parameters
    ----------
    evaluation : Evaluation
    part : {"train", "held_out"}
    max_samples : int
    """
    wanted = evaluation.bench.kernel_of(evaluation.samples.train)
    if evaluation.operator.kernel.signature != wanted.signature:
        raise NotApplicableError(f"{evaluation.fit.place.method} works in another feature space")
    return empirical_error(evaluation.operator, _some(evaluation, part, max_samples)[0])


def sampled_gap(evaluation, *, max_samples: int = 1000) -> float:
    """By which share the error of some rows is above that of full kernel PCA on them, at most.

    The floor is the error of kernel PCA of these rows alone: no operator of the rank has less on them.

    Parameters
    ----------
    evaluation : Evaluation
    max_samples : int
    """
    error = sampled_error(evaluation, max_samples=max_samples)
    rows = _some(evaluation, "train", max_samples)[0]
    noise = rank_tolerance(len(rows)) * float(evaluation.operator.centred_square_norm(rows).mean())
    ratio = error_ratio(error, _least_error(evaluation, rows), noise)
    if ratio == float("inf"):
        raise NotApplicableError("kernel PCA of this rank has no error: there is no ratio to it")
    return max(ratio - 1.0, 0.0)


def _least_error(evaluation, rows):
    bench = evaluation.bench
    known = _least.setdefault(evaluation.samples, {})
    key = kernel_text(bench.kernel), evaluation.r, len(rows)
    if key not in known:
        with use_table(None):
            known[key] = empirical_error(FullKPCA(evaluation.r, **bench.kernel).fit(rows), rows)
    return known[key]


def neighbour_accuracy(evaluation, *, max_samples: int = 1000) -> float:
    """Share of held-out rows that their five nearest neighbours in the space of the scores get right.

    Parameters
    ----------
    evaluation : Evaluation
    max_samples : int
        How many training rows are the neighbours, and how many held-out rows are judged.
    """
    return _accuracy(evaluation, KNeighborsClassifier(), max_samples)


def svm_accuracy(evaluation, *, max_samples: int = 1000) -> float:
    """Share of held-out rows that a linear support vector machine on the standardised scores gets right.

    Parameters
    ----------
    evaluation : Evaluation
    max_samples : int
        How many rows it is trained on, and how many held-out rows are judged.
    """
    machine = LinearSVC(dual=False, tol=1e-3, random_state=0)
    return _accuracy(evaluation, make_pipeline(StandardScaler(), machine), max_samples)


def _accuracy(evaluation, classifier, max_samples):
    train, labels = _some(evaluation, "train", max_samples)
    if labels is None or type_of_target(labels) not in ("binary", "multiclass"):
        raise NotApplicableError(f"{evaluation.samples.dataset.name} has no classes")
    if 10 * len(np.unique(labels)) > len(labels):
        raise NotApplicableError(f"{evaluation.samples.dataset.name} has too many classes for its rows")
    held_out, wanted = _some(evaluation, "held_out", max_samples)
    classifier.fit(_scores(evaluation, train), labels)
    return float(np.mean(classifier.predict(_scores(evaluation, held_out)) == wanted))


def transform_time(evaluation, *, max_samples: int = 1000) -> float:
    """Seconds to transform 1000 rows: the median of three.

    Parameters
    ----------
    evaluation : Evaluation
    max_samples : int
        How many rows are transformed.
    """
    rows = _some(evaluation, "train", max_samples)[0]
    with use_table(None):
        return 1000 / len(rows) * median_seconds([lambda: evaluation.model.transform(rows)], 3)[0]


def fit_memory(evaluation) -> float:
    """Most memory that choosing the basis and fitting allocate, in MB, measured in a fit of its own."""
    bench = Workbench(evaluation.bench.job)
    with use_table(None):
        tracemalloc.start()
        try:
            list(bench.fit(evaluation.fit.place))
            return tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()


def _some(evaluation, part, count):
    """At most so many rows, drawn once for all methods, and their labels."""
    held_out = part == "held_out"
    X = evaluation.held_out if held_out else evaluation.samples.train
    labels = evaluation.samples.held_out_labels if held_out else evaluation.samples.labels
    if len(X) <= count:
        return X, labels
    job = evaluation.bench.job
    rng = derive_rng(job.dataset["name"], job.seed, "judging", part)
    rows = np.sort(rng.choice(len(X), count, replace=False))
    return X[rows], None if labels is None else labels[rows]


def _scores(evaluation, rows):
    if hasattr(evaluation.model, "operator_"):
        return evaluation.operator.transform(rows)
    return evaluation.model.transform(rows)[:, : evaluation.r]
