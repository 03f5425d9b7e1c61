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
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they are to explain (0.9); all with a
        non-zero eigenvalue by default.
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
    n_basis : int, float or "auto", default="auto"
        Number of samples in the subset, or their share of all samples; by default ``10 sqrt(n)`` of ``n``
        samples, see :func:`kpca_lab.methods.basis.basis_size`.
    selector : str or object, default="random"
        How they are chosen, see :mod:`kpca_lab.selectors`.
    basis : array-like, default=None
        Sample numbers or points to use instead of ``n_basis`` and ``selector``.
    center : bool or "basis", default=True
        Whether to subtract the mean of the subset in feature space.
    random_state : int, RandomState or None, default=None
        For the selector.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the kernel matrix of the subset.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variances of the subset along the components, and their shares of its ``total_variance_``.
    basis_ : ndarray of shape (n_basis, n_features)
        The basis points.
    basis_indices_ : ndarray of shape (n_basis,) or None
        Their numbers, where they are samples.

    See Also
    --------
    SubsetKPCA : Components in the same span that fit all samples.
    NystromKPCA : Extends the components to all samples.

    Notes
    -----
    With the kernel matrix ``K_y`` of the subset and ``K_y v_i = lambda_i v_i`` (centred where asked for) the
    components are ``lambda_i^-1/2 Phi_y v_i``. They lie in the same span as those of :class:`SubsetKPCA`, but
    are the best for the subset, not for all samples.

    References
    ----------
    .. [1] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 6.1.

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
        """Choose the subset and find its components.

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
        center = check_center(self.center, {False: None, True: "basis", "basis": "basis"})
        samples, kernel = self._start(X)
        basis = choose_basis(self, samples, kernel, self.n_components, center=center)
        self.basis_, self.basis_indices_ = basis.points, basis.indices
        self.eigenvalues_, _, self.operator_, total = kpca(
            kernel, basis.points, self.n_components, center=center is not None
        )
        self._set_variances(total, basis.points.shape[0])
        return self
