"""The likelihood of Tipping's sparse kernel PCA as a function of the weights, and steps that raise it."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular, svd
from scipy.linalg.lapack import dpstrf
from scipy.optimize import nnls

from kpca_lab.linalg import top_eigenpairs

# A weight is dropped by the iterations that only shrink it when the data determine less than this of it.
NEGLIGIBLE = 1e-4
# Likelihood per sample that may be given for fewer weights, after convergence.
NEGLIGIBLE_LOSS = 1e-6
# Directions of the Hessian, scaled to unit diagonal, that count as dependent on the others.
TIE = 1e-10


@dataclass(frozen=True, eq=False)
class WeightedSamples:
    """Coordinates of the samples along their principal axes, one row per sample.

    ``variances`` are those along the axes, largest first, and ``rest`` the square of each sample along axes
    that were left out.
    """

    rows: np.ndarray
    variances: np.ndarray
    rest: np.ndarray

    @classmethod
    def of(cls, coordinates: np.ndarray) -> "WeightedSamples":
        eigenvalues, axes = top_eigenpairs(coordinates.T @ coordinates, solver="dense")
        n = len(coordinates)
        return cls(coordinates @ axes, np.maximum(eigenvalues, 0.0) / n, np.zeros(n))

    def above(self, least: float) -> "WeightedSamples":
        """The same with the axes whose variance exceeds ``least``."""
        kept = max(1, np.count_nonzero(self.variances > least))
        rest = self.rest + np.sum(self.rows[:, kept:] ** 2, axis=1)
        return WeightedSamples(np.ascontiguousarray(self.rows[:, :kept]), self.variances[:kept], rest)


@dataclass(frozen=True, eq=False)
class WeightModel:
    """The likelihood and its gradient at some weights; ``solved`` holds ``C^-1 phi_i`` as rows."""

    weights: np.ndarray
    solved: np.ndarray
    inner: np.ndarray  # s_i
    square: np.ndarray  # q_i
    log_likelihood: float

    @property
    def ratio(self) -> np.ndarray:
        return np.divide(self.square, self.inner, out=np.zeros_like(self.inner), where=self.inner > 0)

    @classmethod
    def at(cls, samples: WeightedSamples, weights: np.ndarray, noise_variance: float) -> "WeightModel":
        rows, s2 = samples.rows, noise_variance
        n = len(rows)
        chosen = np.flatnonzero(weights)
        weighted = rows[chosen] * np.sqrt(weights[chosen])[:, None]
        if 2 * len(chosen) < rows.shape[1]:
            # C = s2 I + B diag(d) B' with few orthonormal columns B.
            _, singular, turn = svd(weighted, full_matrices=False, check_finite=False)
            along_solved = rows @ turn.T / (s2 + singular**2)
            solved = rows - (along_solved * singular**2) @ turn
            solved /= s2
            # phi' C^-1 phi = (C^-1 phi)' C (C^-1 phi), a sum of squares: nothing cancels.
            inner = s2 * np.einsum("ij,ij->i", solved, solved) + along_solved**2 @ singular**2
            log_determinant = np.log1p(singular**2 / s2).sum()
        else:
            covariance = weighted.T @ weighted
            covariance[np.diag_indices(len(covariance))] += s2
            factor = np.linalg.cholesky(covariance)
            whitened = solve_triangular(factor, rows.T, lower=True, check_finite=False)
            solved = solve_triangular(factor, whitened, lower=True, trans=1, check_finite=False).T
            inner = np.einsum("ij,ij->j", whitened, whitened)
            log_determinant = 2 * np.log(factor.diagonal()).sum() - len(factor) * np.log(s2)
        inner = inner + samples.rest / s2
        # log|C| less that of s2 I, and trace(C^-1 S); what lies outside the span of the samples is constant.
        log_likelihood = float(-n / 2 * (log_determinant + inner.mean()))
        return cls(weights, solved, inner, solved**2 @ samples.variances, log_likelihood)


def fast_step(samples: WeightedSamples, model: WeightModel, noise_variance: float) -> WeightModel:
    return WeightModel.at(samples, _pruned(model, model.weights * model.ratio), noise_variance)


def em_step(samples: WeightedSamples, model: WeightModel, noise_variance: float) -> WeightModel:
    weights = model.weights + model.weights**2 * (model.square - model.inner)
    return WeightModel.at(samples, _pruned(model, weights), noise_variance)


def _pruned(model: WeightModel, weights: np.ndarray) -> np.ndarray:
    """Weights without those that have all but vanished and still fall: dropping one raises the likelihood."""
    negligible = (weights * model.inner < NEGLIGIBLE) & (model.ratio < 1)
    return np.where(negligible, 0.0, weights)


def scoring_step(samples: WeightedSamples, model: WeightModel, noise_variance: float) -> WeightModel | None:
    target = _scoring_target(samples, model)
    length = 1.0
    while length > 1e-6:
        weights = np.maximum(model.weights + length * (target - model.weights), 0.0)
        following = WeightModel.at(samples, weights, noise_variance)
        if following.log_likelihood > model.log_likelihood:
            return following
        length /= 2
    return None


def _scoring_target(samples: WeightedSamples, model: WeightModel) -> np.ndarray:
    """Weights >= 0 that maximise the quadratic model of the likelihood, most of them zero."""
    candidates = np.flatnonzero(((model.weights > 0) | (model.ratio > 1)) & (model.inner > 0))
    inner = model.inner[candidates]
    current = model.weights[candidates] * inner
    products = samples.rows[candidates] @ model.solved[candidates].T
    hessian = (products / np.sqrt(inner)) ** 2 / inner[:, None]
    np.fill_diagonal(hessian, 1.0)
    linear = model.ratio[candidates] - 1 + hessian @ current
    # With an incomplete factor of it, `nnls` takes up no more weights than there are independent directions.
    factor, pivots, rank, _ = dpstrf(hessian, tol=TIE)
    pivots, factor = pivots - 1, np.triu(factor)[:rank]
    goal = solve_triangular(factor[:, :rank], linear[pivots[:rank]], trans=1, check_finite=False)
    target = np.empty_like(current)
    try:
        target[pivots], _ = nnls(factor, goal)
    except RuntimeError:  # its iterations ran out: one multiplicative step instead
        target = current * model.ratio[candidates]
    weights = np.zeros_like(model.weights)
    weights[candidates] = target / inner
    return weights


def sparsest_model(samples: WeightedSamples, model: WeightModel, noise_variance: float) -> WeightModel:
    """A converged model over fewer samples, where the whole step leads to one of the same likelihood.

    A shortened step leaves every weight positive, also where samples can stand for each other.
    """
    if not model.weights.any():
        return model
    other = WeightModel.at(samples, _scoring_target(samples, model), noise_variance)
    fewer = np.count_nonzero(other.weights) < np.count_nonzero(model.weights)
    loss = model.log_likelihood - other.log_likelihood
    return other if fewer and loss < NEGLIGIBLE_LOSS * len(model.weights) else model
