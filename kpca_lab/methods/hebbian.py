"""Kernel PCA by the kernel Hebbian algorithm: one sample at a time, without an eigendecomposition."""

import warnings
from functools import lru_cache
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kpca_lab.gram import gram_matrix
from kpca_lab.linalg import fix_signs, pivoted_cholesky
from kpca_lab.methods.base import OperatorEstimator, check_center, check_n_components, refuse_share
from kpca_lab.methods.full import sample_mean
from kpca_lab.methods.ritz import DistanceFromComponents, principal_axes
from kpca_lab.operator import Expansion, FeatureOperator

GAINS = ("kesten", "constant", "et", "smd")
DEFAULT_COMPONENTS = 10
# A row this long in feature space, where 1 is the fixed point, will not come back.
DIVERGED = 1e3
RESTARTS = 12
# Eigenvalue estimates below this share of the largest do not raise the gain any further.
SMALLEST_SHARE = 1e-6
LARGEST_LOG_STEP = np.log(2.0)
# Passes after which the gains have fallen to a half; faster, they fall before the components have turned.
PASSES_TO_HALF = 20
# Samples whose steps are taken together.
BLOCK = 64


class HebbianKPCA(OperatorEstimator):
    """Iterative kernel PCA by the kernel Hebbian algorithm, with four kinds of gains.

    The components are ``Phi' A'`` with a row of ``A`` for each, ``Phi'`` being the (centred) samples in
    feature space. Sample ``p`` with kernel column ``k_p`` gives ``y = A k_p`` and the step

        ``A <- A + diag(eta) H(A)``,  ``H(A) = y e_p' - lt(y y') A``,

    where lt keeps the lower triangle and the diagonal. The steps of a block of samples need only the kernel
    values within the block, and ``A`` follows once for the block: a step costs O(n_components n_samples).

    Parameters
    ----------
    n_components : int, default=None
        Number of components; 10 by default, fewer where the rank of the kernel matrix is lower.
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
    gain : {"kesten", "constant", "et", "smd"}, default="kesten"
        "constant": ``eta = eta0`` (KHA). "et": ``eta_i = eta0 (|lambda| / lambda_i) tau / (t + tau)`` with
        the estimates ``lambda_i = |K' a_i| / |a_i|`` renewed in each pass (KHA/et). "smd": the latter
        times ``exp(rho_i)``, which stochastic meta-descent adapts (KHA-SMD, see Notes). "kesten": as "et",
        but for ``t`` it counts the passes in which component ``i`` turned back, so that a gain falls only
        once its component trembles.
    eta0 : float, default=0.3
        Gain in units of the inverse mean of ``k'(x, x)``, so that it does not depend on the kernel's scale.
        If the iteration diverges it starts again with a quarter of the gain, see ``eta0_``.
    tau : float, default=None
        Number of steps ``t`` after which the gains have fallen to a half; by default 20 passes, and one
        with ``gain="kesten"``.
    meta_gain, memory : float, default=0.3, 0.99
        The ``mu`` and ``xi`` of stochastic meta-descent.
    max_iter : int, default=1000
        Limit of the passes over the samples, each in a new random order.
    tol : float, default=5e-05
        Stop when no component is farther than this from the one of full kernel PCA, as one minus the cosine
        that the residuals ``|K' a - lambda a|`` allow for (see Notes). With 0 all passes are taken;
        otherwise a ConvergenceWarning tells how far the components are when the passes were not enough.
    orthonormalize : bool, default=False
        The rows of ``A`` are orthonormal in feature space only in the limit, and by default the operator has
        them as they are. True: an orthonormal basis of their span, turned to the principal axes in it.
    center : bool or "mean", default=True
        Whether to subtract the mean of the samples in feature space.
    random_state : int, RandomState or None, default=None
        Start of ``A`` and order of the samples.

    Attributes
    ----------
    operator_ : FeatureOperator
        The components and what is subtracted, as an operator in feature space.
    eigenvalues_ : ndarray of shape (n_components,)
        Estimates ``lambda_i`` of the largest eigenvalues of the (centred) kernel matrix; after
        ``orthonormalize`` the Ritz values.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        ``eigenvalues_`` over the number of samples, and their shares of ``total_variance_``.
    n_iter_ : int
        Number of passes or iterations that were taken.
    converged_ : bool
        Whether ``tol`` was reached.
    eta0_ : float
        The gain that was used.

    See Also
    --------
    FullKPCA : The limit that the iteration goes to.
    IncrementalKPCA : Updates by chunks, without gains to choose.

    Notes
    -----
    Stochastic meta-descent carries ``B``, the derivative of ``A`` with respect to the logarithms ``rho`` of
    the gains, forgetting the past with ``xi``:

        ``rho_i <- rho_i + mu <H(A)_i, B_i>``  (inner product in feature space),
        ``B <- xi B + diag(exp(rho) eta) (H(A) + xi dH(A)[B])``,

    with the derivative of ``H`` in the direction ``B``, where ``b = B k_p``,

        ``dH(A)[B] = b e_p' - lt(y y') B - lt(b y' + y b') A``.

    A step of ``rho_i`` is limited to log 2 either way. Many steps can still lower a gain so far that its
    component stays where it is, away from the limit.

    With ``gain="kesten"`` this cannot happen: a component turns back in a pass where its change has a
    negative inner product with the last one, in feature space [4]_. That is at most once a pass, so the sum
    of the gains is infinite, and near the limit about every second pass, so the gains go to zero.

    The distance that ``tol`` bounds has two parts. Within the span of the rows it is the angle to the Ritz
    vectors. Out of it, the sine of the angle is at most the residual of a Ritz vector over the gap between
    its Ritz value and the eigenvalues outside, which a power iteration beside the rows estimates. Components
    whose eigenvalues differ by less than a thousandth count as one space. Others that are close converge
    slowly, and the warning tells the gap.

    References
    ----------
    .. [1] S. Günter, N. N. Schraudolph, S. V. N. Vishwanathan, "Fast iterative kernel principal component
       analysis", Journal of Machine Learning Research 8 (2007), 1893-1918.
    .. [2] K. I. Kim, M. O. Franz, B. Schölkopf, "Iterative kernel principal component analysis for image
       modeling", IEEE Transactions on Pattern Analysis and Machine Intelligence 27 (2005).
    .. [3] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 5.4.
    .. [4] H. Kesten, "Accelerated stochastic approximation", Annals of Mathematical Statistics 29 (1958),
       41-59.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import FullKPCA, HebbianKPCA
    >>> from kpca_lab.metrics import operator_distance
    >>> X = np.random.default_rng(0).standard_normal((100, 2)) * [3, 1]
    >>> model = HebbianKPCA(n_components=2, gamma=0.02, random_state=0).fit(X)
    >>> bool(operator_distance(model, FullKPCA(n_components=2, gamma=0.02).fit(X)).d < 0.05)
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
        gain="kesten",
        eta0=0.3,
        tau=None,
        meta_gain=0.3,
        memory=0.99,
        max_iter=1000,
        tol=5e-5,
        orthonormalize=False,
        center=True,
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.gain = gain
        self.eta0 = eta0
        self.tau = tau
        self.meta_gain = meta_gain
        self.memory = memory
        self.max_iter = max_iter
        self.tol = tol
        self.orthonormalize = orthonormalize
        self.center = center
        self.random_state = random_state

    def fit(self, X, y=None):
        """Pass over the samples until the components settle.

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
        self._check_parameters()
        samples, kernel = self._start(X, min_samples=2 if center else 1)
        kernel = kernel.anchored(samples)
        gram = gram_matrix(kernel, samples, center=center)
        wanted = DEFAULT_COMPONENTS if self.n_components is None else self.n_components
        _, pivots = pivoted_cholesky(gram.diagonal(), lambda j: gram[:, j], min(wanted, len(gram)))
        scale = gram.diagonal().mean()
        if not len(pivots) or scale <= 0:
            A = np.zeros((0, len(gram)))
            self.n_iter_, self.converged_, self.eta0_ = 0, True, self.eta0
        else:
            A = self._iterate(gram / scale, len(pivots)) / np.sqrt(scale)
        if self.orthonormalize:
            self.eigenvalues_, turn = principal_axes(A, A @ gram)
            A = turn.T @ A
        else:
            self.eigenvalues_ = _eigenvalue_estimates(A, A @ gram)
        self._set_variances(gram.trace(), len(gram))
        coefficients, totals, mean = A.T, None, None
        if center:
            coefficients = coefficients - coefficients.mean(axis=0)
            totals, mean = np.zeros(len(A)), sample_mean(samples)
        left = Expansion.over(samples, fix_signs(coefficients), totals)
        self.operator_ = FeatureOperator(kernel, left, mean=mean, orthonormal=bool(self.orthonormalize))
        return self

    def _check_parameters(self):
        check_n_components(self.n_components, 1)
        refuse_share(self.n_components, "HebbianKPCA")
        if self.gain not in GAINS:
            raise ValueError(f"gain must be one of {list(GAINS)}, got {self.gain!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be an integer >= 1, got {self.max_iter!r}.")
        if not isinstance(self.tol, Real) or not self.tol >= 0:
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}.")
        for name in ("eta0", "tau"):
            value = getattr(self, name)
            if name == "tau" and value is None:
                continue
            if not isinstance(value, Real) or not 0 < value < np.inf:
                raise ValueError(f"{name} must be a finite number > 0, got {value!r}.")
        if not isinstance(self.meta_gain, Real) or not 0 <= self.meta_gain < np.inf:
            raise ValueError(f"meta_gain must be a finite number >= 0, got {self.meta_gain!r}.")
        if not isinstance(self.memory, Real) or not 0 <= self.memory <= 1:
            raise ValueError(f"memory must lie between 0 and 1, got {self.memory!r}.")

    def _iterate(self, gram: np.ndarray, r: int) -> np.ndarray:
        """The rows of A for a kernel matrix of unit mean diagonal; on divergence it starts again."""
        n = len(gram)
        seed = int(self._generator().integers(2**31))
        self.eta0_ = float(self.eta0)
        for _ in range(RESTARTS):
            rng = np.random.default_rng(seed)
            start = rng.standard_normal((r, n)) / np.sqrt(r * n)
            rows = np.vstack([start, np.zeros_like(start)]) if self.gain == "smd" else start
            log_gains, images = np.zeros(r), rows @ gram
            turns, last, distance = np.zeros(r), np.zeros((r, n)), DistanceFromComponents(gram, r)
            for number in range(self.max_iter):
                before = rows[:r], images[:r]
                with np.errstate(over="ignore", invalid="ignore"):
                    gains = self._gains(*before, turns)
                    rows = self._pass(
                        rows, images @ rows.T, gram, rng.permutation(n), gains, log_gains, number * n
                    )
                    images = rows @ gram
                    length = np.einsum("ij,ij->i", rows[:r], images[:r])
                if not (length < DIVERGED).all():
                    break
                # Kesten's rule: the change of a component, against the one before, in feature space.
                turns += np.einsum("ij,ij->i", rows[:r] - before[0], last) < 0
                last = images[:r] - before[1]
                self.n_iter_ = number + 1
                self.converged_ = self.tol > 0 and distance(rows[:r], images[:r]) <= self.tol
                if self.converged_ or self.n_iter_ == self.max_iter:
                    if self.tol > 0 and not self.converged_:
                        self._warn(distance)
                    return rows[:r]
            self.eta0_ /= 4
        raise ValueError(
            f"The Hebbian iteration diverged with eta0={self.eta0!r} and with every gain down to "
            f"{4 * self.eta0_:.3g}: some samples are far larger than the others; scale them, or lower eta0."
        )

    def _warn(self, distance: DistanceFromComponents) -> None:
        warnings.warn(
            f"The components are up to {distance.value:.1e} (one minus cosine) from those of full kernel "
            f"PCA after max_iter={self.max_iter} passes, above tol={self.tol!r}. Component "
            f"{distance.worst + 1} is farthest: its eigenvalue is {100 * distance.gap:.2g} % from another "
            f"and {distance.share:.1g} of the first, and close or small ones are slow: raise max_iter, "
            "ask for fewer components, or take FullKPCA.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _gains(self, A: np.ndarray, images: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """The gains of a pass, for KHA/et and KHA-SMD before they are annealed."""
        if self.gain == "constant":
            return np.full(len(A), self.eta0_)
        estimates = _eigenvalue_estimates(A, images)
        shares = np.maximum(estimates, SMALLEST_SHARE * estimates.max()) / np.linalg.norm(estimates)
        if self.gain == "kesten":
            half = 1.0 if self.tau is None else self.tau / A.shape[1]
            return self.eta0_ / shares * (half / (turns + half))
        return self.eta0_ / shares

    def _pass(self, rows, inner, gram, order, gains, log_gains, done) -> np.ndarray:
        """The rows after one step for each sample in the given order, after ``done`` earlier steps.

        ``rows`` is A, with B below it for meta-descent, and ``inner`` the matrix ``rows K' rows'``. A step is
        ``rows <- turn rows + add e_p'`` and needs of the rows no more than their products with ``k_p``. So
        these are carried along for a block of samples, and the rows follow once for the block.
        """
        n, r, size = len(gram), len(gains), len(rows)
        tau = PASSES_TO_HALF * n if self.tau is None else self.tau
        upper = np.triu(np.ones((r, r)))
        for begin in range(0, n, BLOCK):
            block = order[begin : begin + BLOCK]
            width = len(block)
            kernel_rows = gram[block]
            within = kernel_rows[:, block]
            # [rows K', what the rows have gained, what they are multiplied by], for the samples of the block
            carried = np.hstack([rows @ kernel_rows.T, np.zeros((size, width)), np.eye(size)])
            for i in range(width):
                annealed = gains
                if self.gain in ("et", "smd"):
                    annealed = gains * (tau / (done + begin + i + tau))
                old = carried[:, i]
                if self.gain == "smd":
                    y, b = old[:r], old[r:]
                    along = y * (b - y @ (upper * inner[:r, r:]))  # <H(A)_i, B_i>
                    along *= self.meta_gain
                    log_gains += np.minimum(np.maximum(along, -LARGEST_LOG_STEP), LARGEST_LOG_STEP)
                    turn, add = meta_step(y, b, annealed * np.exp(log_gains), self.memory)
                    inner = (turn @ inner + add[:, None] * old) @ turn.T
                else:
                    turn, add = hebbian_step(old, annealed)
                carried = turn @ carried
                carried[:, :width] += add[:, None] * within[i]
                carried[:, width + i] = add
                if self.gain == "smd":
                    inner += carried[:, i, None] * add
            rows = carried[:, 2 * width :] @ rows
            rows[:, block] += carried[:, width : 2 * width]
        return rows


def hebbian_step(y: np.ndarray, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The step ``A + diag(gains) H(A)`` as ``turn A + add e_p'``: the matrix and the vector."""
    identity, lower = _triangle(len(y))
    add = gains * y
    return identity - lower * (add[:, None] * y), add


def meta_step(
    y: np.ndarray, b: np.ndarray, gains: np.ndarray, memory: float
) -> tuple[np.ndarray, np.ndarray]:
    """The same for A with B below it, where ``B <- xi B + diag(gains) (H(A) + xi dH(A)[B])``."""
    r = len(y)
    _, lower = _triangle(r)
    turn, add = np.zeros((2 * r, 2 * r)), np.empty(2 * r)
    turn[:r, :r], add[:r] = hebbian_step(y, gains)
    add[r:] = add[:r] + (memory * gains) * b
    turn[r:, :r] = -lower * (add[r:, None] * y + add[:r, None] * (memory * b))
    turn[r:, r:] = memory * turn[:r, :r]
    return turn, add


@lru_cache(maxsize=8)
def _triangle(r: int) -> tuple[np.ndarray, np.ndarray]:
    """The identity, and the mask of the lower triangle with the diagonal."""
    return np.eye(r), np.tril(np.ones((r, r)))


def _eigenvalue_estimates(A, AK) -> np.ndarray:
    return np.linalg.norm(AK, axis=1) / np.linalg.norm(A, axis=1)
