"""Runs: what is skipped and what is computed again, and how jobs that go wrong are dealt with."""

import dataclasses
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.datasets.fetch import sha256_of
from kpca_lab.datasets.registry import FILE_SETS
from kpca_lab.kernel_table import KernelTable
from kpca_lab.kernels import TABLE_IN_USE
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.reduced import ReducedKPCA
from kpca_lab.selectors import RandomSelector
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine import runner
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.jobs import COLUMNS, Job, Outcome, grid_jobs, row
from kpca_lab.suite.measure import samples
from kpca_lab.suite.measure.evaluate import evaluate

ROOT = Path(__file__).resolve().parents[3]
METRICS = "metric=[normalized_empirical_error,distance_per_component]"
PLAIN = {"params": {}, "size_parameter": None, "nested": True}


@pytest.fixture(scope="module")
def base():
    return compose_settings(["n_train=40", "n_components=3", "n_basis=8", METRICS])


def settings(base, folder, *methods, **changes):
    """Settings of a run with methods of this package (names) or of engine_probe (capital names)."""
    chosen = {
        name: {
            **PLAIN,
            "target": f"engine_probe.{name}" if name[0].isupper() else f"kpca_lab.{name.title()}KPCA",
        }
        for name in methods
    }
    return dataclasses.replace(base, methods=chosen, results_dir=str(folder), **changes)


def go(chosen):
    plan, lines = make_plan(chosen), io.StringIO()
    summary = run([plan], stream=lines)
    return plan, summary, lines.getvalue()


def test_done_jobs_are_skipped_changed_ones_recomputed_and_force_recomputes_all(base, tmp_path):
    first = settings(base, tmp_path, "reduced", seeds=[0, 1])
    plan, summary, _ = go(first)
    assert (summary.computed, summary.kept, summary.exit_code) == (2, 0, 0)
    path = plan.store.records_path(plan.records_name)
    records = path.read_text()
    stamps = {entry: entry.stat().st_mtime_ns for entry in tmp_path.rglob("*.json") if "jobs" in entry.parts}

    _, summary, _ = go(first)
    assert (summary.computed, summary.kept) == (0, 2)
    assert path.read_text() == records
    assert all(entry.stat().st_mtime_ns == stamp for entry, stamp in stamps.items())

    _, summary, _ = go(dataclasses.replace(first, seeds=[0, 1, 2]))
    assert (summary.computed, summary.kept) == (1, 2)
    _, summary, _ = go(dataclasses.replace(first, n_basis=[9]))
    assert (summary.computed, summary.kept) == (2, 0)
    _, summary, _ = go(dataclasses.replace(first, force=True))
    assert (summary.computed, summary.kept) == (2, 0)


def test_records_alone_are_enough_to_skip_and_data_are_not_touched(base, tmp_path, monkeypatch):
    chosen = settings(base, tmp_path, "reduced", seeds=[0, 1])
    plan, _, _ = go(chosen)
    shutil.rmtree(tmp_path / base.profile / "jobs")
    monkeypatch.setattr(runner, "fetch_data", lambda dataset: pytest.fail("data was asked for"))
    before = plan.store.records_path(plan.records_name).read_bytes()
    _, summary, _ = go(chosen)
    assert (summary.computed, summary.kept) == (0, 2)
    assert plan.store.records_path(plan.records_name).read_bytes() == before


@pytest.mark.filterwarnings("ignore::kpca_lab.datasets.DataVariantWarning")
def test_a_substitute_gives_way_to_the_exact_file_also_where_all_jobs_are_done(tmp_path, monkeypatch):
    for key, value in {"CACHE": tmp_path / "cache", "MIRROR": tmp_path / "mirror", "OFFLINE": 1}.items():
        monkeypatch.setenv(f"KPCA_LAB_{key}", str(value))
    exact, rounded = (tmp_path / "mirror/concrete/a.xls", tmp_path / "cache/concrete/b.pkl")
    for path in (exact, rounded):
        path.parent.mkdir(parents=True)
        path.write_text(path.name)
    given = FILE_SETS["concrete"].files[0]
    second = dataclasses.replace(given.substitute, path="concrete/b.pkl", sha256=(sha256_of(rounded),))
    first = dataclasses.replace(given, path="concrete/a.xls", sha256=(sha256_of(exact),), substitute=second)
    monkeypatch.setitem(FILE_SETS, "concrete", dataclasses.replace(FILE_SETS["concrete"], files=(first,)))
    chosen = compose_settings(["dataset=concrete", f"results_dir={tmp_path}"])
    ((id, job),) = make_plan(chosen).jobs.items()
    store = make_plan(chosen).store
    store.write(chosen.experiment, id, Outcome([row(job, "empirical_error", 0.5)]), {})
    begun = []

    def again():
        return run([make_plan(chosen)], compute=lambda tasks, *_: begun.extend(task.id for task in tasks))

    away = exact.rename(tmp_path / "away")
    assert again().kept == 1 and not begun and rounded.exists()
    away.rename(exact)
    assert again().kept == 0 and begun == list(make_plan(chosen).jobs) and begun != [id]
    assert not rounded.exists()


def test_records_have_the_columns_and_types_agreed(base, tmp_path):
    plan, _, _ = go(settings(base, tmp_path, "reduced", "full"))
    records = plan.store.records(plan.records_name)
    assert tuple(records.columns) == COLUMNS
    assert set(records["metric"]) == {"normalized_empirical_error", "distance_per_component"}
    reduced, full = (records[records["method"] == name].iloc[0] for name in ("reduced", "full"))
    assert (reduced["m"], reduced["r"], reduced["selector"]) == (8, 3, "random")
    assert full["m"] is not full["m"] or full.isna()["m"]
    assert full["selector"] == "" and full["kernel"] == "rbf(gamma=0.1)"
    assert (records["status"] == "done").all() and set(records["job"]) == set(plan.jobs)
    environment = json.loads((plan.store.root / "custom" / "environment.json").read_text())
    assert {"date", "cpu", "blas", "threads", "workers", "commit", "packages"} <= environment.keys()


def test_full_kernel_pca_measured_against_itself_is_exact(base, tmp_path):
    plan, _, _ = go(settings(base, tmp_path, "full"))
    values = plan.store.records(plan.records_name).set_index("metric")["value"]
    assert values["normalized_empirical_error"] == pytest.approx(1.0, abs=1e-12)
    assert values["distance_per_component"] == pytest.approx(0.0, abs=1e-10)


def test_a_failing_method_is_recorded_shown_at_once_and_stops_nothing(base, tmp_path):
    chosen = settings(base, tmp_path, "Failing", "reduced", seeds=[0, 1])
    plan, summary, shown = go(chosen)
    records = plan.store.records(plan.records_name)
    bad, good = records[records["status"] == "failed"], records[records["status"] == "done"]
    assert len(bad) == 2 and len(good) == 4 and set(good["method"]) == {"reduced"}
    assert bad["error"].str.contains("ValueError: this method always fails").all()
    assert bad["error"].str.contains("engine_probe.py").all() and bad["value"].isna().all()
    assert "this method always fails" in shown
    assert summary.exit_code == 1 and len(summary.failures) == 2
    assert "2 failed" in summary.text() and "this method always fails" in summary.text()
    _, again, _ = go(chosen)
    assert again.computed == 2, "what failed is tried again"


def test_a_job_over_its_time_is_stopped_and_recorded(base, tmp_path):
    chosen = settings(base, tmp_path, "Endless", "reduced", limits={"seconds": 0.4, "memory_mb": None})
    plan, summary, shown = go(chosen)
    (found,) = plan.store.records(plan.records_name).to_dict("records")
    assert found["status"] == "timeout" and found["error"] == "over the time limit of 0.4 s"
    assert summary.exit_code == 1 and "timeout" in shown
    _, again, _ = go(chosen)
    assert again.computed == 0, "the same limit would be met again"
    assert again.exit_code == 1 and again.failures == summary.failures, "and it is still a failure"
    plan.settings = dataclasses.replace(chosen, limits={"seconds": 0.5, "memory_mb": None})
    assert not plan.store.settled(plan.name, plan.accepted_errors), "a wider one may not"


def test_a_job_over_its_memory_is_stopped_and_recorded(base, tmp_path):
    plan, summary, _ = go(settings(base, tmp_path, "Hungry", limits={"seconds": 60.0, "memory_mb": 600.0}))
    (found,) = plan.store.records(plan.records_name).to_dict("records")
    assert found["status"] == "memory" and "600 MB" in found["error"]
    assert summary.exit_code == 1


def test_a_worker_that_dies_is_recorded_and_replaced(base, tmp_path):
    dying = settings(base, tmp_path, "Dying")
    sound = settings(base, tmp_path, "reduced", seeds=[0, 1, 2])
    plans = [make_plan(dying), make_plan(sound)]
    summary = run(plans, stream=io.StringIO())
    assert [entry.error for entry in summary.failures] == ["the worker process died: signal SIGKILL"]
    assert summary.computed == 4
    assert all(plans[1].store.is_settled(plans[1].name, job) for job in plans[1].jobs)


def test_workers_hold_blas_to_their_share_of_the_cores(base, tmp_path):
    metric = {"first_eigenvalue": {"target": "engine_probe.first_eigenvalue", "params": {}}}
    chosen = settings(base, tmp_path, "Threads", metrics=metric, seeds=range(2 * available_cores()))
    plan, _, _ = go(chosen)
    assert set(plan.store.records(plan.records_name)["value"]) == {1.0}


def test_missing_data_is_skipped_with_the_command_and_the_rest_runs(base, tmp_path, monkeypatch):
    def refuse(dataset):
        if dataset["name"] == "gaussian50":
            raise DatasetUnavailableError("gaussian50", [], "")

    monkeypatch.setattr(runner, "fetch_data", refuse)
    both = {"artificial2d": base.datasets["artificial2d"]}
    both["gaussian50"] = {**base.datasets["artificial2d"], "name": "gaussian50", "options": {}}
    kernels = dict.fromkeys(both, base.kernels["artificial2d"])
    plan, summary, _ = go(settings(base, tmp_path, "reduced", datasets=both, kernels=kernels))
    assert summary.exit_code == 0 and summary.computed == 1
    assert "skipped, without gaussian50" in summary.text()
    assert "python -m kpca_lab.datasets fetch gaussian50" in summary.text()
    assert set(plan.store.records(plan.records_name)["dataset"]) == {"artificial2d"}


def test_one_selection_and_one_reference_serve_all_methods(base, monkeypatch):
    calls = []
    for owner, name in ((FullKPCA, "fit"), (RandomSelector, "select")):
        original = getattr(owner, name)

        def counted(*arguments, _original=original, _name=name, **options):
            calls.append(_name)
            return _original(*arguments, **options)

        monkeypatch.setattr(owner, name, counted)
    chosen = settings(base, "unused", "reduced", "nystrom", "subset", "full", n_components=[2, 3])
    outcome = evaluate(grid_jobs(chosen)[0])
    assert calls.count("fit") == 1 and calls.count("select") == 1
    assert {(entry["method"], entry["r"]) for entry in outcome.rows} == {
        (method, r) for method in ("reduced", "nystrom", "subset", "full") for r in (2, 3)
    }


def test_one_fit_for_all_ranks_gives_what_separate_fits_give(base):
    methods = ("subset", "reduced", "nystrom", "full")
    together = evaluate(grid_jobs(settings(base, "unused", *methods, n_components=[2, 3]))[0]).rows
    for r in (2, 3):
        alone = evaluate(grid_jobs(settings(base, "unused", *methods, n_components=[r]))[0]).rows
        shared = [entry for entry in together if entry["r"] == r]
        np.testing.assert_allclose(
            [entry["value"] for entry in shared], [entry["value"] for entry in alone], rtol=1e-6, atol=1e-9
        )


def test_rows_tell_settings_that_have_no_column_of_their_own(tmp_path):
    for size in (30, 40):
        composed = compose_settings(
            [f"n_train={size}", "n_basis=5", "n_components=2", "seed=1", "center=false"]
        )
        plan, _, _ = go(dataclasses.replace(composed, results_dir=str(tmp_path)))
    records = plan.store.records(plan.records_name)
    own = [json.loads(text) for text in records["parameters"]]
    assert {entry["n_train"] for entry in own} == {30, 40}, "one run does not replace the other"
    assert {frozenset(entry) for entry in own} == {frozenset({"n_train", "center"})}


def test_what_an_experiment_does_not_depend_on_cannot_be_changed():
    chosen = ["+experiment=zhang2010/table2", "profile=smoke"]
    assert make_plan(compose_settings([*chosen, "n_trials=2"])).records_name == "custom/zhang2010/table2"
    with pytest.raises(ConfigError, match=r"n_basis does not .* depends on: dataset, "):
        make_plan(compose_settings([*chosen, "n_basis=10"]))


def test_runs_of_ones_own_leave_the_environment_of_the_papers_alone(tmp_path):
    options = ["profile=smoke", f"results_dir={tmp_path}"]
    paper = make_plan(compose_settings(["+experiment=wang2016/figure1", *options]))
    run([paper], stream=io.StringIO())
    written = (tmp_path / "smoke" / "environment.json").stat().st_mtime_ns
    own = make_plan(compose_settings(["n_train=20", "n_basis=5", *options]))
    run([own], stream=io.StringIO())
    assert (tmp_path / "smoke" / "environment.json").stat().st_mtime_ns == written
    assert (tmp_path / "smoke" / "custom" / "environment.json").is_file()


def test_more_components_than_samples_are_refused(base, tmp_path):
    (job,) = grid_jobs(settings(base, tmp_path, "reduced", n_components=[2, 41]))
    with pytest.raises(ValueError, match="n_components=41 is more than the number of samples, 40"):
        evaluate(job)


@pytest.fixture
def distances_of(monkeypatch):
    """Numbers of the samples whose distances to all others were computed in this process."""
    numbers, original = [], KernelTable._square_distances
    monkeypatch.setattr(
        KernelTable, "_square_distances", lambda self, rows: numbers.extend(rows) or original(self, rows)
    )
    monkeypatch.setattr(samples, "_last", {})
    return numbers


METHODS = ("subset", "reduced", "nystrom", "cholesky", "full")


def test_one_distance_matrix_serves_all_methods_and_kernel_widths(base, distances_of):
    kernels = {"artificial2d": [{**base.kernels["artificial2d"][0], "gamma": gamma} for gamma in (0.1, 0.3)]}
    for job in grid_jobs(settings(base, "unused", *METHODS, kernels=kernels)):
        evaluate(job)
    assert sorted(distances_of) == list(range(40))


def test_shared_kernel_values_change_no_result(base, monkeypatch):
    job = grid_jobs(settings(base, "unused", *METHODS, n_basis=[8, 20]))[0]
    shared = evaluate(job).rows
    monkeypatch.setattr(samples, "_last", {})
    monkeypatch.setattr(KernelTable, "fits", lambda n: False)
    alone = evaluate(job).rows
    assert [entry["method"] for entry in shared] == [entry["method"] for entry in alone]
    np.testing.assert_allclose(
        [entry["value"] for entry in shared], [entry["value"] for entry in alone], rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize("metric", ["runtime", "peak_memory"])
def test_nothing_is_taken_from_a_table_where_time_or_memory_is_measured(base, distances_of, metric):
    metrics = {metric: {"target": f"kpca_lab.suite.measure.run_metrics.{metric}", "params": {}}}
    fits = []
    original = ReducedKPCA.fit

    def fit(self, X, y=None):
        fits.append(TABLE_IN_USE.get())
        return original(self, X, y)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReducedKPCA, "fit", fit)
        evaluate(grid_jobs(settings(base, "unused", "reduced", metrics=metrics))[0])
    assert fits[-1] is None and len(fits) == (1 if metric == "runtime" else 2)


def test_jobs_on_the_same_samples_follow_each_other(base, tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(runner.Progress, "begin", lambda self, label: begun.append(label))
    own = base.kernels["artificial2d"][0]
    plans = [
        make_plan(settings(base, tmp_path, "reduced", seeds=[0, 1], kernels={"artificial2d": [kernel]}))
        for kernel in ({**own, "gamma": 1.0}, {**own, "gamma": 2.0})
    ]
    run(plans, stream=io.StringIO())
    assert [label[-1] for label in begun] == ["0", "0", "1", "1"]


def test_a_file_that_has_changed_is_read_again_by_the_same_workers(tmp_path):
    path, rng = tmp_path / "own.csv", np.random.default_rng(0)
    options = ["dataset=csv", f"dataset.options.path={path}", "n_components=2", "n_basis=5"]
    errors = []
    for _ in range(2):
        np.savetxt(path, rng.standard_normal((30, 3)), delimiter=",")
        chosen = compose_settings([*options, "metric=empirical_error", "kernel.gamma=0.1"])
        plan, _, _ = go(dataclasses.replace(chosen, results_dir=str(tmp_path), workers=1))
        records = plan.store.records(plan.records_name)
        errors += records[records["job"].isin(plan.jobs)]["value"].tolist()
    assert len(errors) == len(set(errors)) == 2


def test_arrays_are_kept_without_pickle_and_go_with_their_job(tmp_path):
    store = Store(tmp_path, "smoke")
    job = Job("custom/arrays")
    outcome = Outcome([row(job, "n", 1.0)], {"grid": np.arange(6.0).reshape(2, 3)})
    store.write("custom/arrays", "a" * 16, outcome, {})
    store.compact("custom/arrays", ["a" * 16])
    np.testing.assert_array_equal(store.arrays("custom/arrays")["a" * 16]["grid"], outcome.arrays["grid"])
    store.compact("custom/arrays", ["b" * 16])
    assert store.arrays("custom/arrays") == {}
    assert not list(tmp_path.rglob("*.npz"))


def test_a_claim_keeps_others_out_and_ends_with_its_process(tmp_path):
    store = Store(tmp_path, "smoke")
    code = "import os, sys; from kpca_lab.suite.engine.store import Store; "
    code += f"claim = Store({str(tmp_path)!r}, 'smoke').claim('x/y', 'job'); print(bool(claim), flush=True); "
    code += "sys.stdin.read(); os._exit(9)"
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert other.stdout.readline().strip() == "True"
    assert store.claim("x/y", "job") is None
    other.kill()
    other.wait()
    other.stdin.close()
    other.stdout.close()
    assert store.claim("x/y", "job") is not None
