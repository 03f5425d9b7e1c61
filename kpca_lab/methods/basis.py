"""Choosing the basis samples of a method, and an orthonormal frame of the space that they span."""

from dataclasses import dataclass

import numpy as np

from kpca_lab.kernels import Kernel
from kpca_lab.linalg import numerical_rank, top_eigenpairs
from kpca_lab.methods.base import check_size, take_rows
from kpca_lab.operator import Expansion
from kpca_lab.selectors import get_selector


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis points and, where they are samples, their numbers."""

    points: np.ndarray
    indices: np.ndarray | None


def choose_basis(estimator, samples, kernel: Kernel, n_components, *, center: bool) -> Basis:
    """The basis that an estimator's ``basis``, ``n_basis`` and ``selector`` ask for."""
    n_samples = samples.shape[0]
    if estimator.basis is not None:
        return given_basis(estimator.basis, samples)
    n_basis = check_size("n_basis", estimator.n_basis, n_samples)
    chosen = get_selector(estimator.selector).select(
        samples,
        n_basis,
        kernel=kernel,
        n_components=n_components,
        center=center,
        rng=estimator._generator(),
    )
    return given_basis(chosen, samples)


def given_basis(basis, samples) -> Basis:
    """A basis given as sample numbers (one-dimensional, integer) or as points (two-dimensional)."""
    basis = np.asarray(basis)
    if basis.ndim == 1 and basis.size and np.issubdtype(basis.dtype, np.integer):
        n_samples = samples.shape[0]
        if basis.min() < -n_samples or basis.max() >= n_samples:
            raise ValueError(f"basis numbers must lie within the {n_samples} samples, got {basis}.")
        return Basis(take_rows(samples, basis), basis)
    if basis.ndim == 2 and len(basis) and samples.ndim == 2 and basis.shape[1] == samples.shape[1]:
        basis = basis.astype(np.float64)
        if not np.isfinite(basis).all():
            raise ValueError("basis points must be finite.")
        return Basis(basis, None)
    raise ValueError(
        "basis must be a non-empty list of sample numbers, or an array of points with as many columns as "
        f"the samples; got an array of shape {basis.shape} and type {basis.dtype}."
    )


@dataclass(frozen=True, eq=False)
class Frame:
    """An orthonormal frame of the span of basis points in feature space.

    The Gram matrix of the basis is often singular to working precision though the differences between
    the basis points are not small: the points share a large common component. So the frame is
    built from the centred basis, whose coefficients add up to zero, and from what is left of the basis
    mean as one more vector. Nothing is lost to the common component, since it never meets the rest.
    """

    kernel: Kernel
    vectors: Expansion
    mean_coordinates: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, points, tol: float) -> "Frame":
        """The frame of ``points``; directions below ``tol`` times the largest eigenvalue are left out."""
        m = points.shape[0]
        core = kernel.core(points, points)
        column_means = core.mean(axis=0)
        centred = core - column_means
        centred -= centred.mean(axis=1)[:, None]
        eigenvalues, vectors = top_eigenpairs(centred, solver="dense")
        rank = numerical_rank(eigenvalues, tol)
        spread = vectors[:, :rank] / np.sqrt(eigenvalues[:rank])
        spread -= spread.mean(axis=0)

        offset = kernel.offset(points)
        along_spread = spread.T @ (column_means + offset)
        mean_square = column_means.mean() + 2 * offset.mean() + kernel.constant
        left_square = mean_square - along_spread @ along_spread
        if left_square <= 1e-10 * max(mean_square, 0.0):
            return cls(kernel, Expansion(points, spread, np.zeros(rank)), along_spread)
        length = np.sqrt(left_square)
        left_of_mean = (1.0 / m - spread @ along_spread) / length
        coefficients = np.column_stack([spread, left_of_mean])
        totals = np.append(np.zeros(rank), 1.0 / length)
        return cls(kernel, Expansion(points, coefficients, totals), np.append(along_spread, length))
