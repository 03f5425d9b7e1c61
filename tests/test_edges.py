"""Data that spoil the digits of careless arithmetic, against exact values."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kpca_lab import FullKPCA, SubsetKPCA
from kpca_lab.distances import central_point
from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import empirical_error


def exact_eigenvalues(X, gamma):
    """Of the centred Gaussian kernel matrix, from the distances of differences."""
    core = np.expm1(-gamma * cdist(X, X, "sqeuclidean"))
    core -= core.mean(axis=0)
    core -= core.mean(axis=1)[:, None]
    return np.linalg.eigvalsh((core + core.T) / 2)[::-1]


def test_one_sample_far_away_does_not_spoil_the_others(rng):
    X = rng.standard_normal((50, 2))
    X[0, 0] = 1e12
    expected = exact_eigenvalues(X, 0.5)
    model = FullKPCA(3, gamma=0.5).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, expected[:3], rtol=1e-10)
    assert empirical_error(model, X) == pytest.approx(expected[3:].sum() / 50, rel=1e-10)
    np.testing.assert_allclose(model.transform(X), model.fit_transform(X), atol=1e-10)
    subset = SubsetKPCA(3, gamma=0.5, n_basis=1.0).fit(X)
    assert empirical_error(subset, X) == pytest.approx(expected[3:].sum() / 50, rel=1e-6)


@pytest.mark.parametrize("gamma", [1e6, 1e12, 1e18])
def test_very_narrow_kernel(gamma, rng):
    X = rng.standard_normal((40, 3))
    model = FullKPCA(3, gamma=gamma).fit(X)
    np.testing.assert_allclose(model.transform(X), model.fit_transform(X), atol=1e-12)
    np.testing.assert_array_equal(
        make_kernel(gamma=gamma, n_features=3).anchored(X)(X[5:], X), np.eye(40)[5:]
    )


@pytest.mark.parametrize("gamma", [0.01, 0.5, 10.0])
def test_spread_within_clusters_that_lie_far_apart(gamma, rng):
    X = np.repeat([[-200.0, 0.0], [200.0, 0.0]], 50, axis=0) + 3e-5 * rng.standard_normal((100, 2))
    expected = exact_eigenvalues(X, gamma)[:5]
    np.testing.assert_allclose(FullKPCA(5, gamma=gamma).fit(X).eigenvalues_, expected, rtol=1e-6)


def test_central_point_is_the_mean_unless_few_rows_have_moved_it(rng):
    X = rng.standard_normal((101, 3)) + 5
    np.testing.assert_array_equal(central_point(X), X.mean(axis=0))
    X[0] = 1e9
    np.testing.assert_array_equal(central_point(X), np.median(X, axis=0))
