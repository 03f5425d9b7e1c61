"""Pre-images: points whose images in feature space come closest to given feature vectors."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from kpca_lab.distances import densify
from kpca_lab.kernels import Kernel, row_blocks
from kpca_lab.operator import Expansion, FeatureOperator
from kpca_lab.projector import projector
from kpca_lab.ridge_preimage import RidgePreimage

# An inner product <u, phi(z)> below this share of what its terms add up to in magnitude counts as zero.
VANISHING = 1e-10


def preimage(
    kernel: Kernel,
    expansion: Expansion,
    *,
    start: np.ndarray | None = None,
    up_to_scale: bool = False,
    tol: float = 1e-6,
    max_iter: int = 100,
    n_restarts: int = 3,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Points ``z`` that minimise ``||phi(z) - u||^2`` for each vector ``u`` of an expansion.

    For the Gaussian kernel this is the fixed-point iteration of Mika et al. [1]_, for all vectors at once.
    The linear kernel has exact pre-images, and for the polynomial kernel the distance is minimised
    by L-BFGS, one vector after the other.

    Parameters
    ----------
    kernel : Kernel
        Gaussian ("rbf"), linear, or polynomial of integer degree with ``coef0 >= 0``.
    expansion : Expansion
        The vectors.
    start : ndarray of shape (n_vectors, n_features), default=None
        Where to start; by default at the point of the expansion that comes closest.
    up_to_scale : bool, default=False
        Look for the ``z`` whose best multiple of ``phi(z)``, of either sign, comes closest to ``u``:
        it maximises ``<u, phi(z)>^2 / k(z, z)``, for the polynomial kernel within the box of the points.
    tol : float, default=1e-06
        An iteration has converged when its step falls below ``tol`` times the spread of the points.
    max_iter : int, default=100
        Limit of steps from each start.
    n_restarts : int, default=3
        How often to start again, from the closest point and then from random convex
        combinations of the points, where ``<u, phi(z)>`` vanishes or turns negative on the way.
    rng : numpy Generator, default=None
        For the random starts; a fixed seed by default.

    Returns
    -------
    ndarray of shape (n_vectors, n_features)
        Always finite: where no start converges, the point visited that came closest.

    References
    ----------
    .. [1] S. Mika, B. Schölkopf, A. Smola, K.-R. Müller, M. Scholz, G. Rätsch, "Kernel PCA and
       de-noising in feature spaces", NIPS 11 (1999).
    .. [2] B. Schölkopf, A. Smola, "Learning with Kernels", MIT Press (2002), Chapter 18.
    """
    check_has_preimages(kernel)
    points = densify(expansion.points)
    kernel = kernel.anchored(points)
    origin = kernel.origin
    expansion = replace(expansion, points=np.asarray(points, dtype=np.float64))
    if kernel.name == "linear":
        shifted = expansion.points - origin
        return expansion.coefficients.T @ shifted + np.outer(expansion.totals, origin)

    search = _Search(kernel, up_to_scale, tol, max_iter, n_restarts, rng or np.random.default_rng(0))
    found = np.empty((expansion.coefficients.shape[1], len(origin)))
    for rows in row_blocks(len(found), 8 * max(expansion.points.shape)):
        found[rows] = search.solve(expansion.columns(rows), None if start is None else start[rows])
    return found


def inverse_transform(
    operator: FeatureOperator,
    components: ArrayLike,
    *,
    targets: ArrayLike | None = None,
    alpha: float | None = None,
    **options: Any,
) -> np.ndarray:
    """Points whose images come closest to the feature vectors with the given components.

    Of all feature vectors with these components it is the one nearest to the mean, the least-squares
    inverse: ``inverse_transform(operator, operator.transform(X))`` comes close to ``X`` also where the
    components are not orthonormal. :func:`denoise` reconstructs by the operator itself.

    For kernels other than rbf, linear and poly (of integer degree, with ``coef0 >= 0``) the map back is
    learned from the operator's points, by :class:`kpca_lab.ridge_preimage.RidgePreimage`.

    Parameters
    ----------
    operator : FeatureOperator
        The operator that the components are of.
    components : array-like of shape (n_samples, rank)
        As from ``operator.transform``.
    targets : array-like of shape (n_training_samples, n_features), optional
        What to map back to, learned by ridge regression: needed with a precomputed kernel, one row for
        each training sample. Not accepted with other kernels, whose operators hold their points.
    alpha : float, optional
        Ridge of that regression, found by leave-one-out errors if not given.
    **options
        ``tol``, ``max_iter``, ``n_restarts`` and ``rng`` of :func:`preimage`.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
    """
    components = np.asarray(components, dtype=np.float64)
    if components.ndim != 2 or components.shape[1] != operator.rank:
        raise ValueError(
            f"components must have one column for each of the {operator.rank} components of the operator, "
            f"got shape {components.shape}."
        )
    orthonormal, turn = projector(operator)
    if has_preimages(operator.kernel):
        _check_no_targets(targets)
        return _reconstruct(orthonormal, components @ turn, None, options)
    points = operator.points
    if operator.kernel.name == "precomputed":
        inputs = _check_targets(targets, operator)[points]
    else:
        _check_no_targets(targets)
        inputs = np.asarray(densify(points), dtype=np.float64)
    learned = RidgePreimage(orthonormal.transform(points), inputs, alpha=alpha)
    return learned(components @ turn)


def _check_no_targets(targets: ArrayLike | None) -> None:
    if targets is not None:
        raise ValueError("targets are for kernel='precomputed': other kernels know their points.")


def _check_targets(targets: ArrayLike | None, operator: FeatureOperator) -> np.ndarray:
    n_samples = operator.kernel.gram.shape[0]
    if targets is None:
        raise ValueError(
            "Pre-images with kernel='precomputed' need targets, a row of the input space for each of the "
            f"{n_samples} training samples: inverse_transform(X, targets=inputs)."
        )
    inputs = check_array(targets, dtype=np.float64, input_name="targets")
    if len(inputs) != n_samples:
        raise ValueError(
            f"targets must have a row for each of the {n_samples} training samples, got {len(inputs)}."
        )
    return inputs


def denoise(operator: FeatureOperator, X: ArrayLike, **options: Any) -> np.ndarray:
    """Apply an operator to samples and return the points that come closest to the results.

    Parameters
    ----------
    operator : FeatureOperator
        What the samples are projected by, ``operator_`` of an estimator.
    X : array-like of shape (n_samples, n_features)
        Each search starts at the sample itself.
    **options
        ``tol``, ``max_iter``, ``n_restarts`` and ``rng`` of :func:`preimage`.

    Returns
    -------
    ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import FullKPCA
    >>> from kpca_lab.preimage import denoise
    >>> angle = np.linspace(0, 6, 100)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> noisy = ring + 0.1 * np.random.default_rng(0).standard_normal(ring.shape)
    >>> clean = denoise(FullKPCA(n_components=4, gamma=0.5).fit(noisy).operator_, noisy)
    >>> bool(np.abs(np.linalg.norm(clean, axis=1) - 1).mean() < 0.05)
    True
    """
    check_has_preimages(operator.kernel)
    X = np.asarray(X, dtype=np.float64)
    return _reconstruct(operator, operator.transform(X), X, options)


def has_preimages(kernel: Kernel) -> bool:
    """Whether :func:`preimage` can search for pre-images of this kernel."""
    try:
        check_has_preimages(kernel)
    except ValueError:
        return False
    return True


def check_has_preimages(kernel: Kernel) -> None:
    """Raise a ValueError for a kernel whose pre-images cannot be searched for."""
    if kernel.name not in ("rbf", "linear", "poly"):
        raise ValueError(
            f"There is no search for pre-images of the {kernel.name} kernel, only of rbf, linear and poly; "
            "inverse_transform learns them from examples."
        )
    if kernel.name == "poly" and not (isinstance(kernel.degree, Integral) and kernel.degree >= 1):
        raise ValueError(f"Pre-images of the poly kernel need an integer degree >= 1, got {kernel.degree!r}.")
    if kernel.name == "poly" and kernel.coef0 < 0:
        raise ValueError(f"Pre-images of the poly kernel need coef0 >= 0, got {kernel.coef0!r}.")


def _reconstruct(operator, components, start, options) -> np.ndarray:
    rows_of_points = operator.points.shape[0]
    if operator.mean is not None and operator.mean.points is not operator.points:
        rows_of_points += operator.mean.points.shape[0]
    options = {"rng": np.random.default_rng(0)} | options
    found = np.empty((len(components), operator.points.shape[1]))
    for rows in row_blocks(len(components), 8 * rows_of_points):
        vectors = operator.synthesize(components[rows])
        found[rows] = preimage(
            operator.kernel, vectors, start=None if start is None else start[rows], **options
        )
    return found


@dataclass(frozen=True)
class _Search:
    """The search for pre-images from one start after the other."""

    kernel: Kernel
    up_to_scale: bool
    tol: float
    max_iter: int
    n_restarts: int
    rng: np.random.Generator

    def solve(self, expansion: Expansion, start: np.ndarray | None) -> np.ndarray:
        """Pre-images of all vectors of the expansion."""
        first = self._closest_points(expansion) if start is None else start
        if self.up_to_scale:
            expansion = self._turned_towards(expansion, first)
        descend = self._gaussian if self.kernel.name == "rbf" else self._polynomial

        found, distance, failed = descend(expansion, first)
        for attempt in range(self.n_restarts):
            left = np.flatnonzero(failed)
            if not len(left):
                break
            remaining = expansion.columns(left)
            new_start = self._random_points if attempt or start is None else self._closest_points
            other, other_distance, failed[left] = descend(remaining, new_start(remaining))
            better = other_distance < distance[left]
            found[left[better]], distance[left[better]] = other[better], other_distance[better]
        return found

    def _closest_points(self, expansion: Expansion) -> np.ndarray:
        points = expansion.points
        along, square = expansion.evaluate(self.kernel, points), self.kernel.diagonal(points)[:, None]
        if self.up_to_scale:
            closeness = np.abs(along) / np.sqrt(np.maximum(square, np.finfo(np.float64).tiny))
        else:
            closeness = along - square / 2
        return points[closeness.argmax(axis=0)]

    def _random_points(self, expansion: Expansion) -> np.ndarray:
        n_vectors, points = expansion.coefficients.shape[1], expansion.points
        # Three points at a time: a combination of all would always lie next to their mean.
        chosen = points[self.rng.integers(len(points), size=(n_vectors, 3))]
        return np.einsum("vk,vkd->vd", self.rng.dirichlet(np.ones(3), size=n_vectors), chosen)

    def _turned_towards(self, expansion: Expansion, Z: np.ndarray) -> Expansion:
        """The vectors or their opposites, whichever have a positive inner product with ``phi(z)``."""
        one_by_one = [expansion.columns([j]).evaluate(self.kernel, z[None])[0, 0] for j, z in enumerate(Z)]
        signs = np.where(np.array(one_by_one) < 0, -1.0, 1.0)
        return replace(
            expansion, coefficients=expansion.coefficients * signs, totals=expansion.totals * signs
        )

    def _gaussian(self, expansion: Expansion, start: np.ndarray):
        """Mika's fixed point ``z <- sum_i g_i k(z, p_i) p_i / sum_i g_i k(z, p_i)``.

        The coefficients ``g`` are often huge and of both signs, and add up to little. So the kernel is
        split as ``1 + expm1(...)``, where the ones meet the known totals, and points are
        taken about their mean.
        """
        gamma, origin = self.kernel.gamma, self.kernel.origin
        points = expansion.points - origin
        point_squares = np.einsum("ij,ij->i", points, points)
        coefficients = np.ascontiguousarray(expansion.coefficients.T)
        moments = coefficients @ points
        threshold = self.tol * np.sqrt(point_squares.mean())

        Z = start - origin
        best, best_value = Z.copy(), np.full(len(Z), -np.inf)
        converged, failed = np.zeros(len(Z), dtype=bool), np.zeros(len(Z), dtype=bool)
        active = np.arange(len(Z))
        for iteration in range(self.max_iter + 1):
            z = Z[active]
            weights = (2 * z) @ points.T
            weights -= point_squares
            weights -= np.einsum("ij,ij->i", z, z)[:, None]
            weights *= gamma
            np.minimum(weights, 0, out=weights)
            np.expm1(weights, out=weights)
            weights *= coefficients if len(active) == len(Z) else coefficients[active]
            totals = expansion.totals[active]
            value = totals + weights.sum(axis=1)  # <u, phi(z)>, largest where the distance is least
            better = value > best_value[active]
            best[active[better]], best_value[active[better]] = z[better], value[better]

            alive = value > VANISHING * (np.abs(totals) + np.abs(weights).sum(axis=1))
            failed[active[~alive]] = True
            if iteration == self.max_iter or not alive.any():
                break
            active = active[alive]
            moved = (moments[active] + weights[alive] @ points) / value[alive, None]
            Z[active] = moved
            near = np.linalg.norm(moved - z[alive], axis=1) <= threshold
            converged[active[near]] = True
            active = active[~near]
            if not len(active):
                break
        found = np.where(converged[:, None], Z, best) + origin
        return found, -2 * best_value, failed

    def _polynomial(self, expansion: Expansion, start: np.ndarray):
        """Minimise the distance, or its counterpart up to scale, by L-BFGS for each vector."""
        points = expansion.points
        # In units of the spread of the points and of the first slope one stopping rule serves all scales.
        spread = np.linalg.norm(points - self.kernel.origin) / np.sqrt(len(points)) or 1.0
        options = {"maxiter": self.max_iter, "ftol": 1e-3 * self.tol**2, "gtol": 1e-3 * self.tol}
        # The cosine with phi(z) is often largest at infinity, so this search stays in the box of the points.
        box = np.array([points.min(axis=0), points.max(axis=0)]) if self.up_to_scale else None
        found, distance = start.astype(np.float64), np.empty(len(start))
        for j, g in enumerate(expansion.coefficients.T):
            objective = self._polynomial_objective(points, g)
            distance[j], slope = objective(found[j])
            unit = spread * np.linalg.norm(slope)
            if unit == 0:
                continue

            def scaled(step, objective=objective, begin=found[j], unit=unit):
                value, slope = objective(begin + spread * step)
                return value / unit, slope * (spread / unit)

            bounds = None if box is None else scipy.optimize.Bounds(*((box - found[j]) / spread))
            result = scipy.optimize.minimize(
                scaled, np.zeros(points.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            if result.fun * unit <= distance[j]:
                found[j] = found[j] + spread * result.x
                distance[j] = result.fun * unit
        return found, distance, np.zeros(len(start), dtype=bool)

    def _polynomial_objective(self, points: np.ndarray, g: np.ndarray):
        gamma, coef0, degree = self.kernel.gamma, self.kernel.coef0, int(self.kernel.degree)

        def distance(z):
            base, own = gamma * (points @ z) + coef0, gamma * (z @ z) + coef0
            along, power = g @ base**degree, own ** (degree - 1)
            slope = (g * base ** (degree - 1)) @ points
            return power * own - 2 * along, 2 * degree * gamma * (power * z - slope)

        def opposite_cosine(z):
            base, own = gamma * (points @ z) + coef0, gamma * (z @ z) + coef0
            if own <= 0:
                return 0.0, np.zeros_like(z)
            along, length = g @ base**degree, own ** (degree / 2)
            slope = (g * base ** (degree - 1)) @ points
            return -along / length, degree * gamma * (along * z / own - slope) / length

        return opposite_cosine if self.up_to_scale else distance
