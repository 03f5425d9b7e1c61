"""The replication report: what it holds, and that LaTeX can set it."""

import re
import shutil
import subprocess

import pandas as pd
import pytest
from report_profile import make_profile
from test_report_content import Structure

from kpca_lab.cli import reproduce
from kpca_lab.suite.files import read_json
from kpca_lab.suite.judge.headline import headline_text
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.papers import paper_label, papers
from kpca_lab.suite.render import article_tex
from kpca_lab.suite.render.article import Article, write_article
from kpca_lab.suite.render.document import Bullets, Heading, Paragraph, from_markdown, plain
from kpca_lab.suite.render.report import write_report
from kpca_lab.suite.render.table import Table, tex_escape

PARTS = (
    "what-was-claimed",
    "data-and-deviations",
    "tables-side-by-side",
    "what-held-and-what-did-not",
    "cost",
)


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    return make_profile(tmp_path_factory.mktemp("results") / "quick", pictures=False)


@pytest.fixture(scope="module")
def written(profile):
    """The page, the TeX, and why there is no PDF."""
    path, problem = write_article(profile)
    return path.read_text(encoding="utf-8"), path.with_suffix(".tex").read_text(encoding="utf-8"), problem


def test_every_paper_has_its_section_and_nothing_is_left_open(written):
    page, text, _ = written
    found = Structure()
    found.feed(page)
    assert not found.open and len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert all(after <= before + 1 for before, after in zip(found.headings, found.headings[1:]))
    assert papers() and set(papers()) <= set(found.ids)
    for name in papers():
        assert rf"\section{{{tex_escape(paper_label(name))}}}" in text
    # the profile has records and claims of this one
    assert {f"washizawa2012-{part}" for part in PARTS} <= set(found.ids)
    assert "notes-washizawa2012-table-1" in found.ids


def test_numbers_are_those_of_the_files(written, profile):
    page, text, _ = written
    board = read_scoreboard(profile)
    assert headline_text(board) in page
    assert tex_escape(headline_text(board).split(";")[0]) in text
    claims = pd.read_csv(profile / "claims.csv")
    assert all(number in page for number in claims.numbers)
    assert read_json(profile / "environment.json")["packages"]["numpy"] in page
    assert "1.0025 ± 0.0019" in page and r"1.0025 $\pm$ 0.0019" in text
    assert "make reproduce-tables reproduce-figures PROFILE=quick ONLY=washizawa2012" in page


def test_the_report_leaves_the_article_alone(tmp_path):
    (tmp_path / "quick" / "report").mkdir(parents=True)
    kept = tmp_path / "quick" / "report" / "article.html"
    kept.write_text("x")
    assert write_report(tmp_path / "quick").is_file() and kept.read_text() == "x"


def test_without_verdicts_the_command_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="make reproduce-tables PROFILE=quick"):
        write_article(tmp_path / "quick")


def test_without_latex_a_line_says_so_and_an_old_pdf_goes(tmp_path, monkeypatch):
    folder = make_profile(tmp_path / "quick", pictures=False, cells=5)
    (folder / "report").mkdir()
    (folder / "report" / "article.pdf").write_bytes(b"old")
    monkeypatch.setattr(article_tex.shutil, "which", lambda name: None)
    path, problem = write_article(folder)
    assert path.is_file() and problem == "pdflatex is not installed"
    assert not (folder / "report" / "article.pdf").exists()


@pytest.mark.parametrize("command", ["article", "report"])
def test_the_command_says_what_to_run_first(tmp_path, capsys, command):
    with pytest.raises(SystemExit, match="2"):
        reproduce.main([command, "--profile", "smoke", "--results-dir", str(tmp_path)])
    assert "run make reproduce-tables PROFILE=smoke first" in capsys.readouterr().err


def test_the_command_names_what_it_wrote_and_what_is_missing(tmp_path, capsys, monkeypatch):
    make_profile(tmp_path / "quick", pictures=False, cells=5)
    monkeypatch.setattr(article_tex.shutil, "which", lambda name: None)
    assert reproduce.main(["article", "--results-dir", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out == f"article: {tmp_path / 'quick' / 'report' / 'article.html'}\n"
    assert told.err == "no article.pdf: pdflatex is not installed\n"


def overfull(text, folder):
    """What LaTeX says of boxes that are too wide, after two runs."""
    (folder / "article.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
    return re.findall(r"Overfull.*(?:\n.*){2}", done.stdout)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_it_without_overfull_boxes(written, profile, tmp_path):
    _, text, problem = written
    assert not problem and (profile / "report" / "article.pdf").read_bytes().startswith(b"%PDF")
    shutil.copy(profile / "report" / "article-deviations.pdf", tmp_path)
    assert not overfull(text, tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_any_table_and_any_letter(tmp_path):
    number, words = "123456.7890 ± 0.1234 ✗", "[words] & 50 % of_many_words/and_paths.csv, x^2 < 3"
    blocks = [
        Table(
            "Wide", ["row", *["column of numbers"] * 30], [["a", *[number] * 30]] * 3, [True] + [False] * 30
        ),
        Table("Long", ["*a", "b"], [["x", words * 9]] * 60, [True, True], ["A note: 5 %."]),
        Table("Texts", ["a", "b", "c", "d"], [[words * 4] * 4] * 3, [True] * 4),
        Table("", ["only"], [["1"]] * 9, [False]),
        Heading(3, "Heading_with $ letters", "x"),
        Bullets((plain("[in brackets]"), plain("σ ≤ 2, α → ∞, Nyström, 漢字, \U0001f600, K^(1/2) ~ E_emp"))),
        Paragraph(plain("<|>^~\\{}_#$%&")),
    ]
    article = Article("Title & more", "100 %", [Paragraph(plain("x"))], blocks)
    assert not overfull(article_tex.render_tex(article), tmp_path)


def test_notes_become_blocks_with_powers_and_indices():
    text = "# T\n\nE_emp at `a_b` *and* 10^-5.1\n\n## One\n\n- x\n- y\n\n### Deep\n\nleft out\n\n## Two\n\n"
    text += "| a | b |\n|---|--:|\n| D^2 | `c` |\n"
    first, one, entries, two, table = from_markdown(text, 3, "n", deepest=2)
    kinds = [(span.kind, span.text) for span in first.spans]
    assert kinds[:4] == [("", "E"), ("sub", "emp"), ("", " at "), ("code", "a_b")]
    assert ("em", "and") in kinds and kinds[-1] == ("sup", "-5.1")
    assert one == Heading(3, "One", "n-one") and two.name == "n-two" and len(entries.entries) == 2
    assert (table.headings, table.rows, table.left) == (["a", "b"], [["D^2", "c"]], [True, False])
    assert from_markdown(text, 3, "n", 2, most_rows=0)[-1] == Paragraph(
        plain("(A table of 1 lines is in the notes.)")
    )
    assert [span.text for span in plain("swiss_roll_hole x_1")] == ["swiss_roll_hole x", "1"]
