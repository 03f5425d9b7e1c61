import numpy as np
import pytest
from scipy import sparse

from kpca_lab.gram import TILE, core_matrix, gram_matrix
from kpca_lab.kernels import Kernel, make_kernel


def centred(K):
    n = len(K)
    J = np.eye(n) - 1 / n
    return J @ K @ J


@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear", "poly", "sigmoid", "cosine", "chi2"])
@pytest.mark.parametrize("center", [False, True])
def test_gram_matrix_is_the_kernel_matrix(name, center, rng):
    X = rng.random((2 * TILE + 30, 3))
    kernel = make_kernel(name, gamma=0.3, n_features=3).anchored(X)
    gram = gram_matrix(kernel, X, center=center)
    expected = centred(kernel(X, X)) if center else kernel(X, X)
    np.testing.assert_allclose(gram, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_array_equal(gram, gram.T)
    triangle = gram_matrix(kernel, X, center=center, whole=False)
    np.testing.assert_array_equal(np.triu(triangle), np.triu(gram))


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly"])
def test_core_matrix_is_the_core_and_symmetric(name, rng):
    X = rng.random((2 * TILE + 30, 3))
    kernel = make_kernel(name, gamma=0.3, n_features=3).anchored(X)
    core = core_matrix(kernel, X)
    np.testing.assert_allclose(core, kernel.core(X, X), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(core, core.T)


def test_gram_matrix_of_sparse_and_precomputed_samples(rng):
    X = rng.random((300, 4)) * (rng.random((300, 4)) < 0.5)
    kernel = make_kernel("rbf", gamma=0.3, n_features=4)
    expected = centred(kernel(X, X))
    np.testing.assert_allclose(gram_matrix(kernel, sparse.csr_array(X), center=True), expected, atol=1e-13)
    given = Kernel("precomputed", gram=kernel(X, X))
    np.testing.assert_allclose(gram_matrix(given, np.arange(300), center=True), expected, atol=1e-13)


def test_centring_keeps_the_digits_of_a_nearly_constant_kernel(rng):
    X = rng.standard_normal((280, 2))
    gram = gram_matrix(make_kernel("rbf", gamma=1e-12, n_features=2).anchored(X), X, center=True)
    linear = gram_matrix(make_kernel("linear", n_features=2).anchored(X), X, center=True)
    np.testing.assert_allclose(gram, 2e-12 * linear, atol=1e-22)
