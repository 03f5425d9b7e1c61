import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from kpca_lab import FullKPCA
from kpca_lab.methods.incremental import IncrementalKPCA
from kpca_lab.metrics import empirical_error, operator_distance
from kpca_lab.operator import FeatureOperator

KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.2},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.2},
    "linear": {"kernel": "linear"},
    "laplacian": {"kernel": "laplacian", "gamma": 0.2},
}


def samples(n=80, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def parabola(n=1000, seed=0):
    """The paper's synthetic problem: x uniform in [-1, 1], y = x^2 and noise of standard deviation 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return np.column_stack([x, x**2 + 0.2 * rng.standard_normal(n)])


def largest_angle(model, reference, r):
    """Sine of the largest principal angle between the first r components of two models."""
    first, second = model.operator_.truncate(r), reference.operator_.truncate(r)
    cosines = np.linalg.svd(first.left.inner(first.kernel, second.left), compute_uv=False)
    return np.sqrt(max(0.0, 1.0 - cosines[-1] ** 2))


def mean_distance(model, reference):
    kernel, first, second = model.operator_.kernel, model.operator_.mean, reference.operator_.mean
    square = first.inner(kernel, first) - 2 * first.inner(kernel, second) + second.inner(kernel, second)
    return np.sqrt(max(0.0, square[0, 0]))


def orthogonality_error(model):
    left = model.operator_.left
    return np.abs(left.inner(model.operator_.kernel, left) - np.eye(model.n_components_)).max(initial=0.0)


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("batch_size", [1, 7, 30, 80])
@pytest.mark.parametrize("name", KERNELS)
def test_exact_mode_is_batch_kernel_pca(name, batch_size, offset):
    X = samples() + (0.0 if name == "poly" else offset)
    batch = FullKPCA(**KERNELS[name]).fit(X)
    model = IncrementalKPCA(compression=None, batch_size=batch_size, **KERNELS[name]).fit(X)
    assert model.n_components_ == batch.n_components_
    np.testing.assert_allclose(model.eigenvalues_, batch.eigenvalues_, atol=1e-11 * batch.eigenvalues_[0])
    # D^2 = 2 (r - sum of squared cosines) carries an error of about r eps.
    assert operator_distance(model, batch).d2_per_component < 1e-12
    assert mean_distance(model, batch) < 1e-7
    assert model.n_points_ == model.n_samples_seen_ == len(X)
    np.testing.assert_allclose(model.operator_.residual(X), batch.operator_.residual(X), atol=1e-8)


def test_operator_distance_to_batch():
    X = samples()
    for parameters in KERNELS.values():
        batch = FullKPCA(5, **parameters).fit(X)
        exact = IncrementalKPCA(compression=None, batch_size=9, **parameters).fit(X)
        assert operator_distance(exact.operator_.truncate(5), batch).d < 1e-6
        np.testing.assert_allclose(np.abs(exact.transform(X)[:, :5]), np.abs(batch.transform(X)), atol=1e-7)


@pytest.mark.parametrize("gamma", [1e-4, 1e-6, 1e-9])
def test_exact_mode_with_a_nearly_constant_kernel(gamma):
    X = samples(60, 6) + 10.0
    batch = FullKPCA(6, gamma=gamma).fit(X)
    model = IncrementalKPCA(compression=None, batch_size=8, gamma=gamma).fit(X)
    np.testing.assert_allclose(model.eigenvalues_[:6], batch.eigenvalues_, rtol=1e-9)
    assert largest_angle(model, batch, 6) < 1e-6
    assert empirical_error(model.operator_.truncate(6), X) == pytest.approx(
        empirical_error(batch, X), rel=1e-6
    )


def test_partial_fit_is_fit_whatever_the_chunks():
    X = samples(60)
    whole = IncrementalKPCA(compression=None, batch_size=60, gamma=0.2).fit(X)
    for ends in ([1, 60], [1, 2, 3, 40, 60], [59, 60]):
        model = IncrementalKPCA(compression=None, gamma=0.2)
        for begin, end in zip([0, *ends], ends):
            model.partial_fit(X[begin:end])
            assert model.n_samples_seen_ == end
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(whole.transform(X)), atol=1e-7)


def test_first_chunk_of_one_sample_has_no_components():
    X = samples(10)
    model = IncrementalKPCA(gamma=0.2).partial_fit(X[:1])
    assert model.n_components_ == 0
    assert model.transform(X).shape == (10, 0)
    assert model.partial_fit(X[1:]).n_components_ == 9


@pytest.mark.parametrize("compression, bound", [(None, 1e-2), ("preimages", 2e-2), ("select", 2e-2)])
def test_truncated_updates_stay_close_to_batch(compression, bound):
    X = parabola()
    batch = FullKPCA(6, gamma=0.5).fit(X)
    model = IncrementalKPCA(6, gamma=0.5, compression=compression, n_preimages=5).fit(X)
    assert largest_angle(model, batch, 4) < bound
    np.testing.assert_allclose(model.eigenvalues_, batch.eigenvalues_, rtol=0.05)
    assert mean_distance(model, batch) < 1e-3
    assert empirical_error(model, X) < 1.02 * empirical_error(batch, X)


@pytest.mark.parametrize("compression", ["preimages", "select"])
@pytest.mark.parametrize("name", ["rbf", "poly", "linear"])
def test_reduced_set_is_bounded_and_orthonormal(name, compression):
    X = samples(150, 4)
    model = IncrementalKPCA(3, compression=compression, n_preimages=2, **KERNELS[name])
    for begin in range(0, 150, 25):
        model.partial_fit(X[begin : begin + 25])
        assert model.n_points_ <= (3 + 1) * 2
        assert len(model.operator_.points) == model.n_points_
        assert orthogonality_error(model) < 1e-8
        assert (np.diff(model.eigenvalues_) <= 0).all()
        assert model.n_samples_seen_ == begin + 25


@pytest.mark.parametrize("compression", ["preimages", "select"])
def test_more_points_make_a_smaller_error(compression):
    X = parabola(300)
    exact = IncrementalKPCA(5, gamma=0.5, compression=None).fit(X)
    distances, means = [], []
    for n_preimages in (1, 2, 4, 8):
        model = IncrementalKPCA(5, gamma=0.5, compression=compression, n_preimages=n_preimages).fit(X)
        distances.append(operator_distance(model, exact).d)
        means.append(mean_distance(model, exact))
    assert (np.diff(distances) < 0).all()
    assert (np.diff(means) < 0).all()
    assert distances[-1] < 1e-3


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_linear_preimages_lose_nothing(offset):
    X = samples(120, 6) + offset
    exact = IncrementalKPCA(3, kernel="linear", compression=None).fit(X)
    model = IncrementalKPCA(3, kernel="linear", n_preimages=1).fit(X)
    assert model.n_points_ == 4
    assert operator_distance(model, exact).d < 1e-6
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)


def test_reduced_set_with_a_nearly_constant_kernel():
    X = samples(200, 3) * [3.0, 2.0, 1.0]
    batch = FullKPCA(3, gamma=1e-6).fit(X)
    for compression in ("preimages", "select"):
        model = IncrementalKPCA(3, gamma=1e-6, compression=compression, n_preimages=4).fit(X)
        assert largest_angle(model, batch, 3) < 1e-2
        np.testing.assert_allclose(model.eigenvalues_, batch.eigenvalues_, rtol=1e-2)


def test_no_components_beyond_the_rank():
    X = np.repeat(samples(6, 3), 5, axis=0)
    batch = FullKPCA(20, gamma=0.5).fit(X)
    exact = IncrementalKPCA(20, gamma=0.5, batch_size=4, compression=None).fit(X)
    assert exact.n_components_ == batch.n_components_ == 5
    for compression in ("preimages", "select"):
        model = IncrementalKPCA(20, gamma=0.5, batch_size=4, compression=compression, n_preimages=1).fit(X)
        np.testing.assert_allclose(model.eigenvalues_[:5], batch.eigenvalues_, rtol=1e-6)
        assert (model.eigenvalues_[5:] < 1e-8 * batch.eigenvalues_[0]).all()


@pytest.mark.parametrize("compression", [None, "preimages", "select"])
@pytest.mark.parametrize("name", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8])
def test_equal_samples_have_no_components(name, compression, value):
    X = np.full((50, 3), value)
    model = IncrementalKPCA(2, batch_size=7, compression=compression, n_preimages=2, **KERNELS[name]).fit(X)
    assert model.n_components_ == 0
    assert np.isfinite(model.operator_.residual(X)).all()


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("compression", [None, "preimages", "select"])
@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_scale_of_the_data_does_not_matter(name, compression, scale):
    X = samples(70, 4)
    settings = {"kernel": name, "compression": compression, "n_preimages": 2, "batch_size": 20}
    model = IncrementalKPCA(3, gamma=0.2, **settings).fit(X)
    scaled = IncrementalKPCA(3, gamma=0.2 / scale**2, **settings).fit(X * scale)
    unit = 1.0 if name == "rbf" else scale**2
    np.testing.assert_allclose(scaled.eigenvalues_ / unit, model.eigenvalues_, rtol=1e-4)


def test_float32_and_saved_operator(tmp_path):
    X = samples(100, 3).astype(np.float32)
    model = IncrementalKPCA(4, gamma=0.3, n_preimages=3).fit(X)
    assert model.transform(X).dtype == np.float32
    model.operator_.save(tmp_path / "operator.npz")
    loaded = FeatureOperator.load(tmp_path / "operator.npz")
    np.testing.assert_allclose(loaded.transform(X), model.operator_.transform(X))


def test_same_bytes_every_time():
    X = parabola(150)
    first, second = (IncrementalKPCA(3, gamma=0.5, n_preimages=3).fit(X) for _ in range(2))
    assert first.transform(X).tobytes() == second.transform(X).tobytes()


def test_fit_forgets_and_partial_fit_does_not():
    X = samples(60)
    model = IncrementalKPCA(3, gamma=0.2, compression=None).fit(X[:30])
    assert model.partial_fit(X[30:]).n_samples_seen_ == 60
    assert model.fit(X[:40]).n_samples_seen_ == 40


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"compression": "other"}, "compression"),
        ({"n_preimages": 0}, "n_preimages"),
        ({"batch_size": 0}, "batch_size"),
        ({"preimage_max_iter": 0}, "preimage_max_iter"),
        ({"preimage_tol": -1.0}, "preimage_tol"),
        ({"n_components": 0}, "n_components"),
        ({"kernel": "laplacian"}, "compression='select'"),
        ({"kernel": "poly", "degree": 1.5}, "degree"),
        ({"kernel": "precomputed"}, "precomputed"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        IncrementalKPCA(**parameters).fit(samples(20, 20))


def test_other_kernels_without_preimages():
    X = samples(60, 3)
    for kernel in ("laplacian", "cosine", lambda x, y: np.exp(-np.abs(x - y).sum())):
        model = IncrementalKPCA(3, kernel=kernel, compression="select", n_preimages=4).fit(X)
        assert model.n_points_ <= 16
        assert orthogonality_error(model) < 1e-8


def test_rounding_makes_no_components():
    """On a line there is one component, also where the only point kept lies close to zero."""
    for seed in range(20):
        X = 0.01 * samples(32, 1, seed=seed)
        for compression in ("preimages", "select"):
            model = IncrementalKPCA(3, kernel="linear", compression=compression, batch_size=5).fit(X)
            assert model.n_components_ == 1
            assert orthogonality_error(model) < 1e-8


@pytest.mark.parametrize("parameters", [{}, {"n_components": 1, "n_preimages": 1}])
def test_scikit_learn_contract(parameters):
    check_estimator(IncrementalKPCA(**parameters))
