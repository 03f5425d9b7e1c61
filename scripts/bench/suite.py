"""What the suite adds to the computing: shared kernel values, the cost of a job, a run with nothing to do."""

import subprocess
import sys
import tempfile
import time

import numpy as np
from threadpoolctl import threadpool_limits

from kpca_lab import FullKPCA, NystromKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.kernel_table import KernelTable, use_table
from kpca_lab.metrics import empirical_error, operator_distance
from kpca_lab.suite.cores import available_cores
from scripts.bench import samples
from scripts.bench.clock import ROOT, problem_text, side_by_side
from scripts.bench.rows import Row, failed

GROUP = "suite"


def measure(quick: bool) -> list[Row]:
    """All rows; the smoke run is for the full bench only, since the first one takes most of a minute."""
    rows = _table(quick)
    if quick:
        return [
            *rows,
            failed(GROUP, "smoke run", "the first smoke run", "not measured: BENCH=full does", "again"),
        ]
    for case, part in (("overhead per job of a sweep", _sweep), ("smoke run", _smoke)):
        try:
            rows += part()
        except (OSError, subprocess.SubprocessError) as error:
            rows.append(failed(GROUP, case, "", problem_text(error)))
    return rows


def _table(quick: bool) -> list[Row]:
    """Three methods and full KPCA at three kernel widths: kernel values of one table, or each its own."""
    X = samples.pictures(1000 if quick else 2000, 256)
    basis = np.random.default_rng(1).choice(len(X), len(X) // 5, replace=False)

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

    case = f"three methods and FullKPCA at three widths, n = {len(X)}, d = 256, m = {len(basis)}, r = 50"
    rows = []
    for threads in (1, available_cores()):
        with threadpool_limits(threads):
            measured = side_by_side({"table": with_table, "none": compare}, 2 if quick else 3)
        rows.append(
            Row(GROUP, case, f"KernelTable, BLAS threads: {threads}", "no table", measured["table"].median,
                measured["none"].median, terms="work",
                note="fits, errors and distances; the workers of the suite have one thread")
        )  # fmt: skip
    return rows


def _sweep() -> list[Row]:
    """What a job of a sweep costs beside its own computing, of which there is next to none here."""
    few, many = 4, 44
    trivial = ["dataset=artificial2d", "n_train=10", "n_basis=2", "n_components=1", "metric=empirical_error"]

    def sweep(launcher, jobs):
        with tempfile.TemporaryDirectory() as folder:
            words = [f"hydra/launcher={launcher}", f"seed=range(0,{jobs})", f"results_dir={folder}"]
            _python("-m", "experiments.run", "-m", *trivial, *words)

    def per_job(launcher):
        measured = side_by_side(
            {str(jobs): lambda jobs=jobs: sweep(launcher, jobs) for jobs in (few, many)}, 2
        )
        return (measured[str(many)].median - measured[str(few)].median) / (many - few)

    return [
        Row(GROUP, "overhead per job of a sweep", "hydra/launcher=pool", "hydra/launcher=joblib",
            per_job("pool"), per_job("joblib"), terms="work", aim="ours < 0.05 s",
            note=f"sweeps of {many} and {few} trivial jobs, the difference per job")
    ]  # fmt: skip


def _smoke() -> list[Row]:
    """The smoke tables, and the same again with nothing to do."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("-m", "experiments.reproduce", "tables", "--profile", "smoke", "--results-dir", folder)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            _python(*words)
            seconds.append(time.perf_counter() - start)
    return [
        Row(GROUP, "smoke run of all tables", "again, nothing to do", "the first time", min(seconds[1:]),
            seconds[0], terms="result", aim="ours <= 2 s")
    ]  # fmt: skip


def _python(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True, cwd=ROOT, timeout=300)
