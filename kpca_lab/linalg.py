"""Symmetric eigenproblems and the incomplete Cholesky decomposition, for Gram matrices."""

import numpy as np
import scipy.linalg

EIGEN_SOLVERS = ("auto", "dense", "partial", "iterative")


def top_eigenpairs(
    A: np.ndarray,
    k: int | None = None,
    *,
    solver: str = "auto",
    rng: np.random.Generator | None = None,
    tol: float = 1e-10,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` algebraically largest eigenpairs of a symmetric matrix, largest first.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric matrix; left as it is.
    k : int, optional
        Number of pairs, all by default.
    solver : {"auto", "dense", "partial", "iterative"}
        Divide and conquer on the whole spectrum, the wanted end of it only, or a block Krylov method.
        ``"auto"`` takes the one that is fastest for this ``n`` and ``k``.
    rng : numpy Generator, optional
        Start block of the iterative solver.
    tol : float
        The iterative solver ends when each residual is below ``tol`` times the largest eigenvalue.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    eigenvectors : ndarray of shape (n, k)
        With deterministic signs, see :func:`fix_signs`.
    """
    n = A.shape[0]
    k = n if k is None else min(k, n)
    if solver not in EIGEN_SOLVERS:
        raise ValueError(f"eigen solver {solver!r} is unknown: choose from {list(EIGEN_SOLVERS)}.")
    if solver == "auto":
        solver = _fastest_solver(n, k)
    if solver == "iterative" and 4 * k < n:
        values, vectors = block_krylov(lambda V: A @ V, n, k, rng=rng or np.random.default_rng(0), tol=tol)
    elif solver == "partial" and k < n:
        values, vectors = scipy.linalg.eigh(A, subset_by_index=(n - k, n - 1), check_finite=False)
        if len(values) < k:  # LAPACK's dsyevr can lose pairs of a tight cluster
            values, vectors = _eigh(A)
    else:
        values, vectors = _eigh(A)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return values, fix_signs(vectors)


def _eigh(A):
    return scipy.linalg.eigh(A, driver="evd", check_finite=False)


def _fastest_solver(n: int, k: int) -> str:
    if n > 2000 and 10 * k < n:
        return "iterative"
    return "partial" if n > 400 and 8 * k < n else "dense"


def block_krylov(
    multiply, n: int, k: int, *, rng: np.random.Generator, tol: float = 1e-10, max_iter: int = 500
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` largest eigenpairs of a symmetric operator given by its product with a block.

    Rayleigh-Ritz over a growing block Krylov space with thick restarts. Only products with blocks of
    vectors touch the operator, so a matrix streams through memory a few dozen times, not a few
    hundred as with a single-vector Lanczos method.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
        In ascending order, as from LAPACK.
    eigenvectors : ndarray of shape (n, k)
    """
    block = int(np.clip(k // 2, 8, 64))
    start = min(n, k + 8)  # as wide as what is wanted, so that no multiple eigenvalue is overlooked
    largest_basis = min(n, start + max(2 * k, 6 * block))
    V, _ = np.linalg.qr(rng.standard_normal((n, start)))
    AV = multiply(V)
    H = V.T @ AV
    for _ in range(max_iter):
        values, Y = np.linalg.eigh((H + H.T) / 2)
        Y_top, theta = Y[:, ::-1][:, :k], values[::-1][:k]
        ritz = V @ Y_top
        residual = AV @ Y_top - ritz * theta
        scale = max(abs(values[0]), abs(values[-1]))
        unfinished = np.flatnonzero(np.linalg.norm(residual, axis=0) > tol * scale)
        if not len(unfinished):
            break
        if V.shape[1] + block > largest_basis:
            keep = Y[:, ::-1][:, :start]
            V, AV, H = V @ keep, AV @ keep, keep.T @ H @ keep
        fresh = residual[:, unfinished[:block]]
        W = _orthonormal_complement(fresh, V, rng)
        AW = multiply(W)
        H = np.block([[H, V.T @ AW], [AW.T @ V, W.T @ AW]])
        V, AV = np.hstack([V, W]), np.hstack([AV, AW])
    else:
        values, vectors = _eigh(multiply(np.eye(n)))
        return values[-k:], vectors[:, -k:]
    return theta[::-1], ritz[:, ::-1]


def _orthonormal_complement(fresh, V, rng):
    """Orthonormal columns that span what ``fresh`` adds to ``V``, at random where it adds nothing."""
    norms = np.linalg.norm(fresh, axis=0)
    fresh = np.where(norms > 0, fresh / np.where(norms > 0, norms, 1), rng.standard_normal(fresh.shape))
    for _ in range(2):
        fresh = fresh - V @ (V.T @ fresh)
        fresh, R = np.linalg.qr(fresh)
        lost = np.abs(R.diagonal()) < 1e-8
        if lost.any():
            fresh[:, lost] = rng.standard_normal((len(fresh), lost.sum()))
    fresh = fresh - V @ (V.T @ fresh)
    return np.linalg.qr(fresh)[0]


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Turn each column so that its entry of largest magnitude is positive."""
    if not vectors.size:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return vectors * signs


def numerical_rank(eigenvalues: np.ndarray, tol: float) -> int:
    """How many eigenvalues, largest first, exceed ``tol`` times the largest."""
    if not len(eigenvalues) or eigenvalues[0] <= 0:
        return 0
    return int(np.count_nonzero(eigenvalues > tol * eigenvalues[0]))


def rank_tolerance(n: int) -> float:
    """Eigenvalues of a Gram matrix of ``n`` samples below this share of the largest are rounding noise."""
    return 10 * n * np.finfo(np.float64).eps


def pivoted_cholesky(
    diagonal: np.ndarray, column, max_rank: int, tol: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Incomplete Cholesky decomposition ``K ~ G G'`` with the largest remaining diagonal as pivot.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Diagonal of the positive semidefinite matrix.
    column : callable
        ``column(j)`` returns column ``j``; only the pivots' columns are ever asked for.
    max_rank : int
        At most this many columns.
    tol : float
        Stop when the trace of what is left falls to ``tol`` times the trace of the matrix.

    Returns
    -------
    G : ndarray of shape (n, rank)
        Lower trapezoidal in the order of the pivots.
    pivots : ndarray of shape (rank,)
    """
    n = len(diagonal)
    remaining = np.array(diagonal, dtype=np.float64)
    trace = remaining.sum()
    floor = rank_tolerance(n) * remaining.max(initial=0.0)
    factor = np.zeros((min(max_rank, n), n))  # row by row: each new column is written contiguously
    pivots: list[int] = []
    while len(pivots) < len(factor):
        pivot = int(remaining.argmax())
        if remaining[pivot] <= floor or remaining.sum() <= tol * trace:
            break
        done = len(pivots)
        row = column(pivot) - factor[:done, pivot] @ factor[:done]
        row /= np.sqrt(remaining[pivot])
        row[pivots] = 0.0
        factor[done] = row
        remaining -= row * row
        pivots.append(pivot)
        remaining[pivots] = 0.0
    return factor[: len(pivots)].T, np.array(pivots, dtype=np.intp)
