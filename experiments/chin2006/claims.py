"""Statements of Chin & Suter 2006."""

from kpca_lab.suite.hooks import Claim
from kpca_lab.suite.judge.claims import NotRun, growth_exponent, pairs, select, spread, statement

PAPER = "chin2006"


def _exponent(records, method):
    rows = select(records, "table1", metric="runtime", method=method)
    if "n" not in rows:
        raise NotRun("no records with n")
    return growth_exponent(rows.n, rows.value)


@statement(
    "chin-batch-cubic",
    PAPER,
    "Section 6, Table 1",
    "The time of batch KPCA grows with the cube of the number of vectors (exponent between 2.5 and 3.5).",
)
def batch_cubic(records):
    exponent = _exponent(records, "full")
    return Claim(2.5 <= exponent <= 3.5, f"growth exponent {exponent:.2f}")


@statement(
    "chin-incremental-linear",
    PAPER,
    "Section 6, Table 1",
    "The time of incremental KPCA grows almost linearly with the vectors (exponent between 0.7 and 1.3).",
)
def incremental_linear(records):
    exponent = _exponent(records, "incremental")
    return Claim(0.7 <= exponent <= 1.3, f"growth exponent {exponent:.2f}")


@statement(
    "chin-hebbian-scales-worse",
    PAPER,
    "Section 6, Table 1",
    "The time of the kernel Hebbian algorithm grows faster than incremental KPCA's (0.3 in the exponent).",
)
def hebbian_scales_worse(records):
    hebbian, incremental = _exponent(records, "hebbian"), _exponent(records, "incremental")
    return Claim(
        hebbian >= incremental + 0.3,
        f"growth exponents {hebbian:.2f} (KHA) and {incremental:.2f} (incremental)",
    )


@statement(
    "chin-incremental-equals-batch",
    PAPER,
    "Section 6, Table 2",
    "On the same subset, the error rates of incremental and batch KPCA differ by at most one point.",
)
def incremental_equals_batch(records):
    rows = select(records, "table2", metric="classification_error")
    both = pairs(rows, "method", "incremental", "full", ["dataset", "n", "kernel"])
    points = 100 * (both.left - both.right)
    return Claim(bool((points.abs() <= 1).all()), f"difference in points: {spread(points)}")


@statement(
    "chin-more-images-beat-fewer",
    PAPER,
    "Section 6, Table 2",
    "Incremental KPCA on all images has a lower error rate than batch KPCA on the subset, with every kernel.",
)
def more_images_beat_fewer(records):
    rows = select(records, "table2", metric="classification_error")
    if "n" not in rows:
        raise NotRun("no records with n")
    keys = ["dataset", "kernel"]
    batch = select(rows, method="full").groupby([*keys, "n"]).value.mean().reset_index(level="n")
    incremental = select(rows, method="incremental").groupby([*keys, "n"]).value.mean().reset_index(level="n")
    largest = incremental.sort_values("n").groupby(keys).tail(1)
    both = largest.add_suffix("_all").join(batch.add_suffix("_subset"), how="inner")
    both = both[both.n_all > both.n_subset]
    if both.empty:
        raise NotRun("only one number of training images")
    listed = ", ".join(
        f"{kernel}: {100 * row.value_all:.2f} % with {row.n_all:.0f}, {100 * row.value_subset:.2f} % with "
        f"{row.n_subset:.0f}"
        for (_, kernel), row in both.iterrows()
    )
    return Claim(bool((both.value_all < both.value_subset).all()), listed)


def _correlation(records, item, least):
    rows = select(records, item, metric="component_correlation", method="incremental")
    medians = rows.value.abs().groupby(rows.dataset).median()
    listed = ", ".join(f"{name} {value:.4f}" for name, value in medians.items())
    worst = rows.value.abs().min()
    return Claim(bool((medians >= least).all()), f"median correlation: {listed}; least {worst:.4f}")


@statement(
    "chin-figure2-same-contours",
    PAPER,
    "Section 6, Figure 2",
    "On the parabola, incremental and batch components cannot be told apart (median correlation 0.99).",
)
def same_contours(records):
    return _correlation(records, "figure2", 0.99)


@statement(
    "chin-figure4-same-components",
    PAPER,
    "Section 6, Figure 4",
    "On Swiss roll, Teapots and Frey faces, the first ten components show no critical difference (median "
    "correlation 0.9).",
)
def same_components(records):
    return _correlation(records, "figure4", 0.9)


def _late_over_early(records, metric):
    """Median of the last quarter of the updates over that of the second quarter (the first one warms up)."""
    rows = select(records, metric=metric, method="incremental")
    if "update" not in rows or rows["update"].nunique() < 8:
        raise NotRun("fewer than eight updates")
    place = rows["update"].rank(method="dense", pct=True)
    return rows.value[place > 0.75].median() / rows.value[(place > 0.25) & (place <= 0.5)].median()


@statement(
    "chin-constant-update-time",
    PAPER,
    "Sections 1 and 5",
    "An update takes the same time however many vectors were seen (late over early at most 1.25).",
)
def constant_update_time(records):
    ratio = _late_over_early(records, "update_seconds")
    return Claim(ratio <= 1.25, f"time of late over early updates {ratio:.3g}")


@statement(
    "chin-constant-memory",
    PAPER,
    "Sections 1 and 5",
    "The number of vectors that incremental KPCA keeps stays within a limit set beforehand.",
)
def constant_memory(records):
    kept = select(records, metric="n_points", method="incremental").value.max()
    limit = select(records, metric="n_points_limit", method="incremental").value.min()
    return Claim(kept <= limit, f"vectors kept at most {kept:.0f}, limit {limit:.0f}")
