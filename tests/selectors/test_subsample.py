"""Selectors on many samples choose among some of them."""

import numpy as np
import pytest

from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.selectors import (
    DSquaredSelector,
    FarthestSelector,
    GreedySelector,
    KernelKMeansSelector,
    KMeansSelector,
    RansacSelector,
    RPCholeskySelector,
)
from kpca_lab.selectors.subsample import candidates

SELECTORS = [
    DSquaredSelector, FarthestSelector, GreedySelector, KernelKMeansSelector, KMeansSelector, RansacSelector,
    RPCholeskySelector,
]  # fmt: skip


def select(selector, X, n_basis):
    kernel = make_kernel("rbf", gamma=0.5, n_features=X.shape[1])
    return selector.select(X, n_basis, kernel=kernel, n_components=2, rng=np.random.default_rng(0))


@pytest.mark.parametrize("selector", SELECTORS)
def test_from_many_samples_some_are_drawn_to_choose_among(selector):
    X = np.random.default_rng(10).standard_normal((300, 2))
    drawn = np.sort(np.random.default_rng(0).choice(300, 60, replace=False))
    found = select(selector(max_samples=60), X, 3)
    assert len(set(found)) == 3 and set(found) <= set(drawn)
    assert len(set(select(selector(max_samples=1), X, 20))) == 20


@pytest.mark.parametrize("selector", SELECTORS)
def test_nothing_is_drawn_where_samples_are_few(selector):
    X = np.random.default_rng(11).standard_normal((100, 2))
    everything = select(selector(max_samples=None), X, 5)
    assert np.array_equal(select(selector(max_samples=100), X, 5), everything)
    assert np.array_equal(select(selector(), X, 5), everything)


def test_the_choice_is_that_among_the_candidates():
    X = np.random.default_rng(12).standard_normal((200, 3))
    rows = np.sort(np.random.default_rng(0).choice(200, 80, replace=False))
    greedy = select(GreedySelector(max_samples=80), X, 6)
    assert np.array_equal(greedy, rows[select(GreedySelector(), X[rows], 6)])
    centroids = select(KMeansSelector(centroids=True, max_samples=60), X, 3)
    assert centroids.shape == (3, 3)


def test_kmeans_keeps_twenty_samples_for_each_in_the_basis():
    X = np.random.default_rng(13).standard_normal((150, 2))
    few = select(KMeansSelector(max_samples=10), X, 5)
    assert np.array_equal(few, select(KMeansSelector(max_samples=100), X, 5))


def test_candidates_are_distinct_and_in_order(rng):
    found = candidates(1000, 5, 100, rng)
    assert len(found) == 100 and (np.diff(found) > 0).all()
    assert len(candidates(1000, 300, 100, rng)) == 300
    assert candidates(100, 5, 100, rng) is None and candidates(10**9, 5, None, rng) is None
    for wrong in (0, 2.5, "all", True):
        with pytest.raises(ValueError, match="max_samples must be an integer >= 1"):
            candidates(1000, 5, wrong, rng)


def test_numbers_of_a_precomputed_kernel_are_thinned_too():
    X = np.random.default_rng(14).standard_normal((90, 2))
    gram = make_kernel("rbf", gamma=0.5, n_features=2)(X, X)
    for selector in (KernelKMeansSelector(max_samples=40), RansacSelector(max_samples=40)):
        found = selector.select(
            np.arange(90),
            4,
            kernel=Kernel("precomputed", gram=gram),
            n_components=2,
            rng=np.random.default_rng(0),
        )
        assert np.array_equal(found, select(selector, X, 4))
