"""FullKPCA beside scikit-learn's solvers, and on a ready matrix beside eigsh and lobpcg."""

import math
import warnings

import numpy as np
from scipy.sparse.linalg import eigsh, lobpcg
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel

from kpca_lab import FullKPCA
from scripts.bench import samples
from scripts.bench.clock import Measured, claim_memory, side_by_side
from scripts.bench.rows import Row, failed

GROUP = "full"
DENSE = 2000  # largest n for LAPACK's solver, which takes n^3
READY = 5000  # largest n with peers on a ready matrix, to keep the whole bench short
ACCURATE = 1e-8
ERROR = "largest relative error of an eigenvalue"


def measure(quick: bool) -> list[Row]:
    """All sizes and ranks."""
    sizes = (2000,) if quick else (2000, 5000, 10000)
    rows = []
    for (name, X), gamma in ((samples.mnist(), samples.GAMMA_PICTURES), (samples.tic(), None)):
        width = samples.gamma_of_tic(X) if gamma is None else gamma
        for n in sizes:
            own = X[np.random.default_rng(0).permutation(len(X))[:n]]
            for r in (10, 100):
                case = f"{name}, n = {len(own)}, d = {X.shape[1]}, r = {r}"
                repeats = 3 if n <= 2000 else 1
                rows += _from_samples(case, own, width, r, repeats)
                if n <= READY:
                    rows += _from_matrix(f"{case}, ready kernel matrix", own, width, r, repeats)
    return rows + _without_matrix(2000 if quick else 5000)


def _without_matrix(n) -> list[Row]:
    """What it costs not to store the kernel matrix, where there would be room for it."""
    X, case = samples.pictures(n, 50), f"kernel matrix not stored, n = {n}, d = 50, r = 20"

    def fit(solver):
        return FullKPCA(20, gamma=samples.GAMMA_MIXTURE, eigen_solver=solver).fit(X).eigenvalues_

    ours, peer = "FullKPCA, matrix-free", "FullKPCA"
    claim_memory(n)
    return _rows(case, ours, side_by_side({ours: lambda: fit("matrix-free"), peer: lambda: fit("auto")}, 1))


def _from_samples(case, X, gamma, r, repeats) -> list[Row]:
    def theirs(solver):
        model = KernelPCA(r, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0)
        return model.fit(X).eigenvalues_

    functions = {"FullKPCA": lambda: FullKPCA(r, gamma=gamma).fit(X).eigenvalues_}
    solvers = ("arpack", "randomized", "dense") if len(X) <= DENSE else ("arpack", "randomized")
    for solver in solvers:
        functions[f"scikit-learn KernelPCA, {solver}"] = lambda solver=solver: theirs(solver)
    claim_memory(len(X))
    measured = side_by_side(functions, repeats)
    rows = _rows(case, "FullKPCA", measured)
    accurate = [row for row in rows if row.peer_error < ACCURATE]
    best = min(accurate, key=lambda row: row.peer_value, default=None)
    if best is not None:
        best.aim, best.headline = "<= 0.8", "r = 10" in case
        best.note = "the fastest accurate solver of scikit-learn"
    return rows


def _from_matrix(case, X, gamma, r, repeats) -> list[Row]:
    K = rbf_kernel(X, gamma=gamma)

    def centred():
        means = K.mean(axis=0)
        return K - means - means[:, None] + means.mean()

    def by_eigsh():
        return eigsh(centred(), r)[0][::-1]

    def by_lobpcg():
        start = np.random.default_rng(0).standard_normal((len(K), r))
        with warnings.catch_warnings():  # the error that it reached is in the table
            warnings.simplefilter("ignore", UserWarning)
            return lobpcg(centred(), start, tol=1e-6, maxiter=50)[0]

    ours = "FullKPCA, precomputed"
    functions = {
        ours: lambda: FullKPCA(r, kernel="precomputed").fit(K).eigenvalues_,
        "scipy eigsh": by_eigsh,
    }
    if r <= 10 or len(K) <= DENSE:  # its steps grow with r^2, and it takes all that are allowed
        functions["scipy lobpcg"] = by_lobpcg
    claim_memory(len(X))
    return _rows(case, ours, side_by_side(functions, repeats))


def _rows(case: str, ours: str, measured: dict[str, Measured]) -> list[Row]:
    """Rows with the errors that all reached: eigenvalues of a compression are never too large."""
    found = [own.result for own in measured.values() if not own.problem]
    best = np.max([values[: min(map(len, found))] for values in found], axis=0) if found else np.empty(0)
    rows = []
    for peer, own in measured.items():
        if peer == ours:
            continue
        if own.problem or measured[ours].problem:
            rows.append(failed(GROUP, case, peer, own.problem or measured[ours].problem, ours))
            continue
        errors = [_error(values, best) for values in (measured[ours].result, own.result)]
        seconds = measured[ours].median, own.median
        rows.append(Row(GROUP, case, ours, peer, *seconds, "s", *errors, error=ERROR, terms=_terms(*errors)))
    return rows


def _error(values: np.ndarray, best: np.ndarray) -> float:
    return float(np.abs(values[: len(best)] / best - 1).max()) if len(best) else math.nan


def _terms(ours: float, peer: float) -> str:
    return "error" if max(ours, peer) < ACCURATE else "rank"
