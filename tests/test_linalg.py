import numpy as np
import pytest

from kpca_lab.krylov import block_krylov
from kpca_lab.linalg import (
    choose_solver,
    fix_signs,
    numerical_rank,
    pivoted_cholesky,
    top_eigenpairs,
)


def symmetric(eigenvalues, rng):
    Q, _ = np.linalg.qr(rng.standard_normal((len(eigenvalues), len(eigenvalues))))
    return (Q * eigenvalues) @ Q.T


@pytest.mark.parametrize("solver", ["auto", "dense", "partial", "iterative"])
@pytest.mark.parametrize("decay", [0.9, 0.999])
def test_solvers_agree(solver, decay, rng):
    A = symmetric(decay ** np.arange(300), rng)
    values, vectors = top_eigenpairs(A, 20, solver=solver)
    np.testing.assert_allclose(values, decay ** np.arange(20), rtol=1e-9)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-10)


@pytest.mark.parametrize(
    "eigenvalues",
    [np.ones(120), np.r_[np.ones(5), np.zeros(115)], np.zeros(120), np.r_[[3.0] * 40, np.full(80, -5.0)]],
)
@pytest.mark.parametrize("block", [1, 8, 16])
def test_iterative_solver_on_clusters_and_low_rank(eigenvalues, block, rng):
    A = symmetric(eigenvalues, rng)
    values, vectors, *_ = block_krylov(lambda V: A @ V, 120, 12, rng=rng, block=block)
    np.testing.assert_allclose(values[::-1], np.sort(eigenvalues)[::-1][:12], atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-8)


def test_iterative_solver_gives_way_where_it_converges_slowly(rng):
    """The eigenvalues of a random matrix lie close together; only the upper triangle may be read."""
    A = rng.standard_normal((300, 400))
    A = A @ A.T
    found = block_krylov(lambda V: A @ V, 300, 30, rng=rng, block=1, max_products=60)
    assert not found.converged
    values, vectors = top_eigenpairs(np.triu(A), 30, solver="iterative")
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:30], rtol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10 * values[0])


def test_no_limit_of_products_below_what_is_needed_counts_as_converged(rng):
    """Not within a probe either, which looks for copies of an eigenvalue that the space has missed."""
    A = symmetric(np.r_[np.full(6, 9.0), np.linspace(1, 2, 194)], rng)

    def found(limit):
        seeded = np.random.default_rng(0)
        return block_krylov(lambda V: A @ V, 200, 5, rng=seeded, block=1, max_products=limit)

    needed = found(1000).n_products
    assert [limit for limit in range(1, needed + 1) if found(limit).converged] == [needed]


@pytest.mark.parametrize(
    ("n", "k", "expected"),
    [(300, 5, "dense"), (600, 5, "partial"), (601, 5, "iterative"), (1000, 300, "dense"),
     (1500, 75, "iterative"), (1500, 76, "partial"), (10000, 500, "iterative")],
)  # fmt: skip
def test_few_pairs_of_a_large_matrix_are_found_iteratively(n, k, expected):
    assert choose_solver("auto", n, k) == expected


def test_signs_do_not_depend_on_the_solver(rng):
    A = symmetric(0.8 ** np.arange(200), rng)
    dense, iterative = (top_eigenpairs(A, 5, solver=s)[1] for s in ("dense", "iterative"))
    np.testing.assert_allclose(dense, iterative, atol=1e-7)
    np.testing.assert_array_equal(fix_signs(np.array([[-3.0, 1.0], [2.0, -0.5]]))[0], [3.0, 1.0])


def test_unknown_solver_is_named():
    with pytest.raises(ValueError, match="'lanczos' is unknown"):
        top_eigenpairs(np.eye(3), 1, solver="lanczos")


def test_numerical_rank():
    assert numerical_rank(np.array([1.0, 1e-3, 1e-14]), 1e-12) == 2
    assert numerical_rank(np.array([0.0, 0.0]), 1e-12) == 0
    assert numerical_rank(np.array([]), 1e-12) == 0


def test_pivoted_cholesky_reproduces_the_matrix(rng):
    A = symmetric(np.r_[0.5 ** np.arange(10), np.zeros(20)], rng)
    G, pivots = pivoted_cholesky(A.diagonal(), lambda j: A[:, j], 30)
    assert len(pivots) == 10 == len(set(pivots))
    np.testing.assert_allclose(G @ G.T, A, atol=1e-10)
    np.testing.assert_array_equal(np.triu(G[pivots], 1), 0)


def test_pivoted_cholesky_stops_at_the_tolerance_and_asks_only_for_pivots(rng):
    A = symmetric(0.5 ** np.arange(30), rng)
    asked = []

    def column(j):
        asked.append(j)
        return A[:, j]

    G, pivots = pivoted_cholesky(A.diagonal(), column, 30, tol=1e-2)
    assert asked == list(pivots)
    left = np.trace(A - G @ G.T) / np.trace(A)
    assert left <= 1e-2 < np.trace(A - G[:, :-1] @ G[:, :-1].T) / np.trace(A)
