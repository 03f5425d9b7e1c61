"""One self-contained page of what a profile computed: scoreboard, claims, tables, figures, notes.

The page reads the files of ``results/<profile>`` only; what is missing is left out, with a line that says
how to make it. It needs no network: style, script and pictures are within, and its content policy forbids
the rest.
"""

import argparse
import base64
import io
import math
import re
from importlib import resources
from pathlib import Path

import jinja2
import pandas as pd
from markupsafe import Markup
from PIL import Image

from kpca_lab.suite.engine.records_file import read_records
from kpca_lab.suite.files import read_json, write_atomically
from kpca_lab.suite.judge.published import KEY, format_number, item_label, load_published
from kpca_lab.suite.judge.scoreboard import CHOSEN_READINGS, VERDICTS, read_scoreboard, what_is_counted
from kpca_lab.suite.papers import paper_label, papers, titles
from kpca_lab.suite.render.markdown import render_notes, render_table, slug

PICTURE_WIDTH = 1400  # pixels: the width of the page at a device ratio near two
PICTURES_LIMIT = 9_000_000  # bytes of all pictures; base64 makes 12 MB of them
CLAIM_VERDICTS = ("holds", "fails", "not run")
WORDS = {
    "blas": "BLAS",
    "cpu": "CPU",
    "memory_mb": "memory [MB]",
    "modified": "changes not committed",
    "within_sd": "within SD",
}
# what the scoreboard writes for a cell that is off; the page has a link instead
READINGS = re.compile(r"^readings tried: \S+?(; |$)")
READINGS_IN_TABLE = re.compile(r"readings tried: \S*/(\w+)/notes\.md#([\w-]+)")
NUMBER = re.compile(r'(<td style="text-align:right">)([^<]*?)(?: ([=≈~✗]))?(?=</td>)')


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
    experiments = _experiments(profile_dir, summary)
    environment = read_json(profile_dir / "environment.json")
    notes = {name: render_notes(name, paper.notes) for name, paper in papers().items()}
    scoreboard, claims = _scoreboard(profile_dir, notes), _claims(profile_dir)
    pictures = _Pictures(profile_dir)
    sections = []
    for name in papers():
        paper = {
            "name": name,
            "title": paper_label(name),
            "tables": _tables(profile_dir, name, notes),
            "figures": pictures.of_paper(name, titles()),
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
        counts=_counts(scoreboard, list(VERDICTS)),
        counted=what_is_counted(read_scoreboard(profile_dir)) if scoreboard else "",
        readings=CHOSEN_READINGS.replace("`", ""),
        verdicts=list(VERDICTS),
        claims=claims,
        claim_counts=_counts(claims, list(CLAIM_VERDICTS)),
        claim_verdicts=list(CLAIM_VERDICTS),
        papers=sections,
        skipped=_skipped(summary),
        failures=[failure for entry in experiments for failure in entry["failures"]],
        style=_template("report.css"),
        script=_template("report.js"),
    )


def _template(name) -> str:
    return resources.files("kpca_lab.suite.render").joinpath("templates", name).read_text(encoding="utf-8")


def _experiments(profile_dir, summary) -> list[dict]:
    """The experiments with records: their numbers of jobs and rows, command, time, and what failed."""
    found = []
    told = summary.get("experiments", {})
    for path in sorted((profile_dir / "records").glob("*/*.csv")):
        records = read_records(path)
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
        return f"{_duration(summary['seconds'])} of computing, summed over all jobs"
    fits = sum(entry["seconds"] for entry in experiments)
    return f"{_duration(fits)} within the fits" if fits else ""


def _duration(seconds) -> str:
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


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


def _scoreboard(profile_dir, notes) -> list[dict]:
    """The rows of the scoreboard with their numbers as printed texts and as keys to sort by."""
    board = read_scoreboard(profile_dir)
    if board is None:
        return []
    decimals = load_published()[[*KEY, "decimals"]].drop_duplicates(KEY)
    rows = []
    for cell in board.merge(decimals, on=KEY, how="left").to_dict("records"):
        digits = 4 if pd.isna(cell["decimals"]) else int(cell["decimals"])
        rows.append(
            {name: cell[name] for name in ("paper", "table", "row", "column", "verdict")}
            | {
                "paper_title": paper_label(cell["paper"]),
                "table_label": _label(cell["table"]),
                "published": _pair(cell["published"], cell["published_sd"], digits),
                "published_key": _key(cell["published"]),
                "ours": _pair(cell["ours"], cell["ours_sd"], digits),
                "ours_key": _key(cell["ours"]),
                "trials": "" if pd.isna(cell["trials"]) else int(cell["trials"]),
                "rank": VERDICTS.index(cell["verdict"]) if cell["verdict"] in VERDICTS else len(VERDICTS),
                "note": READINGS.sub("", cell["note"]),
                "anchor": _anchor(cell, notes),
            }
        )
    return rows


def _anchor(cell, notes) -> str:
    """The id of the notes on the table of a cell that is off, "" for other cells."""
    if cell["verdict"] != "off" or not notes.get(cell["paper"]):
        return ""
    return _place_in_notes(cell["paper"], slug(cell["table"]), notes)


def _place_in_notes(paper, heading, notes) -> str:
    """The id of a heading of the notes, or of all notes of the paper if there is none such."""
    anchor = f"notes-{paper}-{heading}"
    return anchor if f'id="{anchor}"' in notes.get(paper, "") else f"notes-{paper}"


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


def _counts(rows, verdicts) -> list[dict]:
    """The number of rows by paper and verdict, and of all."""
    found = []
    for paper in [*papers(), ""]:
        own = [row["verdict"] for row in rows if paper in ("", row["paper"])]
        if own:
            numbers = {name: own.count(name) for name in verdicts}
            title = paper_label(paper) or "All papers"
            found.append({"paper": paper, "title": title, "numbers": numbers, "total": len(own)})
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


def _tables(profile_dir, paper, notes) -> list[dict]:
    """The tables of a paper: those that it prints, with ours beside, and what else was computed."""
    found = []
    printed = set(load_published(paper)["table"])
    for path in sorted((profile_dir / "tables" / paper).glob("*.md"), key=lambda path: _natural(path.stem)):
        label = _label(path.stem)
        title, body = render_table(path.read_text(encoding="utf-8"), f"{paper_label(paper)}, {label}")
        title = title.removeprefix(f"{paper_label(paper)}, ") or label
        body = READINGS_IN_TABLE.sub(
            lambda found: f'<a href="#{_place_in_notes(found[1], found[2], notes)}">readings tried</a>', body
        )
        if path.stem in printed:
            # a place for the mark in every cell, so that the digits of both lines are below each other
            body = NUMBER.sub(r'\1\2<span class="mark">\3</span>', body)
        else:
            body = re.sub("(?<=<th)[^<]*", lambda head: head[0].replace("_", " "), body)
        found.append(
            {
                "kind": "table",
                "item": path.stem,
                "label": label,
                "title": title[0].upper() + title[1:],
                "body": Markup(body),
                "printed": path.stem in printed,
                "files": [
                    f"../tables/{paper}/{path.stem}.{suffix}"
                    for suffix in ("csv", "md", "tex")
                    if path.with_suffix(f".{suffix}").exists()
                ],
            }
        )
    return found


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


class _Pictures:
    """The figures of a profile as data URIs, made smaller where they would be too much for one page."""

    def __init__(self, profile_dir):
        self.folder = profile_dir / "figures"
        self.paths = sorted(self.folder.glob("*/*.png"), key=lambda path: _natural(path.stem))
        total = sum(path.stat().st_size for path in self.paths)
        self.share = min(1.0, PICTURES_LIMIT / total) if total else 1.0

    def of_paper(self, paper, titles) -> list[dict]:
        found = []
        for path in self.paths:
            if path.parent.name != paper:
                continue
            content, width, height = _picture(path, self.share)
            found.append(
                {
                    "kind": "figure",
                    "item": path.stem,
                    "label": _label(path.stem),
                    "title": _heading(titles, paper, path.stem),
                    "uri": f"data:image/png;base64,{base64.b64encode(content).decode()}",
                    "width": width // 2,
                    "height": height // 2,
                    "files": [
                        f"../figures/{paper}/{path.stem}.{suffix}"
                        for suffix in ("pdf", "png")
                        if path.with_suffix(f".{suffix}").exists()
                    ],
                }
            )
        return found


def _picture(path, share) -> tuple[bytes, int, int]:
    """A picture as PNG bytes, and its size; ``share`` is the part of its bytes that it may have."""
    content = path.read_bytes()
    with Image.open(io.BytesIO(content)) as picture:
        shown = picture.size
        if share >= 1 and picture.width <= PICTURE_WIDTH:
            return content, *shown
        limit = share * len(content)
        width = min(picture.width, PICTURE_WIDTH)
        while True:
            small = _encoded(picture, width)
            # below 500 pixels the labels are lost: rather a large page than one that cannot be read
            if len(small) <= limit or width < 600:
                return small, *shown
            width = int(0.85 * width)


def _encoded(picture, width) -> bytes:
    plain = picture.convert("RGB")
    if width < picture.width:
        plain = plain.resize((width, round(width * picture.height / picture.width)), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    # 256 colours are enough for curves and grey images, and take a third of the bytes
    plain.quantize(256, method=Image.Quantize.MEDIANCUT).save(content, format="PNG", optimize=True)
    return content.getvalue()


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
