"""Sums over samples, in the span of basis points, from which SubKPCA and its error follow."""

from collections.abc import Iterable
from copy import copy

import numpy as np
import scipy.linalg.blas

from kpca_lab.blas import product
from kpca_lab.distances import PIECE_BYTES, TOLERATED, densify, row_blocks
from kpca_lab.evaluator import CoreEvaluator
from kpca_lab.kernel_checks import check_range
from kpca_lab.kernels import Kernel
from kpca_lab.precision import SAFE, measured_change
from kpca_lab.span import LARGEST_RATIO, Frame, SummationFrame


class SpanStatistics:
    """Number, mean and scatter of samples within the span of basis points, and what is left outside it.

    Samples may be added in any number of calls, and statistics over the same points that were summed up
    elsewhere merged: the result is the same but for rounding. A sample is described by the core of its
    kernel values with the basis (and the kernel's offset, where it has one), less that of the basis mean.
    Only centred sums are formed from these, so that the constant part of the kernel never enters. Where the
    basis is well conditioned for the size of the kernel values, products of these are summed up as they are
    and centred afterwards: a pass over a block costs a product, an exponential and the sums, no more.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the feature space.
    points : array of shape (n_points, n_features)
        The basis.
    single_limit : float, default=0.0
        Inner products between samples and basis are formed in single precision for
        ``gamma (|x|^2 + |y|^2)`` up to this; see :meth:`allow_single_precision`.

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
    _diagonal_total: float
    _plain: np.ndarray | float
    _turned: np.ndarray | float

    def __init__(self, kernel: Kernel, points, single_limit: float = 0.0):
        kernel = kernel.anchored(points)
        self._summation = SummationFrame.of(kernel, points)
        order = self._summation.order
        self._evaluator = CoreEvaluator(kernel, points[order], n_beside=2, single_limit=single_limit)
        # Kernel values of the basis mean: the core with the points, the offset.
        self._reference = np.append(self._summation.column_means[order], kernel.offset(points).mean())
        # The core of samples is at most twice gamma (|x|^2 + |y|^2).
        self._plain_limit = min(TOLERATED, LARGEST_RATIO * self._summation.smallest / 2)
        self._clear()

    @property
    def frame(self) -> Frame:
        """An orthonormal frame of the span."""
        return self._summation.frame

    def add(self, samples, core: np.ndarray | None = None) -> "SpanStatistics":
        """Add samples, block by block; ``core`` is filled with the kernel's core of them with the points."""
        kernel, m, rows = self.frame.kernel, len(self._summation.order), None
        for block in self._evaluator.rows(samples):
            some = samples[block]
            if rows is None:
                rows = np.empty((some.shape[0], m + 2))
            rows = rows[: some.shape[0]]
            is_plain = self._evaluator.fill(some, rows, self._plain_limit)
            if core is not None:
                core[block, self._summation.order] = rows[:, :m]
            rows[:, m], rows[:, m + 1] = kernel.offset(some), 1.0
            self._diagonal_total += kernel.core_diagonal(some).sum()
            if is_plain:
                self._plain = _add_products(self._plain, rows)
            else:
                self._turned = _add_products(self._turned, self._to_coordinates(rows))
        self.n_samples += samples.shape[0]
        return self

    @property
    def is_double(self) -> bool:
        """Whether all kernel values are computed in double precision."""
        return self._evaluator.single_limit == 0

    def allow_single_precision(self, samples, n_components: int | float | None) -> None:
        """Form inner products in single precision, if some samples show that to be safe.

        Safe is what changes neither the error nor any of the eigenvalues kept by more than a millionth; see
        :mod:`kpca_lab.precision`. Blocks with longer rows than measured are left to double precision.
        """
        if not self._evaluator.computes_directly(samples):
            return
        kernel, points, m = self.frame.kernel, self._evaluator.points, len(self._summation.order)
        single = CoreEvaluator(kernel, points, n_beside=2, single_limit=np.inf)
        rows, changes = np.empty((2, samples.shape[0], m + 2))
        self._evaluator.fill(samples, rows, self._plain_limit)
        single.fill(samples, changes, self._plain_limit)
        changes -= rows
        rows[:, m], rows[:, m + 1] = kernel.offset(samples), 1.0
        rows = self._to_coordinates(rows)
        self._summation.to_coordinates(changes)
        changes = changes[:, : rows.shape[1]]
        change = measured_change(
            self._summation.turn(rows[:, :-2].T).T,
            self._summation.turn(changes[:, :-2].T).T,
            kernel.core_diagonal(samples) - 2 * rows[:, -2] - self._reference[:-1].mean(),
            -2 * changes[:, -2],
            n_components,
        )
        if change <= SAFE:
            single.single_limit = single.largest(samples) * SAFE / max(change, SAFE / 10)
            self._evaluator = single

    def _to_coordinates(self, rows):
        for piece in row_blocks(len(rows), 8 * rows.shape[1], PIECE_BYTES):
            part = rows[piece]
            part[:, :-1] -= self._reference
            self._summation.to_coordinates(part)
        return rows[:, : self._summation.size + 2]

    def merge(self, other: "SpanStatistics") -> "SpanStatistics":
        """Add the samples of other statistics over the same points."""
        points, others = self.frame.vectors.points, other.frame.vectors.points
        same_points = points.shape == others.shape and not np.any(densify(points != others))
        if self.frame.kernel.signature != other.frame.kernel.signature or not same_points:
            raise ValueError("Statistics can be merged only if they have the same kernel and the same basis.")
        return self.add_sums(other.sums())

    def sums(self) -> tuple:
        """The bare sums, without the points that they refer to: what has to travel to be merged."""
        return self.n_samples, self._diagonal_total, self._plain, self._turned

    def sums_over(self, blocks: Iterable) -> tuple:
        """The sums over the samples of some blocks alone, which are checked first."""
        fresh = self.fresh()
        for block in blocks:
            check_range(self.frame.kernel, block, training=False)
            fresh.add(block)
        return fresh.sums()

    def add_sums(self, sums: tuple) -> "SpanStatistics":
        """Add the sums of statistics over the same points, :meth:`fresh` from these or equal to them."""
        self.n_samples, self._diagonal_total, self._plain, self._turned = merged_sums(self.sums(), sums)
        return self

    def drift(self) -> np.ndarray:
        """Coordinates of the samples' mean in feature space, less those of the basis mean."""
        return self._summation.turn(self._means()[:-2, None])[:, 0]

    def mean(self) -> np.ndarray:
        """Coordinates of the samples' mean in feature space, projected on the span."""
        return self.frame.mean_coordinates + self.drift()

    def scatter(self) -> np.ndarray:
        """Scatter matrix of the samples about their mean, in coordinates of the frame."""
        size, drift = self._summation.size, self._means()[:-2]
        products = -self.n_samples * np.outer(drift, drift)
        if isinstance(self._turned, np.ndarray):
            products += _both_triangles(self._turned)[:size, :size]
        if isinstance(self._plain, np.ndarray):
            products += self._turned_products(self._plain)
        return self._summation.turn_products(products)

    def _turned_products(self, plain: np.ndarray) -> np.ndarray:
        size = self._summation.size
        half = self._turned_later(_both_triangles(plain))[:, :size].T.copy()
        return self._turned_later(half)[:, :size]

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
        n, core_total = self.n_samples, self.n_samples * self._means()[-2]
        in_all = self._diagonal_total - 2 * core_total - n * self._reference[:-1].mean()
        drift = self.drift()
        return float(in_all - scatter.trace() - n * (drift @ drift))

    def remainder(self, samples, core: np.ndarray | None = None) -> np.ndarray:
        """The part ``R`` of the Gram matrix of some samples that lies outside the span.

        ``core`` is the kernel's core between them, where it is known.
        """
        kernel, m = self.frame.kernel, len(self._summation.order)
        rows = np.empty((samples.shape[0], m + 2))
        self._evaluator.fill(samples, rows)
        rows[:, m], rows[:, m + 1] = kernel.offset(samples), 1.0
        rows = self._to_coordinates(rows)
        with_mean = rows[:, -2]
        gram = kernel.core(samples, samples) if core is None else core.copy()
        np.fill_diagonal(gram, kernel.core_diagonal(samples))
        gram -= with_mean + self._reference[:-1].mean()
        gram -= with_mean[:, None]
        coordinates = self._summation.turn(rows[:, :-2].T)
        return gram - product(coordinates.T, coordinates)

    def fresh(self) -> "SpanStatistics":
        """Statistics over the same points without any samples, which another thread may add to."""
        other = copy(self)
        other._evaluator = copy(self._evaluator)  # with buffers of its own
        other._clear()
        return other

    def _clear(self):
        self.n_samples = 0
        self._diagonal_total = 0.0
        # Upper triangles of sums of products: of kernel values, offset and one, turned to coordinates later;
        # of coordinates, mean and one, where that loses digits.
        self._plain = self._turned = 0.0

    def _means(self) -> np.ndarray:
        """Means over the samples: of the coordinates to sum up in, of the core's mean, and of one."""
        total = np.zeros(self._summation.size + 2)
        if isinstance(self._turned, np.ndarray):
            total += self._turned[:, -1]
        if isinstance(self._plain, np.ndarray):
            total += self._turned_later(self._plain[None, :, -1].copy())[0]
        return total / self.n_samples

    def _turned_later(self, rows: np.ndarray) -> np.ndarray:
        """Coordinates from rows of sums over kernel values, offset and one."""
        rows[:, :-1] -= np.outer(rows[:, -1], self._reference)
        self._summation.to_coordinates(rows)
        return rows[:, : self._summation.size + 2]


def _add_products(products: np.ndarray | float, rows: np.ndarray) -> np.ndarray:
    """Add the products of the columns of ``rows`` to the upper triangle of their sum."""
    if not isinstance(products, np.ndarray):
        products = np.zeros((rows.shape[1],) * 2, order="F")
    return scipy.linalg.blas.dsyrk(1.0, rows.T, beta=1.0, c=products, overwrite_c=True)


def _both_triangles(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix whose lower triangle was left zero."""
    whole = upper + upper.T
    np.fill_diagonal(whole, upper.diagonal())
    return whole


def merged_sums(first: tuple, second: tuple) -> tuple:
    """The sums over the samples of both."""
    return tuple(one + other for one, other in zip(first, second))
