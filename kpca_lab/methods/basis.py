"""Choosing the basis samples of a method."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kpca_lab.kernels import Kernel
from kpca_lab.methods.base import OperatorEstimator, check_size, is_share, take_rows
from kpca_lab.selectors import get_selector


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis points and, where they are samples, their numbers."""

    points: np.ndarray
    indices: np.ndarray | None


def choose_basis(estimator, samples, kernel: Kernel, n_components, *, center: str | None) -> Basis:
    """The basis that an estimator's ``basis``, ``n_basis`` and ``selector`` ask for.

    ``center`` is the centroid that the estimator subtracts.
    """
    n_samples = samples.shape[0]
    if estimator.basis is not None:
        return given_basis(estimator.basis, samples)
    n_basis = check_size("n_basis", estimator.n_basis, n_samples)
    chosen = get_selector(estimator.selector).select(
        samples,
        n_basis,
        kernel=kernel,
        n_components=None if is_share(n_components) else n_components,
        center="mean" if center == "mean" else center is not None,
        rng=estimator._generator(),
    )
    return given_basis(chosen, samples)


def given_basis(basis, samples) -> Basis:
    """A basis given as sample numbers (one-dimensional, integer) or as points (two-dimensional)."""
    basis = basis.tocsr() if sparse.issparse(basis) else np.asarray(basis)
    if basis.ndim == 1 and basis.size and np.issubdtype(basis.dtype, np.integer):
        n_samples = samples.shape[0]
        if basis.min() < -n_samples or basis.max() >= n_samples:
            raise ValueError(f"basis numbers must lie within the {n_samples} samples, got {basis}.")
        return Basis(take_rows(samples, basis), basis)
    if basis.ndim == 2 and basis.shape[0] and samples.ndim == 2 and basis.shape[1] == samples.shape[1]:
        basis = basis.astype(np.float64)
        if not np.isfinite(basis.data if sparse.issparse(basis) else basis).all():
            raise ValueError("basis points must be finite.")
        return Basis(basis, None)
    raise ValueError(
        "basis must be a non-empty list of sample numbers, or an array of points with as many columns as "
        f"the samples; got an array of shape {basis.shape} and type {basis.dtype}."
    )


class BasisEstimator(OperatorEstimator):
    """The parameters of an estimator that works on a subset of the samples."""

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        n_basis=0.1,
        selector="random",
        basis=None,
        center=True,
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_basis = n_basis
        self.selector = selector
        self.basis = basis
        self.center = center
        self.random_state = random_state
