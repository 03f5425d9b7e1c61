"""The width of a kernel where it is asked for by a rule instead of a number."""

from collections.abc import Iterable
from functools import reduce
from numbers import Real

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from kpca_lab.distances import Rows
from kpca_lab.row_source import RowSource

GAMMA_RULES = ("scale", "median")
# The median distance is taken over the pairs of at most this many samples, chosen with a fixed seed.
MEDIAN_SAMPLES = 1000


def resolve_gamma(gamma: float | str | None, X: Rows) -> float:
    """The number that ``gamma`` stands for on the samples ``X``.

    Parameters
    ----------
    gamma : float, "scale", "median" or None
        A number is returned as it is. None: ``1 / n_features``. "scale": ``1 / (n_features var(X))``, with
        the variance of all entries, as in :class:`sklearn.svm.SVC`. "median": one over the median squared
        distance of two different samples, from the pairs of at most 1000 samples chosen with a fixed seed.
    X : array, sparse matrix or RowSource of shape (n_samples, n_features)
        The samples, of which the rules need spread or distances.

    Returns
    -------
    float
        1 under the rules "scale" and "median" where all samples are the same.
    """
    if gamma is None:
        return 1.0 / (X.n_columns if isinstance(X, RowSource) else X.shape[1])
    if isinstance(gamma, str):
        if gamma not in GAMMA_RULES:
            raise ValueError(
                f"gamma={gamma!r} is unknown: give a number, None or one of {list(GAMMA_RULES)}."
            )
        spread = X.shape[1] * _variance(X) if gamma == "scale" else _median_square_distance(X)
        return _inverse(spread, gamma)
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not np.isfinite(gamma) or gamma < 0:
        raise ValueError(
            f"gamma must be a finite number >= 0, None or one of {list(GAMMA_RULES)}, got {gamma!r}."
        )
    return float(gamma)


def _inverse(spread: float, rule: str) -> float:
    if spread == 0:
        return 1.0
    if not 1e-300 < spread < 1e300:
        raise ValueError(
            f"gamma={rule!r} cannot be had from samples whose squared distances are about {spread:.1g}: "
            "rescale the data."
        )
    return 1.0 / spread


def _variance(X: Rows) -> float:
    """The variance of all entries."""
    if isinstance(X, RowSource):
        return _variance_of_blocks(X)
    if not sparse.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.nan_to_num(np.var(X, dtype=np.float64), nan=np.inf))
    size = X.shape[0] * X.shape[1]
    values = X.data.astype(np.float64)
    mean = np.sum(values / size)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = (np.sum((values - mean) ** 2) + (size - len(values)) * mean**2) / size
    return float(np.nan_to_num(variance, nan=np.inf))


def _variance_of_blocks(source: RowSource) -> float:
    """The variance of all entries, from those of blocks and the distances of their means."""
    size, _, squares = source.reduce(_moments, _pooled)
    return float(np.nan_to_num(squares / size, nan=np.inf))


def _moments(blocks: Iterable[Rows]) -> tuple[int, float, float]:
    """Number, mean and sum of squares about the mean of all entries."""
    return reduce(_pooled, map(_moments_of_block, blocks))


def _moments_of_block(block: Rows) -> tuple[int, float, float]:
    size = block.shape[0] * block.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        return size, block.sum(dtype=np.float64) / size, size * _variance(block)


def _pooled(first: tuple[int, float, float], second: tuple[int, float, float]) -> tuple[int, float, float]:
    size = first[0] + second[0]
    with np.errstate(over="ignore", invalid="ignore"):
        away = second[1] - first[1]
        squares = first[2] + (second[2] + away**2 * first[0] * second[0] / size)
        return size, first[1] + away * second[0] / size, squares


def _median_square_distance(X: Rows) -> float:
    n = X.shape[0]
    if isinstance(X, RowSource):
        X = X.sample(MEDIAN_SAMPLES, np.random.default_rng(0))
    elif n > MEDIAN_SAMPLES:
        X = X[np.sort(np.random.default_rng(0).choice(n, MEDIAN_SAMPLES, replace=False))]
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
    distances = pdist(rows.astype(np.float64), "sqeuclidean")
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 0.0
