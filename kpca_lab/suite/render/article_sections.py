"""What the article says of a paper, always in the same form.

What was claimed, data and deviations, readings tried and chosen, tables side by side, what held and what did
not, and what it cost.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from kpca_lab.datasets.catalogue import CATALOGUE
from kpca_lab.suite.engine.records_file import RECORDS_SUFFIX
from kpca_lab.suite.judge.headline import item_ranges
from kpca_lab.suite.judge.published import KINDS, format_number
from kpca_lab.suite.judge.verdicts import AGREE
from kpca_lab.suite.measure.timing import duration
from kpca_lab.suite.papers import paper_label, papers
from kpca_lab.suite.render.cells import READINGS, capital_label
from kpca_lab.suite.render.document import Block, Bullets, Heading, Paragraph, Span, from_markdown, plain
from kpca_lab.suite.render.labels import dataset_label
from kpca_lab.suite.render.markdown import natural_order
from kpca_lab.suite.render.runs import lacking_items
from kpca_lab.suite.render.table import Table
from kpca_lab.suite.render.tables import published_table

__all__ = ["Profile", "paper_section", "share"]

NOUNS = {kind: kind for kind in KINDS} | {"derived": "derived number", "calibrated": "calibrated number"}
MOST_ROWS = 12  # of a table in the notes; longer ones are on the report page
SHOWN = ("result", "calibrated")  # kinds of numbers whose tables are printed side by side


@dataclass(frozen=True)
class Profile:
    """What the files of a profile say."""

    name: str
    board: pd.DataFrame
    claims: list[dict]
    records: dict[Path, pd.DataFrame]
    experiments: list[dict]
    summary: dict
    environment: dict


def share(part, whole) -> str:
    """``3 of 4``, or a dash for nothing."""
    return f"{part:.0f} of {whole:.0f}" if whole else "–"


def paper_section(profile: Profile, name: str) -> list[Block]:
    """The section on the paper of that name."""
    notes = from_markdown(papers()[name].notes, 3, f"notes-{name}", deepest=2, most_rows=MOST_ROWS)
    first = next((place for place, block in enumerate(notes) if isinstance(block, Heading)), 1)
    claims = [row for row in profile.claims if row["paper"] == name]
    claims = [row | {"number": f"C{place}"} for place, row in enumerate(claims, 1)]
    board = profile.board[profile.board.paper == name]
    own = {path: rows for path, rows in profile.records.items() if path.parent.name == name}
    parts: dict[str, list[Block]] = {
        "What was claimed": _claimed(claims),
        "Data and deviations": _data(profile, name, board, own),
        "Readings tried and chosen": [*_readings(board), *notes[first:]],
        "Tables side by side": _side_by_side(board),
        "What held and what did not": _held(claims),
        "Cost": _cost(profile, name, own),
    }
    blocks: list[Block] = [Heading(1, paper_label(name), name), *notes[:first]]
    for title, content in parts.items():
        if content:
            blocks += [Heading(2, title, f"{name}-{title.lower().replace(' ', '-')}"), *content]
    return blocks


def _claimed(claims) -> list[Block]:
    limits = {"of the text": "the text's"}
    rows = [
        [
            row["number"],
            row["statement"],
            "identity" if row["kind"] == "identity" else limits.get(row["limit"], row["limit"]),
            row["where"],
        ]
        for row in claims
    ]
    return [Table("", ["", "statement", "limit", "where"], rows, [True] * 4)] if rows else []


def _held(claims) -> list[Block]:
    if not claims:
        return []
    order = ("holds", "fails", "not run")
    told = [(verdict, [row["number"] for row in claims if row["verdict"] == verdict]) for verdict in order]
    words = "; ".join(f"{verdict}: {', '.join(numbers)}" for verdict, numbers in told if numbers)
    rows = [[row["number"], row["verdict"], row["numbers"]] for row in claims]
    return [
        Paragraph(plain(words[0].upper() + words[1:] + ".")),
        Table("", ["", "verdict", "what was found"], rows, [True] * 3),
    ]


def _data(profile, name, board, records) -> list[Block]:
    blocks: list[Block] = []
    used: dict[str, set[str]] = {}
    for path, rows in records.items():
        for dataset in rows["dataset"].unique():
            used.setdefault(dataset, set()).add(path.name.removesuffix(RECORDS_SUFFIX))
    rows = []
    for dataset, items in sorted(used.items()):
        entry = CATALOGUE.get(dataset)
        rows.append(
            [dataset_label(dataset), entry.summary.replace("`", "") if entry else "", item_ranges(items)]
        )
    if rows:
        blocks.append(Table("", ["data set", "what it is", "used for"], rows, [True] * 3))
    deviating = []
    for cell in board[(board.kind == "setting") & (board.verdict == "off")].itertuples():
        printed, ours = (format_number(value, int(cell.decimals)) for value in (cell.published, cell.ours))
        deviating.append(
            plain(
                f"{cell.row}, {cell.column}: printed {printed}, here {ours}; {_note(cell.note)}".rstrip("; ")
            )
        )
    for reason, kinds in _not_compared(board).items():
        deviating.append(plain(f"Not compared: {kinds}: {reason}."))
    if lacking := lacking_items(name, profile.summary):
        deviating.append(plain(f"All or parts are missing of: {'; '.join(lacking)}."))
    if deviating:
        blocks.append(Bullets(tuple(deviating)))
    return blocks


def _not_compared(board) -> dict[str, str]:
    """Why numbers were not compared, and which: by reason."""
    found: dict[str, dict[str, int]] = {}
    for cell in board[board.verdict == "not_comparable"].itertuples():
        kinds = found.setdefault(_note(cell.note).partition("; ")[0].rstrip("."), {})
        kinds[cell.kind] = kinds.get(cell.kind, 0) + 1
    return {
        reason: ", ".join(f"{count} {NOUNS[kind]}{'s' * (count != 1)}" for kind, count in kinds.items())
        for reason, kinds in found.items()
    }


def _note(text) -> str:
    """The note of a cell without the sentence that it was read from and the place of the readings."""
    return re.sub(r'(; )?text: ".*"$', "", READINGS.sub("", text), flags=re.DOTALL)


def _readings(board) -> list[Block]:
    chosen = board[(board.kind == "result") & board.reading.str.startswith("chosen")]
    rows = []
    for (table, reading), cells in chosen.groupby(["table", "reading"], sort=False):
        compared = int(cells.verdict.isin([*AGREE, "off"]).sum())
        agree = [int(cells[name].isin(AGREE).sum()) for name in ("verdict_as_described", "verdict")]
        rows.append(
            [capital_label(table), reading.removeprefix("chosen of "), str(compared), *map(str, agree)]
        )
    if not rows:
        return []
    headings = ["table", "readings tried", "results compared", "agree as described", "agree as read"]
    title = "Results that were judged by a reading chosen with the printed figures in view"
    return [Table(title, headings, sorted(rows, key=lambda row: natural_order(row[0])), [True] + [False] * 4)]


def _side_by_side(board) -> list[Block]:
    shown = board[board.kind.isin(SHOWN)]
    blocks: list[Block] = []
    settings = board[board.kind == "setting"]
    if len(settings):
        good = share(settings.verdict.isin(AGREE).sum(), settings.verdict.isin([*AGREE, "off"]).sum())
        blocks.append(Paragraph(plain(f"Settings and sizes as printed: {good}.")))
    tables = dict(tuple(shown.groupby("table", sort=False)))
    for item in sorted(tables, key=natural_order):
        blocks.append(_compact(published_table(tables[item]), paper_label(tables[item].paper.iloc[0])))
    others = item_ranges(set(board.table) - set(tables))
    if others:
        blocks.append(Paragraph(plain(f"Not shown, since they hold no results: {others}.")))
    return blocks


def _compact(table, paper) -> Table:
    """A printed table without its notes; one with a single column as a line for each of its rows."""
    title = table.title.removeprefix(f"{paper}, ")
    table = replace(table, title=title[0].upper() + title[1:], notes=[])
    if len(table.headings) != 3 or table.headings[0]:
        return table
    kinds = list(dict.fromkeys(row[1] for row in table.rows))
    lines: dict[str, dict[str, str]] = {}
    current = ""
    for name, kind, value in table.rows:
        current = name or current
        lines.setdefault(current, {})[kind] = value
    rows = [[name, *(line.get(kind, "") for kind in kinds)] for name, line in lines.items()]
    return replace(
        table,
        headings=[table.headings[2], *kinds],
        rows=rows,
        left=[True] + [False] * len(kinds),
    )


def _cost(profile, name, records) -> list[Block]:
    own = {
        entry["name"].partition("/")[2]: entry
        for entry in profile.experiments
        if entry["name"].startswith(f"{name}/")
    }
    rows = []
    for path, measured in records.items():
        item = path.name.removesuffix(RECORDS_SUFFIX)
        entry = own[item]
        seeds, splits = (_numbers(measured[column]) for column in ("seed", "split"))
        time = duration(entry["seconds"])
        rows.append([capital_label(item), str(entry["jobs"]), str(entry["rows"]), time, seeds, splits])
    if not rows:
        return []
    rows.sort(key=lambda row: natural_order(row[0]))
    total = sum(entry["seconds"] for entry in own.values())
    command = f"make reproduce-tables reproduce-figures PROFILE={profile.name} ONLY={name}"
    return [
        Paragraph(
            (
                *plain(f"{duration(total)} of computing in all. What is out of date is computed again by "),
                Span(command, "code"),
                *plain(f"; ONLY={name}/<item> names one item."),
            )
        ),
        Table(
            "",
            ["item", "jobs", "rows", "time", "seeds", "divisions"],
            rows,
            [True] + [False] * 3 + [True] * 2,
        ),
    ]


def _numbers(column) -> str:
    """Whole numbers, a run of them as the first and the last."""
    numbers = sorted(set(column))
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    few = ", ".join(map(str, numbers[:6]))
    return f"{few}, … ({len(numbers)})" if len(numbers) > 6 else few
