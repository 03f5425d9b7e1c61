"""Selectors that choose one sample after the other, and ridge leverage scores: their laws and properties."""

import itertools
import warnings

import numpy as np
import pytest
import yaml
from literal_searches import kernel_of
from scipy import sparse
from scipy.stats import chisquare

from kpca_lab.kernels import Kernel
from kpca_lab.linalg import pivoted_cholesky
from kpca_lab.selectors import (
    SELECTORS,
    BlessSelector,
    DSquaredSelector,
    FarthestSelector,
    GreedySelector,
    LeverageSelector,
    RPCholeskySelector,
    get_selector,
    pivots,
)
from kpca_lab.selectors.leverage import leverage_scores
from kpca_lab.suite.places import conf_folder


def select(selector, X, n_basis, *, seed=0, kernel="rbf", **parameters):
    kernel = kernel_of(X, kernel, **parameters)
    return selector.select(X, n_basis, kernel=kernel, n_components=2, rng=np.random.default_rng(seed))


def span_weights(gram, chosen):
    """Squared distances to the span of the chosen samples, from the definition."""
    if not chosen:
        return gram.diagonal()
    rows = gram[list(chosen)]
    left = gram.diagonal() - np.einsum("ij,ij->j", rows, np.linalg.solve(rows[:, list(chosen)], rows))
    left[list(chosen)] = 0.0
    return left


def nearest_weights(gram, chosen):
    """Squared distances to the nearest of the chosen samples, from the definition."""
    own = gram.diagonal()
    if not chosen:
        return np.ones(len(gram))
    return np.min([own - 2 * gram[j] + own[j] for j in chosen], axis=0)


@pytest.mark.parametrize("block", [1, 8])
@pytest.mark.parametrize(
    "selector, weights", [(RPCholeskySelector, span_weights), (DSquaredSelector, nearest_weights)]
)
def test_three_pivots_follow_the_law_in_blocks_of_any_size(selector, weights, block):
    X = np.array([[0.0, 0.0], [0.1, 0.3], [1.0, 0.2], [3.0, -1.0], [1.2, 0.4]])
    gram = kernel_of(X, gamma=0.5)(X, X)
    triples = list(itertools.permutations(range(5), 3))
    law = []
    for triple in triples:
        steps = [weights(gram, triple[:k]) for k in range(3)]
        law.append(np.prod([step[j] / step.sum() for step, j in zip(steps, triple)]))
    assert sum(law) == pytest.approx(1.0)
    rng, kernel = np.random.default_rng(5), Kernel("precomputed", gram=gram)
    numbers, counts = np.arange(5), dict.fromkeys(triples, 0)
    for _ in range(1500):
        counts[tuple(selector(block=block).select(numbers, 3, kernel=kernel, rng=rng).tolist())] += 1
    common = np.array(law) * 1500 >= 5  # rare ones together: the test wants a few of each kind
    observed, expected = np.array(list(counts.values())), 1500 * np.array(law)
    observed = np.append(observed[common], observed[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    assert chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize("kernel", [{"gamma": 0.2}, {"kernel": "laplacian"}, {"kernel": "poly", "degree": 2}])
def test_greedy_takes_the_pivots_of_the_cholesky_decomposition(kernel):
    X = np.random.default_rng(3).standard_normal((150, 4)) + 1.0
    gram = kernel_of(X, **kernel)(X, X)
    _, expected = pivoted_cholesky(gram.diagonal(), lambda j: gram[:, j], 12)
    for block in (1, 5, 64):
        assert np.array_equal(select(GreedySelector(block=block), X, 12, **kernel), expected)


def test_farthest_takes_the_sample_farthest_from_its_nearest():
    X = np.random.default_rng(4).standard_normal((200, 3))
    for block in (1, 7, 64):
        found = select(FarthestSelector(block=block), X, 15, gamma=0.1)
        for k in range(1, 15):
            distances = ((X[:, None] - X[found[:k]]) ** 2).sum(axis=2).min(axis=1)
            assert found[k] == distances.argmax()


@pytest.mark.parametrize("block", [1, 64])
def test_digits_are_not_lost_where_the_kernel_is_nearly_constant(block):
    """At first order the Gaussian kernel then is the linear one about the first pivot."""
    X = np.random.default_rng(5).standard_normal((60, 8)) + 3.0
    from_first = X - X[0]
    _, expected = pivoted_cholesky((from_first**2).sum(axis=1), lambda j: from_first @ from_first[j], 8)
    found = select(GreedySelector(block=block), X, 9, gamma=1e-9)
    assert np.array_equal(found, [0, *expected])
    found = select(RPCholeskySelector(block=block), X, 9, gamma=1e-9)
    assert np.linalg.matrix_rank(X[found[1:]] - X[found[0]]) == 8


def test_pivots_are_independent_until_all_samples_lie_in_the_span():
    X = np.repeat(np.random.default_rng(6).standard_normal((6, 3)), 4, axis=0)
    for selector in (RPCholeskySelector(), GreedySelector(), DSquaredSelector(), FarthestSelector()):
        found = select(selector, X, 10, gamma=0.5)
        assert len(set(found.tolist())) == 10
        assert len(np.unique(X[found[:6]], axis=0)) == 6


@pytest.mark.parametrize("name", list(SELECTORS))
def test_a_selector_is_nested_where_it_says_so(name):
    X = np.random.default_rng(7).standard_normal((40, 3))
    X[30:] = X[:10]
    selector = get_selector(name)
    with open(conf_folder() / "selector" / f"{name}.yaml") as file:
        assert yaml.safe_load(file).get("nested", False) == selector.nested
    large, small = select(selector, X, 35, gamma=0.3), select(selector, X, 9, gamma=0.3)
    if selector.nested:
        assert np.array_equal(large[:9], small)
        assert np.array_equal(large[:33], select(selector, X, 33, gamma=0.3))


@pytest.mark.parametrize("name", ["rpcholesky", "greedy", "dsquared", "farthest", "leverage", "bless"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "cosine"])
def test_sparse_samples_give_the_same_choice(name, kernel):
    X = np.random.default_rng(8).standard_normal((50, 6)) * (np.random.default_rng(9).random((50, 6)) < 0.5)
    found = select(get_selector(name), X, 5, kernel=kernel)
    assert np.array_equal(select(get_selector(name), sparse.csr_array(X), 5, kernel=kernel), found)


@pytest.mark.parametrize(
    "options", [{"block": 0}, {"block": 2.5}, {"max_samples": 0}, {"max_samples": "all"}]
)
def test_wrong_options_are_named(options):
    X = np.random.default_rng(11).standard_normal((30, 2))
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be an integer >= 1"):
        select(RPCholeskySelector(**options), X, 5)


def test_memory_is_estimated_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("kpca_lab.selectors.criterion.MATRIX_BYTES", 10_000)
    X = np.random.default_rng(12).standard_normal((100, 2))
    with pytest.raises(ValueError, match=r"100 x 50 numbers.*max_samples"):
        select(GreedySelector(), X, 50)


def test_an_overflowing_kernel_is_refused():
    X = 1e200 * np.random.default_rng(13).standard_normal((20, 2))
    with warnings.catch_warnings(), pytest.raises(ValueError, match="rescale"):
        warnings.simplefilter("ignore", RuntimeWarning)
        select(DSquaredSelector(), X, 5, kernel="linear")


def test_draws_never_leave_the_samples_of_positive_weight():
    class Ones:
        def random(self, size):
            return np.full(size, 1.0 - 2**-53)

    assert pivots.draw(np.array([0.0, 0.1, 0.7, 0.0, 0.0]), 1, Ones()).tolist() == [2]


def test_leverage_scores_of_all_samples_are_exact():
    X = np.random.default_rng(14).standard_normal((60, 3))
    kernel, everything = kernel_of(X, gamma=0.3), np.arange(60)
    gram = kernel(X, X)
    for ridge in (1e-3, 0.1, 5.0):
        exact = np.linalg.solve(gram + ridge * np.eye(60), gram).diagonal()
        found = leverage_scores(kernel, X, everything, everything, np.ones(60), 10, ridge)
        np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_leverage_scores_of_a_sample_are_bounds_and_not_far_off():
    X = np.random.default_rng(15).standard_normal((400, 2))
    kernel, everything = kernel_of(X, gamma=0.5), np.arange(400)
    exact = leverage_scores(kernel, X, everything, everything, np.ones(400), 50, ridge=1.0)
    half = np.random.default_rng(0).choice(400, 200, replace=False)
    found = leverage_scores(kernel, X, everything, half, np.ones(200), 50, ridge=1.0)
    assert (found >= exact * (1 - 1e-9)).all()  # fewer samples never lower a score
    assert found.sum() < 2.5 * exact.sum()


@pytest.mark.parametrize("selector", [LeverageSelector(), BlessSelector()])
def test_leverage_prefers_samples_that_others_do_not_span(selector):
    rng = np.random.default_rng(16)
    X = np.concatenate([0.05 * rng.standard_normal((400, 2)), 10 * rng.standard_normal((20, 2))])
    lonely = [np.mean(select(selector, X, 20, seed=seed, gamma=1.0) >= 400) for seed in range(20)]
    assert np.mean(lonely) > 0.2  # 0.05 if drawn uniformly


def test_bless_looks_at_few_of_many_samples(monkeypatch):
    looked_at = []

    def watched(kernel, X, level, *rest):
        looked_at.append(len(level))
        return leverage_scores(kernel, X, level, *rest)

    monkeypatch.setattr("kpca_lab.selectors.bless.leverage_scores", watched)
    X = np.random.default_rng(17).standard_normal((20_000, 10))
    found = select(BlessSelector(), X, 50, gamma=0.3)
    assert len(np.unique(found)) == 50
    assert max(looked_at) < 1000  # the eigenvalues fall slowly: the dimension is soon that of the basis


def test_bless_draws_from_scores_near_the_exact_ones(monkeypatch):
    last = {}

    def watched(kernel, X, level, sample, weights, n_basis, ridge):
        last.update(level=level, ridge=ridge)
        last["scores"] = leverage_scores(kernel, X, level, sample, weights, n_basis, ridge)
        return last["scores"]

    monkeypatch.setattr("kpca_lab.selectors.bless.leverage_scores", watched)
    X = np.random.default_rng(18).standard_normal((500, 2))
    select(BlessSelector(), X, 30, gamma=0.5)
    everything = np.arange(500)
    exact = leverage_scores(
        kernel_of(X, gamma=0.5), X, everything, everything, np.ones(500), 30, last["ridge"]
    )
    ratio = last["scores"] / exact[last["level"]]
    assert 0.5 < np.median(ratio) < 2 and np.corrcoef(last["scores"], exact[last["level"]])[0, 1] > 0.8
