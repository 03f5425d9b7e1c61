"""Statements of Washizawa 2012 about approximation and time."""

import numpy as np

from kpca_lab.suite.claims import (
    NotRun,
    all_below,
    basis_share,
    both_hold,
    error_against_time,
    lowest,
    pairs,
    select,
    spread,
    statement,
    time_to_reach,
)
from kpca_lab.suite.registry import Claim

PAPER = "washizawa2012"
ROUNDING = 1e-9
ERROR = "normalized_empirical_error"


def _curves(records, items, metric, **values):
    """Means over the trials: (dataset, share of basis) x (method, selector), without the full basis."""
    rows = select(records, items, metric=metric, **values)
    rows = rows.assign(share=basis_share(rows))
    rows = rows[(rows.share < 1) & (rows.method != "full")]
    if rows.empty:
        raise NotRun("no basis sizes under 100 %")
    return rows.pivot_table(index=["dataset", "share"], columns=["method", "selector"], values="value")


@statement(
    "washizawa-subset-not-worse-than-reduced",
    PAPER,
    "Sections 3.1 and 7",
    "With the same basis, the empirical error of SubKPCA is never above that of reduced KPCA.",
)
def subset_not_worse_than_reduced(records):
    errors = select(records, metric=["empirical_error", ERROR])
    keys = ["experiment", "dataset", "split", "seed", "selector", "m", "r", "kernel", "metric"]
    return all_below(
        pairs(errors, "method", "subset", "reduced", keys), margin=ROUNDING, less="SubKPCA", more="reduced"
    )


@statement(
    "washizawa-full-is-optimal",
    PAPER,
    "Section 6.1",
    "No operator of the same rank has a smaller empirical error than full KPCA.",
)
def full_is_optimal(records):
    ratios = select(records, metric=ERROR).value
    return Claim(bool((ratios >= 1 - ROUNDING).all()), f"{len(ratios)} ratios, the least {ratios.min():.10g}")


@statement(
    "washizawa-table1-subset-best",
    PAPER,
    "Section 6.2",
    "In Table 1, SubKPCA has the least empirical error and the least distance for every selection.",
)
def table1_subset_best(records):
    found = []
    for metric in (ERROR, "distance_per_component"):
        rows = select(records, "table1", metric=metric)
        found.append(lowest(rows.pivot_table(index="selector", columns="method", values="value"), ["subset"]))
    return both_hold(*found)


@statement(
    "washizawa-kmeans-equals-forward",
    PAPER,
    "Section 6.2",
    "For SubKPCA, K-means and forward search give almost the same result (mean error ratios within 0.001).",
)
def kmeans_equals_forward(records):
    rows = select(records, "table1", metric=ERROR, method="subset")
    means = rows.groupby("selector").value.mean().reindex(["kmeans", "forward"])
    if means.isna().any():
        raise NotRun("no records of K-means and forward search")
    figures = f"error ratio {means['kmeans']:.5f} with K-means, {means['forward']:.5f} with forward search"
    return Claim(abs(means["kmeans"] - means["forward"]) <= 0.001, figures)


@statement(
    "washizawa-improved-worse",
    PAPER,
    "Section 5.1",
    "Improved KPCA has a larger empirical error than SubKPCA.",
)
def improved_worse(records):
    rows = select(records, metric=ERROR)
    return all_below(pairs(rows, "method", "subset", "improved"), less="SubKPCA", more="improved")


@statement(
    "washizawa-nystrom-worse",
    PAPER,
    "Section 5.3",
    "SubKPCA has a smaller empirical error than the Nystrom approximation.",
)
def nystrom_worse(records):
    rows = select(records, metric=ERROR)
    return all_below(
        pairs(rows, "method", "subset", "nystrom"), margin=ROUNDING, less="SubKPCA", more="Nystrom"
    )


@statement(
    "washizawa-figure2-subset-best",
    PAPER,
    "Section 6.2",
    "In Figure 2, SubKPCA has the least empirical error and the least distance of all approximations.",
)
def figure2_subset_best(records):
    found = []
    for metrics in ([ERROR, "empirical_error"], ["distance", "distance_squared", "distance_per_component"]):
        rows = select(records, "figure2", metric=metrics)
        rows = rows[~rows.method.isin(["full", "pca"])]
        found.append(lowest(rows.pivot_table(index="metric", columns="method", values="value"), ["subset"]))
    return both_hold(*found)


@statement(
    "washizawa-figure3-distance",
    PAPER,
    "Section 6.3",
    "On concrete and housing, SubKPCA is closer to full KPCA than reduced KPCA and the Nystrom method, "
    "for every basis size and the same way to choose it.",
)
def figure3_distance(records):
    table = _curves(records, "figure3", "distance_squared").stack("selector", future_stack=True)
    return lowest(table, ["subset"])


@statement(
    "washizawa-figure3-forward-best",
    PAPER,
    "Section 6.3",
    "SubKPCA with forward search is the closest to full KPCA of all, for every basis size.",
)
def figure3_forward_best(records):
    return lowest(_curves(records, "figure3", "distance_squared"), [("subset", "forward")])


@statement(
    "washizawa-tenth-of-samples",
    PAPER,
    "Section 6.3",
    "With a tenth of the samples as basis, the distance of SubKPCA from full KPCA is under 1 % (of D^2/r).",
)
def tenth_of_samples(records):
    rows = select(records, "figure3", metric="distance_squared", method="subset")
    rows = rows.assign(relative=rows.value / rows.r, share=basis_share(rows))
    rows = rows[(rows.share - 0.1).abs() < 0.005]
    if rows.empty:
        raise NotRun("no basis of a tenth of the samples")
    means = rows.groupby(["dataset", "selector"]).relative.mean()
    listed = ", ".join(
        f"{dataset} {selector} {100 * mean:.3g} %" for (dataset, selector), mean in means.items()
    )
    return Claim(bool((means < 0.01).all()), listed)


@statement(
    "washizawa-figure3-errors",
    PAPER,
    "Section 6.3",
    "SubKPCA with K-means or forward search has the least empirical and validation error for every basis.",
)
def figure3_errors(records):
    winners = [("subset", "kmeans"), ("subset", "forward")]
    return both_hold(
        *(lowest(_curves(records, "figure3", metric), winners) for metric in (ERROR, "validation_error"))
    )


@statement(
    "washizawa-flat-above-20-percent",
    PAPER,
    "Section 6.3",
    "From 20 % of the samples on, the error of SubKPCA with K-means or forward search hardly changes "
    "(within 1 % of that with the largest basis).",
)
def flat_above_20_percent(records):
    rows = select(records, "figure3", metric=ERROR, method="subset", selector=["kmeans", "forward"])
    rows = rows.assign(share=basis_share(rows))
    means = rows.groupby(["dataset", "selector", "share"]).value.mean().unstack("share")
    large = means.loc[:, means.columns >= 0.2 - 1e-6]
    if large.shape[1] < 2:
        raise NotRun("fewer than two basis sizes from 20 %")
    ratio = (large.max(axis=1) / large.iloc[:, -1]).to_numpy()
    return Claim(
        bool((ratio <= 1.01).all()), f"largest error over that of the largest basis: {spread(ratio)}"
    )


@statement(
    "washizawa-faster-under-80-percent",
    PAPER,
    "Section 6.3",
    "SubKPCA is faster than full KPCA if the basis is less than 80 % of the samples.",
)
def faster_under_80_percent(records):
    rows = select(records, "figure4", metric="runtime")
    full = select(rows, method="full").groupby("dataset").value.median()
    subset = select(rows, method="subset", selector="random")
    subset = subset.assign(share=basis_share(subset)).groupby(["dataset", "share"]).value.median()
    ratio = subset / full.reindex(subset.index.get_level_values("dataset")).to_numpy()
    small = ratio[ratio.index.get_level_values("share") < 0.8 - 1e-6]
    if small.empty:
        raise NotRun("no basis under 80 %")
    figures = []
    for dataset, curve in ratio.groupby("dataset"):
        slower = curve[curve >= 1].index.get_level_values("share")
        cross = f"slower from {100 * slower.min():.0f} %" if len(slower) else "never slower"
        figures.append(f"{dataset}: {cross}, time ratio {spread(curve)}")
    return Claim(bool((small < 1).all()), "; ".join(figures))


def _subset_over_cholesky(records, items, metric, datasets=None):
    """Time that SubKPCA (random basis) needs for the errors of ICD, over ICD's time, by data set."""
    curves = error_against_time(records, items, metric)
    ratios = {}
    for dataset, curve in curves.groupby("dataset"):
        if datasets is None or dataset in datasets:
            cholesky = curve[curve.method == "cholesky"]
            subset = curve[(curve.method == "subset") & (curve.selector == "random")]
            if len(cholesky) and len(subset):
                reached = time_to_reach(subset, cholesky.error)
                # an error that SubKPCA never reaches counts as infinitely slow
                ratios[dataset] = float(
                    np.median(np.where(np.isnan(reached), np.inf, reached) / cholesky.seconds)
                )
    if not ratios:
        raise NotRun("no records of SubKPCA and ICD on the same data")
    return ratios


def _listed(ratios):
    return "time of SubKPCA over that of ICD for the same error: " + ", ".join(
        f"{name} {ratio:.3g}" for name, ratio in ratios.items()
    )


@statement(
    "washizawa-icd-faster-on-small-data",
    PAPER,
    "Section 6.3",
    "On concrete and housing, incomplete Cholesky decomposition reaches a distance faster than SubKPCA.",
)
def icd_faster_on_small_data(records):
    ratios = _subset_over_cholesky(records, "figure5", "distance_squared", ["concrete", "housing"])
    return Claim(all(ratio > 1 for ratio in ratios.values()), _listed(ratios))


@statement(
    "washizawa-icd-slower-on-tic",
    PAPER,
    "Section 6.3",
    "On tic, the larger set, incomplete Cholesky decomposition is slower than SubKPCA.",
)
def icd_slower_on_tic(records):
    ratios = _subset_over_cholesky(records, "figure5", "distance_squared", ["tic"])
    return Claim(all(ratio < 1 for ratio in ratios.values()), _listed(ratios))


@statement(
    "washizawa-hebbian-slower-than-full",
    PAPER,
    "Sections 5.4 and 6.3",
    "KHA-SMD is slower than full KPCA on all three data sets.",
)
def hebbian_slower_than_full(records):
    rows = select(records, "figure5", metric="runtime")
    times = rows.groupby(["dataset", "method", "m"], dropna=False).value.median()
    times = times.groupby(["dataset", "method"]).min().unstack("method")
    if "hebbian" not in times or "full" not in times:
        raise NotRun("no records of KHA-SMD and full KPCA")
    ratio = (times.hebbian / times.full).dropna()
    listed = ", ".join(f"{name} {value:.3g}" for name, value in ratio.items())
    return Claim(bool((ratio > 1).all()), f"time of KHA-SMD over that of full KPCA: {listed}")
