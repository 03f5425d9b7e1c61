"""The span of basis points in feature space: an orthonormal frame, and sums over samples in it."""

from dataclasses import dataclass

import numpy as np

from kpca_lab.kernels import Kernel
from kpca_lab.linalg import numerical_rank, rank_tolerance, top_eigenpairs
from kpca_lab.operator import Expansion

# Up to this many multiplications (a fraction of a second) the scatter matrix is summed in the frame's own
# coordinates, which keeps eight more digits of its small directions than turning it there afterwards.
EXACT_WORK = 1e10


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
        m = points.shape[0]
        core = kernel.core(points, points)
        column_means = core.mean(axis=0)
        centred = core - column_means
        centred -= centred.mean(axis=1)[:, None]
        eigenvalues, vectors = top_eigenpairs(centred, solver="dense")
        rank = numerical_rank(eigenvalues, tol)
        spread = vectors[:, :rank] / np.sqrt(eigenvalues[:rank])
        spread -= spread.mean(axis=0)

        offset = kernel.offset(points)
        with_mean = column_means + offset
        along_spread = spread.T @ with_mean
        mean_square = column_means.mean() + 2 * offset.mean() + kernel.constant
        left_square = mean_square - along_spread @ along_spread
        # Rounding of with_mean reaches left_square through the large coefficients of the spread: below
        # that, the mean lies in the span of the differences.
        carried = np.linalg.norm(with_mean) * (np.abs(along_spread) @ np.linalg.norm(spread, axis=0))
        if left_square <= rank_tolerance(m) * (mean_square + carried):
            return cls(kernel, Expansion(points, spread, np.zeros(rank)), along_spread)
        length = np.sqrt(left_square)
        left_of_mean = (1.0 / m - spread @ along_spread) / length
        coefficients = np.column_stack([spread, left_of_mean])
        totals = np.append(np.zeros(rank), 1.0 / length)
        return cls(kernel, Expansion(points, coefficients, totals), np.append(along_spread, length))

    def expand(self, coordinates: np.ndarray) -> Expansion:
        """The vectors of the span with the given coordinates, one per column."""
        vectors = self.vectors
        return Expansion(vectors.points, vectors.coefficients @ coordinates, vectors.totals @ coordinates)

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


@dataclass
class CriterionSet:
    """Sums over the samples that the criterion is taken on, in coordinates of the basis.

    A sample is described by the core of its kernel values with the basis (and the kernel's offset, where
    it has one), less that of the basis mean. Only centred sums are formed from these, so that the constant
    part of the kernel never enters.
    """

    frame: Frame
    turn: np.ndarray
    reference: np.ndarray
    turn_first: bool
    total: np.ndarray
    square: np.ndarray
    n_samples: int = 0

    @classmethod
    def over(cls, kernel: Kernel, points, n_samples: int) -> "CriterionSet":
        """An empty criterion set for the span of ``points``."""
        m = points.shape[0]
        turn_first = n_samples * m * m <= EXACT_WORK
        # Sums in basis coordinates carry an error of eps times their largest entry, which turning to the
        # frame divides by its smallest eigenvalue: sqrt(eps) balances that error against what is cut off.
        frame = Frame.of(kernel, points, tol=rank_tolerance(m) if turn_first else 1e-8)
        turn = frame.vectors.coefficients
        reference = kernel.core(points, points).mean(axis=0)
        if kernel.offset(points[:1]).any() or kernel.name in ("linear", "poly"):
            turn = np.vstack([turn, frame.vectors.totals])
            reference = np.append(reference, kernel.offset(points).mean())
        size = turn.shape[1] if turn_first else turn.shape[0]
        return cls(frame, turn, reference, turn_first, np.zeros(size), np.zeros((size, size)))

    def add(self, samples) -> None:
        """Add samples to the set, block by block."""
        kernel = self.frame.kernel
        for rows, core in kernel.core_blocks(samples, self.frame.vectors.points):
            if len(self.reference) > core.shape[1]:
                core = np.column_stack([core, kernel.offset(samples[rows])])
            core -= self.reference
            if self.turn_first:
                core = core @ self.turn
            self.total += core.sum(axis=0)
            self.square += core.T @ core
        self.n_samples += samples.shape[0]

    def drift(self) -> np.ndarray:
        """Coordinates of the samples' mean in feature space, less those of the basis mean."""
        difference = self.total / self.n_samples
        return difference if self.turn_first else difference @ self.turn

    def mean(self) -> np.ndarray:
        """Coordinates of the samples' mean in feature space."""
        return self.frame.mean_coordinates + self.drift()

    def scatter_about(self, centroid: np.ndarray) -> np.ndarray:
        """Scatter matrix of the samples about a point, both in coordinates of the frame."""
        centred = self.square - np.outer(self.total, self.total) / self.n_samples
        if not self.turn_first:
            centred = self.turn.T @ centred @ self.turn
        away = self.mean() - centroid
        return (centred + centred.T) / 2 + self.n_samples * np.outer(away, away)
