"""What all estimators share: parameters of the kernel, validation, transform by the fitted operator."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kpca_lab.distances import Rows
from kpca_lab.kernel_checks import check_differs, check_positive, check_range, symmetric
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.operator import FeatureOperator
from kpca_lab.preimage import inverse_transform
from kpca_lab.row_source import RowSource
from kpca_lab.rows import is_row_source
from kpca_lab.widths import resolve_gamma


class OperatorEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer whose ``fit`` finds a :class:`~kpca_lab.operator.FeatureOperator`.

    A subclass assigns its parameters in ``__init__`` (``kernel``, ``gamma``, ``degree``, ``coef0`` and
    ``kernel_params`` among them) and in ``fit`` calls :meth:`_start`, sets ``operator_`` and
    ``eigenvalues_``, and calls :meth:`_set_variances`.

    Attributes
    ----------
    operator_ : FeatureOperator
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares of the training samples along the components, or what the method has for them.
    gamma_ : float or None
        The width that was used: the number that ``gamma`` stands for (None for a callable and a precomputed
        kernel).
    total_variance_ : float
        Mean squared distance in feature space of the training samples from what is subtracted of them.
    explained_variance_ : ndarray of shape (n_components,)
        Mean squares of the training samples along the components, ``eigenvalues_ / n``: what is left of
        the total is the empirical error, where the components are orthonormal.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Their shares of the total variance, not only of what was kept.
    """

    operator_: FeatureOperator
    eigenvalues_: np.ndarray
    gamma_: float | None
    total_variance_: float
    explained_variance_: np.ndarray
    explained_variance_ratio_: np.ndarray
    _accepts_sparse = True

    @property
    def _keeps_samples(self) -> bool:
        """Whether the fitted model holds on to the training samples, which are then copied."""
        return True

    def _start(self, X: Rows, *, min_samples: int = 1, reset: bool = True) -> tuple[np.ndarray, Kernel]:
        """Validate the training data and build the kernel.

        Returns
        -------
        samples : the validated data; for a precomputed kernel, the numbers of the samples
        kernel : Kernel
        """
        X = self._validated(
            X,
            reset=reset,
            ensure_min_samples=min_samples,
            copy=self._keeps_samples or (isinstance(self.kernel, str) and self.kernel == "precomputed"),
        )
        kernel = self._make_kernel(X, X.shape[1], reset)
        centred = bool(getattr(self, "center", True))
        check_range(kernel, X, training=reset)
        samples = X
        if kernel.name == "precomputed":
            samples = np.arange(len(X))
            kernel = Kernel("precomputed", gram=symmetric(X, centred=centred))
        if reset:
            check_positive(kernel, samples, centred=centred)
            if centred:
                check_differs(kernel, samples)
        return samples, kernel

    def _validated(self, X: Rows, **options: Any) -> Rows:
        """The samples as an array or CSR matrix of finite numbers, in double or single precision."""
        refuse_row_source(self, X)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite gets an error, not warnings
            return validate_data(
                self,
                X,
                dtype=[np.float64, np.float32],
                accept_sparse="csr" if self._accepts_sparse else False,
                **options,
            )

    def _make_kernel(self, X, n_features: int, reset: bool) -> Kernel:
        """The kernel that the parameters ask for; its width is found from ``X`` if ``reset``."""
        if callable(self.kernel) or self.kernel == "precomputed":
            self.gamma_ = None
        elif reset:
            self.gamma_ = resolve_gamma(self.gamma, X)
        return make_kernel(
            self.kernel,
            gamma=self.gamma if callable(self.kernel) else self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            n_features=n_features,
        )

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _samples(self, X: Rows) -> Rows:
        """Validate samples that are not for training."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        check_range(self.operator_.kernel, X, training=False)
        return X

    def transform(self, X: Rows) -> np.ndarray:
        """Project samples on the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With a precomputed kernel, the kernel values with all training samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The components of each sample, in single precision if the samples are.
        """
        X = self._samples(X)
        return in_precision(self.operator_.transform(X), X.dtype)

    def inverse_transform(
        self, X: ArrayLike, *, targets: ArrayLike | None = None, alpha: float | None = None
    ) -> np.ndarray:
        """Points of the input space whose feature vectors come nearest to the given components.

        For the kernels rbf, linear and poly they are searched for, for all others the way back is
        learned by ridge regression, see :func:`kpca_lab.preimage.inverse_transform`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Components, as ``transform`` gives them.
        targets : array-like of shape (n_training_samples, n_features), default=None
            With a precomputed kernel, the inputs that its training samples stand for.
        alpha : float, default=None
            Ridge of the regression, found by leave-one-out errors if not given.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            A point for each row.
        """
        check_is_fitted(self)
        components = check_array(X, dtype=[np.float64, np.float32], ensure_min_features=0)
        if components.shape[1] != self.n_components_:
            raise ValueError(
                f"Expected {self.n_components_} components in each row, got {components.shape[1]}."
            )
        found = inverse_transform(self.operator_, components, targets=targets, alpha=alpha)
        return in_precision(found, components.dtype)

    def score(self, X: Rows, y: Any = None) -> float:
        """The share of the variance of samples, in feature space, that the components reconstruct.

        One less the empirical error over the mean squared distance of the samples from the model's mean: 1 is
        perfect, 0 is as good as no components. On samples held out it can be used to choose ``n_basis``,
        a selector or a method. It grows with ``n_components`` as long as the components are orthonormal, so
        take the least number that is good enough, for instance by the ``refit`` of
        :class:`~sklearn.model_selection.GridSearchCV`. It cannot choose ``gamma`` or the kernel: each has
        a feature space of its own, and the smaller ``gamma`` is, the easier is the reconstruction in it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Not possible with a precomputed kernel, which does not tell ``k(x, x)`` of new samples.
        y : None
            Ignored.

        Returns
        -------
        float
            At most 1. Samples that all lie at the mean have nothing to reconstruct: 1.
        """
        X = self._samples(X)
        return variance_share(self.operator_.residual(X), self.operator_.centred_square_norm(X))

    def _set_variances(self, total: float, n_samples: int, sums: np.ndarray | None = None) -> None:
        """Set what the components explain.

        ``sums`` are the sums of squares along the components of ``n_samples`` samples, ``eigenvalues_`` by
        default, and ``total`` is the sum of all their squares.
        """
        sums, total = self.eigenvalues_ if sums is None else sums, max(float(total), 0.0)
        self.total_variance_ = total / n_samples
        self.explained_variance_ = sums / n_samples
        self.explained_variance_ratio_ = sums / total if total > 0 else np.zeros(len(sums))

    @property
    def n_components_(self) -> int:
        """Number of components found: at most ``n_components``, fewer where the rank is lower."""
        return self.operator_.rank

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "operator_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        tags.input_tags.sparse = self._accepts_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def refuse_row_source(estimator: BaseEstimator, X: Any) -> None:
    """Raise a TypeError for samples that would have to be read in blocks, and are no array."""
    if is_row_source(X) and not hasattr(X, "__array__"):
        raise TypeError(
            f"{type(estimator).__name__} needs its samples as one array, got {type(X).__name__}. SubsetKPCA "
            "and ImprovedKPCA read them from a path, from chunks and other sources of rows, with any kernel "
            "but 'precomputed'; for the others, load them or stack the chunks first."
        )


def check_n_components(n_components: int | float | None, limit: int) -> int:
    """The number of components to look for: ``n_components``, or ``limit`` if that is None or lower.

    A share of the variance, such as 0.9, asks for all: :func:`n_components_kept` then tells how many to keep.
    """
    if n_components is None or is_share(n_components):
        return limit
    if isinstance(n_components, bool) or not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(
            "n_components must be an integer >= 1, a share of the variance between 0 and 1, or None, got "
            f"{n_components!r}."
        )
    return min(int(n_components), limit)


def is_share(n_components: int | float | None) -> bool:
    """Whether ``n_components`` is a share of the variance, a number between 0 and 1."""
    return isinstance(n_components, Real) and not isinstance(n_components, Integral) and 0 < n_components < 1


def refuse_share(n_components: int | float | None, method: str) -> None:
    """Raise a ValueError for a share of the variance, where the number must be known beforehand."""
    if is_share(n_components):
        raise ValueError(
            f"{method} must know the number of components before it begins: n_components={n_components!r} "
            "has no meaning, give an integer."
        )


def n_components_kept(n_components: int | float | None, eigenvalues: np.ndarray, total: float) -> int:
    """How many components to keep of those that were found, largest eigenvalues first.

    All, unless ``n_components`` is a share of the variance: then the least number whose eigenvalues make
    up more than this share of ``total``, as in :class:`sklearn.decomposition.PCA`.
    """
    if n_components is None or not is_share(n_components):
        return len(eigenvalues)
    reached = np.cumsum(eigenvalues) > n_components * total
    return int(reached.argmax()) + 1 if reached.any() else len(eigenvalues)


def variance_share(residuals: np.ndarray, squares: np.ndarray) -> float:
    """One less the sum of ``residuals`` over that of ``squares``, and 1 where all squares are zero."""
    total = float(np.sum(squares))
    return 1.0 - float(np.sum(residuals)) / total if total > 0 else 1.0


def check_size(name: str, size: int | float, n_samples: int) -> int:
    """A number of samples given as an integer, or as a fraction of all."""
    if isinstance(size, Integral) and not isinstance(size, bool):
        if not 1 <= size <= n_samples:
            raise ValueError(f"{name}={size} must be between 1 and the number of samples, {n_samples}.")
        return int(size)
    if isinstance(size, Real) and not isinstance(size, bool) and 0 < size <= 1:
        return max(1, round(size * n_samples))
    raise ValueError(f"{name} must be an integer or a fraction in (0, 1], got {size!r}.")


def check_center(center: bool | str, choices: dict) -> str | None:
    """The centroid that ``center`` stands for; ``choices`` maps what a method accepts to its meaning."""
    if not isinstance(center, (bool, np.bool_, str)) or center not in choices:
        raise ValueError(f"center must be one of {list(choices)}, got {center!r}.")
    return choices[center]


def in_precision(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values in the precision of the samples that they belong to, if they fit in."""
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest > np.finfo(dtype).max:
        raise ValueError(f"Values up to {largest:.3g} do not fit into {dtype}: give samples as float64.")
    return values.astype(dtype, copy=False)


def take_rows(X: Rows, rows: np.ndarray) -> Rows:
    """Rows of an array, sparse matrix or source, as an array of their own that does not hold on to ``X``."""
    if isinstance(X, RowSource):
        return X.take(rows)
    return X[rows] if sparse.issparse(X) else np.array(X[rows])
