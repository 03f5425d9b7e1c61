"""Statements of Washizawa 2012 about images: USPS, MNIST, denoising."""

import numpy as np

from kpca_lab.suite.claims import (
    NotRun,
    all_below,
    basis_share,
    error_against_time,
    pairs,
    select,
    statement,
    time_to_reach,
)
from kpca_lab.suite.registry import Claim

PAPER = "washizawa2012"


@statement(
    "washizawa-usps-small-basis",
    PAPER,
    "Section 6.4",
    "On USPS, SubKPCA has a lower error than reduced KPCA when the basis is small (10 %).",
)
def usps_small_basis(records):
    rows = select(records, [f"table{i}" for i in (3, 4, 5, 6)], metric="classification_error")
    rows = rows.assign(share=basis_share(rows))
    rows = rows[(rows.share - rows.share.min()).abs() < 0.005]
    settings = [name for name in ("experiment", "selector", "centered") if name in rows]
    means = rows.groupby([*settings, "method", "kernel", "r"], dropna=False).value.mean()
    best = means.groupby([*settings, "method"], dropna=False).min().reset_index()
    return all_below(pairs(best, "method", "subset", "reduced", settings), less="SubKPCA", more="reduced")


@statement(
    "washizawa-usps-same-with-all-samples",
    PAPER,
    "Section 3.4, Tables 3 to 6",
    "With all samples as basis, SubKPCA and reduced KPCA are the same: full KPCA.",
)
def same_with_all_samples(records):
    rows = select(records, [f"table{i}" for i in (3, 4, 5, 6)], metric="classification_error")
    rows = rows.assign(share=basis_share(rows))
    rows = rows[rows.share == 1]
    keys = ["experiment", "split", "seed", "selector", "centered", "kernel", "r"]
    both = pairs(rows, "method", "subset", "reduced", keys)
    gap = 100 * (both.left - both.right).abs()
    return Claim(bool(gap.max() <= 0.05), f"largest difference {gap.max():.3g} points in {len(both)} pairs")


@statement(
    "washizawa-mnist-subset-faster-than-icd",
    PAPER,
    "Section 6.5, Figure 6",
    "On MNIST, SubKPCA reaches the least training error that ICD reaches too in a fraction of its time "
    "(printed: 28 s for 156 s; at most half).",
)
def mnist_subset_faster(records):
    curves = error_against_time(records, "figure6", "empirical_error")
    cholesky = curves[curves.method == "cholesky"]
    subset = curves[(curves.method == "subset") & (curves.selector == "random")]
    if cholesky.empty or subset.empty:
        raise NotRun("no records of SubKPCA and ICD")
    error = max(cholesky.error.min(), subset.error.min())
    ours, theirs = (time_to_reach(curve, [error])[0] for curve in (subset, cholesky))
    figures = f"error {error:.4g}: SubKPCA in {ours:.3g} s, ICD in {theirs:.3g} s"
    return Claim(bool(ours <= 0.5 * theirs), figures)


def _denoising(records):
    """Mean error: (experiment, level) x (method, m), with m = 0 for the filters."""
    rows = select(records, ["table7", "table8"], metric="denoising_mse")
    rows = rows.assign(m=rows.m.where(rows.method.isin(["subset", "reduced"]), 0).fillna(0))
    return rows.pivot_table(
        index=["experiment", "level"], columns=["method", "m"], values="value", dropna=False
    )


def _against_filters(records, levels, better):
    table = _denoising(records)
    table = table[[any(np.isclose(level, levels)) for level in table.index.get_level_values("level")]]
    methods = table.columns.get_level_values("method")
    table = table.dropna(how="all")
    filters = table.loc[:, methods.isin(["wiener", "median"])].min(axis=1)
    subset = table.loc[:, methods == "subset"].min(axis=1)
    ratio = (subset / filters).dropna()
    if ratio.empty:
        raise NotRun("no records of SubKPCA and the filters")
    listed = ", ".join(
        f"{item.partition('/')[2]} at {level:g}: {value:.3g}" for (item, level), value in ratio.items()
    )
    return Claim(bool(better(ratio).all()), f"error of SubKPCA over that of the better filter: {listed}")


@statement(
    "washizawa-denoising-subset-below-reduced",
    PAPER,
    "Section 6.5",
    "In denoising, SubKPCA always has a lower error than reduced KPCA with the same number of basis points.",
)
def denoising_subset_below_reduced(records):
    rows = select(records, ["table7", "table8"], metric="denoising_mse")
    keys = ["experiment", "level", "m"]
    return all_below(pairs(rows, "method", "subset", "reduced", keys), less="SubKPCA", more="reduced")


@statement(
    "washizawa-denoising-filters-better-at-small-noise",
    PAPER,
    "Section 6.5",
    "With little noise (sigma to 50, p to 0.10) the Wiener or the median filter is better than SubKPCA.",
)
def filters_better_at_small_noise(records):
    return _against_filters(records, [20, 50, 0.05, 0.10], lambda ratio: ratio > 1)


@statement(
    "washizawa-denoising-subset-better-at-large-noise",
    PAPER,
    "Section 6.5",
    "With much noise (sigma from 80, p from 0.20) SubKPCA is better than the Wiener and the median filter.",
)
def subset_better_at_large_noise(records):
    return _against_filters(records, [80, 100, 0.20, 0.40], lambda ratio: ratio < 1)


@statement(
    "washizawa-denoising-bm3d-not-better",
    PAPER,
    "Section 6.5",
    "BM3D, made for natural images, is not better than SubKPCA on the digits.",
)
def bm3d_not_better(records):
    table = _denoising(records)
    methods = table.columns.get_level_values("method")
    if "bm3d" not in methods or "subset" not in methods:
        raise NotRun("no records of BM3D and SubKPCA")
    ratio = (table.loc[:, methods == "subset"].min(axis=1) / table["bm3d"].min(axis=1)).dropna()
    listed = ", ".join(f"{level:g}: {value:.3g}" for (_, level), value in ratio.items())
    return Claim(bool((ratio <= 1).all()), f"error of SubKPCA over that of BM3D at sigma {listed}")
