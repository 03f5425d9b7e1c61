"""Washizawa 2012: Tables 1 and 2, and the sizes that its text states."""

from itertools import product

import pandas as pd

from experiments.common.stated import kernel_value, stated_all
from kpca_lab.datasets import load_dataset
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Outcome, row
from kpca_lab.suite.measure.samples import load_samples

METHODS = {
    "subset": "SubKPCA",
    "reduced": "Reduced KPCA",
    "improved": "Improved KPCA",
    "nystrom": "Nyström method",
}
SELECTORS = {"random": "Random", "kmeans": "K-means", "forward": "Forward"}
CHOSEN_START = "K-means from random samples: a start chosen with the printed figures in view"


@experiment.cells("washizawa2012/table1")
def table1_cells(records):
    """Mean and standard deviation over the trials; the rows called D hold D^2/r."""
    measures = {"normalized_empirical_error": "E_emp ratio", "distance_per_component": "D"}
    printed = records["method"].isin(METHODS) & records["selector"].isin(SELECTORS)
    own = records[printed & records["metric"].isin(measures)]
    cells = []
    for (metric, selector, method), values in own.groupby(["metric", "selector", "method"])["value"]:
        label = f"{measures[metric]}, {SELECTORS[selector]}"
        note = CHOSEN_START if selector == "kmeans" else ""
        cells.append(("table1", label, METHODS[method], values.mean(), values.std(), len(values), note))
    used = {
        "factor in the kernel of the artificial samples": kernel_value(own, "gamma"),
        "components of the artificial samples": own["r"].max(),
        "trials of Table 1": own["seed"].nunique(),
    }
    return pd.concat([_frame(cells), stated_all("washizawa2012", "Section 6.2", used)])


@experiment.run("washizawa2012/table2")
def table2_run(job):
    """Count dimensions and samples, and take the variance that sets the kernel."""
    samples = load_samples(job)
    n, d = samples.dataset.X.shape
    values = {"n_features": d, "n_samples": n, "variance": samples.variance}
    return Outcome([row(job, metric, value) for metric, value in values.items()])


@experiment.cells("washizawa2012/table2")
def table2_cells(records):
    """The counts."""
    columns = {"n_features": "no. of dim.", "n_samples": "no. of samples"}
    own = records[records["metric"].isin(columns)]
    sizes = _frame(
        ("table2", entry.dataset, columns[entry.metric], entry.value, float("nan"), 1, "")
        for entry in own.itertuples()
    )
    number = {"open data sets": own["dataset"].nunique()}
    return pd.concat([sizes, stated_all("washizawa2012", "Section 6.3", number)])


@experiment.cells("washizawa2012/text")
def text_cells(records):
    """The counts, and the shares of the samples that are trained on and held out."""
    n = records.set_index(["dataset", "metric"])["value"]
    places = {
        ("artificial2d", "n_samples"): ("Section 1", "artificial samples"),
        ("usps", "n_samples"): ("Section 6.4", "USPS training images"),
        ("usps", "n_test"): ("Section 6.4", "USPS test images"),
        ("usps", "n_held_out"): ("Section 6.4", "USPS images held out for validation"),
        ("usps", "n_train"): ("Section 6.4", "USPS images for training in a division"),
        ("mnist", "n_samples"): ("Section 6.5", "MNIST training images"),
        ("mnist", "n_test"): ("Section 6.5", "MNIST test images"),
    }
    cells = [("text", *place, n[key], float("nan"), 1, "") for key, place in places.items() if key in n.index]
    shares = {"concrete": ("Section 6.3", "samples"), "usps": ("Section 6.4", "USPS images")}
    parts = {"n_train": "for training", "n_held_out": "held out for validation"}
    for (name, (place, what)), (part, use) in product(shares.items(), parts.items()):
        if (name, part) in n.index:
            share = 100 * n[name, part] / n[name, "n_samples"]
            cells.append(("text", place, f"share of {what} {use}", share, float("nan"), 1, ""))
    if "artificial2d" in set(records["dataset"]):
        dimension = load_dataset("artificial2d").X.shape[1]
        column = "dimension of the artificial samples"
        cells.append(("text", "Section 1", column, dimension, float("nan"), 1, ""))
    return _frame(cells)


def _frame(cells):
    return pd.DataFrame(cells, columns=["table", "row", "column", "ours", "ours_sd", "trials", "note"])
