"""Reduced KPCA, the Nyström approximation and the incomplete Cholesky decomposition."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from kpca_lab import CholeskyKPCA, FullKPCA, NystromKPCA, ReducedKPCA
from kpca_lab.linalg import pivoted_cholesky
from kpca_lab.metrics import empirical_error, operator_distance


@pytest.mark.parametrize("center", [True, False])
def test_reduced_kpca_is_full_kpca_of_the_basis(center, parabola):
    basis = np.arange(0, 300, 7)
    reduced = ReducedKPCA(4, gamma=0.2, basis=basis, center=center).fit(parabola)
    alone = FullKPCA(4, gamma=0.2, center=center).fit(parabola[basis])
    np.testing.assert_array_equal(reduced.transform(parabola), alone.transform(parabola))


def test_nystrom_is_the_printed_formula(parabola):
    basis = np.arange(0, 300, 7)
    m, n = len(basis), 300
    values, vectors = np.linalg.eigh(rbf_kernel(parabola[basis], gamma=0.2))
    values, vectors = values[::-1][:4], vectors[:, ::-1][:, :4]
    extended = np.sqrt(m / n) / values * (rbf_kernel(parabola, parabola[basis], gamma=0.2) @ vectors)
    model = NystromKPCA(4, gamma=0.2, basis=basis, center=False).fit(parabola)
    np.testing.assert_allclose(np.abs(model.eigenvectors_), np.abs(extended), atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, n / m * values)
    expected = rbf_kernel(parabola, gamma=0.2) @ extended / np.sqrt(n / m * values)
    np.testing.assert_allclose(np.abs(model.transform(parabola)), np.abs(expected), atol=1e-7)


@pytest.mark.parametrize("method", [NystromKPCA, CholeskyKPCA, ReducedKPCA])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gamma", [0.1, 1e-4])
def test_with_all_samples_each_is_full_kpca(method, center, gamma, parabola):
    options = {"basis": np.arange(300)} if method is not CholeskyKPCA else {"n_basis": 1.0}
    full = FullKPCA(3, gamma=gamma, center=center).fit(parabola)
    model = method(3, gamma=gamma, center=center, **options).fit(parabola)
    assert operator_distance(model, full).d < 1e-5
    assert empirical_error(model, parabola) == pytest.approx(empirical_error(full, parabola), rel=1e-6)


def test_cholesky_takes_the_pivots_of_the_plain_decomposition(parabola):
    gram = rbf_kernel(parabola, gamma=0.3)
    G, pivots = pivoted_cholesky(gram.diagonal(), lambda j: gram[:, j], 25)
    model = CholeskyKPCA(4, gamma=0.3, n_basis=25, center=False).fit(parabola)
    np.testing.assert_array_equal(model.pivots_, pivots)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(G.T @ G)[::-1][:4])


def test_cholesky_stops_at_the_tolerance(parabola):
    few = CholeskyKPCA(gamma=0.3, n_basis=200, tol=0.1).fit(parabola).pivots_
    more = CholeskyKPCA(gamma=0.3, n_basis=200, tol=1e-6).fit(parabola).pivots_
    assert len(few) < len(more) < 200
    np.testing.assert_array_equal(few, more[: len(few)])
    with pytest.raises(ValueError, match="tol must be"):
        CholeskyKPCA(tol=1.0).fit(parabola)


def test_centred_cholesky_keeps_its_digits_for_small_gamma(rng):
    X = rng.standard_normal((200, 3)) + 1e3
    full = FullKPCA(3, gamma=1e-12).fit(X)
    model = CholeskyKPCA(3, gamma=1e-12, n_basis=10).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=1e-6)


def test_nystrom_eigenvalues_approach_those_of_the_matrix(rng):
    X = rng.standard_normal((800, 2))
    exact = FullKPCA(3, gamma=0.5, center=False).fit(X).eigenvalues_

    def mean_error(m):
        models = [NystromKPCA(3, gamma=0.5, n_basis=m, center=False, random_state=s) for s in range(10)]
        return np.mean([np.abs(model.fit(X).eigenvalues_ - exact) for model in models])

    assert mean_error(20) > mean_error(80) > mean_error(400)
