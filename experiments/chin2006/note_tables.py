"""Chin & Suter 2006: tables of its notes, made from the records."""

import pandas as pd

from experiments.chin2006.claims import VARIANTS
from experiments.chin2006.tables import LABELS
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.judge.claims import exponent_interval, interval, select
from kpca_lab.suite.judge.published import item_label, load_published

PAPER = "chin2006"


@experiment.note_table(f"{PAPER}/growth")
def growth(records):
    """Growth exponents of the times: fitted to the printed ones, and ours with two standard errors."""
    cells = load_published(PAPER)
    times = cells[cells.table == "table1"]
    lines = []
    for method, name in LABELS.items():
        own = select(records, "table1", metric="runtime", method=method)
        printed = times[times.column == name]
        sizes = printed.row.str.split().str[0].astype(float)
        ours = exponent_interval(own.n, own.value)
        lines.append([name, exponent_interval(sizes, printed.value), ours])
    return pd.DataFrame(lines, columns=["method", "printed", "ours"])


@experiment.note_table(f"{PAPER}/partitions")
def partitions(records):
    """Error rates of Table 2's protocol: means over the partitions, and paired differences."""
    rows = select(records, VARIANTS, metric="classification_error")
    rates = 100 * rows.pivot_table(
        index=["experiment", "kernel", "n", "split"], columns="method", values="value"
    )
    lines = []
    for (item, kernel, n), own in rates.groupby(level=["experiment", "kernel", "n"]):
        difference = interval(own.incremental - own.full, "points")
        place = [item_label(item.partition("/")[2]), kernel, f"{n:.0f}", f"{len(own)}"]
        lines.append([*place, f"{own.full.mean():.1f}", f"{own.incremental.mean():.1f}", difference])
    headings = ["item", "kernel", "images", "partitions", "batch, %", "incremental, %"]
    return pd.DataFrame(lines, columns=[*headings, "incremental less batch"])
