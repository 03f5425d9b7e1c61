"""Kernel PCA from a random sketch of the rows of the kernel matrix."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from kpca_lab.blas import product
from kpca_lab.distances import Rows
from kpca_lab.kernel_checks import gram_rank
from kpca_lab.kernels import BLOCK_BYTES, Kernel
from kpca_lab.linalg import fix_signs, numerical_rank, rank_tolerance, top_eigenpairs
from kpca_lab.memory import check_memory
from kpca_lab.methods.base import (
    OperatorEstimator,
    check_center,
    check_n_components,
    check_size,
    n_components_kept,
)
from kpca_lab.methods.basis import basis_size, warn_of_few
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion, FeatureOperator

SKETCHES = ("gaussian", "count", "orthogonal")


class EmpiricalMapKPCA(OperatorEstimator):
    """Kernel PCA by sketching the empirical kernel map (Marukatat 2016, Algorithm 1).

    The empirical kernel map describes a sample by its kernel values with all samples, that is by a row of
    the kernel matrix K. The dot products of the rows are ``K K = K^2``, which has the eigenvectors of K and
    its eigenvalues squared. A random linear map that preserves dot products takes each row to
    ``sketch_size`` numbers, and the eigenpairs are found from those. K is read once, in blocks, and never
    stored: memory is O(sketch_size n_samples).

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components, or the share of the variance that they are to explain (0.9); by default, and
        at most, ``sketch_size``.
    kernel : str or callable, default="rbf"
        A name of :data:`kpca_lab.kernels.KERNELS`, which are scikit-learn's, or a function of two rows.
        Should be positive semidefinite: the squares do not tell the sign of an eigenvalue.
    gamma : float, "scale", "median" or None, default=None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`; ``1 / n_features`` by default.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    sketch : {"gaussian", "count", "orthogonal"}, default="gaussian"
        The map: a Gaussian random projection (Eq. 7); the count sketch, which adds each entry with a random
        sign to one random place and is the fastest; or a random orthogonal projection.
    sketch_size : int, float or "auto", default="auto"
        Dimension q of the sketch, its share of the number of samples, or what ``n_basis="auto"`` is in
        :class:`SubsetKPCA`. The error of the dot products falls
        as ``1 / sqrt(q)``; with an orthogonal sketch of all samples the result is exact.
    center : bool or "mean", default=True
        Whether to subtract the mean of the samples in feature space.
    refine : bool, default=False
        Whether to read K a second time and take the best components within the span of the approximate
        eigenvectors (a Rayleigh-Ritz step). They are then orthonormal, with much better eigenvalues.
    random_state : int, RandomState or None, default=None
        For the sketch.

    Attributes
    ----------
    operator_ : FeatureOperator
        Not a projector in general: with approximate eigenpairs the components ``Phi v / sqrt(lambda)`` are
        only nearly orthonormal, unless ``refine`` makes them so.
    eigenvalues_ : ndarray of shape (n_components,)
        Approximate largest eigenvalues of the (centred) kernel matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Orthonormal approximations of its eigenvectors.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``; as rough as the
        eigenvalues are, unless ``refine`` is true.

    See Also
    --------
    FullKPCA : With the kernel matrix itself.
    RandomFeatureKPCA : Random features of the samples instead of the kernel matrix.

    Notes
    -----
    The eigenpairs of the dot products of the sketched rows are had from their singular value
    decomposition, not from the q x q covariance matrix of the algorithm, which would square the
    condition number once more and lose eigenvalues below 1e-8 of the largest.

    References
    ----------
    .. [1] S. Marukatat, "Kernel matrix decomposition via empirical kernel map", Pattern Recognition
       Letters 77 (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.methods.empirical_map import EmpiricalMapKPCA
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> model = EmpiricalMapKPCA(n_components=3, gamma=0.1, sketch_size=100, random_state=0).fit(X)
    >>> model.transform(X).shape
    (300, 3)
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
        sketch="gaussian",
        sketch_size="auto",
        center=True,
        refine=False,
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.sketch = sketch
        self.sketch_size = sketch_size
        self.center = center
        self.refine = refine
        self.random_state = random_state

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Sketch the kernel matrix of ``X`` and find the components.

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
        center = bool(check_center(self.center, {False: None, True: "mean", "mean": "mean"}))
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        kernel = kernel.anchored(samples)
        n = samples.shape[0]
        automatic = isinstance(self.sketch_size, str) and self.sketch_size == "auto"
        size = basis_size("auto", self.n_components, n) if automatic else self.sketch_size
        q = check_size("sketch_size", size, n)
        warn_of_few("sketch_size", q, self.n_components)
        check_memory(4 * 8 * n * q, f"A sketch of {n} x {q} numbers", "lower sketch_size")
        r = check_n_components(self.n_components, q)
        sketch = sketch_matrix(self.sketch, q, n, self._generator())
        row_means = np.zeros(n)
        sketched = gram_product(kernel, samples, sketch.T, center=center, row_means=row_means)
        vectors, eigenvalues, _ = np.linalg.svd(sketched, full_matrices=False)
        if self.refine:
            vectors = vectors[:, : gram_rank(kernel, samples, eigenvalues)]
            ritz = vectors.T @ gram_product(kernel, samples, vectors, center=center)
            eigenvalues, turn = top_eigenpairs((ritz + ritz.T) / 2)
            vectors = vectors @ turn
        diagonal = kernel.core_diagonal(samples) - row_means if center else kernel.diagonal(samples)
        rank = min(r, gram_rank(kernel, samples, eigenvalues))
        rank = n_components_kept(self.n_components, eigenvalues[:rank], diagonal.sum())
        self.eigenvalues_, self.eigenvectors_ = eigenvalues[:rank], fix_signs(vectors[:, :rank])
        self._set_variances(diagonal.sum(), n)

        coefficients = self.eigenvectors_ / np.sqrt(self.eigenvalues_)
        mean = totals = None
        if center:
            coefficients -= coefficients.mean(axis=0)
            totals, mean = np.zeros(rank), sample_mean(samples)
        left = Expansion.over(samples, coefficients, totals)
        self.operator_ = FeatureOperator(kernel, left, mean=mean, orthonormal=bool(self.refine))
        return self


def approximate_covariance_eigenpairs(
    X, *, sketch="gaussian", sketch_size=0.1, n_components=None, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate eigenpairs of ``X' X`` from a sketch of the rows of ``X`` (Marukatat 2016, Algorithm 1).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples with zero mean.
    sketch : {"gaussian", "count", "orthogonal"}
        The map that preserves dot products.
    sketch_size : int or float
        What it reduces the samples to, or the share of ``n_features``.
    n_components : int, optional
        Number of pairs, as many as there are by default.
    random_state : int, RandomState or None
        For the sketch.

    Returns
    -------
    eigenvalues : ndarray of shape (n_components,)
    eigenvectors : ndarray of shape (n_features, n_components)
        Columns of unit length, nearly orthogonal.
    """
    X = check_array(X, dtype=np.float64)
    n, d = X.shape
    q = check_size("sketch_size", sketch_size, d)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    sketched = X @ sketch_matrix(sketch, q, d, rng).T
    vectors, singular_values, _ = np.linalg.svd(sketched, full_matrices=False)
    rank = numerical_rank(singular_values, rank_tolerance(max(n, d)))
    r = check_n_components(n_components, rank)
    eigenvectors = X.T @ vectors[:, :r]
    eigenvectors /= np.linalg.norm(eigenvectors, axis=0)
    return singular_values[:r] ** 2, fix_signs(eigenvectors)


def sketch_matrix(sketch: str, size: int, dimension: int, rng: np.random.Generator):
    """A random linear map that preserves dot products on average.

    Parameters
    ----------
    sketch : {"gaussian", "count", "orthogonal"}
    size, dimension : int
        The map takes vectors of ``dimension`` numbers to ``size`` numbers.
    rng : numpy Generator

    Returns
    -------
    ndarray or sparse array of shape (size, dimension)
    """
    if sketch == "gaussian":  # Eq. (7)
        return rng.standard_normal((size, dimension)) / np.sqrt(size)
    if sketch == "count":
        signs = rng.choice([-1.0, 1.0], size=dimension)
        places = rng.integers(size, size=dimension)
        return sparse.csr_array((signs, (places, np.arange(dimension))), shape=(size, dimension))
    if sketch == "orthogonal":
        directions, _ = np.linalg.qr(rng.standard_normal((dimension, size)))
        return directions.T * np.sqrt(dimension / size)
    raise ValueError(f"sketch={sketch!r} is unknown: choose from {list(SKETCHES)}.")


def gram_product(
    kernel: Kernel,
    samples: Rows,
    B: Rows,
    *,
    center: bool,
    row_means: np.ndarray | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> np.ndarray:
    """The (centred) kernel matrix of the samples times ``B``, without the kernel matrix.

    Parameters
    ----------
    kernel : Kernel
    samples : ndarray of shape (n_samples, n_features)
    B : ndarray or sparse array of shape (n_samples, q)
    center : bool
    row_means : ndarray of shape (n_samples,), optional
        Where to write the means of the rows of the kernel's core, which centring needs.
    block_bytes : int
        Size of the blocks of kernel values.

    Returns
    -------
    ndarray of shape (n_samples, q)
    """
    n = samples.shape[0]
    totals = np.asarray(B.sum(axis=0)).ravel()
    multiplied = np.empty((n, B.shape[1]))
    for rows, core in kernel.core_blocks(samples, samples, block_bytes):
        multiplied[rows] = core @ B if sparse.issparse(B) else product(core, B)
        if center:
            means = core.mean(axis=1)
            multiplied[rows] -= np.outer(means, totals)
            if row_means is not None:
                row_means[rows] = means
    if center:
        multiplied -= multiplied.mean(axis=0)
        return multiplied
    offset = kernel.offset(samples)
    multiplied += np.outer(offset, totals)
    multiplied += offset @ B + kernel.constant * totals
    return multiplied


__all__ = ["EmpiricalMapKPCA", "approximate_covariance_eigenpairs", "gram_product", "sketch_matrix"]
