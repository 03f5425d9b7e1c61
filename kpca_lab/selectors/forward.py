"""Greedy forward search (Washizawa 2012, Section 4.1.1 and Algorithm 1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.blas import dger, dsymv

from kpca_lab.blas import product
from kpca_lab.gram import core_matrix
from kpca_lab.kernel_checks import check_positive
from kpca_lab.kernels import Kernel, row_blocks
from kpca_lab.linalg import top_eigenpairs
from kpca_lab.selectors.bordered import bordered_gain_bounds, bordered_gain_ceiling, bordered_gains
from kpca_lab.selectors.criterion import (
    BATCH,
    ROUNDING,
    TIE,
    FirstSample,
    check_count,
    check_criterion,
    check_matrix_size,
    check_rank,
    lowest_best,
)

# Candidates whose gains are bounded closely, so that they show how little most others can gain.
FRONT = 32
# Sums that are kept up to date step by step are uncertain by this share of all that went into them.
DRIFT = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class ForwardSelector:
    """Add, again and again, the sample that lowers the empirical error of SubKPCA most.

    The choice is that of Algorithm 1, which fits SubKPCA to each candidate in each step. Errors that
    differ by less than 1e-12 of the error of the best single sample, or by less than the rounding of the
    kernel matrix, are ties, and the lowest sample number wins. Here a step takes O(n_candidates * (n +
    m^2)) operations for a basis of m samples.

    Parameters
    ----------
    per_step : int
        Number of samples to add in each step, the best ones of that step: faster, and usually with a
        slightly larger error.
    candidates : int, optional
        Consider only so many samples, drawn at random, for the basis; the error is still that of all samples.
        Memory is then ``8 * candidates * n`` bytes instead of ``8 * n^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> model = SubsetKPCA(n_components=5, gamma=0.1, n_basis=10, selector="forward").fit(X)
    >>> len(set(model.basis_indices_.tolist()))
    10
    """

    per_step: int = 1
    candidates: int | None = None

    nested: ClassVar[bool] = True

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng=None) -> np.ndarray:
        """Return the numbers of the chosen samples, in the order in which they were chosen.

        ``center`` is False, True (or "projected") or "mean"; ``rng`` is needed for ``candidates`` only.
        """
        n = X.shape[0]
        n_basis = check_count("n_basis", n_basis, most=n)
        per_step = check_count("per_step", self.per_step)
        rows = None
        if self.candidates is not None:
            size = check_count("candidates", self.candidates)
            if size < n_basis:
                raise ValueError(f"candidates={size} must be at least n_basis={n_basis}.")
            if size < n:
                rows = np.sort(rng.choice(n, size=size, replace=False))
        check_positive(kernel, X, centred=False)  # distances to spans need more than differences
        search = ForwardSearch(X, kernel, check_rank(n_components), n_basis, center, rows)
        search.extend(n_basis, per_step)
        return np.array(search.chosen, dtype=np.intp)


class ForwardSearch:
    """The state of a forward search: a basis, and what it leaves of the kernel.

    In an orthonormal frame of the span, a candidate ``i`` adds the row ``R_i / sqrt(R_ii)`` to the
    coordinates of the samples, where ``R`` is the kernel matrix less the inner products of the
    coordinates. So the scatter matrix gains one row and column. Up to rank ``r`` the error falls by the
    squared length of the new row; beyond, by what the border adds to the ``r`` largest eigenvalues.

    ``R`` itself is not kept, but what the first basis sample leaves of the kernel matrix, and coordinates.
    The squared lengths of its rows follow from step to step by one product with that matrix. Where their
    rounding could decide, the rows in question are computed.
    """

    def __init__(self, X, kernel: Kernel, rank: float, largest: int, center, rows: np.ndarray | None = None):
        n = X.shape[0]
        self.rows = np.arange(n) if rows is None else rows
        check_matrix_size(
            "forward",
            len(self.rows),
            n,
            "give ForwardSelector(candidates=...) with fewer candidates, or choose 'kmeans' or 'random'",
        )
        self.X, self.kernel = X, kernel.anchored(X)
        self.centred, self.mean_counts = check_criterion(center)
        core = core_matrix(self.kernel, X) if rows is None else self.kernel.core(X[rows], X)
        self.matrix = np.require(core, np.float64, ["C", "W"])  # the core; later what the first sample leaves
        self.rank = rank
        self.chosen: list[int] = []
        self.outside: np.ndarray = np.empty(0)  # set with the first sample, as the floor
        self.floor = 0.0
        self.free = np.ones(len(self.rows), dtype=bool)
        self.first: FirstSample | None = None
        self.scale = 0.0
        self.k = 0
        self.tracks_scatter = rank < largest
        self.coordinates, self.means = (
            np.empty((largest, n)),
            np.empty(largest),
        )  # about their means, if centred
        size = largest if self.tracks_scatter else 0
        self.cross = np.empty((size, len(self.rows)))  # coordinates times R
        self.scatter = np.empty((size, size))
        self.eigenvalues, self.directions = np.empty(0), np.empty((0, 0))

    @property
    def error(self) -> float:
        """``n`` times the empirical error with the current basis."""
        beyond = self.eigenvalues[int(self.rank) :].sum() if self.tracks_scatter else 0.0
        return float(self.outside.sum() + max(beyond, 0.0))

    def extend(self, size: int, per_step: int = 1) -> None:
        """Choose samples until the basis has ``size`` of them."""
        if not self.chosen:
            self._extend_by(min(per_step, size), *self._first_gains())
        while len(self.chosen) < size:
            count = min(per_step, size - len(self.chosen))
            if not (self.outside[self.rows[self.free]] > self.floor).any():
                # All that is left lies in the span: equal errors, and so the lowest numbers.
                for candidate in np.flatnonzero(self.free)[: size - len(self.chosen)]:
                    self._take(candidate)
                return
            self._extend_by(count, *self._gains(count))

    def add(self, number: int) -> None:
        """Add a given sample to the basis."""
        self._take(int(np.searchsorted(self.rows, number)))
        self._update_scatter()

    def _extend_by(self, count, lower, upper, exact=None, noise=0.0):
        lower, upper = np.where(self.free, lower, -np.inf), np.where(self.free, upper, -np.inf)
        taken = []
        for _ in range(count):
            taken.append(lowest_best(lower, upper, exact, TIE * self.scale / 2 + noise))
            lower[taken[-1]] = upper[taken[-1]] = -np.inf
        for candidate in taken:
            self._take(candidate)
        self._update_scatter()

    def _first_gains(self):
        """Minus the error with each candidate as the only basis sample, in the form of :meth:`_gains`."""
        n, kernel = len(self.matrix[0]), self.kernel
        offset, core_diagonal = kernel.offset(self.X), kernel.core_diagonal(self.X)
        own = core_diagonal[self.rows]
        squares = kernel.diagonal(self.X)
        own_squares = squares[self.rows]
        usable = own_squares > 0
        divisor = np.where(usable, own_squares, 1.0)
        along_square, along_mean = np.empty(len(own)), np.empty(len(own))
        for block in row_blocks(len(own), 8 * n):
            along = self.matrix[block] + offset
            along -= (own + offset[self.rows])[block, None]
            along_mean[block] = along.mean(axis=1)
            along -= along_mean[block, None]
            along_square[block] = np.einsum("ij,ij->i", along, along)
        distances = core_diagonal.sum() - 2 * self.matrix.sum(axis=1) + n * own
        errors = distances - (along_square + n * along_mean**2) / divisor
        errors = np.where(usable, np.maximum(errors, 0.0), squares.sum())
        self.scale = float(errors.min())
        noise = ROUNDING * np.abs(distances)
        if self.centred and not self.mean_counts:
            gains = np.where(usable, along_square / divisor, 0.0)
            return gains, gains, None, noise
        return -errors, -errors, None, noise

    def _gains(self, count: int = 1):
        """Bounds on what each candidate takes off the error, a function for exact values, and their noise.

        The bounds are close for those candidates that can be among the ``count`` best. Where the drift of the
        sums leaves so many in question that their exact values would cost more, the sums are formed anew.
        """
        own = self.outside[self.rows]
        usable = self.free & (own > self.floor)
        divisor = np.where(usable, own, 1.0)
        lower, upper, doubt, noise = self._bounds(usable, divisor, count)
        least = np.sort(lower[usable])[-count:][0]
        open_ones = usable & (upper >= least) & (doubt > noise + TIE * self.scale / 2)
        if np.count_nonzero(open_ones) > max(BATCH, self._affordable()):
            self._form_sums()
            lower, upper, doubt, noise = self._bounds(usable, divisor, count)

        def exact(candidates):
            squares, sums = self._lengths(candidates)
            extra = self.mean_counts * sums**2 / self.matrix.shape[1]
            if self.k < self.rank:
                return np.minimum((squares + extra) / divisor[candidates], self.outside.sum())
            border = product(self.directions.T, self.cross[: self.k, candidates])
            border /= np.sqrt(divisor[candidates])
            gains = bordered_gains(self.eigenvalues, int(self.rank), border, squares / divisor[candidates])
            return gains + extra / divisor[candidates]

        lower, upper = (np.where(usable, bound, 0.0) for bound in (lower, upper))
        return lower, upper, exact, noise

    def _affordable(self) -> float:
        """How many exact gains, an eigenproblem and a row each, cost as much as the sums of all."""
        row, eigenproblem = 2 * self.matrix.shape[1], 10 * self.k**2 if self.tracks_scatter else 0
        return len(self.rows) * row / (row + eigenproblem)

    def _bounds(self, usable, divisor, count: int):
        """Bounds on the gains, what of them is drift, and the noise of exact ones."""
        n = self.matrix.shape[1]
        raw = self.squares + self.sums**2 / n if self.centred else self.squares
        noise = np.where(usable, ROUNDING * self.largest_outside / divisor * (raw / divisor), 0.0)
        squares, doubt = self.squares / divisor, DRIFT * self.moved / divisor
        extra = np.zeros(len(divisor))
        if self.mean_counts:
            extra = self.sums**2 / n / divisor
            doubt += DRIFT * 2 * np.abs(self.sums) * self.moved_sums / n / divisor
        if self.k < self.rank:
            gains, largest = squares + extra, self.outside.sum()
            return np.minimum(gains - doubt, largest), np.minimum(gains + doubt, largest), doubt, noise
        scaled = np.sqrt(divisor)
        lower, upper = self._border_bounds(int(self.rank), scaled, squares, extra, usable, count)
        return lower - doubt, upper + doubt, doubt, noise

    def _border_bounds(self, r: int, scaled, squares, extra, usable, count: int):
        """Bounds by the leading directions, and by all for the candidates that these leave in question.

        What the most promising candidates gain at least rules out most others. ``extra`` adds to all gains.
        """
        cross = self.cross[: self.k]
        shown = min(self.k, 2 * r)
        border = product(self.directions[:, :shown].T, cross)
        border /= scaled
        rest = np.einsum("ij,ij->j", cross, cross) / scaled**2 - np.einsum("ij,ij->j", border, border)
        lower = extra.copy()
        upper = extra + bordered_gain_ceiling(
            self.eigenvalues, r, border, squares, rest=np.maximum(rest, 0.0)
        )
        for bound, kept in ((upper, count + FRONT), (lower, count)):
            least = np.sort(bound[usable])[-kept:][0]
            hopeful = np.flatnonzero(usable & (upper >= least))
            border = product(self.directions.T, cross[:, hopeful]) / scaled[hopeful]
            close = bordered_gain_bounds(self.eigenvalues, r, border, squares[hopeful])
            lower[hopeful], upper[hopeful] = close + extra[hopeful]
        return lower, upper

    def _rows_left(self, candidates: np.ndarray) -> np.ndarray:
        """Rows of ``R``."""
        coordinates, means = self.coordinates[1 : self.k], self.means[1 : self.k]
        along = coordinates[:, self.rows[candidates]] + means[:, None]
        return self.matrix[candidates] - (product(along.T, coordinates) + (means @ along)[:, None])

    def _lengths(self, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared lengths of rows of ``R``, about their means if centred, and their sums."""
        left = self._rows_left(candidates)
        sums = left.sum(axis=1)
        if self.centred:
            left -= sums[:, None] / left.shape[1]
        return np.einsum("ij,ij->i", left, left), sums

    def _form_sums(self) -> None:
        """The squared lengths of all rows of ``R`` and their sums, without what has drifted."""
        self.squares, self.sums = np.empty(len(self.rows)), np.empty(len(self.rows))
        for block in row_blocks(len(self.rows), 8 * self.matrix.shape[1]):
            self.squares[block], self.sums[block] = self._lengths(np.arange(len(self.rows))[block])
        self.moved, self.moved_sums = self.squares.copy(), np.abs(self.sums)

    def _take(self, candidate: int) -> None:
        number = int(self.rows[candidate])
        self.chosen.append(number)
        self.free[candidate] = False
        if self.first is None:
            self._take_first(candidate, number)
        elif self.outside[number] > self.floor:
            row = self._rows_left(np.array([candidate]))[0] / np.sqrt(self.outside[number])
            self.outside = np.maximum(self.outside - row**2, 0.0)
            self.outside[number] = 0.0
            self._append(row)

    def _take_first(self, candidate: int, number: int) -> None:
        first = FirstSample.of(self.kernel, self.X, number, self.matrix[candidate].copy())
        squares = self.kernel.diagonal(self.X)
        if first.square <= 0:  # the best sample is a zero vector: so are all others
            self.first, self.outside, self.floor = first, np.zeros(len(squares)), np.inf
            return
        self.first = first
        first.residual(self.matrix, self.rows)
        core_diagonal = self.kernel.core_diagonal(self.X)
        self.outside = first.residual_diagonal(core_diagonal)
        self.floor, self.largest_outside = first.floor(self.outside, core_diagonal), self.outside.max()
        self.scale = float(self.outside.sum())
        centred, mean = first.centred_row()
        self.coordinates[0], self.means[0] = (centred, mean) if self.centred else (centred + mean, 0.0)
        self._form_sums()
        self.k = 1
        if self.tracks_scatter:
            self.cross[0] = self._product(self.coordinates[0])
            self.scatter[0, 0] = self.coordinates[0] @ self.coordinates[0]

    def _append(self, row: np.ndarray) -> None:
        """Add a coordinate of all samples, and take it off ``R``."""
        k, mean = self.k, row.mean() if self.centred else 0.0
        centred, own = row - mean, row[self.rows]
        along, length = product(self.coordinates[:k], centred), centred @ centred
        before = self._product(centred) - self._of_candidates(along[1:])
        total = row.sum()
        self.squares = np.maximum(self.squares + own * (own * length - 2 * before), 0.0)
        self.moved += np.abs(own * before) + own**2 * length
        self.sums = self.sums - own * total
        self.moved_sums += np.abs(own * total)
        self.coordinates[k], self.means[k] = centred, mean
        self.k += 1
        if not self.tracks_scatter:
            return
        dger(-1.0, own, along, a=self.cross[:k].T, overwrite_a=1)  # in place
        self.cross[k] = before - own * length
        self.scatter[k, :k] = self.scatter[:k, k] = along
        self.scatter[k, k] = length

    def _product(self, vector: np.ndarray) -> np.ndarray:
        """The matrix times a vector: by one triangle, if all samples are candidates."""
        if len(self.matrix) < self.matrix.shape[1]:
            return product(self.matrix, vector)
        return dsymv(1.0, self.matrix.T, vector, lower=1)

    def _of_candidates(self, along: np.ndarray) -> np.ndarray:
        """The coordinates of the candidates after the first, times ``along``."""
        coordinates = self.coordinates[1 : self.k]
        if len(self.rows) < coordinates.shape[1]:
            coordinates = coordinates[:, self.rows]
        return product(along, coordinates) + along @ self.means[1 : self.k]

    def _update_scatter(self) -> None:
        if self.tracks_scatter:
            scatter = self.scatter[: self.k, : self.k]
            self.eigenvalues, self.directions = top_eigenpairs(scatter, solver="dense")
