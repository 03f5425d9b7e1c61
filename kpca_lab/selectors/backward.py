"""Backward search, and forward search followed by it (Washizawa 2012, Section 4.1.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import qr, solve_triangular

from kpca_lab.blas import product
from kpca_lab.kernel_checks import check_positive
from kpca_lab.kernels import Kernel
from kpca_lab.linalg import top_eigenpairs
from kpca_lab.selectors.criterion import (
    TIE,
    SpanCoordinates,
    check_count,
    check_criterion,
    check_matrix_size,
    check_rank,
    lowest_best,
)
from kpca_lab.selectors.forward import ForwardSearch

# A row of the projector on the row space whose square falls short of one by more than this belongs to a
# sample that the other basis samples span.
REDUNDANT = 1e-6


@dataclass(frozen=True)
class BackwardSelector:
    """Start from all samples and remove, again and again, the one whose removal raises the error least.

    The error is the empirical error of SubKPCA, as in :class:`~kpca_lab.selectors.ForwardSelector`.
    Errors that differ by less than 1e-12 of the total variance of the samples in feature space are ties,
    and of these the lowest sample number goes. A step takes O(m^3) operations for a basis of m samples,
    so a search from n samples takes O(n^4): for a few hundred samples.

    Parameters
    ----------
    per_step : int
        Number of samples to remove in each step, those whose removal one by one raises the error least.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> model = SubsetKPCA(n_components=3, n_basis=10, selector="backward").fit(X)
    >>> len(set(model.basis_indices_.tolist()))
    10
    """

    per_step: int = 1

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng=None) -> np.ndarray:
        """Return the numbers of the samples that are left, in ascending order."""
        n = X.shape[0]
        n_basis = check_count("n_basis", n_basis, most=n)
        check_matrix_size("backward", n, n, "choose 'forward_backward', 'kmeans' or 'random'")
        check_positive(kernel, X, centred=False)  # distances to spans need more than differences
        search = BackwardSearch(X, np.arange(n), kernel, check_rank(n_components), center)
        search.reduce(n_basis, check_count("per_step", self.per_step))
        return search.basis


@dataclass(frozen=True)
class ForwardBackwardSelector:
    """Choose more samples than wanted by forward search, then remove the surplus by backward search.

    What forward search took early may be superfluous later, and is removed. The basis of wanted
    size that forward search went through is kept if the result is not better, so the error is never
    larger than that of forward search. Further rounds start from the result of the last one, and end
    when the error no longer falls: it decreases monotonically, as the text has it.

    Parameters
    ----------
    overshoot : float
        Forward search goes on to this multiple of ``n_basis``, at least one sample more.
    rounds : int
        Largest number of times that samples are added and removed.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> model = SubsetKPCA(n_components=5, gamma=0.1, n_basis=10, selector="forward_backward").fit(X)
    >>> len(set(model.basis_indices_.tolist()))
    10
    """

    overshoot: float = 1.5
    rounds: int = 1

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng=None) -> np.ndarray:
        """Return the numbers of the chosen samples."""
        n = X.shape[0]
        n_basis = check_count("n_basis", n_basis, most=n)
        rounds, rank = check_count("rounds", self.rounds), check_rank(n_components)
        if not 1 < self.overshoot < np.inf:
            raise ValueError(f"overshoot must be a number above 1, got {self.overshoot!r}.")
        largest = min(n, max(n_basis + 1, round(self.overshoot * n_basis)))
        check_positive(kernel, X, centred=False)
        best, error = np.empty(0, dtype=np.intp), np.inf
        for _ in range(rounds):
            forward = ForwardSearch(X, kernel, rank, largest, center)
            if not len(best):
                forward.extend(n_basis)
                best = np.array(forward.chosen, dtype=np.intp)
                error = BackwardSearch(X, best, kernel, rank, center).error
            else:
                for number in best:
                    forward.add(int(number))
            forward.extend(largest)
            backward = BackwardSearch(X, np.array(forward.chosen, dtype=np.intp), kernel, rank, center)
            backward.reduce(n_basis)
            if not backward.error < error - TIE * backward.scale:
                break
            best, error = backward.basis, backward.error
        return best


class BackwardSearch:
    """The state of a backward search: a basis, and the scatter of all samples in its span.

    With the columns of ``A`` the coordinates of the basis samples in an orthonormal frame of their span,
    row ``i`` of the pseudo-inverse of ``A`` is orthogonal to all basis samples but the ``i``-th: the
    direction that the span loses with it. The error rises by what the scatter matrix loses of its ``r``
    largest eigenvalues when it is compressed to the complement of that direction.
    """

    def __init__(self, X, start: np.ndarray, kernel: Kernel, rank: float, center):
        self.n = X.shape[0]
        self.rank, self.basis = rank, start
        self.centred, self.mean_counts = check_criterion(center)
        span = SpanCoordinates.of(kernel, X, start)
        self.floor, self.mean = span.floor, span.mean
        self.scatter = product(span.centred, span.centred.T)
        self.scale = float(np.trace(self.scatter) + span.outside)
        self.points = span.centred[:, start] + span.mean[:, None]
        if not self.centred:
            self.scatter += self.n * np.outer(span.mean, span.mean)
        # n times the error is this, whatever the basis, less what the current span captures. With the mean of
        # all samples as centroid it would take a pass over all pairs, and nothing here depends on it.
        self.total = 0.0
        if self.mean_counts or not self.centred:
            self.total = span.outside + np.trace(self.scatter) + self._mean_part(span.mean)
        self._diagonalise()
        self._remove([])  # what rounding has added to the span goes at once

    @property
    def error(self) -> float:
        """``n`` times the empirical error with the current basis; less a constant if ``center="mean"``."""
        r = int(min(self.rank, len(self.mean)))
        return float(self.total - self.eigenvalues[:r].sum() - self._mean_part(self.mean))

    def reduce(self, size: int, per_step: int = 1) -> None:
        """Remove samples until ``size`` are left."""
        while len(self.basis) > size:
            lower, upper, exact = self._gains()
            removed = []
            for _ in range(min(per_step, len(self.basis) - size)):
                removed.append(lowest_best(lower, upper, exact, TIE * self.scale / 2))
                lower[removed[-1]] = upper[removed[-1]] = -np.inf
            self._remove(removed)

    def _mean_part(self, mean: np.ndarray) -> float:
        return self.n * float(mean @ mean) if self.mean_counts else 0.0

    def _diagonalise(self) -> None:
        """Turn the frame to the eigenvectors of the scatter matrix."""
        eigenvalues, directions = top_eigenpairs(self.scatter, solver="dense")
        self.eigenvalues = np.maximum(eigenvalues, 0.0)
        self.points, self.mean = product(directions.T, self.points), product(directions.T, self.mean)

    def _gains(self):
        """Bounds on minus the rise of the error, and a function for exact values."""
        k, m = self.points.shape
        if not k:
            return np.zeros(m), np.zeros(m), None
        orthonormal, triangle = qr(self.points.T, mode="economic", check_finite=False)
        lost = solve_triangular(triangle, orthonormal.T, check_finite=False)
        lost /= np.linalg.norm(lost, axis=0)
        # The rows of the projector on the row space have length one for samples that the others do not span.
        needed = np.einsum("ij,ij->i", orthonormal, orthonormal) > 1 - REDUNDANT
        extra = self.n * product(self.mean, lost) ** 2 * self.mean_counts
        if k <= self.rank:
            losses = np.where(needed, product(self.eigenvalues, lost**2) + extra, 0.0)
            return -losses, -losses, None
        r = int(self.rank)
        lower, upper = compressed_loss_bounds(self.eigenvalues, r, lost)

        def exact(candidates):
            losses = compressed_losses(self.eigenvalues, r, lost[:, candidates]) + extra[candidates]
            return -losses

        lower, upper = (np.where(needed, bound + extra, 0.0) for bound in (lower, upper))
        return -upper, -lower, exact

    def _remove(self, removed: list[int]) -> None:
        self.basis = np.delete(self.basis, removed)
        points = np.delete(self.points, removed, axis=1)
        frame, triangle, _ = qr(points, mode="economic", pivoting=True, check_finite=False)
        k = int(np.count_nonzero(np.abs(triangle.diagonal()) ** 2 > self.floor))
        frame = frame[:, :k]
        self.points, self.mean = product(frame.T, points), product(frame.T, self.mean)
        self.scatter = product(frame.T * self.eigenvalues, frame)
        self._diagonalise()


def compressed_loss_bounds(
    eigenvalues: np.ndarray, r: int, lost: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on what the sum of the ``r`` largest eigenvalues loses when a direction is taken out.

    Parameters
    ----------
    eigenvalues : ndarray of shape (k,)
        The diagonal matrix ``xi``, largest first, with ``k > r``.
    r : int
    lost : ndarray of shape (k, c)
        Unit vectors ``t``, each taken out by itself.

    Returns
    -------
    lower, upper : ndarray of shape (c,)

    Notes
    -----
    If all eigenvalues after the first ``r`` were equal to ``x``, the loss would be
    ``sum_{j <= r} t_j^2 (xi_j - x)``. As they are not, their part in the secular equation at ``u`` is
    that of one eigenvalue ``x(u)``, which falls with ``u`` from ``xi_{r+1}`` to the mean with weights
    ``t_j^2``; and the ``u`` in question are at least ``xi_r`` less the loss.
    """
    top, rest = eigenvalues[:r], eigenvalues[r:]
    squares_top, weights = lost[:r] ** 2, lost[r:] ** 2
    weight = weights.sum(axis=0)
    safe = np.where(weight > 0, weight, 1.0)
    mean = np.where(weight > 0, product(rest, weights) / safe, rest[-1])
    share = squares_top.sum(axis=0)
    raw = product(top, squares_top)
    upper = raw - share * mean
    least = top[-1] - upper
    gap = least - rest[:, None]
    apart = (gap[0] > 0) & (weight > 0)
    inverse = (weights / np.where(apart, gap, 1.0)).sum(axis=0)
    effective = np.where(apart & (inverse > 0), least - safe / np.where(inverse > 0, inverse, 1.0), rest[0])
    lower = raw - share * np.clip(effective, mean, rest[0])
    slack = 1e-12 * raw
    return np.maximum(lower - slack, 0.0), np.maximum(upper + slack, 0.0)


def compressed_losses(eigenvalues: np.ndarray, r: int, lost: np.ndarray) -> np.ndarray:
    """The loss itself; see :func:`compressed_loss_bounds`."""
    image = eigenvalues[:, None] * lost
    quadratic = np.einsum("ij,ij->j", lost, image)
    half = (image - lost * (quadratic / 2)).T  # D - t h' - h t' with h = D t - t (t' D t) / 2
    cross = lost.T[:, :, None] * half[:, None, :]
    compressed = np.diag(eigenvalues) - cross - cross.transpose(0, 2, 1)
    k = len(eigenvalues)
    return eigenvalues[:r].sum() - np.linalg.eigvalsh(compressed)[:, k - r :].sum(axis=1)
