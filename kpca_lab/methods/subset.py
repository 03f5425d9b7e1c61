"""Subset KPCA: the best operator over a few basis samples, judged on all samples."""

import numpy as np
from sklearn.utils import check_random_state

from kpca_lab.deflation import FAR_ABOVE, eigenpairs_beside
from kpca_lab.gap import GapEstimate, estimate_gap, relative_gap, span_floor
from kpca_lab.kernel_checks import check_positive, check_range
from kpca_lab.linalg import numerical_rank, rank_tolerance, top_eigenpairs
from kpca_lab.methods.base import (
    check_center,
    check_n_components,
    check_size,
    in_precision,
    n_components_kept,
    take_rows,
)
from kpca_lab.methods.basis import BasisEstimator, choose_basis
from kpca_lab.methods.blockwise import BlockwiseEstimator
from kpca_lab.methods.growth import check_growth, fit_growing
from kpca_lab.methods.parameters import check_unchanged, remembered_parameters
from kpca_lab.methods.subset_forms import centroid_vector, low_rank_criterion, restricted_to_samples
from kpca_lab.operator import FeatureOperator
from kpca_lab.precision import check_precision, rows_to_measure
from kpca_lab.rows import RowSource, as_rows
from kpca_lab.statistics import SpanStatistics, merged_sums

# What is computed from the statistics, at the end of fit or when it is first asked for.
SOLVED = (
    "operator_", "eigenvalues_", "explained_variance_", "explained_variance_ratio_", "total_variance_",
    "error_", "error_floor_", "gap_bound_",
)  # fmt: skip
# fit_transform keeps kernel values up to this size.
KEPT_BYTES = 64 * 2**20
# On a cluster a part has this many rows for each basis sample, so that merging costs little beside it.
PART_ROWS = 50
CENTROIDS = {False: None, True: "projected", "mean": "mean", "basis": "basis", "projected": "projected"}


class SubsetKPCA(BlockwiseEstimator, BasisEstimator):
    """Kernel PCA whose components lie in the span of a basis, fitted to all samples (SubKPCA).

    Minimises the mean reconstruction error of all samples over the operators of rank
    ``n_components`` within the span of the basis (Washizawa 2012, Eq. 20): the solution is the
    generalised eigenproblem ``K_xy' K_xy z = kappa K_y z`` of Eq. (21). Samples are read once, in blocks, so
    memory is O(n_basis^2) beside the data, which may be an array or anything that
    :func:`kpca_lab.rows.as_rows` takes: a memory map of any type, h5py, zarr, Dask, Parquet, chunks.

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
    kpca_lab.gap : The same for other methods.
    FullKPCA : The best possible.

    Notes
    -----
    With ``K = K^ + R``, where ``K^`` is the part of the (centred) Gram matrix within the span of the basis,
    and eigenvalues ``l_i`` of ``K^``::

        sum_{i>r} l_i / n  <=  error of full KPCA  <=  error_  =  sum_{i>r} l_i / n + trace R / n.

    The proof, for each centring, is in :mod:`kpca_lab.gap`. The floor is lowered by what rounding does to
    it, see :func:`kpca_lab.gap.span_floor`; with all samples as basis the gap vanishes but for that.
    With ``outside_basis="include"`` the n samples of all this are samples and basis. Kernels that
    are not positive semidefinite have no such bound.

    References
    ----------
    .. [1] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> model = SubsetKPCA(n_components=5, gamma=0.1, n_basis=50, random_state=0).fit(X)
    >>> model.transform(X).shape
    (500, 5)
    >>> bool(model.error_floor_ <= model.error_ < 0.02)
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
        n_basis="auto",
        selector="random",
        basis=None,
        center=True,
        outside_basis="project",
        criterion_rank=None,
        tol=None,
        max_basis=None,
        precision="auto",
        random_state=None,
        verbose=0,
    ):
        super().__init__(
            n_components,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            n_basis=n_basis,
            selector=selector,
            basis=basis,
            center=center,
            random_state=random_state,
        )
        self.outside_basis = outside_basis
        self.criterion_rank = criterion_rank
        self.tol = tol
        self.max_basis = max_basis
        self.precision = precision
        self.verbose = verbose

    @property
    def _keeps_samples(self) -> bool:
        return self.center == "mean"

    def fit(self, X, y=None):
        """Choose the basis and find the components in its span that fit ``X`` best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or anything that :func:`kpca_lab.rows.as_rows` takes
            For a precomputed kernel, the kernel matrix of the samples.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X)
        return self

    def fit_transform(self, X, y=None):
        """Fit to ``X`` and project it on the components, as ``fit(X).transform(X)`` does.

        Kernel values of ``X`` with the basis that take up to 64 MiB are computed once for both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or anything that ``fit`` takes
            The samples.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The components of each sample.
        """
        samples, core = self._fit(X, keep_core=True)
        if core is None:
            return self.transform(X)
        return in_precision(self.operator_.transform_core(core, samples), samples.dtype)

    def _fit(self, X, keep_core: bool = False):
        """Fit to ``X``; return the samples and their kernel values with the basis, or None for these."""
        self._forget()
        centroid = self._check_parameters()
        samples, kernel = self._start(X, min_samples=2 if centroid else 1)
        if self.tol is not None:
            fit_growing(self, samples, kernel, centroid)
            return samples, None
        basis = choose_basis(self, samples, kernel, self.n_components, center=centroid)
        keep_core &= isinstance(samples, np.ndarray) and kernel.name != "precomputed"
        return samples, self._fit_to(samples, kernel, basis, centroid, keep_core)

    def _fit_to(self, samples, kernel, basis, centroid, keep_core: bool = False) -> np.ndarray | None:
        self._forget()
        self._begin(samples, kernel, basis, centroid)
        core = None
        if keep_core and self.statistics_.is_double and 8 * len(samples) * len(basis.points) <= KEPT_BYTES:
            core = np.empty((len(samples), len(basis.points)))
        self._add(samples, first=True, core=core)
        self._samples_of_mean = samples if centroid == "mean" else None
        self._solve()
        return core

    def partial_fit(self, X, y=None):
        """Add samples to those fitted so far.

        The basis is the given one, or is chosen from the first chunk (or by an earlier ``fit``), and then
        stays what it is. With a basis given as points, the result after any number of calls is that of one
        ``fit`` to all samples. Components are computed when something that depends on them is asked for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The new samples.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        centroid = self._check_parameters()
        if centroid == "mean":
            raise ValueError("partial_fit keeps no samples, which center='mean' needs: use center=True.")
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("partial_fit is not possible with kernel='precomputed': use fit.")
        first = "statistics_" not in vars(self)
        if self.tol is not None and first:
            raise ValueError("tol lets the basis grow, for which all samples are needed: begin with fit.")
        if not first:
            check_unchanged(self, self._begun_with)
        samples, kernel = self._start(X, reset=first)
        if first:
            basis = choose_basis(self, samples, kernel, self.n_components, center=centroid)
            self._begin(samples, kernel, basis, centroid)
        self._forget_solution()
        self._samples_of_mean = None
        self._add(samples, first)
        return self

    def _add(self, samples, first, core=None):
        statistics = self.statistics_
        if not isinstance(samples, RowSource):
            statistics.add(samples, core)
            return
        least = PART_ROWS * self.basis_.shape[0]
        try:
            sums = samples.reduce(
                statistics.fresh().sums_over, merged_sums, least_rows=least, verbose=self.verbose, label="fit"
            )
        except BaseException:  # some row may be bad
            if first:
                self._forget()
            raise
        statistics.add_sums(sums)

    def estimate_gap(self, X, *, n_samples: int = 2000, random_state=None) -> GapEstimate:
        """Estimate how far ``error_`` is above that of full KPCA, more sharply than ``gap_bound_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples that the model was fitted to; for a precomputed kernel, their numbers.
        n_samples : int
            How many rows of ``X`` to draw. Takes ``n_samples^2`` numbers of memory.
        random_state : int, RandomState or None
            For the draw.

        Returns
        -------
        GapEstimate
            With fields ``estimate`` (too large in expectation, see :mod:`kpca_lab.gap`), ``spread``,
            ``floor``, ``error`` and ``n_samples``.

        Examples
        --------
        >>> import numpy as np
        >>> from kpca_lab import SubsetKPCA
        >>> X = np.random.default_rng(0).standard_normal((5000, 5))
        >>> model = SubsetKPCA(n_components=10, n_basis=300, random_state=0).fit(X)
        >>> found = model.estimate_gap(X, n_samples=1000, random_state=0)
        >>> bool(0 < found.estimate < model.gap_bound_)
        True
        """
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        samples: np.ndarray | RowSource
        if self._is_read_in_blocks(X):
            samples = as_rows(X)
        else:
            samples = np.asarray(X) if precomputed else self._samples(X)
        count = check_size("n_samples", min(n_samples, samples.shape[0]), samples.shape[0])
        drawn = check_random_state(random_state).choice(samples.shape[0], count, replace=False)
        return self._estimated_gap(take_rows(samples, np.sort(drawn)))

    def _estimated_gap(self, samples, core: np.ndarray | None = None) -> GapEstimate:
        n_outside = self.n_components_ + (CENTROIDS[self.center] in ("mean", "projected"))
        errors = self.error_, self.error_floor_, rank_tolerance(self.basis_.shape[0]) * self.total_variance_
        return estimate_gap(self.statistics_, samples, n_outside, *errors, core)

    def __getattr__(self, name):
        # What follows from the statistics is computed when it is first asked for after partial_fit.
        if name in SOLVED and "statistics_" in vars(self):
            self._solve()
            return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "statistics_" in vars(self)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples fitted so far."""
        return self.statistics_.n_samples

    def _forget(self):
        self._forget_solution()
        vars(self).pop("statistics_", None)

    def _forget_solution(self):
        for name in (*SOLVED, "gap_"):
            vars(self).pop(name, None)

    def _check_parameters(self) -> str | None:
        if self.outside_basis not in ("project", "include", "general"):
            raise ValueError(
                f"outside_basis must be 'project', 'include' or 'general', got {self.outside_basis!r}."
            )
        check_n_components(self.n_components, 1)
        check_precision(self.precision)
        if self.tol is not None:
            check_growth(self)
        return check_center(self.center, CENTROIDS)

    def _begin(self, samples, kernel, basis, centroid):
        self._begun_with = remembered_parameters(self)
        self.basis_, self.basis_indices_ = basis.points, basis.indices
        if isinstance(samples, RowSource):  # of which no more is at hand
            check_range(kernel, basis.points, training=True)
            check_positive(kernel, basis.points, centred=centroid is not None)
        self.statistics_ = SpanStatistics(kernel, basis.points, np.inf if self.precision == "mixed" else 0.0)
        if self.precision == "auto" and (some := rows_to_measure(samples)) is not None:
            self.statistics_.allow_single_precision(take_rows(samples, some), self.n_components)
        if self.outside_basis == "include" and basis.indices is None:
            self.statistics_.add(basis.points)

    def _solve(self):
        statistics, centroid = self.statistics_, self._check_parameters()
        frame, mean, n = statistics.frame, statistics.mean(), statistics.n_samples
        subtracted = {None: 0.0 * mean, "basis": frame.mean_coordinates}.get(centroid, mean)
        scatter, away = statistics.scatter(), mean - subtracted
        outside = statistics.outside(scatter)
        spread = max(float(scatter.trace() + outside), 0.0)
        k = check_n_components(self.n_components, len(scatter))
        best, directions, rest = eigenpairs_beside(scatter, n**0.5 * away, k)
        eigenvalues, total = best, spread + n * float(away @ away)
        scatter += n * np.outer(away, away)
        if self.criterion_rank is not None:
            eigenvalues, directions = top_eigenpairs(
                low_rank_criterion(scatter, frame, self.criterion_rank), k
            )
        rank = numerical_rank(eigenvalues, rank_tolerance(len(scatter)))
        rank = n_components_kept(self.n_components, eigenvalues[:rank], total)
        self.eigenvalues_, directions = eigenvalues[:rank], directions[:, :rank]
        self._set_variances(total, n)
        subtracted = centroid_vector(centroid, statistics, self.basis_, self._samples_of_mean)
        self.operator_ = self._operator(frame, directions, scatter, subtracted)
        best, rest = best[:rank], rest + float(best[rank:].sum())
        scale = min(total, FAR_ABOVE * spread)
        self.error_floor_, rounding = span_floor(rest, outside, scale, n, len(scatter))
        along = (
            best if self.criterion_rank is None else np.einsum("ij,ij->j", directions, scatter @ directions)
        )
        self.error_ = max(rest + outside + float(best.sum() - self._captured(along)), 0.0) / n
        self.gap_bound_ = relative_gap(self.error_, self.error_floor_, rounding)

    def _captured(self, along: np.ndarray) -> float:
        """By how much the components lower the sum of squares, which is ``along`` them."""
        return float(along.sum())

    def _operator(self, frame, directions, scatter, mean) -> FeatureOperator:
        left = frame.expand(directions)
        general = self.outside_basis == "general" and self.basis_indices_ is None
        right = restricted_to_samples(left, frame, scatter) if general else None
        return FeatureOperator(frame.kernel, left, right, mean, orthonormal=True)
