"""Kernel PCA from a sketch of the kernel matrix."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from kpca_lab import CholeskyKPCA, FullKPCA
from kpca_lab.gram import gram_matrix
from kpca_lab.kernels import make_kernel
from kpca_lab.methods.empirical_map import (
    SKETCHES,
    EmpiricalMapKPCA,
    approximate_covariance_eigenpairs,
    gram_product,
    sketch_matrix,
)
from kpca_lab.metrics import empirical_error, operator_distance


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("gamma, r", [(0.2, 5), (1e-4, 3)])
def test_an_orthogonal_sketch_of_full_size_is_exact(center, refine, gamma, r, parabola):
    full = FullKPCA(r, gamma=gamma, center=center).fit(parabola)
    model = EmpiricalMapKPCA(
        r, gamma=gamma, center=center, sketch="orthogonal", sketch_size=1.0, refine=refine, random_state=0
    ).fit(parabola)
    assert operator_distance(model, full).d < 1e-6
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.transform(parabola)), np.abs(full.transform(parabola)), atol=1e-6)


@pytest.mark.parametrize("sketch", SKETCHES)
def test_dot_products_are_right_on_average(sketch, rng):
    x, y = rng.standard_normal((2, 12))
    products = []
    for _ in range(4000):
        S = sketch_matrix(sketch, 5, 12, rng)
        products.append((S @ x) @ (S @ y))
    error = np.std(products) / np.sqrt(len(products))
    assert abs(np.mean(products) - x @ y) < 4 * error


def test_count_sketch_adds_each_entry_to_one_place_with_a_sign(rng):
    S = sketch_matrix("count", 7, 50, rng).toarray()
    np.testing.assert_array_equal(np.count_nonzero(S, axis=0), 1)
    np.testing.assert_array_equal(np.abs(S).sum(axis=0), 1)
    assert {-1.0, 1.0} <= set(S.ravel())


def test_orthogonal_sketch_has_orthogonal_rows_of_one_length(rng):
    S = sketch_matrix("orthogonal", 7, 50, rng)
    np.testing.assert_allclose(S @ S.T, 50 / 7 * np.eye(7), atol=1e-12)


@pytest.mark.parametrize("sketch", SKETCHES)
@pytest.mark.parametrize("center", [True, False])
def test_errors_fall_as_the_sketch_grows(sketch, center, parabola):
    full = FullKPCA(4, gamma=0.1, center=center).fit(parabola)

    def mean_error(size, refine):
        errors = []
        for seed in range(8):
            model = EmpiricalMapKPCA(
                4, gamma=0.1, center=center, sketch=sketch, sketch_size=size, refine=refine, random_state=seed
            ).fit(parabola)
            errors.append(np.mean(np.abs(model.eigenvalues_ / full.eigenvalues_ - 1)))
        return np.mean(errors)

    plain = [mean_error(size, False) for size in (10, 50, 250)]
    assert plain[0] > 1.5 * plain[1] > 2 * plain[2]
    # A second reading of the kernel matrix gains what a much larger sketch does not.
    assert mean_error(50, True) < 1e-3 * plain[1]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("sketch", SKETCHES)
def test_the_product_in_blocks_is_the_product(center, kernel, sketch, parabola, rng):
    kernel = make_kernel(kernel, gamma=0.05, n_features=2).anchored(parabola)
    B = sketch_matrix(sketch, 20, 300, rng).T
    whole = gram_product(kernel, parabola, B, center=center)
    blocks = gram_product(kernel, parabola, B, center=center, block_bytes=8 * 300 * 7)
    scale = np.abs(whole).max()
    np.testing.assert_allclose(blocks, whole, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(
        whole, gram_matrix(kernel, parabola, center=center) @ B, rtol=0, atol=1e-12 * scale
    )


@pytest.mark.parametrize("center", [True, False])
def test_the_operator_is_the_eigenpairs_in_feature_space(center, parabola):
    model = EmpiricalMapKPCA(4, gamma=0.1, center=center, sketch_size=60, random_state=3).fit(parabola)
    K = gram_matrix(make_kernel("rbf", gamma=0.1, n_features=2), parabola, center=center)
    expected = K @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(model.transform(parabola), expected, atol=1e-8)
    np.testing.assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(4), atol=1e-12)


def test_refined_components_are_orthonormal_and_never_beat_kernel_pca(parabola):
    full = FullKPCA(4, gamma=0.1).fit(parabola)
    for sketch in SKETCHES:
        model = EmpiricalMapKPCA(4, gamma=0.1, sketch=sketch, sketch_size=30, refine=True, random_state=0)
        operator = model.fit(parabola).operator_
        np.testing.assert_allclose(operator.left.inner(operator.kernel, operator.left), np.eye(4), atol=1e-9)
        ratio = empirical_error(model, parabola) / empirical_error(full, parabola)
        assert 1 - 1e-9 <= ratio < 1.01
        assert (model.eigenvalues_ <= full.eigenvalues_ * (1 + 1e-9)).all()


def test_a_seed_gives_the_same_bytes(parabola):
    for sketch in SKETCHES:
        first, second = (
            EmpiricalMapKPCA(4, sketch=sketch, sketch_size=40, random_state=5).fit_transform(parabola)
            for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)


def test_precomputed_kernel_gives_the_same(parabola):
    K = rbf_kernel(parabola, gamma=0.1)
    options = dict(sketch_size=60, random_state=1)
    plain = EmpiricalMapKPCA(4, gamma=0.1, **options).fit(parabola)
    model = EmpiricalMapKPCA(4, kernel="precomputed", **options).fit(K)
    np.testing.assert_allclose(model.transform(K[:9]), plain.transform(parabola[:9]), atol=1e-8)


@pytest.mark.parametrize("center", [True, False])
def test_equal_and_few_samples(center):
    model = EmpiricalMapKPCA(5, center=center, random_state=0).fit(np.full((6, 2), 0.3))
    assert model.n_components_ == (0 if center else 1)
    pair = EmpiricalMapKPCA(5, center=center, sketch_size=2, random_state=0).fit([[0.0], [1.0]])
    assert np.isfinite(pair.transform([[0.0], [0.5]])).all()


def test_covariance_eigenpairs_are_exact_with_a_full_orthogonal_sketch(rng):
    X = rng.standard_normal((80, 9)) * np.arange(1, 10)
    values, vectors = approximate_covariance_eigenpairs(
        X, sketch="orthogonal", sketch_size=9, n_components=4, random_state=0
    )
    exact_values, exact_vectors = np.linalg.eigh(X.T @ X)
    np.testing.assert_allclose(values, exact_values[::-1][:4])
    np.testing.assert_allclose(np.abs(vectors), np.abs(exact_vectors[:, ::-1][:, :4]), atol=1e-10)


def test_covariance_eigenpairs_of_low_rank_data_are_close(rng):
    X = rng.standard_normal((100, 3)) @ (np.array([[30], [10], [3]]) * rng.standard_normal((3, 400)))
    exact = np.linalg.svd(X)[2][:3].T
    for sketch in SKETCHES:
        values, vectors = approximate_covariance_eigenpairs(X, sketch=sketch, sketch_size=0.5, random_state=0)
        assert vectors.shape == (400, 3)
        # The sketch keeps the row space, so the three directions span the right space exactly.
        np.testing.assert_allclose(exact @ (exact.T @ vectors), vectors, atol=1e-10)
        np.testing.assert_allclose(values, np.linalg.svd(X)[1][:3] ** 2, rtol=0.3)


def test_wrong_parameters_are_named(parabola):
    with pytest.raises(ValueError, match="sketch='fourier' is unknown"):
        EmpiricalMapKPCA(sketch="fourier").fit(parabola)
    with pytest.raises(ValueError, match="sketch_size=301 must be between"):
        EmpiricalMapKPCA(sketch_size=301).fit(parabola)
    with pytest.raises(ValueError, match="center must be"):
        EmpiricalMapKPCA(center="projected").fit(parabola)


def test_by_default_the_sketch_is_of_the_size_of_a_basis_and_few_rows_draw_a_warning(rng):
    X = rng.standard_normal((400, 2))
    model = EmpiricalMapKPCA(3, random_state=0).fit(X)
    same = EmpiricalMapKPCA(3, sketch_size=200, random_state=0).fit(X)
    np.testing.assert_array_equal(model.eigenvalues_, same.eigenvalues_)
    with pytest.warns(UserWarning, match="n_components=9 is more than sketch_size=5"):
        EmpiricalMapKPCA(9, sketch_size=5, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="n_components=9 is more than n_basis=5"):
        CholeskyKPCA(9, n_basis=5).fit(X)
