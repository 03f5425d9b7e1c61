"""PCA and kernel PCA of the samples that lie farthest from the mean."""

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np

from kpca_lab.distances import Rows
from kpca_lab.gram import check_square_memory
from kpca_lab.kernel_checks import check_range, gram_rank
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.linalg import fix_signs, top_eigenpairs
from kpca_lab.methods.base import (
    OperatorEstimator,
    check_center,
    check_n_components,
    n_components_kept,
    take_rows,
)
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion, FeatureOperator

# So many samples show, before all pairs of samples are gone through, how many AKPCA would use.
LOOK = 1000


class APCA(OperatorEstimator):
    """Linear PCA of the samples farthest from the mean (Zhang et al. 2010, Section 3.1).

    Samples near the mean hardly move the principal axes. So only the ``m`` samples farthest from the
    mean are used, ``m`` being the least number whose squared distances make up ``1 - alpha / 2`` of
    the total, and the least number of axes is kept whose eigenvalues make up ``1 - alpha / 2`` of
    theirs. Together they leave out less than ``alpha`` of the variance (Theorem 2).

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they are to explain (0.9), instead of the
        number that ``alpha`` gives.
    alpha : float, default=0.1
        Share of the variance, between 0 and 1, that may be left out; with 0 this is PCA.

    Attributes
    ----------
    operator_ : FeatureOperator
        With the linear kernel; written over a step along each axis and the mean, not over samples.
    components_ : ndarray of shape (n_components, n_features)
        Principal axes, orthonormal.
    mean_ : ndarray of shape (n_features,)
        Mean of all samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares of the used samples along the axes.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of all samples, and their shares of ``total_variance_``, that of
        all samples: what the axes explain at least.
    n_used_ : int
        Number ``m`` of samples that the axes were found from.
    used_indices_ : ndarray of shape (n_used,)
        Their numbers, farthest from the mean first.

    See Also
    --------
    AKPCA : The same in feature space.
    sklearn.decomposition.PCA : With all samples.

    Notes
    -----
    The paper prints the transform as ``U' x``. Here it is ``U' (x - mean)``, as in
    :class:`sklearn.decomposition.PCA`; the two differ by a constant per component.

    References
    ----------
    .. [1] R. Zhang, W. Wang, Y. Ma, "Approximations of the standard principal components analysis and
       kernel PCA", Expert Systems with Applications 37 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.methods.approximate import APCA
    >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [5, 2, 0.1]
    >>> model = APCA(alpha=0.2).fit(X)
    >>> model.n_components_, model.n_used_
    (2, 105)
    """

    _accepts_sparse = False

    def __init__(self, n_components=None, *, alpha=0.1):
        self.n_components = n_components
        self.alpha = alpha

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Find the principal axes of the samples that lie farthest from the mean of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        _check_alpha(self.alpha)
        X = self._validated(X, ensure_min_samples=2)
        kernel = make_kernel("linear", n_features=X.shape[1])
        check_range(kernel, X, training=True)
        kernel = replace(kernel, origin=X.mean(axis=0, dtype=np.float64))
        centred = X - kernel.origin
        square_norms = np.einsum("ij,ij->i", centred, centred)
        self.used_indices_ = _farthest(square_norms, self.alpha)
        # The triangular factor has the singular values of the rows without squaring their condition number.
        triangle = np.linalg.qr(centred[self.used_indices_], mode="r")
        _, singular_values, axes = np.linalg.svd(triangle, full_matrices=False)
        # Below this lies the rounding of the mean and of the samples themselves.
        noise = 10 * len(X) * np.finfo(np.float64).eps * np.abs(X).max()
        rank = int(np.count_nonzero(singular_values > noise))
        eigenvalues = singular_values**2
        total = square_norms.sum()
        k = _number_of_components(self.n_components, eigenvalues, self.alpha, rank, total)
        self.eigenvalues_ = eigenvalues[:k]
        self._set_variances(total, len(square_norms))
        self.components_ = fix_signs(axes[:k].T).T
        self.mean_ = kernel.origin
        step = max(np.sqrt(np.mean(centred**2)), np.abs(kernel.origin).max()) or 1.0
        self.operator_ = _linear_operator(kernel, self.components_, step)
        return self

    @property
    def n_used_(self) -> int:
        """Number of samples that the components were found from."""
        return len(self.used_indices_)


class AKPCA(OperatorEstimator):
    """Kernel PCA of the samples farthest from the mean in feature space (Zhang et al. 2010, Section 3.2).

    The rule of :class:`APCA` in feature space. The kernel matrix of all samples is read once, in blocks, for
    its row means; only the block of the ``m`` used samples is stored and decomposed.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they are to explain (0.9), instead of the
        number that ``alpha`` gives.
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
    alpha : float, default=0.1
        Share of the variance, between 0 and 1, that may be left out; with 0 this is kernel PCA.
    center : bool or "mean", default=True
        Whether to subtract the mean of all samples in feature space, as the paper does. If not, distances
        are taken from the origin, and the operator keeps only the used samples.

    Attributes
    ----------
    operator_ : FeatureOperator
        A projector; if centred, it keeps all samples, since their mean is an expansion over them.
    eigenvalues_ : ndarray of shape (n_components,)
        Largest eigenvalues of the used block of the (centred) kernel matrix.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of all samples, and their shares of ``total_variance_``, that of
        all samples: what the components explain at least.
    n_used_ : int
        Number ``m`` of samples that the components were found from.
    used_indices_ : ndarray of shape (n_used,)
        Their numbers, farthest from the mean first.

    See Also
    --------
    APCA : The same in the input space.
    FullKPCA : With all samples.

    References
    ----------
    .. [1] R. Zhang, W. Wang, Y. Ma, "Approximations of the standard principal components analysis and
       kernel PCA", Expert Systems with Applications 37 (2010).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kpca_lab.methods.approximate import AKPCA
    >>> X, _ = make_moons(100, random_state=0)
    >>> model = AKPCA(gamma=2.0, alpha=0.3).fit(X)
    >>> model.n_components_, model.n_used_
    (6, 84)
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
        alpha=0.1,
        center=True,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.center = center

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Find the components of the samples that lie farthest from the mean of ``X`` in feature space.

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
        _check_alpha(self.alpha)
        center = check_center(self.center, {False: None, True: "mean", "mean": "mean"})
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        kernel = kernel.anchored(samples)
        n = samples.shape[0]
        if center:
            _refuse_more_than_fits(kernel, samples, self.alpha)
            row_means = np.empty(n)
            for rows, core in kernel.core_blocks(samples, samples):
                row_means[rows] = core.mean(axis=1)
            square_norms = kernel.core_diagonal(samples) - 2 * row_means + row_means.mean()  # Eq. (4)
        else:
            square_norms = kernel.diagonal(samples)
        used = self.used_indices_ = _farthest(square_norms, self.alpha)
        check_square_memory(len(used))
        chosen = take_rows(samples, used)
        if center:
            block = kernel.core(chosen, chosen)  # Eq. (5), of which the constant parts cancel
            block += row_means.mean() - row_means[used][:, None]
            block -= row_means[used]
        else:
            block = kernel(chosen, chosen)

        eigenvalues, vectors = top_eigenpairs(block)
        rank = gram_rank(kernel, samples, eigenvalues)
        total = square_norms.sum()
        k = _number_of_components(self.n_components, eigenvalues, self.alpha, rank, total)
        self.eigenvalues_ = eigenvalues[:k]
        self._set_variances(total, len(square_norms))
        coefficients = vectors[:, :k] / np.sqrt(self.eigenvalues_)
        if not center:
            self.operator_ = FeatureOperator(kernel, Expansion.over(chosen, coefficients), orthonormal=True)
            return self
        # sum_i c_i (phi_i - mean), written over all samples: the coefficients add up to zero.
        over_all = np.tile(-coefficients.sum(axis=0) / n, (n, 1))
        over_all[used] += coefficients
        left = Expansion.over(samples, over_all, np.zeros(k))
        self.operator_ = FeatureOperator(kernel, left, mean=sample_mean(samples), orthonormal=True)
        return self

    @property
    def n_used_(self) -> int:
        """Number of samples that the components were found from."""
        return len(self.used_indices_)


def _check_alpha(alpha: float) -> None:
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 <= float(alpha) <= 1:
        raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}.")


def _refuse_more_than_fits(kernel: Kernel, samples: Rows, alpha: float) -> None:
    """Refuse early, by the share of some that would be used, samples of which far too many would be."""
    n = samples.shape[0]
    if n <= LOOK:
        return
    some = take_rows(samples, np.linspace(0, n - 1, LOOK).astype(np.intp))
    core = kernel.core(some, some)
    square_norms = kernel.core_diagonal(some) - 2 * core.mean(axis=1) + core.mean()
    check_square_memory(len(_farthest(square_norms, alpha)) * (n // LOOK) // 2)


def _farthest(square_norms: np.ndarray, alpha: float) -> np.ndarray:
    """The fewest samples, farthest first, whose square norms make up ``1 - alpha / 2`` of the total."""
    order = np.argsort(-square_norms, kind="stable")
    return order[: _least_number(square_norms[order], alpha)]


def _least_number(values: np.ndarray, alpha: float) -> int:
    """How many of the ``values``, largest first, it takes to make up ``1 - alpha / 2`` of their sum."""
    totals = np.cumsum(np.maximum(values, 0.0))
    return int(np.searchsorted(totals, (1 - alpha / 2) * totals[-1])) + 1


def _number_of_components(
    n_components: int | float | None, eigenvalues, alpha: float, rank: int, total: float
) -> int:
    """``n_components``, or what ``alpha`` asks for, within the numerical rank."""
    wanted = check_n_components(n_components, len(eigenvalues))
    if n_components is None:
        wanted = _least_number(eigenvalues, alpha)
    return n_components_kept(n_components, eigenvalues[: min(wanted, rank)], total)


def _linear_operator(kernel: Kernel, axes: np.ndarray, step: float) -> FeatureOperator:
    """The projector on axes in the space of the samples, about the kernel's origin.

    An axis is the difference of the points ``origin + step axis`` and ``origin``, divided by the step. About
    the origin nothing large is ever subtracted, and a step as long as the origin is far from zero keeps the
    digits of the axis in the sum.
    """
    k = len(axes)
    points = np.vstack([kernel.origin + step * axes, kernel.origin])
    coefficients = np.vstack([np.eye(k), -np.ones(k)]) / step
    at_origin = np.zeros((k + 1, 1))
    at_origin[-1] = 1.0
    left = Expansion(points, coefficients, np.zeros(k))
    mean = Expansion(points, at_origin, np.ones(1))
    return FeatureOperator(kernel, left, mean=mean, orthonormal=True)


__all__ = ["AKPCA", "APCA"]
