"""Every published cell beside ours, with a verdict by a fixed rule.

Verdicts, the first that applies:

==================  ==========================================================================================
``exact``           ours rounds to the printed digits
``consistent``      |difference| <= 2 standard errors of the difference of the two means
``within_sd``       |difference| <= the printed standard deviation, or 2 % where none is printed
``off``             none of these
``not_comparable``  a hardware time, a figure not legible, data or code that cannot be had: the note says why
``not_run``         we have no figure
==================  ==========================================================================================

A standard error needs a standard deviation over at least two trials on both sides. Hardware times are
compared as ratios and growth exponents in :mod:`kpca_lab.suite.judge.claims`.
"""

import argparse
import math
import re
from pathlib import Path

import pandas as pd

from kpca_lab.suite.files import read_json, write_atomically
from kpca_lab.suite.judge.published import KEY, item_label, load_published
from kpca_lab.suite.papers import papers

VERDICTS = ("exact", "consistent", "within_sd", "off", "not_comparable", "not_run")
COLUMNS = (*KEY, "published", "published_sd", "ours", "ours_sd", "trials", "verdict", "note")
CELL_COLUMNS = (*KEY, "ours", "ours_sd", "trials", "note", "comparable")
MARKERS = ("<!-- reproduced: begin -->", "<!-- reproduced: end -->")

_NOT_LEGIBLE = "not legible in the source"
_HARDWARE = "hardware time: see the claims"
_STATEMENT = "a bound or rough statement: see the claims"
CHOSEN_READINGS = (
    "Some readings depart from a text, or fill a gap in it, and were chosen with the printed figures in "
    "view. The notes of the cells mark them; `experiments/<paper>/notes.md` has the evidence."
)


def verdict(
    published, decimals, ours, *, published_sd=math.nan, published_trials=0, ours_sd=math.nan, trials=0
):
    """Verdict on one pair of figures that can be compared (the first four of the module's table).

    Parameters
    ----------
    published, ours : float
    decimals : int
        Printed digits after the point.
    published_sd, ours_sd : float, default=nan
        Standard deviations over the trials; NaN where there is none.
    published_trials, trials : int, default=0
        Numbers of trials; 0 where unknown.

    Examples
    --------
    >>> verdict(4.78, 2, 4.7833)
    'exact'
    >>> verdict(1.0025, 4, 1.0030, published_sd=0.0019, published_trials=10, ours_sd=0.0031, trials=10)
    'consistent'
    """
    difference = abs(ours - published)
    slack = 1 + 1e-9  # the printed decimal fractions are not exact in binary
    if difference <= 0.5 * 10.0**-decimals * slack:
        return "exact"
    if min(published_trials, trials) >= 2 and math.isfinite(published_sd) and math.isfinite(ours_sd):
        error = math.sqrt(published_sd**2 / published_trials + ours_sd**2 / trials)
        if difference <= 2 * error * slack:
            return "consistent"
    allowed = published_sd if math.isfinite(published_sd) else 0.02 * abs(published)
    return "within_sd" if difference <= allowed * slack else "off"


def build_scoreboard(published, cells):
    """Put our cells beside the published ones.

    Parameters
    ----------
    published : DataFrame
        From :func:`kpca_lab.suite.judge.published.load_published`.
    cells : DataFrame
        Columns paper, table, row, column, ours, ours_sd, trials, note, and optionally ``comparable``: False
        for a figure that is shown but must not be judged (or cannot be had); its note says why.

    Returns
    -------
    DataFrame
        One row per published cell, in the order of print, with the columns of `COLUMNS`.

    Raises
    ------
    ValueError
        If a cell occurs twice, or is not one of the published ones.
    """
    cells = _checked_cells(published, cells)
    rows = []
    for cell, ours in zip(published.itertuples(), cells.itertuples()):
        found, reason = _judge(cell, ours)
        if found == "off":
            reason = f"readings tried: {notes_section(cell.paper, cell.table)}"
        note = "; ".join(dict.fromkeys(part for part in (reason, ours.note, cell.note) if part))
        rows.append((cell.paper, cell.table, cell.row, cell.column, cell.value, cell.sd))
        rows[-1] += (ours.ours, ours.ours_sd, ours.trials, found, note)
    return pd.DataFrame(rows, columns=COLUMNS).astype({"trials": "Int64"})


def collect_cells(records, cell_makers):
    """Ask every experiment what its records say for the published cells.

    Parameters
    ----------
    records : DataFrame
        Records of a profile, all experiments; only those with status ``done`` are used.
    cell_makers : dict
        ``records -> DataFrame`` by item, such as ``experiment.cell_makers`` of the registry.

    Returns
    -------
    cells : DataFrame
        For :func:`build_scoreboard`.
    problems : list of str
        One line for each function that failed; the others are not affected.
    """
    frames, problems = [pd.DataFrame(columns=CELL_COLUMNS)], []
    done = records[records.status == "done"]
    for item, maker in sorted(cell_makers.items()):
        own = done[done.experiment == item]
        if own.empty:
            continue
        try:
            frame = maker(own.reset_index(drop=True))
        except Exception as error:
            problems.append(f"{item}: {type(error).__name__}: {error}")
        else:
            frames.append(frame.assign(paper=item.partition("/")[0]))
    frames = [frame for frame in frames if len(frame)] or frames[:1]
    return pd.concat(frames, ignore_index=True), problems


def notes_section(paper, table):
    """Where the readings tried for a table are kept."""
    return f"experiments/{paper}/notes.md#{re.sub(r'(?<=[a-z])(?=[0-9])', '-', table)}"


def summarise(scoreboard):
    """Number of cells by paper and verdict, with the totals."""
    names = [paper for paper in papers() if paper in set(scoreboard.paper)]
    counts = pd.crosstab(scoreboard.paper, scoreboard.verdict).reindex(
        index=names, columns=list(VERDICTS), fill_value=0
    )
    counts.loc["all"] = counts.sum()
    counts["cells"] = counts.sum(axis=1)
    return counts.rename_axis(index="paper", columns=None)


def write_scoreboard(profile_dir, cells, published=None):
    """Write ``<profile_dir>/scoreboard.csv`` and return its frame."""
    scoreboard = build_scoreboard(load_published() if published is None else published, cells)
    text = scoreboard.to_csv(index=False, lineterminator="\n")
    write_atomically(Path(profile_dir) / "scoreboard.csv", text.encode())
    return scoreboard


def read_scoreboard(profile_dir):
    """The frame of ``<profile_dir>/scoreboard.csv``, or None if there is none."""
    path = Path(profile_dir) / "scoreboard.csv"
    if not path.exists():
        return None
    frame = pd.read_csv(path, dtype={"trials": "Int64", "note": str})
    return frame.fillna({"note": ""})


def readme_table(results="results"):
    """Markdown table of what is reproduced, from the paper or else the quick profile; "" if there is none."""
    for profile in ("paper", "quick"):
        folder = Path(results) / profile
        scoreboard = read_scoreboard(folder)
        if scoreboard is not None:
            return _readme_table(folder, scoreboard)
    return ""


def update_readme(path="README.md", results="results"):
    """Replace the text between the two `MARKERS` in a file by :func:`readme_table`.

    Returns
    -------
    bool
        Whether the file changed. It is left alone when no scoreboard exists.

    Raises
    ------
    ValueError
        If the file does not hold both markers, once each and in order.
    """
    table = readme_table(results)
    if not table:
        return False
    old = Path(path).read_text(encoding="utf-8")
    begin, end = MARKERS
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise ValueError(f"{path} must hold the lines {begin!r} and {end!r} once each, in this order")
    head, rest = old.split(begin)
    new = f"{head}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    if new != old:
        write_atomically(Path(path), new.encode())
    return new != old


def _checked_cells(published, cells):
    """Our cells in the order of the published ones, all columns present, NaN where there is none."""
    cells = cells.copy()
    for column in CELL_COLUMNS:
        if column not in cells:
            if column in (*KEY, "ours"):
                raise ValueError(f"cells lack the column {column!r}")
            cells[column] = True if column == "comparable" else None
    twice = cells[cells.duplicated(KEY)]
    if len(twice):
        raise ValueError(f"cell given twice: {_names(twice)}")
    index = pd.MultiIndex.from_frame(published[KEY])
    strange = cells[~pd.MultiIndex.from_frame(cells[KEY]).isin(index)]
    if len(strange):
        raise ValueError(f"no such published cell: {_names(strange)}")
    cells = cells.set_index(KEY).reindex(index)
    cells["comparable"] = cells["comparable"].map(lambda value: pd.isna(value) or bool(value))
    cells["note"] = cells["note"].map(lambda value: "" if pd.isna(value) else value)
    return cells.astype({"ours": float, "ours_sd": float, "trials": "Int64"})


def _judge(cell, ours):
    if pd.isna(cell.value):
        return "not_comparable", _NOT_LEGIBLE
    if cell.kind == "time":
        return "not_comparable", _HARDWARE
    if cell.kind == "text":
        return "not_comparable", _STATEMENT
    if not ours.comparable:
        return "not_comparable", ""
    if not math.isfinite(ours.ours):
        return ("not_comparable", cell.note) if cell.flag == "unavailable" else ("not_run", "")
    known = {"published_trials": cell.trials, "trials": ours.trials}
    known = {name: 0 if pd.isna(number) else int(number) for name, number in known.items()}
    found = verdict(
        cell.value, int(cell.decimals), ours.ours, published_sd=cell.sd, ours_sd=ours.ours_sd, **known
    )
    return found, ""


def _names(cells):
    return "; ".join(" | ".join(map(str, key)) for key in cells[KEY].head(5).itertuples(index=False))


def _readme_table(folder, scoreboard):
    claims = folder / "claims.csv"
    claims = pd.read_csv(claims) if claims.exists() else pd.DataFrame({"paper": [], "verdict": []})
    counts = summarise(scoreboard)
    headings = " | ".join(name.replace("_", " ") for name in VERDICTS)
    lines = [
        f"From the `{folder.name}` profile{_effort(folder)}. {what_is_counted(scoreboard)}",
        "",
        CHOSEN_READINGS,
        "",
        f"| paper | tables and figures | {headings} | claims |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for paper, entry in papers().items():
        computed = scoreboard[
            (scoreboard.paper == paper) & scoreboard.ours.notna() & (scoreboard.table != "text")
        ]
        items = {path.stem for path in (folder / "records" / paper).glob("*.csv")}
        items = _ranges(set(computed.table) | items)
        numbers = counts.loc[paper, list(VERDICTS)] if paper in counts.index else [0] * len(VERDICTS)
        verdicts = claims[claims.paper == paper].verdict.value_counts()
        said = ", ".join(f"{verdicts[key]} {key}" for key in ("holds", "fails", "not run") if key in verdicts)
        lines.append(f"| {entry.label} | {items or '-'} | {' | '.join(map(str, numbers))} | {said or '-'} |")
    lines.append(f"| all | | {' | '.join(map(str, counts.loc['all', list(VERDICTS)]))} | |")
    return "\n".join(lines)


def what_is_counted(scoreboard):
    """What the table counts, in words."""
    kinds = scoreboard[KEY].merge(load_published()[[*KEY, "kind"]], "left", on=KEY)["kind"]
    in_text, exact = scoreboard.table == "text", scoreboard.verdict == "exact"
    settings = (exact.to_numpy() & (kinds == "setting").to_numpy()).sum()
    return (
        f"Counted by verdict are the {(~in_text).sum()} cells of the printed tables and {in_text.sum()} "
        f"numbers stated in the texts; {settings} of the {exact.sum()} exact ones are sizes or settings of "
        f"the protocol, the other {exact.sum() - settings} results."
    )


def _effort(folder):
    """What the computing of a profile took, in words."""
    summary, environment = (read_json(folder / name) for name in ("summary.json", "environment.json"))
    if not (summary and environment):
        return ""
    jobs = sum(entry["jobs"] for entry in summary["experiments"].values())
    where = f"{environment['cpu']}, {environment['cores']} cores"
    return f", whose {jobs} jobs took {summary['seconds'] / 3600:.1f} hours of one core in all ({where})"


def _ranges(items):
    """{'table1', 'table2', 'figure6', 'table2_own', 'map'} -> 'Tables 1-2; Figure 6; Table 2 own; map'."""
    others = sorted(item for item in items - {"text"} if not re.fullmatch(r"(table|figure)\d+", item))
    parts, others = [], [item_label(item) for item in others]
    for kind in ("table", "figure"):
        numbers = sorted(int(item[len(kind) :]) for item in items if re.fullmatch(kind + r"\d+", item))
        runs = []
        for number in numbers:
            if runs and number == runs[-1][1] + 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        if runs:
            text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
            parts.append(f"{kind.capitalize()}{'s' if len(numbers) > 1 else ''} {text}")
    return "; ".join(parts + others)


def main(arguments=None):
    """Command line: print the summary of a profile, or the table for the README."""
    parser = argparse.ArgumentParser(
        prog="python -m kpca_lab.suite.judge.scoreboard", description=main.__doc__
    )
    parser.add_argument("--results", default="results", help="folder of the results (default: %(default)s)")
    parser.add_argument("--profile", default="quick", help="profile to summarise (default: %(default)s)")
    parser.add_argument(
        "--readme", action="store_true", help="print the markdown table of what is reproduced"
    )
    parser.add_argument("--update", metavar="FILE", help="put that table between the markers in FILE")
    options = parser.parse_args(arguments)
    if options.update:
        changed = update_readme(options.update, options.results)
        print(f"{options.update}: {'updated' if changed else 'left as it is'}")
    elif options.readme:
        print(readme_table(options.results) or "No scoreboard yet: run `make reproduce-tables` first.")
    else:
        scoreboard = read_scoreboard(Path(options.results) / options.profile)
        if scoreboard is None:
            parser.exit(1, f"no scoreboard in {options.results}/{options.profile}\n")
        print(summarise(scoreboard).to_string())


if __name__ == "__main__":
    main()
