"""Incremental kernel PCA: samples arrive in chunks, and a reduced set bounds the cost of an update."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from threadpoolctl import threadpool_limits

from kpca_lab.kernel_checks import check_positive
from kpca_lab.kernels import Kernel
from kpca_lab.linalg import fix_signs, numerical_rank, rank_tolerance, top_eigenpairs
from kpca_lab.methods.base import OperatorEstimator, check_n_components, refuse_share
from kpca_lab.methods.parameters import check_unchanged, remembered_parameters
from kpca_lab.methods.reduced_set import iterated_preimages, selected_points
from kpca_lab.operator import Expansion, FeatureOperator
from kpca_lab.preimage import check_has_preimages, preimage
from kpca_lab.span import Frame

COMPRESSIONS = ("preimages", "select", None)
EPS = np.finfo(np.float64).eps


class IncrementalKPCA(OperatorEstimator):
    """Kernel PCA updated chunk by chunk (Chin & Suter 2006, Sections 4 and 5).

    An update finds the singular value decomposition of the old components, scaled by their singular values,
    beside the new samples and the shift of the mean (Eqs. 11-18). That is exact, but components and mean
    are then written over all samples seen. So where these become too many, components and mean are
    approximated over a reduced set of points, and orthonormalised again (Section 5).

    Parameters
    ----------
    n_components : int, default=None
        Number of components kept after each update; all with a non-zero eigenvalue by default.
    kernel : str or callable, default="rbf"
        A name of :data:`kpca_lab.kernels.KERNELS` but "precomputed", or a function of two rows.
        The pre-images need one of the first three.
    gamma : float, "scale", "median" or None, default=None
        Width of the kernel, see :func:`kpca_lab.widths.resolve_gamma`; ``1 / n_features`` by default.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    batch_size : int, default=30
        Number of samples in each update by ``fit``.
    compression : {"preimages", "select", None}, default="preimages"
        How the reduced set is found: iterated pre-images of components and mean, as in the paper; those of
        the points at hand that represent components and mean best, which is faster and serves any
        kernel; or not at all, which keeps all samples and is exact.
    n_preimages : int, default=10
        Points allowed for each component and for the mean: a reduced set is found when there are more
        than ``(n_components + 1) * n_preimages`` points, and has at most as many.
    preimage_tol, preimage_max_iter : float, int, default=0.001, 10
        Each search for a pre-image ends when its step falls below ``preimage_tol`` times the spread of
        the points, or after ``preimage_max_iter`` steps.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        Squares of the singular values: without compression, eigenvalues of the centred kernel matrix.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples seen, and their shares of ``total_variance_``.
    n_samples_seen_ : int
        Number of samples fitted so far.
    n_points_ : int
        Number of points that components and mean are written over.

    See Also
    --------
    SubsetKPCA : ``partial_fit`` over a basis that stays what it is, much faster.
    sklearn.decomposition.IncrementalPCA : The linear method.

    Notes
    -----
    Eq. (24) as printed, with the columns of P normalised, gives back the vectors that it starts from, scaled
    to length one but not orthogonal. Here the rows of P are normalised, which gives the orthonormal vectors
    closest to them.

    The kernel's origin (see :mod:`kpca_lab.kernels`) is the mean of the first chunk and stays there. Sparse
    samples are refused: pre-images are dense, and points that are kept are gathered in one array. Give chunks
    as dense arrays to ``partial_fit``, or use :class:`SubsetKPCA`.

    References
    ----------
    .. [1] T.-J. Chin, D. Suter, "Incremental kernel PCA for efficient non-linear feature extraction",
       BMVC (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import IncrementalKPCA
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> model = IncrementalKPCA(n_components=4, gamma=0.5, n_preimages=5).fit(X)
    >>> model.transform(X).shape
    (300, 4)
    >>> model.n_points_ <= 25
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
        batch_size=30,
        compression="preimages",
        n_preimages=10,
        preimage_tol=1e-3,
        preimage_max_iter=10,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.batch_size = batch_size
        self.compression = compression
        self.n_preimages = n_preimages
        self.preimage_tol = preimage_tol
        self.preimage_max_iter = preimage_max_iter

    _keeps_samples = False  # a state holds copies
    _accepts_sparse = False

    def fit(self, X, y=None):
        """Forget what was learned, and learn from ``X`` in chunks of ``batch_size``, in their order.

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
        if not _is_count(self.batch_size):
            raise ValueError(f"batch_size must be an integer >= 1, got {self.batch_size!r}.")
        self._check_parameters()
        samples, kernel = self._start(X, min_samples=2)
        state = self._first_state(kernel, samples[: self.batch_size])
        for begin in range(0, len(samples), self.batch_size):
            state = self._update(state, samples[begin : begin + self.batch_size])
        return self._keep(state)

    def partial_fit(self, X, y=None):
        """Learn from one chunk of further samples.

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
        self._check_parameters()
        first = not hasattr(self, "_state")
        if not first:
            check_unchanged(self, self._begun_with)
        samples, kernel = self._start(X, reset=first)
        state = self._first_state(kernel, samples) if first else self._state
        return self._keep(self._update(state, samples))

    def _check_parameters(self) -> None:
        check_n_components(self.n_components, 1)
        refuse_share(self.n_components, "IncrementalKPCA")
        if self.compression not in COMPRESSIONS:
            raise ValueError(f"compression must be one of {list(COMPRESSIONS)}, got {self.compression!r}.")
        for name in ("n_preimages", "preimage_max_iter"):
            if not _is_count(getattr(self, name)):
                raise ValueError(f"{name} must be an integer >= 1, got {getattr(self, name)!r}.")
        if not isinstance(self.preimage_tol, Real) or not float(self.preimage_tol) >= 0:
            raise ValueError(f"preimage_tol must be a number >= 0, got {self.preimage_tol!r}.")
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("kernel='precomputed' cannot be updated: it holds no values of samples to come.")

    def _first_state(self, kernel: Kernel, samples) -> "State":
        if self.compression is not None:  # which projects the mean, too, on the span of the points
            if kernel.name == "additive_chi2":
                raise ValueError(
                    "kernel='additive_chi2' has a feature space only for differences of samples, which "
                    "compression does not keep to: use compression=None, or SubsetKPCA."
                )
            check_positive(kernel, samples, centred=False)
        if self.compression == "preimages":
            try:
                check_has_preimages(kernel)
            except ValueError as error:
                raise ValueError(f"{error} Use compression='select' or compression=None.") from error
        return State.empty(kernel.anchored(samples), samples.shape[1])

    def _update(self, state: "State", samples) -> "State":
        chunk = np.asarray(samples, dtype=np.float64)
        if self.compression is None:
            return state.updated(chunk, self.n_components)
        with threadpool_limits(1, "blas"):  # on matrices of this size threads wait longer than they work
            state = state.updated(chunk, self.n_components)
            limit = self.n_preimages * (1 + (self.n_components or len(state.singular_values)))
            if len(state.points) <= limit:
                return state
            return state.compressed(self._reduced_set(state, limit))

    def _reduced_set(self, state: "State", limit: int) -> np.ndarray:
        library = state.kernel, state.points, state.gram
        vectors = np.column_stack([state.basis, state.mean])
        if self.compression == "select":
            # Lengths as in the scatter matrix: errors of the mean and of the large components count for more.
            lengths = np.append(state.singular_values, np.sqrt(state.n_samples))
            return selected_points(*library, vectors * lengths, limit)
        if state.kernel.name == "linear":
            # Exact pre-images, of the mean and of steps away from it, so that they lie among the samples.
            step = state.singular_values.max(initial=0.0) / np.sqrt(state.n_samples)
            vectors[:, :-1] = step * vectors[:, :-1] + state.mean[:, None]
            return preimage(state.kernel, state.expansion(vectors))
        per_vector = limit // vectors.shape[1]
        return iterated_preimages(
            *library, vectors, per_vector, tol=self.preimage_tol, max_iter=self.preimage_max_iter
        )

    def _keep(self, state: "State"):
        self._state, self._begun_with = state, remembered_parameters(self)
        basis = fix_signs(state.basis)
        self.operator_ = FeatureOperator(
            state.kernel, state.expansion(basis), mean=state.expansion(state.mean[:, None]), orthonormal=True
        )
        self.eigenvalues_ = state.singular_values**2
        self._set_variances(state.total, state.n_samples)
        self.n_samples_seen_ = state.n_samples
        self.n_points_ = len(state.points)
        return self


@dataclass(frozen=True, eq=False)
class State:
    """Components, singular values and mean of the samples seen, over a library of points.

    A vector ``sum_i a_i phi(p_i)`` is a column that holds the total of the ``a_i`` first and then the
    ``a_i`` themselves. With the kernel's constant and offsets as first row and column of ``gram``, and its
    core values between the points as the rest, the inner product of two vectors is ``a' gram b``.
    """

    kernel: Kernel
    points: np.ndarray
    gram: np.ndarray
    basis: np.ndarray
    singular_values: np.ndarray
    mean: np.ndarray
    n_samples: int
    total: float = 0.0  # sum of squares of the samples about their mean

    @classmethod
    def empty(cls, kernel: Kernel, n_features: int) -> "State":
        """No samples and no components."""
        gram = np.array([[kernel.constant]])
        return cls(kernel, np.empty((0, n_features)), gram, np.empty((1, 0)), np.empty(0), np.zeros(1), 0)

    def expansion(self, vectors: np.ndarray) -> Expansion:
        """Vectors of this state as an expansion."""
        return Expansion(self.points, vectors[1:], vectors[0])

    def with_points(self, points: np.ndarray) -> "State":
        """The same vectors over a library with more points."""
        offset, core = self.kernel.offset(points)[:, None], self.kernel.core(points, points)
        across = offset
        if len(self.points):
            across = np.hstack([offset, self.kernel.core(points, self.points)])
        more = np.zeros((len(points), self.basis.shape[1]))
        return State(
            self.kernel,
            np.concatenate([self.points, points]),
            np.block([[self.gram, across.T], [across, core]]),
            np.concatenate([self.basis, more]),
            self.singular_values,
            np.concatenate([self.mean, np.zeros(len(points))]),
            self.n_samples,
            self.total,
        )

    def updated(self, samples: np.ndarray, n_components: int | None) -> "State":
        """What the state becomes with a chunk of further samples, Eqs. (7)-(18)."""
        n, c = self.n_samples, len(samples)
        grown = self.with_points(samples)
        gram, basis, old_mean = grown.gram, grown.basis, grown.mean
        chunk_mean = np.zeros(len(gram))
        chunk_mean[0], chunk_mean[-c:] = 1.0, 1.0 / c  # Eq. (7)
        mean = (n * old_mean + c * chunk_mean) / (n + c)  # Eq. (8)

        news = np.zeros((len(gram), c + 1))  # the matrix E of Eq. (10)
        news[-c:, :c] = np.eye(c) - 1.0 / c
        news[:, c] = np.sqrt(n * c / (n + c)) * (old_mean - chunk_mean)

        gram_news = gram @ news
        along = basis.T @ gram_news  # L, Eq. (14)
        beyond = news - basis @ along  # H, Eq. (15)
        beyond -= basis @ (basis.T @ (gram @ beyond))  # what rounding has left of the old components
        added = float(np.sum(news * gram_news))
        scale = max(np.square(self.singular_values).max(initial=0.0), added)
        directions = _orthonormalized(beyond, gram, self._noise(beyond, gram, scale))  # J, Eqs. (16)-(17)

        r, extra = basis.shape[1], directions.shape[1]
        middle = np.zeros((r + extra, r + c + 1))  # F, Eq. (12)
        middle[:r, :r] = np.diag(self.singular_values)
        middle[:r, r:] = along
        middle[r:, r:] = directions.T @ gram_news
        turn, singular_values, _ = np.linalg.svd(middle, full_matrices=False)
        rank = numerical_rank(singular_values**2, rank_tolerance(len(gram)))
        rank = check_n_components(n_components, rank)
        turned = np.hstack([basis, directions]) @ turn[:, :rank]  # Eq. (18)
        total = self.total + added
        return State(self.kernel, grown.points, gram, turned, singular_values[:rank], mean, n + c, total)

    def _noise(self, vectors: np.ndarray, gram: np.ndarray, scale: float) -> float:
        """Eigenvalues of ``vectors' gram vectors`` up to this are no directions but rounding of its terms."""
        sizes = np.abs(vectors)
        terms = np.einsum("ij,ij->j", sizes, np.abs(gram) @ sizes).max()
        origin = 100 * len(gram) * EPS**2 * abs(self.kernel.constant)  # from subtracting the kernel's origin
        return max(rank_tolerance(len(gram)) * scale, 10 * EPS * terms) + origin

    def compressed(self, points: np.ndarray) -> "State":
        """The state over other points, Section 5.

        All vectors are projected on the span of the points, which are the coefficients of the second pass
        (Section 5.2), and the components are orthonormalised by Eqs. (22)-(25).
        """
        frame = Frame.of(self.kernel, points, tol=1e-11)
        vectors = frame.vectors
        components = vectors.inner(self.kernel, self.expansion(self.basis))
        left, lengths, right = np.linalg.svd(components, full_matrices=False)
        rank = numerical_rank(lengths, 1e-8)
        if rank == components.shape[1]:
            turned = left @ right  # Eq. (24): Q_o D_o^(-1/2) Q_o' in coordinates of the frame
            singular_values = np.einsum("ij,ij->j", turned, components) * self.singular_values  # Eq. (25)
        else:  # fewer dimensions than components: keep the span, and what the samples have along it
            turned, singular_values, _ = np.linalg.svd(
                left[:, :rank] @ (left[:, :rank].T @ components * self.singular_values), full_matrices=False
            )
            turned, singular_values = turned[:, :rank], singular_values[:rank]
        order = np.argsort(-singular_values, kind="stable")
        over_frame = np.vstack([vectors.totals, vectors.coefficients])
        empty = State.empty(self.kernel, points.shape[1]).with_points(points)
        return State(
            self.kernel,
            points,
            empty.gram,
            over_frame @ turned[:, order],
            singular_values[order],
            over_frame @ vectors.inner(self.kernel, self.expansion(self.mean[:, None])).ravel(),
            self.n_samples,
            self.total,
        )


def _orthonormalized(vectors: np.ndarray, gram: np.ndarray, noise: float) -> np.ndarray:
    """Orthonormal vectors that span the given ones, but for directions with eigenvalues up to ``noise``.

    Done twice: with eigenvalues of very different size the first result is orthonormal to few digits only.
    """
    for least in (noise, 0.5):
        eigenvalues, turn = top_eigenpairs(vectors.T @ (gram @ vectors), solver="dense")
        kept = eigenvalues > least
        vectors = vectors @ (turn[:, kept] / np.sqrt(eigenvalues[kept]))
    return vectors


def _is_count(value) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
