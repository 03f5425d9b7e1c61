"""The replication report: an article on what came of each paper, as HTML and as PDF.

It is made of records, verdicts, claims, notes and the environment: no number in it is written by hand. Every
paper that is found has a section of the same form: what was claimed, data and deviations, readings tried and
chosen, tables side by side, what held and what did not, and what it cost.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kpca_lab.suite.engine.environment import read_environment
from kpca_lab.suite.engine.records_file import RECORDS_SUFFIX, read_records
from kpca_lab.suite.engine.summary import read_summary
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.judge.headline import BESIDE, headline, headline_text
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.judge.verdicts import AGREE
from kpca_lab.suite.papers import paper_label, papers
from kpca_lab.suite.render import figures
from kpca_lab.suite.render.article_sections import Profile, paper_section, share
from kpca_lab.suite.render.article_tex import compile_tex, render_tex
from kpca_lab.suite.render.cells import MEANINGS, claim_rows, deviations, named
from kpca_lab.suite.render.document import (
    Block,
    Heading,
    Paragraph,
    Picture,
    Span,
    plain,
    spans_to_html,
)
from kpca_lab.suite.render.pages import style_and_script, template_environment, template_source
from kpca_lab.suite.render.plots.deviations import deviation_strips
from kpca_lab.suite.render.runs import computing_time, experiments_of, provenance
from kpca_lab.suite.render.table import Table, to_html
from kpca_lab.suite.render.tables import MARKS

__all__ = ["Article", "make_article", "write_article"]

PICTURE = "article-deviations"
JUDGED = (
    "Every number that a paper prints was copied into a file with its digits, its spread and what kind of "
    "number it is; ours is computed by a configuration of the same name. The verdict is the first of these "
    "rules that applies. Only results count as evidence."
)


@dataclass(frozen=True)
class Article:
    """The article: title, a line with date and version, abstract, and the rest."""

    title: str
    date: str
    abstract: list[Paragraph]
    blocks: list[Block]


def write_article(profile_dir) -> tuple[Path, str]:
    """Write ``<profile_dir>/report/article.html``, and ``article.pdf`` where LaTeX is installed.

    Parameters
    ----------
    profile_dir : path
        Such as ``results/paper``.

    Returns
    -------
    path : Path
        The page.
    problem : str
        Why there is no PDF, in a line; "" if there is one.

    Raises
    ------
    FileNotFoundError
        If the profile has no scoreboard.
    """
    profile = _read(Path(profile_dir))
    folder = Path(profile_dir) / "report"
    article = make_article(profile, folder)
    path = folder / "article.html"
    write_atomically(path, _render_html(article, profile.name).encode())
    text = render_tex(article)
    write_atomically(folder / "article.tex", text.encode())
    problem = compile_tex(text, folder, folder / "article.pdf")
    if problem:
        (folder / "article.pdf").unlink(missing_ok=True)  # of another run
    return path, problem


def _read(folder: Path) -> Profile:
    board = read_scoreboard(folder)
    if board is None:
        raise FileNotFoundError(
            f"There are no verdicts in {folder}: run make reproduce-tables PROFILE={folder.name} first."
        )
    summary = read_summary(folder)
    records = {path: read_records(path) for path in sorted((folder / "records").glob(f"*/*{RECORDS_SUFFIX}"))}
    experiments = experiments_of(folder, records, summary)
    environment = read_environment(folder)
    return Profile(folder.name, board, claim_rows(folder), records, experiments, summary, environment)


def make_article(profile: Profile, folder: Path) -> Article:
    """The article; its picture is written into the folder."""
    made = provenance(profile.environment, profile.experiments)
    last = made["dates"][-1][:10] if made["dates"] else ""
    sections = [block for name in papers() for block in paper_section(profile, name)]
    version = profile.environment.get("packages", {}).get("kpca-lab")
    date = [
        f"profile {profile.name}",
        f"computed {last}" if last else "",
        f"kpca-lab {version}" if version else "",
    ]
    return Article(
        title=f"Approximations of kernel PCA: {len(papers())} papers computed again",
        date=", ".join(filter(None, date)),
        abstract=[
            Paragraph(plain(headline_text(profile.board))),
            Paragraph(plain(_claims_in_words(profile.claims))),
        ],
        blocks=[*_overview(profile, folder), *sections, *_versions(profile, made)],
    )


def _claims_in_words(claims) -> str:
    if not claims:
        return "No claims were checked."
    parts = []
    for kind, words in (
        ("claim", "claims that can fail"),
        ("identity", "statements that hold by construction"),
    ):
        verdicts = [row["verdict"] for row in claims if row["kind"] == kind]
        waiting = verdicts.count("not run")
        more = f" ({waiting} more were not checked)" if waiting else ""
        parts.append(f"Of {len(verdicts) - waiting} {words}, {verdicts.count('holds')} hold{more}.")
    return " ".join(parts)


def _overview(profile, folder) -> list[Block]:
    blocks: list[Block] = [
        Heading(1, "How it was judged", "judged"),
        Paragraph(plain(JUDGED)),
        Table(
            "",
            ["verdict", "mark", "meaning"],
            [[named(verdict), MARKS.get(verdict, ""), text] for verdict, text in MEANINGS.items()],
            [True, True, True],
        ),
        _headline_table(profile),
    ]
    found = deviations(profile.board)
    if found["rows"]:
        figure = deviation_strips(found)
        width, height = (round(figures.PNG_DPI * inches) for inches in figure.get_size_inches())
        figures.save(figure, folder / PICTURE)
        title = (
            f"Published against ours: the deviation of each of the {found['cells']} results that were "
            "compared, in per cent of the printed number. The scale is linear near 0 and logarithmic beyond; "
            "what is off by more than 100 % stands at the edge."
        )
        blocks.append(Picture(PICTURE, title, width, height))
    return blocks


def _headline_table(profile) -> Table:
    counts = headline(profile.board)
    names = (*AGREE, "off")
    headings = ["paper", *names, "agree", "as described", "not compared"]
    headings += [*map(named, BESIDE), "claims", "identities"]
    rows = []
    for paper in [*papers(), "all"]:
        cells = [paper_label(paper) if paper != "all" else "all"]
        if paper in counts.index:
            found = counts.loc[paper]
            cells += [f"{found[name]:.0f}" for name in names]
            cells += [
                "–" if pd.isna(found[name]) else f"{found[name]:.1f} %" for name in counts if "agree" in name
            ]
            cells += [f"{found.not_comparable + found.not_run:.0f}"]
            cells += [share(found[kind], found[f"{kind}_compared"]) for kind in BESIDE]
        else:
            cells += ["–"] * (len(headings) - 3)
        for kind in ("claim", "identity"):
            own = [row for row in profile.claims if row["kind"] == kind and paper in ("all", row["paper"])]
            verdicts = [row["verdict"] for row in own]
            cells.append(share(verdicts.count("holds"), verdicts.count("holds") + verdicts.count("fails")))
        rows.append(cells)
    return Table(
        "Results by verdict, and what else was checked",
        headings,
        rows,
        [True] + [False] * (len(headings) - 1),
    )


def _versions(profile, made) -> list[Block]:
    blocks: list[Block] = [Heading(1, "Versions and seeds", "versions")]
    rows = []
    for key, value in profile.environment.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {version or 'not installed'}" for name, version in value.items())
        elif isinstance(value, list):
            value = "; ".join(" ".join(str(part) for part in entry.values() if part) for entry in value)
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        rows.append([named(key), "unknown" if value is None else str(value)])
    if rows:
        blocks.append(Table("", ["", "of the last run"], rows, [True, True]))
    text = (
        "Seeds and divisions of every item are in the tables of cost; the same seed gives the same numbers. "
        f"{computing_time(profile.summary, profile.experiments)}. "
    )
    commits = ", ".join(filter(None, made["commits"]))
    text += f"Code of the items: commit {commits}. " if commits else ""
    blocks.append(
        Paragraph(
            (
                *plain(text + "This text is made again by "),
                Span(f"make article PROFILE={profile.name}", "code"),
                Span("."),
            )
        )
    )
    return blocks


def _render_html(article: Article, profile: str) -> str:
    environment = template_environment()

    def rich(text):
        return spans_to_html(plain(text))

    environment.filters |= {
        "plain": rich,
        "spans": spans_to_html,
        "table": lambda table: to_html(table, table.title or "Table", text_to_html=rich),
    }
    common = style_and_script(template_source("report.css"), template_source("report.js"))
    return environment.get_template("article.html").render(article=article, profile=profile, **common)
