"""Washizawa 2012: tables of its notes, made from the records."""

import pandas as pd

from experiments.washizawa2012.classification import Selection
from experiments.washizawa2012.denoising_cells import deviation, printed_rows, readings_of_rows
from experiments.washizawa2012.noisy_digits import OTHER_BORDERS
from experiments.washizawa2012.sizes import METHODS, SELECTORS
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.judge.claims import NotRun, select
from kpca_lab.suite.judge.published import item_label, load_published

PAPER = "washizawa2012"
RULE = "18_random_start_whole_span"
OF_TABLE_1 = ("table1", "table1_parabola")
MISFITS = {
    "12_random_start": "12 cells: random, K-means",
    "18_random_start": "18: and forward by one",
    "18_random_start_by_three": "by three",
    "18_random_start_by_five": "by five",
    RULE: "on the whole span (the rule)",
}


@experiment.note_table(f"{PAPER}/table7_readings")
def table7_readings(records):
    return _denoising_readings(records, "table7")


@experiment.note_table(f"{PAPER}/table8_readings")
def table8_readings(records):
    return _denoising_readings(records, "table8")


def _denoising_readings(records, table):
    """Every reading of every row with its mean deviation; the nearest to the printed row is marked."""
    records, printed = select(records, table), printed_rows(table)
    lines = []
    for label, readings in readings_of_rows(records).items():
        columns = printed[label].index
        if len(readings) == 1:
            continue
        lines.append([label, "printed", *(f"{value:.2f}" for value in printed[label]), ""])
        shares = [deviation(reading, printed[label]) for reading in readings]
        for reading, share in zip(readings, shares):
            values = [f"{reading.value(column):.2f}" for column in columns]
            mark = " (nearest)" if share == min(shares) else ""
            images = reading.columns[columns[0]].images.iloc[0]
            name = reading.name + ("" if images == 10000 else f", {images:.0f} images")
            lines.append(["", name, *values, f"{100 * share:.1f} %{mark}"])
    if not lines:
        raise NotRun("one reading only")
    return pd.DataFrame(lines, columns=["row", "reading", *columns, "mean deviation"])


@experiment.note_table(f"{PAPER}/median_borders")
def median_borders(records):
    """The median filter with every way to go on beyond the border."""
    rows = select(records, "table8", metric="denoising_mse")
    values = rows.pivot_table(index="method", columns="level", values="value")
    names = {"median": "periodic (used)"} | {f"median_{mode}": mode for mode in OTHER_BORDERS}
    printed = printed_rows("table8")["Median"]
    lines = [["printed", *(f"{value:.2f}" for value in printed)]]
    lines += [[name, *(f"{value:.2f}" for value in values.loc[key])] for key, name in names.items()]
    return pd.DataFrame(lines, columns=["border", *printed.index])


@experiment.note_table(f"{PAPER}/families")
def families(records):
    """The families that fit Table 1 best, the old stand-in, and how well each reading fits."""
    rows = select(records, "table1_fit").groupby(["distribution", "metric"])["value"].mean().unstack()
    if f"misfit_{RULE}" not in rows or len(rows) < 8:
        raise NotRun("no misfits of all families")
    ordered = rows.sort_values(f"misfit_{RULE}")
    stand_in = ordered.index.get_loc("parabola, noise 0.2")
    shown = ordered.iloc[sorted({*range(8), stand_in})]
    lines = []
    for name, own in shown.iterrows():
        place = f"{ordered.index.get_loc(name) + 1}. {name.replace('unequal True', 'unequal')}"
        misfits = [f"{own[f'misfit_{key}']:.2f}" for key in MISFITS]
        lines.append(
            [place, *misfits, f"{own[f'off_{RULE}']:.1f}", f"{own['improved_printed_distance']:.4f}"]
        )
    last = ["cells off of 18", "D^2/r of Improved KPCA, printed formula"]
    return pd.DataFrame(lines, columns=["distribution", *MISFITS.values(), *last])


@experiment.note_table(f"{PAPER}/table1_cells")
def table1_cells(records):
    """Table 1 with both stand-ins beside the printed figures."""
    cells = load_published(PAPER).query("table == 'table1'").set_index(["row", "column"])
    rows = pd.concat([select(records, item) for item in OF_TABLE_1])
    values = rows.groupby(["experiment", "metric", "selector", "method"])["value"].agg(["mean", "std"])
    lines = []
    for metric, text in (("normalized_empirical_error", "E_emp ratio"), ("distance_per_component", "D")):
        for selector, label in SELECTORS.items():
            name = f"{text}, {label}"
            printed = [cells.loc[(name, column)] for column in METHODS.values()]
            lines.append([name, "printed", *(f"{cell.value:.4f} ± {cell.sd:.4f}" for cell in printed)])
            for item, title in zip(OF_TABLE_1, ("blunt parabola", "parabola")):
                found = [
                    values.loc[(f"{PAPER}/{item}", _metric(metric, method), selector, method)]
                    for method in METHODS
                ]
                lines.append(["", title, *(f"{own['mean']:.4f} ± {own['std']:.4f}" for own in found)])
    return pd.DataFrame(lines, columns=["row", "samples", *METHODS.values()])


def _metric(metric, method):
    """The distance of Improved KPCA is by the printed formula."""
    return "printed_distance" if (metric, method) == ("distance_per_component", "improved") else metric


@experiment.note_table(f"{PAPER}/mnist_curve")
def mnist_curve(records):
    """Training error on MNIST over the basis size."""
    rows = select(records, "figure6", metric="empirical_error", method=["subset", "cholesky"])
    values = rows.groupby(["method", "m"])["value"].mean()
    sizes = sorted(values.index.get_level_values("m").unique())
    lines = []
    for method, name in (("subset", "SubKPCA"), ("cholesky", "ICD")):
        own = values[method]
        lines.append([name, *(f"{1e5 * own[m]:.3f}e-5" if m in own.index else "" for m in sizes)])
    return pd.DataFrame(lines, columns=["method", *(f"m = {m:.0f}" for m in sizes)])


@experiment.note_table(f"{PAPER}/selection")
def selection(records):
    """Errors of the test images at 100 % with the parameters that other divisions would have chosen."""
    lines = []
    for item in ("table5", "table6"):
        own = select(records, item, metric="selected_error")
        for method, centred in own[["method", "centered"]].drop_duplicates().itertuples(index=False):
            found = Selection.of(own, method, centred, 1)
            told = found.text.partition(": ")[2]
            lines.append([item_label(item), f"{method}, {'centred' if centred else 'not centred'}", told])
    return pd.DataFrame(lines, columns=["table", "case", "test errors, share of the bootstrap"])
