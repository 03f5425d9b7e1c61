"""Matrix products by the BLAS that SciPy's LAPACK calls.

NumPy and SciPy as installed from wheels bring a BLAS each, whose threads go on waiting for work for a while
after a product. Where the two take turns, the threads of one keep the cores from those of the other: a loop
of NumPy's products and SciPy's rank-k updates takes three times as long on two cores. So what is called by
turns with SciPy's BLAS or LAPACK is multiplied by it too.
"""

import numpy as np
from scipy.linalg.blas import dgemm, dgemv, sgemm, sgemv

__all__ = ["product"]


def product(A: np.ndarray, B: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """``A @ B`` of matrices, or of a matrix and a vector, of the same precision.

    Parameters
    ----------
    A : ndarray of shape (n, k) or (k,)
    B : ndarray of shape (k, m) or (k,)
    out : ndarray of shape (n, m), optional
        Where the product is written, contiguous by rows.

    Returns
    -------
    ndarray
        Of the shape that ``A @ B`` has.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.blas import product
    >>> product(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 2.],
           [3., 4.]])
    """
    if not (A.size and B.size) or A.ndim == B.ndim == 1:
        return np.matmul(A, B, out=out)
    single = A.dtype == B.dtype == np.float32
    if out is None:
        if A.ndim == 1:
            return _times_vector(B.T, A, single)
        if B.ndim == 1:
            return _times_vector(A, B, single)
        if B.shape[1] == 1:
            return _times_vector(A, B[:, 0], single)[:, None]
        if A.shape[0] == 1:
            return _times_vector(B.T, A[0], single)[None]
    # BLAS stores by columns: it sees the transposes, and multiplies B' by A'.
    left, left_transposed = _by_columns(B)
    right, right_transposed = _by_columns(A)
    gemm = sgemm if single else dgemm
    turned = {"trans_a": not left_transposed, "trans_b": not right_transposed}
    if out is None:
        return gemm(1.0, left, right, **turned).T
    gemm(1.0, left, right, c=out.T, overwrite_c=1, **turned)
    return out


def _times_vector(A: np.ndarray, x: np.ndarray, single: bool) -> np.ndarray:
    matrix, transposed = _by_columns(A)
    return (sgemv if single else dgemv)(1.0, matrix, x, trans=transposed)


def _by_columns(A: np.ndarray) -> tuple[np.ndarray, bool]:
    """``A`` or its transpose, stored by columns, and whether it is the transpose."""
    if A.flags.f_contiguous and not A.flags.c_contiguous:
        return A, False
    return np.ascontiguousarray(A).T, True
