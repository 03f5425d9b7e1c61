"""Kernel values between samples that are wanted again and again, computed once.

Comparing methods on the same samples asks for the same kernel values many times: of all samples with the
basis for each fit, each error and each distance, and again for each kernel width. Inside

    with use_table(KernelTable(X)):
        ...

every kernel of this package takes them from the table. Rows are recognised by what is in them, so that the
code that asks need not know.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from kpca_lab.kernels import TABLE_IN_USE, Kernel, row_blocks

__all__ = ["KernelTable", "use_table"]

# Linear, cosine and polynomial kernels are taken about an origin that every method chooses for itself.
TABULATED = ("rbf", "laplacian", "sigmoid", "callable")
# A table holds up to two matrices of n x n numbers.
LARGEST_TABLE = 2**29


@contextmanager
def use_table(table: "KernelTable | None") -> Iterator[None]:
    """Let kernels take what they can from a table, or, with None, compute everything.

    Parameters
    ----------
    table : KernelTable or None
        Where to look values up.
    """
    token = TABLE_IN_USE.set(table)
    try:
        yield
    finally:
        TABLE_IN_USE.reset(token)


class KernelTable:
    """Kernel values, and the distances under them, between the rows of an array.

    Only rows of the matrices that something asks for are computed. Distances serve all widths of the
    Gaussian and the Laplacian kernel; kernel values are kept for the kernel that was asked for last.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import FullKPCA, SubsetKPCA
    >>> from kpca_lab.kernel_table import KernelTable, use_table
    >>> from kpca_lab.metrics import operator_distance
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> with use_table(KernelTable(X)):
    ...     for gamma in (0.1, 0.2):
    ...         full = FullKPCA(3, gamma=gamma).fit(X)
    ...         subset = SubsetKPCA(3, gamma=gamma, n_basis=100, random_state=0).fit(X)
    ...         print(operator_distance(subset, full).d < 0.2)
    True
    True
    """

    def __init__(self, X):
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        self._weights = np.random.default_rng(0).integers(2**63, size=self._X.shape[1], dtype=np.uint64)
        marks = self._marks(self._X)
        self._order = np.argsort(marks, kind="stable")
        self._sorted_marks = marks[self._order]
        self._shifted = self._X - self._X.mean(axis=0)
        self._squares = np.einsum("ij,ij->i", self._shifted, self._shifted)
        self._distances: dict[str, _Rows] = {}
        self._signature: tuple | None = None
        self._cores: _Rows | None = None

    @staticmethod
    def fits(n_samples: int) -> bool:
        """Whether the table of so many samples takes at most 512 MiB."""
        return 16 * n_samples**2 <= LARGEST_TABLE

    def core(self, kernel: Kernel, X, Y) -> np.ndarray | None:
        """``kernel.core(X, Y)`` as a new array; None unless all rows of ``X`` and ``Y`` are in the table."""
        if kernel.name not in TABULATED:
            return None
        columns = self._numbers(Y)
        rows = columns if X is Y or columns is None else self._numbers(X)
        if rows is None or columns is None:
            return None
        cores = self._cores_of(kernel)
        # The matrix is symmetric: the rows of either side will do.
        if cores.cost(columns) < cores.cost(rows):
            return cores.take(columns, rows).T
        return cores.take(rows, columns)

    def core_columns(self, kernel: Kernel, X) -> Callable[[int], np.ndarray] | None:
        """``kernel.core_columns(X)``; None unless all rows of ``X`` are in the table."""
        numbers = None if kernel.name not in TABULATED else self._numbers(X)
        if numbers is None:
            return None
        cores = self._cores_of(kernel)
        return lambda j: cores.take(numbers[j : j + 1], numbers)[0]

    def _marks(self, X):
        """A number for each row, equal for equal rows and with near certainty for no others."""
        bits = X.view(np.uint64)
        # Round numbers differ in their first bits only, which a product moves out of the word.
        return (bits ^ (bits >> np.uint64(32))) @ self._weights

    def _numbers(self, X):
        """Places of the rows of ``X`` in the table, None if one of them is not there."""
        if sparse.issparse(X) or X.shape[1] != self._X.shape[1]:
            return None
        X = np.ascontiguousarray(X, dtype=np.float64)
        places = np.searchsorted(self._sorted_marks, self._marks(X))
        numbers = self._order[np.minimum(places, len(self._order) - 1)]
        return numbers if np.array_equal(self._X[numbers], X) else None

    def _cores_of(self, kernel):
        if kernel.signature != self._signature:
            self._signature = kernel.signature
            self._cores = _Rows(len(self._X), lambda numbers: self._core_rows(kernel, numbers))
        return self._cores

    def _core_rows(self, kernel, numbers):
        if kernel.name not in ("rbf", "laplacian"):
            return kernel.computed_core(self._X[numbers], self._X)
        if kernel.name not in self._distances:
            compute = self._square_distances if kernel.name == "rbf" else self._city_block_distances
            self._distances[kernel.name] = _Rows(len(self._X), compute)
        distances = self._distances[kernel.name].take(numbers)
        return kernel.core_of_distances(distances, self._shifted[numbers], self._shifted)

    def _square_distances(self, numbers):
        distances = -2 * self._shifted[numbers] @ self._shifted.T
        distances += self._squares[numbers, None]
        distances += self._squares
        np.maximum(distances, 0, out=distances)
        distances[np.arange(len(numbers)), numbers] = 0
        return distances

    def _city_block_distances(self, numbers):
        return cdist(self._shifted[numbers], self._shifted, "cityblock")


class _Rows:
    """A symmetric matrix of which only those rows are computed and kept that are asked for."""

    def __init__(self, n: int, compute: Callable[[np.ndarray], np.ndarray]):
        self._compute = compute
        self._places = np.full(n, -1)
        self._values = np.empty((0, n))
        self._count = 0

    def cost(self, numbers) -> tuple[int, int]:
        """How many of the rows ``numbers`` are not computed yet, and how many there are."""
        return int(np.count_nonzero(self._places[numbers] < 0)), len(numbers)

    def take(self, numbers, columns=None) -> np.ndarray:
        """Rows ``numbers``, of each all columns or the given ones, as a new array."""
        self._add(np.unique(numbers[self._places[numbers] < 0]))
        rows = self._values[self._places[numbers]]
        if columns is None or np.array_equal(columns, np.arange(len(self._places))):
            return rows
        return np.take(rows, columns, axis=1)

    def _add(self, numbers):
        n, count = len(self._places), self._count + len(numbers)
        if count > len(self._values):
            grown = np.empty((min(max(count, 2 * len(self._values)), n), n))
            grown[: self._count] = self._values[: self._count]
            self._values = grown
        for part in row_blocks(len(numbers), 8 * n):
            self._values[self._count + part.start : self._count + part.stop] = self._compute(numbers[part])
        self._places[numbers] = np.arange(self._count, count)
        self._count = count
