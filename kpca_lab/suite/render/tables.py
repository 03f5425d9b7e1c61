"""Tables of the results as CSV, Markdown and TeX: ours beside the published figures, and summaries.

``results/<profile>/tables/<paper>/<table>.{csv,md,tex}`` holds each printed table: a line of the paper and
one of ours for each row, in the printed order and with the printed digits, and a third with the text as it
stands where our reading departs from it. ``<item>.{...}``, or ``<item>_all.{...}`` where the paper prints a
table of that name, holds what was computed for an item, all methods included.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from kpca_lab.suite.files import csv_for_spreadsheets, write_atomically
from kpca_lab.suite.judge.published import format_number, item_label
from kpca_lab.suite.judge.records import setting_columns, with_parameters
from kpca_lab.suite.papers import paper_label, titles
from kpca_lab.suite.render.show import without_chosen_widths
from kpca_lab.suite.render.table import Table, to_markdown, to_tex

MARKS = {"exact": "=", "consistent": "≈", "close": "~", "off": "✗"}
LEGEND = (
    "Ours against the printed figure: = the same digits; ≈ within two standard errors; ~ within 2 %; "
    "✗ off; no mark: not judged."
)
NOTHING = "–"
MOST_ROWS = 200  # of a summary in Markdown; its CSV has all
TEX_ROWS = 45  # of a table on a page of paper
TEX_NOTES = 2  # those on single cells are for the page


def write_tables(profile_dir, scoreboard, records=None):
    """Write all tables of a profile.

    Parameters
    ----------
    profile_dir : path
        ``results/<profile>``.
    scoreboard : DataFrame
        From :func:`kpca_lab.suite.judge.scoreboard.build_scoreboard`.
    records : DataFrame, optional
        Records of the profile; gives the summaries.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = Path(profile_dir) / "tables"
    written = []
    for (paper, table), rows in scoreboard.groupby(["paper", "table"], sort=False):
        written += _write(folder / paper / table, rows, published_table(rows))
    if records is not None:
        printed = {f"{paper}/{table}" for paper, table in zip(scoreboard.paper, scoreboard.table)}
        for item, rows in records[records.status == "done"].groupby("experiment"):
            written += write_summary(folder / (f"{item}_all" if item in printed else item), rows)
    return written


def write_summary(path, records):
    """Write ``<path>.{csv,md,tex}``: what was computed for an item, a line per setting.

    Parameters
    ----------
    path : Path
        Without an ending.
    records : DataFrame
        Rows with status ``done`` of one experiment, or of a run of one's own.

    Returns
    -------
    list of Path
    """
    return _write(path, *summary_table(records))


def published_table(rows):
    """A printed table with ours, from its part of the scoreboard."""
    paper, table = rows.paper.iloc[0], rows.table.iloc[0]
    theirs, mine, described = {}, {}, {}
    for cell in rows.itertuples():
        place = cell.row, cell.column
        theirs[place], mine[place] = _theirs(cell), _ours(cell, rows, cell.ours, cell.verdict)
        if np.isfinite(cell.as_described):
            described[place] = _ours(cell, rows, cell.as_described, cell.verdict_as_described, sd=False)
    names, columns = list(rows.row.unique()), list(rows.column.unique())
    # numbers from sentences are a list rather than a table
    if table == "text" or 2 * len(rows) < len(names) * len(columns):
        headings = ["where", "what", "paper", "ours"] + ["as described"] * bool(described)
        body = [
            [*place, theirs[place], mine[place], *([described.get(place, "")] if described else [])]
            for place in theirs
        ]
    else:
        headings, body = ["", "", *columns], []
        for name in names:
            lines = {"paper": theirs, "ours": mine, "as described": described}
            for label, values in lines.items():
                if label != "as described" or any((name, column) in values for column in columns):
                    first = name if label == "paper" else ""
                    body.append([first, label, *(values.get((name, column), "") for column in columns)])
    return Table(
        title=f"{paper_label(paper)}, {_title(f'{paper}/{table}')}",
        headings=headings,
        rows=body,
        left=[True, True] + [False] * (len(headings) - 2),
        notes=[LEGEND, *_remarks(rows)],
        marks="".join(MARKS.values()),
    )


def summary_table(records):
    """What was computed for an item: means and standard deviations over splits and seeds, a line per setting.

    Settings that are the same in all lines are said once, in a note.

    Returns
    -------
    frame : DataFrame
        All of it, for the CSV.
    table : Table
    """
    places = ["dataset", "method", "selector", "m", "r", "kernel"]
    records = without_chosen_widths(records)
    wide = with_parameters(records.sort_values(places[:-1], kind="stable", na_position="first"))
    texts = wide[places + setting_columns(wide)].map(_plain)
    # a sweep of many experiments has columns that this one does not fill
    texts = texts[[name for name in texts if name in places or (texts[name] != "").any()]]
    same = {name: texts[name].iloc[0] for name in texts if name != "method" and texts[name].nunique() == 1}
    texts = texts.drop(columns=list(same))
    metrics = list(wide.metric.unique())
    groups = wide.value.groupby([*(texts[name] for name in texts), wide.metric], sort=False)
    means = groups.agg(["mean", "std", "count"]).unstack("metric")
    lines = pd.MultiIndex.from_frame(texts.drop_duplicates()) if texts.shape[1] > 1 else texts.method.unique()
    means = means.reindex(lines)
    frame, shown = (texts.drop_duplicates().reset_index(drop=True) for _ in range(2))
    for metric in metrics:
        mean, deviation = means["mean", metric].to_numpy(), means["std", metric].to_numpy()
        frame[metric], frame[f"{metric}_sd"] = mean, deviation
        shown[metric] = [_spread(*pair) for pair in zip(mean, deviation)]
    least, most = int(means["count"].min(axis=None)), int(means["count"].max(axis=None))
    trials = f"{most if least == most else f'{least} to {most}'} trials"
    notes = [f"Mean ± SD over {trials}." if most > 1 else "One trial."]
    if said := ", ".join(f"{name} {value}" for name, value in same.items() if value):
        notes.append(f"In all lines: {said}.")
    item = records.experiment.iloc[0]
    left = [not texts[name].str.fullmatch(r"(-?[\d.]+(e[-+]\d+)?)?").all() for name in texts]
    return frame, Table(
        title=f"{paper_label(item.partition('/')[0])}, {_title(item)} (all that was computed)",
        headings=list(shown),
        rows=shown.to_numpy().tolist(),
        left=[*left, *[False] * len(metrics)],
        notes=notes,
    )


def _write(path, frame, table):
    path = Path(path)
    contents = {
        "csv": csv_for_spreadsheets(frame),
        "md": to_markdown(table.first(MOST_ROWS, f"{path.name}.csv")),
        "tex": to_tex(table.first(TEX_ROWS, f"{path.name}.csv", TEX_NOTES)),
    }
    written = [path.parent / f"{path.name}.{suffix}" for suffix in contents]
    for file, content in zip(written, contents.values()):
        write_atomically(file, content.encode())
    return written


def _title(item):
    paper, _, name = item.partition("/")
    label = item_label(name)
    title = titles().get((paper, name), "")
    numbered = re.match("(table|figure)[0-9]", name)
    return f"{label}: {title}" if title and numbered else title or label


def _theirs(cell):
    if pd.isna(cell.published):
        return NOTHING
    deviation = "" if pd.isna(cell.published_sd) else f" ± {format_number(cell.published_sd, cell.decimals)}"
    return format_number(cell.published, cell.decimals) + deviation


def _ours(cell, rows, value, verdict, *, sd=True):
    if not np.isfinite(value):
        return NOTHING
    decimals = cell.decimals
    if pd.isna(decimals):  # a lost cell: the digits of its neighbours
        decimals = rows.decimals.max()
    if cell.kind == "time" or pd.isna(decimals):
        return f"{value:.3g}"
    deviation = f" ± {format_number(cell.ours_sd, decimals)}" if sd and not pd.isna(cell.ours_sd) else ""
    mark = MARKS.get(verdict, "")
    return f"{format_number(value, decimals)}{deviation}{' ' * bool(mark)}{mark}"


def _remarks(rows):
    """Trials, kinds and readings, and the notes with the cells that they belong to."""
    remarks = []
    ours, theirs = (sorted(rows[name].dropna().unique()) for name in ("trials", "published_trials"))
    if ours or theirs:
        paper, own = (", ".join(map(str, numbers)) for numbers in (theirs, ours))
        remarks.append(f"Trials: paper {paper or 'not said'}; ours {own or 'none'}.")
    remarks += _grouped(rows, rows.kind.where(rows.kind != "result", ""), "kind: ")
    remarks += _grouped(rows, rows.reading.where(rows.reading.str.startswith("chosen"), ""), "reading ")
    # the sentence that a number comes from is in the CSV
    return remarks + _grouped(rows, rows.note.str.replace(r'(; )?text: ".*"$', "", regex=True))


def _grouped(rows, texts, before=""):
    """Each text once, with the cells that it is about."""
    remarks = []
    for text, cells in rows[texts != ""].groupby(texts[texts != ""], sort=False):
        places = [f"{row} / {column}" for row, column in zip(cells.row, cells.column)]
        if len(cells) == len(rows):
            where = "All cells"
        elif len(places) <= 4:
            where = "; ".join(places)
        else:
            where = f"{'; '.join(places[:3])} and {len(places) - 3} more"
        remarks.append(f"{where}: {before}{text}.")
    return remarks


def _plain(value):
    if value is None or (np.isscalar(value) and pd.isna(value)) or value is pd.NA:
        return ""
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e9 else f"{value:.5g}"
    return str(value)


def _spread(mean, deviation):
    if pd.isna(mean):
        return ""
    return f"{mean:.5g}" if pd.isna(deviation) else f"{mean:.5g} ± {float(f'{deviation:.2g}'):g}"
