"""One self-contained page of what a profile computed: scoreboard, claims, tables, figures, notes.

The page reads the files of ``results/<profile>`` only; what is missing is left out, with a line that says
how to make it. It needs no network: style, script and pictures are within, and its content policy forbids
the rest.
"""

import argparse
import math
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jinja2
import pandas as pd

from kpca_lab.suite.engine.records_file import read_records
from kpca_lab.suite.files import read_json, write_atomically
from kpca_lab.suite.judge.headline import BESIDE, headline, headline_text
from kpca_lab.suite.judge.published import KINDS, format_number, item_label
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.judge.verdicts import VERDICTS
from kpca_lab.suite.papers import paper_label, papers, titles
from kpca_lab.suite.render.markdown import natural_order, render_notes, slug
from kpca_lab.suite.render.pictures import Pictures
from kpca_lab.suite.render.runs import (
    commands_of,
    computing_time,
    experiments_of,
    lacking_items,
    provenance,
    skipped_for_want,
)
from kpca_lab.suite.render.table import to_html
from kpca_lab.suite.render.tables import MOST_ROWS, published_table, summary_table

CLAIM_VERDICTS = ("holds", "fails", "not run")
WORDS = {
    "blas": "BLAS",
    "cpu": "CPU",
    "identity": "identities that hold",
    "memory_mb": "memory [MB]",
    "modified": "changes not committed",
    "setting": "settings as printed",
}
# what the scoreboard writes for a cell that is off; the page has a link instead
READINGS = re.compile(r"^readings tried: \S+?(; |$)")


def write_report(profile_dir) -> Path:
    """Write ``<profile_dir>/report/index.html`` from the files of a profile.

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
    page = profile_dir / "report" / "index.html"
    write_atomically(page, render_report(profile_dir).encode())
    return page


def render_report(profile_dir) -> str:
    """The page of `write_report` as text."""
    profile_dir = Path(profile_dir)
    profile = profile_dir.name
    summary = read_json(profile_dir / "summary.json")
    records = {path: read_records(path) for path in sorted((profile_dir / "records").glob("*/*.csv"))}
    experiments = experiments_of(profile_dir, records, summary)
    environment = read_json(profile_dir / "environment.json")
    notes = {name: render_notes(name, paper.notes) for name, paper in papers().items()}
    board, claims = read_scoreboard(profile_dir), _claims(profile_dir)
    scoreboard = [] if board is None else _scoreboard(board, notes)
    places = [place for text in notes.values() for place in re.findall(r'id="(notes-[^"]+)"', text)]
    places += [f"notes-{name}" for name in notes if notes[name]]
    figures = sorted((profile_dir / "figures").glob("*/*.png"), key=lambda path: natural_order(path.stem))
    pictures = Pictures(figures)
    sections = []
    for name in papers():
        paper = {
            "name": name,
            "title": paper_label(name),
            "tables": _printed_tables(profile_dir, name, board, places)
            + _computed_tables(profile_dir, name, records, board),
            "figures": [_figure(path, pictures) for path in figures if path.parent.name == name],
            "notes": notes[name],
            "lacking": lacking_items(name, summary),
        }
        for item in paper["tables"] + paper["figures"]:
            item["commands"] = commands_of(name, item, profile, experiments, summary)
        sections.append(paper)
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("kpca_lab.suite.render", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["named"] = lambda text: WORDS.get(text, str(text).replace("_", " "))
    templates.filters["label"] = _label
    shown = {(paper["name"], table["item"]) for paper in sections for table in paper["tables"]}
    for cell in scoreboard:
        cell["shown"] = (cell["paper"], cell["table"]) in shown
    return templates.get_template("report.html").render(
        profile=profile,
        environment=environment,
        **provenance(environment, experiments),
        experiments=experiments,
        seconds=computing_time(summary, experiments),
        scoreboard=scoreboard,
        counts=_with_shares(_counts(scoreboard, list(VERDICTS), BESIDE), board),
        counted=headline_text(board) if scoreboard else "",
        verdicts=list(VERDICTS),
        kinds=list(KINDS),
        beside=["agree", "as described", *BESIDE],
        claims=claims,
        claim_counts=_counts(claims, list(CLAIM_VERDICTS), ["identity"]),
        claim_verdicts=list(CLAIM_VERDICTS),
        papers=sections,
        skipped=skipped_for_want(summary),
        failures=[failure for entry in experiments for failure in entry["failures"]],
        style=_template("report.css"),
        script=_template("report.js"),
    )


def _template(name) -> str:
    return resources.files("kpca_lab.suite.render").joinpath("templates", name).read_text(encoding="utf-8")


def _scoreboard(board, notes) -> list[dict]:
    """The rows of the scoreboard with their numbers as printed texts and as keys to sort by."""
    rows = []
    for cell in board.to_dict("records"):
        digits = 4 if pd.isna(cell["decimals"]) else int(cell["decimals"])
        names = ("paper", "table", "row", "column", "kind", "verdict", "reading", "verdict_as_described")
        rows.append(
            {name: cell[name] for name in names}
            | {
                "paper_title": paper_label(cell["paper"]),
                "table_label": _label(cell["table"]),
                "published": _pair(cell["published"], cell["published_sd"], digits),
                "published_key": _key(cell["published"]),
                "ours": _pair(cell["ours"], cell["ours_sd"], digits),
                "ours_key": _key(cell["ours"]),
                "as_described": format_number(cell["as_described"], digits),
                "as_described_key": _key(cell["as_described"]),
                "trials": "" if pd.isna(cell["trials"]) else int(cell["trials"]),
                "rank": VERDICTS.index(cell["verdict"]),
                "note": READINGS.sub("", cell["note"]),
                "anchor": _anchor(cell, notes),
            }
        )
    return rows


def _anchor(cell, notes) -> str:
    """The id of the notes on the table of a cell that is off, "" for other cells."""
    if cell["verdict"] != "off" or not notes.get(cell["paper"]):
        return ""
    anchor = f"notes-{cell['paper']}-{slug(cell['table'])}"
    return anchor if f'id="{anchor}"' in notes[cell["paper"]] else f"notes-{cell['paper']}"


def _pair(value, sd, decimals) -> str:
    """A mean with its deviation, as the papers print them."""
    text = format_number(value, decimals)
    return f"{text} ± {format_number(sd, decimals)}" if text and not pd.isna(sd) else text


def _key(value) -> str:
    return "" if pd.isna(value) or not math.isfinite(value) else repr(float(value))


def _claims(profile_dir) -> list[dict]:
    path = profile_dir / "claims.csv"
    if not path.is_file():
        return []
    rows = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    for row in rows:
        row["paper_title"] = paper_label(row["paper"])
        row["where"] = row.get("where", "")
    return rows


def _counts(rows, verdicts, beside) -> list[dict]:
    """The number of rows by paper and verdict, and of all; those of some kinds are counted apart."""
    found = []
    for paper in [*papers(), ""]:
        own = [row for row in rows if paper in ("", row["paper"])]
        if own:
            counted = [row["verdict"] for row in own if row["kind"] in ("result", "claim")]
            apart = {}
            for kind in beside:
                told = [row["verdict"] for row in own if row["kind"] == kind]
                told = [verdict for verdict in told if not verdict.startswith("not")]
                good = [verdict for verdict in told if verdict not in ("off", "fails")]
                apart[kind] = f"{len(good)} of {len(told)}" if told else ""
            found.append(
                {
                    "paper": paper,
                    "title": paper_label(paper) or "All papers",
                    "numbers": {name: counted.count(name) for name in verdicts},
                    "total": len(counted),
                    "beside": apart,
                }
            )
    return found


def _with_shares(counts, board) -> list[dict]:
    """The counts with the shares of the results that agree, also with the texts as they stand."""
    for row in counts:
        found = headline(board).loc[row["paper"] or "all"]
        for name, share in (("agree", found.agree), ("as described", found.agree_as_described)):
            row["beside"][name] = "" if pd.isna(share) else f"{share:.0f} %"
    return counts


def _label(item) -> str:
    label = item_label(item)
    return label[0].upper() + label[1:]


def _heading(titles, paper, item) -> str:
    """What a figure shows, after its number in the paper; without a title of its own, that of the whole."""
    parts = item.split("_")
    names = ["_".join(parts[:length]) for length in range(len(parts), 0, -1)]
    name = next((name for name in names if (paper, name) in titles), None)
    if name is None:
        return _label(item)
    numbered = re.match("(table|figure)[0-9]+", item)
    if name != item:
        label = _label(item)
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
    return [found[item] | {"printed": True} for item in sorted(found, key=natural_order)]


def _computed_tables(profile_dir, paper, records, board) -> list[dict]:
    """What was computed for each item of a paper."""
    printed = set() if board is None else set(board.table[board.paper == paper])
    found = []
    for path, rows in records.items():
        rows = rows[rows["status"] == "done"]
        if path.parent.name == paper and len(rows):
            item = f"{path.stem}_all" if path.stem in printed else path.stem
            table = summary_table(rows)[1].first(MOST_ROWS, f"{item}.csv")
            headings = [text.replace("_", " ") for text in table.headings]
            found.append(_table(profile_dir, paper, item, replace(table, headings=headings), []))
    return sorted(found, key=lambda entry: natural_order(entry["item"]))


def _table(profile_dir, paper, item, table, places) -> dict:
    label = _label(item)
    title = table.title.removeprefix(f"{paper_label(paper)}, ") or label
    folder = profile_dir / "tables" / paper
    files = [f"{item}.{suffix}" for suffix in ("csv", "md", "tex")]
    return {
        "kind": "table",
        "item": item,
        "label": label,
        "title": title[0].upper() + title[1:],
        "body": to_html(table, f"{paper_label(paper)}, {label}", places),
        "printed": False,
        "files": [f"../tables/{paper}/{name}" for name in files if (folder / name).exists()],
    }


def _figure(path, pictures) -> dict:
    paper = path.parent.name
    files = [path.with_suffix(f".{suffix}") for suffix in ("pdf", "png")]
    return {
        "kind": "figure",
        "item": path.stem,
        "label": _label(path.stem),
        "title": _heading(titles(), paper, path.stem),
        "files": [f"../figures/{paper}/{file.name}" for file in files if file.exists()],
        **pictures.embedded(path),
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
