"""Speed as ratios: each pair is measured side by side in one run, alternating, and the medians compared.

Needs no network: all data are generated. Writes results/bench/bench.csv, bench.md and environment.json.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.linalg
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

from kpca_lab import (
    CholeskyKPCA,
    FullKPCA,
    HebbianKPCA,
    IncrementalKPCA,
    NystromKPCA,
    ReducedKPCA,
    SubsetKPCA,
)
from kpca_lab.datasets import load_dataset
from kpca_lab.kernel_table import KernelTable, use_table
from kpca_lab.metrics import empirical_error, operator_distance
from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine.environment import write_environment
from kpca_lab.suite.files import write_atomically

RESULTS = Path(__file__).resolve().parents[1] / "results" / "bench"
GAMMA_DIGITS = 10**-5.1


@dataclass
class Row:
    """One comparison: seconds (or megabytes) of ours and of the peer, and the ratio that is aimed at."""

    what: str
    ours: str
    peer: str
    ours_value: float
    peer_value: float
    unit: str = "s"
    aim: str = ""
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours_value / self.peer_value


def side_by_side(ours: Callable, *peers: Callable, repeats: int) -> list[float]:
    """Median seconds of each function, called in turn ``repeats`` times."""
    seconds: list[list[float]] = [[] for _ in range(1 + len(peers))]
    for _ in range(repeats):
        for taken, function in zip(seconds, (ours, *peers)):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in seconds]


def pictures(n: int = 60000, d: int = 784) -> np.ndarray:
    """Samples like MNIST in size, range and spread: mixtures of a few dozen patterns."""
    rng = np.random.default_rng(0)
    patterns = rng.random((40, d)) * (rng.random((40, d)) < 0.3)
    X = np.empty((n, d))
    for rows in range(0, n, 5000):
        weights = rng.dirichlet(np.full(40, 0.1), min(5000, n - rows))
        X[rows : rows + 5000] = np.clip(weights @ patterns + rng.normal(0, 0.1, (len(weights), d)), 0, 1)
    return X


def bench_subset(repeats: int) -> list[Row]:
    """SubsetKPCA on 60000 x 784, m = 1000, r = 145."""
    X, m, r = pictures(), 1000, 145
    basis = X[np.random.default_rng(1).choice(len(X), m, replace=False)]

    def bare():
        products = X @ basis.T
        np.exp(products, out=products)
        square = products.T @ products
        scipy.linalg.eigh(square, driver="evd")

    def ours():
        SubsetKPCA(r, gamma=GAMMA_DIGITS, n_basis=m, random_state=0).fit(X)

    def nystroem_pca():
        features = Nystroem(gamma=GAMMA_DIGITS, n_components=m, random_state=0).fit_transform(X)
        PCA(r, random_state=0).fit(features)

    seconds = side_by_side(ours, bare, nystroem_pca, repeats=repeats)
    case = "fit, n = 60000, d = 784, m = 1000, r = 145"
    return [
        Row(case, "SubsetKPCA", "one GEMM, exp, SYRK and eigh", *seconds[:2], aim="<= 1.3",
            note="the bare work that the method cannot avoid"),
        Row(case, "SubsetKPCA", "scikit-learn Nystroem + PCA", seconds[0], seconds[2], aim="<= 0.6"),
        Row(case, "SubsetKPCA", "the data themselves", subset_memory(), X.nbytes / 2**20, unit="MiB",
            aim="ours <= 300 MB", note="peak resident memory above the data"),
    ]  # fmt: skip


def subset_memory() -> float:
    """Peak resident memory in MiB that a fit adds to the data, in a process of its own."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from bench import pictures, peak_memory, GAMMA_DIGITS\n"
        "from kpca_lab import SubsetKPCA\n"
        "X = pictures(); SubsetKPCA(5, n_basis=50).fit(X[:500])\n"
        "Path('/proc/self/clear_refs').write_text('5'); before = peak_memory()\n"
        "SubsetKPCA(145, gamma=GAMMA_DIGITS, n_basis=1000, random_state=0).fit(X)\n"
        "print(peak_memory() - before)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak_memory() -> float:
    """High-water mark of this process in MiB since it was last reset (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**10


def bench_full(repeats: int) -> list[Row]:
    """FullKPCA on counts like those of the tic data: 8840 x 85, r = 85."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, rng.integers(2, 10, 85), (40, 85))
    X = groups[rng.integers(0, 40, 8840)].astype(float)
    changed = rng.random(X.shape) < 0.02
    X[changed] = rng.integers(0, 10, changed.sum())
    gamma, r = 1 / (2 * X.var()), 85
    found: dict[str, np.ndarray] = {}

    def ours():
        found["ours"] = FullKPCA(r, gamma=gamma).fit(X).eigenvalues_

    def theirs(solver):
        model = KernelPCA(r, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(X)
        found[solver] = model.eigenvalues_

    seconds = side_by_side(
        ours, lambda: theirs("arpack"), lambda: theirs("randomized"), repeats=max(1, repeats // 2)
    )
    case = "fit, n = 8840, d = 85, r = 85"
    rows = []
    for solver, taken in zip(("arpack", "randomized"), seconds[1:]):
        error = np.abs(found[solver] / found["ours"] - 1).max()
        rows.append(
            Row(case, "FullKPCA", f"scikit-learn KernelPCA, {solver}", seconds[0], taken, aim="<= 0.7",
                note=f"largest relative difference of eigenvalues {error:.0e}")
        )  # fmt: skip
    return rows


def bench_forward(repeats: int) -> list[Row]:
    """Forward search, m = 50 of n = 1000, against the literal Algorithm 1."""
    X = load_dataset("artificial2d").X
    options = {"gamma": 0.1, "center": False}

    def fast():
        return SubsetKPCA(5, n_basis=50, selector="forward", **options).fit(X).basis_indices_

    chosen = fast()

    def one_candidate(size):
        candidate = SubsetKPCA(5, basis=np.append(chosen[: size - 1], 999), **options).fit(X)
        empirical_error(candidate, X)

    sizes = (1, 10, 20, 30, 40, 50)
    per_candidate = [side_by_side(lambda size=size: one_candidate(size), repeats=5)[0] for size in sizes]
    every = np.interp(np.arange(1, 51), sizes, per_candidate)
    literal = float(every @ (1000 - np.arange(50)))
    ours = side_by_side(fast, repeats=repeats)[0]
    return [
        Row("forward search, m = 50 of n = 1000, r = 5", "selector='forward'", "literal Algorithm 1",
            ours, literal, aim="<= 0.005",
            note="literal: five candidates timed at six basis sizes, extrapolated to all 50 steps")
    ]  # fmt: skip


def bench_units(repeats: int) -> list[Row]:
    """The other methods beside FullKPCA on 3000 x 20, r = 10."""
    X = pictures(3000, 20)
    common = {"gamma": 0.5}
    full = FullKPCA(10, **common)
    cases = [
        (CholeskyKPCA(10, n_basis=300, **common), 300, "pivot"),
        (NystromKPCA(10, n_basis=300, random_state=0, **common), 300, "basis sample"),
        (HebbianKPCA(10, max_iter=3, tol=0.0, random_state=0, **common), 3, "pass"),
        (IncrementalKPCA(10, **common), 3000, "sample"),
    ]
    rows = []
    for model, units, unit in cases:
        ours, peer = side_by_side(lambda m=model: m.fit(X), lambda: full.fit(X), repeats=repeats)
        rows.append(
            Row("fit, n = 3000, d = 20, r = 10", type(model).__name__, "FullKPCA", ours, peer,
                note=f"{1e3 * ours / units:.3g} ms per {unit}")
        )  # fmt: skip
    return rows


def bench_table(repeats: int) -> list[Row]:
    """Three methods and full KPCA at three kernel widths: kernel values of one table, or each its own."""
    X = pictures(2000, 256)
    basis = np.random.default_rng(1).choice(len(X), 400, replace=False)

    def compare():
        for gamma in (0.03, 0.1, 0.3):
            full = FullKPCA(50, gamma=gamma).fit(X)
            for method in (SubsetKPCA, ReducedKPCA, NystromKPCA):
                model = method(50, gamma=gamma, basis=basis).fit(X)
                empirical_error(model, X)
                operator_distance(model, full)

    def with_table():
        with use_table(KernelTable(X)):
            compare()

    rows = []
    for threads in (1, available_cores()):
        with threadpool_limits(threads):
            seconds = side_by_side(with_table, compare, repeats=repeats)
        rows.append(
            Row("three methods and FullKPCA at three widths, n = 2000, d = 256, m = 400, r = 50",
                f"KernelTable, BLAS threads: {threads}", "no table", *seconds,
                note="fits, errors and distances; the workers of the suite have one thread")
        )  # fmt: skip
    return rows


def bench_sweep(repeats: int) -> list[Row]:
    """What a job of a sweep costs beside its own computing, of which there is next to none here."""
    few, many = 4, 44
    trivial = ["dataset=artificial2d", "n_train=10", "n_basis=2", "n_components=1", "metric=empirical_error"]

    def sweep(launcher, jobs):
        with tempfile.TemporaryDirectory() as folder:
            words = [f"hydra/launcher={launcher}", f"seed=range(0,{jobs})", f"results_dir={folder}"]
            command = [sys.executable, "-m", "kpca_lab.cli.main", "run", "-m", *trivial, *words]
            subprocess.run(command, check=True, capture_output=True, cwd=RESULTS.parents[1])

    def per_job(launcher):
        short, long = side_by_side(
            lambda: sweep(launcher, few), lambda: sweep(launcher, many), repeats=repeats
        )
        return (long - short) / (many - few)

    return [
        Row("overhead per job of a sweep", "hydra/launcher=pool", "hydra/launcher=joblib",
            per_job("pool"), per_job("joblib"), aim="ours < 0.05 s",
            note=f"sweeps of {many} and {few} trivial jobs, the difference per job")
    ]  # fmt: skip


BENCHES = {
    "subset": bench_subset,
    "full": bench_full,
    "forward": bench_forward,
    "units": bench_units,
    "table": bench_table,
    "sweep": bench_sweep,
}


def write(rows: list[Row]) -> None:
    """Write the table, replacing the rows measured now and keeping the others."""
    table = pd.DataFrame([asdict(row) | {"ratio": row.ratio} for row in rows])
    path = RESULTS / "bench.csv"
    if path.exists():
        old = pd.read_csv(path, keep_default_na=False)
        key = ["what", "ours", "peer"]
        kept = old[~old[key].apply(tuple, axis=1).isin(table[key].apply(tuple, axis=1))]
        table = pd.concat([kept, table]) if len(kept) else table
    numbers = ("ours_value", "peer_value", "ratio")
    text = table.assign(**{name: table[name].map(lambda v: f"{float(v):.3g}") for name in numbers})
    columns = [field.name for field in fields(Row)]
    columns.insert(columns.index("unit"), "ratio")
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row[c]) for c in columns) + " |" for _, row in text.iterrows()]
    write_atomically(path, table.to_csv(index=False).encode())
    write_atomically(RESULTS / "bench.md", ("\n".join(lines) + "\n").encode())
    write_environment(RESULTS, workers=1, threads=available_cores())
    print("\n".join(lines))


def main() -> None:
    """Run the benches that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(BENCHES), help="this bench (all by default)")
    parser.add_argument("--repeats", type=int, default=3, help="times each function is called")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.only or BENCHES:
        print(f"measuring {name} ...", flush=True)
        rows += BENCHES[name](arguments.repeats)
    write(rows)


if __name__ == "__main__":
    main()
