"""Pre-images learned by kernel ridge regression, for kernels whose pre-images cannot be computed."""

from numbers import Real

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist, pdist

# Ridges that leave-one-out errors decide between; the kernel matrix has a diagonal of ones.
RIDGES = 10.0 ** np.arange(-8, 3)
# Pairs that the regression is learned from, at most: its work grows with the cube of their number.
MOST_PAIRS = 2000


class RidgePreimage:
    """Regression of inputs on their components (Bakır et al. 2004), a Gaussian kernel between the components.

    The width of that kernel is the median distance of the components; what the regression learns are
    deviations from the mean input, so that components far from all others are mapped to that.

    Parameters
    ----------
    components : ndarray of shape (n_pairs, n_components)
        Of more than 2000 pairs as many are used, evenly spaced.
    targets : ndarray of shape (n_pairs, n_features)
        The inputs that have these components.
    alpha : float, optional
        Ridge that is added to the diagonal of the kernel matrix. By default the one with the least
        leave-one-out error among eleven, from 1e-8 to 100.

    References
    ----------
    .. [1] G. H. Bakır, J. Weston, B. Schölkopf, "Learning to find pre-images", NIPS 16 (2004).
    """

    def __init__(self, components: np.ndarray, targets: np.ndarray, *, alpha: float | None = None):
        if alpha is not None and not (isinstance(alpha, Real) and 0 < alpha < np.inf):
            raise ValueError(f"alpha must be a finite number > 0 or None, got {alpha!r}.")
        if len(components) > MOST_PAIRS:
            chosen = np.linspace(0, len(components) - 1, MOST_PAIRS).astype(np.intp)
            components, targets = components[chosen], targets[chosen]
        self._components = components
        median = float(np.median(pdist(components))) if len(components) > 1 else 0.0
        self._width = median or 1.0
        self._mean = targets.mean(axis=0)
        deviations = targets - self._mean
        eigenvalues, vectors = eigh(self._kernel(components), driver="evd")
        eigenvalues = np.maximum(eigenvalues, 0.0)
        along = vectors.T @ deviations
        if alpha is None:
            alpha = min(RIDGES, key=lambda ridge: _left_out_error(eigenvalues, vectors, along, ridge))
        self.alpha_ = float(alpha)
        self._weights = vectors @ (along / (eigenvalues + self.alpha_)[:, None])

    def __call__(self, components: np.ndarray) -> np.ndarray:
        """Inputs for the given components, one row for each."""
        return self._mean + self._kernel(components) @ self._weights

    def _kernel(self, components: np.ndarray) -> np.ndarray:
        distances = cdist(components / self._width, self._components / self._width, "sqeuclidean")
        return np.exp(-distances / 2)


def _left_out_error(eigenvalues: np.ndarray, vectors: np.ndarray, along: np.ndarray, ridge: float) -> float:
    """Mean squared error of each pair when the regression is learned from all others."""
    left = ridge / (eigenvalues + ridge)
    # With H = K (K + ridge)^-1 the error of a pair that was left out is (y - H y)_i / (1 - H_ii).
    residuals = vectors @ (left[:, None] * along)
    return float(np.mean((residuals / (vectors**2 @ left)[:, None]) ** 2))
