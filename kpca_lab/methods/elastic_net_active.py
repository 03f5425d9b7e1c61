"""The problem of ElasticNetKPCA by active sets: exact, and fast where few coefficients remain."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kpca_lab.blas import product
from kpca_lab.linalg import numerical_rank, rank_tolerance, top_eigenpairs

# Slack of the optimality conditions as a share of l1, and what rounding adds to it as one of |K u|.
TOL, ROUNDING = 1e-6, 1e-12
# So many coefficients join in one step, and half as many as there are.
JOIN = 8


class ActiveSet:
    """Eq. (11) with ``p = K^(1/2) b`` and ``u = K b``, in coefficients of the samples.

    With ``q = K^(1/2) a`` it is a lasso: minimise

        1/2 a' Q a - (K u)' a + l1 ||a||_1,    Q = K^2 + l2 K.

    ``Q`` does not depend on ``p``, so that the rows of those samples that ever had a coefficient serve all
    passes and components; nothing else of it is computed, and of K no eigenvectors but the first.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        The kernel matrix of the samples, centred or not.
    n_components : int or None
        How many eigenvectors of it to begin with; None for all.
    l2 : float
    max_steps : int
        Limit of the steps in one pass.
    """

    def __init__(self, gram: np.ndarray, n_components: int | None, l2: float, max_steps: int):
        self.gram, self.l2, self.max_steps = gram, l2, max_steps
        values, vectors = top_eigenpairs(gram, n_components)
        self.rank = numerical_rank(values, rank_tolerance(len(gram)))
        self.eigenvalues, self.eigenvectors = values[: self.rank], vectors[:, : self.rank]
        self._rows, self._count = np.empty((0, len(gram))), 0
        self._place = np.full(len(gram), -1)  # where the row of a sample is

    def components(self, weights: Sequence[float], eps_outer: float, max_iter: int) -> Iterator:
        """For each weight coefficients, number of passes, whether they came to an end, and no trace."""
        n = len(self.gram)
        earlier_b, earlier_u = np.empty((0, n)), np.empty((0, n))
        for k, weight in enumerate(weights):
            root = self.eigenvalues[k] ** 0.5
            b, u = self.eigenvectors[:, k] / root, self.eigenvectors[:, k] * root
            a, old, old_image, ended, passes = np.zeros(n), b, u, False, 0
            while passes < max_iter and not ended:
                passes += 1
                a, solved = self.minimum(u, weight, a)
                image = product(self.gram, a)
                length = max(float(a @ image), 0.0) ** 0.5
                if length == 0.0:
                    ended = True
                    continue
                q, image = a / length, image / length
                # Lines 11 and 12: K q without what the earlier components have of it, at unit length.
                fresh = image - (earlier_u @ image) @ earlier_b
                fresh_image = product(self.gram, fresh)
                size = max(float(fresh @ fresh_image), 0.0) ** 0.5
                if size**2 <= 1e-24 * float(image @ product(self.gram, image)):
                    ended = True  # nothing new: the earlier components span it
                    continue
                b, u = fresh / size, fresh_image / size
                ended = float((q - old) @ (image - old_image)) < eps_outer
                old, old_image = q, image
            earlier_b, earlier_u = np.vstack([earlier_b, b]), np.vstack([earlier_u, u])
            yield a, passes, ended and solved, None

    def minimum(self, u: np.ndarray, weight: float, start: np.ndarray) -> tuple[np.ndarray, bool]:
        """The coefficients at the minimum, found from those of ``start``, and whether the steps sufficed."""
        if weight == 0:
            return self._ridge(u), True
        wanted = product(self.gram, u)
        slack = TOL * weight + ROUNDING * float(np.abs(wanted).max(initial=0.0))
        a, left = start.copy(), self.max_steps
        while left > 0:
            active = np.flatnonzero(a)
            gradient = a[active] @ self._rows_of(active) - wanted
            excess = np.abs(gradient) - weight
            excess[active] = np.abs(gradient[active] + weight * np.sign(a[active]))
            if excess.max(initial=0.0) <= slack:
                return a, True
            excess[active] = 0.0
            outside = np.flatnonzero(excess > slack)
            joining = outside[np.argsort(-excess[outside], kind="stable")[: JOIN + len(active) // 2]]
            used = np.concatenate([active, joining])
            self._compute(joining)
            matrix = self._rows[np.ix_(self._place[used], used)]
            a[used], steps = lasso(matrix, wanted[used], weight, a[used], slack, left)
            if not steps:
                return a, True  # as summed up there nothing is left to do: it is rounding
            left -= steps
        return a, False

    def _rows_of(self, samples: np.ndarray) -> np.ndarray:
        self._compute(samples)
        return self._rows[self._place[samples]]

    def _compute(self, samples: np.ndarray) -> None:
        """Compute those rows of ``Q`` that are not there yet."""
        new = samples[self._place[samples] < 0]
        if self._count + len(new) > len(self._rows):
            size = min(len(self.gram), max(2 * len(self._rows), self._count + len(new)))
            rows = np.empty((size, len(self.gram)))
            rows[: self._count] = self._rows[: self._count]
            self._rows = rows
        if len(new):
            columns, places = self.gram[new], self._count + np.arange(len(new))
            self._rows[places] = product(columns, self.gram) + self.l2 * columns
            self._place[new] = places
            self._count += len(new)

    def _ridge(self, u: np.ndarray) -> np.ndarray:
        """The minimum without an l1 penalty, of all those the one in the range of K."""
        values, vectors = self._spectrum
        return vectors @ ((vectors.T @ u) / (values + self.l2))

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = top_eigenpairs(self.gram, solver="dense")
        rank = numerical_rank(values, rank_tolerance(len(values)))
        return values[:rank], vectors[:, :rank]


def lasso(matrix, wanted, weight, start, slack, max_steps) -> tuple[np.ndarray, int]:
    """Minimise ``x' matrix x / 2 - wanted' x + weight |x|_1`` from ``start``, and count the steps.

    The search by signs of Lee et al. [1]_: each step goes to the minimum for given signs, or as far as the
    penalty allows; several coefficients may join in one step.

    References
    ----------
    .. [1] H. Lee, A. Battle, R. Raina, A. Y. Ng, "Efficient sparse coding algorithms", NIPS (2006).
    """
    x = start.copy()
    for steps in range(max_steps):
        active = np.flatnonzero(x)
        gradient = matrix @ x - wanted
        pull = gradient[active] + weight * np.sign(x[active])
        joining = np.empty(0, dtype=int)
        if np.abs(pull).max(initial=0.0) <= slack:
            excess = np.abs(gradient) - weight
            excess[active] = 0.0
            joining = np.flatnonzero(excess > slack)
            if not len(joining):
                return x, steps
            joining = joining[np.argsort(-excess[joining], kind="stable")]
        used, signs, step = _direction(matrix, gradient, weight, x, active, joining)
        slope = float((gradient[used] + weight * signs) @ step)
        curvature = float(step @ matrix[np.ix_(used, used)] @ step)
        moved, gain = _best_on_the_way(x[used], signs, step, slope, curvature, weight)
        if not gain > 0:  # what is left is rounding
            return x, steps
        x[used] = moved
    return x, max_steps


def _direction(matrix, gradient, weight, x, active, joining):
    """The coefficients that move, their signs, and the step to the minimum for these.

    Those that join must move against their gradient, or the penalty is not what was assumed; where they would
    not, they do not join. The one that is farthest from optimal always moves so.
    """
    while True:
        used = np.concatenate([active, joining])
        signs = np.concatenate([np.sign(x[active]), -np.sign(gradient[joining])])
        step = -_solved(matrix[np.ix_(used, used)], gradient[used] + weight * signs)
        right = step[len(active) :] * signs[len(active) :] > 0
        if right.all() or len(joining) == 1:
            return used, signs, step
        joining = joining[right] if right.any() else joining[:1]


def _best_on_the_way(x, signs, step, slope, curvature, weight):
    """The best of a step's end and the points where a coefficient changes its sign, and what it gains.

    Beyond such a point the penalty rises again, by twice as much as it was assumed to fall.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.where(signs * step < 0, np.abs(x / step), np.inf)
    lengths = np.append(np.sort(crossings[crossings < 1]), 1.0)
    beyond = np.array([(np.abs(step) * np.maximum(length - crossings, 0.0)).sum() for length in lengths])
    course = lengths * slope + lengths**2 / 2 * curvature + 2 * weight * beyond
    best = lengths[course.argmin()]
    moved = x + best * step
    moved[crossings == best] = 0.0
    return moved, -course.min()


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution for a positive semidefinite matrix; in directions that rounding hides, a shorter step."""
    shift = 100 * np.finfo(np.float64).eps * len(matrix) * matrix.diagonal().max(initial=0.0)
    for power in range(0, 14, 2):
        try:
            shifted = matrix.copy()
            shifted[np.diag_indices_from(shifted)] += shift * 10.0**power
            return cho_solve(cho_factor(shifted, lower=True, check_finite=False), right, check_finite=False)
        except LinAlgError:
            continue
    return right / max(np.abs(matrix).sum(axis=1).max(initial=0.0), np.finfo(np.float64).tiny)
