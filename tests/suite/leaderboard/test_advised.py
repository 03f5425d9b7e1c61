"""Suggestions beside the best of the leaderboard."""

import pandas as pd
import pytest

from kpca_lab.suite.leaderboard import advised
from kpca_lab.suite.leaderboard.field import events
from kpca_lab.suite.leaderboard.results import KEYS
from kpca_lab.suite.measure.evaluate import evaluate


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small data set, and what full kernel PCA does on it."""
    (event,) = events("quick", str(tmp_path_factory.mktemp("results")), only=["artificial2d"])
    attempts = {(entrant.name, size): job for entrant, size, job in event.jobs(0)}
    rows = {row["metric"]: row["value"] for row in evaluate(attempts["full", None]).rows}
    key = ["artificial2d", 240, 2, "full", "", None, 0, "done"]
    measures = ["residual_outside_scores", "runtime"]
    table = pd.DataFrame([[*key, rows[measures[0]], 1.0]], columns=[*KEYS, *measures])
    return event, table.astype({"m": "Int64"})


def test_a_suggestion_is_within_five_per_cent_of_the_best_and_never_below_full_kernel_pca(small, tmp_path):
    event, table = small
    (found,) = advised.write_comparison(tmp_path, [event], table, 5.0)
    assert -1e-6 < found["above_best"] <= advised.ALLOWED
    assert found["best"] == "full"
    assert "1 of 1 data sets" in (tmp_path / "suggest.md").read_text()


def test_what_was_compared_is_kept_unless_the_budget_or_the_best_changes(small, tmp_path, monkeypatch):
    event, table = small
    asked = []

    def pretend(event, best, seconds):
        asked.append((seconds, best["runtime"]))
        row = {"dataset": event.name, "n": 240, "d": 2, "budget": seconds, "suggested": "it", "seconds": 1.0}
        found = {"best": "full", "best_m": None, "best_seconds": 1.0}
        error = best["residual_outside_scores"]
        return {**row, "error": 1.2 * error, **found, "best_error": error, "above_best": 0.2}

    monkeypatch.setattr(advised, "compare", pretend)
    for seconds in (5.0, 5.0, 9.0):
        list(advised.write_comparison(tmp_path, [event], table, seconds))
    better = table.assign(residual_outside_scores=0.9 * table["residual_outside_scores"], runtime=2.0)
    list(advised.write_comparison(tmp_path, [event], pd.concat([table, better]), 9.0))
    assert [entry[0] for entry in asked] == [5.0, 9.0, 9.0] and asked[-1][1] == 2.0
    assert "0 of 1 data sets" in (tmp_path / "suggest.md").read_text()


def test_nothing_is_compared_where_nobody_was_as_fast(small, tmp_path):
    event, table = small
    assert not list(advised.write_comparison(tmp_path, [event], table.assign(runtime=100.0), 5.0))


@pytest.mark.parametrize(("above", "shown"), [(-1e-9, "0 %"), (-0.01, "-1 %"), (0.0, "0 %"), (0.02, "2 %")])
def test_a_suggestion_equal_to_the_best_but_for_rounding_is_not_said_to_be_below_it(above, shown):
    row = {"dataset": "it", "n": 9, "suggested": "this", "seconds": 1.0, "error": 1.0, "best": "full"}
    row |= {"best_m": pd.NA, "best_error": 1.0, "above_best": above, "budget": 5.0}
    assert advised.advised_table(pd.DataFrame([row])).rows[0][-1] == shown
