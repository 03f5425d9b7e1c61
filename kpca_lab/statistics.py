"""Sums over samples, in the span of basis points, from which SubKPCA and its error follow."""

from collections.abc import Iterable
from copy import copy

import numpy as np
import scipy.linalg.blas

from kpca_lab.distances import densify, row_blocks
from kpca_lab.evaluator import CoreEvaluator
from kpca_lab.kernel_checks import check_range
from kpca_lab.kernels import Kernel
from kpca_lab.span import Frame, SummationFrame

# Elementwise work goes through a block in pieces that stay in the processor's cache.
PIECE_BYTES = 2**20


class SpanStatistics:
    """Number, mean and scatter of samples within the span of basis points, and what is left outside it.

    Samples may be added in any number of calls, and statistics over the same points that were summed up
    elsewhere merged: the result is the same but for rounding. A sample is described by the core of its
    kernel values with the basis (and the kernel's offset, where it has one), less that of the basis mean.
    Only centred sums are formed from these, so that the constant part of the kernel never enters.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (n_points, n_features)
        The basis.

    Attributes
    ----------
    frame : Frame
        An orthonormal frame of the span, which all coordinates refer to.
    n_samples : int
        How many samples have been added.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.kernels import make_kernel
    >>> from kpca_lab.statistics import SpanStatistics
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> kernel = make_kernel("rbf", gamma=0.1, n_features=2)
    >>> whole = SpanStatistics(kernel, X[:50]).add(X)
    >>> parts = SpanStatistics(kernel, X[:50]).add(X[:200]).merge(SpanStatistics(kernel, X[:50]).add(X[200:]))
    >>> np.allclose(whole.mean(), parts.mean())
    True
    """

    n_samples: int
    _total: np.ndarray
    _offset_total: float
    _diagonal_total: float
    _products: np.ndarray

    def __init__(self, kernel: Kernel, points):
        kernel = kernel.anchored(points)
        self._summation = SummationFrame.of(kernel, points)
        ordered = points[self._summation.order]
        self._evaluator = CoreEvaluator(kernel, ordered)
        self._reference = self._summation.column_means[self._summation.order]
        self._offset_reference = kernel.offset(ordered).mean()
        self._products: np.ndarray
        self._clear()

    @property
    def frame(self) -> Frame:
        """An orthonormal frame of the span."""
        return self._summation.frame

    def add(self, samples) -> "SpanStatistics":
        """Add samples, block by block."""
        kernel = self.frame.kernel
        for rows, core in self._evaluator.blocks(samples):
            offset = kernel.offset(samples[rows]) - self._offset_reference
            self._offset_total += offset.sum()
            self._diagonal_total += kernel.core_diagonal(samples[rows]).sum()
            for piece in row_blocks(len(core), 8 * core.shape[1], PIECE_BYTES):
                part = core[piece]
                part -= self._reference
                self._total += part.sum(axis=0)
                self._summation.to_coordinates(part, offset[piece])
            coordinates = core[:, : self._summation.size].T
            self._products = scipy.linalg.blas.dsyrk(
                1.0, coordinates, beta=1.0, c=self._products, overwrite_c=True
            )
        self.n_samples += samples.shape[0]
        return self

    def merge(self, other: "SpanStatistics") -> "SpanStatistics":
        """Add the samples of other statistics over the same points."""
        points, others = self.frame.vectors.points, other.frame.vectors.points
        same_points = points.shape == others.shape and not np.any(densify(points != others))
        if self.frame.kernel.signature != other.frame.kernel.signature or not same_points:
            raise ValueError("Statistics can be merged only if they have the same kernel and the same basis.")
        return self.add_sums(other.sums())

    def sums(self) -> tuple:
        """The bare sums, without the points that they refer to: what has to travel to be merged."""
        return self.n_samples, self._total, self._offset_total, self._diagonal_total, self._products

    def sums_over(self, blocks: Iterable) -> tuple:
        """The sums over the samples of some blocks alone, which are checked first."""
        fresh = self.fresh()
        for block in blocks:
            check_range(self.frame.kernel, block, training=False)
            fresh.add(block)
        return fresh.sums()

    def add_sums(self, sums: tuple) -> "SpanStatistics":
        """Add the sums of statistics over the same points, :meth:`fresh` from these or equal to them."""
        self.n_samples, self._total, self._offset_total, self._diagonal_total, self._products = merged_sums(
            self.sums(), sums
        )
        return self

    def drift(self) -> np.ndarray:
        """Coordinates of the samples' mean in feature space, less those of the basis mean."""
        return self._summation.turn(self._drift()[:, None])[:, 0]

    def mean(self) -> np.ndarray:
        """Coordinates of the samples' mean in feature space, projected on the span."""
        return self.frame.mean_coordinates + self.drift()

    def scatter(self) -> np.ndarray:
        """Scatter matrix of the samples about their mean, in coordinates of the frame."""
        drift = self._drift()
        products = self._products - self.n_samples * np.outer(drift, drift)
        products = np.triu(products)
        products += np.triu(products, 1).T
        turned = self._summation.turn(self._summation.turn(products).T)
        turned += turned.T.copy()
        turned /= 2
        return turned

    def scatter_about(self, centroid: np.ndarray) -> np.ndarray:
        """The same about a point, given by its coordinates."""
        away = self.mean() - centroid
        return self.scatter() + self.n_samples * np.outer(away, away)

    def outside(self, scatter: np.ndarray) -> float:
        """Sum of the squared distances of the samples from the span; ``scatter`` is that about the mean.

        That is the trace of ``R = K - K^``, where ``K^`` is the part of the samples' Gram matrix within the
        span. Squared distances from the basis mean, which lies in the span, are summed up within the span
        and in all, so that nothing large cancels.
        """
        n, total = self.n_samples, self._total.mean()
        in_all = self._diagonal_total - 2 * total - n * self._reference.mean()
        drift = self.drift()
        return float(in_all - scatter.trace() - n * (drift @ drift))

    def remainder(self, samples) -> np.ndarray:
        """The part ``R`` of the Gram matrix of some samples that lies outside the span."""
        kernel, summation = self.frame.kernel, self._summation
        core = np.array(self._evaluator.core(samples)) - self._reference
        with_mean = core.mean(axis=1)
        gram = kernel.core(samples, samples)
        np.fill_diagonal(gram, kernel.core_diagonal(samples))
        gram -= with_mean + self._reference.mean()
        gram -= with_mean[:, None]
        summation.to_coordinates(core, kernel.offset(samples) - self._offset_reference)
        coordinates = summation.turn(core[:, : summation.size].T)
        return gram - coordinates.T @ coordinates

    def fresh(self) -> "SpanStatistics":
        """Statistics over the same points without any samples, which another thread may add to."""
        other = copy(self)
        other._evaluator = copy(self._evaluator)  # with buffers of its own
        other._clear()
        return other

    def _clear(self):
        self.n_samples = 0
        self._total = np.zeros(len(self._reference))
        self._offset_total = 0.0
        self._diagonal_total = 0.0
        self._products = np.zeros((self._summation.size,) * 2, order="F")  # upper triangle

    def _drift(self):
        row = self._total[None] / self.n_samples
        self._summation.to_coordinates(row, np.array([self._offset_total / self.n_samples]))
        return row[0, : self._summation.size]


def merged_sums(first: tuple, second: tuple) -> tuple:
    """The sums over the samples of both."""
    return tuple(one + other for one, other in zip(first, second))
