"""Generators: pure functions of the seed, with the distributions of the papers."""

import numpy as np
import pytest
from scipy import stats
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist

from kpca_lab.datasets import list_datasets, load_dataset, synthetic


@pytest.mark.parametrize("name", list_datasets("synthetic"))
def test_pure_function_of_the_seed(name):
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    first = load_dataset(name, seed=3)
    np.random.seed(2)  # noqa: NPY002
    again, other = load_dataset(name, seed=3), load_dataset(name, seed=4)
    for part in ("X", "y", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
    assert not np.array_equal(first.X, other.X)
    assert first.provenance.parameters["seed"] == 3
    assert first.provenance.generator.endswith(name)
    assert first.provenance.source == "generator"


@pytest.mark.parametrize("shape", synthetic.CALIBRATED_SCALE)
def test_artificial2d_is_calibrated_to_the_printed_table(shape):
    """E_emp of full kernel PCA, not centred: 0.99 / 4.7998 by Table 1 of Washizawa (2012)."""
    X = load_dataset("artificial2d", shape=shape).X
    assert X.shape == (1000, 2)
    K = np.exp(-0.1 * cdist(X, X, "sqeuclidean"))
    largest = eigsh(K, k=5, v0=np.ones(1000), return_eigenvectors=False)
    assert abs(1 - largest.sum() / 1000 - 0.99 / 4.7998) < 1e-4


def test_artificial2d_is_a_scaled_parabola_and_says_that_it_stands_in():
    stand_in = load_dataset("artificial2d", seed=5)
    np.testing.assert_allclose(stand_in.X, 6.242 * load_dataset("parabola", n=1000, seed=5).X)
    assert "stand-in" in stand_in.provenance.note
    np.testing.assert_allclose(load_dataset("artificial2d", seed=5, scale=1.0).X, stand_in.X / 6.242)


def test_parabola():
    X = load_dataset("parabola", n=20000).X
    assert -1 <= X[:, 0].min() < -0.99 and 0.99 < X[:, 0].max() <= 1
    residual = X[:, 1] - X[:, 0] ** 2
    assert abs(residual.mean()) < 0.005
    assert abs(residual.std() - 0.2) < 0.005
    noiseless = load_dataset("parabola", noise=0).X
    np.testing.assert_array_equal(noiseless[:, 1], noiseless[:, 0] ** 2)


def test_three_clusters():
    found = load_dataset("three_clusters", n_per_cluster=5000)
    for label, centre in enumerate([(-0.5, -0.2), (0, 0.6), (0.5, 0)]):
        cluster = found.X[found.y == label]
        np.testing.assert_allclose(cluster.mean(axis=0), centre, atol=0.01)
        np.testing.assert_allclose(cluster.std(axis=0), 0.1, atol=0.005)
    assert load_dataset("three_clusters").X.shape == (90, 2)


def test_swiss_roll_has_a_hole():
    roll = load_dataset("swiss_roll_hole", n=5000)
    assert roll.X.shape == (5000, 3)
    assert load_dataset("swiss_roll_hole").X.shape == (800, 3)
    np.testing.assert_allclose(np.hypot(roll.X[:, 0], roll.X[:, 2]), roll.y)
    inside = (abs(roll.y - np.pi * 3) < 1.5) & (abs(roll.X[:, 1] - 10.5) < 3)
    assert not inside.any()


def test_gaussian50():
    X = load_dataset("gaussian50").X
    assert X.shape == (10000, 50)
    np.testing.assert_allclose(np.cov(X.T), np.eye(50), atol=0.06)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.05)


def test_gaussian50_gives_the_published_counts():
    """Zhang et al., Tables 2 to 4: the smallest rows that hold alpha/2 of the energy go."""
    energy = np.sort((load_dataset("gaussian50").X ** 2).sum(axis=1))
    share = np.cumsum(energy) / energy.sum()
    for alpha, published in ((0.3, 7966), (0.2, 8586), (0.1, 9245)):
        used = 10000 - np.searchsorted(share, alpha / 2)
        assert abs(used - published) < 25


@pytest.mark.parametrize("name", ["twonorm", "ringnorm", "waveform"])
def test_neither_part_depends_on_the_size_of_the_other(name):
    one = load_dataset(name, n=50, n_test=20)
    np.testing.assert_array_equal(one.X, load_dataset(name, n=50, n_test=0).X)
    np.testing.assert_array_equal(one.X_test, load_dataset(name, n=70, n_test=20).X_test)
    assert load_dataset(name, n=50, n_test=0).X_test is None
    assert not np.array_equal(one.X[:20], one.X_test)


def test_waveform_has_three_classes():
    found = load_dataset("waveform", n=6000, n_test=0, binary=False)
    assert set(np.unique(found.y)) == {0, 1, 2}
    places = np.arange(1, 22)
    first, second, third = (np.maximum(6 - abs(places - peak), 0) for peak in (7, 15, 11))
    for label, mean in enumerate([first + second, first + third, second + third]):
        np.testing.assert_allclose(found.X[found.y == label].mean(axis=0), mean / 2, atol=0.2)
    binary = load_dataset("waveform", n=6000, n_test=0)
    np.testing.assert_array_equal(binary.y == 1, found.y == 1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("parabola", {"n": 0}),
        ("parabola", {"n": 2.5}),
        ("parabola", {"n": True}),
        ("parabola", {"noise": -1}),
        ("parabola", {"noise": float("nan")}),
        ("artificial2d", {"shape": "square"}),
        ("three_clusters", {"n_per_cluster": -3}),
        ("gaussian50", {"n_features": 0}),
        ("twonorm", {"n_test": -1}),
    ],
)
def test_senseless_arguments_are_refused(name, options):
    with pytest.raises(ValueError):
        load_dataset(name, **options)


def test_uneven_clusters_have_shares_that_fall_as_stated_around_the_same_centres():
    first, second = (load_dataset("uneven_clusters", n=20_000, seed=seed) for seed in (0, 1))
    shares = np.bincount(first.y) / len(first.y)
    expected = np.arange(1, 21) ** -2.0
    np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.01)
    for label in range(3):
        np.testing.assert_allclose(
            first.X[first.y == label].mean(axis=0), second.X[second.y == label].mean(axis=0), atol=0.1
        )


def test_heavy_tails_are_those_of_student():
    X = load_dataset("heavy_tails", n=20_000).X.ravel()
    beyond = [np.mean(np.abs(X) > limit) for limit in (2, 5, 10)]
    np.testing.assert_allclose(beyond, 2 * stats.t(3).sf([2, 5, 10]), rtol=0.1)
