import numpy as np
import pytest
from sklearn.decomposition import PCA

from kpca_lab import FullKPCA, SubsetKPCA
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.operator import Expansion
from kpca_lab.preimage import denoise, inverse_transform, preimage


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


def test_kernels_without_preimages_are_refused():
    X = samples(10)
    for name in ("laplacian", "sigmoid", "cosine"):
        operator = FullKPCA(2, kernel=name).fit(X).operator_
        with pytest.raises(ValueError, match=name):
            denoise(operator, X)
    with pytest.raises(ValueError, match="degree"):
        preimage(Kernel("poly", degree=1.5), Expansion.over(X, np.eye(10)))
    with pytest.raises(ValueError, match="coef0"):
        preimage(Kernel("poly", coef0=-1.0), Expansion.over(X, np.eye(10)))


def test_wrong_number_of_components_is_refused():
    operator = FullKPCA(2).fit(samples(10)).operator_
    with pytest.raises(ValueError, match="2 components"):
        inverse_transform(operator, np.zeros((3, 5)))
