"""The alternating direction method of multipliers for ElasticNetKPCA, as printed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from scipy.linalg.lapack import dpstrf

from kpca_lab.linalg import fix_signs, numerical_rank, rank_tolerance, top_eigenpairs

# Components whose first passes are computed together: reading the eigenvectors is what a step costs.
TOGETHER = 16


@dataclass(frozen=True)
class AdmmSettings:
    """The weights, tolerances and limit of :class:`~kpca_lab.ElasticNetKPCA` that the solver uses."""

    l2: float
    rho: float
    eps_abs: float
    eps_rel: float
    max_admm_iter: int


@dataclass(frozen=True, eq=False)
class ElasticNet:
    """The problem of Eq. (11) for a given ``p``, in coordinates of the eigenvectors of K.

    There each step of ADMM is diagonal but for the soft threshold, so that a step costs two products with
    the eigenvectors.
    """

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    settings: AdmmSettings

    @classmethod
    def of(cls, gram: np.ndarray, settings: AdmmSettings) -> "ElasticNet":
        """The problem for a Gram matrix; ``settings`` go with it."""
        n, tol = len(gram), rank_tolerance(len(gram))
        # Where few pivots leave nothing of the matrix, the axes of their columns are those of all.
        noise = np.finfo(np.float64).eps * max(gram.diagonal().max(), 0.0)
        factor, pivots, rank, _ = dpstrf(gram, tol=noise, lower=1)
        if 3 * rank < n:
            columns = np.empty((n, rank))
            columns[pivots - 1] = np.tril(factor[:, :rank])
            eigenvectors, singular, _ = svd(columns, full_matrices=False, check_finite=False)
            eigenvalues, eigenvectors = singular**2, fix_signs(eigenvectors)
        else:
            eigenvalues, eigenvectors = top_eigenpairs(gram, solver="dense")
        kept = numerical_rank(eigenvalues, tol)
        return cls(eigenvalues[:kept], np.ascontiguousarray(eigenvectors[:, :kept]), settings)

    @property
    def rank(self) -> int:
        """The numerical rank of K."""
        return len(self.eigenvalues)

    def components(self, weights: Sequence[float], eps_outer: float, max_iter: int) -> Iterator:
        """For each weight coefficients, number of passes, whether they came to an end, and the trace."""
        earlier = np.empty((self.rank, 0))
        for k, (weight, first) in enumerate(zip(weights, self._first_passes(weights))):
            target = np.eye(1, self.rank, k)[0]  # the eigenvector of K, that is the component of kernel PCA
            coefficients, target, trace = self._component(target, weight, earlier, first, eps_outer, max_iter)
            earlier = np.column_stack([earlier, target])
            ended = trace.converged and trace.steps[-1] < self.settings.max_admm_iter
            yield coefficients, len(trace.steps), ended, trace

    def _component(self, target, weight, earlier, first, eps_outer, max_iter):
        """Coefficients and target ``p`` of the next component, and the course of its computation."""
        old = target
        coefficients, q, trace = first
        for iteration in range(max_iter):
            if iteration:
                coefficients, q = self.solve(target, weight, trace)
            if not coefficients.any():
                break
            q /= np.linalg.norm(q)
            image = self.eigenvalues * q
            fresh = image - earlier @ (earlier.T @ image)
            if np.linalg.norm(fresh) <= 1e-12 * np.linalg.norm(image):  # the earlier components span it
                break
            target = fresh / np.linalg.norm(fresh)  # lines 11-12
            change, old = np.sum((q - old) ** 2), q
            if change < eps_outer:
                break
        else:
            trace.converged = False
        return coefficients, target, trace

    def _first_passes(self, weights: Sequence[float]) -> Iterator:
        """Coefficients, ``q`` and trace of the first pass of each component, which knows of no other."""
        for start in range(0, len(weights), TOGETHER):
            chosen = weights[start : start + TOGETHER]
            targets = np.eye(len(chosen), self.rank, start)
            traces = [AdmmTrace() for _ in chosen]
            yield from zip(*self.solve_all(targets, chosen, traces), traces)

    def solve(self, target: np.ndarray, weight: float, trace: "AdmmTrace") -> tuple[np.ndarray, np.ndarray]:
        """Minimise over ``a`` by ADMM (Algorithm 1, lines 4-9).

        Parameters
        ----------
        target : ndarray of shape (rank,)
            The vector ``p``, in coordinates of the eigenvectors.
        weight : float
            The weight ``l1``.
        trace : AdmmTrace
            Where the course of the computation is written.

        Returns
        -------
        coefficients : ndarray of shape (n_samples,)
        q : ndarray of shape (rank,)
            In coordinates of the eigenvectors.
        """
        coefficients, q = self.solve_all(target[None], [weight], [trace])
        return coefficients[0], q[0]

    def solve_all(self, targets: np.ndarray, weights: Sequence[float], traces: Sequence["AdmmTrace"]):
        """The same for several targets, one per row: the eigenvectors are read once for all of them."""
        settings, V = self.settings, self.eigenvectors
        rho, l2 = settings.rho, settings.l2
        root, n = np.sqrt(self.eigenvalues), len(V)
        stiffness = self.eigenvalues**2 + l2 * self.eigenvalues + rho
        coefficients, found = np.zeros((len(targets), n)), np.zeros_like(targets)
        left = np.arange(len(targets))  # those that have not converged
        a, dual = np.zeros_like(coefficients), np.zeros_like(coefficients)
        a_turned, dual_turned = np.zeros_like(targets), np.zeros_like(targets)
        weight, target = np.array(weights, dtype=float), targets
        for trace in traces:
            trace.steps.append(0)
        for _ in range(settings.max_admm_iter):
            # `free` is K^(-1/2) q: line 6 times K^(-1/2), which in the null space of K leaves a - t / rho.
            before = a_turned - dual_turned / rho
            free_turned = (root**3 * target + rho * before) / stiffness
            free = a - dual / rho + (free_turned - before) @ V.T
            a = _soft_threshold(free + dual / rho, weight[:, None] / rho)  # line 7
            a_turned, a_turned_old = _sparse_product(a, V), a_turned
            dual += rho * (free - a)  # line 8
            dual_turned += rho * (free_turned - a_turned)

            q = root * free_turned
            fit, ridge = _squares(root * (target - q)) / 2, l2 * _squares(q) / 2
            size = np.sqrt(np.maximum(_squares(free), _squares(a)))
            course = {
                "objective": fit + ridge + weight * np.abs(a).sum(axis=1),
                "primal_residual": np.sqrt(_squares(free - a)),
                "dual_residual": rho * np.sqrt(_squares((a_turned - a_turned_old) / root)),
                "primal_limit": n**0.5 * settings.eps_abs + settings.eps_rel * size,
                "dual_limit": n**0.5 * settings.eps_abs
                + settings.eps_rel * np.sqrt(_squares(dual_turned / root)),
            }
            coefficients[left], found[left] = a, q
            going = np.array([not traces[i].record(k, course) for k, i in enumerate(left.tolist())])
            if not going.any():
                break
            if not going.all():
                left, weight, target, a, dual = (
                    left[going],
                    weight[going],
                    target[going],
                    a[going],
                    dual[going],
                )
                a_turned, dual_turned = a_turned[going], dual_turned[going]
        return coefficients, found


class AdmmTrace:
    """What happened in each ADMM step of one component, over all its passes.

    Attributes
    ----------
    objective, primal_residual, dual_residual, primal_limit, dual_limit : list of float
        One value per step; a pass ends when both residuals are within their limits.
    steps : list of int
        Number of steps of each pass.
    converged : bool
        Whether the passes ended before their limit.
    """

    def __init__(self):
        self.objective, self.primal_residual, self.dual_residual = [], [], []
        self.primal_limit, self.dual_limit = [], []
        self.steps = []
        self.converged = True

    def record(self, position: int, values: dict[str, np.ndarray]) -> bool:
        """Note the values of a step at one position; true if both residuals are within their limits."""
        own = {name: float(value[position]) for name, value in values.items()}
        for name, value in own.items():
            getattr(self, name).append(value)
        self.steps[-1] += 1
        return own["primal_residual"] <= own["primal_limit"] and own["dual_residual"] <= own["dual_limit"]


def _sparse_product(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """``vectors @ matrix`` by those columns in which some vector is not zero, where these are few."""
    used = np.flatnonzero(vectors.any(axis=0))
    return vectors[:, used] @ matrix[used] if 4 * len(used) < len(matrix) else vectors @ matrix


def _squares(vectors: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", vectors, vectors)


def _soft_threshold(values: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)
