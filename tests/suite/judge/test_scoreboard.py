import math
import os

import numpy as np
import pandas as pd
import pytest

from kpca_lab.suite.hooks import Cell
from kpca_lab.suite.judge.published import COLUMNS as PUBLISHED_COLUMNS
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import (
    COLUMNS,
    build_scoreboard,
    cells_frame,
    collect_cells,
    notes_section,
    read_scoreboard,
    write_scoreboard,
)
from kpca_lab.suite.papers import papers

NOTHING = cells_frame("", [])


def published(**columns):
    row = {"paper": "wang2016", "table": "table1", "row": "a", "column": "b", "value": 1.0, "sd": np.nan}
    row |= {"trials": pd.NA, "decimals": 1, "unit": "", "kind": "result", "flag": "", "note": ""}
    return pd.DataFrame([row | columns], columns=list(PUBLISHED_COLUMNS))


def ours(value=1.0, row="a", **about):
    return cells_frame("wang2016", [Cell("table1", row, "b", value, **about)])


@pytest.mark.parametrize(
    ("cell", "own", "expected", "said"),
    [
        (
            {"value": np.nan, "decimals": pd.NA, "flag": "lost"},
            {},
            "not_comparable",
            "not legible in the source",
        ),
        ({"kind": "time"}, {}, "not_comparable", "hardware time"),
        ({"kind": "statement"}, {}, "not_comparable", "see the claims"),
        ({}, {"comparable": False, "note": "on 200 images only"}, "not_comparable", "on 200 images only"),
        ({"flag": "unavailable", "note": "no data"}, {"value": np.nan}, "not_comparable", "no data"),
        ({"flag": "unavailable", "note": "no data"}, {"value": 1.0}, "exact", "no data"),
        ({}, {"value": np.nan}, "not_run", ""),
        ({}, {"value": np.inf}, "not_run", ""),
        ({}, {"value": 2.0}, "off", "experiments/wang2016/notes.md#table-1"),
        ({"value": 5.0}, {"value": 5.09}, "close", ""),
        ({"kind": "setting", "value": 5.0}, {"value": 5.09}, "off", "readings tried"),
        ({"note": "theirs"}, {"note": "mine"}, "exact", "mine; theirs"),
    ],
)
def test_what_cannot_be_compared_says_why(cell, own, expected, said):
    (row,) = build_scoreboard(published(**cell), ours(**own)).itertuples()
    assert row.verdict == expected
    assert said in row.note


def test_a_setting_that_a_profile_reduces_on_purpose_is_not_judged():
    board = build_scoreboard(published(kind="setting"), ours(3.0), full_size=False)
    assert board.verdict.item() == "not_comparable" and "reduced in this profile" in board.note.item()
    assert build_scoreboard(published(kind="setting"), ours(), full_size=False).verdict.item() == "exact"


def test_a_chosen_reading_stands_beside_the_one_described():
    board = build_scoreboard(published(), ours(1.0, readings=24, as_described=2.0))
    assert board.reading.item() == "chosen of 24"
    assert (board.verdict.item(), board.verdict_as_described.item()) == ("exact", "off")
    # a gap of the text that was filled departs from nothing
    board = build_scoreboard(published(), ours(1.0, readings=4))
    assert board.verdict_as_described.item() == "exact" and board.as_described.isna().item()
    assert build_scoreboard(published(), ours(1.0)).reading.item() == "as described"


def test_without_our_cells_nothing_is_judged():
    scoreboard = build_scoreboard(load_published(), NOTHING)
    assert tuple(scoreboard.columns) == COLUMNS
    assert len(scoreboard) == len(load_published())
    assert set(scoreboard.verdict) == {"not_run", "not_comparable"}
    assert scoreboard[scoreboard.verdict == "not_comparable"].note.ne("").all()


def test_the_published_figures_against_themselves_are_exact():
    cells = load_published()
    own = cells[["paper", "table", "row", "column"]].assign(
        ours=cells.value, ours_sd=cells.sd, trials=cells.trials, note="", comparable=True, readings=1
    )
    own = own.assign(as_described=np.nan, as_described_sd=np.nan, selection_sd=np.nan)
    scoreboard = build_scoreboard(cells, own.sample(frac=1, random_state=0))
    assert set(scoreboard.verdict) == {"exact", "not_comparable"}
    pd.testing.assert_frame_equal(scoreboard[["row", "column"]], cells[["row", "column"]])


def records(items=("table1", "table1", "other", "bad"), status=("done", "failed", "failed", "done")):
    names = [f"wang2016/{item}" for item in items]
    return pd.DataFrame({"experiment": names, "status": status, "value": [1.0, 99.0, 5.0, 7.0]})


def test_cells_are_collected_from_done_records_and_a_failing_function_stops_nothing():
    seen = []

    def good(rows, settings):
        seen.append((len(rows), settings))
        return [Cell("table1", "a", "b", rows.value.mean())]

    def bad(rows, settings):
        raise KeyError("m")

    makers = {"wang2016/table1": good, "wang2016/bad": bad, "wang2016/other": bad, "wang2016/absent": bad}
    cells, problems = collect_cells(records(), published(), makers, {"wang2016/table1": {"n": 3}}.get)
    assert seen == [(1, {"n": 3})]
    assert problems == {"wang2016/bad": "KeyError: 'm' (no settings are kept with its records: run it again)"}
    assert build_scoreboard(published(), cells).verdict.tolist() == ["exact"]
    nothing, problems = collect_cells(records(), published(), {}, dict.get)
    assert len(nothing) == 0 and problems == {}
    assert build_scoreboard(published(), nothing).verdict.tolist() == ["not_run"]


def test_a_mistyped_or_repeated_cell_is_left_out_and_told_while_the_others_count():
    right, wrong = Cell("table1", "a", "b", 1.0), Cell("table1", "x", "b", 1.0)
    makers = {"wang2016/table1": lambda *_: [right, wrong], "wang2016/bad": lambda *_: [right]}
    cells, problems = collect_cells(records(), published(), makers, lambda item: {})
    assert problems["wang2016/table1"] == "cell given twice: wang2016 | table1 | a | b; no such published " \
        "cell: wang2016 | table1 | x | b"  # fmt: skip
    assert build_scoreboard(published(), cells).verdict.tolist() == ["exact"]


def some_cells():
    cells = [
        Cell("table7", "WF", "sigma = 20", 0.881, 0.24, 10000),
        Cell("table7", "WF", "sigma = 50", 9.0, 0.8, 10000),
        Cell("table2", "tic", "no. of dim.", 85),
    ]
    return cells_frame("washizawa2012", cells)


def test_written_scoreboard_is_the_same_every_time_and_reads_back(tmp_path):
    written = build_scoreboard(load_published(), some_cells())
    write_scoreboard(tmp_path / "quick", written)
    first = (tmp_path / "quick" / "scoreboard.csv").read_bytes()
    write_scoreboard(tmp_path / "quick", build_scoreboard(load_published(), some_cells().iloc[::-1]))
    assert (tmp_path / "quick" / "scoreboard.csv").read_bytes() == first
    assert os.listdir(tmp_path / "quick") == ["scoreboard.csv"]
    pd.testing.assert_frame_equal(read_scoreboard(tmp_path / "quick"), written)
    assert read_scoreboard(tmp_path / "paper") is None


def test_notes_have_a_section_for_every_table():
    cells = load_published()
    cells = cells[~cells.kind.isin(["time", "statement"])]
    for paper, table in cells[["paper", "table"]].drop_duplicates().itertuples(index=False):
        text = papers()[paper].notes
        anchor = notes_section(paper, table).partition("#")[2]
        anchors = [
            line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")
        ]
        assert anchor in anchors, (paper, table)


def test_cells_have_plain_defaults():
    frame = cells_frame("p", [Cell("t", "r", "c", 1)])
    assert math.isnan(frame.ours_sd.item()) and frame.comparable.item() and frame.readings.item() == 1
