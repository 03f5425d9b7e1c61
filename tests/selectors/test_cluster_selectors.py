"""Selectors by clustering and by drawing, and the registry."""

import warnings

import numpy as np
import pytest
from literal_searches import explicit_features, kernel_of, projection_error, random_samples
from sklearn.cluster import KMeans, MiniBatchKMeans

from kpca_lab import SubsetKPCA
from kpca_lab.kernels import Kernel
from kpca_lab.selectors import (
    SELECTORS,
    KernelKMeansSelector,
    KMeansSelector,
    RandomSelector,
    RansacSelector,
    get_selector,
    kmeans,
)


def select(selector, X, n_basis, *, seed=0, n_components=2, center=True, **kernel):
    return get_selector(selector).select(
        X,
        n_basis,
        kernel=kernel_of(X, **kernel),
        n_components=n_components,
        center=center,
        rng=np.random.default_rng(seed),
    )


def clusters(seed=0, n_clusters=5, size=12):
    rng = np.random.default_rng(seed)
    centres = 40 * np.column_stack([np.arange(n_clusters), np.arange(n_clusters) % 2])
    labels = rng.permutation(np.repeat(np.arange(n_clusters), size))
    return centres[labels] + rng.standard_normal((n_clusters * size, 2)), labels


@pytest.mark.parametrize("name", list(SELECTORS))
def test_every_selector_serves_an_estimator_and_repeats_with_its_seed(name):
    X = random_samples(3)
    models = [SubsetKPCA(2, gamma=0.5, n_basis=6, selector=name, random_state=1).fit(X) for _ in range(2)]
    assert np.array_equal(models[0].basis_, models[1].basis_)
    assert models[0].basis_.shape == (6, 5)
    if name == "kmeans_centroids":
        assert models[0].basis_indices_ is None
    else:
        assert len(set(models[0].basis_indices_.tolist())) == 6


@pytest.mark.parametrize(
    "name", [*(name for name in SELECTORS if name != "kmeans_centroids"), KMeansSelector(init="random")]
)
@pytest.mark.parametrize("n_basis", [1, 7, 9])
def test_numbers_are_distinct_where_samples_are_not(name, n_basis):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]], 3, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = select(name, X, n_basis)
    assert found.dtype.kind == "i"
    assert len(set(found.tolist())) == n_basis
    assert found.min() >= 0 and found.max() < len(X)


@pytest.mark.parametrize(
    "name", [name for name in SELECTORS if name not in ("random", "kmeans", "kmeans_centroids")]
)
def test_precomputed_kernel_gives_the_same(name):
    X = random_samples(6)
    gram = kernel_of(X, gamma=0.5)(X, X)
    found = get_selector(name).select(
        np.arange(len(X)),
        5,
        kernel=Kernel("precomputed", gram=gram),
        n_components=2,
        center=True,
        rng=np.random.default_rng(0),
    )
    assert np.array_equal(found, select(name, X, 5, gamma=0.5))


def test_kmeans_needs_points():
    with pytest.raises(ValueError, match="kernel_kmeans"):
        KMeansSelector().select(np.arange(5), 2, rng=np.random.default_rng(0))


def test_kmeans_refuses_values_that_it_cannot_square():
    with pytest.raises(ValueError, match="rescale"):
        KMeansSelector().select(np.full((5, 2), 1e200), 2, rng=np.random.default_rng(0))


def test_kmeans_takes_the_samples_nearest_to_the_centroids():
    X = np.random.default_rng(0).standard_normal((80, 3))
    centroids = select("kmeans_centroids", X, 8)
    nearest = ((centroids[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(select("kmeans", X, 8), nearest)


def test_two_centroids_do_not_share_a_sample():
    distances = np.array([[0.1, 1.0, 2.0, 0.5], [0.2, 0.3, 2.0, 0.1], [0.1, 0.2, 0.5, 0.15]])
    assert kmeans.distinct_nearest(distances.argmin(axis=1), lambda j: distances[j]).tolist() == [0, 3, 1]


def test_kmeans_in_batches_finds_the_clusters():
    X, labels = clusters()
    full = select("kmeans", X, 5, seed=3)
    batches = select(KMeansSelector(largest_pass=0), X, 5, seed=3)
    assert len(set(labels[full])) >= 4
    assert len(set(labels[batches])) >= 4


@pytest.mark.parametrize("largest_pass, peer", [(60 * 5 * 2, KMeans), (60 * 5 * 2 - 1, MiniBatchKMeans)])
@pytest.mark.parametrize("options", [{}, {"init": "random", "n_init": 3, "max_iter": 2}])
def test_kmeans_is_that_of_scikit_learn_with_a_seed_drawn_from_the_generator(largest_pass, peer, options):
    X, _ = clusters()
    seed = int(np.random.default_rng(7).integers(2**31))
    own = {"batch_size": kmeans.MINI_BATCH} if peer is MiniBatchKMeans else {}
    expected = peer(5, random_state=seed, **{"n_init": 1, **own, **options}).fit(X).cluster_centers_
    selector = KMeansSelector(centroids=True, largest_pass=largest_pass, **options)
    np.testing.assert_allclose(select(selector, X, 5, seed=7), expected, rtol=1e-12)


def test_of_several_starts_the_one_with_the_least_sum_of_squares_is_kept():
    X, _ = clusters()
    sums = np.empty((10, 5))
    for seed, place in np.ndindex(sums.shape):
        selector = KMeansSelector(centroids=True, init="random", n_init=place + 1)
        distances = ((X[:, None] - select(selector, X, 5, seed=seed)) ** 2).sum(axis=2)
        sums[seed, place] = distances.min(axis=1).sum()
    # The starts of a seed come in the same order, so one more start never makes the sum larger.
    assert (np.diff(sums) <= 1e-9 * sums[:, 1:]).all()
    assert (sums[:, -1] < 0.5 * sums[:, 0]).any()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"init": "kmeans++"}, r"init must be one of \['k-means\+\+', 'random'\], got 'kmeans\+\+'"),
        ({"init": np.zeros((2, 2))}, "init must be one of"),
        ({"n_init": 0}, "n_init must be an integer >= 1, got 0"),
        ({"n_init": "auto"}, "n_init must be an integer >= 1, got 'auto'"),
        ({"max_iter": 2.5}, "max_iter must be an integer >= 1, got 2.5"),
        ({"largest_pass": -1}, "largest_pass must be a number >= 0 .*, got -1"),
        ({"largest_pass": float("nan")}, "largest_pass must be a number >= 0 .*, got nan"),
        ({"largest_pass": None}, "largest_pass must be a number >= 0 .*, got None"),
    ],
)
def test_wrong_options_of_kmeans_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        select(KMeansSelector(**options), random_samples(0), 3)


def test_kernel_kmeans_with_the_linear_kernel_is_kmeans():
    X, labels = clusters(1)
    found = select("kernel_kmeans", X, 5, seed=1, kernel="linear")
    assert sorted(labels[found]) == list(range(5))
    for number in found:
        members = np.flatnonzero(labels == labels[number])
        mean = X[members].mean(axis=0)
        assert number == members[((X[members] - mean) ** 2).sum(axis=1).argmin()]


def test_kernel_kmeans_separates_rings():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 120)
    radius = np.repeat([0.0, 5.0], 60)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + 0.1 * rng.standard_normal(
        (120, 2)
    )
    similarity = {"kernel": "poly", "degree": 2, "coef0": 0, "gamma": 1.0}
    found = select("kernel_kmeans", X, 4, seed=2, **similarity)
    assert (found < 60).sum() == 1


def test_kernel_kmeans_is_not_disturbed_by_a_nearly_constant_gram_matrix():
    X, _ = clusters(2)
    linear = select("kernel_kmeans", X, 5, kernel="linear")
    assert np.array_equal(select("kernel_kmeans", X, 5, gamma=1e-12), linear)


@pytest.mark.parametrize("center", [False, True, "mean"])
def test_ransac_returns_the_best_of_its_draws(center):
    X = np.random.default_rng(1).standard_normal((60, 3))
    features = explicit_features(X, gamma=0.5)
    rng = np.random.default_rng(4)
    draws = [RandomSelector().select(X, 6, rng=rng) for _ in range(15)]
    errors = [projection_error(features, draw, 3, center) for draw in draws]
    found = select(RansacSelector(n_trials=15), X, 6, seed=4, n_components=3, center=center, gamma=0.5)
    assert np.array_equal(found, draws[int(np.argmin(errors))])


def test_registry_explains_what_it_does_not_know():
    with pytest.raises(ValueError, match="forward_backward"):
        get_selector("nearest")
    with pytest.raises(ValueError, match="method select"):
        get_selector(KMeansSelector)
    selector = KernelKMeansSelector(max_iter=3)
    assert get_selector(selector) is selector
    with pytest.raises(ValueError, match="n_trials"):
        select(RansacSelector(n_trials=0), random_samples(0), 3)


@pytest.mark.parametrize("trial", range(30))
def test_odd_data_give_distinct_numbers_and_no_warning(trial):
    rng = np.random.default_rng(trial)
    n, d = int(rng.integers(1, 20)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 9) + rng.choice([0.0, 1.0, 1e4])
    if trial % 4 == 0:
        X[:, 0] = 3.0
    if trial % 5 == 0:
        X[n // 2 :] = X[0]
    if trial % 2:
        X = X.astype(np.float32)
    name = ("rbf", "laplacian", "linear", "poly", "cosine", "rbf")[trial % 6]
    n_basis = int(rng.integers(1, n + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for selector in SELECTORS:
            found = select(
                selector,
                X,
                n_basis,
                n_components=[None, 1, 3][trial % 3],
                center=bool(rng.integers(2)),
                kernel=name,
                gamma=10.0 ** rng.integers(-6, 2),
            )
            if selector == "kmeans_centroids":
                assert found.shape == (n_basis, d) and np.isfinite(found).all()
            else:
                assert len(set(found.tolist())) == n_basis
