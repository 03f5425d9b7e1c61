"""Kernel PCA of all samples: the reference that every other method approximates."""

import warnings
from numbers import Integral

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kpca_lab import memory
from kpca_lab.gram import gram_matrix, square_bytes
from kpca_lab.gram_operator import GramOperator
from kpca_lab.kernel_checks import gram_rank
from kpca_lab.kernels import Kernel
from kpca_lab.krylov import block_krylov
from kpca_lab.linalg import choose_solver, fix_signs, top_eigenpairs
from kpca_lab.methods.base import (
    OperatorEstimator,
    check_center,
    check_n_components,
    in_precision,
    n_components_kept,
)
from kpca_lab.operator import Expansion, FeatureOperator

# Without a stored kernel matrix: vectors beside the wanted ones, and limits of products and of samples.
SPARE_COLUMNS, MAX_PRODUCTS, LARGEST_MATRIX_FREE = 4, 100, 200_000
# What scikit-learn's KernelPCA calls its solvers for a few components.
SKLEARN_SOLVERS = {"arpack": "iterative", "randomized": "iterative"}


class FullKPCA(OperatorEstimator):
    """Kernel PCA of all samples (Washizawa 2012, Eqs. 4-19).

    The same estimator as :class:`sklearn.decomposition.KernelPCA`, with the option not to centre, and
    accurate where the kernel matrix is nearly constant.

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
    center : bool or "mean", default=True
        Whether to subtract the mean of the samples in feature space.
    eigen_solver : str, default="auto"
        One of "auto", "dense", "partial", "iterative", "matrix-free", "arpack" and "randomized", see
        :func:`kpca_lab.linalg.top_eigenpairs`. "matrix-free" computes the kernel values again for each
        product and stores none; "auto" does so where the kernel matrix does not fit into memory, for up to
        200000 samples, and warns if 100 products are not enough. The last two, scikit-learn's names, stand
        for "iterative".
    tol : float, default=1e-10
        Residual at which the iterative solver stops, relative to the largest eigenvalue.
    random_state : int, RandomState or None, default=0
        Start of the iterative solver.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        Largest eigenvalues of the (centred) kernel matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Eigenvectors that belong to ``eigenvalues_``.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``.

    See Also
    --------
    SubsetKPCA : The best components in the span of some samples, for more rows than this can take.
    sklearn.decomposition.KernelPCA : Always centred; for one kernel matrix in memory.

    Notes
    -----
    With the centred kernel matrix ``H K H``, ``H = I - 11'/n``, and its eigenpairs
    ``H K H v_i = lambda_i v_i``, the components are

    .. math:: u_i = \\lambda_i^{-1/2} \\sum_j v_{ji} (\\phi(x_j) - \\bar\\phi),

    orthonormal in feature space, and what they leave of the samples is, on average,
    ``sum_{i>r} lambda_i / n``: no operator of rank r leaves less. Without centring ``H`` is the identity and
    the mean is zero.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as a kernel eigenvalue
       problem", Neural Computation 10 (1998).
    .. [2] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kpca_lab import FullKPCA
    >>> X, _ = make_moons(100, random_state=0)
    >>> FullKPCA(n_components=3, gamma=2.0).fit_transform(X).shape
    (100, 3)
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
        eigen_solver="auto",
        tol=1e-10,
        random_state=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.center = center
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the components of ``X`` (for a precomputed kernel, of its kernel matrix).

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
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        self.eigenvalues_, self.eigenvectors_, self.operator_, total = kpca(
            kernel,
            samples,
            self.n_components,
            center=bool(center),
            solver=_choose_way(
                SKLEARN_SOLVERS.get(self.eigen_solver, self.eigen_solver), samples.shape[0], self.n_components
            ),
            rng=self._generator(),
            tol=self.tol,
        )
        self._set_variances(total, samples.shape[0])
        self._training_dtype = np.float64 if samples.ndim == 1 else samples.dtype
        return self

    def fit_transform(self, X, y=None):
        """Find the components and project the training samples on them, without the kernel matrix again."""
        self.fit(X)
        return in_precision(self.eigenvectors_ * np.sqrt(self.eigenvalues_), self._training_dtype)


def kpca(
    kernel: Kernel,
    samples,
    n_components: int | float | None,
    *,
    center: bool,
    solver: str = "auto",
    rng: np.random.Generator | None = None,
    tol: float = 1e-10,
) -> tuple[np.ndarray, np.ndarray, FeatureOperator, float]:
    """Kernel PCA of ``samples``: eigenpairs of the Gram matrix, the projector, and the trace."""
    n = samples.shape[0]
    kernel = kernel.anchored(samples)
    wanted = check_n_components(n_components, n)
    if solver == "matrix-free":
        eigenvalues, vectors, total = _matrix_free(
            kernel, samples, wanted, center, rng or np.random.default_rng(0), tol
        )
    else:
        solver = choose_solver(solver, n, wanted)
        gram = gram_matrix(kernel, samples, center=center, whole=solver != "iterative")
        eigenvalues, vectors = top_eigenpairs(gram, wanted, solver=solver, rng=rng, tol=tol)
        total = float(gram.trace())
    rank = n_components_kept(n_components, eigenvalues[: gram_rank(kernel, samples, eigenvalues)], total)
    eigenvalues, vectors = eigenvalues[:rank], vectors[:, :rank]
    coefficients = vectors / np.sqrt(eigenvalues)  # Eq. (7)
    mean = totals = None
    if center:
        coefficients -= coefficients.mean(axis=0)
        totals = np.zeros(rank)
        mean = sample_mean(samples)
    left = Expansion.over(samples, coefficients, totals)
    operator = FeatureOperator(kernel, left, mean=mean, orthonormal=True)
    return eigenvalues, vectors, operator, total


def _matrix_free(
    kernel: Kernel, samples, k: int, center: bool, rng: np.random.Generator, tol: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """The ``k`` largest eigenpairs of the kernel matrix, which is not stored, and its trace."""
    gram = GramOperator(kernel, samples, center=center)
    start = gram.first_approximation(k + SPARE_COLUMNS, rng)
    width = start.shape[1]
    found = block_krylov(
        gram.multiply,
        gram.n,
        k,
        rng=rng,
        tol=tol,
        start=start,
        room=k + 10 * width,
        max_products=MAX_PRODUCTS,
    )
    if not found.converged:
        warnings.warn(
            f"The components were still changing after {found.n_products} products with the kernel matrix: "
            f"a residual of {found.residual:.2g} is left of the largest eigenvalue, wanted was tol={tol!r}.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found.values[::-1], fix_signs(found.vectors[:, ::-1]), gram.trace()


def _choose_way(solver: str, n: int, n_components: int | float | None) -> str:
    """``solver``, or "matrix-free" where "auto" has no room for the kernel matrix and few pairs to find."""
    few = isinstance(n_components, Integral) and 20 * n_components <= n
    if solver != "auto" or not few or n > LARGEST_MATRIX_FREE:
        return solver
    available = memory.available_memory()
    return "matrix-free" if available is not None and square_bytes(n) > available else solver


def sample_mean(samples) -> Expansion:
    """The mean of the samples in feature space."""
    n = samples.shape[0]
    return Expansion(samples, np.full((n, 1), 1.0 / n), np.ones(1))
