"""Washizawa 2012, Tables 7 and 8: our figures for the printed cells, by the reading that explains each row.

The text says that the width and the number of components are the best of a grid, and names c = 10^-5.1 as the
best. Both cannot be true: over the grid there are two optima. So both are computed, and for each printed row
the one that lies nearer to it is shown as chosen, beside the best of the grid.
"""

import numpy as np
import pandas as pd

from experiments.common.stated import stated
from experiments.washizawa2012.denoising import TABLES
from experiments.washizawa2012.noisy_digits import WHITE
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.judge.published import load_published

LABELS = {"subset": "SubKp ({m})", "reduced": "RKp ({m})", "wiener": "WF", "median": "Median", "bm3d": "BM3D"}
PRINTED = {f"{name} ({m})" for name in ("SubKp", "RKp") for m in (100, 500, 1000)} | {"WF", "Median", "BM3D"}
# How many readings were tried: centroids or the samples nearest to them, each with two ways to find the
# width; ways to go on beyond the border.
READINGS = {"subset": 4, "reduced": 4, "median": 7}
NAMED = "_named_width"


@experiment.cells(*TABLES)
def cells(records: pd.DataFrame, settings: dict) -> list[Cell]:
    """Mean and standard deviation over the test images, for each printed method and level of noise."""
    table = records.experiment.iloc[0].partition("/")[2]
    printed = load_published("washizawa2012").query("table == @table").set_index(["row", "column"])["value"]
    found = []
    for (method, m), rows in records.groupby(["method", "m"], dropna=False):
        label = LABELS.get(method, "").format(m=m)
        if label in PRINTED:
            found += _row_of_cells(rows, table, label, printed)
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


def _row_of_cells(rows, table, label, printed):
    method, readings = rows.method.iloc[0], {}
    for level, group in rows.groupby("level"):
        column = f"sigma = {level:g}" if table == "table7" else f"p = {level:.2f}"
        for reading in ("", NAMED):
            own = group[group.metric.str.endswith(NAMED) == bool(reading)].set_index("metric")
            if len(own):
                readings.setdefault(reading, {})[column] = own
    nearest = min(readings, key=lambda reading: _deviation(readings[reading], reading, label, printed))
    found = []
    for column, own in readings[nearest].items():
        about = {"note": _parameters(own), "readings": READINGS.get(method, 1)}
        if method == "bm3d":
            about["note"] = f"the bm3d package on the first {own.images.iloc[0]:.0f} images"
        for other in readings.keys() - {nearest}:
            rest = readings[other][column]
            value = rest.value[f"denoising_mse{other}"]
            about["note"] += (
                f"; {'named width' if other else 'best of the grid'}: {value:.2f}, {_parameters(rest)}"
            )
            if nearest == NAMED:
                about |= {"as_described": value, "as_described_sd": rest.value["denoising_sd"]}
        found.append(
            Cell(
                table,
                label,
                column,
                own.value[f"denoising_mse{nearest}"],
                ours_sd=own.value[f"denoising_sd{nearest}"],
                trials=int(own.images.iloc[0]),
                **about,
            )
        )
    return found


def _deviation(columns, reading, label, printed):
    """Mean deviation of a row from the printed one, as a share of it."""
    ours = pd.Series({column: own.value[f"denoising_mse{reading}"] for column, own in columns.items()})
    return float((ours / printed[label].reindex(ours.index) - 1).abs().mean())


def _parameters(rows):
    gamma, r = rows.gamma.iloc[0] if "gamma" in rows else np.nan, rows.r.iloc[0]
    return "" if pd.isna(r) else f"c = 10^{np.log10(gamma):.1f}, r = {r}"


def _not_run(rows, levels):
    reason = "only in the paper profile, with the package bm3d"
    columns = [] if "BM3D" in rows else [f"sigma = {level:g}" for level in levels]
    return [Cell("table7", "BM3D", column, np.nan, note=reason) for column in columns]
