"""Statements of Wang & Tanaka 2016."""

from kpca_lab.suite.hooks import Claim
from kpca_lab.suite.judge.claims import NotRun, all_below, pairs, select, spread, statement

PAPER = "wang2016"


@statement(
    "wang-most-coefficients-zero",
    PAPER,
    "Section IV-B, Figure 3",
    "On MNIST most of the coefficients are zero (over half in every component).",
    limit="ours",
)
def most_coefficients_zero(records):
    share = select(records, "figure3", metric="sparsity", method="elastic_net").value
    return Claim(bool((share > 0.5).all()), f"share of zeros: {spread(share)}")


@statement(
    "wang-mse-slightly-higher",
    PAPER,
    "Section IV-B, Figure 4",
    "The mean squared error of sparse KPCA is only slightly above the optimum (at most 10 %).",
    limit="ours",
)
def mse_slightly_higher(records):
    rows = select(records, "figure4", metric="reconstruction_mse")
    both = pairs(rows, "method", "elastic_net", "full", ["dataset", "split", "seed", "r"])
    ratio = both.left / both.right
    return Claim(bool((ratio <= 1.1).all()), f"error over the optimum: {spread(ratio)}, {len(ratio)} cases")


@statement(
    "wang-mse-not-below-optimum",
    PAPER,
    "Section II, Figure 4",
    "The error of sparse KPCA is never below that of KPCA, which is optimal.",
    identity=True,
)
def mse_not_below_optimum(records):
    rows = select(records, "figure4", metric="reconstruction_mse")
    both = pairs(rows, "method", "elastic_net", "full", ["dataset", "split", "seed", "r"])
    ratio = both.left / both.right
    return Claim(bool((ratio >= 1 - 1e-9).all()), f"least ratio {ratio.min():.10g}")


def _resembles(records, item):
    rows = select(records, item, metric="component_correlation", method="elastic_net")
    correlation = rows.value.abs()
    return Claim(bool(correlation.median() >= 0.9), f"correlation with KPCA: {spread(correlation)}")


@statement(
    "wang-figure1-resembles-kpca",
    PAPER,
    "Section IV-A, Figure 1",
    "On three clusters, the eight sparse components resemble those of KPCA closely (median correlation 0.9).",
    limit="ours",
)
def figure1_resembles(records):
    return _resembles(records, "figure1")


@statement(
    "wang-figure2-same-structure",
    PAPER,
    "Section IV-A, Figure 2",
    "On the parabola, a small part of the data (under half) gives KPCA's structure (median correlation 0.9).",
    limit="ours",
)
def figure2_same_structure(records):
    found = _resembles(records, "figure2")
    zeros = select(records, "figure2", metric="sparsity", method="elastic_net").value
    return Claim(
        found.holds and bool((zeros > 0.5).all()), f"{found.numbers}; share of zeros {spread(zeros)}"
    )


@statement(
    "wang-sparsity-depends-on-lambda",
    PAPER,
    "Section IV-A, Figure 2",
    "Larger weights of the l1 norm give sparser components.",
)
def sparsity_depends_on_lambda(records):
    rows = select(records, "figure2", metric="sparsity", method="elastic_net")
    if "lambda_1" not in rows or rows.lambda_1.nunique() < 2:
        raise NotRun("only one setting of lambda_1")
    means = rows.groupby("lambda_1").value.mean().sort_index()
    listed = ", ".join(f"{weight:g}: {share:.3f}" for weight, share in means.items())
    return Claim(bool((means.diff().dropna() > 0).all()), f"share of zeros by sum of the weights {listed}")


@statement(
    "wang-subset-same-points-not-worse",
    PAPER,
    "Not in the paper",
    "With the same points, SubKPCA's error is not above that of sparse KPCA, whatever the weight.",
    identity=True,
)
def subset_same_points(records):
    """SubKPCA is optimal among the operators over given points."""
    rows = select(records, "figure_tradeoff", metric="reconstruction_mse")
    own = rows[(rows.method == "elastic_net") | (rows.selector == "support")]
    both = pairs(own, "method", "subset", "elastic_net", ["dataset", "lambda_1"])
    return all_below(both, margin=1e-9, less="SubKPCA", more="sparse KPCA")


@statement(
    "wang-sparsity-depends-on-rho",
    PAPER,
    "Section IV-A, Figure 2",
    "The sparsity depends on rho (the share of zeros of a component differs by a point or more).",
    limit="ours",
)
def sparsity_depends_on_rho(records):
    """The minimum does not depend on rho, so this is about steps that end before they converge."""
    rows = select(records, "rho", metric="sparsity", method="elastic_net")
    shares = rows.pivot_table(index="rho", columns="component", values="value").sort_index()
    if len(shares) < 2:
        raise NotRun("only one setting of rho")
    listed = ", ".join(f"{rho:g}: {share:.3f}" for rho, share in shares.mean(axis=1).items())
    ended = select(records, "rho", metric="share_at_limit").value.mean()
    told = f"mean share of zeros by rho {listed}; {100 * ended:.0f} % of the ADMM loops end at their limit"
    return Claim(bool((shares.max() - shares.min()).max() >= 0.01), told)
