import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from kpca_lab.gram import gram_matrix
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.tipping import TippingKPCA
from kpca_lab.metrics import empirical_error, operator_distance


def parabola(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return 6.242 * np.column_stack([x, x**2 + rng.normal(0, 0.2, n)])


def log_likelihood(K, weights, noise_variance):
    """The definition, term by term, with C = s2 I + Phi W Phi' for features Phi Phi' = K."""
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    C = noise_variance * np.eye(n) + (features.T * weights) @ features
    log_determinant = np.linalg.slogdet(C)[1] - n * np.log(noise_variance)
    return -0.5 * (n * log_determinant + np.trace(np.linalg.solve(C, features.T @ features)))


def gram(model, X):
    return gram_matrix(model.operator_.kernel, X, center=model.center)


def test_check_estimator():
    check_estimator(TippingKPCA())


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("update", ["scoring", "fast", "em"])
def test_reported_likelihood_is_that_of_the_weights(update, center):
    X = parabola(60)
    model = TippingKPCA(gamma=0.1, noise_variance=0.01, update=update, max_iter=15, center=center).fit(X)
    expected = log_likelihood(gram(model, X), model.weights_, 0.01)
    np.testing.assert_allclose(model.log_likelihood_[-1], expected, rtol=1e-8)


def test_updates_are_tippings_formulas():
    X, s2 = parabola(40), 0.02
    n = len(X)
    K = gram(TippingKPCA(gamma=0.1, noise_variance=s2).fit(X), X)
    W = np.eye(n) / n
    sigma = np.linalg.inv(np.linalg.inv(W) + K / s2)
    mu = sigma @ K / s2
    fast = np.sum(mu**2, axis=1) / (n * (1 - sigma.diagonal() * n))
    em = np.mean(mu**2, axis=1) + sigma.diagonal()
    for update, expected in (("fast", fast), ("em", em)):
        model = TippingKPCA(gamma=0.1, noise_variance=s2, update=update, max_iter=1).fit(X)
        np.testing.assert_allclose(model.weights_, expected, rtol=1e-7)


@pytest.mark.parametrize("update", ["scoring", "em"])
def test_likelihood_never_falls(update):
    model = TippingKPCA(gamma=0.1, noise_variance=0.01, update=update, max_iter=300).fit(parabola(80))
    assert model.n_iter_ > 3
    assert np.diff(model.log_likelihood_).min() >= -1e-7


def test_all_updates_reach_the_same_likelihood():
    X = parabola(40)
    final = {
        update: TippingKPCA(gamma=0.1, noise_variance=0.02, update=update, tol=1e-5, max_iter=limit)
        .fit(X)
        .log_likelihood_[-1]
        for update, limit in (("scoring", 200), ("fast", 4000), ("em", 8000))
    }
    start = TippingKPCA(gamma=0.1, noise_variance=0.02, max_iter=1).fit(X).log_likelihood_[0]
    assert final["scoring"] - start > 10
    assert abs(final["scoring"] - final["fast"]) < 1e-5
    assert abs(final["scoring"] - final["em"]) < 0.1


@pytest.mark.parametrize("center", [False, True])
def test_optimum_is_stationary(center):
    X, s2 = parabola(50), 0.02
    model = TippingKPCA(gamma=0.1, noise_variance=s2, tol=1e-6, center=center).fit(X)
    K, active = gram(model, X), model.basis_indices_
    assert 5 < len(active) < 40
    for i in range(len(X)):
        step = 1e-5
        up, down = model.weights_.copy(), model.weights_.copy()
        up[i] += step
        down[i] = max(down[i] - step, 0)
        slope = (log_likelihood(K, up, s2) - log_likelihood(K, down, s2)) / (up[i] - down[i])
        scale = len(X) / 2 * K[i, i] / s2
        if i in active:
            assert abs(slope) < 1e-3 * scale
        else:  # a larger weight would not help
            assert slope < 1e-3 * scale


@pytest.mark.parametrize("center", [False, True])
def test_approaches_full_kpca_as_the_noise_vanishes(center):
    X = parabola(60)
    full = FullKPCA(4, gamma=3.0, center=center).fit(X)
    distances = [
        operator_distance(
            TippingKPCA(4, gamma=3.0, noise_variance=s2, center=center, tol=1e-6).fit(X), full
        ).d
        for s2 in (1e-3, 1e-5, 1e-8)
    ]
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 1e-3


def test_operator_is_an_orthonormal_expansion_over_the_weighted_samples():
    X = parabola(100)
    model = TippingKPCA(6, gamma=0.1, noise_variance=0.01).fit(X)
    np.testing.assert_array_equal(model.operator_.points, X[model.basis_indices_])
    left = model.operator_.left
    np.testing.assert_allclose(left.inner(model.operator_.kernel, left), np.eye(6), atol=1e-8)
    K = gram(model, X)[np.ix_(model.basis_indices_, model.basis_indices_)]
    root = np.sqrt(model.weights_[model.basis_indices_])
    values, vectors = np.linalg.eigh(root[:, None] * K * root)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:6], rtol=1e-9)
    scores = gram(model, X)[:, model.basis_indices_] @ (
        root[:, None] * vectors[:, ::-1][:, :6] / np.sqrt(values[::-1][:6])
    )
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(scores), atol=1e-8)


def test_centred_operator_carries_the_mean():
    X = parabola(80)
    model = TippingKPCA(4, gamma=0.1, noise_variance=0.01, center=True).fit(X)
    np.testing.assert_allclose(model.transform(X).mean(axis=0), 0, atol=1e-10)
    left = model.operator_.left
    np.testing.assert_allclose(left.inner(model.operator_.kernel, left), np.eye(4), atol=1e-8)
    full = FullKPCA(4, gamma=0.1).fit(X)
    assert empirical_error(full, X) <= empirical_error(model, X) < 1.2 * empirical_error(full, X)


def test_more_noise_means_fewer_samples():
    X = parabola(150)
    counts = [
        len(TippingKPCA(gamma=0.1, noise_variance=s2).fit(X).basis_indices_)
        for s2 in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 2 * counts[2] > 0
    assert counts[-1] == 0  # no direction has a variance above 1


@pytest.mark.parametrize("n_basis", [10, 30, 0.3])
def test_finds_the_noise_for_a_wanted_number_of_samples(n_basis):
    X = parabola(300)
    model = TippingKPCA(5, gamma=0.1, n_basis=n_basis).fit(X)
    wanted = n_basis if n_basis >= 1 else n_basis * 300
    assert len(model.basis_indices_) == wanted
    assert 0 < model.noise_variance_ < 1


@pytest.mark.parametrize("center", [False, True])
def test_nearly_constant_kernel_matrix_and_large_offset(center):
    X = parabola(60)
    wide = TippingKPCA(3, gamma=1e-7, n_basis=30, center=center).fit(X)
    assert np.isfinite(wide.transform(X)).all()
    near = TippingKPCA(3, gamma=0.1, noise_variance=0.01, center=center).fit(X)
    far = TippingKPCA(3, gamma=0.1, noise_variance=0.01, center=center).fit(X + 2.0**20)
    np.testing.assert_allclose(near.weights_, far.weights_, atol=1e-4)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_kernel_scale_does_not_matter(scale, center):
    X = parabola(50)
    reference = TippingKPCA(2, kernel="linear", noise_variance=0.5, center=center).fit(X)
    scaled = TippingKPCA(2, kernel="linear", noise_variance=0.5 * scale**2, center=center).fit(X * scale)
    np.testing.assert_allclose(scaled.log_likelihood_, reference.log_likelihood_, rtol=1e-6)
    np.testing.assert_allclose(scaled.eigenvalues_, reference.eigenvalues_ * scale**2, rtol=1e-3)
    assert len(scaled.basis_indices_) <= 3  # a symmetric 2 x 2 matrix has three entries


@pytest.mark.parametrize("center", [False, True])
def test_degenerate_samples(center):
    same = np.ones((6, 2))
    model = TippingKPCA(3, center=center).fit(same)
    assert model.n_components_ == (0 if center else 1)
    assert np.isfinite(model.transform(same)).all()
    repeated = np.repeat(parabola(8), 5, axis=0)
    model = TippingKPCA(3, gamma=0.1, n_basis=4, center=center).fit(repeated)
    assert np.isfinite(model.transform(repeated)).all()
    assert TippingKPCA(kernel="linear").fit(np.zeros((4, 2))).n_components_ == 0
    assert TippingKPCA().fit(np.ones((1, 2))).n_components_ == 1


def test_precomputed_kernel_gives_the_same():
    X = parabola(60)
    model = TippingKPCA(3, gamma=0.1, noise_variance=0.01).fit(X)
    K = gram(model, X)
    other = TippingKPCA(3, kernel="precomputed", noise_variance=0.01).fit(K)
    np.testing.assert_allclose(np.abs(other.transform(K)), np.abs(model.transform(X)), atol=1e-5)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"noise_variance": 0.0}, "noise_variance"),
        ({"noise_variance": 1e-30}, "too small"),
        ({"n_basis": 0}, "n_basis"),
        ({"update": "slow"}, "update"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"center": "basis"}, "center"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_errors_say_what_is_wrong(parameters, message):
    with pytest.raises(ValueError, match=message):
        TippingKPCA(**parameters).fit(parabola(20))
