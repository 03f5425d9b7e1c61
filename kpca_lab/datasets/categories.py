"""Columns that are not numbers: text, dates and truth values, turned into numbers as asked."""

import re
from numbers import Number
from typing import Any

import numpy as np

from kpca_lab.extras import require

__all__ = ["CATEGORICAL", "to_numbers"]

CATEGORICAL = ("error", "onehot", "ordinal", "drop")
# More values of one column than this are hardly categories, and would make as many columns.
MAX_CATEGORIES = 100

_CHOICES = (
    "choose categorical=onehot (a column of zeros and ones for each value), ordinal (numbers in the order of "
    "the values), drop (leave them out), or the columns to take by columns="
)
_TRUTHS = {"true": 1.0, "false": 0.0}
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}([.,' ]\d{3})+([.,]\d+)?")
_DATE_FORMATS = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")


def to_numbers(frame: Any, categorical: str, where: str) -> tuple[np.ndarray, list[str]]:
    """Turn the columns of a data frame into one table of numbers.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of any type.
    categorical : {"error", "onehot", "ordinal", "drop"}
        What to do about columns that are not numbers, see :func:`kpca_lab.datasets.user_data.load_csv`.
    where : str
        Name of the file, for messages.

    Returns
    -------
    X : ndarray of shape (n_samples, n_columns)
        In float64; NaN where a value is missing.
    names : list of str
        Of the columns, such as ``colour=red`` for one value of a column.
    """
    kinds = [_kind(frame.iloc[:, place]) for place in range(frame.shape[1])]
    names = [
        f"x{column}" if isinstance(column, int | np.integer) else str(column) for column in frame.columns
    ]
    other = [place for place, kind in enumerate(kinds) if kind != "number"]
    if not other:
        return frame.to_numpy(dtype=np.float64, na_value=np.nan), names
    if categorical == "error":
        told = ", ".join(
            f"{names[place]} ({_example(frame.iloc[:, place], kinds[place])})" for place in other
        )
        raise ValueError(f"{where}: these columns are not numbers: {told}; {_CHOICES}")
    parts: list[np.ndarray] = []
    new_names: list[str] = []
    for place, kind in enumerate(kinds):
        column, name = frame.iloc[:, place], names[place]
        if kind == "number":
            parts.append(column.to_numpy(dtype=np.float64, na_value=np.nan)[:, None])
            new_names.append(name)
        elif categorical != "drop":
            part, values = _encoded(column, kind, categorical, f"{where}: column {name}")
            parts.append(part)
            new_names += [name if value is None else f"{name}={value}" for value in values]
    if not parts:
        raise ValueError(f"{where}: no column is left for X once those that are not numbers are dropped")
    return np.hstack(parts), new_names


def _kind(column: Any) -> str:
    """One of number, truth value, date, text."""
    letter = getattr(column.dtype, "kind", "O")
    if letter in "iuf":
        return "number"
    if letter == "b":
        return "truth value"
    if letter == "M":
        return "date"
    present = column.dropna()
    # Objects that are numbers: whole ones of more than 64 bits, decimal ones of a Parquet file.
    if all(isinstance(value, Number) and not isinstance(value, bool) for value in present):
        return "number"
    values = present.astype(str)
    if values.str.lower().isin(list(_TRUTHS)).all():
        return "truth value"
    if values.iloc[:100].map(lambda value: bool(_DATE.fullmatch(value))).all() and _date_readings(values):
        return "date"
    return "text"


def _date_readings(values: Any) -> list[Any]:
    """All ways to read a column of text as dates that fit every value and differ from each other."""
    pandas = require("pandas", "data")
    readings: list[Any] = []
    for form in _DATE_FORMATS:
        try:
            reading = pandas.to_datetime(values, format=form, utc=True)
        except (ValueError, OverflowError):
            continue
        if not any(reading.equals(other) for other in readings):
            readings.append(reading)
    return readings


def _example(column: Any, kind: str) -> str:
    if kind != "text":
        return kind
    pandas = require("pandas", "data")
    present = column.dropna()
    odd = present[pandas.to_numeric(present, errors="coerce").isna()]
    if 0 < len(odd) < 0.5 * len(present):
        return f"numbers but for {len(odd)} values, first {str(odd.iloc[0])[:30]!r} in row {odd.index[0]}"
    example = str((odd if len(odd) else present).iloc[0])[:30]
    if _GROUPED.fullmatch(example):
        return f"numbers such as {example!r}, which are read without separators of thousands only"
    return f"text such as {example!r}"


def _encoded(column: Any, kind: str, categorical: str, where: str) -> tuple[np.ndarray, list[str | None]]:
    """The numbers of one column, and the value that each new column stands for."""
    gaps = column.isna().to_numpy()
    if kind == "truth value":
        codes = np.array([_TRUTHS.get(str(value).lower(), np.nan) for value in column])
        return codes[:, None], [None]
    if kind == "date" and categorical == "ordinal":
        return _days(column, where)[:, None], [None]
    values, numbers = np.unique(column[~gaps].astype(str).to_numpy(dtype=object), return_inverse=True)
    codes = np.full(len(column), np.nan)
    codes[~gaps] = numbers
    if categorical == "ordinal":
        return codes[:, None], [None]
    if len(values) > MAX_CATEGORIES:
        raise ValueError(
            f"{where} has {len(values)} different values, more than {MAX_CATEGORIES}: too many for "
            "categorical=onehot; choose ordinal or drop"
        )
    table = (codes[:, None] == np.arange(len(values))).astype(np.float64)
    table[gaps] = np.nan
    return table, list(values)


def _days(column: Any, where: str) -> np.ndarray:
    """Days since 1970-01-01, with fractions."""
    pandas = require("pandas", "data")
    if getattr(column.dtype, "kind", "O") == "M":
        times = pandas.to_datetime(column, utc=True)
    else:
        readings = _date_readings(column.dropna().astype(str))
        if len(readings) > 1:
            raise ValueError(
                f"{where} holds dates that can be read in {len(readings)} ways (day or month first): write "
                "them as YYYY-MM-DD, or choose categorical=drop"
            )
        times = readings[0].reindex(column.index)
    days = (times - pandas.Timestamp(0, tz="UTC")) / pandas.Timedelta(days=1)
    return days.to_numpy(dtype=np.float64, na_value=np.nan)
