"""The pages of what a profile computed: verdicts, claims, tables, figures, notes, runs of one's own.

``report/index.html`` shows all but the long tables, which have pages of their own beside it. The pages read
the files of ``results/<profile>`` only; what is missing is left out, with a line that says how to make it.
They need no network: style and script are within, pictures are the files of the profile, and the content
policy forbids the rest.
"""

import argparse
import re
from dataclasses import replace
from pathlib import Path

from PIL import Image

from kpca_lab.suite.engine.environment import read_environment
from kpca_lab.suite.engine.records_file import RECORDS_SUFFIX, read_records
from kpca_lab.suite.engine.summary import read_summary
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.judge.headline import BESIDE, headline_text
from kpca_lab.suite.judge.published import KINDS, item_label
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.judge.verdicts import VERDICTS
from kpca_lab.suite.papers import paper_label, papers, titles
from kpca_lab.suite.render import figures
from kpca_lab.suite.render.cells import (
    MEANINGS,
    capital_label,
    claim_rows,
    counts,
    deviations,
    named,
    scoreboard_rows,
    with_shares,
)
from kpca_lab.suite.render.markdown import natural_order, render_notes
from kpca_lab.suite.render.own_runs import own_runs
from kpca_lab.suite.render.pages import style_and_script, template_environment, template_source
from kpca_lab.suite.render.runs import (
    command_of,
    computing_time,
    experiments_of,
    lacking_items,
    provenance,
    skipped_for_want,
)
from kpca_lab.suite.render.table import to_html
from kpca_lab.suite.render.tables import MOST_ROWS, published_table, summary_table

PAGE_ROWS = 50  # of the scoreboard at a time
CLAIM_VERDICTS = ("holds", "fails", "not run")


def write_report(profile_dir) -> Path:
    """Write ``<profile_dir>/report/index.html``, and the pages beside it, from the files of a profile.

    Parameters
    ----------
    profile_dir : path
        Such as ``results/quick``.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    profile_dir = Path(profile_dir)
    if not profile_dir.is_dir():
        raise FileNotFoundError(
            f"There are no results in {profile_dir}: "
            f"run make reproduce-tables PROFILE={profile_dir.name} first."
        )
    folder, runs = profile_dir / "report", own_runs(profile_dir)
    for figure in (figure for run in runs for figure in run["figures"]):
        figures.save(figure["figure"], (folder / figure["source"]).with_suffix(""))
    pages = render_report(profile_dir, runs)
    for name, text in pages.items():
        write_atomically(folder / name, text.encode())
    for path in folder.glob("*.html"):
        if path.name not in (*pages, "article.html"):  # of a table that is no longer there
            path.unlink()
    return folder / "index.html"


def render_report(profile_dir, runs=()) -> dict[str, str]:
    """The pages of `write_report` as texts, by the names of their files; ``runs`` are those of one's own."""
    profile_dir = Path(profile_dir)
    profile = profile_dir.name
    summary = read_summary(profile_dir)
    paths = sorted((profile_dir / "records").glob(f"*/*{RECORDS_SUFFIX}"))
    records = {path: read_records(path) for path in paths}
    experiments = experiments_of(profile_dir, records, summary)
    environment = read_environment(profile_dir)
    notes = {name: render_notes(name, paper.notes) for name, paper in papers().items()}
    board, claims = read_scoreboard(profile_dir), claim_rows(profile_dir)
    scoreboard = [] if board is None else scoreboard_rows(board, notes)
    sections = [_section(profile_dir, name, board, records, notes, summary) for name in papers()]
    shown = {(paper["name"], table["item"]) for paper in sections for table in paper["printed"]}
    for cell in scoreboard:
        cell["shown"] = (cell["paper"], cell["table"]) in shown
    for paper in sections:
        for item in paper["printed"] + paper["computed"] + paper["figures"]:
            item["command"] = command_of(paper["name"], item, profile, experiments, summary)
    numbers = with_shares(counts(scoreboard, list(VERDICTS), BESIDE), board)
    claim_numbers = counts(claims, list(CLAIM_VERDICTS), ["identity"])
    templates = _Templates(profile, numbers + claim_numbers)
    pages = {
        "index.html": templates.page(
            "report.html",
            environment=environment,
            **provenance(environment, experiments),
            experiments=experiments,
            seconds=computing_time(summary, experiments),
            scoreboard=scoreboard,
            page_rows=PAGE_ROWS,
            counts=numbers,
            counted=headline_text(board) if scoreboard else "",
            deviations=deviations(board),
            verdicts=list(VERDICTS),
            meanings=MEANINGS,
            kinds=list(KINDS),
            beside=["agree", "as described", *BESIDE],
            claims=claims,
            claim_counts=claim_numbers,
            claim_verdicts=list(CLAIM_VERDICTS),
            papers=sections,
            own_runs=runs,
            skipped=skipped_for_want(summary),
            failures=[failure for entry in experiments for failure in entry["failures"]],
        )
    }
    if scoreboard:
        pages["scoreboard.html"] = templates.page("scoreboard.html", scoreboard=scoreboard)
    for paper in sections:
        for table in paper["computed"]:
            pages[f"{paper['name']}-{table['item']}.html"] = templates.page(
                "table.html", table=table, paper_title=paper["title"], back=f"data-{paper['name']}"
            )
    return pages


class _Templates:
    """The templates with what all pages have: style, script, and a policy that allows these two alone."""

    def __init__(self, profile, numbers):
        self.environment = template_environment()
        self.environment.filters["named"] = named
        self.environment.filters["label"] = capital_label
        # widths of the bars: the policy forbids styles within tags
        shares = sorted({number for row in numbers for number in row["numbers"].values()})
        widths = "".join(f".share-{number} {{ flex: {number}; }}\n" for number in shares)
        look, script = template_source("report.css") + widths, template_source("report.js")
        self.common = {"profile": profile, **style_and_script(look, script)}

    def page(self, name, **values) -> str:
        return self.environment.get_template(name).render(**self.common, **values)


def _section(profile_dir, name, board, records, notes, summary) -> dict:
    """What the page says of a paper."""
    places = [place for text in notes.values() for place in re.findall(r'id="(notes-[^"]+)"', text)]
    places += [f"notes-{other}" for other in notes if notes[other]]
    figures = sorted(
        (profile_dir / "figures" / name).glob("*.png"), key=lambda path: natural_order(path.stem)
    )
    return {
        "name": name,
        "title": paper_label(name),
        "printed": _printed_tables(profile_dir, name, board, places),
        "computed": _computed_tables(profile_dir, name, records, board),
        "figures": [_figure(path) for path in figures],
        "notes": notes[name],
        "lacking": lacking_items(name, summary),
    }


def _heading(titles, paper, item) -> str:
    """What a figure shows, after its number in the paper; without a title of its own, that of the whole."""
    parts = item.split("_")
    names = ["_".join(parts[:length]) for length in range(len(parts), 0, -1)]
    name = next((name for name in names if (paper, name) in titles), None)
    if name is None:
        return capital_label(item)
    numbered = re.match("(table|figure)[0-9]+", item)
    if name != item:
        label = capital_label(item)
    elif numbered:
        label = f"{'Plot of ' * item.startswith('table')}{item_label(numbered[0])}"
    else:
        return titles[paper, name]
    return f"{label}: {titles[paper, name]}"


def _printed_tables(profile_dir, paper, board, places) -> list[dict]:
    """The tables that a paper prints, with ours beside."""
    if board is None:
        return []
    found = {}
    for item, rows in board[board.paper == paper].groupby("table", sort=False):
        found[item] = _table(profile_dir, paper, item, published_table(rows), places)
    return [found[item] for item in sorted(found, key=natural_order)]


def _computed_tables(profile_dir, paper, records, board) -> list[dict]:
    """What was computed for each item of a paper."""
    printed = set() if board is None else set(board.table[board.paper == paper])
    found = []
    for path, rows in records.items():
        rows = rows[rows["status"] == "done"]
        if path.parent.name == paper and len(rows):
            item = path.name.removesuffix(RECORDS_SUFFIX)
            item = f"{item}_all" if item in printed else item
            table = summary_table(rows)[1].first(MOST_ROWS, f"{item}.csv")
            headings = [text.replace("_", " ") for text in table.headings]
            found.append(_table(profile_dir, paper, item, replace(table, headings=headings), []))
    return sorted(found, key=lambda entry: natural_order(entry["item"]))


def _table(profile_dir, paper, item, table, places) -> dict:
    label = capital_label(item)
    title = table.title.removeprefix(f"{paper_label(paper)}, ") or label
    folder = profile_dir / "tables" / paper
    files = [f"{item}.{suffix}" for suffix in ("csv", "md", "tex")]
    return {
        "kind": "table",
        "item": item,
        "label": label,
        "title": title[0].upper() + title[1:],
        "body": to_html(table, f"{paper_label(paper)}, {label}", places),
        "files": [f"../tables/{paper}/{name}" for name in files if (folder / name).exists()],
    }


def _figure(path) -> dict:
    paper = path.parent.name
    files = [path.with_suffix(f".{suffix}") for suffix in ("pdf", "png")]
    with Image.open(path) as picture:
        width, height = picture.size
    return {
        "kind": "figure",
        "item": path.stem,
        "label": capital_label(path.stem),
        "title": _heading(titles(), paper, path.stem),
        "files": [f"../figures/{paper}/{file.name}" for file in files if file.exists()],
        "source": f"../figures/{paper}/{path.name}",
        "width": width,
        "height": height,
    }


def main(arguments=None) -> None:
    """Command line: ``python -m kpca_lab.suite.render.report results/quick``."""
    parser = argparse.ArgumentParser(description="Write the report page of a profile's results.")
    parser.add_argument("profile_dir", type=Path, help="such as results/quick")
    chosen = parser.parse_args(arguments)
    try:
        print(write_report(chosen.profile_dir))
    except FileNotFoundError as error:
        parser.exit(1, f"error: {error}\n")


if __name__ == "__main__":
    main()
