"""Choosing the basis samples of a method."""

import warnings
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy import sparse

from kpca_lab.kernels import Kernel
from kpca_lab.methods.base import OperatorEstimator, check_size, is_share, take_rows
from kpca_lab.row_source import RowSource
from kpca_lab.selectors import RandomSelector, get_selector
from kpca_lab.selectors.kmeans import SAMPLES_PER_CLUSTER
from kpca_lab.selectors.subsample import candidates

MAX_CANDIDATES = 20_000


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis points and, where they are samples, their numbers."""

    points: np.ndarray
    indices: np.ndarray | None


def choose_basis(estimator, samples, kernel: Kernel, n_components, *, center: str | None) -> Basis:
    """The basis that an estimator's ``basis``, ``n_basis`` and ``selector`` ask for.

    ``center`` is the centroid that the estimator subtracts.
    """
    given = estimator.basis is not None
    if given:
        basis = given_basis(estimator.basis, samples)
    else:
        n_basis = basis_size(estimator.n_basis, n_components, samples.shape[0])
        basis = select_basis(estimator, samples, kernel, n_basis, center=center)
    warn_of_few("basis" if given else "n_basis", basis.points.shape[0], n_components, stacklevel=4)
    return basis


def select_basis(estimator, samples, kernel: Kernel, n_basis: int, *, center: str | None) -> Basis:
    """A basis of ``n_basis`` samples or points from an estimator's ``selector``."""
    n_components = estimator.n_components
    selector, rng = get_selector(estimator.selector), estimator._generator()
    rows = None
    among = samples
    if isinstance(samples, RowSource) and not isinstance(selector, RandomSelector):
        rows, among = _in_memory(samples, n_basis, selector, rng)
    chosen = selector.select(
        among,
        n_basis,
        kernel=kernel,
        n_components=None if is_share(n_components) else n_components,
        center="mean" if center == "mean" else center is not None,
        rng=rng,
    )
    if rows is not None and np.ndim(chosen) == 1:
        chosen = rows[chosen]
    return given_basis(chosen, samples)


def _in_memory(source: RowSource, n_basis: int, selector, rng) -> tuple[np.ndarray | None, np.ndarray]:
    """The samples for a selector to choose among, which needs them in memory, and their numbers.

    They are those that the selector would draw itself, so that the choice is the same as among an array; a
    selector without a limit of its own gets 20000.
    """
    limit = getattr(selector, "max_samples", None) or MAX_CANDIDATES
    rows = candidates(source.n_rows, n_basis, max(limit, SAMPLES_PER_CLUSTER * n_basis), rng)
    return rows, source.take(np.arange(source.n_rows) if rows is None else rows)


def basis_size(n_basis: int | float | str, n_components, n_samples: int) -> int:
    """The number of basis samples that ``n_basis`` stands for.

    "auto" is ``10 sqrt(n)`` of ``n`` samples, but at least 100 and twice the components, at most 1000 if
    that is enough for the components, and never more than ``n``: the time of a fit, ``n n_basis^2``, then
    grows no faster than ``n^2``, and linearly from ten thousand samples on.

    Parameters
    ----------
    n_basis : int, float or "auto"
        A number, a share of all samples, or the rule.
    n_components : int, float or None
        Number of components wanted; a share of the variance or None asks for no least size.
    n_samples : int
        Number of samples to choose from.

    Returns
    -------
    int
        Between 1 and ``n_samples``.

    Examples
    --------
    >>> from kpca_lab.methods.basis import basis_size
    >>> [basis_size("auto", 10, n) for n in (50, 1000, 10**6)]
    [50, 316, 1000]
    """
    if isinstance(n_basis, str) and n_basis == "auto":
        twice = 2 * n_components if isinstance(n_components, Integral) else 0
        return min(n_samples, max(100, twice, min(1000, round(10 * n_samples**0.5))))
    if isinstance(n_basis, str):
        raise ValueError(f"n_basis must be 'auto', an integer or a fraction in (0, 1], got {n_basis!r}.")
    if isinstance(n_basis, Integral) and not isinstance(n_basis, bool) and n_basis > n_samples:
        warnings.warn(
            f"n_basis={n_basis} is more than the {n_samples} samples: all of them are the basis.",
            stacklevel=4,
        )
        return n_samples
    return check_size("n_basis", n_basis, n_samples)


def warn_of_few(name: str, size: int, n_components, *, stacklevel: int = 3) -> None:
    """Warn of more components than a parameter of this name and size leaves room for."""
    if isinstance(n_components, Integral) and int(n_components) > size:
        warnings.warn(
            f"n_components={n_components} is more than {name}={size}: there will be at most {size} "
            f"components. Give a larger {name}.",
            stacklevel=stacklevel,
        )


def given_basis(basis, samples) -> Basis:
    """A basis given as sample numbers (one-dimensional, integer) or as points (two-dimensional)."""
    basis = basis.tocsr() if sparse.issparse(basis) else np.asarray(basis)
    n_features = samples.n_columns if isinstance(samples, RowSource) else samples.shape[-1]
    if basis.ndim == 1 and basis.size and np.issubdtype(basis.dtype, np.integer):
        n_samples = samples.shape[0]
        if basis.min() < -n_samples or basis.max() >= n_samples:
            raise ValueError(f"basis numbers must lie within the {n_samples} samples, got {basis}.")
        return Basis(take_rows(samples, basis), basis)
    if basis.ndim == 2 and basis.shape[0] and samples.ndim == 2 and basis.shape[1] == n_features:
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
        n_basis="auto",
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
