"""SubsetKPCA beside the bare work that it cannot avoid, and beside Nystroem + PCA."""

import numpy as np
import scipy.linalg

from kpca_lab import SubsetKPCA
from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import residual_outside_scores
from scripts.bench import samples
from scripts.bench.clock import in_child, problem_text, side_by_side
from scripts.bench.peers import nystroem, subset
from scripts.bench.rows import Row, failed

GROUP = "subset"
BLOCK = 2000
BARE = "GEMM, exp, SYRK and eigh alone"
PEER = "scikit-learn Nystroem + PCA"


def measure(quick: bool) -> list[Row]:
    """Fits over n, the large fit, and what is done with a fitted model."""
    rows = []
    for n in (10_000, 40_000) if quick else (10_000, 40_000, 100_000, 1_000_000):
        X = samples.pictures(n, 50)
        rows += _fit(f"fit, n = {n}, d = 50, m = 500, r = 50", X, samples.GAMMA_MIXTURE, 500, 50, quick)
        if n == 100_000 or (quick and n == 40_000):
            rows += _in_chunks(X) + _one_row(X)
        del X
    if not quick:
        name, X = samples.mnist()
        case = f"fit, {name}, n = {len(X)}, d = {X.shape[1]}, m = 1000, r = 145"
        rows += _fit(case, X, samples.GAMMA_DIGITS, 1000, 145, quick)
        rows += _single_precision(f"{case}, gamma = {samples.GAMMA_PICTURES}", X)
    return rows + _memory(quick)


def _fit(case, X, gamma, m, r, quick) -> list[Row]:
    functions = {
        "SubsetKPCA": lambda: subset(gamma, r, m).fit(X),
        BARE: lambda: _bare(X, X[np.random.default_rng(1).choice(len(X), m, replace=False)]),
    }
    if len(X) <= 100_000:  # its features of all samples must fit in memory, twice
        functions[PEER] = lambda: nystroem(gamma, r, m).fit(X)
    measured = side_by_side(functions, 3 if len(X) <= 100_000 else 1)
    problems = [own.problem for own in measured.values() if own.problem]
    if problems:
        return [failed(GROUP, case, BARE, problems[0], "SubsetKPCA")]
    ours = measured["SubsetKPCA"].median
    rows = [
        Row(GROUP, case, "SubsetKPCA", BARE, ours, measured[BARE].median, terms="work", aim="<= 1.15",
            note="the peer has no components yet")
    ]  # fmt: skip
    if PEER in functions:
        kernel = make_kernel("rbf", gamma=gamma, n_features=X.shape[1])
        some = X[:2000]
        errors = [
            residual_outside_scores(measured[name].result.transform(some), some, kernel)
            for name in ("SubsetKPCA", PEER)
        ]
        rows.append(
            Row(GROUP, case, "SubsetKPCA", PEER, ours, measured[PEER].median, "s", *errors,
                error="residual in feature space, 2000 samples", terms="basis samples",
                headline=len(X) >= 40_000)
        )  # fmt: skip
    return rows


def _single_precision(case, X) -> list[Row]:
    def fit(precision):
        model = SubsetKPCA(
            145, gamma=samples.GAMMA_PICTURES, n_basis=1000, precision=precision, random_state=0
        )
        return model.fit(X).eigenvalues_

    ours, peer = 'SubsetKPCA, precision="auto"', 'SubsetKPCA, precision="double"'
    measured = side_by_side({ours: lambda: fit("auto"), peer: lambda: fit("double")}, 1)
    problem = measured[ours].problem or measured[peer].problem
    if problem:
        return [failed(GROUP, case, peer, problem, ours)]
    error = float(np.abs(measured[ours].result / measured[peer].result - 1).max())
    return [
        Row(GROUP, case, ours, peer, measured[ours].median, measured[peer].median, "s", error, 0.0,
            error="relative difference of eigenvalues", terms="basis samples")
    ]  # fmt: skip


def _bare(X, basis) -> None:
    """One product, exp and sum of squares per block, and the eigenvalues of the sum."""
    total = np.zeros((len(basis), len(basis)))
    buffer = np.empty((BLOCK, len(basis)))
    for start in range(0, len(X), BLOCK):
        rows = X[start : start + BLOCK]
        products = np.matmul(rows, -basis.T, out=buffer[: len(rows)])  # no overflow: all are positive
        np.exp(products, out=products)
        total += products.T @ products
    scipy.linalg.eigh(total, driver="evd")


def _in_chunks(X) -> list[Row]:
    basis = X[np.random.default_rng(1).choice(len(X), 500, replace=False)]

    def fit():
        return SubsetKPCA(50, gamma=samples.GAMMA_MIXTURE, basis=basis).fit(X).eigenvalues_

    def chunks():
        model = SubsetKPCA(50, gamma=samples.GAMMA_MIXTURE, basis=basis)
        for start in range(0, len(X), 5000):
            model.partial_fit(X[start : start + 5000])
        return model.eigenvalues_

    case = f"partial_fit over chunks of 5000, n = {len(X)}, d = 50, m = 500"
    measured = side_by_side({"chunks": chunks, "fit": fit}, 3)
    if measured["chunks"].problem:
        return [failed(GROUP, case, "SubsetKPCA.fit", measured["chunks"].problem)]
    error = float(np.abs(measured["chunks"].result / measured["fit"].result - 1).max())
    return [
        Row(GROUP, case, "SubsetKPCA.partial_fit", "SubsetKPCA.fit", measured["chunks"].median,
            measured["fit"].median, "s", error, 0.0, error="relative difference of eigenvalues", terms="work",
            aim="<= 1.15")
    ]  # fmt: skip


def _one_row(X) -> list[Row]:
    models = {"ours": subset(samples.GAMMA_MIXTURE, 50, 500), PEER: nystroem(samples.GAMMA_MIXTURE, 50, 500)}
    for model in models.values():
        model.fit(X[:10_000])

    def hundred(model):
        for place in range(100):
            model.transform(X[place : place + 1])

    measured = side_by_side({name: lambda m=model: hundred(m) for name, model in models.items()}, 5)
    return [
        Row(GROUP, "transform of one row, d = 50, m = 500, r = 50", "SubsetKPCA", PEER,
            10 * measured["ours"].median, 10 * measured[PEER].median, "ms", terms="basis samples",
            aim="ours <= 0.25 ms", headline=True)
    ]  # fmt: skip


def _memory(quick: bool) -> list[Row]:
    """Peak memory above the data, of fit and of transform, each in a process of its own."""
    n = 10_000 if quick else 60_000
    size = {"n": n, "d": 784, "gamma": samples.GAMMA_PICTURES, "r": 145, "m": 1000}
    rows = []
    for work, aim in (("fit", "ours <= 100 MB"), ("transform", "ours <= 130 MB at n = 60000")):
        case = f"peak memory of {work} above the data, n = {n}, d = 784, m = 1000, r = 145"
        try:
            ours, peer = (in_child(300, way=way, work=work, **size) for way in ("SubsetKPCA", PEER))
        except (OSError, ValueError) as error:
            ours = peer = {"problem": problem_text(error)}
        problem = ours.get("problem") or peer.get("problem")
        if problem:
            rows.append(failed(GROUP, case, PEER, problem, "SubsetKPCA"))
            continue
        note = f"{ours['output_mebibytes']:.0f} MiB of it are the result" if work == "transform" else ""
        rows.append(
            Row(GROUP, case, "SubsetKPCA", PEER, ours["mebibytes"], peer["mebibytes"], "MiB",
                terms="basis samples", aim=aim, note=note, headline=work == "fit")
        )  # fmt: skip
    return rows
