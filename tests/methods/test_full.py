import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA, KernelPCA

from kpca_lab import FullKPCA
from kpca_lab.metrics import operator_distance

KERNELS = [
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1},
    {"kernel": "linear"},
    {"kernel": "cosine"},
    {"kernel": "sigmoid", "gamma": 1e-4, "coef0": 0},
]


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: options["kernel"])
def test_agrees_with_scikit_learn(options, rng):
    X, new = rng.standard_normal((120, 5)), rng.standard_normal((30, 5))
    ours, theirs = FullKPCA(4, **options).fit(X), KernelPCA(4, **options).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-9)
    np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X), atol=1e-9)


def test_agrees_with_scikit_learn_on_sparse_and_precomputed_input(rng):
    X = rng.standard_normal((90, 8)) * (rng.random((90, 8)) < 0.3)
    new = X[:20] + 0.5 * (X[:20] != 0)
    theirs = KernelPCA(4, kernel="rbf", gamma=0.3).fit(X)
    expected = np.abs(theirs.transform(new))
    from_sparse = FullKPCA(4, gamma=0.3).fit(sparse.csr_matrix(X))
    np.testing.assert_allclose(np.abs(from_sparse.transform(sparse.csr_matrix(new))), expected, atol=1e-9)

    def gram(A):
        return np.exp(-0.3 * ((A[:, None] - X[None]) ** 2).sum(axis=2))

    given = FullKPCA(4, kernel="precomputed").fit(gram(X))
    np.testing.assert_allclose(np.abs(given.transform(gram(new))), expected, atol=1e-9)


def test_callable_kernel(rng):
    X = rng.standard_normal((40, 3))
    called = FullKPCA(3, kernel=lambda x, y, power: (x @ y + 1) ** power, kernel_params={"power": 2})
    named = FullKPCA(3, kernel="poly", degree=2, gamma=1.0, coef0=1)
    np.testing.assert_allclose(called.fit_transform(X), named.fit_transform(X), atol=1e-9)


@pytest.mark.parametrize("center", [True, False])
def test_linear_kernel_is_pca(center, rng):
    X = rng.standard_normal((60, 5)) + 3
    model = FullKPCA(3, kernel="linear", center=center).fit(X)
    about = X.mean(axis=0) if center else 0.0
    _, singular, directions = np.linalg.svd(X - about, full_matrices=False)
    np.testing.assert_allclose(model.eigenvalues_, singular[:3] ** 2)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs((X - about) @ directions[:3].T), atol=1e-9)
    if center:
        np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(PCA(3).fit_transform(X)), atol=1e-9)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", ["dense", "partial", "iterative"])
def test_solvers_find_the_same_operator(solver, center, parabola):
    reference = FullKPCA(6, gamma=0.1, center=center).fit(parabola)
    model = FullKPCA(6, gamma=0.1, center=center, eigen_solver=solver).fit(parabola)
    assert operator_distance(model, reference).d < 1e-6
    np.testing.assert_allclose(model.transform(parabola), reference.transform(parabola), atol=1e-7)


def test_small_gamma_is_linear_pca_even_far_from_zero(rng):
    """The centred matrix of exp(-gamma d^2) tends to 2 gamma times that of the inner products."""
    X = rng.standard_normal((100, 4)) + 1e4
    model = FullKPCA(4, gamma=1e-10).fit(X)
    expected = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    np.testing.assert_allclose(model.eigenvalues_ / 2e-10, expected, rtol=1e-6)


def test_components_beyond_the_rank_are_left_out(rng):
    X = np.repeat(rng.standard_normal((3, 4)), 10, axis=0)
    model = FullKPCA(8, gamma=0.5).fit(X)
    assert model.n_components_ == 2 == model.transform(X).shape[1]
    assert list(model.get_feature_names_out()) == ["fullkpca0", "fullkpca1"]
    assert FullKPCA().fit(X).n_components_ == 2
    assert FullKPCA(3).fit(np.ones((5, 2))).transform(np.ones((4, 2))).shape == (4, 0)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, .* got 0"),
        ({"center": "basis"}, "center must be one of"),
        ({"eigen_solver": "lanczos"}, "'lanczos' is unknown"),
        ({"kernel": "precomputed"}, "needs the square kernel matrix"),
    ],
)
def test_wrong_parameters_are_named(options, message, rng):
    with pytest.raises(ValueError, match=message):
        FullKPCA(**options).fit(rng.standard_normal((10, 3)))
