"""Writing what the leaderboard found: tables, figures, the page, and the part of the README."""

from pathlib import Path

import pandas as pd

from kpca_lab.suite.engine.environment import read_environment
from kpca_lab.suite.files import csv_for_spreadsheets, write_atomically
from kpca_lab.suite.leaderboard import aggregates, plots, words
from kpca_lab.suite.leaderboard.advised import advised_table
from kpca_lab.suite.leaderboard.page import picture, render_page
from kpca_lab.suite.leaderboard.results import read_table, write_table
from kpca_lab.suite.render.figures import save
from kpca_lab.suite.render.table import to_markdown

__all__ = ["REFERENCE", "publish"]

# Times are told relative to this one.
REFERENCE = "subset/random"
# Drawn in profiles beside those on the front.
PEERS = ("sklearn_nystroem",)


def publish(folder: Path, table: pd.DataFrame, profile: str, rules: dict, command: str) -> list[str]:
    """Write all files of a leaderboard.

    Parameters
    ----------
    folder : Path
    table : DataFrame
        From :func:`~kpca_lab.suite.leaderboard.results.results_table`.
    profile : str
    rules : dict
        From :func:`~kpca_lab.suite.leaderboard.field.read_rules`.
    command : str
        What made it.

    Returns
    -------
    list of str
        The sentences that it supports.
    """
    write_table(folder / "leaderboard.csv", table)
    # What is said follows from the file, so that others can compute it again.
    table = aggregates.with_excess(read_table(folder / "leaderboard.csv"))
    sizes = [size for size in rules["n_basis"] if (table["m"] == size).any()]
    runs = {size: aggregates.runs_of(table, size) for size in sizes}
    summaries = {size: aggregates.summary(own, REFERENCE) for size, own in runs.items()}
    pairs = {size: aggregates.pairs(own) for size, own in runs.items()}
    points = aggregates.fronts(table)
    _write_csv(folder / "summary.csv", _stacked(summaries))
    _write_csv(folder / "pairs.csv", _stacked(pairs))
    _write_csv(folder / "fronts.csv", points)
    middle = sizes[len(sizes) // 2]
    sized = set(table.loc[table["m"] == middle, "entrant"])
    said = words.sentences(middle, summaries[middle], pairs[middle], len(runs[middle].datasets), sized)
    tables = {
        f"summary_{size}": words.summary_table(summaries[size], size, len(runs[size].datasets))
        for size in sorted(sizes, key=lambda size: (size != middle, size))
    }
    tables["fronts"] = words.fronts_table(points)
    if (folder / "suggest.csv").is_file():
        tables["suggest"] = advised_table(pd.read_csv(folder / "suggest.csv", dtype={"best_m": "Int64"}))
    for name, entry in tables.items():
        write_atomically(folder / f"{name}.md", to_markdown(entry).encode())
    pictures = _draw(folder, runs, summaries, points, middle)
    files = sorted(path.name for path in folder.iterdir() if path.suffix in (".csv", ".md"))
    facts = _facts(folder, table, rules)
    text = render_page(
        profile, table, summaries, said, list(tables.values()), pictures, facts, files, command
    )
    write_atomically(folder / "index.html", text.encode())
    return said


def _stacked(by_size):
    frames = []
    for size, frame in by_size.items():
        frame = frame if "entrant" in frame else frame.reset_index()
        frames.append(frame.assign(m=size))
    stacked = pd.concat(frames, ignore_index=True)
    return stacked[["m", *(name for name in stacked if name != "m")]]


def _write_csv(path, frame):
    shown = frame.copy()
    for name in shown.select_dtypes("float"):
        shown[name] = [float(f"{value:.5g}") for value in shown[name]]
    write_atomically(path, csv_for_spreadsheets(shown).encode())


def _draw(folder, runs, summaries, points, middle):
    shown = {size: _shown(summary) for size, summary in summaries.items()}
    profiles = {size: aggregates.profiles(own) for size, own in runs.items()}
    count = len(runs[middle].datasets)
    title = f"{count} data sets, m = {middle}; bands and bars: 95 % intervals over the trials"
    figures = {
        "aggregate": plots.aggregate_figure(summaries[middle], profiles[middle], shown[middle], title),
        "profiles": plots.profiles_figure(profiles, shown),
        "fronts": plots.fronts_figure(points),
    }
    titles = {
        "aggregate": "Performance profiles, and error against time",
        "profiles": "Performance profiles by size",
        "fronts": "Error against time on each data set",
    }
    for name, figure in figures.items():
        save(figure, folder / name)
    return [picture(folder / f"{name}.png", title) for name, title in titles.items()]


def _shown(summary):
    """Those on the front, and what people use today."""
    front = summary.index[summary["front"]].tolist()
    if len(front) > plots.MOST_LINES - len(PEERS):
        least = summary.loc[front].nsmallest(plots.MOST_LINES - len(PEERS) - 1, "excess")
        front = [summary.loc[front, "time"].idxmin(), *least.index]
    found = dict.fromkeys([*front, *(peer for peer in PEERS if peer in summary.index)])
    return [entrant for entrant in summary.index if entrant in found]


def _facts(folder, table, rules):
    environment = read_environment(folder)
    where = [environment.get("cpu"), environment.get("cores") and f"{environment['cores']} cores"]
    return {
        "entrants": table["entrant"].nunique(),
        "datasets": table["dataset"].nunique(),
        "components": rules["n_components"],
        "threads": "one core, with one BLAS thread",
        "where": ", ".join(str(part) for part in where if part) or "an unknown machine",
    }
