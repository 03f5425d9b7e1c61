"""From tidy records to the numbers of a curve."""

import numpy as np
import pandas as pd

from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import dataset_label, method_label, selector_label


def usable(records) -> pd.DataFrame:
    """The rows that were measured: done, and with a finite value; every setting a column."""
    rows = with_parameters(pd.DataFrame(records))
    keep = pd.to_numeric(rows["value"], errors="coerce").pipe(np.isfinite)
    if "status" in rows:
        keep &= rows["status"] == "done"
    rows = rows[keep].copy()
    rows["value"] = rows["value"].astype(float)
    return rows


def filled(rows, columns) -> pd.DataFrame:
    """The rows with "" where a column to group by has no value, since grouping would drop them."""
    missing = [column for column in columns if column not in rows]
    if missing:
        raise KeyError(f"The records have no column or parameter {missing}; they have {list(rows.columns)}.")
    return rows.assign(**{c: rows[c].astype(object).where(rows[c].notna(), "") for c in columns})


def numbers(rows, column) -> np.ndarray:
    """A column or parameter as numbers, nan where there is none.

    ``basis_share``, where the records do not have it, is m divided by the largest m of the data set.
    """
    if column == "basis_share" and column not in rows:
        m = numbers(rows, "m")
        return np.round(m / pd.Series(m, rows.index).groupby(rows["dataset"]).transform("max").to_numpy(), 4)
    if column not in rows:
        raise KeyError(f"The records have no column or parameter {column!r}; they have {list(rows.columns)}.")
    return pd.to_numeric(rows[column]).to_numpy(dtype=float, na_value=np.nan)


def summary(records, metric, x, by) -> pd.DataFrame:
    """Mean, standard deviation and number of the values of a metric for each x and each series.

    Parameters
    ----------
    records : DataFrame
    metric : str
    x : str
        A column, or a setting.
    by : sequence of str
        The columns that tell the series apart.

    Returns
    -------
    DataFrame
        Columns ``by``, x, ``mean``, ``sd`` (0 for a single value), ``count``, sorted by x.
    """
    rows = usable(records)
    rows = filled(rows[rows["metric"] == metric], by)
    rows[x] = numbers(rows, x)
    groups = rows.groupby([*by, x], sort=False, dropna=True)["value"]
    table = groups.agg(mean="mean", sd="std", count="size").reset_index()
    return table.fillna({"sd": 0.0}).sort_values(x, kind="stable", ignore_index=True)


def paired(records, x_metric, y_metric, along, by) -> pd.DataFrame:
    """Medians of two metrics for each value of ``along`` and each series; ``seconds`` is that column."""
    rows = usable(records)
    rows[along] = numbers(rows, along)
    y = rows[rows["metric"] == y_metric]
    if x_metric == "seconds":
        x = y.assign(value=pd.to_numeric(y["seconds"], errors="coerce")).dropna(subset="value")
    else:
        x = rows[rows["metric"] == x_metric]
    keys = [*by, along]
    medians = [
        filled(part, by).groupby(keys, sort=False, dropna=False)["value"].median().rename(name).reset_index()
        for part, name in ((x, "x"), (y, "y"))
    ]
    # methods without the setting have nan there, which a merge takes for equal
    return medians[0].merge(medians[1], on=keys).sort_values(along, kind="stable", ignore_index=True)


def metric_rows(records, metric) -> pd.DataFrame:
    """The usable rows of a metric; for ``seconds``, all usable rows with that column as their value."""
    rows = usable(records)
    if metric != "seconds":
        return rows[rows["metric"] == metric]
    return rows.assign(value=pd.to_numeric(rows["seconds"], errors="coerce")).dropna(subset="value")


def level(records, method, metric) -> float:
    """The median of a metric over all rows of a method (nan if there are none), for a reference line."""
    rows = metric_rows(records, metric)
    rows = rows[rows["method"].map(style.canonical) == style.canonical(method)]
    return float(rows["value"].median()) if len(rows) else float("nan")


def in_order(series, by) -> list:
    """The series (tuples of the columns ``by``) in the order of the project's methods, then selectors."""
    ranks = {"method": list(style.METHODS), "selector": list(style.SELECTORS)}

    def rank(key):
        result = []
        for column, value in zip(by, key, strict=True):
            known = ranks.get(column, [])
            name = style.canonical(value) if column == "method" else value
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            result.append(
                (known.index(name) if name in known else len(known), value if number else 0, str(value))
            )
        return result

    return sorted(series, key=rank)


def series_label(by, key) -> str:
    """The legend entry of a series: method (selector), then other columns as name = value."""
    named = dict(zip(by, key, strict=True))
    method, selector = named.pop("method", None), named.pop("selector", None)
    parts = []
    if method is not None:
        parts.append(method_label(method, selector))
    elif style.has_selector(selector):
        parts.append(selector_label(selector))
    parts += [
        dataset_label(value) if column == "dataset" else f"{column} = {value}"
        for column, value in named.items()
        if value != ""
    ]
    return ", ".join(parts)


def series_line(by, key, place=0) -> dict:
    """The colour, marker and line of a series; series without a method are told apart by their place."""
    named = dict(zip(by, key, strict=True))
    if "method" in named:
        return style.line(named["method"], named.get("selector"))
    return style.plain_line(place)
