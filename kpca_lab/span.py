"""The span of basis points in feature space: an orthonormal frame, and coordinates in it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from kpca_lab.blas import product
from kpca_lab.gram import core_matrix, is_plain_gaussian
from kpca_lab.kernel_checks import common_size
from kpca_lab.kernels import Kernel
from kpca_lab.linalg import numerical_rank, rank_tolerance, top_eigenpairs
from kpca_lab.operator import Expansion

# Pivots that differ by more than this factor are not summed up together.
LARGEST_RATIO = 1e5
# A frame from pivots that fall below this share of the largest has coefficients too large for its leading
# directions.
WELL_CONDITIONED = 1e-7
# Pivots below this share of the largest have too few digits to sum up in.
DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class Frame:
    """An orthonormal frame of the span of basis points in feature space.

    The Gram matrix of the basis is often singular to working precision though the differences between
    the basis points are not small: the points share a large common component. So the frame is
    built from the centred basis, whose coefficients add up to zero, and from what is left of the basis
    mean as one more vector. Nothing is lost to the common component, since it never meets the rest.
    """

    kernel: Kernel
    vectors: Expansion
    mean_coordinates: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, points, tol: float) -> "Frame":
        """The frame of ``points``; directions below ``tol`` times the largest eigenvalue are left out."""
        column_means, centred = _centred_core(kernel, points)
        spread = _principal_directions(centred, tol, common_size(kernel, points))
        return cls._completed(kernel, points, spread, column_means)

    @classmethod
    def _completed(cls, kernel: Kernel, points, spread: np.ndarray, column_means: np.ndarray) -> "Frame":
        """The frame of an orthonormal ``spread`` of differences and of what is left of the basis mean."""
        m, rank = spread.shape
        spread = spread - spread.mean(axis=0)
        offset = kernel.offset(points)
        with_mean = column_means + offset
        along_spread = product(spread.T, with_mean)
        mean_square = column_means.mean() + 2 * offset.mean() + kernel.constant
        left_square = mean_square - along_spread @ along_spread
        # Rounding of with_mean reaches left_square through the large coefficients of the spread: below
        # that, the mean lies in the span of the differences.
        carried = np.linalg.norm(with_mean) * (np.abs(along_spread) @ np.linalg.norm(spread, axis=0))
        if left_square <= rank_tolerance(m) * (mean_square + carried):
            return cls(kernel, Expansion(points, spread, np.zeros(rank)), along_spread)
        length = np.sqrt(left_square)
        left_of_mean = (1.0 / m - product(spread, along_spread)) / length
        coefficients = np.column_stack([spread, left_of_mean])
        totals = np.append(np.zeros(rank), 1.0 / length)
        return cls(kernel, Expansion(points, coefficients, totals), np.append(along_spread, length))

    def expand(self, coordinates: np.ndarray) -> Expansion:
        """The vectors of the span with the given coordinates, one per column."""
        vectors = self.vectors
        totals = product(vectors.totals, coordinates)
        return Expansion(vectors.points, product(vectors.coefficients, coordinates), totals)

    def expand_near_mean(self, drift: np.ndarray) -> Expansion:
        """The basis mean plus the vector with coordinates ``drift``.

        Its coefficients add up to one but for a small rest, so that a mean keeps its digits in this form.
        """
        difference = self.expand(drift[:, None])
        return Expansion(
            difference.points,
            difference.coefficients + 1.0 / len(difference.coefficients),
            difference.totals + 1.0,
        )


@dataclass(frozen=True, eq=False)
class SummationFrame:
    """A frame, and coordinates to sum up products of samples in, with the way from these to the frame.

    Sums of products in coordinates of the basis lose the small directions in the rounding of the large
    ones. Turning every sample into the frame first loses nothing, but costs three times as much as the sums.
    All that is needed is that the large directions are gone where the small ones are summed up. The pivoted
    Cholesky decomposition ``L L'`` of the centred Gram matrix orthonormalises the differences of the basis
    points to their mean, the largest remaining one first. Pivots are taken together in ranges within which
    they differ by a factor of at most ``LARGEST_RATIO``, and each range is removed from the later
    coordinates: one matrix product per sample, and none where the basis is well conditioned. The rest, a
    triangular solve within each range, is done after the summation.

    The frame of a well-conditioned basis is that of ``L`` itself. Otherwise it consists of the principal
    directions of the basis, whose coefficients are as small as they can be. If the smallest pivots are
    hardly more than rounding, samples are turned to the principal directions first, of which there are fewer
    than basis points.

    Parameters
    ----------
    frame : Frame
    column_means : ndarray of shape (n_points,)
        Means of the columns of the kernel's core between the points.
    order : ndarray of shape (n_points,)
        The points, pivots first.
    factor : ndarray of shape (n_pivots, n_pivots), optional
        ``L`` without what lies between different ranges; not given if samples are turned first.
    removals : list of (slice, ndarray)
        The ranges to remove, and what of them is in each later coordinate.
    rotation : ndarray of shape (n_pivots, n_directions), optional
        From the frame of ``L`` to that of the principal directions.
    """

    frame: Frame
    column_means: np.ndarray
    order: np.ndarray
    factor: np.ndarray | None = None
    removals: tuple[tuple[slice, np.ndarray], ...] = ()
    rotation: np.ndarray | None = None

    @classmethod
    def of(cls, kernel: Kernel, points) -> "SummationFrame":
        """The frame of ``points``, without directions that are rounding noise."""
        column_means, centred = _centred_core(kernel, points)
        m, common = len(centred), common_size(kernel, points)
        noise = m * np.finfo(np.float64).eps * max(centred.diagonal().max(), common)
        factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(centred, tol=noise, lower=1)
        rank = min(rank, m - 1)  # differences to the mean are linearly dependent
        order, factor = pivots - 1, np.tril(factor[:rank, :rank])
        spread, rotation = np.zeros((m, rank)), None
        if not rank or factor[-1, -1] ** 2 >= WELL_CONDITIONED * factor[0, 0] ** 2:
            spread[order[:rank]] = scipy.linalg.lapack.dtrtri(factor, lower=1)[0].T if rank else factor
        else:
            spread = _principal_directions(centred, rank_tolerance(m), common)
            if rank < m - 1 or factor[-1, -1] ** 2 < DEPENDENT * factor[0, 0] ** 2:
                return cls(Frame._completed(kernel, points, spread, column_means), column_means, order)
            at_pivots = product(centred, spread)[order[:rank]]
            rotation = scipy.linalg.solve_triangular(factor, at_pivots, lower=True, check_finite=False)
        frame = Frame._completed(kernel, points, spread, column_means)
        return cls(frame, column_means, order, *_separated(factor), rotation)

    @property
    def size(self) -> int:
        """Number of the coordinates to sum up in."""
        if self.factor is None:
            return len(self.frame.mean_coordinates)
        return len(self.factor) + int(np.count_nonzero(self.frame.vectors.totals))

    @cached_property
    def smallest(self) -> float:
        """Sums of kernel values themselves are good enough where these are not far larger than this.

        It is the smallest pivot, or less where what is left of the mean has larger coefficients.
        """
        if self.factor is None:
            return 0.0
        pivots, left_of_mean = self.factor.diagonal() ** 2, self._means[:, 1:]
        return float(min(pivots.min(initial=1.0), 1.0 / max(1.0, (left_of_mean**2).sum())))

    def to_coordinates(self, rows: np.ndarray) -> None:
        """Turn kernel values to coordinates to sum up in; linear in the rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_points + 2)
            The kernel's core with the points in their ``order`` and its offset, less those of the basis mean,
            and a one. Overwritten by the ``size`` coordinates, the mean over the points of the core, and
            the one; columns after these have no meaning.
        """
        m, size, totals = len(self.order), self.size, self.frame.vectors.totals
        core, offset, one = rows[:, :m], rows[:, m].copy(), rows[:, m + 1].copy()
        means = product(core, self._means)
        if self.factor is None:
            rows[:, :size] = product(core, self._turn) + np.outer(offset, totals)
        else:
            rank = len(self.factor)
            core -= means[:, :1]
            for pivots, share in self.removals:
                core[:, pivots.stop : rank] -= product(core[:, pivots], share)
            rows[:, rank:size] = means[:, 1:] + np.outer(offset, totals[totals != 0])
        rows[:, size], rows[:, size + 1] = means[:, 0], one

    @cached_property
    def _turn(self) -> np.ndarray:
        return self.frame.vectors.coefficients[self.order]

    @cached_property
    def _means(self) -> np.ndarray:
        """Coefficients of the basis mean, and of what is left of it outside the span of differences."""
        m, totals = len(self.order), self.frame.vectors.totals
        left = self.frame.vectors.coefficients[:, totals != 0][self.order]
        return np.column_stack([np.full(m, 1.0 / m), left])

    def turn(self, summed: np.ndarray) -> np.ndarray:
        """Turn what was summed up in these coordinates, one per row, to those of the frame."""
        if self.factor is None or not len(self.factor):
            return summed
        rank = len(self.factor)
        pivots = scipy.linalg.blas.dtrsm(1.0, self.factor, summed[:rank], lower=1)
        if self.rotation is not None:
            pivots = product(self.rotation.T, pivots)
        return np.concatenate([pivots, summed[rank:]])

    def turn_products(self, summed: np.ndarray) -> np.ndarray:
        """The same for a symmetric matrix of sums of products, on both sides."""
        if self.factor is None or not len(self.factor):
            return summed
        rank = len(self.factor)
        # L^-1 A L^-T; only the lower triangle of A is read and written.
        within, _ = scipy.linalg.lapack.dsygst(summed[:rank, :rank], self.factor, itype=1, lower=1)
        within = np.tril(within)
        within += np.tril(within, -1).T
        if self.rotation is not None:
            within = product(product(self.rotation.T, within), self.rotation)
            within = (within + within.T) / 2
        if rank == len(summed):
            return within
        beside = self.turn(summed[:, rank:])
        size = len(within)
        turned = np.empty((len(beside),) * 2)
        turned[:size, :size], turned[:, size:], turned[size:, :size] = within, beside, beside[:size].T
        return turned


def _centred_core(kernel: Kernel, points) -> tuple[np.ndarray, np.ndarray]:
    """Column means of the kernel's core between the points, and the centred Gram matrix."""
    plain = is_plain_gaussian(kernel, points)
    centred = core_matrix(kernel, points) if plain else kernel.core(points, points)
    column_means = centred.mean(axis=0)
    centred = centred - column_means
    centred -= centred.mean(axis=1)[:, None]
    return column_means, (centred + centred.T) / 2  # rounding leaves it slightly asymmetric


def _principal_directions(gram: np.ndarray, tol: float, common: float) -> np.ndarray:
    """Coefficients of the orthonormal principal directions of vectors with this Gram matrix.

    Eigenvalues up to ``tol`` times the largest are left out, and those that are rounding of what its values
    have in ``common``.
    """
    eigenvalues, vectors = top_eigenpairs(gram, solver="dense")
    above = int(np.count_nonzero(eigenvalues > rank_tolerance(len(gram)) * common))
    rank = min(numerical_rank(eigenvalues, tol), above)
    return vectors[:, :rank] / np.sqrt(eigenvalues[:rank])


def _separated(factor: np.ndarray) -> tuple[np.ndarray, tuple]:
    """Cut a Cholesky factor into ranges of similar pivots: what is within them, and between them."""
    within, removals = np.zeros_like(factor, order="F"), []
    pivots, start = factor.diagonal() ** 2, 0
    while start < len(pivots):
        stop = start + int(np.count_nonzero(LARGEST_RATIO * pivots[start:] >= pivots[start]))
        here = slice(start, stop)
        within[here, here] = factor[here, here]
        if stop < len(pivots):
            share = scipy.linalg.solve_triangular(
                factor[here, here].T, factor[stop:, here].T, check_finite=False
            )
            removals.append((here, share))
        start = stop
    return within, tuple(removals)
