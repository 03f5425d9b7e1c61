"""Kernel PCA of an incomplete Cholesky factor of the kernel matrix."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kpca_lab.distances import Rows
from kpca_lab.kernel_checks import check_positive, gram_rank
from kpca_lab.kernels import Kernel
from kpca_lab.linalg import pivoted_cholesky, top_eigenpairs
from kpca_lab.memory import check_memory
from kpca_lab.methods.base import (
    OperatorEstimator,
    check_center,
    check_n_components,
    n_components_kept,
)
from kpca_lab.methods.basis import basis_size, warn_of_few
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion, FeatureOperator

TINY = np.finfo(np.float64).tiny


class CholeskyKPCA(OperatorEstimator):
    """Kernel PCA with the kernel matrix replaced by ``G G'`` (Washizawa 2012, Eq. 44).

    ``G`` comes from an incomplete Cholesky decomposition that always takes the largest remaining diagonal
    element as pivot; only the pivots' columns of the kernel matrix are ever computed. Eigenvectors of
    ``G G'`` stand for those of the kernel matrix, and Eq. (7) makes components of them. All samples are kept,
    and the components are not exactly orthonormal.

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
        Largest number of columns of ``G``, or its share of the number of samples; by default
        ``10 sqrt(n)`` of ``n`` samples, see :func:`kpca_lab.methods.basis.basis_size`.
    tol : float, default=0.0
        Stop earlier, when the trace of ``K - G G'`` has fallen to this share of the trace of ``K``; a
        ConvergenceWarning tells if ``n_basis`` columns do not reach it.
    center : bool or "mean", default=True
        Whether to subtract the mean of the samples in feature space.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the (centred) ``G G'``.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``, in which the
        trace of ``K - G G'`` counts in full: it is exact without centring, and otherwise at most that
        trace too large.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Eigenvectors that belong to ``eigenvalues_``.
    pivots_ : ndarray
        Numbers of the samples whose columns were used, in order.

    See Also
    --------
    FullKPCA : With the whole kernel matrix.
    kpca_lab.selectors.GreedySelector : The same pivots as a basis for SubsetKPCA.

    References
    ----------
    .. [1] F. R. Bach, M. I. Jordan, "Kernel independent component analysis", JMLR 3 (2002).
    .. [2] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 5.5.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import CholeskyKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> len(CholeskyKPCA(n_components=5, n_basis=50).fit(X).pivots_)
    50
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        n_basis="auto",
        tol=0.0,
        center=True,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_basis = n_basis
        self.tol = tol
        self.center = center

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Factor the kernel matrix of ``X`` and find the components of the factor.

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
        center = check_center(self.center, {False: None, True: "mean", "mean": "mean"}) is not None
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol must be at least 0 and below 1, got {self.tol!r}.")
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        if center:  # the factor is that of the matrix as it is, centred or not
            check_positive(kernel, samples, centred=False)
        kernel = kernel.anchored(samples)
        n = samples.shape[0]
        n_basis = basis_size(self.n_basis, self.n_components, n)
        warn_of_few("n_basis", n_basis, self.n_components)
        check_memory(3 * 8 * n * n_basis, f"A factor of {n} x {n_basis} numbers", "lower n_basis")
        G, self.pivots_, left_out = kernel_cholesky(kernel, samples, n_basis, self.tol)
        self._warn_of_trace_left(left_out / max(kernel.diagonal(samples).sum(), TINY))
        if center:
            G -= G.mean(axis=0)
        inner = G.T @ G
        total = inner.trace() + left_out
        values, directions = top_eigenpairs(inner, check_n_components(self.n_components, G.shape[1]))
        rank = gram_rank(kernel, samples, values)
        rank = n_components_kept(self.n_components, values[:rank], total)
        self.eigenvalues_ = values[:rank]
        self._set_variances(total, len(G))
        self.eigenvectors_ = G @ directions[:, :rank] / np.sqrt(self.eigenvalues_)
        coefficients = self.eigenvectors_ / np.sqrt(self.eigenvalues_)  # Eq. (7)
        totals = mean = None
        if center:
            coefficients -= coefficients.mean(axis=0)
            totals, mean = np.zeros(rank), sample_mean(samples)
        left = Expansion.over(samples, coefficients, totals)
        self.operator_ = FeatureOperator(kernel, left, mean=mean)
        return self

    def _warn_of_trace_left(self, share: float) -> None:
        if share > self.tol > 0:
            warnings.warn(
                f"{len(self.pivots_)} columns leave {share:.3g} of the trace, more than tol={self.tol!r}: "
                "raise n_basis.",
                ConvergenceWarning,
                stacklevel=3,
            )


def kernel_cholesky(
    kernel: Kernel, samples: Rows, max_rank: int, tol: float = 0.0
) -> tuple[np.ndarray, np.ndarray, float]:
    """Pivoted incomplete Cholesky factor of the kernel matrix of ``samples``, its pivots, the trace left out.

    The first pivot takes away what all samples have in common. That step is done on the parts of the
    kernel, where it cancels exactly, so that the later pivots see no rounding of the large first column.
    Constants are left out of that column's deviation from its value at the pivot and added last.
    """
    diagonal = kernel.diagonal(samples)
    first = int(diagonal.argmax())
    if diagonal[first] <= 0:
        return np.zeros((len(diagonal), 0)), np.zeros(0, dtype=np.intp), 0.0
    core_column = kernel.core_columns(samples)
    with_first = core_column(first)
    offset = kernel.offset(samples)
    deviation = with_first - with_first[first] + offset - offset[first]

    def column(j: int) -> np.ndarray:
        values = core_column(j) - with_first
        values += with_first[first] - with_first[j]
        return values - deviation * (deviation[j] / diagonal[first])

    remaining = kernel.core_diagonal(samples) - 2 * with_first + with_first[first]
    remaining -= deviation**2 / diagonal[first]
    remaining = np.maximum(remaining, 0.0)
    remaining[first] = 0.0
    stop_at = tol * diagonal.sum()
    later_tol = min(stop_at / remaining.sum(), 1.0) if remaining.sum() > 0 else 1.0
    G, pivots = pivoted_cholesky(remaining, column, max_rank - 1, later_tol)
    left_out = float(np.maximum(remaining - np.einsum("ij,ij->i", G, G), 0.0).sum())
    root = np.sqrt(diagonal[first])
    factor = np.column_stack([root + deviation / root, G])
    return factor, np.append(first, pivots).astype(np.intp), left_out
