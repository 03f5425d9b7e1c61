import pandas as pd
import pytest

from kpca_lab.suite.hooks import Cell
from kpca_lab.suite.judge.headline import (
    MARKERS,
    headline,
    headline_text,
    main,
    readme_table,
    summarise,
    update_readme,
)
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import build_scoreboard, cells_frame, write_scoreboard
from kpca_lab.suite.papers import papers

NOTHING = cells_frame("", [])


def some_board():
    washizawa = [
        Cell("table7", "WF", "sigma = 20", 0.881, 0.24, 10000),
        Cell("table7", "WF", "sigma = 50", 9.0, 0.8, 10000, readings=2, as_described=3.14),
        Cell("table2", "tic", "no. of dim.", 85),
        Cell("table2", "tic", "no. of samples", 7),
        Cell("table1", "E_emp ratio, Random", "Improved KPCA", 4.7998),
    ]
    zhang = [Cell("table9", "Banana, AKPCA", "alpha = 0.1", 0.8694, readings=24, as_described=0.1)]
    cells = pd.concat([cells_frame("washizawa2012", washizawa), cells_frame("zhang2010", zhang)])
    return build_scoreboard(load_published(), cells)


def test_only_results_enter_the_headline():
    counts = headline(some_board())
    own = counts.loc["washizawa2012"]
    assert (own.exact, own.off, own.compared) == (1, 1, 2)
    assert (own.agree, own.agree_as_described) == (50, 100)
    assert (own.setting, own.setting_compared, own.calibrated, own.calibrated_compared) == (1, 2, 1, 1)
    assert (counts.loc["zhang2010"].agree, counts.loc["zhang2010"].agree_as_described) == (100, 0)
    assert counts.loc["all"].compared == 3
    assert pd.isna(counts.loc["wang2016"].agree)
    text = headline_text(some_board())
    assert (
        text.startswith("66.7 % of the 3 printed results") and "; 66.7 % with the texts as they stand" in text
    )
    assert headline_text(build_scoreboard(load_published(), NOTHING)) == "No result was compared."


def test_summary_counts_every_cell_once():
    scoreboard = build_scoreboard(load_published(), NOTHING)
    assert summarise(scoreboard).cells.sum() == len(scoreboard)


def test_readme_is_left_alone_without_a_scoreboard_and_filled_in_with_one(tmp_path, capsys):
    readme = tmp_path / "README.md"
    text = f"# Title\n\n{MARKERS[0]}\nstale\n{MARKERS[1]}\nThe end.\n"
    readme.write_text(text)
    assert update_readme(readme, tmp_path / "results") is False
    assert readme.read_text() == text
    main(["--readme", "--results", str(tmp_path / "results")])
    assert "No scoreboard yet" in capsys.readouterr().out

    quick = tmp_path / "results" / "quick"
    write_scoreboard(quick, some_board())
    (quick / "claims.csv").write_text(
        "id,paper,where,statement,kind,limit,verdict,numbers\n"
        "a,washizawa2012,,,claim,,holds,\nb,washizawa2012,,,claim,,fails,\n"
        "c,washizawa2012,,,identity,,holds,\nd,washizawa2012,,,claim,,not run,\n"
    )
    records = quick / "records" / "washizawa2012"
    records.mkdir(parents=True)
    for name in ("figure3", "figure4", "kernel"):
        (records / f"{name}.csv.gz").touch()
    assert update_readme(readme, tmp_path / "results") is True
    new = readme.read_text()
    assert new.startswith(f"# Title\n\n{MARKERS[0]}\nFrom the `quick` profile")
    assert new.endswith(f"{MARKERS[1]}\nThe end.\n") and "stale" not in new
    lines = [line for line in new.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    (place,) = (place for place, cell in enumerate(lines[0].split("|")) if cell == " Washizawa 2012 ")
    column = [line.split("|")[place].strip() for line in lines[2:]]
    items = "Tables 1-2, 7; Figures 3-4; kernel"
    assert column[:7] == [items, "1", "0", "0", "1", "50.0 %", "100.0 %"]
    assert column[8:] == ["1 of 2", "-", "1 of 1", "1 of 2", "1 of 1"]
    assert all(f"| {name} |" in new for name in [paper.label for paper in papers().values()])
    assert update_readme(readme, tmp_path / "results") is False
    write_scoreboard(tmp_path / "results" / "paper", build_scoreboard(load_published(), NOTHING))
    assert "`paper` profile" in readme_table(tmp_path / "results")
    main(["--results", str(tmp_path / "results")])
    assert "66.7 % of the 3" in capsys.readouterr().out


def test_readme_without_markers_is_refused(tmp_path):
    write_scoreboard(tmp_path / "results" / "quick", some_board())
    readme = tmp_path / "README.md"
    readme.write_text(f"{MARKERS[1]} {MARKERS[0]}")
    with pytest.raises(ValueError, match="once each, in this order"):
        update_readme(readme, tmp_path / "results")
    assert readme.read_text() == f"{MARKERS[1]} {MARKERS[0]}"
