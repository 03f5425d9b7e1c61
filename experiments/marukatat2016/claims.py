"""Statements of Marukatat 2016, of which only the first two pages are known."""

import numpy as np

from kpca_lab.suite.hooks import Claim
from kpca_lab.suite.judge.claims import NotRun, exponent_interval, growth_exponent, select, spread, statement

PAPER = "marukatat2016"


def _over_q(records, metric):
    """Mean over the trials: (dataset, kernel, sketch) x q."""
    rows = select(records, metric=metric, method="empirical_map")
    keys = [name for name in ("experiment", "dataset", "kernel", "r", "sketch") if name in rows]
    return rows.pivot_table(index=keys, columns="m", values="value", dropna=False).dropna(how="all")


@statement(
    "marukatat-accurate-eigenvalues",
    PAPER,
    "Abstract",
    "The eigenvalues are approximated accurately: mean relative error under 5 % with the largest sketch.",
    limit="ours",
)
def accurate_eigenvalues(records):
    error = _over_q(records, "eigenvalue_error").ffill(axis=1).iloc[:, -1]
    return Claim(bool((error < 0.05).all()), f"relative error with the largest q: {spread(error)}")


@statement(
    "marukatat-accurate-subspace",
    PAPER,
    "Abstract",
    "The eigenvectors are approximated accurately: subspace distance under 0.1 with the largest sketch.",
    limit="ours",
)
def accurate_subspace(records):
    error = _over_q(records, "subspace_distance").ffill(axis=1).iloc[:, -1]
    return Claim(bool((error < 0.1).all()), f"subspace distance with the largest q: {spread(error)}")


@statement(
    "marukatat-error-falls-with-q",
    PAPER,
    "Section 2.2, Eq. (8)",
    "The error falls as the sketch grows, at least as fast as q^-0.4 (theory: q^-0.5).",
    limit="ours",
)
def error_falls_with_q(records):
    rows = select(records, metric="eigenvalue_error", method="empirical_map")
    keys = [name for name in ("experiment", "dataset", "kernel", "r", "sketch") if name in rows]
    curves = [(curve.m, curve.value) for _, curve in rows.groupby(keys, dropna=False)]
    exponents = [growth_exponent(*curve) for curve in curves]
    flattest = exponent_interval(*curves[int(np.argmax(exponents))])
    good = sum(slope <= -0.4 for slope in exponents)
    told = f"so in {good} of {len(exponents)} series; exponent of q: {spread(exponents)}; flattest {flattest}"
    return Claim(good == len(exponents), told)


def _bound(records, metric):
    ratio = select(records, metric=metric, method="empirical_map").value
    return Claim(bool((ratio <= 1 + 1e-9).all()), f"measured over bound: {spread(ratio)}, {len(ratio)} cases")


@statement(
    "marukatat-eigenvalue-bound",
    PAPER,
    "Section 2.1, Eq. (3)",
    "No eigenvalue is off by more than the spectral norm of the error of the dot products.",
    identity=True,
)
def eigenvalue_bound(records):
    return _bound(records, "eigenvalue_bound_ratio")


@statement(
    "marukatat-subspace-bound",
    PAPER,
    "Section 2.1, Eq. (5)",
    "Where the eigenvalues are separated, the subspace is no farther than four times |F21| over the gap.",
    identity=True,
)
def subspace_bound(records):
    return _bound(records, "subspace_bound_ratio")


@statement(
    "marukatat-cheaper-than-eigendecomposition",
    PAPER,
    "Sections 1 and 2",
    "The smallest sketch takes less time than the eigendecomposition of the kernel matrix.",
)
def cheaper(records):
    rows = select(records, metric="runtime")
    keys = ["experiment", "dataset"]
    sketch = select(rows, method="empirical_map").groupby([*keys, "m"]).value.median().groupby(keys).min()
    full = select(rows, method="full").groupby(keys).value.median()
    ratio = (sketch / full).dropna()
    if ratio.empty:
        raise NotRun("no records of both on the same data")
    listed = ", ".join(f"{dataset} {value:.3g}" for (_, dataset), value in ratio.items())
    return Claim(bool((ratio < 1).all()), f"time over that of full KPCA: {listed}")


@statement(
    "marukatat-covariance-bounds",
    PAPER,
    "Section 2.1",
    "The bounds (3) and (5) hold for the sketched covariance matrix too.",
    identity=True,
)
def covariance_bounds(records):
    """Largest ratio of measured error to bound."""
    rows = select(records, "covariance", metric=["eigenvalue_bound_ratio", "subspace_bound_ratio"])
    largest = rows.groupby("metric")["value"].agg(["max", "size"])
    figures = ", ".join(
        f"{name}: at most {entry['max']:.3g} in {entry['size']:.0f} cases"
        for name, entry in largest.iterrows()
    )
    return Claim(bool((largest["max"] <= 1 + 1e-9).all()), figures)
