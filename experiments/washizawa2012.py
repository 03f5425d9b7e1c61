"""Washizawa 2012: what its tables and figures need beyond their YAML."""

import pandas as pd

from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.registry import experiment
from kpca_lab.suite.samples import load_samples

METHODS = {
    "subset": "SubKPCA",
    "reduced": "Reduced KPCA",
    "improved": "Improved KPCA",
    "nystrom": "Nyström method",
}
SELECTORS = {"random": "Random", "kmeans": "K-means", "forward": "Forward"}


@experiment.cells("washizawa2012/table1")
def table1_cells(records):
    """Mean and standard deviation over the trials; the rows called D hold D^2/r."""
    measures = {"normalized_empirical_error": "E_emp ratio", "distance_per_component": "D"}
    printed = records["method"].isin(METHODS) & records["selector"].isin(SELECTORS)
    own = records[printed & records["metric"].isin(measures)]
    cells = []
    for (metric, selector, method), values in own.groupby(["metric", "selector", "method"])["value"]:
        label = f"{measures[metric]}, {SELECTORS[selector]}"
        cells.append(("table1", label, METHODS[method], values.mean(), values.std(), len(values), ""))
    return _frame(cells)


@experiment.jobs("washizawa2012/table2")
def table2_jobs(config):
    """One job for each data set."""
    return [Job(config.experiment, *dataset_of(config, name, 0)) for name in config.datasets]


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
    return _frame(
        ("table2", entry.dataset, columns[entry.metric], entry.value, float("nan"), 1, "")
        for entry in own.itertuples()
    )


def _frame(cells):
    return pd.DataFrame(cells, columns=["table", "row", "column", "ours", "ours_sd", "trials", "note"])
