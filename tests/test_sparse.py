"""Sparse samples give what the same samples give as an array, also far from zero."""

import numpy as np
import pytest
from scipy import sparse
from test_estimator_contract import ESTIMATORS

from kpca_lab import APCA, FullKPCA, IncrementalKPCA, NystromKPCA, SubsetKPCA, SubspaceClassifier
from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import empirical_error, operator_distance
from kpca_lab.selectors import SELECTORS

TAKING = [estimator for estimator in ESTIMATORS if estimator not in (APCA, IncrementalKPCA)]
KERNELS = ["rbf", "laplacian", "linear", "poly", "cosine", "chi2", "additive_chi2"]


def samples(rng, offset=0.0, n=60):
    """Few entries are not zero, but for two columns that are full."""
    X = rng.random((n, 8)) * (rng.random((n, 8)) < 0.2)
    X[:, :2] = offset + rng.random((n, 2))
    return X


def fitted(estimator, X, **options):
    model = estimator(n_components=3)
    wanted = {"random_state": 0, "n_basis": 20, "gamma": 0.3} | options
    model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})
    return model.fit(X)


@pytest.mark.parametrize("estimator", TAKING)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_every_method_takes_sparse_samples(estimator, offset, kind, rng):
    X = samples(rng, offset)
    dense, thin = fitted(estimator, X), fitted(estimator, kind(X))
    new = samples(rng, offset, 20)
    np.testing.assert_allclose(thin.transform(kind(new)), dense.transform(new), atol=1e-6)
    assert empirical_error(thin, kind(new)) == pytest.approx(empirical_error(dense, new), rel=1e-5)
    assert thin.score(kind(new)) == pytest.approx(dense.score(new), rel=1e-5)
    back = thin.inverse_transform(thin.transform(kind(new)))
    assert isinstance(back, np.ndarray) and back.shape == new.shape


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", [FullKPCA, SubsetKPCA, NystromKPCA])
def test_every_kernel_takes_sparse_samples(kernel, method, rng):
    X = samples(rng)
    dense, thin = (fitted(method, kind(X), kernel=kernel) for kind in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(thin.transform(sparse.csr_array(X)), dense.transform(X), atol=1e-8)
    assert operator_distance(thin, dense).d < 1e-6


@pytest.mark.parametrize("selector", SELECTORS)
def test_every_selector_takes_sparse_samples(selector, rng):
    X = samples(rng)
    dense, thin = (fitted(SubsetKPCA, kind(X), selector=selector) for kind in (np.asarray, sparse.csr_array))
    # Rounding may decide between samples that serve equally well.
    assert thin.score(sparse.csr_array(X)) == pytest.approx(dense.score(X), abs=0.02)


def test_basis_given_as_sparse_points(rng):
    X = samples(rng)
    thin = SubsetKPCA(3, basis=sparse.csr_array(X[:10])).fit(sparse.csr_array(X))
    dense = SubsetKPCA(3, basis=X[:10]).fit(X)
    np.testing.assert_allclose(thin.transform(sparse.csr_array(X)), dense.transform(X), atol=1e-8)


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "laplacian"])
def test_shift_leaves_a_sparse_matrix_sparse_and_keeps_its_digits(name, rng):
    X = samples(rng, 1e7)
    thin = sparse.csr_array(X)
    kernel = make_kernel(name, gamma=1e-3, n_features=8).anchored(thin)
    assert np.count_nonzero(kernel.origin) == 2
    assert kernel._shift(thin).nnz <= thin.nnz
    core, expected = kernel.core(thin, thin), kernel.core(X, X)
    np.testing.assert_allclose(core, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


def test_classifier_takes_sparse_samples(rng):
    X = np.vstack([samples(rng), samples(rng)])
    X[60:, 7] += 2
    y = np.repeat(["first", "second"], 60)
    for estimator in (None, SubsetKPCA(3, n_basis=20, random_state=0)):
        dense = SubspaceClassifier(estimator, n_components=2).fit(X, y)
        thin = SubspaceClassifier(estimator, n_components=2).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(thin.residuals(sparse.csr_array(X)), dense.residuals(X), atol=1e-8)
        assert thin.score(sparse.csr_array(X), y) == dense.score(X, y) > 0.9


@pytest.mark.parametrize(
    "options, message",
    [
        ({"estimator": "full"}, "estimator must be an estimator of kpca_lab"),
        ({"estimator": FullKPCA}, "estimator must be an estimator of kpca_lab"),
        ({"n_components": -1}, "Numbers of components must be integers"),
        ({"n_components": 2.5}, "Numbers of components must be integers"),
    ],
)
def test_classifier_checks_its_parameters_in_fit(options, message, rng):
    with pytest.raises(ValueError, match=message):
        SubspaceClassifier(**options).fit(rng.standard_normal((10, 2)), np.arange(10) % 2)
