"""Washizawa 2012: numbers that its statements are about, from the records."""

import numpy as np

from kpca_lab.suite.hooks import Claim
from kpca_lab.suite.judge.claims import (
    NotRun,
    basis_share,
    error_against_time,
    pairs,
    select,
    spread,
    time_to_reach,
)

__all__ = [
    "ERROR",
    "against_filters",
    "curves",
    "denoising_errors",
    "listed_ratios",
    "named_over_grid",
    "slower_in_most",
    "subset_over_cholesky",
    "time_over_full",
    "times_to_least_common_error",
    "usps_errors",
]

ERROR = "normalized_empirical_error"


def curves(records, items, metric, *, trials=False, **values):
    """Means over the trials: (dataset, share of basis) x (method, selector), without the full basis."""
    rows = select(records, items, metric=metric, **values)
    rows = rows.assign(share=basis_share(rows))
    rows = rows[(rows.share < 1) & (rows.method != "full")]
    if rows.empty:
        raise NotRun("no basis sizes under 100 %")
    index = ["dataset", "share", *(["split"] if trials else [])]
    return rows.pivot_table(index=index, columns=["method", "selector"], values="value")


def subset_over_cholesky(records, items, metric, datasets=None):
    """Times of SubKPCA (random basis) for the errors of ICD, over ICD's, by data set; NaN if never."""
    curves = error_against_time(records, items, metric)
    ratios = {}
    for dataset, curve in curves.groupby("dataset"):
        if datasets is None or dataset in datasets:
            cholesky = curve[curve.method == "cholesky"]
            subset = curve[(curve.method == "subset") & (curve.selector == "random")]
            if len(cholesky) and len(subset):
                ratios[dataset] = time_to_reach(subset, cholesky.error) / cholesky.seconds.to_numpy()
    if not ratios:
        raise NotRun("no records of SubKPCA and ICD on the same data")
    return ratios


def slower_in_most(ratio):
    """Whether SubKPCA is slower for most of the errors; one that it never reaches counts as slower."""
    return float(np.median(np.where(np.isnan(ratio), np.inf, ratio))) > 1


def listed_ratios(ratios):
    texts = []
    for name, ratio in ratios.items():
        reached = ratio[np.isfinite(ratio)]
        text = f"{name}: SubKPCA reaches {len(reached)} of {len(ratio)} distances of ICD"
        texts.append(f"{text}, in {spread(reached)} times its time" if len(reached) else text)
    return "; ".join(texts)


def usps_errors(records):
    rows = select(records, [f"table{i}" for i in (3, 4, 5, 6)], metric="classification_error")
    return rows.assign(share=basis_share(rows))


def denoising_errors(records):
    """Mean error: (experiment, level) x (method, m), with m = 0 for the filters."""
    rows = select(records, ["table7", "table8"], metric="denoising_mse")
    rows = rows.assign(m=rows.m.where(rows.method.isin(["subset", "reduced"]), 0).fillna(0))
    return rows.pivot_table(
        index=["experiment", "level"], columns=["method", "m"], values="value", dropna=False
    )


def against_filters(records, levels, better):
    table = denoising_errors(records)
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


def time_over_full(records):
    """Time of SubKPCA with a random basis over that of full KPCA, by data set and share of the samples."""
    rows = select(records, "figure4", metric="runtime")
    full = select(rows, method="full").groupby("dataset").value.median()
    subset = select(rows, method="subset", selector="random")
    subset = subset.assign(share=basis_share(subset)).groupby(["dataset", "share"]).value.median()
    return subset / full.reindex(subset.index.get_level_values("dataset")).to_numpy()


def times_to_least_common_error(records):
    """The least training error on MNIST that SubKPCA and ICD both reach, and the seconds of either."""
    found = error_against_time(records, "figure6", "empirical_error")
    cholesky = found[found.method == "cholesky"]
    subset = found[(found.method == "subset") & (found.selector == "random")]
    if cholesky.empty or subset.empty:
        raise NotRun("no records of SubKPCA and ICD")
    error = max(cholesky.error.min(), subset.error.min())
    return error, *(time_to_reach(curve, [error])[0] for curve in (subset, cholesky))


def named_over_grid(records):
    """Denoising error with the width that the text names over the least of the grid, for every cell."""
    names = ["denoising_mse", "denoising_mse_named_width"]
    rows = select(records, ["table7", "table8"], metric=names, method=["subset", "reduced"])
    both = pairs(rows, "metric", *names[::-1], ["m", "experiment", "level", "method"])
    return both.left / both.right
