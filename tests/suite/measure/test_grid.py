"""Every method on every data set, by plain composition with tiny sizes."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from threadpoolctl import threadpool_limits

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.methods.full import FullKPCA
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.measure import workbench
from kpca_lab.suite.measure.evaluate import evaluate
from kpca_lab.suite.measure.samples import load_samples

CONF = Path(__file__).resolve().parents[3] / "conf"
OF_THE_USER = ("csv", "npy", "npz", "parquet")
RANDOM = {"random_features", "orthogonal_features"}
WITHOUT_OPERATOR = {*RANDOM, "sklearn_kernel_pca", "sklearn_nystroem"}
METHODS = sorted(path.stem for path in (CONF / "method").glob("*.yaml"))
DATASETS = sorted(
    path.relative_to(CONF / "dataset").with_suffix("").as_posix()
    for path in (CONF / "dataset").rglob("*.yaml")
    if path.stem not in OF_THE_USER
)


# Forty samples can be too few for the elastic net.
@pytest.mark.filterwarnings("ignore:No coefficient is left")
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_method_runs_on_every_data_set(dataset):
    settings = compose_settings(
        [
            f"dataset={dataset}",
            f"method=[{','.join(METHODS)}]",
            "selector=random",
            "n_train=40",
            "n_basis=8",
            "n_components=2",
            "metric=[empirical_error,distance,residual_outside_scores]",
        ]
    )
    (job,) = make_plan(settings).jobs.values()
    try:
        with threadpool_limits(1):  # for matrices this small more threads only get in each other's way
            rows = evaluate(job).rows
    except DatasetUnavailableError:
        pytest.skip(f"the data of {dataset} cannot be had here")
    failed = {row["method"] for row in rows if row["status"] == "failed"}
    # Of polynomials there are no random features; scikit-learn refuses some matrices near the identity.
    assert failed - {"sklearn_kernel_pca"} == (set() if job.kernel["kernel"] == "rbf" else RANDOM)
    assert {row["method"] for row in rows if row["status"] == "inapplicable"} == WITHOUT_OPERATOR - failed
    expected = set(METHODS) - failed
    for metric, without in (("empirical_error", WITHOUT_OPERATOR), ("residual_outside_scores", set())):
        errors = {row["method"]: row["value"] for row in rows if row["metric"] == metric}
        errors = {name: value for name, value in errors.items() if value is not None}
        assert set(errors) == expected - without
        assert np.isfinite(list(errors.values())).all() and min(errors.values()) >= 0
        # None of the approximations in the feature space of full kernel PCA has a smaller error.
        others = [error for name, error in errors.items() if name not in ("pca", "apca")]
        assert min(others) >= errors["full"] * (1 - 1e-6)


def measured(*words):
    (job,) = make_plan(compose_settings(["n_components=3", *words])).jobs.values()
    return evaluate(job).rows


def test_a_metric_that_a_method_does_not_have_is_no_failure():
    rows = measured("method=sklearn_nystroem", "n_train=40", "n_basis=10", "metric=[empirical_error,runtime]")
    assert [(row["metric"], row["status"]) for row in rows] == [
        ("empirical_error", "inapplicable"),
        ("runtime", "done"),
    ]
    assert "residual_outside_scores" in rows[0]["error"]


def test_the_gap_is_exact_for_few_samples_and_a_bound_for_more(monkeypatch):
    words = ["method=[subset,reduced,full]", "n_train=80", "n_basis=20", "metric=[gap]"]
    exact = {row["method"]: row["value"] for row in measured(*words)}
    monkeypatch.setattr(FullKPCA, "fit", lambda *given: pytest.fail("full KPCA is computed"))
    monkeypatch.setattr(workbench, "FLOOR_BASIS", 40)
    words[0] = "method=[subset,reduced]"
    bound = {row["method"]: row["value"] for row in measured(*words, "+metrics.gap.params.most_samples=79")}
    assert exact["full"] == pytest.approx(0, abs=1e-9)
    for name, value in bound.items():
        assert 0 < exact[name] <= value < exact[name] + 0.2


def test_the_default_metrics_of_a_large_run_need_no_full_kernel_pca(monkeypatch):
    monkeypatch.setattr(FullKPCA, "fit", lambda *given: pytest.fail("full KPCA is computed"))
    rows = measured("n_train=2001", "n_basis=20")
    assert [(row["metric"], row["status"]) for row in rows] == [("empirical_error", "done"), ("gap", "done")]


def test_the_width_of_own_data_follows_their_median_distance(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 4)) * [1, 10, 100, 1000]
    np.save(tmp_path / "own.npy", X)
    plan = make_plan(compose_settings(["dataset=npy", f"dataset.options.path={tmp_path / 'own.npy'}"]))
    (job,) = plan.jobs.values()
    (row, _) = evaluate(job).rows
    train = load_samples(job).train
    gamma = 1 / np.median(pdist(train, "sqeuclidean"))
    assert row["kernel"] == f"rbf(gamma={gamma:.6g})" and row["dataset"] == "own.npy"
    assert row["error"] == "" and plan.records_name.startswith("custom/own-")


def test_files_of_one_name_have_records_of_their_own(tmp_path):
    names = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "x.npy", np.eye(5))
        words = ["dataset=npy", f"dataset.options.path={tmp_path / folder / 'x.npy'}"]
        for more in ([], ["n_train=4"], ["seed=2"]):
            names.add(make_plan(compose_settings([*words, *more])).records_name)
    assert len(names) == 2


def test_rows_name_the_kernel_that_was_used_and_no_ratio_of_rounding():
    settings = compose_settings(
        [
            "dataset=artificial2d",
            "method=[full,apca,pca]",
            "n_train=60",
            "n_components=2",
            "metric=[normalized_empirical_error]",
        ]
    )
    (job,) = make_plan(settings).jobs.values()
    rows = {row["method"]: row for row in evaluate(job).rows}
    assert rows["full"]["kernel"].startswith("rbf(") and rows["full"]["value"] == 1.0
    assert [rows[name]["kernel"] for name in ("apca", "pca")] == ["linear", "linear"]
    assert [rows[name]["value"] for name in ("apca", "pca")] == [1.0, 1.0]  # no error is left in the plane
