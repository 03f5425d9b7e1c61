"""Papers are found by their folders: kpca_lab names none, and a new one needs new files only."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import kpca_lab
from kpca_lab.suite.papers import papers
from kpca_lab.suite.places import conf_folder, experiments_folder

PACKAGE = Path(kpca_lab.__file__).parent
TEXTS = (".py", ".html", ".css", ".js", ".md", ".txt")

ITEM = """\
# @package _global_
defaults:
  - override /dataset: parabola
  - override /method: [full, subset]
  - override /metric: [empirical_error]

experiment: {paper}/{item}
title: A title of {paper}
kernel: {{kernel: rbf, gamma: 1.0}}
n_train: 20
n_basis: [5]
n_components: 2
n_trials: 2
"""
PUBLISHED = """\
paper,table,row,column,value,sd,trials,decimals,unit,kind,flag,note
{paper},table1,SubKPCA,error,0.5,0.1,2,1,,result,,
{paper},text,Section 1,basis size,5,,,0,,setting,,
"""
MODULE = """\
from matplotlib.figure import Figure

from kpca_lab.suite.hooks import Cell, Claim, experiment
from kpca_lab.suite.judge.claims import statement


@experiment.cells("{paper}/table1")
def cells(records, settings):
    values = records[records.method == "subset"].value
    found = [
        Cell("table1", "SubKPCA", "error", values.mean(), values.std(), len(values)),
        Cell("text", "Section 1", "basis size", settings["n_basis"][0]),
    ]
    return found + {more_cells}


@experiment.figure("{paper}/figure1")
def figure(records, arrays):
    {draw}
    return Figure()


@statement("{paper}-claim", "{paper}", "Section 1", "The error is positive.", limit="ours")
def positive(records):
    return Claim({holds}, "all of them")
"""


def make_paper(
    root, paper, *, more_cells="[]", draw="records.kernel_name", holds="(records.value > 0).all()"
):
    """Write a paper with one table and one figure: files in two new folders."""
    own, conf = root / "experiments" / paper, root / "conf" / "experiment" / paper
    own.mkdir()
    conf.mkdir()
    for item in ("table1", "figure1"):
        (conf / f"{item}.yaml").write_text(ITEM.format(paper=paper, item=item))
    (own / "__init__.py").touch()
    (own / "notes.md").write_text(f"# Author {paper[-4:]}: readings tried\n\n## Table 1\n\nNone.\n")
    (own / "published.csv").write_text(PUBLISHED.format(paper=paper))
    (own / "claims.py").write_text(MODULE.format(paper=paper, more_cells=more_cells, draw=draw, holds=holds))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A root with a good paper, one whose parts fail and one that cannot be imported; what came of them."""
    if experiments_folder() is None:
        pytest.skip("needs the folder of the experiments")
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(conf_folder(), root / "conf")
    (root / "experiments").mkdir()
    for path in experiments_folder().glob("*.py"):  # the papers that are there would only take time
        shutil.copy(path, root / "experiments")
    make_paper(root, "good2030")
    make_paper(
        root,
        "bad2031",
        more_cells='[Cell("table1", "mistyped", "error", 1.0)]',
        draw="raise KeyError('no such column')",
        holds="1 / 0",
    )
    make_paper(root, "broken2032")
    (root / "experiments" / "broken2032" / "claims.py").write_text("import no_such_module\n")
    command = [sys.executable, "-m", "experiments.reproduce", "all", "--profile", "smoke", "--workers", "1"]
    command += [word for paper in ("good2030", "bad2031", "broken2032") for word in ("--only", paper)]
    paths = os.pathsep.join([str(root), str(PACKAGE.parent)])
    environment = os.environ | {"KPCA_LAB_ROOT": str(root), "PYTHONPATH": paths}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    return root / "results" / "smoke", done


def test_the_package_names_no_paper():
    names = "|".join(map(re.escape, papers()))
    authors = "|".join(
        {word for paper in papers().values() for word in re.findall("[A-Z][a-z]+", paper.label)}
    )
    if not names:
        pytest.skip("needs the folder of the experiments")
    for path in PACKAGE.rglob("*"):
        if path.suffix in TEXTS and "conf" not in path.relative_to(PACKAGE).parts:
            text = path.read_text(encoding="utf-8")
            assert not re.search(names, text), f"{path} names a paper"
            # estimators cite who they come from; what runs and judges has no need to
            if {"suite", "cli"} & set(path.relative_to(PACKAGE).parts):
                assert not re.search(rf"\b({authors})\b", text), f"{path} names an author"


def test_a_new_paper_is_in_tables_scoreboard_claims_figures_report_and_article(ran):
    folder, done = ran
    board = pd.read_csv(folder / "scoreboard.csv").query("paper == 'good2030'")
    assert board.ours.notna().all() and len(board) == 2, done.stderr
    assert "A title of good2030" in (folder / "tables" / "good2030" / "table1.md").read_text()
    claims = pd.read_csv(folder / "claims.csv").query("paper == 'good2030'")
    assert claims.verdict.tolist() == ["holds"] and claims.limit.tolist() == ["ours"]
    assert (folder / "figures" / "good2030" / "figure1.png").is_file()
    page = (folder / "report" / "index.html").read_text()
    assert '<h2 id="good2030">Author 2030</h2>' in page and 'id="table-good2030-table1"' in page
    assert 'id="figure-good2030-figure1"' in page and 'id="claim-good2030-claim"' in page
    article = (folder / "report" / "article.html").read_text()
    assert '<h2 id="good2030">Author 2030</h2>' in article and 'id="good2030-what-was-claimed"' in article


def test_what_is_wrong_with_one_paper_is_told_and_costs_the_others_nothing(ran):
    folder, done = ran
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    for text in (
        "bad2031/table1: no such published cell: bad2031 | table1 | mistyped | error",
        "bad2031/figure1: KeyError: 'no such column'",
        "bad2031 claim bad2031-claim: could not be checked: ZeroDivisionError",
        "broken2032/table1: ModuleNotFoundError: No module named 'no_such_module'",
        "broken2032: ModuleNotFoundError",
    ):
        assert any(text in line for line in told), (text, told)
    # the right cell beside the mistyped one is there
    assert pd.read_csv(folder / "scoreboard.csv").query("paper == 'bad2031'").ours.notna().all()
