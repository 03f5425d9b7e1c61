"""Block Lanczos: the largest eigenpairs of a symmetric operator that is known by its products only."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dnrm2

from kpca_lab.blas import product

EPS = np.finfo(np.float64).eps
# Random directions, and products with them, that must not bring up another large eigenvalue.
N_PROBES, PROBE_STEPS = 4, 3


class KrylovResult(NamedTuple):
    """What :func:`block_krylov` found: eigenvalues in ascending order, as from LAPACK, and their vectors."""

    values: np.ndarray
    vectors: np.ndarray
    residual: float
    n_products: int
    converged: bool


def block_krylov(
    multiply: Callable[[np.ndarray], np.ndarray],
    n: int,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float = 1e-10,
    block: int = 8,
    start: np.ndarray | None = None,
    room: int | None = None,
    max_products: int = 2000,
) -> KrylovResult:
    """The ``k`` algebraically largest eigenpairs of a symmetric operator.

    Block Lanczos with full orthogonalisation and thick restarts. Only products with blocks of vectors touch
    the operator, so a matrix streams through memory far fewer times than with single vectors.

    Parameters
    ----------
    multiply : callable
        The operator's product with an array of shape (n, any number of columns).
    n, k : int
    rng : numpy Generator
        Random vectors: the first block, and probes.
    tol : float
        Stop when each residual is below ``tol`` times the eigenvalue of largest magnitude.
    block : int
        Number of vectors in a product.
    start : ndarray of shape (n, any number of columns), optional
        The first block, where approximate eigenvectors are known and products are dear: convergence is
        tested after each, and no product is spent on probing. A few random columns belong into it.
    room : int, optional
        Largest number of vectors in the basis; ``max(9 k, k + 30 block)`` by default.
    max_products : int
        Give up, with what was found by then.

    Returns
    -------
    KrylovResult

    Notes
    -----
    The basis ``V`` fulfils ``A V = V H + W C``, where ``W`` is the next block and ``C`` is zero but for the
    columns of the last block (and, after a restart, of the vectors kept). So the residuals of the Ritz
    vectors ``V y`` are ``|C y|`` and cost nothing. A Krylov space may miss copies of a multiple eigenvalue;
    so when the wanted pairs have converged, the space is extended from a few random vectors and must
    keep them.
    """
    tol = max(tol, EPS)  # no residual can be smaller
    space = _Space(multiply, n, min(n, room or max(9 * k, k + 30 * block)), rng)
    fresh = rng.standard_normal((n, min(block, n))) if start is None else np.array(start[:, :n], np.float64)
    space.begin(fresh)
    next_check, probed, history = k + 6 * block if start is None else k, False, []
    while True:
        space.expand()
        given_up = space.n_products >= max_products
        if space.size < next_check and space.has_room and not given_up:
            continue
        values, turn = space.ritz_pairs(k)
        residual = space.residual(turn, values)
        converged = residual <= tol
        history.append((space.size, residual))
        # A probe that the limit of products, or want of room, has cut short shows nothing.
        tested = start is not None or (probed and space.size >= next_check)
        finished = converged and (tested or space.size == n)
        if finished or given_up:
            vectors = product(space.V[:, : space.size], turn[:, ::-1])
            return KrylovResult(values[::-1], vectors, residual, space.n_products, finished)
        if not space.has_room:
            space.restart(k + (space.size - k) // 4)
            history.clear()
        if start is not None:
            continue
        if converged:
            space.probe()
            next_check = space.size + PROBE_STEPS * N_PROBES
        else:
            space.recall()
            next_check = space.size + _steps_to(tol, history, block)
        probed = converged
        if not space.block_fits:  # the probe is wider than the block that had room
            space.restart(k + (space.size - k) // 4)
            history.clear()


def _steps_to(tol: float, history: list[tuple[int, float]], block: int) -> int:
    """By how much the space has to grow, judging by the last two residuals."""
    least, most = 2 * block, max(history[-1][0] // 6 if history else 0, 2 * block)
    if len(history) < 2 or history[-1][1] >= history[-2][1]:
        return most
    (size_before, before), (size, residual) = history[-2:]
    steps = (size - size_before) * np.log(residual / tol) / np.log(before / residual)
    return int(np.clip(steps, least, most))


def _qr(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if A.shape[1] == 1:
        return _pivoted_qr(A)[:2]
    return scipy.linalg.qr(A, mode="economic", check_finite=False)


def _pivoted_qr(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if A.shape[1] == 1:
        length = dnrm2(A)
        return A / (length or 1.0), np.array([[length]]), np.zeros(1, dtype=np.intp)
    return scipy.linalg.qr(A, mode="economic", pivoting=True, check_finite=False)


class _Space:
    """The basis ``V``, the operator's matrix ``H`` in it, and the next block ``W`` with its couplings."""

    def __init__(self, multiply, n: int, room: int, rng: np.random.Generator):
        self.multiply, self.n, self.rng = multiply, n, rng
        self.V = np.empty((n, room), order="F")
        self.H = np.zeros((room, room))
        self.size = self.n_products = 0
        self.scale = 0.0
        self.W, self.coupling = np.empty((n, 0)), np.zeros((0, 0))
        self.parked, self.parked_coupling = self.W, self.coupling

    def begin(self, fresh: np.ndarray) -> None:
        self.W, _ = self._orthonormal(fresh, self.V[:, :0])
        self.coupling = np.zeros((self.W.shape[1], 0))

    @property
    def has_room(self) -> bool:
        """Whether the next block, and the parked one, still fit in."""
        width = self.W.shape[1] + self.parked.shape[1]
        return self.size < self.n and self.size + width <= self.V.shape[1]

    @property
    def block_fits(self) -> bool:
        """Whether the next block alone fits in."""
        return self.size + self.W.shape[1] <= self.V.shape[1]

    def expand(self) -> None:
        """Take the next block into the basis and find the one after it."""
        old = self.size
        self.size = old + self.W.shape[1]
        basis = self.V[:, : self.size]
        basis[:, old:] = self.W
        image = self.multiply(self.W)
        self.n_products += 1
        products = product(basis.T, image)
        self.H[: self.size, old : self.size] = products
        self.H[old : self.size, : self.size] = products.T
        self.scale = max(self.scale, np.abs(products).max(initial=0.0))
        image = image - product(basis, products)
        width = min(self.W.shape[1], self.n - self.size - self.parked.shape[1])
        outside = basis
        if self.parked.shape[1]:
            self.parked_coupling = np.hstack([self.parked_coupling, product(self.parked.T, image)])
            outside = np.hstack([basis, self.parked])
        Q, R = (
            self._orthonormal(image, outside) if width > 0 else (image[:, :0], np.zeros((0, self.size - old)))
        )
        self.W = Q[:, :width]
        self.coupling = np.zeros((self.W.shape[1], self.size))
        self.coupling[:, old:] = R[: self.W.shape[1]]

    def _orthonormal(self, fresh: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``Q, R`` with ``fresh = Q R`` but for rounding and the part in the span of ``basis``, Q outside it.

        Columns of Q that ``fresh`` does not determine are random, and their rows of R zero.
        """
        Q, R, order = _pivoted_qr(fresh)
        lost = np.abs(R.diagonal()) <= 100 * EPS * max(self.scale, np.finfo(np.float64).tiny)
        Q[:, lost] = self.rng.standard_normal((len(Q), np.count_nonzero(lost)))
        R[lost] = 0.0
        for _ in range(4):
            Q = Q - product(basis, product(basis.T, Q))
            Q, turn = _qr(Q)
            R = product(turn, R)
            if np.abs(turn.diagonal()).min(initial=1.0) > 0.5:
                break
        return Q, R[:, np.argsort(order)]

    def ritz_pairs(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` largest eigenvalues of ``H``, largest first, and their vectors."""
        H = self.H[: self.size, : self.size]
        chosen = (self.size - k, self.size - 1) if 3 * k < self.size else None
        values, turn = scipy.linalg.eigh(H, subset_by_index=chosen, check_finite=False)
        if len(values) < k:  # LAPACK's dsyevr can lose pairs of a tight cluster
            values, turn = scipy.linalg.eigh(H, driver="evd", check_finite=False)
        return values[::-1][:k], turn[:, ::-1][:, :k]

    def residual(self, turn: np.ndarray, values: np.ndarray) -> float:
        """The largest residual of Ritz vectors, relative to the operator's size."""
        squares = np.sum(product(self.coupling, turn) ** 2, axis=0)
        if self.parked.shape[1]:
            squares += np.sum(product(self.parked_coupling, turn) ** 2, axis=0)
        size = max(np.abs(values).max(initial=0.0), self.scale)
        return float(np.sqrt(squares.max(initial=0.0)) / size) if size else 0.0

    def restart(self, keep: int) -> None:
        """Keep the best Ritz vectors only."""
        values, turn = self.ritz_pairs(keep)
        self.V[:, :keep] = product(self.V[:, : self.size], turn)
        self.coupling = product(self.coupling, turn)
        if self.parked.shape[1]:
            self.parked_coupling = product(self.parked_coupling, turn)
        self.size = keep
        self.H[:keep, :keep] = np.diag(values)

    def probe(self) -> None:
        """Go on from random vectors; the block that would have been next is parked."""
        self.recall()
        self.parked, self.parked_coupling = self.W, self.coupling
        width = min(N_PROBES, self.n - self.size - self.parked.shape[1])
        outside = np.hstack([self.V[:, : self.size], self.parked])
        self.W, _ = self._orthonormal(self.rng.standard_normal((self.n, max(width, 0))), outside)
        self.coupling = np.zeros((self.W.shape[1], self.size))

    def recall(self) -> None:
        """Put the parked block back in front of the next one."""
        if not self.parked.shape[1]:
            return
        self.W = np.hstack([self.parked, self.W])
        self.coupling = np.vstack([self.parked_coupling, self.coupling])
        self.parked, self.parked_coupling = np.empty((self.n, 0)), np.zeros((0, 0))
