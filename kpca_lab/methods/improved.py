"""Improved KPCA: the components of SubKPCA with another length."""

from dataclasses import replace

import numpy as np

from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.operator import Expansion


class ImprovedKPCA(SubsetKPCA):
    """Improved KPCA of Xu et al., as Washizawa 2012 states it (Eqs. 41-42).

    Solves the eigenproblem of :class:`SubsetKPCA`, and divides each component by the root of its
    eigenvalue. So its operator is no projector, and its error does not depend on the basis: without
    centring it is ``mean k(x, x) - 2 r / n + sum(1 / kappa) / n``.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they are to explain (0.9); as many as the
        basis spans by default.
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
        Number of basis samples, or their share of all samples (in ``partial_fit``, of the first chunk); by
        default ``10 sqrt(n)`` of ``n`` samples, see :func:`kpca_lab.methods.basis.basis_size`.
    selector : str or object, default="random"
        How they are chosen, see :mod:`kpca_lab.selectors`.
    basis : array-like, default=None
        Sample numbers or points to use instead of ``n_basis`` and ``selector``.
    center : {False, True, "mean", "basis", "projected"}, default=True
        What is subtracted in feature space (Section 3.5): nothing, the mean of all samples, the mean of the
        basis, or the mean of all samples projected on the span of the basis, which True stands for.
        "mean" and "projected" have the same components; "mean" needs all samples kept for the residual.
    outside_basis : {"project", "include", "general"}, default="project"
        For a basis that is not part of the samples: take the orthogonal projector all the same
        (optimal on the samples), include the basis in the criterion set (Section 4.1.4 ii), or use the
        general solution of Eq. (27).
    criterion_rank : int, default=None
        Approximate ``K_xy' K_xy`` by an incomplete Cholesky factor of this rank (Eq. 45).
    tol : float, default=None
        Let the basis grow, doubling from ``n_basis`` (by default from 100, or twice the components), until
        the error is at most this share above that of full KPCA, by ``gap_bound_`` or by
        :meth:`estimate_gap`. A ConvergenceWarning tells the gap reached if ``max_basis`` is not enough.
    max_basis : int, float or None, default=None
        The largest basis to try with ``tol``, or its share of all samples; 4000 by default.
    precision : {"auto", "double", "mixed"}, default="auto"
        "mixed": inner products in single precision. "auto": from 200 features and 10000 samples on, where
        that changes eigenvalues and error of some samples by 1e-6 at most, see :mod:`kpca_lab.precision`.
    random_state : int, RandomState or None, default=None
        For the selector, and with ``tol`` for the rows that gaps are estimated from.
    verbose : int, default=0
        Whether to show the progress of passes over samples that are read in blocks.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        The ``kappa`` of Eq. (21): sums of squares of the samples along the components.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``.
    total_variance_ : float
        Mean squared distance in feature space of the samples from what is subtracted of them. (The distance
        from the projected mean also with center="mean", where the other one takes all n^2 kernel values.)
    error_ : float
        The mean squared residual of the training samples, known without another pass over them. (With
        center="mean" an upper bound on it: the residual with center="projected".)
    error_floor_ : float
        A lower bound on the error that full KPCA of the same kernel, centring and rank could reach.
    gap_bound_ : float
        ``error_ / error_floor_ - 1``: the error is at most this share above the best possible. Zero where
        the error itself is rounding, infinite where only the floor is.
    gap_ : float
        With ``tol``, the gap that was reached: the smaller one of the bound and the estimate.
    basis_ : ndarray of shape (n_basis, n_features)
        The basis points.
    basis_indices_ : ndarray of shape (n_basis,) or None
        The basis as sample numbers, where it was chosen from the samples.
    n_samples_seen_ : int
        Number of samples fitted so far.
    statistics_ : SpanStatistics
        The sums that all of this follows from. ``partial_fit`` adds to them.

    See Also
    --------
    SubsetKPCA : The same components, orthonormal.

    References
    ----------
    .. [1] Y. Xu et al., "A method for speeding up feature extraction based on KPCA", Neurocomputing 70
       (2007).
    .. [2] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import ImprovedKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> ImprovedKPCA(n_components=5, n_basis=50, random_state=0).fit_transform(X).shape
    (500, 5)
    """

    def _operator(self, frame, directions, scatter, mean):
        projector = super()._operator(frame, directions, scatter, mean)
        scales = 1.0 / np.sqrt(self.eigenvalues_)  # Eq. (42)
        right = None if projector.right is None else _scaled(projector.right, scales)
        return replace(projector, left=_scaled(projector.left, scales), right=right, orthonormal=False)

    def _captured(self, along):
        shares = along / self.eigenvalues_
        return float(2 * shares.sum() - (shares / self.eigenvalues_).sum())


def _scaled(vectors: Expansion, scales: np.ndarray) -> Expansion:
    return Expansion(vectors.points, vectors.coefficients * scales, vectors.totals * scales)
