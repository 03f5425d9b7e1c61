"""Sparse kernel PCA by maximum likelihood: a covariance over few weighted samples."""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kpca_lab.gram import check_square_memory
from kpca_lab.linalg import fix_signs, numerical_rank, rank_tolerance
from kpca_lab.methods.base import (
    OperatorEstimator,
    check_center,
    check_n_components,
    n_components_kept,
    take_rows,
)
from kpca_lab.methods.basis import basis_size
from kpca_lab.methods.full import sample_mean
from kpca_lab.methods.tipping_model import (
    WeightedSamples,
    WeightModel,
    em_step,
    fast_step,
    scoring_step,
    sparsest_model,
)
from kpca_lab.operator import Expansion, FeatureOperator
from kpca_lab.span import Frame

UPDATES = ("scoring", "fast", "em")
# Smallest noise variance, as a share of the largest eigenvalue of the sample covariance.
SMALLEST_NOISE = 1e-11
# Axes along which the samples vary by less than this share of the noise do not matter to the weights.
NEGLIGIBLE_VARIANCE = 1e-9
SEARCH_STEPS = 40
# Step of log s2 until both too many and too few weights have been seen.
STRIDE = 0.7
# Samples that are considered at a time, at the least.
FEWEST_WORKING = 50


class TippingKPCA(OperatorEstimator):
    """Sparse kernel PCA of Tipping: few samples carry the covariance of all.

    The samples in feature space are taken as drawn from N(0, C) with ``C = s2 I + sum_i w_i phi_i phi_i'``
    and a fixed ``s2``. At the maximum of the likelihood over ``w >= 0`` most weights are zero, the more
    the larger ``s2``. The components are those of ``sum_i w_i phi_i phi_i'``: with
    ``W^1/2 K W^1/2 v_j = lambda_j v_j`` over the non-zero weights, ``Phi W^1/2 v_j / sqrt(lambda_j)``.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they are to explain (0.9); as many as the
        weighted samples span by default.
    kernel : str or callable, default="rbf"
        A name of :data:`kpca_lab.kernels.KERNELS`, which are scikit-learn's, or a function of two rows.
    gamma : float, "scale", "median" or None, default=None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`; ``1 / n_features`` by default.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    noise_variance : float, default=None
        The fixed ``s2``. If not given, it is found such that ``n_basis`` weights are not zero.
    n_basis : int or float, default="auto"
        Wanted number of non-zero weights, or their share of the samples, if ``noise_variance`` is None.
        The number is a step function of ``s2``, so it is met as closely as bisection over ``log s2`` can.
    update : {"scoring", "fast", "em"}, default="scoring"
        How the likelihood is climbed, see Notes.
    max_iter : int, default=1000
        Limit of the iterations, for each ``s2`` tried.
    tol : float, default=0.001
        Stop when no non-zero weight has a relative gradient ``|q_i / s_i - 1|`` above this (see Notes).
    center : bool or "mean", default=False
        Whether to subtract the mean of the samples in feature space. The components are then expansions
        over all samples, since the mean is one.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    weights_ : ndarray of shape (n_samples,)
        Weight of each sample, zero for most.
    basis_indices_ : ndarray of shape (n_basis,)
        The samples with a non-zero weight.
    noise_variance_ : float
        The ``s2`` given or found.
    eigenvalues_ : ndarray of shape (n_components,)
        The ``lambda_j``: variances of the model along the components, above ``s2``.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Mean squares of the samples along the components, and their shares of ``total_variance_``.
    log_likelihood_ : ndarray of shape (n_iter + 1,)
        Before each iteration and at the end, without the terms that do not depend on the weights.
    n_iter_ : int
        Number of passes or iterations that were taken.

    See Also
    --------
    ElasticNetKPCA : Sparse components by penalties.
    SubsetKPCA : Components over few samples that are not found by a likelihood.

    Notes
    -----
    With ``s_i = phi_i' C^-1 phi_i`` and ``q_i = (1/n) sum_n (phi_i' C^-1 phi_n)^2`` the gradient of the log
    likelihood is ``n (q_i - s_i) / 2``. Since ``mu_n = W Phi' C^-1 phi_n`` and
    ``Sigma = W - W Phi' C^-1 Phi W``, Tipping's updates read

    - "fast": ``w_i <- sum_n mu_ni^2 / (n (1 - Sigma_ii / w_i)) = w_i q_i / s_i``,
    - "em": ``w_i <- (1/n) sum_n mu_ni^2 + Sigma_ii = w_i + w_i^2 (q_i - s_i)``, which never lowers the
      likelihood.

    Both need thousands of iterations until the weights that should vanish have done so. "scoring" maximises,
    over ``w >= 0``, the quadratic model with the expected Hessian ``-(n/2) (phi_i' C^-1 phi_j)^2``, which
    sets weights to exactly zero, and goes towards that maximum as far as the likelihood rises. It reaches
    the same likelihood in some ten iterations; weights set to zero can return. It considers few samples at a
    time: evenly spaced ones, or those with a weight for another ``s2`` nearby, and then those outside whose
    weights would rise, until there are none of these.

    References
    ----------
    .. [1] M. E. Tipping, "Sparse kernel principal component analysis", NIPS 13 (2001).
    .. [2] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import TippingKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> model = TippingKPCA(n_components=5, gamma=0.1, n_basis=20).fit(X)
    >>> model.transform(X).shape
    (200, 5)
    >>> len(model.basis_indices_)
    20
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        noise_variance=None,
        n_basis="auto",
        update="scoring",
        max_iter=1000,
        tol=1e-3,
        center=False,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.noise_variance = noise_variance
        self.n_basis = n_basis
        self.update = update
        self.max_iter = max_iter
        self.tol = tol
        self.center = center

    def fit(self, X, y=None):
        """Find the weights of the samples, and the components of the weighted ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples; with ``kernel="precomputed"``, their kernel matrix.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        center = bool(check_center(self.center, {False: None, True: "mean", "mean": "mean"}))
        self._check_parameters()
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        kernel = kernel.anchored(samples)
        n = samples.shape[0]
        check_square_memory(n)
        frame = Frame.of(kernel, samples, rank_tolerance(n))
        spread, mean = _coordinates(frame)
        result = self._find_weights(WeightedSamples.of(spread, np.zeros_like(mean) if center else mean))
        if not result.converged:
            warnings.warn(
                f"The likelihood still rises after max_iter={self.max_iter} iterations (update="
                f"{self.update!r}): raise max_iter, or use update='scoring'.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.weights_, self.noise_variance_ = result.weights, result.noise_variance
        self.log_likelihood_, self.n_iter_ = result.log_likelihood, len(result.log_likelihood) - 1
        self.basis_indices_ = np.flatnonzero(self.weights_)
        self._set_components(kernel, samples, spread if center else None)
        total = float(np.sum(spread**2) + (0 if center else n * (mean @ mean)))
        sums = np.sum(self.operator_.transform(samples) ** 2, axis=0)
        kept = n_components_kept(self.n_components, sums, total)
        self.operator_, self.eigenvalues_ = self.operator_.truncate(kept), self.eigenvalues_[:kept]
        self._set_variances(total, n, sums[:kept])
        return self

    def _check_parameters(self):
        check_n_components(self.n_components, 1)
        if self.update not in UPDATES:
            raise ValueError(f"update must be one of {list(UPDATES)}, got {self.update!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer >= 1, got {self.max_iter!r}.")
        if not isinstance(self.tol, Real) or not self.tol >= 0:
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}.")
        noise = self.noise_variance
        if noise is not None and not (isinstance(noise, Real) and 0 < noise < np.inf):
            raise ValueError(f"noise_variance must be a finite number > 0 or None, got {noise!r}.")

    def _find_weights(self, samples: WeightedSamples) -> "_Result":
        n = samples.n_samples
        n_basis = basis_size(self.n_basis, self.n_components, n) if self.noise_variance is None else None
        largest = samples.largest_variance
        if not largest:  # no variance at all
            noise = 1.0 if self.noise_variance is None else float(self.noise_variance)
            return _Result(np.zeros(n), noise, np.zeros(1))
        if n_basis is None:
            least = SMALLEST_NOISE * largest
            if self.noise_variance < least:
                raise ValueError(
                    f"noise_variance={self.noise_variance!r} is too small to compute with: the largest "
                    f"variance of the samples is {largest:.3g}, so give at least {least:.3g}."
                )
            return self._maximise(samples, float(self.noise_variance))
        return self._search(samples, n_basis, largest)

    def _maximise(self, samples: WeightedSamples, noise_variance: float, start=None) -> "_Result":
        """The weights of largest likelihood; "scoring" looks at few samples at a time, in the end at all."""
        n = samples.n_samples
        samples = samples.above(NEGLIGIBLE_VARIANCE * noise_variance)
        if self.update != "scoring":
            equal = np.full(n, 1.0 / n)
            model, course, converged = self._climb(samples, equal, noise_variance, self.max_iter)
            return _Result(model.weights, noise_variance, np.array(course), converged)
        if start is None:
            weights, working = _starting_weights(samples, noise_variance)
        else:
            weights, working = start, self._next_working(samples, start, noise_variance)
        history: list[float] = []
        while True:
            part, left = samples.take(working), self.max_iter - max(len(history) - 1, 0)
            model, course, converged = self._climb(part, weights[working], noise_variance, left)
            rose = not history or course[-1] > history[-1]
            history = history[:-1] + course
            weights = np.zeros(n)
            weights[working] = model.weights
            following = self._next_working(samples, weights, noise_variance)
            if not (converged and rose) or np.isin(following, working).all():
                break
            working = following
        model = sparsest_model(part, model, noise_variance)
        weights[working] = model.weights
        history[-1] = model.log_likelihood
        return _Result(weights, noise_variance, np.array(history), converged)

    def _next_working(
        self, samples: WeightedSamples, weights: np.ndarray, noise_variance: float
    ) -> np.ndarray:
        """The samples with a weight, and those without that would raise the likelihood most with one."""
        ratio = WeightModel.at(samples, weights, noise_variance).ratio
        outside = np.flatnonzero((weights == 0) & (ratio > 1 + self.tol))
        used = np.flatnonzero(weights)
        best = outside[np.argsort(-ratio[outside], kind="stable")[: max(FEWEST_WORKING, len(used))]]
        return np.union1d(used, best)

    def _climb(self, samples: WeightedSamples, weights: np.ndarray, noise_variance: float, max_iter: int):
        """The model at a maximum over these samples, the likelihoods on the way, and whether it got there."""
        model = WeightModel.at(samples, weights, noise_variance)
        history = [model.log_likelihood]
        step = {"scoring": scoring_step, "fast": fast_step, "em": em_step}[self.update]
        for _ in range(max_iter):
            gradient = np.abs(model.ratio - 1)[model.weights > 0].max(initial=0.0)
            may_return = self.update == "scoring" and (model.ratio[model.weights == 0] > 1 + self.tol).any()
            if gradient <= self.tol and not may_return:
                return model, history, True
            following = step(samples, model, noise_variance)
            if following is None:  # the likelihood does not rise any more, to working precision
                return model, history, True
            model = following
            history.append(model.log_likelihood)
        return model, history, False

    def _search(self, samples: WeightedSamples, n_basis: int, largest: float) -> "_Result":
        """Bisection over log s2, from an interval with too many and too few weights at its ends.

        The last solution with more weights than wanted starts the next one.
        """
        low, high = np.log(SMALLEST_NOISE * largest), np.log(largest)  # at `high` all weights are zero
        # It takes several samples for each direction that stands out of the noise.
        noise = np.sort(samples.variances)[::-1][min(n_basis // 5, len(samples.variances) - 1)]
        log_noise = np.clip(np.log(max(noise, SMALLEST_NOISE * largest)), low, high - STRIDE)
        best = result = self._maximise(samples, float(np.exp(log_noise)))
        start, too_many, too_few = None, False, False
        for _ in range(SEARCH_STEPS):
            found = int(np.count_nonzero(result.weights))
            if _is_closer(found, int(np.count_nonzero(best.weights)), n_basis):
                best = result
            if found == n_basis or high - low < 1e-4:
                break
            if found > n_basis or not too_many:
                start = result.weights
            if found > n_basis:
                low, too_many = log_noise, True
            else:
                high, too_few = log_noise, True
            log_noise = (low + high) / 2
            if not too_many:
                log_noise = max(log_noise, high - STRIDE)
            elif not too_few:
                log_noise = min(log_noise, low + STRIDE)
            result = self._maximise(samples, float(np.exp(log_noise)), start)
        return best

    def _set_components(self, kernel, samples, centred):
        """Components of the weighted samples; ``centred``: coordinates of the centred samples, or None."""
        n, chosen = samples.shape[0], self.basis_indices_
        root = np.sqrt(self.weights_[chosen])[:, None]
        if centred is None:
            points = take_rows(samples, chosen)
            # A frame of these points alone keeps the components an expansion over them.
            frame = Frame.of(kernel, points, rank_tolerance(n)) if len(chosen) else None
            coordinates = np.add(*_coordinates(frame)) if len(chosen) else np.zeros((0, 0))
        else:
            points, coordinates = samples, centred[chosen]
        left, singular, right = np.linalg.svd(root * coordinates, full_matrices=False)
        limit = numerical_rank(singular**2, rank_tolerance(n))
        rank = check_n_components(self.n_components, limit)
        self.eigenvalues_ = singular[:rank] ** 2
        mean = None
        if centred is not None:
            coefficients = np.zeros((n, rank))
            coefficients[chosen] = root * left[:, :rank] / singular[:rank]
            coefficients -= coefficients.mean(axis=0)
            expansion = Expansion(points, fix_signs(coefficients), np.zeros(rank))
            mean = sample_mean(samples)
        elif rank:
            directions = fix_signs(right[:rank].T)
            expansion = frame.expand(directions)
        else:
            expansion = Expansion(points, np.zeros((len(chosen), 0)), np.zeros(0))
        self.operator_ = FeatureOperator(kernel, expansion, mean=mean, orthonormal=True)


@dataclass(frozen=True, eq=False)
class _Result:
    weights: np.ndarray
    noise_variance: float
    log_likelihood: np.ndarray
    converged: bool = True


def _is_closer(found: int, best: int, wanted: int) -> bool:
    return (found == 0, abs(found - wanted), found) < (best == 0, abs(best - wanted), best)


def _starting_weights(samples: WeightedSamples, noise_variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Equal weights of evenly spaced samples: several for each direction that stands out of the noise."""
    n = samples.n_samples
    directions = int(np.count_nonzero(samples.variances > noise_variance))
    count = min(n, max(4 * directions, 4 * FEWEST_WORKING))
    working = np.arange(count) * n // count
    weights = np.zeros(n)
    weights[working] = 1.0 / count
    return weights, working


def _coordinates(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the frame's own points in it about their mean, one row per point, and the mean.

    The first columns of the frame are eigenvectors of the centred Gram matrix over the roots of their
    eigenvalues, so that the latter are the inverse squares of their lengths.
    """
    coefficients, mean = frame.vectors.coefficients, frame.mean_coordinates
    spread = coefficients[:, frame.vectors.totals == 0]
    along = spread / np.einsum("ij,ij->j", spread, spread)
    extra = coefficients.shape[1] - spread.shape[1]
    return np.column_stack([along, np.zeros((len(along), extra))]), mean
