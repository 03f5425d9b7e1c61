"""Zhang, Wang & Ma 2010: our figures for the cells of its tables and the numbers of its text."""

import numpy as np

from experiments.common.stated import sigma, stated
from experiments.zhang2010.tables import (
    ACCURACY,
    KERNEL,
    LINEAR,
    NAMES,
    PAPER,
    SIZES,
    item_of,
    row_label,
    short_name,
)
from kpca_lab.datasets import load_dataset
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import only_value

SYNTHETIC, SYNTHETIC_SIZE = "gaussian50", 10000
# How many readings were tried: for the used samples of APCA, and for the features of each method.
READINGS_OF_COUNTS = {"apca": 2}
READINGS_OF_FEATURES = {"akpca": 24, "apca": 8, "pca": 3}
STAND_IN = {"comparable": False, "note": "computed on a small generated stand-in"}


def _real(dataset):
    """Whether the figures are of the paper's data, not of a stand-in that needs no download."""
    return dataset == SYNTHETIC or dataset.startswith("ida/")


def _cell(dataset, table, row, column, value, **about):
    return Cell(table, row, column, value, **(about if _real(dataset) else STAND_IN))


@experiment.cells(*SIZES)
def sizes_cells(records, settings):
    """The counts."""
    columns = {
        "n_features": "No. of attributes",
        "n_samples": "No. of data",
        "n_train": "No. of training data",
        "n_test": "No. of test data",
    }
    item = item_of(records)
    cells = [
        _cell(entry.dataset, item, row_label(entry.dataset), columns[entry.metric], entry.value)
        for entry in records.itertuples()
    ]
    benchmarks = records.loc[records["dataset"] != SYNTHETIC, "dataset"].nunique()
    for test in {"table1": (1,), "table5": (2, 3), "table10": (4,)}[item]:
        cells += stated(f"Section 4, Test {test}", {f"benchmark data sets of Test {test}": benchmarks})
    if item == "table1":
        X = load_dataset(SYNTHETIC).X
        used = {
            "synthetic data sets of Test 1": records["dataset"].nunique() - benchmarks,
            "mean of the synthetic data": X.mean(),
            "standard deviation of the synthetic data": X.std(),
        }
        cells += stated("Section 4, Test 1", used)
    return cells


@experiment.cells(*LINEAR, *KERNEL)
def used_cells(records, settings):
    """Used samples, CPU times and their ratios."""
    item = item_of(records)
    cells = [cell for _, rows in records.groupby("dataset") for cell in _used_of_dataset(item, rows)]
    test = 1 if f"{PAPER}/{item}" in LINEAR else 2
    return cells + stated(
        f"Section 4, Test {test}", {f"alpha of Table {item[-1]}": only_value(records, "alpha")}
    )


def _used_of_dataset(item, rows):
    dataset = rows["dataset"].iloc[0]
    standard, approximate = ("pca", "apca") if "pca" in set(rows["method"]) else ("full", "akpca")
    values = rows.groupby(["metric", "method"])["value"]
    mean, deviation, trials = values.mean(), values.std(), values.size()
    n, used = mean["n_used", standard], mean["n_used", approximate]
    counted = {
        "ours_sd": deviation["n_used", approximate],
        "trials": int(trials["n_used", approximate]),
        "readings": READINGS_OF_COUNTS.get(approximate, 1),
    }
    if dataset == SYNTHETIC:
        counted |= {"note": f"{counted['trials']} draws; the paper's is not known"}
    elif ("n_used_as_described", approximate) in mean.index:
        counted |= {"as_described": mean["n_used_as_described", approximate]}
    percent = {
        name: value * 100 / n for name, value in counted.items() if name in ("ours_sd", "as_described")
    }
    ratio = mean["runtime", standard] / mean["runtime", approximate]
    law = {"note": f"(n/m)^3 is {(n / used) ** 3:.1f}"} if approximate == "akpca" else {}
    found = {f"No. of used data, {NAMES[standard]}": (n, {}), "rate2": (ratio, law)}
    found |= {
        f"CPU time, {NAMES[method]}": (mean["runtime", method], {}) for method in (standard, approximate)
    }
    found |= {f"No. of used data, {NAMES[approximate]}": (used, counted)}
    found |= {"rate1 (%)": (100 * used / n, counted | percent)}
    size = {"comparable": dataset != SYNTHETIC or n == SYNTHETIC_SIZE}
    cells = [
        _cell(dataset, item, row_label(dataset), column, value, **about, **size)
        for column, (value, about) in found.items()
    ]
    text = {"table2": "smallest share of thyroid used", "table4": "largest share of thyroid used"}
    if short_name(dataset) == "thyroid" and item in text:
        cells.append(_cell(dataset, "text", "Section 4, Test 1", text[item], 100 * used / n))
    return cells


@experiment.cells(*ACCURACY)
def accuracy_cells(records, settings):
    """Mean accuracy over the values of C, how often the approximation is better, and the settings."""
    item, costs = item_of(records), settings["parameters"]["costs"]
    described = records[records["metric"] == "accuracy_as_described"]
    described = described.set_index(["dataset", "method", "alpha"])["value"]
    cells = []
    for entry in records[records["metric"] == "accuracy"].itertuples():
        about = {"trials": len(costs), "readings": READINGS_OF_FEATURES.get(entry.method, 1)}
        about["as_described"] = described.get((entry.dataset, entry.method, entry.alpha), np.nan)
        place = (f"{row_label(entry.dataset)}, {NAMES[entry.method]}", f"alpha = {entry.alpha:g}")
        cells.append(_cell(entry.dataset, item, *place, entry.value, **about))
    cells += _comparisons(records)
    if item == "table9":
        used = {f"{place} C": cost for place, cost in zip(("first", "second", "third"), costs)}
        cells += stated("Section 4, Test 3", used | {"sigma of the Gaussian kernel": sigma(records)})
    return cells


def _comparisons(records):
    """On how many data sets the approximation is better, equal and worse in the printed digits."""
    linear = "apca" in set(records["method"])
    approximate, standard, test = ("apca", "pca", 4) if linear else ("akpca", "full", 3)
    printed = set(load_published(PAPER).query("table == 'text'")["column"])
    values = records.pivot_table(
        index=["alpha", "dataset"], columns=["method", "metric"], values="value"
    ).round(4)
    signs, described = (
        np.sign((_reading(values[approximate], metric) - _reading(values[standard], metric)).round(4))
        for metric in ("accuracy", "accuracy_as_described")
    )
    cells = []
    for alpha, own in signs.groupby(level="alpha"):
        datasets = own.index.get_level_values("dataset")
        stand_in = next((name for name in datasets if not _real(name)), datasets[0])
        for sign, word in ((1, "better"), (0, "equal"), (-1, "worse")):
            column = f"data sets on which {NAMES[approximate]} is {word}, alpha = {alpha:g}"
            if column in printed:
                about = {"as_described": (described[alpha] == sign).sum()}
                about["readings"] = READINGS_OF_FEATURES[approximate]
                place = f"Section 4, Test {test}"
                cells.append(_cell(stand_in, "text", place, column, (own == sign).sum(), **about))
    return cells


def _reading(values, metric):
    """KPCA has one reading only."""
    return values[metric if metric in values else "accuracy"]
