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
from kpca_lab.suite.judge.headline import BESIDE, headline_text
from kpca_lab.suite.judge.published import KINDS, format_number, item_label
from kpca_lab.suite.judge.scoreboard import read_scoreboard
from kpca_lab.suite.judge.verdicts import VERDICTS
from kpca_lab.suite.measure.timing import duration
from kpca_lab.suite.papers import paper_label, papers, titles
from kpca_lab.suite.render.markdown import render_notes, slug
from kpca_lab.suite.render.pictures import Pictures
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
    experiments = _experiments(profile_dir, records, summary)
    environment = read_json(profile_dir / "environment.json")
    notes = {name: render_notes(name, paper.notes) for name, paper in papers().items()}
    board, claims = read_scoreboard(profile_dir), _claims(profile_dir)
    scoreboard = [] if board is None else _scoreboard(board, notes)
    places = [place for text in notes.values() for place in re.findall(r'id="(notes-[^"]+)"', text)]
    places += [f"notes-{name}" for name in notes if notes[name]]
    figures = sorted((profile_dir / "figures").glob("*/*.png"), key=lambda path: _natural(path.stem))
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
            "lacking": _lacking(name, summary),
        }
        for item in paper["tables"] + paper["figures"]:
            item["commands"] = _commands(name, item, profile, experiments, summary)
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
        **_provenance(environment, experiments),
        experiments=experiments,
        seconds=_seconds(summary, experiments),
        scoreboard=scoreboard,
        counts=_counts(scoreboard, list(VERDICTS), BESIDE),
        counted=headline_text(board) if scoreboard else "",
        verdicts=list(VERDICTS),
        kinds=list(KINDS),
        beside=list(BESIDE),
        claims=claims,
        claim_counts=_counts(claims, list(CLAIM_VERDICTS), ["identity"]),
        claim_verdicts=list(CLAIM_VERDICTS),
        papers=sections,
        skipped=_skipped(summary),
        failures=[failure for entry in experiments for failure in entry["failures"]],
        style=_template("report.css"),
        script=_template("report.js"),
    )


def _template(name) -> str:
    return resources.files("kpca_lab.suite.render").joinpath("templates", name).read_text(encoding="utf-8")


def _experiments(profile_dir, found_records, summary) -> list[dict]:
    """The experiments with records: their numbers of jobs and rows, command, time, and what failed."""
    found = []
    told = summary.get("experiments", {})
    for path, records in found_records.items():
        bad = records[records["status"] != "done"]
        failures = bad[["experiment", "dataset", "split", "method", "selector", "status", "error"]]
        fits = records.drop_duplicates(["job", "method", "selector", "m", "seconds"])["seconds"]
        name = f"{path.parent.name}/{path.stem}"
        own = told.get(name, {})
        command = "" if name.startswith("custom/") else f"python -m experiments.run +experiment={name}"
        found.append(
            {
                "name": name,
                "command": own.get("command") or (command and f"{command} profile={profile_dir.name}"),
                "jobs": records["job"].nunique(),
                "rows": len(records),
                "seconds": own.get("seconds") or float(fits.sum()),
                "date": _day_and_time(own.get("date")),
                "commit": _commit(own),
                "failures": failures.drop_duplicates().to_dict("records"),
            }
        )
    return found


def _day_and_time(date) -> str:
    """``2026-01-02T03:04:05+00:00`` as ``2026-01-02 03:04 UTC``."""
    return f"{date[:16].replace('T', ' ')} UTC" if date else ""


def _commit(entry) -> str:
    """The commit that an experiment, or the last run, was computed with."""
    changed = ", with changes" if entry.get("modified") else ""
    return f"{entry['commit'][:12]}{changed}" if entry.get("commit") else ""


def _provenance(environment, experiments) -> dict:
    """First and last date, and the commits, of the experiments; of the last run where these are not told."""
    told = [entry for entry in experiments if entry["date"]]
    if not told and environment:
        told = [{"date": _day_and_time(environment.get("date")), "commit": _commit(environment)}]
    dates = sorted(entry["date"] for entry in told)
    return {"dates": [dates[0], dates[-1]] if told else [], "commits": sorted({e["commit"] for e in told})}


def _seconds(summary, experiments) -> str:
    """What the profile took: as the runs say, else the sum of the fits."""
    if isinstance(summary.get("seconds"), int | float):
        return f"{duration(summary['seconds'])} of computing, summed over all jobs"
    fits = sum(entry["seconds"] for entry in experiments)
    return f"{duration(fits)} within the fits" if fits else ""


def _skipped(summary) -> list[dict]:
    """What was left out for want of data or a package: (experiments, command) by what is missing."""
    found = []
    for missing, (experiments, command) in sorted(summary.get("skipped", {}).items()):
        found.append({"missing": missing, "experiments": experiments, "command": command})
    return found


def _lacking(paper, summary) -> list[str]:
    """The items of a paper that lack data or a package, each with what is missing."""
    lacking = {}
    for missing, (experiments, _) in sorted(summary.get("skipped", {}).items()):
        for name in experiments:
            if name.startswith(f"{paper}/"):
                lacking.setdefault(name.partition("/")[2], []).append(missing)
    return [f"{item} ({', '.join(lacking[item])})" for item in sorted(lacking, key=_natural)]


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
    return [found[item] | {"printed": True} for item in sorted(found, key=_natural)]


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
    return sorted(found, key=lambda entry: _natural(entry["item"]))


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


def _natural(name) -> list:
    """A key that puts table2 before table10."""
    parts = slug(name).split("-")
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _commands(paper, item, profile, experiments, summary) -> list[str]:
    """What makes a table or figure again: its experiment, if it is one of its own, and the writing of it."""
    make = {"table": "reproduce-tables", "figure": "reproduce-figures"}[item["kind"]]
    # the summary knows experiments without records too
    known = {name: entry["command"] for name, entry in summary.get("experiments", {}).items()}
    known |= {entry["name"]: entry["command"] for entry in experiments}
    name = f"{paper}/{item['item']}"
    if name not in known:
        # figure3_concrete and table1_all come from the records of figure3 and table1
        name = next((other for other in known if name.startswith(f"{other}_")), None)
    if name is None:
        return [f"make {make} PROFILE={profile} ONLY={paper}"]
    return [f"make {make} PROFILE={profile} ONLY={name}", known[name]]


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
