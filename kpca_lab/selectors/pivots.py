"""Choosing basis samples one after the other by a weight that only falls as the basis grows.

Four selectors differ in the weight and in the rule alone:

======================================  ================  ===============
weight of a sample                      drawn by weight   largest weight
======================================  ================  ===============
squared distance to the span            ``rpcholesky``    ``greedy``
squared distance to the nearest pivot   ``dsquared``      ``farthest``
======================================  ================  ===============

Bringing all weights up to date for one pivot at a time is a product of a matrix with a vector; for several
at once it is a product of matrices, and much faster. Weights never rise, so old ones are upper bounds.
Drawing: samples are proposed by their old weights, and each is accepted with probability new / old weight.
An accepted one follows the law of the new weights, whatever was rejected before [1]_. Largest: of some
samples with the largest old weights, the largest new one is the largest of all as long as it is not below
the old weights of the others. Either way only the weights of the proposed samples need to be new.

References
----------
.. [1] E. N. Epperly, J. A. Tropp, R. J. Webber, "Embrace rejection: kernel matrix approximation by
   accelerated randomly pivoted Cholesky", arXiv:2410.03969 (2024).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from kpca_lab.blas import product
from kpca_lab.kernel_checks import check_positive
from kpca_lab.kernels import Kernel
from kpca_lab.selectors.criterion import TIE, FirstSample, check_count, check_matrix_size
from kpca_lab.selectors.subsample import candidates


class SpanDistances:
    """Squared distances to the span of the pivots: what Cholesky elimination leaves of the diagonal.

    ``factor`` holds the coordinates of the samples in an orthonormal frame of the span, less those along
    the first pivot, which :class:`~kpca_lab.selectors.criterion.FirstSample` takes care of.
    """

    def __init__(self, X, kernel: Kernel, first: int, n_basis: int):
        remedy = "lower max_samples or n_basis, or choose 'leverage', 'kmeans' or 'random'"
        check_matrix_size("of pivots", X.shape[0], n_basis, remedy)
        self.X, self.kernel = X, kernel
        core_diagonal = kernel.core_diagonal(X)
        self.first = FirstSample.of(kernel, X, first, _core_with(kernel, X, first))
        self.weights = self.first.residual_diagonal(core_diagonal)
        self.floor = self.first.floor(self.weights, core_diagonal)
        self.weights[self.weights <= self.floor] = 0.0
        self.factor = np.empty((X.shape[0], n_basis - 1))
        self.size = 0

    def among(self, numbers: np.ndarray) -> "_SpanDistancesAmong":
        """The same for a few samples and the pivots to be found among them."""
        known = self.factor[numbers, : self.size]
        points = self.X[numbers]
        left = self._less_first(self.kernel.core(points, points), numbers, numbers) - product(known, known.T)
        np.fill_diagonal(left, self.weights[numbers])
        return _SpanDistancesAmong(left, self.floor)

    def add(self, numbers: np.ndarray, found: "_SpanDistancesAmong") -> None:
        """Bring all weights up to date for pivots ``numbers[found.chosen]``."""
        pivots = numbers[found.chosen]
        known = self.factor[pivots, : self.size]
        triangle = found.factor[found.chosen, : len(pivots)]
        new = slice(self.size, self.size + len(pivots))
        for rows, core in self.kernel.core_blocks(self.X, self.X[pivots]):
            left = self._less_first(core, rows, pivots)
            left -= product(self.factor[rows, : self.size], known.T)
            left = solve_triangular(triangle, left.T, lower=True, check_finite=False, overwrite_b=True).T
            self.factor[rows, new] = left
            self.weights[rows] -= np.einsum("ij,ij->i", left, left)
        self.size += len(pivots)
        self.weights[pivots] = 0.0
        self.weights[self.weights <= self.floor] = 0.0

    def _less_first(self, core, rows, columns):
        """What the projector on the first pivot leaves of the kernel, from the kernel's core."""
        first = self.first
        core -= first.core[rows, None]
        core -= first.core[columns] - first.core[first.number]
        core -= np.outer(first.along[rows], first.along[columns] / first.square)
        return core


class _SpanDistancesAmong:
    def __init__(self, left: np.ndarray, floor: float):
        self.left, self.floor = left, floor
        self.weights = left.diagonal().copy()
        self.factor = np.zeros_like(left)
        self.chosen: list[int] = []

    def add(self, place: int) -> None:
        done = len(self.chosen)
        column = self.left[:, place] - self.factor[:, :done] @ self.factor[place, :done]
        column /= np.sqrt(self.weights[place])
        column[place] = np.sqrt(self.weights[place])
        self.factor[:, done] = column
        self.chosen.append(place)
        self.weights -= column * column
        self.weights[self.chosen] = 0.0
        self.weights[self.weights <= self.floor] = 0.0


class PivotDistances:
    """Squared distances in feature space to the nearest pivot."""

    def __init__(self, X, kernel: Kernel, first: int, n_basis: int):
        self.X, self.kernel = X, kernel
        self.own = kernel.core_diagonal(X)
        self.weights = self._between(_core_with(kernel, X, first)[:, None], slice(None), [first])[:, 0]
        self.weights[first] = 0.0

    def among(self, numbers: np.ndarray) -> "_PivotDistancesAmong":
        """The same for a few samples and the pivots to be found among them."""
        points = self.X[numbers]
        distances = self._between(self.kernel.core(points, points), numbers, numbers)
        np.fill_diagonal(distances, 0.0)
        return _PivotDistancesAmong(distances, self.weights[numbers])

    def add(self, numbers: np.ndarray, found: "_PivotDistancesAmong") -> None:
        """Bring all weights up to date for pivots ``numbers[found.chosen]``."""
        pivots = numbers[found.chosen]
        for rows, core in self.kernel.core_blocks(self.X, self.X[pivots]):
            nearest = self._between(core, rows, pivots).min(axis=1)
            np.minimum(self.weights[rows], nearest, out=self.weights[rows])
        self.weights[pivots] = 0.0

    def _between(self, core, rows, columns):
        # The constant and the offsets of the kernel cancel.
        core *= -2
        core += self.own[rows, None]
        core += self.own[columns]
        return np.maximum(core, 0.0, out=core)


class _PivotDistancesAmong:
    def __init__(self, distances: np.ndarray, weights: np.ndarray):
        self.distances, self.weights = distances, weights
        self.chosen: list[int] = []

    def add(self, place: int) -> None:
        self.chosen.append(place)
        np.minimum(self.weights, self.distances[:, place], out=self.weights)


def _core_with(kernel: Kernel, X, number: int) -> np.ndarray:
    core = np.empty(X.shape[0])
    for rows, block in kernel.core_blocks(X, X[number : number + 1]):
        core[rows] = block[:, 0]
    return core


def draw(weights: np.ndarray, size: int, rng) -> np.ndarray:
    """Numbers drawn with replacement and with probabilities in proportion to ``weights``."""
    cumulative = np.cumsum(weights)
    drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    # The product may round up to the whole sum, beyond the last weight that is not zero.
    return np.minimum(drawn, np.searchsorted(cumulative, cumulative[-1]))


def extend_by_drawing(state, wanted: int, block: int, rng) -> np.ndarray:
    """Pivots of one block of proposals: at most ``wanted``, at least one."""
    numbers, places = np.unique(draw(state.weights, block, rng), return_inverse=True)
    found = state.among(numbers)
    before = found.weights.copy()
    for place, uniform in zip(places.tolist(), rng.random(block).tolist()):
        if len(found.chosen) < wanted and uniform * before[place] < found.weights[place]:
            found.add(place)
    state.add(numbers, found)
    return numbers[found.chosen]


def first_of_largest(weights: np.ndarray) -> int:
    """The lowest number whose weight cannot be told from the largest: equal ones differ by rounding."""
    return int(np.argmax(weights >= (1 - TIE) * weights.max()))


def extend_by_largest(state, wanted: int, block: int, rng=None) -> np.ndarray:
    """Pivots of largest weight: at most ``wanted``, at least one; ties go to the lowest number proposed."""
    weights = state.weights
    size = min(block + 1, len(weights))
    proposed = np.argpartition(-weights, size - 1)[:size]
    proposed = proposed[np.lexsort((proposed, -weights[proposed]))]
    bound = weights[proposed[block]] if len(proposed) > block else 0.0
    numbers = np.sort(proposed[:block])
    found = state.among(numbers)
    while len(found.chosen) < wanted:
        place = first_of_largest(found.weights)
        if found.weights[place] <= 0 or (found.chosen and found.weights[place] < bound):
            break
        found.add(place)
    state.add(numbers, found)
    return numbers[found.chosen]


@dataclass(frozen=True)
class PivotSelector:
    """What the four selectors share: the first pivot, blocks, and what to do when nothing is left."""

    block: int = 64
    max_samples: int | None = 50_000

    nested: ClassVar[bool] = True
    state: ClassVar[type]
    extend: ClassVar

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the chosen samples, in the order in which they were chosen."""
        n_basis = check_count("n_basis", n_basis, most=X.shape[0])
        block = check_count("block", self.block)
        rows = candidates(X.shape[0], n_basis, self.max_samples, rng)
        samples = X if rows is None else X[rows]
        kernel = kernel.anchored(samples)
        chosen = self._pivots(samples, kernel, n_basis, block, rng)
        if len(chosen) < n_basis:  # all other samples lie in the span, or coincide with pivots
            free = np.setdiff1d(np.arange(samples.shape[0]), chosen)
            chosen = np.append(chosen, rng.permutation(free)[: n_basis - len(chosen)])
        return chosen if rows is None else rows[chosen]

    def _pivots(self, samples, kernel, n_basis, block, rng):
        if self.state is SpanDistances:  # which need more than differences
            check_positive(kernel, samples, centred=False)
        first = self._first(samples, kernel, rng)
        if first is None:
            return np.empty(0, dtype=np.intp)
        found, size = [np.array([first])], 1
        if n_basis > 1:
            state = self.state(samples, kernel, first, n_basis)
            if not np.isfinite(state.weights).all():
                raise ValueError("the kernel overflows on these samples: rescale them.")
            while size < n_basis and state.weights.any():
                found.append(self.extend(state, n_basis - size, block, rng))
                size += len(found[-1])
        return np.concatenate(found)
