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
        # V' A is twice as fast as A V for a narrow V
        values, vectors = block_krylov(
            lambda V: (V.T @ A).T, n, k, rng=rng or np.random.default_rng(0), tol=tol
        )
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
    multiply, n: int, k: int, *, rng: np.random.Generator, tol: float = 1e-10, max_iter: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` largest eigenpairs of a symmetric operator given by its product with a block.

    Block Lanczos with full orthogonalisation and thick restarts. Only products with blocks of vectors touch
    the operator, so a matrix streams through memory far fewer times than with single vectors. A Krylov
    space may miss copies of a multiple eigenvalue; so when the wanted pairs have converged, the space
    is extended from random vectors a few more times, and must keep them.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
        In ascending order, as from LAPACK.
    eigenvectors : ndarray of shape (n, k)
    """
    block = 8
    largest_basis = min(n, max(9 * k, k + 30 * block))
    V, AV = (np.empty((n, largest_basis), order="F") for _ in range(2))
    H = np.empty((largest_basis, largest_basis))
    size, next_check, converged_before = 0, k + 8 * block, False
    W = _orthonormal_complement(rng.standard_normal((n, block)), V[:, :0], rng)
    for _ in range(max_iter):
        new = slice(size, size + W.shape[1])
        V[:, new], AV[:, new] = W, multiply(W)
        size = new.stop
        H[:size, new] = V[:, :size].T @ AV[:, new]
        H[new, :size] = H[:size, new].T
        width = min(block, n - size)
        if width:
            W = _orthonormal_complement(AV[:, new][:, :width], V[:, :size], rng)
        full = size + width > largest_basis or size == n
        if size < next_check and not full:
            continue
        next_check = size + max(2 * block, size // 4)
        values, Y = np.linalg.eigh(H[:size, :size])
        values, Y = values[::-1], Y[:, ::-1]
        residual = AV[:, :size] @ Y[:, :k] - V[:, :size] @ (Y[:, :k] * values[:k])
        converged = np.linalg.norm(residual, axis=0).max() <= tol * np.abs(values).max()
        if converged and (converged_before or size == n):
            return values[:k][::-1], V[:, :size] @ Y[:, :k][:, ::-1]
        if converged:
            W = _orthonormal_complement(rng.standard_normal((n, width)), V[:, :size], rng)
            next_check = size + 3 * block
        converged_before = converged
        if full:
            keep = k + (size - k) // 4
            V[:, :keep], AV[:, :keep] = V[:, :size] @ Y[:, :keep], AV[:, :size] @ Y[:, :keep]
            H[:keep, :keep] = np.diag(values[:keep])
            size = keep
    values, vectors = _eigh(multiply(np.eye(n)))
    return values[-k:], vectors[:, -k:]


def _orthonormal_complement(fresh, V, rng):
    """Orthonormal columns that span what ``fresh`` adds to ``V``, at random where it adds nothing."""
    for _ in range(3):
        norms = np.linalg.norm(fresh, axis=0)
        fresh = fresh / np.where(norms > 0, norms, 1.0)
        fresh = fresh - V @ (V.T @ fresh)
        fresh, R = np.linalg.qr(fresh)
        lost = np.abs(R.diagonal()) < 1e-8
        if not lost.any() and np.abs(R.diagonal()).min() > 0.5:
            break
        fresh[:, lost] = rng.standard_normal((len(fresh), lost.sum()))
    return fresh


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
