"""The kernel matrix of samples that is never stored: its products with a few vectors, tile by tile."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from kpca_lab.blas import product
from kpca_lab.gram import is_plain_gaussian, varying_columns
from kpca_lab.kernels import Kernel, row_blocks
from kpca_lab.linalg import rank_tolerance, top_eigenpairs
from kpca_lab.span import Frame

# A tile is computed while it is in the cache and used for the rows and for the columns that it stands for.
TILE_ROWS, TILE_COLUMNS = 256, 1024
# Partial sums of a product, each of which one thread works on. Their number is fixed, and they are added up
# in order, so that the result does not depend on the number of threads.
PARTIAL_SUMS = 8
# Basis points of the first approximation, for each wanted component and at least. More save no product.
BASIS_PER_COMPONENT, SMALLEST_BASIS = 10, 300
RANDOM_COLUMNS = 4


class GramOperator:
    """The (centred) kernel matrix of samples as an operator.

    A product computes each value of one triangle once, O(n_samples^2 n_features) operations, and takes
    O(n_samples n_columns) memory. It runs in as many threads as BLAS would use, each with a BLAS of its own.

    Parameters
    ----------
    kernel : Kernel
    samples : array or sparse matrix of shape (n_samples, n_features)
    center : bool
        Whether the mean of the samples in feature space is subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.gram import gram_matrix
    >>> from kpca_lab.gram_operator import GramOperator
    >>> from kpca_lab.kernels import make_kernel
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> kernel = make_kernel("rbf", gamma=0.5, n_features=2).anchored(X)
    >>> operator = GramOperator(kernel, X, center=True)
    >>> bool(np.allclose(operator.multiply(X), gram_matrix(kernel, X, center=True) @ X))
    True
    """

    def __init__(self, kernel: Kernel, samples, *, center: bool):
        self.kernel, self.samples, self.center = kernel, samples, center
        self.n = samples.shape[0]
        self.core_diagonal, self.offset = kernel.core_diagonal(samples), kernel.offset(samples)
        self.core_sum: float | None = None
        self.is_gaussian = is_plain_gaussian(kernel, samples)
        if self.is_gaussian:
            self.shifted = varying_columns(kernel, samples)
            self.squares = kernel.gamma * np.einsum("ij,ij->i", self.shifted, self.shifted)
            # The squared norms ride along as two more columns of the product of these.
            ones = np.ones(self.n)
            self.left = np.column_stack([2 * kernel.gamma * self.shifted, -self.squares, ones])
            self.right = np.column_stack([self.shifted, ones, -self.squares])

    def multiply(self, V: np.ndarray) -> np.ndarray:
        """The product with the columns of ``V``."""
        if self.center:
            V = V - V.mean(axis=0)
            if self.core_sum is None:  # it takes no pass of its own if it comes with the first product
                product = self._core_product(np.column_stack([V, np.ones(self.n)]))
                self.core_sum, product = float(product[:, -1].sum()), product[:, :-1]
            else:
                product = self._core_product(V)
            return product - product.mean(axis=0)
        totals = V.sum(axis=0)
        product = self._core_product(V)
        product += np.outer(self.offset, totals)
        return product + (self.offset @ V + self.kernel.constant * totals)

    def trace(self) -> float:
        """The sum of the diagonal; if centred, after a product."""
        if not self.center:
            return float(self.kernel.diagonal(self.samples).sum())
        if self.core_sum is None:
            self.multiply(np.empty((self.n, 0)))
        return float(self.core_diagonal.sum() - self.core_sum / self.n)

    def first_approximation(self, n_components: int, rng: np.random.Generator) -> np.ndarray:
        """Components in the span of a random subset of the samples, with a few random columns beside them."""
        size = min(self.n, max(SMALLEST_BASIS, BASIS_PER_COMPONENT * n_components))
        points = self.samples[np.sort(rng.choice(self.n, size, replace=False))]
        frame = Frame.of(self.kernel, points, rank_tolerance(size))
        rank = frame.vectors.coefficients.shape[1]
        square, total = np.zeros((rank, rank)), np.zeros(rank)
        for rows in row_blocks(self.n, 8 * size):
            coordinates = frame.vectors.evaluate(self.kernel, self.samples[rows])
            square += product(coordinates.T, coordinates)
            total += coordinates.sum(axis=0)
        if self.center:
            square -= np.outer(total, total) / self.n
        _, directions = top_eigenpairs(square, n_components)
        components = frame.expand(directions).evaluate(self.kernel, self.samples)
        return np.hstack([components, rng.standard_normal((self.n, RANDOM_COLUMNS))])

    def _core_product(self, V: np.ndarray) -> np.ndarray:
        V = np.ascontiguousarray(V)
        starts = range(0, self.n, TILE_ROWS)
        shares = [starts[part::PARTIAL_SUMS] for part in range(min(PARTIAL_SUMS, len(starts)))]
        threads = 1 if self.kernel.name == "callable" else _n_threads()  # who knows what it touches
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
            sums = pool.map(lambda share: self._partial_product(share, V), shares)
            product = next(sums)
            for partial in sums:
                product += partial
        return product.T

    def _partial_product(self, starts: range, V: np.ndarray) -> np.ndarray:
        """What the rows of tiles that begin at ``starts`` add to the product, which is transposed.

        BLAS is faster so for a narrow ``V``.
        """
        product = np.zeros((V.shape[1], self.n))
        for begin in starts:
            rows = slice(begin, min(begin + TILE_ROWS, self.n))
            for left in range(begin, self.n, TILE_COLUMNS):
                columns = slice(left, min(left + TILE_COLUMNS, self.n))
                tile = self._tile(rows, columns)
                if left == begin:
                    tile = np.triu(tile)
                    np.fill_diagonal(tile, self.core_diagonal[rows])
                product[:, columns] += V[rows].T @ tile
                if left == begin:
                    np.fill_diagonal(tile, 0.0)
                product[:, rows] += (tile @ V[columns]).T
        return product

    def _tile(self, rows: slice, columns: slice) -> np.ndarray:
        if not self.is_gaussian:
            return self.kernel.core(self.samples[rows], self.samples[columns])
        tile = self.left[rows] @ self.right[columns].T
        largest = self.squares[rows].max() + self.squares[columns].max()
        self.kernel._measure_close_pairs(tile, self.shifted[rows], self.shifted[columns], largest)
        return np.expm1(tile, out=tile)


def _n_threads() -> int:
    """As many threads as BLAS may use, and not more than this process has cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = [entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"]
    return min(cores, max(allowed, default=1))
