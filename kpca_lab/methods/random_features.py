"""PCA of random Fourier features: kernel PCA of a random kernel that is close to the wanted one."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kpca_lab.kernels import row_blocks
from kpca_lab.linalg import numerical_rank, rank_tolerance, top_eigenpairs
from kpca_lab.methods.base import check_center, check_n_components, n_components_kept, refuse_row_source
from kpca_lab.widths import resolve_gamma

KERNELS = ("rbf", "laplacian")


class RandomFeatureKPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear PCA of random Fourier features.

    A kernel ``k(x - y)`` is the mean of ``cos(w'(x - y))`` over random frequencies ``w``. With F of them the
    features ``cos(w'x)`` and ``sin(w'x)``, over the square root of F, have inner products that come near to
    the kernel, with an error of the order ``F^-1/2`` at most, whatever the samples are. PCA of the features
    is what is left to do. Samples are read in blocks, so memory is O(n_random_features^2) beside the data.

    It is the only method of this package that does not end in an operator over samples: the components
    lie in the space of the features, not in that of the kernel. So errors in feature space, distances of
    operators and pre-images are not defined for it; :func:`kpca_lab.metrics.residual_outside_scores`
    compares it with the others.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they must explain, such as 0.9; all with a
        non-zero eigenvalue by default.
    kernel : {"rbf", "laplacian"}, default="rbf"
        The frequencies are normal with variance ``2 gamma`` for the Gaussian kernel, and Cauchy variables
        of scale ``gamma`` for the Laplacian one.
    gamma : float, "scale", "median" or None, default=None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`; ``1 / n_features`` by default.
    n_random_features : int, default=500
        Number of features, two for each frequency; an odd number counts as the next even one.
    orthogonal : bool, default=False
        Whether the frequencies are orthogonal to each other in groups of ``n_features``, which lowers the
        error of the kernel. For the Gaussian kernel only.
    center : bool, default=True
        Whether to subtract the mean of the features.
    random_state : int, RandomState or None, default=None
        For the frequencies.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares of the training samples along the components.
    components_ : ndarray of shape (n_components, n_random_features)
        Directions in the space of the features.
    explained_variance_ : ndarray of shape (n_components,)
        ``eigenvalues_`` divided by the number of samples.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the total variance of the features.
    total_variance_ : float
        Mean squared length of the samples' features, less their mean if centred.
    frequencies_ : ndarray of shape (n_features, n_random_features / 2)
        The random frequencies.
    gamma_ : float
        The width that was used.
    n_components_ : int
        Number of components found.
    n_samples_seen_ : int
        Number of samples fitted so far.

    See Also
    --------
    SubsetKPCA : Components in the span of some samples.
    sklearn.kernel_approximation.RBFSampler : Features of the form ``cos(w'x + b)``, of higher variance.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS 20 (2007).
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar, "Orthogonal random features",
       NIPS 29 (2016).
    .. [3] D. Lopez-Paz, S. Sra, A. Smola, Z. Ghahramani, B. Schölkopf, "Randomized nonlinear component
       analysis", ICML (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import RandomFeatureKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> model = RandomFeatureKPCA(n_components=3, n_random_features=200, random_state=0).fit(X)
    >>> model.transform(X).shape
    (500, 3)
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma=None,
        n_random_features=500,
        orthogonal=False,
        center=True,
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.n_random_features = n_random_features
        self.orthogonal = orthogonal
        self.center = center
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the frequencies and find the components of the features of ``X``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        center = check_center(self.center, {False: None, True: "mean"})
        n_frequencies = self._check_parameters()
        X = self._validated(X, reset=True)
        check_n_components(self.n_components, 1)
        self.gamma_ = resolve_gamma(self.gamma, X)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        draw = _orthogonal_normal if self.orthogonal else _independent(self.kernel)
        scale = self.gamma_ if self.kernel == "laplacian" else np.sqrt(2 * self.gamma_)
        self.frequencies_ = scale * draw(rng, X.shape[1], n_frequencies)
        # The kernel does not see a shift, which turns the features; small phases have more digits.
        with np.errstate(over="ignore", invalid="ignore"):
            self._origin = 0.0 if sparse.issparse(X) else X.mean(axis=0, dtype=np.float64)
        mean, scatter = self._sums(X)
        if not center:
            mean = mean + self._constant()
            scatter += X.shape[0] * np.outer(mean, mean)
        self._subtracted = mean if center else -self._constant()
        self._solve(scatter, X.shape[0])
        return self

    def _check_parameters(self) -> int:
        if not isinstance(self.kernel, str) or self.kernel not in KERNELS:
            raise ValueError(f"kernel={self.kernel!r} has no random features here: choose from {KERNELS}.")
        if not isinstance(self.orthogonal, (bool, np.bool_)):
            raise ValueError(f"orthogonal must be True or False, got {self.orthogonal!r}.")
        if self.orthogonal and self.kernel != "rbf":
            raise ValueError(
                f"orthogonal=True needs frequencies without a preferred direction, which kernel="
                f"{self.kernel!r} does not have: choose kernel='rbf' or orthogonal=False."
            )
        size = self.n_random_features
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
            raise ValueError(f"n_random_features must be an integer >= 1, got {size!r}.")
        return (int(size) + 1) // 2

    def _validated(self, X, *, reset: bool):
        refuse_row_source(self, X)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _features(self, X) -> np.ndarray:
        """``cos(w'x) - 1`` and ``sin(w'x)``: what is left without the constant part of the kernel."""
        with np.errstate(over="ignore", invalid="ignore"):
            phases = (X if sparse.issparse(X) else X - self._origin) @ self.frequencies_
        if not np.isfinite(phases).all():
            raise ValueError(f"gamma={self.gamma_:.3g} overflows on these samples: rescale them.")
        features = np.empty((phases.shape[0], 2 * phases.shape[1]))
        cosines, sines = np.split(features, 2, axis=1)
        np.sin(phases, out=sines)
        np.sin(phases / 2, out=cosines)
        np.square(cosines, out=cosines)
        cosines *= -2
        features /= np.sqrt(phases.shape[1])
        return features

    def _constant(self) -> np.ndarray:
        """The features of the origin, which :meth:`_features` leaves out."""
        n_frequencies = self.frequencies_.shape[1]
        return np.repeat([1.0 / np.sqrt(n_frequencies), 0.0], n_frequencies)

    def _blocks(self, X):
        width = max(2 * self.frequencies_.shape[1], X.shape[1])
        return row_blocks(X.shape[0], 8 * width)

    def _sums(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the features, and their scatter matrix about it."""
        size = 2 * self.frequencies_.shape[1]
        reference, total, square = None, np.zeros(size), np.zeros((size, size))
        for rows in self._blocks(X):
            features = self._features(X[rows])
            reference = features.mean(axis=0) if reference is None else reference
            features -= reference
            total += features.sum(axis=0)
            square += features.T @ features
        n = X.shape[0]
        return reference + total / n, square - np.outer(total, total) / n

    def _solve(self, scatter: np.ndarray, n_samples: int) -> None:
        eigenvalues, vectors = top_eigenpairs(scatter, check_n_components(self.n_components, len(scatter)))
        rank = numerical_rank(eigenvalues, rank_tolerance(len(scatter)))
        total = float(np.trace(scatter))
        rank = n_components_kept(self.n_components, eigenvalues[:rank], total)
        self.eigenvalues_, self.components_ = eigenvalues[:rank], vectors[:, :rank].T
        self.n_samples_seen_ = n_samples
        self.total_variance_ = total / n_samples
        self.explained_variance_ = self.eigenvalues_ / n_samples
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else self.eigenvalues_

    def transform(self, X):
        """Project samples on the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples to project.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        scores = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        for rows in self._blocks(X):
            scores[rows] = (self._features(X[rows]) - self._subtracted) @ self.components_.T
        return scores

    @property
    def n_components_(self) -> int:
        """Number of components found: at most ``n_components``, fewer where the rank is lower."""
        return len(self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _independent(kernel: str):
    if kernel == "laplacian":
        return lambda rng, n_features, count: rng.standard_cauchy((n_features, count))
    return lambda rng, n_features, count: rng.standard_normal((n_features, count))


def _orthogonal_normal(rng, n_features: int, count: int) -> np.ndarray:
    """Columns that are normal vectors each, and orthogonal in groups of ``n_features``."""
    groups = []
    for start in range(0, count, n_features):
        size = min(n_features, count - start)
        directions, triangle = np.linalg.qr(rng.standard_normal((n_features, size)))
        directions *= np.where(triangle.diagonal() < 0, -1.0, 1.0)  # else not all turns are equally likely
        groups.append(directions * np.sqrt(rng.chisquare(n_features, size)))
    return np.hstack(groups)
