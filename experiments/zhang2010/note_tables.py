"""Zhang, Wang & Ma 2010: tables of its notes, made from the records."""

import pandas as pd

from experiments.zhang2010.tables import row_label
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.judge.claims import pairs, select
from kpca_lab.suite.judge.published import load_published

PAPER = "zhang2010"
LINEAR = ("table2", "table3", "table4")
KERNEL = ("table6", "table7", "table8")


def _printed(item, column):
    cells = load_published(PAPER)
    return cells[(cells.table == item) & (cells.column == column)].set_index("row")["value"]


def _alpha(item):
    cells = load_published(PAPER)
    return f"{cells.value[cells.column == f'alpha of Table {item[-1]}'].iloc[0]:g}"


@experiment.note_table(f"{PAPER}/rate2")
def rate2(records):
    """Time of KPCA over that of AKPCA: printed, by the cubes of the printed counts, and ours."""
    lines, law, own = [], [], []
    for item in KERNEL:
        rows = select(records, item, metric="runtime")
        both = pairs(rows, "method", "full", "akpca", ["dataset"])
        ours = (both.left / both.right).rename(index=row_label)
        printed = _printed(item, "rate2")
        counts = [_printed(item, f"No. of used data, {name}") for name in ("KPCA", "AKPCA")]
        cube = (counts[0] / counts[1]) ** 3
        for name in printed.index:
            figures = [printed[name], cube[name], ours.get(name, float("nan"))]
            lines.append([name, _alpha(item), *(f"{value:.2f}" for value in figures)])
        law += list((cube / printed - 1).abs())
        own += list((ours.reindex(printed.index) / printed - 1).abs().dropna())
    means = [f"{100 * sum(values) / len(values):.1f} %" for values in (law, own)]
    lines.append(["mean deviation from the printed one", "", "", *means])
    return pd.DataFrame(lines, columns=["data set", "alpha", "printed rate2", "(n/m)^3", "ours"])


@experiment.note_table(f"{PAPER}/apca_times")
def apca_times(records):
    """Printed times of APCA beside the number of samples it uses."""
    lines = []
    for name in _printed("table2", "CPU time, APCA").index:
        cells = []
        for item in LINEAR:
            used = _printed(item, "No. of used data, APCA")[name]
            cells.append(f"{used:.0f}: {_printed(item, 'CPU time, APCA')[name]:.2g} s")
        lines.append([name, *cells])
    return pd.DataFrame(lines, columns=["data set", *(f"alpha = {_alpha(item)}" for item in LINEAR)])


@experiment.note_table(f"{PAPER}/solvers")
def solvers(records):
    """The cell of Table 9 that no features give, with every solver."""
    rows = select(records, "table9_solvers")
    values = rows.pivot_table(index=["features", "solver", "order"], columns="metric", values="value")
    counts = [name for name in values if name.startswith("right")]
    counts.sort(key=lambda name: float(name.rpartition("_")[2]))
    lines = []
    for (features, solver, order), own in values.iterrows():
        name = solver if order == "as given" else f"{solver}, samples {order}"
        right = ", ".join(f"{own[count]:.0f}" for count in counts)
        lines.append([name, features, right, f"{own['accuracy']:.4f}"])
    costs = ", ".join(name.rpartition("_")[2] for name in counts)
    return pd.DataFrame(lines, columns=["solver", "features", f"right at C = {costs}", "accuracy"])
