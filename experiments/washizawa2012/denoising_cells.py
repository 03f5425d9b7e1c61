"""Washizawa 2012, Tables 7 and 8: our figures for the printed cells, by the reading that explains each row.

The text says that the width and the number of components are the best of a grid, and names c = 10^-5.1 as the
best. Both cannot be true: over the grid there are two optima. So both are computed, and for each printed row
the one that lies nearer to it is shown as chosen, beside the best of the grid. The same is done for BM3D with
what may have been done to its input.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.common.stated import stated
from experiments.washizawa2012.denoising import TABLES
from experiments.washizawa2012.noisy_digits import BM3D_READINGS, WHITE
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.judge.published import load_published

__all__ = ["Reading", "cells", "deviation", "printed_rows", "readings_of_rows"]

LABELS = {"subset": "SubKp ({m})", "reduced": "RKp ({m})", "wiener": "WF", "median": "Median"}
LABELS |= dict.fromkeys(["bm3d", *BM3D_READINGS], "BM3D")
PRINTED = {f"{name} ({m})" for name in ("SubKp", "RKp") for m in (100, 500, 1000)} | {"WF", "Median", "BM3D"}
# How many readings were tried: centroids or the samples nearest to them, each with two ways to find the
# width; ways to go on beyond the border; noise levels, clipping and settings of BM3D.
READINGS = {"SubKp": 4, "RKp": 4, "Median": 7, "BM3D": 1 + len(BM3D_READINGS)}
NAMED = "_named_width"
WORDS = {
    "bm3d": "the bm3d package",
    "bm3d_clipped": "noise cut off at black and white",
    "bm3d_clipped_as_in_2007": "noise cut off at black and white, settings of the authors' program of 2007",
    "bm3d_sigma_25": "noise level of 25 assumed",
}


@dataclass(frozen=True)
class Reading:
    """A row of a table under one reading: frames of records by column, the metric's ending, and its name."""

    columns: dict[str, pd.DataFrame]
    ending: str
    name: str

    def value(self, column: str, measure: str = "mse") -> float:
        return float(self.columns[column].value[f"denoising_{measure}{self.ending}"])

    def about(self, column: str) -> str:
        """The parameters, or what was done."""
        rows = self.columns[column]
        if pd.notna(rows.r.iloc[0]):
            return f"{self.name}: c = 10^{np.log10(rows.gamma.iloc[0]):.1f}, r = {rows.r.iloc[0]:.0f}"
        return f"{self.name}, first {rows.images.iloc[0]:.0f} images" if self.name else ""


@experiment.cells(*TABLES)
def cells(records: pd.DataFrame, settings: dict) -> list[Cell]:
    """Mean and standard deviation over the test images, for each printed method and level of noise."""
    table, found = records.experiment.iloc[0].partition("/")[2], []
    printed = printed_rows(table)
    for label, readings in readings_of_rows(records).items():
        found += _row_of_cells(table, label, readings, printed[label])
    if table == "table8":
        return found
    found += _not_run({cell.row for cell in found}, sorted(records.level.unique()))
    powers, step = (settings["parameters"][name] for name in ("log10_gammas", "rank_step"))
    used = {
        "largest pixel value": WHITE,
        "least r, denoising": step,
        "second r, denoising": 2 * step,
        "third r, denoising": 3 * step,
        "least power of ten for c, denoising": powers[0],
        "second power of ten for c, denoising": powers[1],
        "largest power of ten for c, denoising": powers[-1],
    }
    return found + stated("Section 6.5", used)


def printed_rows(table: str) -> pd.Series:
    """The printed errors by row and column."""
    return load_published("washizawa2012").query("table == @table").set_index(["row", "column"])["value"]


def readings_of_rows(records: pd.DataFrame) -> dict[str, list[Reading]]:
    """For each printed row the readings that were computed, the one as described first."""
    table = records.experiment.iloc[0].partition("/")[2]
    found: dict[str, list[Reading]] = {}
    order = {name: place for place, name in enumerate(LABELS)}
    for (method, m), rows in sorted(
        records.groupby(["method", "m"], dropna=False), key=lambda entry: order.get(entry[0][0], 99)
    ):
        label = LABELS.get(method, "").format(m=m)
        if label not in PRINTED:
            continue
        for ending in ("", NAMED):
            own = rows[rows.metric.str.endswith(NAMED) == bool(ending)]
            columns = {
                f"sigma = {level:g}" if table == "table7" else f"p = {level:.2f}": group.set_index("metric")
                for level, group in own.groupby("level")
            }
            width = "named width" if ending else "best of the grid"
            name = width if method in ("subset", "reduced") else WORDS.get(method, "")
            if columns:
                found.setdefault(label, []).append(Reading(columns, ending, name))
    return found


def deviation(reading: Reading, printed: pd.Series) -> float:
    """Mean deviation of a row from the printed one, as a share of it."""
    ours = pd.Series({column: reading.value(column) for column in reading.columns})
    return float((ours / printed.reindex(ours.index) - 1).abs().mean())


def _row_of_cells(table, label, readings, printed):
    described, nearest = readings[0], min(readings, key=lambda reading: deviation(reading, printed))
    found = []
    for column, own in nearest.columns.items():
        others = [other for other in readings if other is not nearest and column in other.columns]
        note = [nearest.about(column)]
        note += [f"{other.about(column)}: {other.value(column):.2f}" for other in others]
        about = {"note": "; ".join(filter(None, note)), "readings": READINGS.get(label.split()[0], 1)}
        if nearest is not described and column in described.columns:
            about["as_described"] = described.value(column)
            about["as_described_sd"] = described.value(column, "sd")
        value, sd = nearest.value(column), nearest.value(column, "sd")
        trials = int(own.images.iloc[0])
        found.append(Cell(table, label, column, value, ours_sd=sd, trials=trials, **about))
    return found


def _not_run(rows, levels):
    reason = "only in the paper profile, with the package bm3d"
    columns = [] if "BM3D" in rows else [f"sigma = {level:g}" for level in levels]
    return [Cell("table7", "BM3D", column, np.nan, note=reason) for column in columns]
