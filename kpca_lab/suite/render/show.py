"""Records as text tables."""

from collections.abc import Collection

import pandas as pd

__all__ = ["rows_table", "without_chosen_widths"]

# Columns of records that are no settings of what was computed.
OUTCOMES = ("kernel", "value", "seconds", "job", "status", "error", "split", "seed")


def rows_table(records: pd.DataFrame, jobs: Collection[str]) -> str:
    """The rows of some jobs: one line for each method, selector, m and r, one column for each measure.

    Several trials become mean and standard deviation.

    Parameters
    ----------
    records : DataFrame
    jobs : collection of str

    Returns
    -------
    str
    """
    own = records[records["job"].isin(jobs) & (records["status"] == "done")]
    if own.empty:
        return "no rows"
    own = without_chosen_widths(own)
    keys = [
        key
        for key in ("dataset", "kernel", "method", "selector", "m", "r", "parameters")
        if key in ("method", "m", "r") or own[key].nunique() > 1 or key == "dataset"
    ]
    grouped = own.groupby([*keys, "metric"], dropna=False, sort=True)["value"]
    table = grouped.agg(["mean", "std", "count"])
    table["text"] = [
        f"{mean:.5g} ± {std:.2g}" if count > 1 else f"{mean:.6g}"
        for mean, std, count in table[["mean", "std", "count"]].itertuples(index=False)
    ]
    wide = table["text"].unstack("metric", fill_value="").reset_index()
    wide[["m", "r"]] = wide[["m", "r"]].astype("object").where(wide[["m", "r"]].notna(), "")
    trials = int(table["count"].max())
    note = f"\n{trials} trials: mean ± standard deviation" if trials > 1 else ""
    return wide.to_string(index=False) + note


def without_chosen_widths(records: pd.DataFrame) -> pd.DataFrame:
    """The same records, kernels told by name alone where a rule chose their parameters anew in each trial.

    Those are outcomes of a trial, not settings, and must not keep trials apart. A kernel that a sweep sets
    stays as it is: then one trial has several.
    """
    setting = [name for name in records if name not in OUTCOMES]

    def most_kernels(keys):
        return records.groupby(keys, dropna=False)["kernel"].nunique().max()

    if records.empty or most_kernels(setting) == 1 or most_kernels([*setting, "split", "seed"]) > 1:
        return records
    return records.assign(kernel=records["kernel"].str.partition("(")[0])
