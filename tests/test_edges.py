"""Data that spoil the digits of careless arithmetic, against exact values."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kpca_lab import (
    AKPCA,
    APCA,
    CholeskyKPCA,
    EmpiricalMapKPCA,
    FullKPCA,
    IncrementalKPCA,
    NystromKPCA,
    SubsetKPCA,
)
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
    # Rounding of the largest, 50, moves the others, near 1e-9, by 1e-5 of themselves.
    np.testing.assert_allclose(FullKPCA(5, gamma=gamma).fit(X).eigenvalues_, expected, rtol=1e-5)


def test_central_point_is_the_mean_unless_few_rows_have_moved_it(rng):
    X = rng.standard_normal((101, 3)) + 5
    np.testing.assert_array_equal(central_point(X), X.mean(axis=0))
    X[0] = 1e9
    np.testing.assert_array_equal(central_point(X), np.median(X, axis=0))


def rational(x, y):
    return 1.0 / (1.0 + np.sum((x - y) ** 2))


@pytest.mark.parametrize("given", ["callable", "precomputed"])
@pytest.mark.parametrize("method", [FullKPCA, AKPCA, NystromKPCA, CholeskyKPCA, EmpiricalMapKPCA])
def test_rounding_of_values_near_one_is_no_component(method, given, rng):
    """1 / (1 + d^2) is 1 - d^2, of rank two in the plane, but for d^4, which doubles near 1 do not hold."""
    X = 1e-4 * rng.standard_normal((30, 2))
    options = {"n_basis": 20, "sketch_size": 20, "alpha": 0.0, "random_state": 0}
    model = method(10, kernel=rational if given == "callable" else "precomputed")
    known = model.get_params()
    model.set_params(**{name: value for name, value in options.items() if name in known})
    data = X if given == "callable" else 1.0 / (1.0 + cdist(X, X, "sqeuclidean"))
    components = model.fit_transform(data)
    assert model.n_components_ == 2
    np.testing.assert_allclose(model.transform(data), components, atol=1e-5 * np.abs(components).max())


@pytest.mark.parametrize("model", [
    SubsetKPCA(10, kernel=rational, n_basis=30), IncrementalKPCA(10, kernel=rational, compression=None),
])  # fmt: skip
def test_small_components_of_values_near_one_are_real(model, rng):
    """Sums of squares of coordinates see d^4, along the mean at least: less than there is, but not noise."""
    X = 1e-4 * rng.standard_normal((30, 2))
    squares = cdist(X, X, "sqeuclidean")
    core = -squares / (1.0 + squares)
    core -= core.mean(axis=0)
    core -= core.mean(axis=1)[:, None]
    exact = np.linalg.eigvalsh((core + core.T) / 2)[::-1]
    components = model.fit_transform(X)
    np.testing.assert_allclose(np.sum(components**2, axis=0), model.eigenvalues_, rtol=0.05)
    assert np.all(model.eigenvalues_ < exact[: model.n_components_] * 1.05)


def test_axes_of_linear_pca_keep_their_digits_far_from_zero(rng):
    X = np.round(rng.standard_normal((12, 4)) * 2**10) / 2**10  # exact at this offset
    near, far = APCA(2, alpha=0.0).fit(X), APCA(2, alpha=0.0).fit(X + 2.0**27)
    np.testing.assert_allclose(far.transform(X + 2.0**27), near.transform(X), atol=1e-13)
    expected = np.linalg.eigvalsh(np.cov(X.T, bias=True))[:2].sum()
    assert empirical_error(far, X + 2.0**27) == pytest.approx(expected, rel=1e-12)
