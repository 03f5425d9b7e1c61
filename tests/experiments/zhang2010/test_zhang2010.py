"""Zhang et al. 2010: labels of the cells, counts of used samples, features, figures."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments.zhang2010 import cells as zhang_cells
from experiments.zhang2010 import features, solvers
from experiments.zhang2010 import tables as zhang2010
from kpca_lab.datasets import DatasetUnavailableError, load_dataset
from kpca_lab.methods.approximate import AKPCA, APCA
from kpca_lab.methods.full import FullKPCA
from kpca_lab.suite.config.composing import compose_many
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Outcome
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.judge.scoreboard import cells_frame

ITEMS = [f"table{number}" for number in range(1, 12)] + ["figure1"]
ITEMS += ["table9_realisations", "table11_realisations"]


COMPLETE = ["table2", "table6", "table9", "table11", "table11_realisations"]


@pytest.fixture(scope="module")
def settings():
    keys = [*((item, "smoke") for item in ITEMS), *((item, "paper") for item in COMPLETE)]
    composed = compose_many([f"+experiment=zhang2010/{item}", f"profile={profile}"] for item, profile in keys)
    return dict(zip(keys, composed))


def records_of(settings, tmp_path, only=None):
    """Records and arrays of the jobs, run here; skips where the data cannot be had."""
    store, item = Store(tmp_path, "smoke"), settings.experiment
    jobs = [job for job in zhang2010.jobs(settings) if only is None or job.dataset["name"] in only]
    for number, job in enumerate(jobs):
        try:
            outcome = experiment.runners[item](job)
        except DatasetUnavailableError as error:
            pytest.skip(f"no data: {error.dataset}")
        assert isinstance(outcome, Outcome)
        store.write(item, f"job{number}", outcome, {})
    store.compact(item, [f"job{number}" for number in range(len(jobs))])
    return with_parameters(store.records(item)), store.arrays(item)


def cells_of(item, records, settings):
    return cells_frame("zhang2010", experiment.cell_makers[f"zhang2010/{item}"](records, asdict(settings)))


def thyroid():
    try:
        return load_dataset("ida/thyroid", realisation=1)
    except DatasetUnavailableError as error:
        pytest.skip(f"no data: {error.dataset}")


@pytest.mark.parametrize("item", [f"table{number}" for number in range(1, 12)])
def test_cells_carry_the_published_labels(item, settings, tmp_path):
    records, _ = records_of(settings[item, "smoke"], tmp_path)
    cells = cells_of(item, records, settings[item, "smoke"])
    published = load_published()
    published = published[published.paper == "zhang2010"]
    known = set(zip(published.table, published.row, published.column))
    found = list(zip(cells.table, cells.row, cells.column))
    assert found and set(found) <= known and len(set(found)) == len(found)
    assert np.isfinite(cells.ours).all()


def test_generated_stand_ins_are_not_judged(settings, tmp_path):
    records, _ = records_of(settings["table2", "smoke"], tmp_path)
    cells = cells_of("table2", records, settings["table2", "smoke"])
    assert not cells[cells.table == "table2"].comparable.any()


@pytest.mark.parametrize("item", COMPLETE[:4])
def test_paper_profile_covers_all_rows_of_the_table(item, settings):
    jobs = zhang2010.jobs(settings[item, "paper"])
    published = load_published()
    rows = published[(published.paper == "zhang2010") & (published.table == item)].row
    labels = {zhang2010.row_label(job.dataset["name"]) for job in jobs}
    assert labels == {row.partition(",")[0] for row in rows}
    assert {job.split for job in jobs if job.dataset["name"] != "gaussian50"} == {1}


def test_realisations_end_where_the_benchmark_does(settings):
    jobs = zhang2010.jobs(settings["table11_realisations", "paper"])
    counts = {}
    for job in jobs:
        counts.setdefault(job.dataset["name"], []).append(job.split)
    assert counts["ida/image"] == list(range(1, 21)) and counts["ida/german"] == list(range(1, 101))


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_printed_algorithms_equal_the_estimators(alpha):
    X = np.random.default_rng(0).standard_normal((200, 6)) * [5, 4, 3, 2, 1, 0.5] + 3
    model = APCA(alpha=alpha).fit(X)
    axes, _ = zhang2010.apca(X, alpha)
    assert axes.shape[1] == model.n_components_
    np.testing.assert_allclose(np.abs(np.sum(axes.T * model.components_, axis=1)), 1, rtol=1e-9)
    exact = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
    axes, _ = zhang2010.pca(X, alpha)
    np.testing.assert_allclose(np.abs(np.sum(axes.T * exact[: axes.shape[1]], axis=1)), 1, rtol=1e-9)


def test_rule_of_the_tables_is_the_printed_one_on_centred_data():
    X = np.random.default_rng(1).standard_normal((300, 4))
    X -= X.mean(axis=0)
    for alpha in (0.1, 0.2, 0.3):
        assert zhang2010.used_of_the_tables(X, alpha) == APCA(alpha=alpha).fit(X).n_used_


def test_used_samples_of_thyroid_are_the_printed_ones():
    X = thyroid().X
    assert [zhang2010.used_of_the_tables(X, alpha) for alpha in (0.3, 0.2, 0.1)] == [34, 49, 76]
    assert [AKPCA(gamma=2.0, alpha=alpha).fit(X).n_used_ for alpha in (0.3, 0.2, 0.1)] == [114, 122, 131]


def test_features_as_described_are_those_of_the_estimators():
    rng = np.random.default_rng(2)
    X, T = rng.standard_normal((60, 3)), rng.standard_normal((20, 3))
    found = {
        (method, metric): rest
        for _, method, metric, *rest in features.kernel_features(X, T, [0.3], gamma=2.0)
    }
    m, train, test = found["akpca", "accuracy_as_described"]
    model = AKPCA(gamma=2.0, alpha=0.3).fit(X)
    assert m == model.n_used_
    for ours, rows in ((train, X), (test, T)):
        np.testing.assert_allclose(np.abs(ours), np.abs(model.transform(rows)), atol=1e-8)
    _, train, test = found["full", "accuracy"]
    model = FullKPCA(train.shape[1], gamma=2.0).fit(X)
    np.testing.assert_allclose(np.abs(test), np.abs(model.transform(T)), atol=1e-8)


def test_accuracy_is_that_of_scikit_learn():
    from sklearn.svm import SVC

    rng = np.random.default_rng(3)
    X, T = rng.standard_normal((80, 2)), rng.standard_normal((50, 2))
    y, t = (np.where(np.prod(rows, axis=1) > 0, 1, -1) for rows in (X, T))
    expected = np.mean([SVC(C=C, gamma=2.0).fit(X, y).score(T, t) for C in (1, 10)])
    assert features.mean_accuracy(X, y, T, t, 2.0, (1, 10)) == pytest.approx(expected)


def test_table_9_of_thyroid_comes_out():
    data = thyroid()
    found = {}
    for _, method, metric, _, train, test in features.kernel_features(
        data.X, data.X_test, (0.1, 0.2, 0.3), gamma=2.0
    ):
        value = features.mean_accuracy(train, data.y, test, data.y_test, 2.0, features.COSTS)
        found.setdefault((method, metric), []).append(round(value, 4))
    assert found["full", "accuracy"] == [0.7867, 0.7467, 0.9733]
    assert found["akpca", "accuracy"] == [0.92, 0.9467, 0.9467]


def test_table_11_of_thyroid_comes_out():
    data = thyroid()
    found = {}
    for _, method, metric, _, train, test in features.linear_features(data.X, data.X_test, (0.1, 0.2, 0.3)):
        value = features.mean_accuracy(train, data.y, test, data.y_test, 2.0, features.COSTS)
        found.setdefault((method, metric), []).append(round(value, 4))
    assert found["pca", "accuracy"] == [0.9822, 0.96, 0.96]
    assert found["apca", "accuracy"] == [0.9822, 0.9822, 0.96]


@pytest.mark.parametrize("item", ["figure1", "table11_realisations"])
def test_figures_are_drawn_from_smoke_records(item, settings, tmp_path):
    records, arrays = records_of(settings[item, "smoke"], tmp_path)
    assert isinstance(experiment.figure_makers[f"zhang2010/{item}"](records, arrays), Figure)


def test_readings_hold_the_one_that_is_used():
    rng = np.random.default_rng(4)
    X, T = rng.standard_normal((40, 3)), rng.standard_normal((10, 3))
    used = {
        (method, metric): rest
        for _, method, metric, *rest in features.kernel_features(X, T, [0.2], gamma=2.0)
    }
    rows, train, test = features.akpca_readings(X, T, 0.2, gamma=2.0)["unsorted samples, not centred"]
    np.testing.assert_allclose(train, used["akpca", "accuracy"][1])
    np.testing.assert_allclose(test, used["akpca", "accuracy"][2])
    assert len(rows) == len(X)
    tried = {
        "akpca": features.akpca_readings(X, T, 0.2, gamma=2.0),
        "apca": features.apca_readings(X, T, 0.2),
        "pca": features.pca_readings(X, T, 0.2),
    }
    told = {method: len(readings) for method, readings in tried.items()}
    assert told == zhang_cells.READINGS_OF_FEATURES


def test_the_usual_solver_gives_the_accuracy_of_table_9():
    composed = compose_many(
        [f"+experiment=zhang2010/{item}", "profile=smoke"] for item in ("table9_solvers", "table9")
    )
    try:
        rows = solvers.solver_run(*solvers.solver_jobs(composed[0])).rows
    except DatasetUnavailableError as error:
        pytest.skip(f"the data of {error.dataset} cannot be had here")
    found = with_parameters(pd.DataFrame(rows)).query("metric == 'accuracy' and order == 'as given'")
    found = found.set_index(["solver", "features"])["value"]
    expected = with_parameters(pd.DataFrame(zhang2010.accuracy_run(*zhang2010.jobs(composed[1])).rows))
    expected = expected.query("method == 'akpca' and alpha == 0.1").set_index("metric")["value"]
    assert found["libsvm", "chosen"] == expected["accuracy"]
    assert found["libsvm", "as described"] == expected["accuracy_as_described"]
    assert found.between(0, 1).all() and found.nunique() > 2
