"""Kernel matrices of samples with themselves."""

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from kpca_lab.kernels import TABLE_IN_USE, Kernel
from kpca_lab.memory import check_memory

# Rows of the matrix that are computed together, and the side of the tiles in which it is transposed.
TILE = 128
# Rows that go through the exponential function together, while they are in the cache.
STRIP = 8


def gram_matrix(kernel: Kernel, samples, *, center: bool, whole: bool = True) -> np.ndarray:
    """The kernel matrix of the samples, centred in feature space by Eq. (37) if wanted.

    Parameters
    ----------
    kernel : Kernel
    samples : array or sparse matrix of shape (n_samples, n_features)
    center : bool
    whole : bool
        False: only the upper triangle is filled in, and what is below it means nothing.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Symmetric to the last bit.
    """
    n = samples.shape[0]
    check_square_memory(n)
    gram = core_triangle(kernel, samples)
    if center:
        means = _row_sums(gram) / n
        row_terms, column_terms = means.mean() - means, -means
    else:
        column_terms = kernel.offset(samples)
        row_terms = column_terms + kernel.constant
    for rows in blocks(n):
        block = gram[rows, rows.start :]
        block += column_terms[rows.start :]
        block += row_terms[rows, None]
        if whole:
            _mirror(gram, rows)
    return gram


def core_triangle(kernel: Kernel, samples) -> np.ndarray:
    """The upper triangle of ``kernel.core(samples, samples)``; what is below it means nothing."""
    n = samples.shape[0]
    if is_plain_gaussian(kernel, samples):
        gram = _gaussian_triangle(kernel, samples)
    else:
        gram = np.empty((n, n))
        for rows in blocks(n):
            gram[rows, rows.start :] = kernel.core(samples[rows], samples[rows.start :])
    np.fill_diagonal(gram, kernel.core_diagonal(samples))
    return gram


def core_matrix(kernel: Kernel, samples) -> np.ndarray:
    """``kernel.core(samples, samples)`` by one triangle of it: symmetric to the last bit."""
    core = core_triangle(kernel, samples)
    for rows in blocks(len(core)):
        _mirror(core, rows)
    return core


def is_plain_gaussian(kernel: Kernel, samples) -> bool:
    """Whether the kernel values follow from inner products of dense rows, and are in no table."""
    return kernel.name == "rbf" and not sparse.issparse(samples) and TABLE_IN_USE.get() is None


def varying_columns(kernel: Kernel, samples: np.ndarray) -> np.ndarray:
    """The samples about the kernel's origin, without the columns that add nothing to a distance."""
    shifted = kernel._shift(samples)
    varying = np.flatnonzero(shifted.min(axis=0) != shifted.max(axis=0))
    return np.ascontiguousarray(
        shifted if len(varying) == shifted.shape[1] else shifted.take(varying, axis=1)
    )


def _gaussian_triangle(kernel: Kernel, samples: np.ndarray) -> np.ndarray:
    rows = varying_columns(kernel, samples)
    n = len(rows)
    squares = kernel.gamma * np.einsum("ij,ij->i", rows, rows)
    gram = np.empty((n, n))
    if rows.shape[1]:
        # BLAS stores by columns: what is below the diagonal there is above it here.
        dsyrk(2 * kernel.gamma, rows.T, beta=0.0, c=gram.T, trans=1, lower=1, overwrite_c=1)
    else:
        gram[:] = 0.0
    for own in blocks(n):  # the strips below reach a little beyond the triangle
        gram[own, own] = np.triu(gram[own, own])
    np.fill_diagonal(gram, -np.inf)  # known: no pair of close samples that would have to be measured
    largest = 2 * squares.max()
    for begin in range(0, n, STRIP):
        strip = gram[begin : begin + STRIP, begin:]
        strip -= squares[begin:]
        strip -= squares[begin : begin + STRIP, None]
        np.minimum(strip, 0, out=strip)
        kernel._measure_close_pairs(strip, rows[begin : begin + STRIP], rows[begin:], largest)
        np.expm1(strip, out=strip)
    return gram


def blocks(n: int) -> list[slice]:
    """Slices that cut ``n`` rows into blocks."""
    return [slice(begin, min(begin + TILE, n)) for begin in range(0, n, TILE)]


def _row_sums(gram: np.ndarray) -> np.ndarray:
    """Row sums of a symmetric matrix by its upper triangle."""
    sums = np.zeros(len(gram))
    for rows in blocks(len(gram)):
        corner, right = gram[rows, rows], gram[rows, rows.stop :]
        sums[rows] += np.triu(corner).sum(axis=1) + np.triu(corner, 1).sum(axis=0) + right.sum(axis=1)
        sums[rows.stop :] += right.sum(axis=0)
    return sums


def square_bytes(n_samples: int) -> int:
    """Bytes of a kernel matrix, with as much again for its decomposition."""
    return 2 * 8 * n_samples**2


def check_square_memory(n_samples: int) -> None:
    """Refuse a kernel matrix for which there is no room."""
    check_memory(
        square_bytes(n_samples),
        f"The kernel matrix of {n_samples} samples and its decomposition",
        "use SubsetKPCA, which needs no such matrix, or fewer samples",
    )


def _mirror(gram: np.ndarray, rows: slice) -> None:
    """Copy what is above the diagonal in some rows to below it."""
    corner = gram[rows, rows]
    below = np.tril_indices(len(corner), -1)
    corner[below] = corner.T[below]
    for later in blocks(len(gram))[rows.start // TILE + 1 :]:
        gram[later, rows] = gram[rows, later].T
