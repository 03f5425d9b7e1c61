"""Subset KPCA: the best operator over a few basis samples, judged on all samples."""

import numpy as np

from kpca_lab.kernel_checks import check_positive, check_range
from kpca_lab.linalg import numerical_rank, pivoted_cholesky, rank_tolerance, top_eigenpairs
from kpca_lab.methods.base import check_center, check_n_components, check_size
from kpca_lab.methods.basis import choose_basis
from kpca_lab.methods.blockwise import BlockwiseEstimator
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion, FeatureOperator
from kpca_lab.rows import RowSource
from kpca_lab.span import Frame
from kpca_lab.statistics import SpanStatistics

CENTROIDS = {
    False: None,
    True: "projected",
    "mean": "mean",
    "basis": "basis",
    "projected": "projected",
}


class SubsetKPCA(BlockwiseEstimator):
    """Kernel PCA whose components lie in the span of a basis, fitted to all samples (SubKPCA).

    Minimises the mean reconstruction error of all samples over the operators of rank
    ``n_components`` within the span of the basis (Washizawa 2012, Eq. 20): the solution is the
    generalised eigenproblem ``K_xy' K_xy z = kappa K_y z`` of Eq. (21). Samples are read once, in blocks, so
    memory is O(n_basis^2) beside the data, which may be an array or anything that
    :func:`kpca_lab.rows.as_rows` takes: a memory map of any type, h5py, zarr, Dask, Parquet, chunks.

    Parameters
    ----------
    n_components : int, optional
        Number of components; as many as the basis spans by default.
    kernel : str or callable
        A name of :data:`kpca_lab.kernels.KERNELS`, which are scikit-learn's, or a function of two rows.
    gamma : float, "scale", "median" or None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`; ``1 / n_features`` by default.
    degree, coef0, kernel_params
        Further parameters of the kernel, as in scikit-learn.
    n_basis : int or float
        Number of basis samples, or their share of all samples.
    selector : str or object
        How they are chosen, see :mod:`kpca_lab.selectors`.
    basis : array-like, optional
        Sample numbers or points to use instead of ``n_basis`` and ``selector``.
    center : {False, True, "mean", "basis", "projected"}
        What is subtracted in feature space (Section 3.5): nothing, the mean of all samples, the mean of the
        basis, or the mean of all samples projected on the span of the basis, which True stands for.
        "mean" and "projected" have the same components; "mean" needs all samples kept for the residual.
    outside_basis : {"project", "include", "general"}
        For a basis that is not part of the samples: take the orthogonal projector all the same
        (optimal on the samples), include the basis in the criterion set (Section 4.1.4 ii), or use the
        general solution of Eq. (27).
    criterion_rank : int, optional
        Approximate ``K_xy' K_xy`` by an incomplete Cholesky factor of this rank (Eq. 45).
    random_state : int, RandomState or None
        For the selector.
    verbose : int
        Whether to show the progress of passes over samples that are read in blocks.

    Attributes
    ----------
    operator_ : FeatureOperator
    eigenvalues_ : ndarray of shape (n_components_,)
        The ``kappa`` of Eq. (21): sums of squares of the samples along the components.
    basis_ : ndarray of shape (n_basis, n_features)
    basis_indices_ : ndarray of shape (n_basis,) or None
        The basis as sample numbers, where it was chosen from the samples.
    n_samples_seen_ : int

    References
    ----------
    .. [1] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> from kpca_lab.metrics import empirical_error
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> model = SubsetKPCA(n_components=5, gamma=0.1, n_basis=50, random_state=0).fit(X)
    >>> model.transform(X).shape
    (500, 5)
    >>> bool(empirical_error(model, X) < 0.02)
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
        n_basis=0.1,
        selector="random",
        basis=None,
        center=True,
        outside_basis="project",
        criterion_rank=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_basis = n_basis
        self.selector = selector
        self.basis = basis
        self.center = center
        self.outside_basis = outside_basis
        self.criterion_rank = criterion_rank
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _keeps_samples(self) -> bool:
        return self.center == "mean"

    def fit(self, X, y=None):
        """Choose the basis and find the components in its span that fit ``X`` best."""
        centroid = self._check_parameters()
        samples, kernel = self._start(X, min_samples=2 if centroid else 1)
        self._begin(samples, kernel, centroid)
        self._add(samples)
        self._solve(centroid, samples)
        del self._criterion
        return self

    def partial_fit(self, X, y=None):
        """Add samples to the criterion set.

        The basis is the given one, or is chosen from the first chunk, and then stays what it is. With
        a basis given as points, the result after any number of calls is that of one ``fit`` to all
        samples.
        """
        centroid = self._check_parameters()
        if centroid == "mean":
            raise ValueError("partial_fit keeps no samples, which center='mean' needs: use center=True.")
        if self.kernel == "precomputed":
            raise ValueError("partial_fit is not possible with kernel='precomputed': use fit.")
        first = not hasattr(self, "_criterion")
        samples, kernel = self._start(X, reset=first)
        if first:
            self._begin(samples, kernel, centroid)
        self._add(samples)
        self._solve(centroid, samples)
        return self

    def _add(self, samples):
        for block in self._blocks_of(samples, self._criterion.frame.kernel, "fit"):
            self._criterion.add(block)

    def _check_parameters(self) -> str | None:
        if self.outside_basis not in ("project", "include", "general"):
            raise ValueError(
                f"outside_basis must be 'project', 'include' or 'general', got {self.outside_basis!r}."
            )
        return check_center(self.center, CENTROIDS)

    def _begin(self, samples, kernel, centroid):
        check_n_components(self.n_components, 1)
        basis = choose_basis(self, samples, kernel, self.n_components, center=centroid)
        self.basis_, self.basis_indices_ = basis.points, basis.indices
        if isinstance(samples, RowSource):  # of which no more is at hand
            check_range(kernel, basis.points, training=True)
            check_positive(kernel, basis.points, centred=centroid is not None)
        self._criterion = SpanStatistics(kernel, basis.points)
        if self.outside_basis == "include" and basis.indices is None:
            self._criterion.add(basis.points)

    def _solve(self, centroid, samples):
        criterion = self._criterion
        frame, mean = criterion.frame, criterion.mean()
        subtracted = {None: 0.0 * mean, "basis": frame.mean_coordinates}.get(centroid, mean)
        scatter = criterion.scatter_about(subtracted)
        if self.criterion_rank is not None:
            scatter = _low_rank(scatter, frame, self.criterion_rank)
        r = check_n_components(self.n_components, len(scatter))
        eigenvalues, directions = top_eigenpairs(scatter, r)
        rank = numerical_rank(eigenvalues, rank_tolerance(len(scatter)))
        self.eigenvalues_, directions = eigenvalues[:rank], directions[:, :rank]
        self.n_samples_seen_ = criterion.n_samples
        centroid_expansion = {
            None: lambda: None,
            "mean": lambda: sample_mean(samples),
            "basis": lambda: sample_mean(self.basis_),
            "projected": lambda: frame.expand_near_mean(criterion.drift()),
        }[centroid]()
        self.operator_ = self._operator(frame, directions, scatter, centroid_expansion)

    def _operator(self, frame, directions, scatter, mean) -> FeatureOperator:
        left = frame.expand(directions)
        right = None
        if self.outside_basis == "general" and self.basis_indices_ is None:
            right = _restricted_to_samples(left, frame, scatter)
        return FeatureOperator(frame.kernel, left, right, mean, orthonormal=True)


def _restricted_to_samples(left: Expansion, frame: Frame, scatter: np.ndarray) -> Expansion:
    """Right vectors of the general solution, Eq. (27): the left ones times the projector on R(K_xy')."""
    eigenvalues, directions = top_eigenpairs(scatter)
    directions = directions[:, : numerical_rank(eigenvalues, rank_tolerance(len(scatter)))]
    # K_xy' holds the inner products of the basis with the samples: the frame's values at the basis turn
    # coordinates into such columns.
    span, _ = np.linalg.qr(frame.vectors.evaluate(frame.kernel, left.points) @ directions)
    return Expansion.over(left.points, span @ (span.T @ left.coefficients))


def _low_rank(scatter: np.ndarray, frame: Frame, rank: int) -> np.ndarray:
    """Replace ``K_xy' K_xy`` by its incomplete Cholesky decomposition ``G G'`` (Eq. 45).

    The text then asks for eigenvectors of ``G' K_y G``; what solves Eq. (21) is ``G' K_y^+ G``, that is
    the same matrix in coordinates of the frame.
    """
    rank = check_size("criterion_rank", rank, len(frame.vectors.points))
    at_basis = frame.vectors.evaluate(frame.kernel, frame.vectors.points)
    in_basis = at_basis @ scatter @ at_basis.T
    factor, _ = pivoted_cholesky(in_basis.diagonal(), lambda j: in_basis[:, j], rank)
    factor = frame.vectors.coefficients.T @ factor
    return factor @ factor.T
