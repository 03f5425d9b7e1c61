from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels, sigmoid_kernel

from kpca_lab import FullKPCA
from kpca_lab.kernels import Kernel, make_kernel, row_blocks

PARAMETERS = {
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.3},
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 3, "coef0": 1.5},
    "sigmoid": {"gamma": 0.1, "coef0": 0.5},
    "cosine": {},
}


def built(name, n_features=4, **changes):
    return make_kernel(name, **(PARAMETERS[name] | changes), n_features=n_features)


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("anchor", [False, True])
def test_values_are_scikit_learns(name, anchor, rng):
    X, Y = rng.standard_normal((20, 4)), rng.standard_normal((15, 4)) + 1
    kernel = built(name)
    if anchor:
        kernel = kernel.anchored(Y)
    expected = pairwise_kernels(X, Y, metric=name, **PARAMETERS[name])
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        kernel.diagonal(X), pairwise_kernels(X, metric=name, **PARAMETERS[name]).diagonal(), rtol=1e-12
    )


@pytest.mark.parametrize("name", PARAMETERS)
def test_sparse_input_gives_the_same_values(name, rng):
    X = rng.standard_normal((12, 6)) * (rng.random((12, 6)) < 0.4)
    kernel = built(name)
    dense = kernel(X, X)
    np.testing.assert_allclose(kernel(sparse.csr_matrix(X), sparse.csr_matrix(X)), dense, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(sparse.csr_matrix(X)), dense.diagonal(), atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_polynomial_core_keeps_its_digits_far_from_zero(degree, rng):
    X = rng.standard_normal((4, 3)) * 1e-3 + 1e4
    kernel = make_kernel("poly", degree=degree, gamma=0.5, coef0=2.0, n_features=3).anchored(X)
    origin, *rows = ([Fraction(float(v)) for v in point] for point in (kernel.origin, *X))

    def exact(a, b):
        return (sum(x * y for x, y in zip(a, b)) / 2 + 2) ** degree

    core = kernel.core(X, X)
    expected = [
        [float(exact(a, b) - exact(a, origin) - exact(origin, b) + exact(origin, origin)) for b in rows]
        for a in rows
    ]
    np.testing.assert_allclose(core, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_gaussian_core_keeps_its_digits_for_small_gamma(rng):
    X = rng.standard_normal((10, 3)) + 1e5
    kernel = make_kernel("rbf", gamma=1e-9, n_features=3).anchored(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel.core(X, X), np.expm1(-1e-9 * squares), rtol=1e-6, atol=1e-24)


def test_blocks_cover_all_rows(rng):
    X, Y = rng.standard_normal((57, 3)), rng.standard_normal((11, 3))
    kernel = built("rbf").anchored(Y)
    blocks = list(kernel.core_blocks(X, Y, block_bytes=8 * 11 * 10))
    assert len(blocks) == 6
    np.testing.assert_allclose(np.vstack([block for _, block in blocks]), kernel.core(X, Y), rtol=1e-12)
    assert [rows.stop for rows in row_blocks(10, 8, 32)] == [4, 8, 10]


def test_callable_and_precomputed(rng):
    X = rng.standard_normal((8, 3))
    kernel = make_kernel(lambda x, y, power: (x @ y) ** power, kernel_params={"power": 2}, n_features=3)
    np.testing.assert_allclose(kernel(X, X), (X @ X.T) ** 2)
    gram = X @ X.T
    given = Kernel("precomputed", gram=gram)
    numbers = np.arange(8)
    np.testing.assert_array_equal(given(numbers, numbers[:3]), gram[:, :3])
    np.testing.assert_array_equal(given(gram[:2], numbers[3:5]), gram[:2, 3:5])
    with pytest.raises(ValueError, match="not known with kernel='precomputed'"):
        given.diagonal(gram[:2])


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"kernel": "gauss"}, "kernel='gauss' is unknown"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": float("nan")}, "gamma must be"),
        ({"degree": -2}, "degree must be"),
        ({"degree": 0.5}, "degree must be"),
        ({"gamma": "median"}, "depends on the samples"),
        ({"coef0": "one"}, "coef0 must be"),
    ],
)
def test_wrong_parameters_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_kernel(**({"kernel": "rbf"} | wrong), n_features=2)


def test_gaussian_kernel_of_close_pairs_among_huge_norms(rng):
    X = 1e8 * rng.standard_normal((30, 5))
    near = X + 0.1
    kernel = make_kernel("rbf", gamma=1.0, n_features=5).anchored(X)
    np.testing.assert_allclose(kernel(near[:10], X), np.exp(-0.05) * np.eye(10, 30), rtol=1e-6)
    np.testing.assert_array_equal(kernel(X[3:], X), np.eye(30)[3:])


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("scale", [1.0, 1e8])
def test_columns_are_those_of_the_matrix(name, scale, rng):
    X = scale * rng.standard_normal((25, 4))
    X[7] = X[3]
    kernel = built(name).anchored(X)
    column, core = kernel.core_columns(X), kernel.core(X, X)
    for j in (0, 3, 7, 24):
        np.testing.assert_allclose(column(j), core[:, j], rtol=1e-9, atol=1e-12 * np.abs(core).max())


@pytest.mark.parametrize("name", ["chi2", "additive_chi2"])
def test_chi2_kernels_are_scikit_learns_and_refuse_negative_values(name, rng):
    X, Y = rng.random((20, 4)), rng.random((15, 4))
    parameters = {"gamma": 0.7} if name == "chi2" else {}
    kernel = make_kernel(name, **parameters, n_features=4).anchored(Y)
    np.testing.assert_allclose(kernel(X, Y), pairwise_kernels(X, Y, metric=name, **parameters), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), kernel(X, X).diagonal(), atol=1e-15)
    with pytest.raises(ValueError, match="no value may be negative, got -1"):
        kernel(-np.ones((2, 4)), Y)


def test_every_kernel_name_of_scikit_learn_is_known():
    for name in kernel_metrics():
        assert make_kernel(name, n_features=2)


def test_gamma_of_a_callable_is_refused():
    with pytest.raises(ValueError, match="has no meaning for a callable kernel"):
        make_kernel(lambda x, y: x @ y, gamma=2.0, n_features=2)


def test_narrow_sigmoid_is_the_linear_kernel(rng):
    # tanh(a + c) = tanh(c) + a / cosh(c)^2 + ...: with the constant in every value, nothing would be left.
    X = rng.standard_normal((40, 3))
    scale = np.cosh(1.0) ** 2 * 1e15
    sigmoid = FullKPCA(3, kernel="sigmoid", gamma=1e-15, coef0=1.0).fit(X)
    np.testing.assert_allclose(
        scale * sigmoid.eigenvalues_, FullKPCA(3, kernel="linear").fit(X).eigenvalues_, rtol=1e-9
    )
    kernel = make_kernel("sigmoid", gamma=0.3, coef0=0.5, n_features=3)
    np.testing.assert_allclose(kernel(X, X), sigmoid_kernel(X, gamma=0.3, coef0=0.5), atol=1e-15)
    np.testing.assert_allclose(kernel.diagonal(X), kernel(X, X).diagonal(), atol=1e-15)


@pytest.mark.parametrize("numbers", [[], [2], [1, 2, 3], [3, 2], [-2, -1, 0], [0, 2]])
def test_values_of_a_given_matrix_are_copies_of_those_asked_for(numbers, rng):
    gram, numbers = rng.standard_normal((5, 5)), np.array(numbers, dtype=np.intp)
    kernel = Kernel("precomputed", gram=gram.copy())
    core = kernel.core(np.arange(5), numbers)
    np.testing.assert_array_equal(core, gram[:, numbers])
    core[:] = 0.0
    np.testing.assert_array_equal(kernel.core(numbers, np.arange(5)), gram[numbers])
