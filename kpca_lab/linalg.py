"""Symmetric eigenproblems and the incomplete Cholesky decomposition, for Gram matrices."""

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dsymv

from kpca_lab.blas import product
from kpca_lab.krylov import block_krylov

# A Krylov method that has not converged after n products divided by this gives way to LAPACK.
PATIENCE = 4
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
        Symmetric matrix, left as it is. Only its upper triangle is read.
    k : int, optional
        Number of pairs, all by default.
    solver : {"auto", "dense", "partial", "iterative"}
        Divide and conquer on the whole spectrum, the wanted end of it only, or a block Krylov method, which
        gives way to the second where it converges slowly. See :func:`choose_solver` for ``"auto"``.
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
    solver = choose_solver(solver, n, k)
    values, vectors = np.empty(0), np.empty((n, 0))
    if solver == "iterative":
        found = block_krylov(
            lambda V: triangle_product(A, V),
            n,
            k,
            rng=rng or np.random.default_rng(0),
            tol=tol,
            block=1,
            max_products=n // PATIENCE,
        )
        values, vectors = found.values, found.vectors
        if not found.converged:
            solver = "partial"
    if solver == "partial":  # the lower triangle of the transpose is the upper one
        values, vectors = scipy.linalg.eigh(
            A.T, driver="evr", subset_by_index=(n - k, n - 1), check_finite=False
        )
    if len(values) < k:  # LAPACK's dsyevr can lose pairs of a tight cluster
        values, vectors = scipy.linalg.eigh(A.T, driver="evd", check_finite=False)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return values, fix_signs(vectors)


def choose_solver(solver: str, n: int, k: int) -> str:
    """The solver for ``k`` of ``n`` eigenpairs; with ``"auto"`` the one that is usually the fastest.

    A Krylov space takes two to five vectors for each pair, and each vector a product with the matrix, which
    soon takes longer than LAPACK's reduction to a tridiagonal matrix. So up to ``n / 20`` pairs are left to
    the iterative solver, of matrices with more than 600 rows.
    """
    if solver not in EIGEN_SOLVERS:
        raise ValueError(f"eigen solver {solver!r} is unknown: choose from {list(EIGEN_SOLVERS)}.")
    if solver == "auto":
        if n > 600 and 20 * k <= n:
            return "iterative"
        return "partial" if n > 400 and 6 * k < n else "dense"
    possible = {"iterative": 4 * k < n, "partial": k < n, "dense": True}
    return solver if possible[solver] else "dense"


def triangle_product(A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """``A V`` of a symmetric matrix by its upper triangle alone: half as much to read from memory."""
    return np.column_stack([dsymv(1.0, A.T, v, lower=1) for v in V.T])


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
        row = column(pivot) - product(factor[:done, pivot], factor[:done])
        row /= np.sqrt(remaining[pivot])
        row[pivots] = 0.0
        factor[done] = row
        remaining -= row * row
        pivots.append(pivot)
        remaining[pivots] = 0.0
    return factor[: len(pivots)].T, np.array(pivots, dtype=np.intp)
