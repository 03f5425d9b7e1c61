"""What the searches minimise, the rule for ties, and coordinates of samples in the span of some of them.

The criterion is the empirical error of SubKPCA with a given basis (Washizawa 2012, Eqs. 33 and 40). With
``P`` the projector on the span of the basis and ``xi`` the eigenvalues, largest first, of the scatter of
the projected samples (about their mean if the method centres),

    n E = sum_j ||phi_j - P phi_j||^2 + sum_{i > r} xi_i.

With ``center=True`` this is the error with the third centroid of Section 3.5, the projected mean, and with
``center="mean"`` that with the first one, which is less by n times the squared distance of the mean to the
span: the components are the same, but a search that is told to may prefer other samples.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from kpca_lab.kernels import Kernel

# A sample whose squared distance to the span is below this share of the largest such distance, taken after
# the first basis sample, adds nothing.
IN_SPAN = 1e-13
# Kernel values, and what is left of them, are uncertain by this share of the largest one.
ROUNDING = 4 * np.finfo(np.float64).eps
# Errors that differ by less than this share of the scale of the search are ties.
TIE = 1e-12
BATCH = 8
MATRIX_BYTES = 2**30


def check_count(name: str, value, *, most: int | None = None) -> int:
    """A whole number of at least one, and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")
    if most is not None and int(value) > most:
        raise ValueError(f"{name}={value} is more than the number of samples, {most}.")
    return int(value)


def check_rank(n_components) -> float:
    """The rank ``r`` of the operator; infinite if it is not limited."""
    return np.inf if n_components is None else check_count("n_components", n_components)


def check_criterion(center) -> tuple[bool, bool]:
    """Whether samples are centred, and whether the part of their mean outside the span is an error."""
    meanings = {False: (False, False), True: (True, True), "projected": (True, True), "mean": (True, False)}
    if not isinstance(center, (bool, np.bool_, str)) or center not in meanings:
        raise ValueError(f"center must be one of {list(meanings)}, got {center!r}.")
    return meanings[center]


def check_matrix_size(selector: str, n_rows: int, n_columns: int, remedy: str) -> None:
    """Refuse a kernel matrix that is too large for memory, before it is formed."""
    if 8 * n_rows * n_columns > MATRIX_BYTES:
        raise ValueError(
            f"selector {selector!r} keeps a kernel matrix of {n_rows} x {n_columns} numbers, more than "
            f"{MATRIX_BYTES // 2**20} MiB: {remedy}."
        )


def lowest_best(lower: np.ndarray, upper: np.ndarray, exact, slack) -> int:
    """The lowest number whose gain cannot be told from the largest one.

    Gains are known between two bounds; ``exact`` finds those of an array of numbers. Only the
    ones that can change the answer are asked for, and both arrays are brought up to date. A gain counts as
    uncertain by ``slack``, one for all or one for each.
    """
    while True:
        certain = np.flatnonzero(lower + slack >= (upper - slack).max())
        first = certain[0] if len(certain) else len(lower)
        highest = (lower - slack).max()
        rivals = upper + slack >= highest
        rivals[first:] = False
        if len(certain) and not rivals.any():
            return int(first)
        rivals |= upper - slack >= highest
        doubtful = np.flatnonzero(rivals & (upper > lower))
        doubtful = doubtful[np.argsort(-upper[doubtful], kind="stable")[:BATCH]]
        lower[doubtful] = upper[doubtful] = exact(doubtful)


@dataclass(frozen=True, eq=False)
class FirstSample:
    """All samples relative to the first basis sample ``b``.

    What the projector on ``phi_b`` leaves of the kernel is

        <d_i, d_j> - <d_i, phi_b> <d_j, phi_b> / k(b, b),    d_i = phi_i - phi_b,

    where the constant and the offsets of the kernel (see :mod:`kpca_lab.kernels`) have cancelled from the
    inner products of differences. So a large component that all samples share costs no digits.
    """

    number: int
    core: np.ndarray
    along: np.ndarray
    square: float

    @classmethod
    def of(cls, kernel: Kernel, X, number: int, core: np.ndarray) -> "FirstSample":
        """From row ``number`` of the kernel's core; ``along`` holds the ``<d_j, phi_b>``."""
        offset = kernel.offset(X)
        along = core - core[number] + (offset - offset[number])
        square = core[number] + 2 * offset[number] + kernel.constant
        return cls(number, core, along, float(square))

    def residual(self, core: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Turn rows ``numbers`` of the kernel's core, in place, into what the projector leaves of them."""
        core -= self.core
        core -= core[:, self.number].copy()[:, None]
        for row, along in zip(core, self.along[numbers] / self.square):
            row -= along * self.along
        return core

    def residual_diagonal(self, core_diagonal: np.ndarray) -> np.ndarray:
        """Squared distances of all samples to the line of ``phi_b``."""
        square = core_diagonal - 2 * self.core + self.core[self.number] - self.along**2 / self.square
        square = np.maximum(square, 0.0)
        square[self.number] = 0.0
        return square

    def centred_row(self) -> tuple[np.ndarray, float]:
        """Coordinates of all samples along ``phi_b``: those about their mean, and the mean."""
        root, mean = np.sqrt(self.square), self.along.mean()
        return (self.along - mean) / root, root + mean / root

    def floor(self, residual_diagonal: np.ndarray, core_diagonal: np.ndarray) -> float:
        """The squared distance to the span at which a sample counts as lying within it."""
        largest = max(np.abs(self.core).max(), np.abs(core_diagonal).max())
        return float(max(IN_SPAN * residual_diagonal.max(), ROUNDING * largest))


@dataclass(frozen=True, eq=False)
class SpanCoordinates:
    """All samples in an orthonormal frame of the span of some: ``centred`` (k, n) about the ``mean`` (k,)."""

    centred: np.ndarray
    mean: np.ndarray
    outside: float  # sum of the squared distances of all samples to the span
    outside_first: float  # the same for the span of the first basis sample alone
    floor: float

    @classmethod
    def of(cls, kernel: Kernel, X, basis: np.ndarray) -> "SpanCoordinates":
        """Orthonormalise the basis, the sample farthest from the span so far always next."""
        n = X.shape[0]
        kernel = kernel.anchored(X)
        core_diagonal, squares = kernel.core_diagonal(X), kernel.diagonal(X)
        start = int(basis[squares[basis].argmax()])
        if squares[start] <= 0:
            outside = float(squares.sum())
            return cls(np.empty((0, n)), np.empty(0), outside, outside, 0.0)
        first = FirstSample.of(kernel, X, start, kernel.core(X[start : start + 1], X)[0])
        remaining = first.residual_diagonal(core_diagonal)
        outside_first, floor = float(remaining.sum()), first.floor(remaining, core_diagonal)
        rows = np.empty((len(basis), n))
        centred, mean = first.centred_row()
        means, k = [mean], 1
        while k < len(basis):
            number = int(basis[remaining[basis].argmax()])
            if remaining[number] <= floor:
                break
            row = first.residual(kernel.core(X[number : number + 1], X), np.array([number]))[0]
            row -= rows[1:k, number] @ rows[1:k]
            row /= np.sqrt(remaining[number])
            rows[k] = row
            remaining = np.maximum(remaining - row**2, 0.0)
            remaining[number] = 0.0
            means.append(row.mean())
            k += 1
        rows, row_means = rows[:k], np.array(means)
        rows[1:] -= row_means[1:, None]
        rows[0] = centred
        return cls(rows, row_means, float(remaining.sum()), outside_first, floor)
