"""Every published cell beside ours, with a verdict by the rule of :mod:`kpca_lab.suite.judge.verdicts`."""

import math
import re
from dataclasses import asdict, fields
from pathlib import Path

import pandas as pd

from kpca_lab.suite.files import csv_for_spreadsheets, read_table, write_atomically
from kpca_lab.suite.hooks import Cell
from kpca_lab.suite.judge.published import KEY
from kpca_lab.suite.judge.verdicts import verdict

__all__ = [
    "COLUMNS",
    "build_scoreboard",
    "cells_frame",
    "collect_cells",
    "notes_section",
    "read_scoreboard",
    "write_scoreboard",
]

COLUMNS = (*KEY, "kind", "published", "published_sd", "published_trials", "decimals")
COLUMNS += ("ours", "ours_sd", "trials", "verdict", "reading", "as_described", "verdict_as_described", "note")
_TYPES = {"trials": "Int64", "published_trials": "Int64", "decimals": "Int64"}
_TEXTS = ("reading", "note")
_WHY_NOT = {
    "time": "hardware time: see the claims",
    "statement": "a bound or rough statement: see the claims",
}
_NOT_LEGIBLE = "not legible in the source"
_REDUCED = "reduced in this profile"


def cells_frame(paper, cells):
    """Our cells of a paper, a list of :class:`kpca_lab.suite.hooks.Cell`, as a frame."""
    columns = ["paper", *(field.name for field in fields(Cell))]
    frame = pd.DataFrame([{"paper": paper, **asdict(cell)} for cell in cells], columns=columns)
    names = ("ours", "ours_sd", "as_described", "as_described_sd", "selection_sd")
    numbers = dict.fromkeys(names, float)
    return frame.astype(numbers | {"trials": "Int64"})


def collect_cells(records, published, makers, settings_of):
    """Ask every experiment what its records say for the published cells.

    Parameters
    ----------
    records : DataFrame
        Records of a profile with every setting as a column; only those with status ``done`` are used.
    published : DataFrame
        From :func:`kpca_lab.suite.judge.published.load_published`.
    makers : dict
        ``(records, settings) -> list of Cell`` by item, such as ``experiment.cell_makers`` of the registry.
    settings_of : callable
        From the name of an item to the settings that its records were made with.

    Returns
    -------
    cells : DataFrame
        For :func:`build_scoreboard`.
    problems : dict
        By item, why it gave no cells, or which of them are left out; the others are not affected.
    """
    frames, problems = [cells_frame("", [])], {}
    done, known, given = records[records.status == "done"], set(_keys(published)), set()
    for item, maker in sorted(makers.items()):
        own = done[done.experiment == item]
        if own.empty:
            continue
        settings = settings_of(item)
        try:
            frame = cells_frame(item.partition("/")[0], maker(own.reset_index(drop=True), settings))
        except Exception as error:
            lacking = "" if settings else " (no settings are kept with its records: run it again)"
            problems[item] = f"{type(error).__name__}: {error}{lacking}"
            continue
        wrong = {}
        for place, key in enumerate(_keys(frame)):
            if key not in known:
                wrong[place] = f"no such published cell: {' | '.join(key)}"
            elif key in given:
                wrong[place] = f"cell given twice: {' | '.join(key)}"
            given.add(key)
        if wrong:
            problems[item] = "; ".join(list(wrong.values())[:3])
        frames.append(frame.drop(index=list(wrong)))
    frames = [frame for frame in frames if len(frame)] or frames[:1]
    return pd.concat(frames, ignore_index=True), problems


def build_scoreboard(published, cells, *, full_size=True):
    """Put our cells beside the published ones.

    Parameters
    ----------
    published : DataFrame
        From :func:`kpca_lab.suite.judge.published.load_published`.
    cells : DataFrame
        From :func:`collect_cells`, each key at most once.
    full_size : bool
        Whether nothing was reduced on purpose: then a setting that differs from the printed one is off.

    Returns
    -------
    DataFrame
        One row per published cell, in the order of print, with the columns of `COLUMNS`.
    """
    index = pd.MultiIndex.from_frame(published[KEY])
    cells = cells.set_index(KEY).reindex(index)
    cells["comparable"] = cells["comparable"].map(lambda value: pd.isna(value) or bool(value))
    cells = cells.fillna({"note": "", "readings": 1})
    rows = []
    for cell, ours in zip(published.itertuples(), cells.itertuples()):
        found, reason = _judge(cell, ours, ours.ours, ours.ours_sd, full_size)
        if found == "off":
            reason = f"readings tried: {notes_section(cell.paper, cell.table)}"
        note = "; ".join(dict.fromkeys(part for part in (reason, ours.note, cell.note) if part))
        chosen = f"chosen of {int(ours.readings)}" if ours.readings > 1 else "as described"
        departs = math.isfinite(ours.as_described)
        sd = ours.as_described_sd if math.isfinite(ours.as_described_sd) else ours.ours_sd
        described = _judge(cell, ours, ours.as_described, sd, full_size)[0] if departs else found
        rows.append(
            (cell.paper, cell.table, cell.row, cell.column, cell.kind, cell.value, cell.sd, cell.trials)
        )
        rows[-1] += (cell.decimals, ours.ours, ours.ours_sd, ours.trials, found)
        rows[-1] += (
            "" if found in ("not_run", "not_comparable") else chosen,
            ours.as_described,
            described,
            note,
        )
    return pd.DataFrame(rows, columns=COLUMNS).astype(_TYPES)


def _judge(cell, ours, value, sd, full_size):
    """The verdict on a figure, and the reason where it is none."""
    if pd.isna(cell.value):
        return "not_comparable", _NOT_LEGIBLE
    if cell.kind in _WHY_NOT:
        return "not_comparable", _WHY_NOT[cell.kind]
    if not math.isfinite(value):
        return ("not_comparable", cell.note) if cell.flag == "unavailable" else ("not_run", "")
    if not ours.comparable:
        return "not_comparable", ""
    known = {"published_trials": cell.trials, "trials": ours.trials}
    known = {name: 0 if pd.isna(number) else int(number) for name, number in known.items()}
    known |= {"published_sd": cell.sd, "ours_sd": sd, "selection_sd": ours.selection_sd}
    if cell.kind == "setting":
        found = verdict(cell.value, int(cell.decimals), value)
        return (
            ("exact", "") if found == "exact" else ("off", "") if full_size else ("not_comparable", _REDUCED)
        )
    return verdict(cell.value, int(cell.decimals), value, **known), ""


def notes_section(paper, table):
    """Where the readings tried for a table are kept."""
    return f"experiments/{paper}/notes.md#{re.sub(r'(?<=[a-z])(?=[0-9])', '-', table)}"


def write_scoreboard(profile_dir, scoreboard):
    """Write ``<profile_dir>/scoreboard.csv``."""
    text = csv_for_spreadsheets(scoreboard)
    write_atomically(Path(profile_dir) / "scoreboard.csv", text.encode())


def read_scoreboard(profile_dir):
    """The frame of ``<profile_dir>/scoreboard.csv``, or None if there is none that can be read."""
    types = _TYPES | dict.fromkeys(_TEXTS, str)
    return read_table(Path(profile_dir) / "scoreboard.csv", COLUMNS, types)


def _keys(frame):
    return list(frame[KEY].itertuples(index=False, name=None))
