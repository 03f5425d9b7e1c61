import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import pairwise_kernels

from kpca_lab import FullKPCA, RandomFeatureKPCA


def features_of(model, X):
    """The features themselves, from their definition."""
    phases = (X - X.mean(axis=0)) @ model.frequencies_
    return np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(phases.shape[1])


@pytest.mark.parametrize("center", [True, False])
def test_it_is_pca_of_the_features(center, rng):
    X = rng.standard_normal((200, 5)) + 2.0
    model = RandomFeatureKPCA(4, n_random_features=60, center=center, random_state=0).fit(X)
    features = features_of(model, X)
    if center:
        pca = PCA(4).fit(features)
        scores, ratio = pca.transform(features), pca.explained_variance_ratio_
    else:
        left, lengths, _ = np.linalg.svd(features, full_matrices=False)
        scores, ratio = (left * lengths)[:, :4], (lengths**2 / (lengths**2).sum())[:4]
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(scores), atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, (scores**2).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_, model.eigenvalues_ / 200)
    variance = ((features - center * features.mean(axis=0)) ** 2).sum() / 200
    assert model.total_variance_ == pytest.approx(variance)


@pytest.mark.parametrize("kernel, orthogonal", [("rbf", False), ("rbf", True), ("laplacian", False)])
def test_features_have_the_kernel_as_mean_inner_product(kernel, orthogonal, rng):
    X = rng.standard_normal((40, 6))
    gram = pairwise_kernels(X, metric=kernel, gamma=0.2)
    mean = np.zeros((40, 40))
    for seed in range(20):
        model = RandomFeatureKPCA(
            kernel=kernel, gamma=0.2, n_random_features=400, orthogonal=orthogonal, random_state=seed
        ).fit(X)
        features = features_of(model, X)
        np.testing.assert_allclose((features**2).sum(axis=1), 1.0)
        mean += features @ features.T / 20
    # 4000 frequencies, the cosine of each with a standard deviation of at most one
    assert np.abs(mean - gram).max() < 5 / np.sqrt(4000)


def test_orthogonal_frequencies_are_orthogonal_in_groups_and_come_nearer_to_the_kernel(rng):
    X = 0.3 * rng.standard_normal((60, 20))
    gram = pairwise_kernels(X, metric="rbf", gamma=0.5)
    errors = {}
    for orthogonal in (False, True):
        models = [
            RandomFeatureKPCA(gamma=0.5, n_random_features=100, orthogonal=orthogonal, random_state=s).fit(X)
            for s in range(20)
        ]
        grams = [features_of(model, X) @ features_of(model, X).T for model in models]
        errors[orthogonal] = np.mean([(found - gram) ** 2 for found in grams])
    assert errors[True] < 0.8 * errors[False]
    products = models[0].frequencies_.T @ models[0].frequencies_
    for start in (0, 20, 40):
        group = products[start : start + 20, start : start + 20]
        np.testing.assert_allclose(group - np.diag(group.diagonal()), 0.0, atol=1e-12)


def test_a_share_of_the_variance_asks_for_as_many_components_as_it_takes(parabola):
    model = RandomFeatureKPCA(0.9, gamma=0.02, random_state=0).fit(parabola)
    ratio = model.explained_variance_ratio_
    assert ratio.sum() > 0.9 >= ratio[:-1].sum()


def test_many_features_give_the_eigenvalues_of_kernel_pca(parabola):
    full = FullKPCA(3, gamma=0.02).fit(parabola)
    model = RandomFeatureKPCA(3, gamma=0.02, n_random_features=4000, random_state=0).fit(parabola)
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=0.1)


def test_digits_are_kept_where_the_kernel_is_nearly_constant(rng):
    X = rng.standard_normal((100, 3)) + 5.0
    model = RandomFeatureKPCA(3, gamma=1e-14, n_random_features=2000, random_state=0).fit(X)
    phases = (X - X.mean(axis=0)) @ model.frequencies_ / np.sqrt(1000)  # features at first order
    np.testing.assert_allclose(
        model.eigenvalues_, np.linalg.svd(phases, compute_uv=False)[:3] ** 2, rtol=1e-5
    )


def test_blocks_and_sparse_samples_give_the_same(rng, monkeypatch):
    X = rng.standard_normal((90, 4))
    X -= X.mean(axis=0)
    options = {"n_components": 3, "n_random_features": 31, "random_state": 0}
    whole = RandomFeatureKPCA(**options).fit(X)
    assert whole.components_.shape == (3, 32)
    same = RandomFeatureKPCA(**options).fit(sparse.csr_array(X))
    np.testing.assert_allclose(same.transform(sparse.csr_array(X)), whole.transform(X), atol=1e-10)
    monkeypatch.setattr("kpca_lab.methods.random_features.row_blocks", one_by_one)
    blocks = RandomFeatureKPCA(**options).fit(X)
    np.testing.assert_allclose(blocks.transform(X), whole.transform(X), atol=1e-10)


def one_by_one(n_rows, row_bytes):
    return (slice(start, start + 1) for start in range(n_rows))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kernel": "poly"}, "kernel='poly' has no random features"),
        ({"kernel": "laplacian", "orthogonal": True}, "orthogonal=False"),
        ({"orthogonal": "yes"}, "orthogonal must be True or False"),
        ({"n_random_features": 0}, "n_random_features must be an integer >= 1, got 0"),
        ({"n_random_features": 2.5}, "n_random_features must be an integer >= 1, got 2.5"),
        ({"n_components": 0}, "n_components must be"),
        ({"gamma": "wide"}, "gamma='wide' is unknown"),
        ({"gamma": -1}, "gamma must be"),
        ({"center": "mean"}, "center must be one of"),
    ],
)
def test_wrong_parameters_are_named(options, message, parabola):
    with pytest.raises(ValueError, match=message):
        RandomFeatureKPCA(**options).fit(parabola)


def test_values_that_overflow_are_refused():
    X = 1e300 * np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match="rescale"):
        RandomFeatureKPCA(gamma=1e30, n_random_features=200, random_state=0).fit(X)
