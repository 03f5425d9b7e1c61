"""Empirical errors of operators that are written over all samples."""

import numpy as np

from kpca_lab.kernels import Kernel

__all__ = ["errors_over_samples", "used_samples"]


def errors_over_samples(X: np.ndarray, operators: list, block: int = 2000) -> list[float]:
    """Empirical errors of centred operators over all samples, in one pass over half of the kernel matrix.

    What `FeatureOperator.residual` computes from a pass of its own for each operator. The constant part of
    the kernel cancels in differences from the mean, so only its core is used.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The samples.
    operators : list of (FeatureOperator, ndarray)
        With the Gaussian kernel, written over ``X``, or over ``X`` and then samples of the given numbers.
    block : int
        Rows and columns of the kernel matrix at a time.

    Returns
    -------
    list of float
    """
    n = len(X)
    kernel = operators[0][0].kernel
    folded = [_folded(operator, numbers, n) for operator, numbers in operators]
    stacked = np.hstack(folded)
    products = _symmetric_product(kernel, X, stacked, block)
    errors, start = [], 0
    for coefficients in folded:
        columns = slice(start, start + coefficients.shape[1])
        start = columns.stop
        vectors, mean = coefficients[:, :-1], coefficients[:, -1]
        along, with_mean = products[:, columns][:, :-1], products[:, columns][:, -1]
        components = along - mean @ along
        squares = mean @ with_mean - 2 * with_mean.mean()
        gram = vectors.T @ along
        scatter = components.T @ components / n
        errors.append(float(squares - 2 * scatter.trace() + np.sum(gram * scatter)))
    return errors


def _folded(operator, numbers, n):
    """Coefficients of the components and of the mean over the samples alone."""
    columns = []
    for vectors in (operator.left, operator.mean):
        coefficients = vectors.coefficients
        if len(coefficients) < n:  # over the basis
            over = np.zeros((n, coefficients.shape[1]))
            over[numbers] = coefficients
        else:  # over the samples, and the basis once more
            over = coefficients[:n].copy()
            if len(coefficients) > n:
                over[numbers] += coefficients[n:]
        columns.append(over)
    return np.hstack(columns)


def _symmetric_product(kernel: Kernel, X, W, block):
    """``core(X, X) @ W``, with each block of the symmetric matrix computed once."""
    product = np.zeros_like(W)
    blocks = [slice(start, min(start + block, len(X))) for start in range(0, len(X), block)]
    for i, rows in enumerate(blocks):
        for columns in blocks[i:]:
            core = kernel.core(X[rows], X[columns])
            if rows == columns:
                np.fill_diagonal(core, 0.0)
            product[rows] += core @ W[columns]
            if rows != columns:
                product[columns] += core.T @ W[rows]
    return product


def used_samples(model):
    """Numbers of the samples that a model is built on, where these are not all."""
    for name in ("basis_indices_", "pivots_"):
        if getattr(model, name, None) is not None:
            return getattr(model, name)
    return None
