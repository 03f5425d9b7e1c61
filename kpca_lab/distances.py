"""Arithmetic on the rows of arrays and sparse matrices that keeps its digits."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

__all__ = [
    "Rows",
    "as_double",
    "central_point",
    "dense_product",
    "densify",
    "measure_close_pairs",
    "row_blocks",
    "row_squares",
    "shifted",
    "stacked",
    "unit_rows",
]

BLOCK_BYTES = 16 * 2**20
# Elementwise work goes through a block in pieces that stay in the processor's cache.
PIECE_BYTES = 2**20
# The central point is the median of at most this many rows, evenly spaced.
MEDIAN_ROWS = 1001
# The mean is given up when it lies this many times farther from the median than the rows usually do.
FAR = 1000.0
# Rounding of the squared norms may change a value of the Gaussian kernel by this many units of rounding.
TOLERATED = 1000.0
# Squared distances below this share of the squared norms have lost too many digits to cancellation.
CLOSE = 1e-6

# An array or a sparse matrix with a row for each sample; for a precomputed kernel, the samples' numbers.
Rows = Any


def row_blocks(n_rows: int, row_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cut ``n_rows`` rows into blocks of about ``block_bytes``."""
    step = max(1, block_bytes // max(1, row_bytes))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def as_double(X: Rows) -> Rows:
    """The rows in double precision; a sparse matrix as a CSR array."""
    return sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def densify(X: Rows) -> np.ndarray:
    """The rows as an array."""
    return X.toarray() if sparse.issparse(X) else X


def stacked(first: Rows, second: Rows) -> Rows:
    """The rows of both, one below the other."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([first, second], format="csr")
    return np.concatenate([first, second])


def row_squares(X: Rows) -> np.ndarray:
    """The squared length of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def dense_product(A: Rows, B: Rows) -> np.ndarray:
    """``A B'`` as an array."""
    return densify(A @ B.T)


def unit_rows(X: Rows) -> Rows:
    """The rows divided by their lengths, whatever their scale; rows of zeros are left as they are."""
    X = as_double(X)
    largest = np.asarray(
        abs(X).max(axis=1).todense() if sparse.issparse(X) else np.abs(X).max(axis=1)
    ).ravel()
    X = _scaled(X, largest)
    return _scaled(X, np.sqrt(row_squares(X)))


def _scaled(X: Rows, lengths: np.ndarray) -> Rows:
    divisors = np.where(lengths > 0, lengths, 1.0)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        return sparse.csr_array(
            (X.data / np.repeat(divisors, np.diff(X.indptr)), X.indices, X.indptr), X.shape
        )
    return X / divisors[:, None]


def central_point(X: Rows) -> np.ndarray:
    """A point amid the rows: their mean, or their median where few rows far away have moved the mean.

    For a sparse matrix always the median, which is zero in a column that has mostly zeros, so that the matrix
    stays sparse when the point is subtracted.
    """
    some = X[:: -(-X.shape[0] // MEDIAN_ROWS)]
    if sparse.issparse(some):
        return _sparse_median(some)
    median = _median(some)
    mean = np.asarray(X, dtype=np.float64).mean(axis=0)
    usual = np.median(np.abs(some - median).max(axis=1))
    return mean if np.abs(mean - median).max() <= FAR * usual else median


def _median(X: np.ndarray) -> np.ndarray:
    """The lower median of each column, a value that occurs in it."""
    middle = (len(X) - 1) // 2
    # Columns with many equal values take a partition several times as long.
    return np.sort(np.array(X.T, dtype=np.float64, order="C"), axis=1)[:, middle]


def _sparse_median(X: Rows) -> np.ndarray:
    columns = sparse.csc_array(X)
    filled = np.flatnonzero(2 * np.diff(columns.indptr) >= X.shape[0])
    median = np.zeros(X.shape[1])
    if len(filled):
        median[filled] = _median(columns[:, filled].toarray())
    return median


def shifted(X: Rows, origin: np.ndarray | None) -> Rows:
    """The rows less ``origin``, in double precision."""
    X = as_double(X)
    if origin is None:
        return X
    if not sparse.issparse(X):
        return X - origin
    columns = np.flatnonzero(origin)
    if not len(columns):
        return X
    n = X.shape[0]
    places = np.tile(columns.astype(X.indices.dtype), n)
    starts = np.arange(n + 1, dtype=X.indptr.dtype) * len(columns)
    return X - sparse.csr_array((np.tile(origin[columns], n), places, starts), shape=X.shape)


def measure_close_pairs(
    values: np.ndarray, A: Rows, B: Rows | Callable[[], Rows], gamma: float, largest: float
) -> None:
    """Recompute from differences those of the ``values``, ``-gamma d^2``, that rounding has spoilt; in place.

    Computed as ``2 <a, b> - |a|^2 - |b|^2`` they carry an error of ``largest``, the largest
    ``gamma (|a|^2 + |b|^2)``, times the unit of rounding. It counts where ``exp(-gamma d^2)`` is not small,
    and where little is left of the terms. Afterwards no value is positive.

    Parameters
    ----------
    values : ndarray of shape (n, m)
    A, B : rows between which the distances are
        ``B`` may be a function without arguments that gives them, where they are not at hand.
    gamma : float
    largest : float
    """
    limit = CLOSE * largest
    if largest > TOLERATED:
        limit = max(limit, np.log(largest / TOLERATED))
    for part in row_blocks(len(values), 8 * values.shape[1], PIECE_BYTES):
        near = np.flatnonzero(values[part].max(axis=1, initial=-np.inf) > -limit) + part.start
        if len(near):
            B = B() if callable(B) else B
            _measure_pairs(values, near, limit, A, B, gamma)


def _measure_pairs(
    values: np.ndarray, near: np.ndarray, limit: float, A: Rows, B: Rows, gamma: float
) -> None:
    """Recompute the values above ``-limit`` in the rows ``near``."""
    close = values[near] > -limit
    n_close = int(np.count_nonzero(close))
    if 4 * n_close > close.size and not sparse.issparse(A) and not sparse.issparse(B):
        values[near] = -gamma * cdist(A[near], B, "sqeuclidean")
        return
    rows, columns = np.divmod(np.flatnonzero(close), values.shape[1])
    rows = near[rows]
    for part in row_blocks(n_close, 8 * A.shape[1]):
        difference = A[rows[part]] - B[columns[part]]
        values[rows[part], columns[part]] = -gamma * row_squares(difference)
