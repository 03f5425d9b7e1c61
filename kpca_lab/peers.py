"""What scikit-learn offers for the same purpose, with the parameters of this package.

The two transformers do nothing of their own: they build the pipeline that a user of scikit-learn would
write, so that comparisons show what people use today. They end in no operator of this package;
:func:`kpca_lab.metrics.residual_outside_scores` and a downstream task compare them with the others.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from kpca_lab.methods.base import check_n_components, check_size, is_share, refuse_share
from kpca_lab.widths import resolve_gamma

__all__ = ["SklearnKernelPCA", "SklearnNystroem"]


class _Peer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    pipeline_: Pipeline

    def fit(self, X, y=None):
        """Fit the pipeline.

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
        X = validate_data(self, X, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_min_samples=2)
        self.gamma_ = resolve_gamma(self.gamma, X)
        self.pipeline_ = self._pipeline(*X.shape).fit(X)
        return self

    def transform(self, X):
        """Project samples on the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples to project.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Their components.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], accept_sparse="csr")
        return self.pipeline_.transform(X)

    @property
    def n_components_(self) -> int:
        """Number of components found."""
        return len(self.eigenvalues_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SklearnNystroem(_Peer):
    """:class:`sklearn.kernel_approximation.Nystroem`, then :class:`sklearn.decomposition.PCA`.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of that variance that they must explain; as many as there are by
        default.
    kernel : str, default="rbf"
        As in scikit-learn.
    gamma : float, "scale", "median" or None, default=None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    n_basis : int or float, default=100
        Number of samples that Nystroem draws, or their share of all samples.
    random_state : int, RandomState or None, default=None
        For that draw, and for PCA where it is randomized.

    Attributes
    ----------
    pipeline_ : Pipeline
        What was fitted.
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares of the training samples along the components.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the variance that lies in the span of the basis.
    gamma_ : float
        The width that was used.

    See Also
    --------
    kpca_lab.SubsetKPCA : The same components over the same basis, and an operator.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.peers import SklearnNystroem
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> SklearnNystroem(n_components=5, n_basis=50, random_state=0).fit_transform(X).shape
    (300, 5)
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1,
        n_basis=100,
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_basis = n_basis
        self.random_state = random_state

    def _pipeline(self, n_samples, n_features):
        n_basis = min(check_size("n_basis", self.n_basis, max(n_samples, 100)), n_samples)
        features = Nystroem(
            self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            n_components=n_basis,
            random_state=self.random_state,
        )
        n_components = self.n_components
        if not is_share(n_components):
            n_components = check_n_components(n_components, n_basis)
        return make_pipeline(features, PCA(n_components, random_state=self.random_state))

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Sums of squares of the training samples along the components."""
        return self.pipeline_[-1].singular_values_ ** 2

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """Shares of the variance that lies in the span of the basis."""
        return self.pipeline_[-1].explained_variance_ratio_


class SklearnKernelPCA(_Peer):
    """:class:`sklearn.decomposition.KernelPCA`; its kernel matrix takes ``8 n^2`` bytes.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; all with a non-zero eigenvalue by default.
    kernel : str, default="rbf"
        As in scikit-learn.
    gamma : float, "scale", "median" or None, default=None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    eigen_solver : str, default="auto"
        As in scikit-learn.
    random_state : int, RandomState or None, default=None
        For the iterative solvers.

    Attributes
    ----------
    pipeline_ : Pipeline
        What was fitted.
    eigenvalues_ : ndarray of shape (n_components,)
    gamma_ : float
        The width that was used.

    See Also
    --------
    kpca_lab.FullKPCA : The same components, and an operator.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.peers import SklearnKernelPCA
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> SklearnKernelPCA(n_components=5).fit_transform(X).shape
    (300, 5)
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1,
        eigen_solver="auto",
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eigen_solver = eigen_solver
        self.random_state = random_state

    def _pipeline(self, n_samples, n_features):
        n_components = self.n_components
        refuse_share(n_components, "scikit-learn's KernelPCA")
        return make_pipeline(
            KernelPCA(
                None if n_components is None else check_n_components(n_components, n_samples),
                kernel=self.kernel,
                gamma=self.gamma_,
                degree=self.degree,
                coef0=self.coef0,
                eigen_solver=self.eigen_solver,
                random_state=self.random_state,
            )
        )

    @property
    def eigenvalues_(self) -> np.ndarray:
        """The largest eigenvalues of the centred kernel matrix."""
        return self.pipeline_[-1].eigenvalues_
