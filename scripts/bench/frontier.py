"""Error against time on one data set after the other: at equal error or equal time, who is ahead?"""

import math

import numpy as np
import pandas as pd

from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import residual_outside_scores
from scripts.bench import samples
from scripts.bench.clock import claim_memory, side_by_side
from scripts.bench.peers import EXACT, OURS, WAYS
from scripts.bench.rows import Row, error_at_seconds, failed, seconds_at_error

GROUP = "frontier"
RANK = 20
SIZES = (50, 100, 200, 400, 800)
SLOW = {"nystrompca": 100, "scikit-learn KernelPCA, dense": 2000}  # largest m, and largest n
KERNLAB_SAMPLES = 1000  # R's solver takes n^3 with the BLAS that R has
ERROR = "residual in feature space, that of full KPCA = 1"


def measure(quick: bool) -> tuple[list[Row], pd.DataFrame]:
    """Rows at equal error, and all points."""
    n, repeats = (2000, 1) if quick else (5000, 2)
    rows, points = [], []
    for (name, X), gamma in ((samples.mnist(), samples.GAMMA_PICTURES), (samples.tic(), None)):
        width = samples.gamma_of_tic(X) if gamma is None else gamma
        own = X[np.random.default_rng(0).permutation(len(X))[:n]]
        case = f"{name}, n = {len(own)}, d = {X.shape[1]}, r = {RANK}"
        found = _points(own, width, repeats)
        points += [{"data": case} | point for point in found]
        rows += _rows(case, found)
        rows += _kernlab(name, own[:KERNLAB_SAMPLES], width)
    return rows, pd.DataFrame(points)


def _points(X, gamma, repeats) -> list[dict]:
    """Seconds and error of each way at each size of its basis."""
    plans = {}
    for way in WAYS:
        if way == "R kernlab" or (way == "scikit-learn KernelPCA, dense" and len(X) > SLOW[way]):
            continue
        for m in (0,) if way in EXACT else SIZES:
            if m <= SLOW.get(way, math.inf):
                plans[way, m] = lambda way=way, m=m: WAYS[way](gamma, RANK, m).fit_transform(X)
    first = {way: lambda way=way: WAYS[way](gamma, 5, 20).fit_transform(X[:100]) for way, _ in plans}
    side_by_side(first, 1)  # imports, and what else is done once in a process
    claim_memory(len(X))
    measured = side_by_side(plans, repeats)
    kernel = make_kernel("rbf", gamma=gamma, n_features=X.shape[1])
    least = _error(measured["FullKPCA", 0], X, kernel)
    return [
        {
            "method": way,
            "m": m,
            "seconds": own.median,
            "error": _error(own, X, kernel) / least,
            "note": own.problem,
        }
        for (way, m), own in measured.items()
    ]


def _error(own, X, kernel) -> float:
    return math.nan if own.problem else residual_outside_scores(own.result, X, kernel)


def _rows(case: str, found: list[dict]) -> list[Row]:
    """For each peer, at its smallest error: our least time for the same, or our error after the same time."""
    ours = [(p["seconds"], p["error"]) for p in found if p["method"] in OURS and not p["note"]]
    rows = []
    for peer in dict.fromkeys(p["method"] for p in found if p["method"] not in OURS):
        own = [p for p in found if p["method"] == peer]
        done = [p for p in own if not p["note"]]
        if not done:
            rows.append(failed(GROUP, case, peer, own[0]["note"], "best of ours"))
            continue
        best = min(done, key=lambda p: p["error"])
        what = case if peer in EXACT else f"{case}, m = {best['m']} of the peer"
        seconds, error, terms = seconds_at_error(ours, best["error"]), best["error"], "error"
        if math.isnan(seconds):
            seconds, error, terms = best["seconds"], error_at_seconds(ours, best["seconds"]), "time"
        else:
            error = min(e for s, e in ours if s == seconds)
        who = next((_name(p) for p in found if p["method"] in OURS and p["error"] == error), "none of ours")
        rows.append(
            Row(GROUP, what, who, peer, seconds, best["seconds"], "s", error, best["error"], error=ERROR,
                terms=terms, headline=peer not in EXACT)
        )  # fmt: skip
    return rows


def _name(point: dict) -> str:
    return point["method"] + (f", m = {point['m']}" if point["m"] else "")


def _kernlab(name, X, gamma) -> list[Row]:
    case = f"{name}, n = {len(X)}, d = {X.shape[1]}, r = {RANK}"
    taken = []

    def by_r():
        model = WAYS["R kernlab"](gamma, RANK, 0)
        scores = model.fit_transform(X)
        taken.append(model.seconds_)
        return scores

    measured = side_by_side({"ours": lambda: WAYS["FullKPCA"](gamma, RANK, 0).fit_transform(X), "R": by_r}, 2)
    if measured["R"].problem:
        return [failed(GROUP, case, "R kernlab", measured["R"].problem, "FullKPCA")]
    kernel = make_kernel("rbf", gamma=gamma, n_features=X.shape[1])
    least, other = (_error(measured[way], X, kernel) for way in ("ours", "R"))
    return [
        Row(GROUP, case, "FullKPCA", "R kernlab", measured["ours"].median, min(taken), "s", 1.0,
            other / least, error=ERROR, terms="error", note="seconds by R's own clock")
    ]  # fmt: skip
