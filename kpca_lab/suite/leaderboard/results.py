"""The attempts of a contest as one tidy table: a row for each entrant, data set, size and trial."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from kpca_lab.suite.files import csv_for_spreadsheets, write_atomically
from kpca_lab.suite.leaderboard.contest import Attempt

__all__ = ["KEYS", "MEASURES", "Measure", "read_table", "results_table", "write_table"]

KEYS = ["dataset", "n", "d", "method", "selector", "m", "trial", "status"]


class Measure:
    """How a measure is called, and whether less of it is better."""

    def __init__(self, label: str, *, less_is_better: bool = True, log: bool = True):
        self.label, self.less_is_better, self.log = label, less_is_better, log


MEASURES = {
    "residual_outside_scores": Measure("error outside the scores"),
    "sampled_error": Measure("empirical error"),
    "sampled_gap": Measure("gap bound"),
    "sampled_validation_error": Measure("validation error"),
    "neighbour_accuracy": Measure("accuracy of neighbours", less_is_better=False, log=False),
    "svm_accuracy": Measure("accuracy of a linear SVM", less_is_better=False, log=False),
    "runtime": Measure("fit [s]"),
    "transform_time": Measure("transform of 1000 rows [s]"),
    "fit_memory": Measure("memory of the fit [MB]"),
}


def results_table(attempts: Iterable[Attempt]) -> pd.DataFrame:
    """One row for each attempt, one column for each measure.

    Parameters
    ----------
    attempts : iterable of Attempt

    Returns
    -------
    DataFrame
        With the columns `KEYS` and the measures. ``status`` is ``done``, ``timeout``, ``memory``, ``failed``,
        or ``not tried``: over the limit where it was easier.
    """
    rows = []
    for attempt in attempts:
        statuses = [row["status"] for row in attempt.rows if row["status"] not in ("done", "inapplicable")]
        entry = {
            "dataset": attempt.event,
            "n": attempt.n,
            "d": attempt.d,
            "method": attempt.entrant.method,
            "selector": attempt.entrant.selector,
            "m": attempt.size,
            "trial": attempt.trial,
            "status": (statuses or ["done"])[0] if attempt.rows else "not tried",
        }
        entry |= {row["metric"]: row["value"] for row in attempt.rows if row["status"] == "done"}
        rows.append(entry)
    table = pd.DataFrame(rows, columns=[*KEYS, *_measures(rows)]).astype({"m": "Int64"})
    return table.sort_values(KEYS[:-1], na_position="first").reset_index(drop=True)


def _measures(rows):
    found = dict.fromkeys(name for row in rows for name in row if name not in KEYS)
    known = [name for name in MEASURES if name in found]
    return known + [name for name in found if name not in MEASURES]


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write the table, numbers with ten digits."""
    shown = table.copy()
    for name in shown.columns[len(KEYS) :]:
        shown[name] = [float(f"{value:.10g}") for value in shown[name].astype(float)]
    write_atomically(path, csv_for_spreadsheets(shown).encode())


def read_table(path: Path) -> pd.DataFrame:
    """What `write_table` has written."""
    return pd.read_csv(path, dtype={"m": "Int64", "selector": "str"}, keep_default_na=True).fillna(
        {"selector": ""}
    )
