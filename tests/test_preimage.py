from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from kpca_lab import (
    CholeskyKPCA,
    ElasticNetKPCA,
    EmpiricalMapKPCA,
    FullKPCA,
    HebbianKPCA,
    ImprovedKPCA,
    NystromKPCA,
    SubsetKPCA,
)
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.operator import Expansion
from kpca_lab.preimage import denoise, inverse_transform, preimage
from kpca_lab.ridge_preimage import RIDGES, RidgePreimage


def samples(n=60, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def kernel_of(name, d, **parameters):
    return make_kernel(name, degree=parameters.pop("degree", 2), n_features=d, **parameters)


def literal_fixed_point(X, coefficients, z, gamma, n_iter):
    """Mika's iteration as it is printed."""
    for _ in range(n_iter):
        weights = coefficients * np.exp(-gamma * ((X - z) ** 2).sum(axis=1))
        z = weights @ X / weights.sum()
    return z


def noisy_ring(n=200, noise=0.15, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return ring, ring + noise * rng.standard_normal(ring.shape)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("name", ["rbf", "linear", "poly"])
def test_preimage_of_an_image_is_the_point(name, offset):
    X = samples() + offset
    images = Expansion.over(X, np.eye(len(X)))
    found = preimage(kernel_of(name, X.shape[1]), images)
    np.testing.assert_allclose(found, X, atol=1e-9)


@pytest.mark.parametrize("name, degree", [("rbf", 2), ("poly", 2), ("poly", 3), ("poly", 1)])
def test_recovery_from_a_distant_start(name, degree):
    X = samples()
    start = X + 0.3 * samples(seed=1)
    kernel = kernel_of(name, X.shape[1], degree=degree, gamma=0.5)
    found = preimage(kernel, Expansion.over(X, np.eye(len(X))), start=start, max_iter=500)
    np.testing.assert_allclose(found, X, atol=1e-5)


def test_up_to_scale_ignores_the_factor_and_its_sign():
    X = samples()
    for name in ("rbf", "poly"):
        factors = np.where(np.arange(len(X)) % 2, -7.0, 1e-3)
        kernel = kernel_of(name, X.shape[1], gamma=0.5)
        start = X + 0.01 * samples(seed=1)
        scaled = Expansion.over(X, np.diag(factors))
        found = preimage(kernel, scaled, start=start, up_to_scale=True, max_iter=500)
        if name == "rbf":
            np.testing.assert_allclose(found, X, atol=1e-5)
        along = np.array([scaled.columns([j]).evaluate(kernel, found[[j]])[0, 0] for j in range(len(X))])
        cosine = np.abs(along) / np.sqrt(kernel.diagonal(found) * kernel.diagonal(X)) / np.abs(factors)
        np.testing.assert_allclose(cosine, 1.0, atol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_linear_kernel_gives_the_least_squares_reconstruction(center):
    X = samples(80, 6) + 3.0
    model = FullKPCA(3, kernel="linear", center=center).fit(X)
    found = inverse_transform(model.operator_, model.transform(X))
    if center:
        pca = PCA(3).fit(X)
        expected = pca.inverse_transform(pca.transform(X))
    else:
        V = np.linalg.svd(X)[2][:3]
        expected = X @ V.T @ V
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(denoise(model.operator_, X), expected, atol=1e-9)


def test_agrees_with_the_literal_fixed_point():
    X = samples(50, 3)
    model = FullKPCA(4, gamma=0.2).fit(X)
    vectors = model.operator_.synthesize(model.transform(X))
    found = preimage(model.operator_.kernel, vectors, start=X, tol=1e-12, max_iter=1000)
    for j in range(20):
        expected = literal_fixed_point(X, vectors.coefficients[:, j], X[j], 0.2, 1000)
        np.testing.assert_allclose(found[j], expected, atol=1e-7)


@pytest.mark.parametrize("gamma", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_small_gamma_tends_to_the_linear_reconstruction(gamma, offset):
    bound = 2000 * gamma + 1e-6  # the difference is of first order in gamma
    X = samples(100, 20) * np.linspace(1, 2, 20) + offset
    pca = PCA(5).fit(X)
    expected = pca.inverse_transform(pca.transform(X))
    model = FullKPCA(5, gamma=gamma).fit(X)
    np.testing.assert_allclose(denoise(model.operator_, X), expected, atol=bound)
    np.testing.assert_allclose(inverse_transform(model.operator_, model.transform(X)), expected, atol=bound)


def test_denoising_moves_a_ring_closer_to_what_it_was():
    ring, noisy = noisy_ring()
    model = FullKPCA(4, gamma=0.5).fit(noisy)
    clean = denoise(model.operator_, noisy)
    assert np.mean((clean - ring) ** 2) < 0.7 * np.mean((noisy - ring) ** 2)


def test_denoising_moves_a_parabola_closer_to_what_it_was():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    curve = np.column_stack([x, x**2])
    noisy = curve + 0.15 * rng.standard_normal(curve.shape)
    for model in (
        FullKPCA(2, gamma=0.5).fit(noisy),
        SubsetKPCA(2, gamma=0.5, n_basis=40, random_state=0).fit(noisy),
    ):
        clean = denoise(model.operator_, noisy)
        assert np.mean((clean - curve) ** 2) < 0.85 * np.mean((noisy - curve) ** 2)


def test_vanishing_denominator_starts_again():
    X = np.array([[0.0, 0.0], [4.0, 0.0]])
    kernel = Kernel("rbf", gamma=0.5)
    positive = Expansion.over(X, np.array([[1.0], [-1.0]]))
    # Half way the two terms cancel; the closest point is where the positive one sits.
    found = preimage(kernel, positive, start=np.array([[2.0, 0.0]]))
    assert np.linalg.norm(found) < 0.1
    # Far from all points every term is zero.
    found = preimage(kernel, positive, start=np.array([[500.0, 0.0]]))
    assert np.linalg.norm(found) < 0.1


@pytest.mark.parametrize("coefficients", [[0.0, 0.0], [-1.0, -1.0], [1e-300, -1e-300], [1e9, -1e9]])
def test_vectors_without_a_preimage_give_a_finite_point(coefficients):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    vectors = Expansion.over(X, np.array(coefficients)[:, None])
    for start in (None, np.full((1, 2), 0.5), np.full((1, 2), 1e6)):
        assert np.isfinite(preimage(Kernel("rbf", gamma=1.0), vectors, start=start)).all()


def test_result_does_not_depend_on_the_other_vectors():
    X = samples(40, 3)
    model = FullKPCA(3, gamma=0.3).fit(X)
    together = denoise(model.operator_, X)
    alone = np.vstack([denoise(model.operator_, X[[j]]) for j in range(10)])
    np.testing.assert_allclose(together[:10], alone, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("name", ["rbf", "linear", "poly"])
def test_scale_of_the_data_does_not_matter(name, scale):
    X = samples(40, 3)

    def reconstruct(factor):
        coef0 = 1.0 if name == "poly" else 0.0
        model = FullKPCA(3, kernel=name, gamma=0.3 / factor**2, degree=2, coef0=coef0).fit(X * factor)
        return denoise(model.operator_, X * factor) / factor

    np.testing.assert_allclose(reconstruct(scale), reconstruct(1.0), atol=1e-4)


def test_polynomial_preimage_comes_closer_than_the_sample():
    X = samples(60, 5)
    model = FullKPCA(6, kernel="poly", degree=2, gamma=0.2).fit(X)
    kernel, vectors = model.operator_.kernel, model.operator_.synthesize(model.transform(X))

    def distance(Z):
        return kernel.diagonal(Z) - 2 * np.diag(vectors.evaluate(kernel, Z))

    found = denoise(model.operator_, X)
    assert (distance(found) <= distance(X) + 1e-9).all()
    # A minimum: no small step leads closer.
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert (distance(found) <= distance(found + 1e-3 * rng.standard_normal(X.shape)) + 1e-9).all()


def test_same_bytes_every_time():
    _, noisy = noisy_ring(50)
    operator = FullKPCA(4, gamma=0.5).fit(noisy).operator_
    assert denoise(operator, noisy).tobytes() == denoise(operator, noisy).tobytes()


def test_all_points_equal():
    X = np.tile([[0.1, 0.2, 0.3]], (5, 1))
    vectors = Expansion.over(X, np.full((5, 1), 0.2))
    for name in ("rbf", "linear", "poly"):
        np.testing.assert_allclose(preimage(kernel_of(name, 3), vectors), X[:1], atol=1e-9)


NOT_ORTHONORMAL = [ImprovedKPCA, NystromKPCA, CholeskyKPCA, ElasticNetKPCA, EmpiricalMapKPCA]


def fitted(method, X, **parameters):
    model = method(8, **parameters)
    wanted = {"n_basis": 40, "sketch_size": 40, "l1": 1e-4, "random_state": 0}
    known = model.get_params()
    return model.set_params(**{name: value for name, value in wanted.items() if name in known}).fit(X)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", NOT_ORTHONORMAL)
def test_components_that_are_not_orthonormal_are_inverted_by_least_squares(method, center):
    X = samples(100, 12) + 2.0
    model = fitted(method, X, kernel="linear", center=center)
    components = model.transform(X)
    found = model.inverse_transform(components)
    np.testing.assert_allclose(model.transform(found), components, atol=1e-8)
    shift = model.transform(np.zeros((1, 12)))
    axes = model.transform(np.eye(12)) - shift  # components of x are x @ axes + shift
    if not center:
        np.testing.assert_allclose(found, components @ np.linalg.pinv(axes), atol=1e-8)
    # Across the axes all lie where the mean lies.
    across = np.eye(12) - axes @ np.linalg.pinv(axes)
    np.testing.assert_allclose((found - found[0]) @ across, 0.0, atol=1e-8)


@pytest.mark.parametrize("method", [*NOT_ORTHONORMAL, HebbianKPCA])
def test_inverse_transform_comes_close_whatever_the_length_of_the_components(method):
    _, X = noisy_ring()
    model = fitted(method, X, gamma=0.5)
    found = model.inverse_transform(model.transform(X))
    assert np.mean((found - X) ** 2) < 0.01 * X.var()


def test_improved_kpca_is_inverted_like_subset_kpca():
    _, X = noisy_ring()
    models = [
        method(6, gamma=0.5, n_basis=40, random_state=0).fit(X) for method in (SubsetKPCA, ImprovedKPCA)
    ]
    subset, improved = (model.inverse_transform(model.transform(X)) for model in models)
    np.testing.assert_allclose(improved, subset, atol=1e-5)


def test_general_solution_is_inverted_within_its_analysis_vectors():
    rng = np.random.default_rng(0)
    X, basis = rng.standard_normal((3, 6)), rng.standard_normal((5, 6))
    model = SubsetKPCA(2, kernel="linear", basis=basis, center=False, outside_basis="general").fit(X)
    right = model.operator_.right.points.T @ model.operator_.right.coefficients
    components = model.transform(X)
    expected = components @ np.linalg.pinv(right)
    np.testing.assert_allclose(model.inverse_transform(components), expected, atol=1e-9)


def test_denoising_applies_the_operator_as_it_is():
    X = samples(100, 5)
    model = ImprovedKPCA(3, kernel="linear", center=False, n_basis=20, random_state=0).fit(X)
    left = model.operator_.left.points.T @ model.operator_.left.coefficients
    np.testing.assert_allclose(denoise(model.operator_, X), X @ left @ left.T, atol=1e-9)


def test_copies_of_a_component_do_no_harm():
    X = samples(60, 4)
    operator = FullKPCA(3, gamma=0.2).fit(X).operator_
    twice = replace(operator, left=operator.left.columns([0, 1, 1, 2, 0]), orthonormal=False)
    np.testing.assert_allclose(
        inverse_transform(twice, twice.transform(X)),
        inverse_transform(operator, operator.transform(X)),
        atol=1e-6,
    )


def rational(x, y):
    return 1.0 / (1.0 + np.sum((x - y) ** 2))


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "cosine"},
        {"kernel": "sigmoid", "gamma": 1e-3, "coef0": 0},
        {"kernel": "laplacian"},
        {"kernel": rational},
    ],
)
@pytest.mark.parametrize("method", [FullKPCA, SubsetKPCA])
def test_other_kernels_learn_the_way_back(method, kernel):
    _, X = noisy_ring(120, noise=0.02)
    options = {} if method is FullKPCA else {"n_basis": 60, "random_state": 0}
    model = method(6, **options, **kernel).fit(X)
    new, _ = noisy_ring(50, seed=1)
    for part in (X, new):
        found = model.inverse_transform(model.transform(part))
        assert np.mean((found - part) ** 2) < 0.01 * X.var()


def test_precomputed_kernel_is_mapped_back_to_given_targets():
    _, X = noisy_ring(100)
    new, _ = noisy_ring(20, seed=1)
    kernel = Kernel("rbf", gamma=0.5)
    model = FullKPCA(5, kernel="precomputed").fit(kernel(X, X))
    found = model.inverse_transform(model.transform(kernel(new, X)), targets=X)
    assert np.mean((found - new) ** 2) < 0.01
    with pytest.raises(ValueError, match="100 training samples"):
        model.inverse_transform(model.transform(kernel(new, X)))
    with pytest.raises(ValueError, match="got 99"):
        model.inverse_transform(model.transform(kernel(new, X)), targets=X[:99])
    with pytest.raises(ValueError, match="precomputed"):
        FullKPCA(2).fit(X).inverse_transform(np.zeros((1, 2)), targets=X)


def test_ridge_is_the_solution_of_the_linear_system():
    rng = np.random.default_rng(0)
    components, targets, new = rng.standard_normal((30, 3)), rng.standard_normal((30, 2)), rng.random((5, 3))
    learned = RidgePreimage(components, targets, alpha=0.1)
    gamma = 1 / (2 * np.median(pdist(components)) ** 2)
    peer = KernelRidge(alpha=0.1, kernel="rbf", gamma=gamma)
    peer.fit(components, targets - targets.mean(axis=0))
    np.testing.assert_allclose(learned(new), peer.predict(new) + targets.mean(axis=0), atol=1e-12)


def test_ridge_found_has_the_least_leave_one_out_error():
    rng = np.random.default_rng(0)
    components = rng.uniform(-2, 2, (25, 1))
    targets = np.sin(components) + 0.3 * rng.standard_normal((25, 1))
    gamma = 1 / (2 * np.median(pdist(components)) ** 2)

    def left_out(alpha):
        model = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma)
        predicted = cross_val_predict(model, components, targets - targets.mean(axis=0), cv=LeaveOneOut())
        return np.mean((predicted - targets + targets.mean(axis=0)) ** 2)

    assert RidgePreimage(components, targets).alpha_ == min(RIDGES, key=left_out)


def test_ridge_with_many_pairs_uses_some_of_them():
    angle = np.linspace(0, 6, 4000)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    learned = RidgePreimage(angle[:, None], ring)
    assert len(learned._components) == 2000
    np.testing.assert_allclose(learned(angle[:, None]), ring, atol=1e-3)


def test_no_search_for_other_kernels():
    X = samples(10)
    for name in ("laplacian", "cosine"):
        operator = FullKPCA(2, kernel=name).fit(X).operator_
        with pytest.raises(ValueError, match=name):
            denoise(operator, X)
    with pytest.raises(ValueError, match="degree"):
        preimage(Kernel("poly", degree=1.5), Expansion.over(X, np.eye(10)))
    with pytest.raises(ValueError, match="coef0"):
        preimage(Kernel("poly", coef0=-1.0), Expansion.over(X, np.eye(10)))
    for alpha in (0, -1.0, np.inf, "small"):
        with pytest.raises(ValueError, match="alpha must be"):
            FullKPCA(2, kernel="cosine").fit(X).inverse_transform(np.zeros((1, 2)), alpha=alpha)


def test_wrong_number_of_components_is_refused():
    operator = FullKPCA(2).fit(samples(10)).operator_
    with pytest.raises(ValueError, match="2 components"):
        inverse_transform(operator, np.zeros((3, 5)))
