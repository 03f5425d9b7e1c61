import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kpca_lab import FullKPCA, gram_operator, memory
from kpca_lab.gram import gram_matrix
from kpca_lab.gram_operator import TILE_COLUMNS, GramOperator
from kpca_lab.kernels import make_kernel
from kpca_lab.methods import full


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("center", [False, True])
def test_products_are_those_of_the_matrix(name, center, rng):
    X = rng.random((TILE_COLUMNS + 300, 3))
    V = rng.standard_normal((len(X), 5))
    kernel = make_kernel(name, gamma=0.3, n_features=3).anchored(X)
    gram = gram_matrix(kernel, X, center=center)
    operator = GramOperator(kernel, X, center=center)
    expected = gram @ V
    np.testing.assert_allclose(operator.multiply(V), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert operator.trace() == pytest.approx(gram.trace(), rel=1e-11)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_full_kpca_without_the_matrix_is_full_kpca(center, form, rng):
    X = form(rng.random((600, 4)) * (rng.random((600, 4)) < 0.7))
    stored, free = (
        FullKPCA(7, gamma=0.5, center=center, eigen_solver=s).fit(X) for s in ("dense", "matrix-free")
    )
    np.testing.assert_allclose(free.eigenvalues_, stored.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(free.eigenvectors_, stored.eigenvectors_, atol=1e-8)
    np.testing.assert_allclose(free.explained_variance_ratio_, stored.explained_variance_ratio_, rtol=1e-10)


def test_copies_of_an_eigenvalue_are_found_without_the_matrix():
    X = np.repeat(np.eye(6), 50, axis=0)
    model = FullKPCA(5, gamma=2.0, eigen_solver="matrix-free").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 50 * (1 - np.exp(-4.0)), rtol=1e-12)


def test_no_room_for_the_matrix_means_to_do_without_it(rng, monkeypatch):
    X = rng.standard_normal((400, 2))
    expected = FullKPCA(3, gamma=0.1).fit(X)
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 400**2)
    model = FullKPCA(3, gamma=0.1).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-12)


def test_a_limit_of_products_is_reported(rng, monkeypatch):
    monkeypatch.setattr(full, "MAX_PRODUCTS", 1)
    with pytest.warns(ConvergenceWarning, match="after 1 products"):
        FullKPCA(3, gamma=5.0, eigen_solver="matrix-free").fit(rng.standard_normal((900, 3)))


@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_products_do_not_depend_on_the_number_of_threads(name, rng, monkeypatch):
    X, V = rng.standard_normal((1500, 3)), rng.standard_normal((1500, 4))
    kernel = make_kernel(name, gamma=0.3, n_features=3).anchored(X)
    products = []
    for threads in (1, 3):
        monkeypatch.setattr(gram_operator, "_n_threads", lambda threads=threads: threads)
        products.append(GramOperator(kernel, X, center=True).multiply(V))
    np.testing.assert_array_equal(*products)


def test_the_trace_costs_no_pass_of_its_own(rng, monkeypatch):
    passes = []
    monkeypatch.setattr(GramOperator, "_core_product", lambda self, V: passes.append(V.shape) or 0.0 * V)
    operator = GramOperator(make_kernel("rbf", n_features=2), rng.standard_normal((9, 2)), center=True)
    operator.multiply(np.eye(9)[:, :3])
    operator.trace()
    assert passes == [(9, 4)]


def test_thousands_of_samples_have_the_same_components_without_the_matrix(rng):
    X = np.tanh(rng.standard_normal((5000, 4)) @ rng.standard_normal((4, 10)))
    free, stored = (
        FullKPCA(5, gamma=0.1, eigen_solver=solver).fit(X) for solver in ("matrix-free", "iterative")
    )
    np.testing.assert_allclose(free.eigenvalues_, stored.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(free.eigenvectors_, stored.eigenvectors_, atol=1e-8)
