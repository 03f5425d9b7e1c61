"""The other methods beside FullKPCA, and the searches for a basis beside what they replace."""

import numpy as np

from kpca_lab import (
    CholeskyKPCA,
    ElasticNetKPCA,
    FullKPCA,
    HebbianKPCA,
    IncrementalKPCA,
    NystromKPCA,
    SubsetKPCA,
    TippingKPCA,
)
from kpca_lab.datasets import load_dataset
from kpca_lab.metrics import empirical_error
from kpca_lab.selectors import ForwardSelector
from scripts.bench import samples
from scripts.bench.clock import claim_memory, side_by_side
from scripts.bench.rows import Row, failed

GROUP, SEARCHES = "methods", "searches"
ERROR = "empirical error, that of full KPCA = 1"
RANK = 10
WIDTH = {"gamma": samples.GAMMA_MIXTURE}


def measure(quick: bool) -> list[Row]:
    """One row for each method and size."""
    n = 1000 if quick else 3000
    cases = [
        (CholeskyKPCA(RANK, n_basis=300, **WIDTH), n, 300, "pivot"),
        (NystromKPCA(RANK, n_basis=300, random_state=0, **WIDTH), n, 300, "basis sample"),
        (HebbianKPCA(RANK, max_iter=3, tol=0.0, random_state=0, **WIDTH), n, 3, "pass"),
        (IncrementalKPCA(RANK, **WIDTH), n, n, "sample"),
        (TippingKPCA(RANK, n_basis=100, center=True, **WIDTH), 1000, 1, "fit"),
        (ElasticNetKPCA(RANK, **WIDTH), 1000, 1, "fit"),
    ]
    if not quick:
        cases += [
            (TippingKPCA(RANK, n_basis=100, center=True, **WIDTH), 3000, 1, "fit"),
            (ElasticNetKPCA(RANK, **WIDTH), 3000, 1, "fit"),
        ]
    return [row for case in cases for row in _method(*case)]


def _method(model, n, units, unit) -> list[Row]:
    X = samples.pictures(n, 20)
    case, name = f"fit, n = {n}, d = 20, r = {RANK}", type(model).__name__
    claim_memory(n)
    measured = side_by_side(
        {"ours": lambda: model.fit(X), "peer": lambda: FullKPCA(RANK, **WIDTH).fit(X)}, 1 if n > 1000 else 2
    )
    ours, full = measured["ours"], measured["peer"]
    if ours.problem:
        return [failed(GROUP, case, "FullKPCA", ours.problem, name)]
    error = empirical_error(ours.result, X) / empirical_error(full.result, X)
    each = f"{1e3 * ours.median / units:.3g} ms per {unit}" if units > 1 else ""
    return [
        Row(GROUP, case, name, "FullKPCA", ours.median, full.median, "s", error, 1.0, error=ERROR,
            terms="rank", note=each)
    ]  # fmt: skip


def measure_searches(quick: bool) -> list[Row]:
    """Forward search beside the literal algorithm, and searches beside K-means."""
    if quick:
        return _literal(repeats=1) + _beside_kmeans(2000, 100, ["forward"])
    rows = _literal(repeats=3) + _beside_kmeans(10_000, 150, ["forward"])
    rows += _beside_kmeans(10_000, 500, [ForwardSelector(candidates=1000)])
    return rows + _beside_kmeans(300, 60, ["forward", "forward_backward", "backward"])


def _literal(repeats: int) -> list[Row]:
    """Forward search, m = 50 of n = 1000, against the literal Algorithm 1."""
    X = load_dataset("artificial2d").X
    options = {"gamma": 0.1, "center": False}

    def fast():
        return SubsetKPCA(5, n_basis=50, selector="forward", **options).fit(X).basis_indices_

    chosen = fast()

    def one_candidate(size):
        candidate = SubsetKPCA(min(5, size), basis=np.append(chosen[: size - 1], 999), **options).fit(X)
        empirical_error(candidate, X)

    sizes = (1, 10, 20, 30, 40, 50)
    times = side_by_side({str(size): lambda size=size: one_candidate(size) for size in sizes}, 5)
    every = np.interp(np.arange(1, 51), sizes, [times[str(size)].median for size in sizes])
    literal = float(every @ (1000 - np.arange(50)))
    ours = side_by_side({"ours": fast}, repeats)["ours"].median
    return [
        Row(SEARCHES, "forward search, m = 50 of n = 1000, r = 5", "selector='forward'",
            "literal Algorithm 1", ours, literal, terms="error", aim="<= 0.005",
            note="literal: five candidates timed at six basis sizes, extrapolated to all 50 steps")
    ]  # fmt: skip


def _beside_kmeans(n: int, m: int, selectors: list) -> list[Row]:
    X = samples.pictures(n, 20)
    case = f"fit with m = {m} of n = {n}, d = 20, r = 20"

    def fit(selector):
        model = SubsetKPCA(20, n_basis=m, selector=selector, random_state=0, **WIDTH).fit(X)
        return empirical_error(model, X)

    chosen = {f"selector={selector!r}": selector for selector in [*selectors, "kmeans"]}
    measured = side_by_side({name: lambda own=own: fit(own) for name, own in chosen.items()}, 1)
    *ours, kmeans = chosen
    peer = measured[kmeans]
    least = empirical_error(FullKPCA(20, **WIDTH).fit(X), X)
    rows = []
    for name in ours:
        own = measured[name]
        if own.problem or peer.problem:
            rows.append(failed(SEARCHES, case, "K-means", own.problem or peer.problem, name))
            continue
        rows.append(
            Row(SEARCHES, case, name, kmeans, own.median, peer.median, "s",
                own.result / least, peer.result / least, error=ERROR, terms="basis samples")
        )  # fmt: skip
    return rows
