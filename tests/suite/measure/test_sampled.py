"""Measures on samples of the rows."""

import numpy as np
import pytest

from kpca_lab import FullKPCA
from kpca_lab.metrics import empirical_error
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.measure.evaluate import evaluate
from kpca_lab.suite.measure.samples import load_samples

METRICS = (
    "residual_outside_scores",
    "sampled_error",
    "sampled_validation_error",
    "sampled_gap",
    "neighbour_accuracy",
    "svm_accuracy",
    "transform_time",
    "fit_memory",
)


@pytest.fixture(scope="module")
def measured():
    settings = compose_settings(
        [
            "dataset=uneven_clusters",
            "n_train=400",
            "n_basis=40",
            "n_components=3",
            "method=[full,subset,pca,random_features]",
            f"metric=[{','.join(METRICS)}]",
            *(f"+metrics.{name}.params.max_samples=250" for name in METRICS if name != "fit_memory"),
        ]
    )
    (job,) = make_plan(settings).jobs.values()
    rows = evaluate(job).rows
    assert {row["status"] for row in rows} == {"done", "inapplicable"}
    return job, {(row["method"], row["metric"]): row["value"] for row in rows}


def test_no_method_has_less_error_than_kernel_pca_of_the_judging_rows(measured):
    _, values = measured
    assert 0 < values["full", "sampled_gap"] < values["subset", "sampled_gap"]
    floor = values["full", "sampled_error"] / (1 + values["full", "sampled_gap"])
    assert floor == pytest.approx(values["subset", "sampled_error"] / (1 + values["subset", "sampled_gap"]))
    for method in ("full", "subset", "pca", "random_features"):
        assert values[method, "residual_outside_scores"] >= floor


def test_of_few_rows_the_sampled_error_is_the_empirical_one_and_full_kernel_pca_has_no_gap():
    metrics = "metric=[sampled_error,sampled_gap,residual_outside_scores]"
    settings = compose_settings(["dataset=artificial2d", "n_train=80", "method=full", metrics])
    (job,) = make_plan(settings).jobs.values()
    X = load_samples(job).train
    values = {row["metric"]: row["value"] for row in evaluate(job).rows}
    expected = empirical_error(FullKPCA(5, gamma=0.1).fit(X), X)
    assert values["sampled_error"] == pytest.approx(expected, rel=1e-9)
    assert values["sampled_gap"] == pytest.approx(0, abs=1e-9)
    assert values["residual_outside_scores"] == pytest.approx(expected, rel=1e-6)


def test_a_linear_method_is_judged_in_the_feature_space_of_the_others(measured):
    _, values = measured
    assert values["pca", "sampled_error"] is None
    assert values["full", "residual_outside_scores"] < values["pca", "residual_outside_scores"] < 1


def test_scores_of_clusters_tell_them_apart(measured):
    job, values = measured
    largest = np.bincount(load_samples(job).labels).max() / len(load_samples(job).labels)
    for measure in ("neighbour_accuracy", "svm_accuracy"):
        assert largest < values["full", measure] <= 1


def test_time_and_memory_are_measured(measured):
    _, values = measured
    for method in ("full", "subset", "pca", "random_features"):
        assert values[method, "transform_time"] > 0
    # 400 x 400 numbers in double precision, at least.
    assert values["full", "fit_memory"] > 400**2 * 8 / 2**20 > values["subset", "fit_memory"] / 4


def test_targets_that_are_no_classes_have_no_accuracy():
    settings = compose_settings(
        [
            "dataset=swiss_roll_hole",
            "n_train=60",
            "n_basis=10",
            "n_components=2",
            "dataset.split.kind=random",
            "metric=[neighbour_accuracy,svm_accuracy]",
        ]
    )
    (job,) = make_plan(settings).jobs.values()
    assert [row["status"] for row in evaluate(job).rows] == ["inapplicable"] * 2
