"""Fits of candidates to some rows, and what is measured of them."""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from kpca_lab.advice.budget import Budget, time_limit
from kpca_lab.advice.candidates import Candidate, Task
from kpca_lab.advice.race import ENDS, JUDGES, Measured
from kpca_lab.advice.table import Table
from kpca_lab.kernels import make_kernel
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.metrics import empirical_error, residual_outside_scores

__all__ = ["drawn", "measuring"]


def drawn(n: int, count: int, seed: int) -> np.ndarray:
    """Numbers of ``count`` of ``n`` rows, or of all, in ascending order."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:count])


def measuring(task: Task, table: Table, budget: Budget) -> Callable[[Candidate, int], Measured]:
    """A function that fits a candidate to so many rows, and judges it by rows that are drawn once.

    Parameters
    ----------
    task : Task
    table : Table
    budget : Budget
    """
    n = table.X.shape[0]
    order = np.random.default_rng([task.seed, 1]).permutation(n)
    judging = drawn(n, max(JUDGES, min(10 * task.rank, 4 * JUDGES)), task.seed)
    judges = table.X[judging]
    error_of = _Judges(judges, task)
    labels = None if table.y is None else table.y[judging]

    def measure(candidate: Candidate, n_rows: int) -> Measured:
        rows = table.X[np.sort(order[:n_rows])]
        with time_limit(max(budget.left(ENDS), 0.1 * budget.seconds)), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            begun = budget.spent
            model = candidate.estimator(task, rank=task.rank).fit(rows)
            fitted = budget.spent
            scores = model.transform(judges)
            seconds = fitted - begun + (budget.spent - fitted) * n_rows / judges.shape[0]
            error = error_of(model, scores, n_rows)
            return Measured(n_rows, seconds, error, None if labels is None else _score(scores, labels))

    # The first calls and imports are slow, and would count for whoever comes first; an import must not be
    # stopped in the middle either.
    threadpool_info()
    if labels is not None:
        import_module("sklearn.model_selection")
        import_module("sklearn.neighbors")
    _warm_up(table.X, task)
    return measure


class _Judges:
    """Errors on some rows that all candidates are compared on.

    That of a method without an operator is the part of the kernel matrix outside its scores, which is never
    above the error of an operator with the same scores. It is raised by what the best operator so far loses
    in the same way, so that the two are compared by the measure that both have.
    """

    def __init__(self, rows: Any, task: Task) -> None:
        self._rows = rows
        self._kernel = make_kernel(task.kernel, gamma=task.gamma, n_features=task.n_columns)
        self._best: dict[int, tuple[float, np.ndarray]] = {}

    def __call__(self, model: Any, scores: np.ndarray, n_rows: int) -> float:
        if hasattr(model, "operator_"):
            error = empirical_error(model, self._rows)
            if error < self._best.get(n_rows, (np.inf,))[0]:
                self._best[n_rows] = error, scores
            return error
        error = self._outside(scores)
        if n_rows in self._best:
            best, best_scores = self._best[n_rows]
            error += max(best - self._outside(best_scores), 0.0)
        return error

    def _outside(self, scores: np.ndarray) -> float:
        return residual_outside_scores(scores, self._rows, self._kernel)


def _warm_up(X: Any, task: Task) -> None:
    """Import what is imported late, before times are measured."""
    few = X[: min(40, X.shape[0])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for selector in ("kmeans", "rpcholesky"):
            SubsetKPCA(1, gamma=task.gamma, n_basis=2, selector=selector, random_state=0).fit(few)


def _score(scores: np.ndarray, labels: np.ndarray) -> float:
    """How well the nearest neighbours predict labels from components."""
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.utils.multiclass import type_of_target

    classifies = type_of_target(labels) in ("binary", "multiclass")
    neighbours = KNeighborsClassifier() if classifies else KNeighborsRegressor()
    return float(cross_val_score(neighbours, scores, labels, cv=3).mean())
