"""kpca_lab.suggest: a model that is as good as said, from arrays and sources of rows."""

import json
import tracemalloc

import numpy as np
import pytest

import kpca_lab
from kpca_lab import suggest
from kpca_lab.advice.budget import Budget
from kpca_lab.advice.candidates import Candidate, Task, candidates_for
from kpca_lab.advice.page import page
from kpca_lab.advice.table import table_of
from kpca_lab.metrics import empirical_error
from kpca_lab.rows import as_rows


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((300, 4)) * [3, 2, 1, 1]


@pytest.fixture(scope="module")
def found(X):
    return suggest(X, budget=6, n_components=3, gamma="median", verbose=0)


def test_the_estimator_is_fitted_and_its_error_is_the_one_told(found, X):
    assert found.fitted and found.checked_rows == len(X)
    assert found.error == pytest.approx(empirical_error(found.estimator, X), rel=1e-6)
    full = empirical_error(kpca_lab.FullKPCA(3, gamma=found.gamma).fit(X), X)
    assert full * (1 - 1e-9) <= found.error <= full * 1.05
    assert found.gap_bound >= found.error / full - 1 - 1e-9


def test_the_line_makes_the_same_model(found, X):
    names = {"X": X}
    exec(found.line, names)
    assert "\n" not in found.line
    np.testing.assert_allclose(names["model"].transform(X), found.estimator.transform(X), atol=1e-10)


def test_the_table_tells_of_every_candidate_why_it_lost(found):
    rows = found.rows_tried()
    assert rows[0]["candidate"] == found.name and rows[0]["lost"] == ""
    assert all(row["lost"] for row in rows[1:])
    assert len(rows) == len(candidates_for(300, 3, "rbf", in_memory=True))
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.tried, pandas.DataFrame)


def test_text_json_and_page_hold_the_line(found):
    assert found.line in str(found) and found.name in str(found)
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert kept["line"] == found.line and kept["tried"][0]["error"] > 0
    html = page(found)
    assert "<svg" in html and "http" not in html and "&#x27;" in html


def test_a_page_escapes_what_it_is_given(found):
    from dataclasses import replace

    assert "<script" not in page(replace(found, line="<script>", notes=("<script>",), name="<script>"))


def test_labels_choose_the_width_and_are_scored(X):
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    found = suggest(X, y, budget=10, n_components=4, verbose=0)
    assert 0.5 < found.rows_tried()[0]["score"] <= 1


def test_a_share_of_the_variance_is_explained(X):
    found = suggest(X, budget=5, n_components=0.8, gamma="median", verbose=0)
    assert found.explained > 0.8 and found.n_components > 1
    assert "n_components=0.8" in found.line


def test_rows_that_are_read_in_blocks_are_sampled_and_fitted(X):
    source = as_rows(lambda: iter([X[:200], X[200:]]))
    found = suggest(source, budget=5, n_components=3, gamma=0.05, verbose=0)
    assert found.fitted and found.n_rows == 300 and found.name.startswith("SubsetKPCA")
    assert found.error == pytest.approx(empirical_error(found.estimator, X), rel=1e-6)


def test_a_source_that_cannot_be_read_in_time_is_sampled_from_what_came(rng):
    ticks = iter(range(10**6))
    blocks = [rng.standard_normal((500_000, 4)) for _ in range(3)]
    table = table_of(as_rows(lambda: iter(blocks)), None, Budget(8, lambda: next(ticks)), 1e9, rng, 10**7)
    assert not table.whole and table.n_rows == 10**7
    assert len(table.X) == 200_000


def test_the_sample_of_a_source_is_drawn_evenly_and_keeps_its_labels(rng):
    X = np.arange(3000.0)[:, None]
    table = table_of(as_rows([X[:1000], X[1000:]]), np.arange(3000), Budget(60), 24 * 4 * 600, rng)
    assert len(table.X) == 600 and table.n_rows == 3000 and table.whole
    np.testing.assert_array_equal(table.X.ravel(), table.y)
    assert abs(np.mean(table.y) - 1500) < 5 * 866 / np.sqrt(600)


def test_labels_that_are_read_in_blocks_stay_with_their_rows(rng):
    X = np.arange(3000.0)[:, None]
    labels = as_rows(lambda: iter([X[:700], X[700:]]))
    table = table_of(as_rows([X[:1000], X[1000:]]), labels, Budget(60), 24 * 4 * 600, rng)
    np.testing.assert_array_equal(table.X.ravel(), table.y)


SMALLEST_AND_LARGEST = [
    candidate
    for candidate in candidates_for(900, 5, "rbf", in_memory=True)
    if candidate.size in (50, 800, None)
]


@pytest.mark.parametrize("candidate", SMALLEST_AND_LARGEST, ids=str)
def test_a_fit_takes_no_more_memory_than_predicted(candidate, rng):
    X, task = rng.standard_normal((900, 4)), Task(900, 4, 5, 5, 0.1, "rbf", 0)
    tracemalloc.start()
    try:
        candidate.estimator(task).fit(X)
        assert tracemalloc.get_traced_memory()[1] <= candidate.n_bytes(900, task)
    finally:
        tracemalloc.stop()


def test_the_written_estimator_has_the_parameters_of_the_real_one():
    task = Task(1000, 4, 5, 5, 0.1, "laplacian", 3)
    for candidate in candidates_for(1000, 5, "laplacian", in_memory=True):
        written = eval(candidate.written(task), {name: getattr(kpca_lab, name) for name in kpca_lab.__all__})
        assert repr(written) == repr(candidate.estimator(task))
    assert Candidate("FullKPCA").written(task).startswith("FullKPCA(n_components=5, kernel='laplacian'")


def test_ctrl_c_gives_the_best_so_far(X, monkeypatch):
    from kpca_lab.advice import judging

    calls = []

    def score(*_):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return 0.5

    monkeypatch.setattr(judging, "_score", score)
    found = suggest(X, np.arange(len(X)) % 2, budget=5, n_components=3, gamma=0.05, verbose=0)
    assert found.interrupted and not found.fitted
    assert sum(row["error"] is not None for row in found.rows_tried()) == 2
    assert found.estimator.fit(X).transform(X).shape == (300, 3)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"budget": 0.5}, "budget must be a number of at least 1 s"),
        ({"n_components": 1.5}, "n_components must be"),
        ({"n_components": 300}, "must be less than the 300 rows"),
        ({"tol": -1}, "tol must be"),
        ({"kernel": "linear"}, "kernel must be one of"),
        ({"memory": 0}, "memory must be"),
        ({"y": [1, 2]}, "y has 2 values, X has 300 rows"),
        ({"random_state": "a"}, "random_state must be"),
        ({"memory": 1000}, "Nothing could be tried"),
    ],
)
def test_what_cannot_be_is_refused(X, options, told):
    with pytest.raises(ValueError, match=told):
        suggest(X, **{"budget": 1, "gamma": 0.1, "verbose": 0} | options)


def test_too_few_rows_and_equal_rows_are_refused():
    with pytest.raises(ValueError, match="fewer than 10"):
        suggest(np.eye(5), verbose=0)
    with pytest.raises(ValueError, match="All rows are the same"):
        suggest(np.tile([1.0, 2.0], (20, 1)), verbose=0)


def test_rows_that_there_is_no_room_for_are_told_from_rows_that_are_missing(tmp_path, rng):
    np.save(tmp_path / "rows.npy", rng.standard_normal((300, 4)))
    with pytest.raises(ValueError, match="the 10 rows of 300 that budget and memory leave room for"):
        suggest(tmp_path / "rows.npy", n_components=10, budget=30, memory=1000)
