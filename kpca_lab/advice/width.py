"""The width of the kernel, within a part of the budget."""

import warnings
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from kpca_lab.advice.budget import Budget, TimeUp, time_limit
from kpca_lab.widths import resolve_gamma

__all__ = ["WidthChoice", "choose_width"]

ROWS = (200, 500, 1000, 2000)
FOLDS = 3
# How many widths choose_gamma tries; the time of each grows more slowly than the rows, to this power.
WIDTHS, GROWTH = 11, 0.75


class WidthChoice(NamedTuple):
    """A width, and how it was found."""

    gamma: float
    how: str


def choose_width(
    X: Any, y: np.ndarray | None, rank: int, kernel: str, seed: int, budget: Budget, share: float
) -> WidthChoice:
    """Choose by cross-validation on as many rows as there is time for, or by the median rule.

    Without labels, as many components are taken as half of the columns at most: with all of them linear PCA
    loses nothing, and the smallest width comes nearest to it.

    Parameters
    ----------
    X, y
        Rows in memory and their labels.
    rank : int
        Number of components.
    kernel : str
    seed : int
    budget : Budget
    share : float
        Of the budget, until when a choice must be there.
    """
    median = resolve_gamma("median", X)
    if kernel == "laplacian":
        median = float(np.sqrt(median / X.shape[1]))
    found = WidthChoice(median, "the rule of the median distance")
    if y is None and (sparse.issparse(X) or X.shape[1] < 2):
        return found
    rank = min(rank, X.shape[1] // 2) if y is None else rank
    sizes = sorted({min(size, X.shape[0]) for size in ROWS})
    # It imports more of scikit-learn than the rest of the library: not to be measured.
    import_module("kpca_lab.model_selection")
    try:
        with time_limit(budget.left(share)):
            begun = budget.spent
            _choose(X, y, rank, kernel, seed, sizes[0], [median])
            expected = WIDTHS * (budget.spent - begun)
            for size in reversed(sizes):
                if expected * (size / sizes[0]) ** GROWTH < budget.left(share):
                    found = _choose(X, y, rank, kernel, seed, size, None)
                    break
    except TimeUp:
        pass
    return found


def _choose(X, y, rank: int, kernel: str, seed: int, n_rows: int, gammas) -> WidthChoice:
    from kpca_lab.model_selection import choose_gamma

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer members than folds
        choice = choose_gamma(
            X,
            y,
            gammas=gammas,
            n_components=max(min(rank, n_rows // 4), 1),
            kernel=kernel,
            cv=FOLDS,
            max_samples=n_rows,
            random_state=seed,
        )
    widths = sorted(point.gamma for point in choice.curve)
    edge = {widths[0]: ", the smallest tried: linear PCA may do", widths[-1]: ", the largest tried"}
    how = f"cross-validation on {choice.n_samples} rows ({choice.criterion}: {choice.score:.3g})"
    return WidthChoice(choice.gamma, how + edge.get(choice.gamma, ""))
