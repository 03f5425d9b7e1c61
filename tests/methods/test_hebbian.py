import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from kpca_lab.gram import gram_matrix
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.hebbian import HebbianKPCA, hebbian_step, meta_step
from kpca_lab.methods.ritz import DistanceFromComponents
from kpca_lab.metrics import empirical_error, operator_distance


def ellipse(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 2)) * [3.0, 1.0]


def model(gain="smd", **parameters):
    defaults = {"n_components": 2, "gamma": 0.02, "gain": gain, "tol": 0.0, "random_state": 0}
    return HebbianKPCA(**defaults | parameters)


def full(center=True):
    return FullKPCA(2, gamma=0.02, center=center)


def random_state(r=4, n=12, seed=0):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, n))
    K = factor @ factor.T / n
    A, B = rng.standard_normal((2, r, n))
    return K, A, B


def test_check_estimator():
    check_estimator(HebbianKPCA(n_components=2, max_iter=5))


def hebbian_rule(A, K, p):
    """H(A) = y e_p' - lt(y y') A."""
    y = A @ K[p]
    return np.outer(y, np.eye(len(K))[p]) - np.tril(np.outer(y, y)) @ A


def applied(step, rows, p):
    turn, add = step
    return turn @ rows + np.outer(add, np.eye(rows.shape[1])[p])


def test_a_step_is_the_hebbian_rule():
    K, A, _ = random_state()
    p, gains = 5, np.array([0.1, 0.2, 0.3, 0.4])
    expected = A + gains[:, None] * hebbian_rule(A, K, p)
    np.testing.assert_allclose(applied(hebbian_step(A @ K[p], gains), A, p), expected, atol=1e-12)


def test_a_step_of_meta_descent_has_the_derivative_of_the_rule():
    K, A, B = random_state()
    p, step, memory, gains = 7, 1e-5, 0.9, np.array([0.1, 0.2, 0.3, 0.4])
    derivative = (hebbian_rule(A + step * B, K, p) - hebbian_rule(A - step * B, K, p)) / (2 * step)
    found = applied(meta_step(A @ K[p], B @ K[p], gains, memory), np.vstack([A, B]), p)
    change = hebbian_rule(A, K, p) + memory * derivative
    np.testing.assert_allclose(found[:4], applied(hebbian_step(A @ K[p], gains), A, p), atol=1e-12)
    np.testing.assert_allclose(found[4:], memory * B + gains[:, None] * change, rtol=1e-6, atol=1e-6)


def literal_meta_descent(K, A, orders, *, eta0, meta_gain, memory):
    """KHA-SMD step by step, as in the docstring of the estimator."""
    n, B, rho = len(K), np.zeros_like(A), np.zeros(len(A))
    done = 0
    for order in orders:
        estimates = np.linalg.norm(A @ K, axis=1) / np.linalg.norm(A, axis=1)
        eta = eta0 * np.linalg.norm(estimates) / estimates
        for p in order:
            change, y, b = hebbian_rule(A, K, p), A @ K[p], B @ K[p]
            derivative = np.outer(b, np.eye(n)[p]) - np.tril(np.outer(y, y)) @ B
            derivative -= np.tril(np.outer(b, y) + np.outer(y, b)) @ A
            rho += np.clip(meta_gain * np.sum((change @ K) * B, axis=1), -np.log(2), np.log(2))
            gains = (eta * np.exp(rho) * n / (done + n))[:, None]
            A, B = A + gains * change, memory * B + gains * (change + memory * derivative)
            done += 1
    return A


def test_passes_of_meta_descent_are_the_literal_algorithm():
    n = 150  # more than two blocks of samples
    X = ellipse(n)
    fitted = model("smd", n_components=4, max_iter=3, eta0=0.1, tau=len(X)).fit(X)
    K = gram_matrix(fitted.operator_.kernel, X, center=True)
    scale = K.diagonal().mean()
    rng = np.random.default_rng(int(fitted._generator().integers(2**31)))
    start = rng.standard_normal((4, n)) / np.sqrt(4 * n)
    orders = [rng.permutation(n) for _ in range(3)]
    A = literal_meta_descent(K / scale, start, orders, eta0=0.1, meta_gain=0.3, memory=0.99)
    expected = np.abs(A @ K / np.sqrt(scale)).T
    np.testing.assert_allclose(np.abs(fitted.transform(X)), expected, atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gain, eta0", [("constant", 0.02), ("et", 0.2), ("smd", 0.1)])
def test_converges_to_full_kpca(gain, eta0, center):
    X = ellipse(80)
    fitted = model(gain, eta0=eta0, tau=len(X), center=center, max_iter=60).fit(X)
    reference = full(center).fit(X)
    tolerance = 0.1 if gain == "constant" else 0.02  # a gain that does not fall leaves the rows trembling
    assert operator_distance(fitted, reference).d < tolerance
    np.testing.assert_allclose(fitted.eigenvalues_, reference.eigenvalues_, rtol=tolerance)
    np.testing.assert_allclose(fitted.operator_.left_gram, np.eye(2), atol=tolerance)
    assert empirical_error(fitted, X) < 1.01 * empirical_error(reference, X)


def test_adapted_gains_need_fewer_passes():
    X = ellipse(80)
    reference = full().fit(X)

    def best_distance(gain, gains):
        fits = (model(gain, eta0=eta0, tau=len(X), max_iter=12).fit(X) for eta0 in gains)
        return min(operator_distance(fit, reference).d2 for fit in fits)

    # Each kind with the best of the gains 0.01 ... 0.3.
    gains = (0.01, 0.03, 0.1, 0.3)
    constant = best_distance("constant", gains)
    assert best_distance("et", gains) < constant / 3
    assert best_distance("smd", gains) < constant / 3


def test_meta_descent_raises_gains_that_are_too_small():
    X = ellipse(80)
    reference = full().fit(X)
    fixed, adapted = (
        model("smd", eta0=0.03, tau=len(X), meta_gain=mu, max_iter=15).fit(X) for mu in (0.0, 1.0)
    )
    assert operator_distance(adapted, reference).d2 < operator_distance(fixed, reference).d2 / 10


def test_meta_descent_without_meta_gain_is_the_scaled_rule():
    X = ellipse(40)
    first = model("smd", meta_gain=0.0, max_iter=3).fit(X)
    second = model("et", max_iter=3).fit(X)
    np.testing.assert_array_equal(first.transform(X), second.transform(X))


def test_a_pass_is_the_literal_algorithm():
    X = ellipse(30)
    fitted = model("constant", eta0=0.05, max_iter=2).fit(X)
    K = gram_matrix(fitted.operator_.kernel, X, center=True)
    scale = K.diagonal().mean()
    K = K / scale
    rng = np.random.default_rng(int(fitted._generator().integers(2**31)))
    A = rng.standard_normal((2, 30)) / np.sqrt(60)
    for _ in range(2):
        for p in rng.permutation(30):
            y = A @ K[p]
            A = A + 0.05 * (np.outer(y, np.eye(30)[p]) - np.tril(np.outer(y, y)) @ A)
    expected = np.abs(A @ K * np.sqrt(scale)).T
    np.testing.assert_allclose(np.abs(fitted.transform(X)), expected, atol=1e-10)


def test_mean_is_carried():
    X = ellipse(60)
    fitted = model(max_iter=3).fit(X)
    np.testing.assert_allclose(fitted.transform(X).mean(axis=0), 0, atol=1e-12)
    shifted = model(max_iter=3, kernel="linear").fit(X + 1e6)
    np.testing.assert_allclose(
        np.abs(shifted.transform(X + 1e6)),
        np.abs(model(max_iter=3, kernel="linear").fit(X).transform(X)),
        atol=1e-6,
    )


def test_orthonormalized_operator():
    X = ellipse(60)
    rows = model(max_iter=4).fit(X)
    axes = model(max_iter=4, orthonormalize=True).fit(X)
    left = axes.operator_.left
    np.testing.assert_allclose(left.inner(axes.operator_.kernel, left), np.eye(2), atol=1e-10)
    scores = axes.transform(X)
    np.testing.assert_allclose(scores.T @ scores, np.diag(axes.eigenvalues_), atol=1e-8)
    assert empirical_error(axes, X) <= empirical_error(rows, X) + 1e-12
    assert empirical_error(axes, X) >= empirical_error(full().fit(X), X) - 1e-12
    spanned = np.linalg.lstsq(rows.transform(X), scores, rcond=None)
    np.testing.assert_allclose(rows.transform(X) @ spanned[0], scores, atol=1e-8)


def test_seed_gives_the_same_bytes():
    X = ellipse(40)
    first, second, other = (model(max_iter=2, random_state=seed).fit(X).transform(X) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != other.tobytes()


def test_stops_when_converged():
    X = ellipse(60)
    fitted = model(tol=1e-2, max_iter=60).fit(X)
    assert fitted.converged_ and fitted.n_iter_ < 60
    limited = model(tol=0.0, max_iter=2).fit(X)
    assert not limited.converged_ and limited.n_iter_ == 2


def test_divergence_lowers_the_gain():
    X = ellipse(40)
    fitted = model("constant", eta0=50.0, max_iter=5).fit(X)
    assert fitted.eta0_ < 50
    assert np.isfinite(fitted.transform(X)).all()
    heavy = np.random.default_rng(0).standard_t(1.5, size=(100, 3))
    fitted = model("smd", kernel="poly", n_components=3, max_iter=3).fit(heavy)
    assert np.isfinite(fitted.transform(heavy)).all()
    with pytest.raises(ValueError, match="diverged"):
        model("constant", eta0=1e30, max_iter=3).fit(X)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_kernel_scale_does_not_matter(scale):
    X = ellipse(40)
    reference = model(kernel="linear", max_iter=5).fit(X)
    scaled = model(kernel="linear", max_iter=5).fit(scale * X)
    np.testing.assert_allclose(scaled.transform(scale * X), scale * reference.transform(X), rtol=1e-5)


def test_components_beyond_the_rank_are_not_looked_for():
    X = ellipse(40)
    assert model(kernel="linear", n_components=5, max_iter=2).fit(X).n_components_ == 2
    assert model(max_iter=2).fit(np.ones((5, 2))).n_components_ == 0
    assert model(max_iter=2, center=False).fit(np.ones((5, 2))).n_components_ == 1
    assert model(max_iter=2, orthonormalize=True).fit(np.ones((5, 2))).n_components_ == 0
    assert model(max_iter=2, center=False).fit(np.ones((1, 2))).n_components_ == 1
    assert model(max_iter=2, n_components=None).fit(X).n_components_ == 10


def test_precomputed_kernel_gives_the_same():
    X = ellipse(40)
    fitted = model(max_iter=3, center=False).fit(X)
    K = gram_matrix(fitted.operator_.kernel, X, center=False)
    other = model(max_iter=3, center=False, kernel="precomputed").fit(K)
    np.testing.assert_allclose(other.transform(K), fitted.transform(X), atol=1e-9)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"gain": "linear"}, "gain"),
        ({"eta0": 0.0}, "eta0"),
        ({"tau": -1.0}, "tau"),
        ({"meta_gain": -1.0}, "meta_gain"),
        ({"memory": 1.5}, "memory"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"center": "basis"}, "center"),
    ],
)
def test_errors_say_what_is_wrong(parameters, message):
    with pytest.raises(ValueError, match=message):
        HebbianKPCA(**parameters).fit(ellipse(20))


def unseen(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "normal":
        return rng.standard_normal((60, 3)) * [3, 2, 1]
    if kind == "clusters":
        return np.repeat(3 * rng.standard_normal((4, 2)), 25, axis=0) + rng.standard_normal((100, 2))
    if kind == "skewed":
        return rng.lognormal(size=(80, 5))
    angle = rng.uniform(0, np.pi, 150)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((150, 2))


def distances(fitted, gamma):
    """One minus cosine of each component and the exact one, in feature space."""
    exact = FullKPCA(fitted.n_components_, gamma=gamma).fit(fitted.operator_.left.points).operator_
    found = fitted.operator_.left
    lengths = np.sqrt(found.inner(exact.kernel, found).diagonal())
    return 1 - np.abs(found.inner(exact.kernel, exact.left).diagonal()) / lengths


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("gamma", [0.05, "median"])
@pytest.mark.parametrize("kind", ["normal", "clusters", "skewed", "arc"])
@pytest.mark.parametrize("seed", range(2))
def test_defaults_reach_the_components_of_kernel_pca(kind, gamma, seed):
    fitted = HebbianKPCA(3, gamma=gamma, random_state=seed).fit(unseen(kind, seed))
    assert fitted.converged_
    assert distances(fitted, gamma).max() <= 8.5e-5


def test_close_eigenvalues_warn_how_far_the_components_are():
    X = np.random.default_rng(0).standard_normal((100, 2))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * [1.01, 1.0]  # eigenvalues 2 % apart
    with pytest.warns(
        ConvergenceWarning, match=r"one minus cosine.* [12]\.?\d* % from another.*raise max_iter"
    ):
        HebbianKPCA(1, kernel="linear", max_iter=30, random_state=0).fit(X)


@pytest.mark.parametrize("n_components", [1, 2])
def test_components_of_equal_eigenvalues_may_be_any_in_their_space(n_components):
    X = np.random.default_rng(0).standard_normal((100, 3))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * [1.0, 1.0, 0.3]
    fitted = HebbianKPCA(n_components, kernel="linear", random_state=0).fit(X)
    assert fitted.converged_
    axes = fitted.transform(np.eye(3)) - fitted.transform(np.zeros((1, 3)))
    assert (1 - np.linalg.norm(axes[:2], axis=0) / np.linalg.norm(axes, axis=0)).max() <= 8.5e-5


def test_the_estimated_distance_bounds_the_true_one():
    rng = np.random.default_rng(0)
    values = np.array([3.0, 2.0, 1.5, 1.0, *np.geomspace(0.5, 1e-3, 26)])
    vectors = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    gram = (vectors * values) @ vectors.T
    exact = (vectors / np.sqrt(values)).T[:3]
    distance = DistanceFromComponents(gram, 3)
    for size in np.geomspace(1e-1, 1e-5, 30):
        A = exact + size * (rng.standard_normal((3, 30)) / np.sqrt(values)) @ vectors.T / np.sqrt(30)
        cosines = np.einsum("ij,ij->i", A @ gram, exact) / np.sqrt(np.einsum("ij,ij->i", A @ gram, A))
        value, true = distance(A, A @ gram), (1 - np.abs(cosines)).max()
    assert true <= value * (1 + 1e-3) <= 30 * true
    # Rows in the wrong order, or without the largest component, are as far as can be.
    wrong, missing = exact[[1, 0, 2]], (vectors / np.sqrt(values)).T[1:4]
    assert distance(wrong, wrong @ gram) > 0.99
    for _ in range(40):  # from a share of the size of rounding errors
        value = distance(missing, missing @ gram)
    assert value == 1


def test_gains_fall_only_in_passes_that_turn_a_component_back():
    A, turns = np.eye(2, 10), np.array([0.0, 3.0])
    estimator = model("kesten", eta0=0.2)
    estimator.eta0_ = 0.2
    unturned = estimator._gains(A, 5 * A, np.zeros(2))
    np.testing.assert_allclose(estimator._gains(A, 5 * A, turns), unturned / [1, 4])
    estimator.tau = 20.0  # two passes
    np.testing.assert_allclose(estimator._gains(A, 5 * A, turns), unturned / [1, 2.5])


@pytest.mark.parametrize("gain", ["et", "smd", "constant"])
def test_other_gains_reach_the_components_or_say_that_they_have_not(gain):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = HebbianKPCA(3, gamma=0.5, gain=gain, max_iter=100, random_state=0).fit(unseen("skewed", 7))
    assert fitted.converged_ != any("one minus cosine" in str(entry.message) for entry in caught)
    assert not fitted.converged_ or distances(fitted, 0.5).max() <= 8.5e-5


def test_a_spectrum_that_is_nearly_flat_is_not_taken_for_converged():
    X = np.random.default_rng(3).standard_normal((60, 10))
    with pytest.warns(ConvergenceWarning, match="one minus cosine"):
        fitted = HebbianKPCA(1, gamma=0.5, max_iter=20, random_state=0).fit(X)
    assert not fitted.converged_
