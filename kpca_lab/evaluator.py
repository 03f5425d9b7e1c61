"""Kernel values of block after block of samples with the same points, without building anything twice."""

import threading
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from kpca_lab.blas import product
from kpca_lab.distances import BLOCK_BYTES, measure_close_pairs, row_blocks, row_squares, shifted
from kpca_lab.kernels import TABLE_IN_USE, Kernel

# More rows at once make products no faster.
BLOCK_ROWS = 1024


class CoreEvaluator:
    """``kernel.core(samples, points)`` for fixed points.

    For the Gaussian kernel over dense points, what depends on the points alone is built once and blocks
    of samples share their buffers; other kernels are asked each time.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (n_points, n_features)
    n_beside : int
        Number of columns that :meth:`fill` leaves room for beside the core.
    single_limit : float
        Inner products are formed in single precision for ``gamma (|x|^2 + |y|^2)`` up to this.
    """

    def __init__(self, kernel: Kernel, points, n_beside: int = 0, single_limit: float = 0.0):
        self.kernel, self.points, self.n_beside, self.single_limit = kernel, points, n_beside, single_limit
        self._direct = kernel.name == "rbf" and not sparse.issparse(points)
        self._buffers = threading.local()  # one model may serve several threads
        if self._direct:
            moved = shifted(points, kernel.origin)
            self._squares = -kernel.gamma * row_squares(moved)
            m, d = moved.shape
            self._right = np.zeros((d + 2, m + n_beside))
            np.multiply(moved.T, 2 * kernel.gamma, out=self._right[:d, :m])
            self._right[d:, :m] = np.ones(m), self._squares
            self._single_right = self._right[:d].astype(np.float32) if single_limit else None

    def rows(self, samples) -> Iterator[slice]:
        """Slices of ``samples`` that are worth being taken together."""
        width = max(self.points.shape[0], samples.shape[-1])
        return row_blocks(samples.shape[0], 8 * width, min(BLOCK_BYTES, BLOCK_ROWS * 8 * width))

    def blocks(self, samples, *, keep_buffers: bool = True) -> Iterator[tuple[slice, np.ndarray]]:
        """The core in blocks of rows, with the slice of ``samples`` that each belongs to.

        The caller may overwrite a block; the next one overwrites it anyway. Buffers are kept for the next
        call, if it is not to be the last one.
        """
        for rows in self.rows(samples):
            yield rows, self.core(samples[rows])
        if not keep_buffers:
            vars(self._buffers).clear()

    def core(self, samples) -> np.ndarray:
        """The core for some samples, in a buffer that the next call overwrites."""
        if not self.computes_directly(samples):
            return self.kernel.core(samples, self.points)
        values = self._buffer("values", len(samples), self._right.shape[1])
        self.fill(samples, values)
        return values[:, : self.points.shape[0]]

    def fill(self, samples, out: np.ndarray, limit: float = 0.0) -> bool:
        """Write the core for some samples to ``out``, and zeros beside it.

        For the Gaussian kernel, values have an error of the unit of rounding times the largest
        ``gamma (|x|^2 + |y|^2)`` of samples and points. If that is at most ``limit``, close pairs are not
        measured again for more digits.

        Returns
        -------
        bool
            Whether it is.
        """
        m = self.points.shape[0]
        if not self.computes_directly(samples):
            out[:, :m], out[:, m:] = self.kernel.core(samples, self.points), 0.0
            return False
        (n, d), gamma, origin = samples.shape, self.kernel.gamma, self.kernel.origin
        left = self._buffer("left", n, d + 2)
        moved, squares = left[:, :d], left[:, d]
        np.subtract(samples, 0.0 if origin is None else origin, out=moved)
        np.multiply(row_squares(moved), -gamma, out=squares)
        left[:, d + 1] = 1.0
        largest = -squares.min(initial=0) - self._squares.min(initial=0)
        if self._single_right is not None and largest <= self.single_limit:
            np.add(product(moved.astype(np.float32), self._single_right), squares[:, None], out=out)
            out += self._right[d + 1]
            out[:, m:] = 0.0
            np.minimum(out, 0.0, out=out)
        else:
            product(left, self._right, out=out)  # the squared norms ride along as two more columns
        if largest > limit:
            measure_close_pairs(out[:, :m], moved, lambda: shifted(self.points, origin), gamma, largest)
        np.expm1(out, out=out)
        return largest <= limit

    def largest(self, samples) -> float:
        """The largest ``gamma (|x|^2 + |y|^2)`` of samples and points, for the Gaussian kernel."""
        squares = self.kernel.gamma * row_squares(shifted(samples, self.kernel.origin))
        return float(squares.max(initial=0) - self._squares.min(initial=0))

    def computes_directly(self, samples) -> bool:
        """Whether values are computed here, and neither by the kernel nor taken from a table."""
        return self._direct and TABLE_IN_USE.get() is None and not sparse.issparse(samples)

    def _buffer(self, name: str, n_rows: int, n_columns: int) -> np.ndarray:
        """The first rows of a buffer, which is made where there is none that is large enough."""
        buffers = vars(self._buffers)
        if name not in buffers or len(buffers[name]) < n_rows:
            buffers[name] = np.empty((n_rows, n_columns))
        return buffers[name][:n_rows]

    def __getstate__(self):
        return {name: getattr(self, name) for name in ("kernel", "points", "n_beside", "single_limit")}

    def __setstate__(self, state):
        self.__init__(**state)
