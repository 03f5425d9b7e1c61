"""The Nyström approximation of the eigenvectors of the whole kernel matrix."""

from typing import Any, Self

import numpy as np

from kpca_lab.distances import Rows, stacked
from kpca_lab.gram import gram_matrix
from kpca_lab.kernel_checks import gram_rank
from kpca_lab.linalg import top_eigenpairs
from kpca_lab.methods.base import check_center, check_n_components, n_components_kept
from kpca_lab.methods.basis import BasisEstimator, choose_basis
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion, FeatureOperator


class NystromKPCA(BasisEstimator):
    """Kernel PCA with eigenvectors extended from a subset to all samples (Washizawa 2012, Eq. 43).

    With ``K_y v = lambda v`` on the subset, ``sqrt(m/n) / lambda K_xy v`` stands for an eigenvector of the
    whole kernel matrix, and ``n/m lambda`` for its eigenvalue; Eq. (7) then makes components of them. All
    samples are kept, and the components are not orthonormal. This is the operator that the paper compares
    with; scikit-learn's ``Nystroem`` followed by PCA is another one, and equals :class:`SubsetKPCA`.

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
        Whether to subtract the mean of the subset in feature space. (The mean of all samples would
        take all n^2 kernel values.)
    random_state : int, RandomState or None, default=None
        For the selector.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        Approximate eigenvalues of the whole kernel matrix.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``, which is that
        of the subset.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Approximate eigenvectors of it.
    basis_ : ndarray of shape (n_basis, n_features)
        The basis points.
    basis_indices_ : ndarray of shape (n_basis,) or None
        Their numbers, where they are samples.

    See Also
    --------
    SubsetKPCA : The best components in the span of the same subset.
    sklearn.kernel_approximation.Nystroem : Features; followed by PCA it equals SubsetKPCA.

    References
    ----------
    .. [1] C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 13 (2001).
    .. [2] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import NystromKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> NystromKPCA(n_components=5, n_basis=50, random_state=0).fit(X).eigenvectors_.shape
    (500, 5)
    """

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Find the components of the subset and extend them to all samples.

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
        centroid = check_center(self.center, {False: None, True: "basis", "basis": "basis"})
        center = centroid is not None
        samples, kernel = self._start(X)
        basis = choose_basis(self, samples, kernel, self.n_components, center=centroid)
        points = self.basis_ = basis.points
        self.basis_indices_ = basis.indices
        n, m = samples.shape[0], points.shape[0]
        kernel = kernel.anchored(points)

        gram = gram_matrix(kernel, points, center=center)
        values, vectors = top_eigenpairs(gram, check_n_components(self.n_components, m))
        rank = gram_rank(kernel, points, values)
        rank = n_components_kept(self.n_components, values[:rank], gram.trace())
        values, vectors = values[:rank], vectors[:, :rank]
        if center:
            vectors = vectors - vectors.mean(axis=0)
        on_subset = Expansion.over(points, vectors, np.zeros(rank) if center else None)
        cross = on_subset.evaluate(kernel, samples)
        mean = None
        if center:
            mean = sample_mean(points)
            cross -= on_subset.inner(kernel, mean).ravel()
        self.eigenvectors_ = np.sqrt(m / n) / values * cross  # Eq. (43)
        self.eigenvalues_ = n / m * values
        self._set_variances(n / m * gram.trace(), n)
        coefficients = self.eigenvectors_ / np.sqrt(self.eigenvalues_)  # Eq. (7)
        self.operator_ = FeatureOperator(kernel, _about_mean(samples, coefficients, mean), mean=mean)
        return self


def _about_mean(samples: Rows, coefficients: np.ndarray, mean: Expansion | None) -> Expansion:
    """The vectors ``sum_i c_i (phi(x_i) - mean)``."""
    if mean is None:
        return Expansion.over(samples, coefficients)
    sums = coefficients.sum(axis=0)
    return Expansion(
        stacked(samples, mean.points),
        np.concatenate([coefficients, -mean.coefficients * sums]),
        np.zeros(len(sums)),
    )
