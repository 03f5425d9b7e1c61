import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from kpca_lab.suite.hooks import Cell
from kpca_lab.suite.jobs import COLUMNS as RECORD_COLUMNS
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import build_scoreboard, cells_frame
from kpca_lab.suite.render.show import rows_table, without_chosen_widths
from kpca_lab.suite.render.table import Table, tex_escape, to_html, to_markdown, to_tex
from kpca_lab.suite.render.tables import LEGEND, MOST_ROWS, TEX_ROWS, summary_table, write_tables

WF = ("table7", "WF")
BETTER = ("Section 4, Test 3", "data sets on which AKPCA is better, alpha = 0.1")
PRINTED = load_published("washizawa2012").query("table == 'table1'").reset_index(drop=True)
NOTHING = build_scoreboard(PRINTED, cells_frame("", []))


def records(
    method="subset", metric="runtime", values=(1.0, 3.0), item="washizawa2012/table1", m=50, **settings
):
    rows = []
    for seed, value in enumerate(values):
        row = dict.fromkeys(RECORD_COLUMNS, "")
        row |= {"experiment": item, "dataset": "artificial2d", "split": 0, "seed": seed, "method": method}
        row |= {
            "selector": "random",
            "m": m,
            "r": 5,
            "kernel": "rbf(gamma=0.1)",
            "metric": metric,
            "value": value,
        }
        rows.append(row | {"parameters": json.dumps(settings), "status": "done"})
    return pd.DataFrame(rows, columns=list(RECORD_COLUMNS)).astype({"m": "Int64", "r": "Int64"})


def grid(path):
    """The lines of the table of a Markdown page, split at unescaped bars."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [[part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    washizawa = [
        Cell(*WF, "sigma = 20", 0.8812, 0.2401, 10000),
        Cell(*WF, "sigma = 50", 3.1449, 0.80, 10000),
        Cell(*WF, "sigma = 80", 5.58, 1.5, 10000),
        Cell(*WF, "sigma = 100", 17.0, 1.5, 10000),
        Cell("table5", "SubKp (c)", "10 %", 6.4321, 0.3, 100),
    ]
    zhang = [
        Cell("table2", "Ringnorm", "CPU time, PCA", 0.0012345),
        Cell("table9", "Banana, AKPCA", "alpha = 0.1", 0.8694, readings=24, as_described=0.5),
        Cell("text", *BETTER, 4, as_described=3),
    ]
    cells = pd.concat([cells_frame("washizawa2012", washizawa), cells_frame("zhang2010", zhang)])
    return folder, write_tables(folder, build_scoreboard(load_published(), cells))


def test_every_printed_table_is_written_in_three_forms(written):
    folder, files = written
    published = load_published()
    names = {f"{paper}/{table}" for paper, table in zip(published.paper, published.table)}
    found = {str(file.relative_to(folder / "tables")) for file in files}
    assert found == {f"{name}.{suffix}" for name in names for suffix in ("csv", "md", "tex")}
    assert all(file.exists() for file in files)


def test_ours_stands_under_the_printed_figure_with_its_digits_and_mark(written):
    lines = grid(written[0] / "tables/washizawa2012/table7.md")
    assert lines[0] == ["", "", "sigma = 20", "sigma = 50", "sigma = 80", "sigma = 100"]
    (place,) = (i for i, line in enumerate(lines) if line[0] == "WF")
    assert lines[place] == ["WF", "paper", "0.88 ± 0.24", "3.14 ± 0.81", "5.49 ± 1.43", "7.01 ± 1.84"]
    assert lines[place + 1] == [
        "",
        "ours",
        "0.88 ± 0.24 =",
        "3.14 ± 0.80 =",
        "5.58 ± 1.50 ~",
        "17.00 ± 1.50 ✗",
    ]
    assert [line[0] for line in lines[2::2]][:3] == ["SubKp (100)", "RKp (100)", "SubKp (500)"]


def test_lost_cells_and_times_show_ours_without_a_mark(written):
    lines = grid(written[0] / "tables/washizawa2012/table5.md")
    (place,) = (i for i, line in enumerate(lines) if line[0] == "SubKp (c)")
    assert lines[place][2] == "–" and lines[place + 1][2] == "6.43 ± 0.30"
    text = (written[0] / "tables/zhang2010/table2.md").read_text(encoding="utf-8")
    assert "| 0.00123 |" in text and "3.1926e-4" in text


def test_the_text_as_it_stands_has_a_line_of_its_own_where_a_reading_departs_from_it(written):
    lines = grid(written[0] / "tables/zhang2010/table9.md")
    (place,) = (i for i, line in enumerate(lines) if line[0] == "Banana, AKPCA")
    assert [line[1:3] for line in lines[place : place + 3]] == [
        ["paper", "0.8694"],
        ["ours", "0.8694 ="],
        ["as described", "0.5000 ✗"],
    ]
    assert [line[1] for line in lines].count("as described") == 1
    assert "reading chosen of 24" in (written[0] / "tables/zhang2010/table9.md").read_text()
    lines = grid(written[0] / "tables/zhang2010/text.md")
    assert lines[0] == ["where", "what", "paper", "ours", "as described"]
    assert ["4", "4 =", "3 ✗"] in [line[2:] for line in lines]


def test_csv_of_a_table_is_its_part_of_the_scoreboard(written):
    frame = pd.read_csv(written[0] / "tables/washizawa2012/table7.csv")
    assert list(frame.columns)[:5] == ["paper", "table", "row", "column", "kind"]
    assert frame.verdict.value_counts()["not_run"] == 28


def test_numbers_from_sentences_are_a_list(written):
    lines = grid(written[0] / "tables/washizawa2012/text.md")
    assert lines[0] == ["where", "what", "paper", "ours"]
    assert ["Section 6.5", "MNIST training error of SubKPCA", "4.57e-5", "–"] in lines


def test_markdown_and_tex_are_well_formed(written):
    for file in written[1]:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".md":
            assert len({len(line) for line in grid(file)}) == 1, file
        elif file.suffix == ".tex":
            check_tex(text)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tex_compiles_and_fits_the_page(written, tmp_path):
    body = [["1.2345 ± 0.1"] * 30] * TEX_ROWS
    wide = to_tex(Table("Wide", ["column"] * 30, body, [False] * 30, [LEGEND]))
    nasty = to_tex(Table("Nasty", ["[a]", "*b"], [["<|>^~\\{}_#$%&", "± × ≈ ✗ – ö"]] * 3, [True, True]))
    tall = [to_tex(Table("Tall", ["a"] * n, [["1"] * n] * 120, [True] * n, [LEGEND] * 9)) for n in (3, 60)]
    tables = [
        wide,
        *tall,
        nasty,
        *(file.read_text(encoding="utf-8") for file in written[1] if file.suffix == ".tex"),
    ]
    packages = re.search(r"\\usepackage{.*}", wide).group()
    document = "\n".join(
        [r"\documentclass{article}", packages, r"\begin{document}"]
        + [part for table in tables for part in (table, r"\clearpage")]
        + [r"\end{document}"]
    )
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"Overfull.*|.*Float too large.*", done.stdout)
    assert f"({len(tables)} pages" in done.stdout


def check_tex(text):
    columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", text).group(1))
    body = text.split("\\toprule\n")[1].split("\\bottomrule")[0].replace("\\midrule\n", "")
    for line in body.splitlines():
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == columns - 1
        assert not line.lstrip().startswith(("[", "*"))
    plain = re.sub(r"\\[&%$#_{}]", "", text.split("\n", 1)[1])
    assert "%" not in plain and "#" not in plain and "_" not in plain
    assert plain.count("{") == plain.count("}") and plain.count("$") % 2 == 0
    for name in ("(?:sideways)?table", "tabular"):
        assert (
            len(re.findall(rf"\\begin{{{name}}}", plain)) == len(re.findall(rf"\\end{{{name}}}", plain)) == 1
        )
    # the letters that LaTeX knows without further packages
    assert set(re.findall(r"[^\x00-\x7f]", text)) <= set("äöüÄÖÜß")


def test_special_letters_survive():
    nasty = ["[a] & b", r"50% of $x_1$ #2 {c} ~ ^ \n", "<p|q> ± × ≈ ✗ – ö"]
    text = to_tex(Table("A & B", ["x", "y", "z"], [nasty], [True, False, False], ["100 % sure."]))
    check_tex(text)
    assert r"\caption{A \& B. 100 \% sure.}" in text
    assert r"{}[a] \& b & 50\% of \$x\_1\$ \#2 \{c\} $\sim$ \^{} \textbackslash{}n & $<$p$|$q$>$" in text
    assert tex_escape("a\nb") == "a b"
    page = to_markdown(Table("T", ["a|b", "*c*"], [["1|2", "x\ny"]], [True, False]))
    assert page == "# T\n\n| a\\|b | \\*c\\* |\n|---|--:|\n| 1\\|2 | x y |\n"


def test_html_is_escaped_marks_have_a_place_and_readings_are_links():
    notes = ["x / a: readings tried: experiments/p/notes.md#table-1; <b>."]
    rows = [["x", "paper", "1.0"], ["", "ours", "1.1 ✗"]]
    table = Table("T", ["", "", "<a>"], rows, [True, True, False], notes, marks="=✗")
    found = to_html(table, "T & U", ["notes-p"])
    assert 'aria-label="T &amp; U"' in found and '<th class="number">&lt;a&gt;</th>' in found
    assert '1.0<span class="mark"></span>' in found and '1.1<span class="mark">✗</span>' in found
    assert '<a href="#notes-p">readings tried</a>; &lt;b&gt;.' in found
    assert '<a href="#notes-p-table-1">' in to_html(table, "T", ["notes-p", "notes-p-table-1"])
    assert "<a " not in to_html(table, "T")
    assert "mark" not in to_html(Table("T", ["a"], [["1 ="]], [False]), "T")


def test_a_new_method_appears_in_the_tables_of_an_item(tmp_path):
    rows = pd.concat([records(), records("brand_new", values=[2.0, 2.5]), records("gone", values=[9.0])])
    rows.loc[rows.method == "gone", "status"] = "failed"
    write_tables(tmp_path, NOTHING, rows)
    lines = grid(tmp_path / "tables/washizawa2012/table1_all.md")
    assert lines == [
        ["method", "runtime"],
        ["---", "--:"],
        ["brand_new", "2.25 ± 0.35"],
        ["subset", "2 ± 1.4"],
    ]
    note = (tmp_path / "tables/washizawa2012/table1_all.md").read_text(encoding="utf-8")
    assert "over 2 trials" in note
    assert "In all lines: dataset artificial2d, selector random, m 50, r 5, kernel rbf(gamma=0.1)." in note
    frame = pd.read_csv(tmp_path / "tables/washizawa2012/table1_all.csv")
    assert frame.runtime.tolist() == [2.25, 2.0]
    check_tex((tmp_path / "tables/washizawa2012/table1_all.tex").read_text(encoding="utf-8"))
    # an item without a printed table has the plain name
    write_tables(tmp_path, NOTHING, records(item="marukatat2016/figure1"))
    assert (tmp_path / "tables/marukatat2016/figure1.md").exists()


def test_summary_of_odd_settings():
    rows = pd.concat(
        [
            records(metric="runtime", values=[1.0], m=100000, sketch="count", weights=[0.1, 0.2]),
            records(metric="distance", values=[0.5, 0.7, 0.9], m=100000, sketch="count", weights=[0.1, 0.2]),
            records(metric="runtime", values=[np.nan], m=None, sketch=True),
            records(metric="runtime", values=[4.0], m=None),
        ]
    )
    frame, table = summary_table(rows)
    assert table.headings == ["method", "m", "sketch", "weights", "runtime", "distance"]
    assert table.left == [True, False, True, True, False, False]  # numbers of settings stand on the right too
    assert table.rows == [
        ["subset", "", "True", "", "", ""],
        ["subset", "", "", "", "4", ""],
        ["subset", "100000", "count", "[0.1, 0.2]", "1", "0.7 ± 0.2"],
    ]
    assert frame.distance_sd.round(6).tolist()[2] == 0.2
    assert table.notes[0].startswith("Mean ± SD over")


def test_large_deviations_need_no_power_of_ten():
    table = summary_table(records(metric="distance", values=[100.0, 1500.0, 2000.0]))[1]
    assert table.rows[0][-1] == "1200 ± 980"


def test_long_summaries_are_cut_on_the_page_but_not_in_the_csv(tmp_path):
    rows = records(item="wang2016/figure9", values=np.ones(MOST_ROWS + 10)).assign(
        m=lambda rows: rows.seed + 1
    )
    write_tables(tmp_path, NOTHING, rows)
    assert len(grid(tmp_path / "tables/wang2016/figure9.md")) == MOST_ROWS + 2
    assert "10 more lines are in figure9.csv" in (tmp_path / "tables/wang2016/figure9.md").read_text()
    assert len(pd.read_csv(tmp_path / "tables/wang2016/figure9.csv")) == MOST_ROWS + 10


def test_widths_that_a_rule_chose_in_each_trial_do_not_keep_trials_apart():
    chosen = records().assign(kernel=["rbf(gamma=0.11)", "rbf(gamma=0.13)"], job=["a", "b"])
    assert "2 ± 1.4" in rows_table(chosen, ["a", "b"]) and "2 trials" in rows_table(chosen, ["a", "b"])
    frame, table = summary_table(chosen)
    assert len(frame) == 1 and "kernel rbf." in table.notes[-1]


def test_widths_of_a_sweep_stay_settings():
    wide, narrow = (records().assign(kernel=f"rbf(gamma={gamma})") for gamma in (0.1, 10))
    swept = pd.concat([wide, narrow], ignore_index=True)
    pd.testing.assert_frame_equal(without_chosen_widths(swept), swept)
    pd.testing.assert_frame_equal(without_chosen_widths(wide), wide)
    assert len(summary_table(swept)[0]) == 2
