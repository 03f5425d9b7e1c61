"""The benchmark for benchopt runs, and what it measures is in order: nothing is below full kernel PCA."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

benchopt = pytest.importorskip("benchopt")
FOLDER = Path(__file__).resolve().parents[1] / "benchopt"
SOLVERS = ["FullKPCA", "SubsetKPCA[n_basis=50]", "sklearn KernelPCA", "sklearn Nystroem and PCA[n_basis=50]"]


def test_all_solvers_run_and_none_is_below_full_kernel_pca(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "kernel_pca", ignore=shutil.ignore_patterns("outputs", "__*"))
    written = benchopt.run_benchmark(
        str(folder),
        solver_names=SOLVERS,
        dataset_names=["simulated[n_samples=120]"],
        max_runs=1,
        n_repetitions=1,
        plot_result=False,
    )
    results = pd.read_parquet(written).groupby("solver_name")["objective_value"].last()
    assert results.index.str.startswith("SubsetKPCA").sum() == 4
    best = results["FullKPCA"]
    assert 0 < best < 1
    assert results["sklearn KernelPCA[eigen_solver=arpack]"] == pytest.approx(best, rel=1e-6)
    others = results[results.index.str.contains("n_basis")]
    assert (others >= best * (1 - 1e-9)).all() and (others < 1).all()
