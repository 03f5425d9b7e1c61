"""Kernel values of block after block of samples with the same points, without building anything twice."""

import threading
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from kpca_lab.distances import BLOCK_BYTES, measure_close_pairs, row_blocks, row_squares, shifted
from kpca_lab.kernels import TABLE_IN_USE, Kernel

# More rows at once make products no faster.
BLOCK_ROWS = 2048


class CoreEvaluator:
    """``kernel.core(samples, points)`` for fixed points.

    For the Gaussian kernel over dense points, what depends on the points alone is built once and blocks
    of samples share their buffers; other kernels are asked each time.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (n_points, n_features)
    """

    def __init__(self, kernel: Kernel, points):
        self.kernel, self.points = kernel, points
        self._direct = kernel.name == "rbf" and not sparse.issparse(points)
        self._buffers = threading.local()  # one model may serve several threads
        if self._direct:
            self._shifted = shifted(points, kernel.origin)
            self._squares = -kernel.gamma * row_squares(self._shifted)
            ones = np.ones(len(self._squares))
            self._right = np.column_stack([2 * kernel.gamma * self._shifted, ones, self._squares]).T

    def blocks(self, samples, *, keep_buffers: bool = True) -> Iterator[tuple[slice, np.ndarray]]:
        """The core in blocks of rows, with the slice of ``samples`` that each belongs to.

        The caller may overwrite a block; the next one overwrites it anyway. Buffers are kept for the next
        call, if it is not to be the last one.
        """
        width = max(self.points.shape[0], samples.shape[-1])
        for rows in row_blocks(samples.shape[0], 8 * width, min(BLOCK_BYTES, BLOCK_ROWS * 8 * width)):
            yield rows, self.core(samples[rows])
        if not keep_buffers:
            vars(self._buffers).clear()

    def core(self, samples) -> np.ndarray:
        """The core for some samples, in a buffer that the next call overwrites."""
        if not self._direct or TABLE_IN_USE.get() is not None or sparse.issparse(samples):
            return self.kernel.core(samples, self.points)
        n, d = samples.shape
        buffers, gamma, origin = vars(self._buffers), self.kernel.gamma, self.kernel.origin
        if not buffers or n > len(buffers["left"]):
            buffers.update(left=np.ones((n, d + 2)), values=np.empty((n, len(self._squares))))
        left, values = buffers["left"][:n], buffers["values"][:n]
        moved = left[:, :d]
        np.subtract(samples, 0.0 if origin is None else origin, out=moved)
        np.multiply(row_squares(moved), -gamma, out=left[:, d])
        np.matmul(left, self._right, out=values)  # the squared norms ride along as two more columns
        largest = -left[:, d].min(initial=0) - self._squares.min(initial=0)
        measure_close_pairs(values, moved, self._shifted, gamma, largest)
        np.expm1(values, out=values)
        return values

    def __getstate__(self):
        return {"kernel": self.kernel, "points": self.points}

    def __setstate__(self, state):
        self.__init__(**state)
