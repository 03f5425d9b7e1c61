"""Bases that grow until the error is close enough to that of full KPCA."""

import warnings
from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kpca_lab.kernels import EXPONENTIALS
from kpca_lab.methods.base import check_size, take_rows
from kpca_lab.methods.basis import Basis, given_basis, select_basis
from kpca_lab.selectors import RandomSelector, get_selector

# Sizes are tried on so many samples first, and gaps are estimated from so many.
TRIAL_ROWS = 10_000
GAP_ROWS = 2000
LARGEST_BASIS = 4000


def check_growth(model) -> None:
    """Refuse parameters that a growing basis has no meaning for."""
    if not isinstance(model.tol, Real) or isinstance(model.tol, bool) or not float(model.tol) > 0:
        raise ValueError(f"tol must be a number > 0 or None, got {model.tol!r}.")
    if model.basis is not None:
        raise ValueError("tol lets the basis grow: give n_basis, where to begin, instead of basis.")
    if model.n_components is None:
        raise ValueError("tol compares with full KPCA of as many components: give n_components.")


def fit_growing(model, samples, kernel, centroid: str | None) -> None:
    """Fit a model with bases of doubling size until its gap to full KPCA is at most ``model.tol``.

    Sizes that are not enough for a random part of the samples are passed over, so that mostly one pass over
    all of them remains. A random basis contains the smaller ones, and so does that of a nested selector. The
    kernel values that gaps are estimated from, most of the work at small sizes, are computed once for all;
    sums over the samples are not kept for larger bases, which takes more time than it saves.
    """
    n = samples.shape[0]
    rng = np.random.default_rng(model._generator().integers(2**31))
    some = None
    if n > 2 * TRIAL_ROWS and kernel.name != "precomputed":
        some = take_rows(samples, np.sort(rng.choice(n, TRIAL_ROWS, replace=False)))
    for_gap = take_rows(samples, np.sort(rng.choice(n, min(n, GAP_ROWS), replace=False)))
    # Other cores than these depend on the basis, amid which the kernel has its origin.
    core = kernel.core(for_gap, for_gap) if kernel.name in EXPONENTIALS else None
    for basis, is_last in _bases(model, samples, kernel, centroid):
        if some is not None and not is_last:
            trial = clone(model).set_params(center=True if centroid == "mean" else model.center)
            trial._fit_to(some, kernel, basis, trial._check_parameters())
            if _gap(trial, for_gap, core) > model.tol:
                continue
        some = None
        model._fit_to(samples, kernel, basis, centroid)
        model.gap_ = _gap(model, for_gap, core)
        if model.gap_ <= model.tol:
            return
    warnings.warn(
        f"With a basis of {basis.points.shape[0]} the error may be {model.gap_:.3g} above that of full KPCA, "
        f"more than tol={model.tol}: raise max_basis.",
        ConvergenceWarning,
        stacklevel=3,
    )


def is_nested(model) -> bool:
    """Whether the selector's bases contain the smaller ones."""
    selector = get_selector(model.selector)
    return isinstance(selector, RandomSelector) or getattr(selector, "nested", False)


def _bases(model, samples, kernel, centroid) -> Iterator[tuple[Basis, bool]]:
    n = samples.shape[0]
    most = min(n, LARGEST_BASIS) if model.max_basis is None else model.max_basis
    most = check_size("max_basis", min(most, n) if isinstance(most, Integral) else most, n)
    size = model.n_basis
    if isinstance(size, str) and size == "auto":
        size = max(100, 2 * int(model.n_components) if isinstance(model.n_components, Integral) else 0)
    size = check_size("n_basis", min(int(size), most) if isinstance(size, Integral) else size, n)
    whole = select_basis(model, samples, kernel, most, center=centroid) if is_nested(model) else None
    while True:
        if whole is not None and whole.indices is not None:
            yield given_basis(whole.indices[:size], samples), size >= most
        else:
            yield select_basis(model, samples, kernel, size, center=centroid), size >= most
        if size >= most:
            return
        size = min(2 * size, most)


def _gap(model, for_gap, core) -> float:
    bound = float(model.gap_bound_)
    return bound if bound <= model.tol else min(bound, float(model._estimated_gap(for_gap, core).estimate))
