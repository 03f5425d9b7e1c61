"""Sparse kernel PCA: components over few samples, by the elastic net."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kpca_lab.blas import product
from kpca_lab.gram import gram_matrix
from kpca_lab.linalg import fix_signs
from kpca_lab.methods.base import OperatorEstimator, check_center, check_n_components, refuse_share, take_rows
from kpca_lab.methods.elastic_net_active import ActiveSet
from kpca_lab.methods.elastic_net_admm import AdmmSettings, ElasticNet
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion, FeatureOperator


class ElasticNetKPCA(OperatorEstimator):
    """Kernel PCA with sparse coefficients (Wang and Tanaka 2016, Algorithm 1).

    Kernel PCA is written as a regression of its own eigenvectors, to which an l2 and an l1 penalty are
    added. For one component after the other, the sparse coefficients ``a`` (with ``q = K^(1/2) a``) that
    minimise

        1/2 ||K^(1/2) p - K^(1/2) q||^2 + l2/2 ||q||^2 + l1 ||a||_1        (Eq. 11)

    are found in turn with the unit vector ``p`` that suits ``q`` best and is orthogonal to those of the
    components before.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; by default one for each value in ``l1`` if that is a list, otherwise as many as
        there are before the first that the penalty leaves without coefficients.
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
    center : bool or "mean", default=True
        Whether to subtract the mean of the samples in feature space. The coefficients then apply to the
        centred samples, and the operator keeps all samples for the sake of the mean; if not, it
        keeps only the samples with a non-zero coefficient.
    l2 : float, default=0.01
        Weight of the l2 penalty (the paper's lambda).
    l1 : float or sequence of float, default=0.01
        Weight of the l1 penalty (lambda_1), for all components or for each.
    solver : {"active_set", "admm"}, default="active_set"
        How ``a`` is found: exactly, by the search for the samples that have a coefficient, or by the
        alternating direction method of multipliers (ADMM) as in the paper, which comes near the same
        minimum in hundreds of steps over all samples.
    rho : float, default=0.01
        Weight of ADMM's quadratic term; sets how fast it converges, not to what.
    eps_abs, eps_rel : float, default=0.0001
        ADMM stops when the primal and the dual residual fall below limits made of these.
    eps_outer : float, default=0.01
        A component is finished when ``||q_new - q_old||^2`` falls below this.
    max_admm_iter, max_iter : int, default=3000, 300
        Limits of the steps of the solver within one pass, and of the passes for one component.
    orthonormalize : bool, default=False
        By default the components are scaled to unit length each, and samples are reconstructed with
        ``V V'`` as in the paper's J[V], though they are only nearly orthogonal. If true, they are made
        orthonormal one after the other, so that the operator projects on the span of the first r.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    coefficients_ : ndarray of shape (n_samples, n_components)
        Coefficients of the (centred) samples in the unit-length components, exactly zero for most samples.
    n_nonzero_ : ndarray of shape (n_components,)
        Number of samples that each component is made of.
    support_ : ndarray
        Numbers of the samples with a non-zero coefficient in some component.
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares of the samples along the components.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``; where
        components are not orthogonal they share some of it.
    trace_ : list of AdmmTrace
        With ``solver="admm"``: objective, residuals and limits of every step, for each component.
    n_iter_ : int
        Largest number of passes that a component took.

    See Also
    --------
    TippingKPCA : Sparse components by maximum likelihood.
    sklearn.decomposition.SparsePCA : Sparse in the features, not in the samples.

    Notes
    -----
    The printed steps contain K^(-1/2), and the paper takes the pseudo-inverse where K is singular. That
    restricts ``a`` to the range of K, where there are no sparse vectors: on its second toy example, a Gram
    matrix of 500 samples and numerical rank 100, between 160 and 280 coefficients of a component remain.
    Here the steps are taken to the limit of vanishing eigenvalues instead, which leaves ``a`` free in the
    null space of K, where it changes nothing but its l1 norm, and 12 to 67 coefficients remain. No inverse is
    left in the steps of ADMM; only the printed dual residual uses the pseudo-inverse.

    For a given ``p`` the problem is a lasso in ``a`` with the matrix ``K^2 + l2 K``. The active sets need of
    it only the rows of samples that once have a coefficient, and of K only the first eigenvectors, where
    ADMM needs all: with 2000 samples and more it is much the faster of the two.

    References
    ----------
    .. [1] D. Wang, T. Tanaka, "Sparse kernel principal component analysis based on elastic net
       regularization", International Joint Conference on Neural Networks (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.methods.elastic_net import ElasticNetKPCA
    >>> rng = np.random.default_rng(0)
    >>> centres = np.repeat([(-0.5, -0.2), (0, 0.6), (0.5, 0)], 30, axis=0)
    >>> X = centres + rng.normal(0, 0.1, (90, 2))
    >>> model = ElasticNetKPCA(gamma=10, l1=[0.02, 0.02], l2=0.1, rho=0.01).fit(X)
    >>> bool((model.n_nonzero_ < 25).all())
    True
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
        center=True,
        l2=0.01,
        l1=0.01,
        solver="active_set",
        rho=0.01,
        eps_abs=1e-4,
        eps_rel=1e-4,
        eps_outer=1e-2,
        max_admm_iter=3000,
        max_iter=300,
        orthonormalize=False,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.center = center
        self.l2 = l2
        self.l1 = l1
        self.solver = solver
        self.rho = rho
        self.eps_abs = eps_abs
        self.eps_rel = eps_rel
        self.eps_outer = eps_outer
        self.max_admm_iter = max_admm_iter
        self.max_iter = max_iter
        self.orthonormalize = orthonormalize

    def fit(self, X, y=None):
        """Find the sparse components of ``X`` (for a precomputed kernel, of its kernel matrix).

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
        center = check_center(self.center, {False: None, True: "mean", "mean": "mean"})
        self._check_parameters()
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        kernel = kernel.anchored(samples)
        gram = gram_matrix(kernel, samples, center=bool(center))
        problem: ActiveSet | ElasticNet
        if self.solver == "admm":
            settings = AdmmSettings(self.l2, self.rho, self.eps_abs, self.eps_rel, self.max_admm_iter)
            problem = ElasticNet.of(gram, settings)
        else:
            wanted = len(self._l1_weights(len(gram))) if self._number_is_given() else None
            problem = ActiveSet(gram, wanted, self.l2, self.max_admm_iter)
        coefficients = self._coefficients(problem)
        image = product(gram, coefficients)
        lengths = np.sqrt(np.maximum(np.sum(coefficients * image, axis=0), 0.0))
        empty = np.flatnonzero(lengths == 0)
        if len(empty):
            warnings.warn(
                f"No coefficient is left in components {empty.tolist()}: l1={self.l1!r} is too large for "
                "them.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coefficients_ = fix_signs(coefficients / np.where(lengths > 0, lengths, 1.0))
        self.n_nonzero_ = np.count_nonzero(self.coefficients_, axis=0)
        self.support_ = np.flatnonzero(self.coefficients_.any(axis=1))
        image = product(gram, self.coefficients_)
        self.eigenvalues_ = np.sum(image**2, axis=0)
        self._set_variances(gram.trace(), len(gram))
        used = _orthonormal(self.coefficients_, image) if self.orthonormalize else self.coefficients_
        self.operator_ = self._operator(kernel, samples, used, bool(center))
        return self

    def _coefficients(self, problem: ActiveSet | ElasticNet) -> np.ndarray:
        """Those of one component after the other, not scaled."""
        weights = self._l1_weights(problem.rank)
        columns, traces, unfinished, self.n_iter_ = [], [], [], 0
        for k, found in enumerate(problem.components(weights, self.eps_outer, self.max_iter)):
            column, passes, ended, trace = found
            if k > 0 and not self._number_is_given() and not column.any():
                break
            columns.append(column)
            traces.append(trace)
            self.n_iter_ = max(self.n_iter_, passes)
            if not ended:
                unfinished.append(k)
        if self.solver == "admm":
            self.trace_ = traces
        if unfinished:
            warnings.warn(
                f"Components {unfinished} have not converged after max_iter={self.max_iter} passes of "
                f"max_admm_iter={self.max_admm_iter} steps: raise these"
                + (", or change rho." if self.solver == "admm" else "."),
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.column_stack(columns) if columns else np.zeros((len(problem.eigenvectors), 0))

    def _number_is_given(self) -> bool:
        """Whether the number of components is known before the first is looked for."""
        return self.n_components is not None or not _is_weight(self.l1)

    def _operator(self, kernel, samples, coefficients, center) -> FeatureOperator:
        if center:
            # sum_i a_i (phi_i - mean), written over all samples: the coefficients add up to zero.
            totals = np.zeros(coefficients.shape[1])
            left = Expansion(samples, coefficients - coefficients.mean(axis=0), totals)
            return FeatureOperator(kernel, left, mean=sample_mean(samples))
        kept = self.support_ if len(self.support_) else np.array([0])
        return FeatureOperator(kernel, Expansion.over(take_rows(samples, kept), coefficients[kept]))

    def _check_parameters(self) -> None:
        refuse_share(self.n_components, "ElasticNetKPCA")
        if self.solver not in ("active_set", "admm"):
            raise ValueError(f'solver must be "active_set" or "admm", got {self.solver!r}.')
        for name in ("l2", "eps_abs", "eps_rel", "eps_outer"):
            value = getattr(self, name)
            if not _is_weight(value):
                raise ValueError(f"{name} must be a finite number >= 0, got {value!r}.")
        if not _is_weight(self.rho) or self.rho == 0:
            raise ValueError(f"rho must be a finite number > 0, got {self.rho!r}.")
        for name in ("max_admm_iter", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")

    def _l1_weights(self, rank: int) -> Sequence[float]:
        """One weight per component to look for."""
        r = check_n_components(self.n_components, rank)
        if _is_weight(self.l1):
            return [self.l1] * r
        weights = [] if isinstance(self.l1, (str, Real)) or self.l1 is None else list(self.l1)
        if not weights or not all(map(_is_weight, weights)):
            raise ValueError(f"l1 must be a number >= 0 or a list of such numbers, got {self.l1!r}.")
        if self.n_components is not None and len(weights) != self.n_components:
            raise ValueError(
                f"l1 has {len(weights)} values for n_components={self.n_components}: give one for each."
            )
        return weights[:r]


def _orthonormal(coefficients: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Coefficients made orthonormal one after the other, with K times them; a dependent one becomes zero."""
    coefficients, image = coefficients.copy(), image.copy()
    for k in range(coefficients.shape[1]):
        for _ in range(2):
            along = image[:, :k].T @ coefficients[:, k]
            image[:, k] -= image[:, :k] @ along
            coefficients[:, k] -= coefficients[:, :k] @ along
        length = max(float(coefficients[:, k] @ image[:, k]), 0.0) ** 0.5
        scale = 1.0 / length if length > 1e-8 else 0.0
        image[:, k] *= scale
        coefficients[:, k] *= scale
    return coefficients


def _is_weight(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < np.inf


__all__ = ["ElasticNetKPCA"]
