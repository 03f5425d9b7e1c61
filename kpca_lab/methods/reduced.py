"""Kernel PCA of the basis samples alone."""

from typing import Any, Self

from kpca_lab.distances import Rows
from kpca_lab.methods.base import check_center
from kpca_lab.methods.basis import BasisEstimator, choose_basis
from kpca_lab.methods.full import kpca


class ReducedKPCA(BasisEstimator):
    """Kernel PCA of a subset of the samples, the rest being ignored (Washizawa 2012, Section 6.1, item 3).

    Parameters
    ----------
    n_components : int, float or None
        Number of components, or the share of the variance that they are to explain (0.9); all with a
        non-zero eigenvalue by default.
    kernel : str or callable
        A name of :data:`kpca_lab.kernels.KERNELS`, which are scikit-learn's, or a function of two rows.
    gamma : float, "scale", "median" or None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`; ``1 / n_features`` by default.
    degree, coef0, kernel_params
        Further parameters of the kernel, as in scikit-learn.
    n_basis : int, float or "auto"
        Number of samples in the subset, or their share of all samples; by default ``10 sqrt(n)`` of ``n``
        samples, see :func:`kpca_lab.methods.basis.basis_size`.
    selector : str or object
        How they are chosen, see :mod:`kpca_lab.selectors`.
    basis : array-like, optional
        Sample numbers or points to use instead of ``n_basis`` and ``selector``.
    center : bool or "basis"
        Whether to subtract the mean of the subset in feature space.
    random_state : int, RandomState or None
        For the selector.

    Attributes
    ----------
    operator_ : FeatureOperator
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the kernel matrix of the subset.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variances of the subset along the components, and their shares of its ``total_variance_``.
    basis_ : ndarray of shape (n_basis, n_features)
    basis_indices_ : ndarray of shape (n_basis,) or None

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import ReducedKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> ReducedKPCA(n_components=5, n_basis=50, random_state=0).fit(X).operator_.points.shape
    (50, 2)
    """

    _keeps_samples = False

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Choose the subset and find its components."""
        center = check_center(self.center, {False: None, True: "basis", "basis": "basis"})
        samples, kernel = self._start(X)
        basis = choose_basis(self, samples, kernel, self.n_components, center=center)
        self.basis_, self.basis_indices_ = basis.points, basis.indices
        self.eigenvalues_, _, self.operator_, total = kpca(
            kernel, basis.points, self.n_components, center=center is not None
        )
        self._set_variances(total, basis.points.shape[0])
        return self
