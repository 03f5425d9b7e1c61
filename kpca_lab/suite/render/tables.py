"""Tables of the results as CSV, Markdown and TeX: ours beside the published figures, and summaries.

``results/<profile>/tables/<paper>/<table>.{csv,md,tex}`` holds each printed table: two lines a row, the
paper's and ours, in the printed order and with the printed digits. ``<item>.{...}``, or ``<item>_all.{...}``
where the paper prints a table of that name, holds what was computed for an item, all methods included.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from kpca_lab.suite.files import csv_for_spreadsheets, write_atomically
from kpca_lab.suite.judge.claims import with_parameters
from kpca_lab.suite.judge.published import format_number, item_label, load_published
from kpca_lab.suite.judge.scoreboard import build_scoreboard
from kpca_lab.suite.papers import paper_label, titles

MARKS = {"exact": "=", "consistent": "≈", "within_sd": "~", "off": "✗"}
LEGEND = (
    "Ours against the printed figure: = the same digits; ≈ within two standard errors; "
    "~ within the printed SD, or 2 % where none is printed; ✗ off; no mark: not judged."
)
NOTHING = "–"
MOST_ROWS = 200  # of a summary in Markdown; its CSV has all
TEX_ROWS = 45  # of a table on a page of paper
TEX_LETTERS = 110  # a line with more of them is turned to the long side of the page

_TEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"$\sim$", "^": r"\^{}"}
_TEX |= {letter: "\\" + letter for letter in "&%$#_"} | {sign: f"${sign}$" for sign in "<>|"}
_TEX |= {"±": r"$\pm$", "≈": r"$\approx$", "✗": r"$\times$", "×": r"$\times$", "–": "--", "=": "$=$"}


def write_tables(profile_dir, cells, *, records=None, published=None):
    """Write all tables of a profile.

    Parameters
    ----------
    profile_dir : path
        ``results/<profile>``.
    cells : DataFrame
        Our cells, as for :func:`kpca_lab.suite.judge.scoreboard.build_scoreboard`.
    records : DataFrame, optional
        Records of the profile; gives the summaries.
    published : DataFrame, optional
        By default all published cells.

    Returns
    -------
    list of Path
        The files written.
    """
    published = load_published() if published is None else published
    scoreboard = build_scoreboard(published, cells)
    scoreboard = scoreboard.join(
        published[["decimals", "kind", "trials"]].rename(columns={"trials": "printed_trials"})
    )
    folder = Path(profile_dir) / "tables"
    written = []
    for (paper, table), rows in scoreboard.groupby(["paper", "table"], sort=False):
        written += _write(folder / paper / table, *published_table(rows))
    if records is not None:
        printed = {f"{paper}/{table}" for paper, table in zip(published.paper, published.table)}
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
    """A printed table with ours: frame for the CSV, title, header, body, which columns are text, notes."""
    paper, table = rows.paper.iloc[0], rows.table.iloc[0]
    theirs, mine = {}, {}
    for cell in rows.itertuples():
        theirs[cell.row, cell.column], mine[cell.row, cell.column] = _theirs(cell), _ours(cell, rows)
    names, columns = list(rows.row.unique()), list(rows.column.unique())
    # numbers from sentences are a list rather than a table
    if table == "text" or 2 * len(rows) < len(names) * len(columns):
        header = ["where", "what", "paper", "ours"]
        body = [[*place, theirs[place], mine[place]] for place in theirs]
    else:
        header = ["", "", *columns]
        body = []
        for name in names:
            body.append([name, "paper", *(theirs.get((name, column), "") for column in columns)])
            body.append(["", "ours", *(mine.get((name, column), "") for column in columns)])
    title = f"{paper_label(paper)}, {_title(f'{paper}/{table}')}"
    frame = rows.drop(columns=["decimals", "kind", "printed_trials"])
    return frame, title, header, body, [True, True] + [False] * (len(header) - 2), [LEGEND, *_remarks(rows)]


def summary_table(records):
    """What was computed for an item: means and standard deviations over splits and seeds, a line per setting.

    Settings that are the same in all lines are said once, in a note.
    """
    places = ["dataset", "method", "selector", "m", "r", "kernel"]
    wide = with_parameters(records.sort_values(places[:-1], kind="stable", na_position="first"))
    texts = wide[places + [name for name in wide if name not in records]].map(_plain)
    same = {name: texts[name].iloc[0] for name in texts if name != "method" and texts[name].nunique() == 1}
    texts = texts.drop(columns=list(same))
    metrics = list(wide.metric.unique())
    groups = wide.value.groupby([*(texts[name] for name in texts), wide.metric], sort=False)
    table = groups.agg(["mean", "std", "count"]).unstack("metric")
    lines = pd.MultiIndex.from_frame(texts.drop_duplicates()) if texts.shape[1] > 1 else texts.method.unique()
    table = table.reindex(lines)
    frame, shown = (
        texts.drop_duplicates().reset_index(drop=True),
        texts.drop_duplicates().reset_index(drop=True),
    )
    for metric in metrics:
        mean, deviation = table["mean", metric].to_numpy(), table["std", metric].to_numpy()
        frame[metric], frame[f"{metric}_sd"] = mean, deviation
        shown[metric] = [_spread(*pair) for pair in zip(mean, deviation)]
    least, most = int(table["count"].min(axis=None)), int(table["count"].max(axis=None))
    notes = [
        f"Mean ± SD over {most if least == most else f'{least} to {most}'} trials."
        if most > 1
        else "One trial."
    ]
    if said := ", ".join(f"{name} {value}" for name, value in same.items() if value):
        notes.append(f"In all lines: {said}.")
    item = records.experiment.iloc[0]
    paper = item.partition("/")[0]
    title = f"{paper_label(paper)}, {_title(item)} (all that was computed)"
    left = [not texts[name].str.fullmatch(r"(-?[\d.]+(e[-+]\d+)?)?").all() for name in texts]
    left += [False] * len(metrics)
    return frame, title, list(shown), shown.to_numpy().tolist(), left, notes


def to_markdown(title, header, body, text, notes=()):
    """A page with one table; `text` tells which columns are text and so stand on the left."""

    def line(entries):
        return (
            "| "
            + " | ".join(re.sub(r"([|*\\])", r"\\\1", entry.replace("\n", " ")) for entry in entries)
            + " |"
        )

    rule = "|" + "|".join("---" if left else "--:" for left in text) + "|"
    parts = [f"# {title}", "", line(header), rule, *map(line, body), ""]
    parts += [part for note in notes for part in (note, "")]
    return "\n".join(parts).rstrip() + "\n"


def to_tex(title, header, body, text, notes=()):
    """A table environment for LaTeX: what is too wide is turned or made smaller."""

    def line(entries):
        # a line that starts with [ or * would be read as an argument of the line break before it
        joined = " & ".join(map(tex_escape, entries))
        return ("{}" if joined.startswith(("[", "*")) else "") + joined + r" \\"

    letters = sum(2 + max(map(len, column)) for column in zip(header, *body))
    environment = "sidewaystable" if letters > TEX_LETTERS else "table"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs, graphicx, rotating}",
            rf"\begin{{{environment}}}",
            r"\centering\small",
            rf"\caption{{{tex_escape(' '.join([f'{title}.', *notes]))}}}",
            r"\medskip",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{"
            rf"\begin{{tabular}}{{{''.join('l' if left else 'r' for left in text)}}}",
            r"\toprule",
            line(header),
            r"\midrule",
            *map(line, body),
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def tex_escape(text):
    """Plain text as LaTeX.

    Examples
    --------
    >>> print(tex_escape("10 % ± 2_a"))
    10 \\% $\\pm$ 2\\_a
    """
    return "".join(_TEX.get(letter, letter) for letter in text.replace("\n", " "))


def _write(path, frame, title, header, body, text, notes):
    path = Path(path)
    remarks = notes[:2]  # those on single cells are for the page

    def cut(most, notes):
        hidden = len(body) - most
        more = [f"{hidden} more lines are in {path.name}.csv."] if hidden > 0 else []
        return title, header, body[:most], text, [*notes, *more]

    contents = {
        "csv": csv_for_spreadsheets(frame),
        "md": to_markdown(*cut(MOST_ROWS, notes)),
        "tex": to_tex(*cut(TEX_ROWS, remarks)),
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


def _ours(cell, rows):
    if not np.isfinite(cell.ours):
        return NOTHING
    decimals = cell.decimals
    if pd.isna(decimals):  # a lost cell: the digits of its neighbours
        decimals = rows.decimals.max()
    if cell.kind == "time" or pd.isna(decimals):
        return f"{cell.ours:.3g}"
    deviation = "" if pd.isna(cell.ours_sd) else f" ± {format_number(cell.ours_sd, decimals)}"
    mark = MARKS.get(cell.verdict, "")
    return f"{format_number(cell.ours, decimals)}{deviation}{' ' * bool(mark)}{mark}"


def _remarks(rows):
    """Trials, and the notes with the cells that they belong to."""
    remarks = []
    ours, theirs = (sorted(rows[name].dropna().unique()) for name in ("trials", "printed_trials"))
    if ours or theirs:
        paper, own = (", ".join(map(str, numbers)) for numbers in (theirs, ours))
        remarks.append(f"Trials: paper {paper or 'not said'}; ours {own or 'none'}.")
    # the sentence that a number comes from is in the CSV
    said = rows.note.str.replace(r'(; )?text: ".*"$', "", regex=True)
    for note, cells in rows[said != ""].groupby(said[said != ""], sort=False):
        places = [f"{row} / {column}" for row, column in zip(cells.row, cells.column)]
        if len(cells) == len(rows):
            where = "All cells"
        elif len(places) <= 4:
            where = "; ".join(places)
        else:
            where = f"{'; '.join(places[:3])} and {len(places) - 3} more"
        remarks.append(f"{where}: {note}.")
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
