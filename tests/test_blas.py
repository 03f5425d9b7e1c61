import numpy as np
import pytest

from kpca_lab.blas import product


def layouts(A):
    """The same matrix by rows, by columns, as a slice of a larger one and with steps backwards."""
    larger = np.zeros((A.shape[0] + 2, A.shape[1] + 3), dtype=A.dtype)
    larger[1:-1, 2:-1] = A
    return [
        np.ascontiguousarray(A),
        np.asfortranarray(A),
        larger[1:-1, 2:-1],
        A[::-1, ::-1].copy()[::-1, ::-1],
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 5, 3), (1, 5, 3), (7, 1, 3), (7, 5, 1), (1, 1, 1), (1, 5, 1)])
def test_is_the_matrix_product_in_any_layout(shape, dtype, rng):
    n, k, m = shape
    A, B = rng.standard_normal((n, k)).astype(dtype), rng.standard_normal((k, m)).astype(dtype)
    tolerance = 50 * np.finfo(dtype).eps
    for left in layouts(A):
        for right in layouts(B):
            found = product(left, right)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, A @ B, atol=tolerance)
            out = np.full((n, m), np.nan, dtype=dtype)
            assert product(left, right, out=out) is out
            np.testing.assert_allclose(out, A @ B, atol=tolerance)
        np.testing.assert_allclose(product(left, B[:, 0]), A @ B[:, 0], atol=tolerance)
        np.testing.assert_allclose(product(B[:, 0], left.T), B[:, 0] @ A.T, atol=tolerance)


@pytest.mark.parametrize(
    "shapes", [((0, 3), (3, 2)), ((4, 0), (0, 2)), ((4, 3), (3, 0)), ((0,), (0, 2)), ((4, 0), (0,))]
)
def test_products_without_any_numbers_are_as_those_of_numpy(shapes):
    left, right = (np.ones(shape) for shape in shapes)
    np.testing.assert_array_equal(product(left, right), left @ right)
