"""The likelihood of Tipping's sparse kernel PCA as a function of the weights, and steps that raise it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd
from scipy.linalg.lapack import dpstrf
from scipy.optimize import nnls

from kpca_lab.blas import product

# A weight is dropped by the iterations that only shrink it when the data determine less than this of it.
NEGLIGIBLE = 1e-4
# Likelihood per sample that may be given for fewer weights, after convergence.
NEGLIGIBLE_LOSS = 1e-6
# Largest variance over that of the noise at which squares of coordinates have digits enough.
SAFE_SQUARES = 1e5
# Directions of the Hessian, scaled to unit diagonal, that count as dependent on the others.
TIE = 1e-10


@dataclass(frozen=True, eq=False)
class WeightedSamples:
    """Coordinates of some samples, one row each, and the second moments of all along the same axes.

    These are ``diag(variances) + mean mean'``. ``rest`` is the square of each sample along axes that were
    left out, and ``rest_mean`` its mean over all samples.
    """

    rows: np.ndarray
    variances: np.ndarray
    mean: np.ndarray
    rest: np.ndarray
    rest_mean: float
    n_samples: int

    @classmethod
    def of(cls, spread: np.ndarray, mean: np.ndarray) -> "WeightedSamples":
        """From coordinates about the mean, along their principal axes (as columns), and the mean."""
        n = len(spread)
        variances = np.einsum("ij,ij->j", spread, spread) / n
        order = np.argsort(-(variances + mean**2), kind="stable")
        rows = (spread + mean)[:, order]
        return cls(rows, variances[order], mean[order], np.zeros(n), 0.0, n)

    @property
    def largest_variance(self) -> float:
        """The largest eigenvalue of the second moments."""
        total = float(self.mean @ self.mean)
        low = self.variances.max(initial=0.0)
        if not total:
            return float(low)
        # It is the largest x with sum_j mean_j^2 / (x - variance_j) = 1, and at most low + |mean|^2.
        low, high = max(low, float(self.variances @ self.mean**2) / total + total), low + total
        for _ in range(100):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            beyond = (self.mean**2 / (middle - self.variances)).sum() > 1
            low, high = (middle, high) if beyond else (low, middle)
        return high

    def above(self, least: float) -> "WeightedSamples":
        """The same with the axes along which the samples vary by more than ``least``."""
        kept = (self.variances > least) | (len(self.mean) * self.mean**2 > least)
        kept[0] = True
        if kept.all():
            return self
        left = np.einsum("ij,ij->i", self.rows[:, ~kept], self.rows[:, ~kept])
        rows = np.ascontiguousarray(self.rows[:, kept])
        rest_mean = float(self.rest_mean + self.variances[~kept].sum() + (self.mean[~kept] ** 2).sum())
        return WeightedSamples(
            rows, self.variances[kept], self.mean[kept], self.rest + left, rest_mean, self.n_samples
        )

    def take(self, numbers: np.ndarray) -> "WeightedSamples":
        """Some of the samples; the moments remain those of all."""
        return replace(self, rows=self.rows[numbers], rest=self.rest[numbers])


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
        variances, mean = samples.variances, samples.mean
        chosen = np.flatnonzero(weights)
        weighted = rows[chosen] * np.sqrt(weights[chosen])[:, None]
        # log|C| less that of s2 I, and trace(C^-1 S); what lies outside the span of the samples is constant.
        if 2 * len(chosen) < rows.shape[1]:
            # C = s2 I + B diag(d) B' with few orthonormal columns B.
            singular, turn = _right_singular(weighted, s2)
            along_solved = product(rows, turn.T) / (s2 + singular**2)
            solved = rows - product(along_solved * singular**2, turn)
            solved /= s2
            # phi' C^-1 phi = (C^-1 phi)' C (C^-1 phi), a sum of squares: nothing cancels.
            inner = s2 * np.einsum("ij,ij->i", solved, solved) + product(along_solved**2, singular**2)
            log_determinant = np.log1p(singular**2 / s2).sum()
            along = product(turn**2, variances) + product(turn, mean) ** 2
            total = variances.sum() + mean @ mean
            trace = (along / (s2 + singular**2)).sum() + max(total - along.sum(), 0.0) / s2
        else:
            covariance = product(weighted.T, weighted)
            covariance[np.diag_indices(len(covariance))] += s2
            factor = cholesky(covariance, lower=True, check_finite=False)
            whitened = solve_triangular(factor, rows.T, lower=True, check_finite=False)
            solved = solve_triangular(factor, whitened, lower=True, trans=1, check_finite=False).T
            inner = np.einsum("ij,ij->j", whitened, whitened)
            log_determinant = 2 * np.log(factor.diagonal()).sum() - len(factor) * np.log(s2)
            moments = np.column_stack([np.diag(np.sqrt(variances)), mean])
            trace = np.sum(solve_triangular(factor, moments, lower=True, check_finite=False) ** 2)
        inner = inner + samples.rest / s2
        log_likelihood = -samples.n_samples / 2 * (log_determinant + trace + samples.rest_mean / s2)
        square = product(solved**2, variances) + product(solved, mean) ** 2
        return cls(weights, solved, inner, square, float(log_likelihood))


def _right_singular(weighted: np.ndarray, noise_variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and right singular vectors, as rows, of a matrix with fewer rows than columns."""
    products = product(weighted, weighted.T)
    if products.trace() > SAFE_SQUARES * noise_variance:
        return svd(weighted, full_matrices=False, check_finite=False)[1:]
    # Rounding of the squares reaches C as this share of the noise; vectors that it spoils are no part of C.
    squares, left = eigh(products, check_finite=False)
    kept = squares > np.finfo(np.float64).eps * squares[-1] if len(squares) else np.zeros(0, dtype=bool)
    singular = np.sqrt(squares[kept])
    return singular, product((left[:, kept] / singular).T, weighted)


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
    products = product(samples.rows[candidates], model.solved[candidates].T)
    hessian = (products / np.sqrt(inner)) ** 2 / inner[:, None]
    np.fill_diagonal(hessian, 1.0)
    linear = model.ratio[candidates] - 1 + product(hessian, current)
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
    return other if fewer and loss < NEGLIGIBLE_LOSS * samples.n_samples else model
