"""Subspace methods: a sample belongs to the class whose subspace reconstructs it best."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kpca_lab.blas import product
from kpca_lab.distances import Rows
from kpca_lab.methods.base import OperatorEstimator, refuse_row_source
from kpca_lab.methods.full import FullKPCA
from kpca_lab.operator import FeatureOperator
from kpca_lab.widths import resolve_gamma


class SubspaceClassifier(ClassifierMixin, BaseEstimator):
    """Kernel CLAFIC: one operator per class, decided by the least residual (Washizawa 2012, Section 6.4).

    An estimator is fitted to the samples of each class. A new sample goes to the class whose operator X
    leaves the least of it, ``||(phi(x) - mean) - X (phi(x) - mean)||^2`` (Eq. 48, printed with argmax). With
    a linear kernel and ``center=False`` this is CLAFIC.

    Parameters
    ----------
    estimator : estimator of kpca_lab, default=None
        Cloned and fitted for each class; ``FullKPCA(center=False)`` by default.
    n_components : int, default=None
        Number of components to predict with, all that were fitted by default. It may be changed
        after ``fit``. A class with fewer components uses what it has.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    estimators_ : list
        Fitted estimators, in the order of ``classes_``.

    See Also
    --------
    FullKPCA : The default for each class.
    SubsetKPCA : For classes of many samples.

    References
    ----------
    .. [1] E. Oja, "Subspace methods of pattern recognition", Research Studies Press (1983).
    .. [2] E. Maeda, H. Murase, "Multi-category classification by kernel based nonlinear subspace method",
       ICASSP (1999).
    .. [3] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kpca_lab import FullKPCA
    >>> from kpca_lab.classify import SubspaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SubspaceClassifier(FullKPCA(n_components=10, gamma=0.1, center=False)).fit(X, y)
    >>> model.predict(X[:3])
    array([0, 0, 0])
    >>> model.predict_all(X[:3], ranks=[2, 5, 10]).shape
    (3, 3)
    """

    def __init__(self, estimator: OperatorEstimator | None = None, *, n_components: int | None = None):
        self.estimator = estimator
        self.n_components = n_components

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit one operator to the samples of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        estimator = FullKPCA(center=False) if self.estimator is None else self.estimator
        self._check_parameters(estimator)
        refuse_row_source(self, X)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], accept_sparse="csr")
        check_classification_targets(y)
        if getattr(estimator, "kernel", None) == "precomputed":
            raise ValueError("SubspaceClassifier needs the samples themselves, not kernel='precomputed'.")
        if isinstance(getattr(estimator, "gamma", None), str):  # one feature space for all classes
            estimator = clone(estimator).set_params(gamma=resolve_gamma(estimator.gamma, X))
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.estimators_ = []
        for number, name in enumerate(self.classes_):
            try:
                self.estimators_.append(clone(estimator).fit(X[labels == number]))
            except ValueError as error:
                raise ValueError(f"Class {name} cannot be fitted: {error}") from error
        return self

    def _check_parameters(self, estimator: Any) -> None:
        if not isinstance(estimator, OperatorEstimator):
            raise ValueError(
                "estimator must be an estimator of kpca_lab that ends in an operator, such as FullKPCA(), "
                f"got {estimator!r}."
            )
        if self.n_components is not None:
            _check_ranks([self.n_components])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        estimator = FullKPCA() if self.estimator is None else self.estimator
        tags.input_tags.sparse = get_tags(estimator).input_tags.sparse
        return tags

    def residuals(self, X: Rows, n_components: int | Sequence[int] | None = None) -> np.ndarray:
        """Squared distance of samples from the subspace of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_components : int or list of int, optional
            Numbers of components to use, all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples, n_classes, n_numbers) for a list
        """
        check_is_fitted(self)
        refuse_row_source(self, X)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], accept_sparse="csr")
        operators = [estimator.operator_ for estimator in self.estimators_]
        if n_components is None:
            return np.column_stack([operator.residual(X) for operator in operators])
        single = isinstance(n_components, Integral)
        ranks = _check_ranks(np.atleast_1d(n_components) if single else n_components)
        residuals = np.stack([residuals_by_rank(operator, X, ranks) for operator in operators], axis=1)
        return residuals[:, :, 0] if single else residuals

    def decision_function(self, X: Rows) -> np.ndarray:
        """The negative residuals; for two classes, by how much that of the first exceeds the second's.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        residuals = self.residuals(X, self.n_components)
        return residuals[:, 0] - residuals[:, 1] if len(self.classes_) == 2 else -residuals

    def predict(self, X: Rows) -> np.ndarray:
        """The class with the least residual, the first of them in case of a tie.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        nearest = self.residuals(X, self.n_components).argmin(axis=1)
        return self.classes_[nearest]

    def predict_all(self, X: Rows, ranks: Sequence[int]) -> np.ndarray:
        """Predictions with different numbers of components, at the cost of one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        ranks : list of int

        Returns
        -------
        ndarray of shape (n_samples, len(ranks))
        """
        nearest = self.residuals(X, list(ranks)).argmin(axis=1)
        return self.classes_[nearest]


def residuals_by_rank(operator: FeatureOperator, X: Rows, ranks: Sequence[int] | np.ndarray) -> np.ndarray:
    """Residuals of samples for the operator truncated to each of several ranks.

    Parameters
    ----------
    operator : FeatureOperator
    X : ndarray of shape (n_samples, n_features)
    ranks : list of int
        A rank above that of the operator stands for the whole operator.

    Returns
    -------
    ndarray of shape (n_samples, len(ranks))
    """
    ranks = np.minimum(np.asarray(ranks), operator.rank)
    if operator.right is not None:
        distinct, place = np.unique(ranks, return_inverse=True)
        return np.column_stack([operator.truncate(r).residual(X) for r in distinct])[:, place]
    components = operator.transform(X)
    # With u_1..u_r = left, component j adds -2 c_j^2 + c_j (G_jj c_j + 2 sum_{i<j} G_ij c_i) to the residual.
    gram = operator.left_gram
    new_products = np.triu(gram, 1) * 2 + np.diag(gram.diagonal() - 2.0)
    added = np.zeros((len(components), operator.rank + 1))
    np.cumsum(components * product(components, new_products), axis=1, out=added[:, 1:])
    return np.maximum(operator.centred_square_norm(X)[:, None] + added[:, ranks], 0.0)


def _check_ranks(ranks: Any) -> np.ndarray:
    values = np.asarray(ranks)
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iu" or values.min() < 0:
        raise ValueError(f"Numbers of components must be integers >= 0, got {ranks!r}.")
    return values


__all__ = ["SubspaceClassifier", "residuals_by_rank"]
