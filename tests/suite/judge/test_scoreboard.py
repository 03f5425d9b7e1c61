import math
import os

import numpy as np
import pandas as pd
import pytest

from kpca_lab.suite.judge.published import COLUMNS as PUBLISHED_COLUMNS
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import (
    CELL_COLUMNS,
    COLUMNS,
    MARKERS,
    VERDICTS,
    build_scoreboard,
    collect_cells,
    main,
    notes_section,
    read_scoreboard,
    readme_table,
    summarise,
    update_readme,
    verdict,
    write_scoreboard,
)
from kpca_lab.suite.papers import papers

NOTHING = pd.DataFrame(columns=CELL_COLUMNS)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (4.78, "exact"),
        (4.7849, "exact"),
        (4.785, "exact"),
        (4.775, "exact"),
        (4.786, "within_sd"),
        (4.88, "off"),
    ],
)
def test_exact_means_the_printed_digits(ours, expected):
    assert verdict(4.78, 2, ours) == expected


def test_exact_uses_the_digits_of_tiny_numbers_and_of_whole_numbers():
    assert verdict(4.57e-5, 7, 4.5749e-5) == "exact"
    assert verdict(4.57e-5, 7, 4.576e-5) == "within_sd"
    assert verdict(190, 0, 190) == "exact"
    assert verdict(6335, 0, 6336) == "within_sd"
    assert verdict(34, 0, 35) == "off"


def test_consistent_is_two_standard_errors_of_the_difference_of_means():
    known = {"published_sd": 0.3, "published_trials": 9, "ours_sd": 0.4, "trials": 16}
    bound = 2 * math.sqrt(0.01 + 0.01)
    assert verdict(1.0, 2, 1 + 0.999 * bound, **known) == "consistent"
    assert verdict(1.0, 2, 1 - 0.999 * bound, **known) == "consistent"
    assert verdict(1.0, 2, 1 + 1.001 * bound, **known) == "within_sd"
    assert verdict(1.0, 2, 1.31, **known) == "off"


def test_consistent_needs_two_trials_and_a_deviation_on_both_sides():
    known = {"published_sd": 1.0, "published_trials": 10, "ours_sd": 1.0, "trials": 10}
    assert verdict(5.0, 2, 5.5, **known) == "consistent"
    for missing in ({"trials": 1}, {"published_trials": 1}, {"ours_sd": math.nan}, {"trials": 0}):
        assert verdict(5.0, 2, 5.5, **(known | missing)) == "within_sd"
    # without a printed deviation only the 2 % are left
    assert verdict(5.0, 2, 5.5, **(known | {"published_sd": math.nan})) == "off"
    assert verdict(5.0, 2, 5.1, **(known | {"published_sd": math.nan})) == "within_sd"


def test_a_printed_deviation_of_zero_is_a_deviation():
    assert verdict(4.7998, 4, 4.80, published_sd=0.0, published_trials=10, ours_sd=0.0, trials=10) == "off"
    assert (
        verdict(4.7998, 4, 4.80, published_sd=0.0, published_trials=10, ours_sd=0.001, trials=10)
        == "consistent"
    )
    assert (
        verdict(4.7998, 4, 4.79984, published_sd=0.0, published_trials=10, ours_sd=0.0, trials=10) == "exact"
    )


def test_two_per_cent_of_zero_is_zero():
    assert verdict(0.0, 2, 0.004) == "exact"
    assert verdict(0.0, 2, 0.006) == "off"
    assert verdict(-2.0, 1, -2.04) == "exact"
    assert verdict(-5.0, 1, -5.09) == "within_sd"


def published(**columns):
    row = {"paper": "wang2016", "table": "table1", "row": "a", "column": "b", "value": 1.0, "sd": np.nan}
    row |= {"trials": pd.NA, "decimals": 1, "unit": "", "kind": "measured", "flag": "", "note": ""}
    return pd.DataFrame([row | columns], columns=list(PUBLISHED_COLUMNS))


def ours(value=1.0, **columns):
    return pd.DataFrame(
        [{"paper": "wang2016", "table": "table1", "row": "a", "column": "b", "ours": value} | columns]
    )


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
        ({"kind": "text"}, {}, "not_comparable", "see the claims"),
        ({}, {"comparable": False, "note": "on 200 images only"}, "not_comparable", "on 200 images only"),
        ({"flag": "unavailable", "note": "no data"}, {"value": np.nan}, "not_comparable", "no data"),
        ({"flag": "unavailable", "note": "no data"}, {"value": 1.0}, "exact", "no data"),
        ({}, {"value": np.nan}, "not_run", ""),
        ({}, {"value": np.inf}, "not_run", ""),
        ({}, {"value": 2.0}, "off", "experiments/wang2016/notes.md#table-1"),
        ({"note": "theirs"}, {"note": "mine"}, "exact", "mine; theirs"),
    ],
)
def test_what_cannot_be_compared_says_why(cell, own, expected, said):
    (row,) = build_scoreboard(published(**cell), ours(**own)).itertuples()
    assert row.verdict == expected
    assert said in row.note


def test_without_our_cells_nothing_is_judged():
    scoreboard = build_scoreboard(load_published(), NOTHING)
    assert tuple(scoreboard.columns) == COLUMNS
    assert len(scoreboard) == len(load_published())
    assert set(scoreboard.verdict) == {"not_run", "not_comparable"}
    assert scoreboard[scoreboard.verdict == "not_comparable"].note.ne("").all()


def test_the_published_figures_against_themselves_are_exact():
    cells = load_published()
    own = cells[["paper", "table", "row", "column"]].assign(
        ours=cells.value, ours_sd=cells.sd, trials=cells.trials, note=""
    )
    scoreboard = build_scoreboard(cells, own.sample(frac=1, random_state=0))
    assert set(scoreboard.verdict) == {"exact", "not_comparable"}
    pd.testing.assert_frame_equal(scoreboard[["row", "column"]], cells[["row", "column"]])


def test_a_mistyped_or_repeated_cell_is_refused():
    with pytest.raises(ValueError, match=r"no such published cell: wang2016 \| table1 \| x \| b"):
        build_scoreboard(published(), ours(row="x"))
    with pytest.raises(ValueError, match=r"given twice: wang2016 \| table1 \| a \| b"):
        build_scoreboard(published(), pd.concat([ours(), ours()]))
    with pytest.raises(ValueError, match="lack the column 'ours'"):
        build_scoreboard(published(), ours().drop(columns="ours"))


def test_summary_counts_every_cell_once():
    scoreboard = build_scoreboard(load_published(), NOTHING)
    counts = summarise(scoreboard)
    assert list(counts.columns) == [*VERDICTS, "cells"]
    assert counts.loc["all", "cells"] == len(scoreboard) == counts.cells[:-1].sum()


def test_cells_are_collected_from_done_records_and_a_failing_function_stops_nothing():
    records = pd.DataFrame(
        {
            "experiment": ["wang2016/table1", "wang2016/table1", "wang2016/other", "wang2016/bad"],
            "status": ["done", "failed", "failed", "done"],
            "value": [1.0, 99.0, 5.0, 7.0],
        }
    )
    seen = []

    def good(rows):
        seen.append(len(rows))
        return ours(rows.value.mean()).drop(columns="paper")

    def bad(rows):
        raise KeyError("m")

    makers = {"wang2016/table1": good, "wang2016/bad": bad, "wang2016/other": bad, "wang2016/absent": bad}
    cells, problems = collect_cells(records, makers)
    assert seen == [1]
    assert problems == ["wang2016/bad: KeyError: 'm'"]
    assert build_scoreboard(published(), cells).verdict.tolist() == ["exact"]
    nothing, problems = collect_cells(records, {})
    assert len(nothing) == 0 and problems == []
    assert build_scoreboard(published(), nothing).verdict.tolist() == ["not_run"]


def some_cells():
    keys = ("washizawa2012", "table7", "WF")
    return pd.DataFrame(
        [
            (*keys, "sigma = 20", 0.881, 0.24, 10000, ""),
            (*keys, "sigma = 50", 9.0, 0.8, 10000, ""),
            ("washizawa2012", "table2", "tic", "no. of dim.", 85, None, None, ""),
        ],
        columns=list(CELL_COLUMNS[:-1]),
    )


def test_written_scoreboard_is_the_same_every_time_and_reads_back(tmp_path):
    written = write_scoreboard(tmp_path / "quick", some_cells())
    first = (tmp_path / "quick" / "scoreboard.csv").read_bytes()
    write_scoreboard(tmp_path / "quick", some_cells().iloc[::-1])
    assert (tmp_path / "quick" / "scoreboard.csv").read_bytes() == first
    assert os.listdir(tmp_path / "quick") == ["scoreboard.csv"]
    pd.testing.assert_frame_equal(read_scoreboard(tmp_path / "quick"), written)
    assert read_scoreboard(tmp_path / "paper") is None


def test_readme_is_left_alone_without_a_scoreboard_and_filled_in_with_one(tmp_path, capsys):
    readme = tmp_path / "README.md"
    text = f"# Title\n\n{MARKERS[0]}\nstale\n{MARKERS[1]}\nThe end.\n"
    readme.write_text(text)
    assert update_readme(readme, tmp_path / "results") is False
    assert readme.read_text() == text
    main(["--readme", "--results", str(tmp_path / "results")])
    assert "No scoreboard yet" in capsys.readouterr().out

    write_scoreboard(tmp_path / "results" / "quick", some_cells())
    (tmp_path / "results" / "quick" / "claims.csv").write_text(
        "paper,verdict\nwashizawa2012,holds\nwashizawa2012,fails\n"
    )
    records = tmp_path / "results" / "quick" / "records" / "washizawa2012"
    records.mkdir(parents=True)
    for name in ("figure3", "figure4", "kernel"):
        (records / f"{name}.csv").touch()
    assert update_readme(readme, tmp_path / "results") is True
    new = readme.read_text()
    assert new.startswith(f"# Title\n\n{MARKERS[0]}\nFrom the `quick` profile")
    assert new.endswith(f"{MARKERS[1]}\nThe end.\n") and "stale" not in new
    cells = load_published()
    in_text = (cells.table == "text").sum()
    counted = (
        f"the {len(cells) - in_text} cells of the printed tables and {in_text} numbers stated in the texts; "
    )
    assert (
        counted + "1 of the 2 exact ones are sizes or settings of the protocol, the other 1 results." in new
    )
    assert new.count("with the printed figures in view") == 1
    line = next(line for line in new.splitlines() if line.startswith("| Washizawa 2012"))
    assert line.startswith("| Washizawa 2012 | Tables 2, 7; Figures 3-4; kernel | 2 | 0 | 0 | 1 |")
    assert line.endswith("| 1 holds, 1 fails |")
    assert all(f"| {name} |" in new for name in [paper.label for paper in papers().values()])
    assert update_readme(readme, tmp_path / "results") is False
    write_scoreboard(tmp_path / "results" / "paper", NOTHING)
    assert "`paper` profile" in readme_table(tmp_path / "results")


def test_readme_without_markers_is_refused(tmp_path):
    write_scoreboard(tmp_path / "results" / "quick", NOTHING)
    readme = tmp_path / "README.md"
    readme.write_text(f"{MARKERS[1]} {MARKERS[0]}")
    with pytest.raises(ValueError, match="once each, in this order"):
        update_readme(readme, tmp_path / "results")
    assert readme.read_text() == f"{MARKERS[1]} {MARKERS[0]}"


def test_notes_have_a_section_for_every_table():

    cells = load_published()
    for paper, table in cells[["paper", "table"]].drop_duplicates().itertuples(index=False):
        if not (
            cells[(cells.paper == paper) & (cells.table == table)].kind.isin(["measured", "count", "setting"])
        ).any():
            continue
        text = papers()[paper].notes
        anchor = notes_section(paper, table).partition("#")[2]
        anchors = [
            line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")
        ]
        assert anchor in anchors, (paper, table)
