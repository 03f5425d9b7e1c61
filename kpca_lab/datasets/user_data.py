"""The user's own tables: CSV, NPY, NPZ and Parquet files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kpca_lab.datasets.categories import CATEGORICAL, to_numbers
from kpca_lab.datasets.dataset import Dataset, FileRecord, Provenance
from kpca_lab.datasets.fetch import sha256_of
from kpca_lab.datasets.own_files import existing_file, read_csv, read_npy, read_npz, read_parquet

__all__ = ["Column", "column_places", "load_csv", "load_npy", "load_npz", "load_parquet"]

MISSING_POLICIES = ("error", "drop", "mean", "median")

PathLike = str | os.PathLike
Column = str | int


def load_csv(
    path: PathLike,
    target: Column | None = None,
    columns: Sequence[Column] | None = None,
    missing: str = "error",
    categorical: str = "error",
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> Dataset:
    """A table in a text file, one sample a line.

    Parameters
    ----------
    path : path
        The file, in UTF-8; it may be compressed by gzip, bzip2 or xz.
    target : str or int, optional
        Column that becomes `y`, by name or by place (negative from the end).
    columns : list of str or int, optional
        Columns that become `X`; by default all but the target.
    missing : {"error", "drop", "mean", "median"}
        What to do about missing or infinite values: refuse, drop the rows, or put the mean or
        median of the column. A missing target is never made up.
    categorical : {"error", "onehot", "ordinal", "drop"}
        What to do about columns of text, dates or truth values: refuse; make a column of zeros and ones for
        each value (at most 100 a column); number the values in their order; or leave them out. A truth value
        is one column of 0 and 1 in either way, and ``"ordinal"`` makes days since 1970-01-01 of dates.
        Missing values stay missing.
    delimiter : str, optional
        Separator of the columns, ``"\\s+"`` for white space. By default it is found out: a comma, semicolon,
        tab, bar or white space.
    decimal : {".", ","}, optional
        Decimal sign. By default a comma if numbers with a comma occur, none with a point, and columns are
        not separated by commas.
    header : bool, optional
        Whether the first line has names. By default it has if it holds anything but numbers.
    """
    _check_policies(missing, categorical)
    file = existing_file(path)
    frame = read_csv(file, delimiter, decimal, header)
    return _from_frame("csv", frame, file, target, columns, missing, categorical)


def load_parquet(
    path: PathLike,
    target: Column | None = None,
    columns: Sequence[Column] | None = None,
    missing: str = "error",
    categorical: str = "error",
) -> Dataset:
    """A table in a Parquet file.

    Parameters
    ----------
    path : path
        The file.
    target, columns, missing, categorical
        As for ``csv``.
    """
    _check_policies(missing, categorical)
    file = existing_file(path)
    return _from_frame("parquet", read_parquet(file), file, target, columns, missing, categorical)


def load_npy(
    path: PathLike,
    target: Column | None = None,
    columns: Sequence[Column] | None = None,
    missing: str = "error",
) -> Dataset:
    """A two-dimensional array of numbers in an NPY file.

    Parameters
    ----------
    path : path
        The file; arrays of Python objects are refused.
    target, columns, missing
        As for ``csv``, columns being given by place.
    """
    _check_policies(missing)
    file = existing_file(path)
    array = _table_of_numbers(read_npy(file), file.name)
    place, places = column_places(range(array.shape[1]), target, columns, file)
    X = array[:, places].astype(np.float64)
    y = None if place is None else np.array(array[:, place])
    if y is not None:
        y = y.astype(np.int64 if y.dtype.kind in "biu" else np.float64)
    X, y, note = _settle_missing(X, y, missing, _fill_values(X, missing), "")
    names = tuple(f"x{number}" for number in places)
    return Dataset("npy", X, y, feature_names=names, provenance=_provenance(file, note))


def load_npz(path: PathLike, key: str = "X", target: str | None = "y", missing: str = "error") -> Dataset:
    """Named arrays in an NPZ file: samples, and where they exist labels and a test part.

    Parameters
    ----------
    path : path
        The file; arrays of Python objects are refused.
    key : str
        Name of the samples; those of a test part are looked for under ``key + "_test"``.
    target : str or None
        Name of the labels, used if it is there; for a test part likewise ``target + "_test"``.
    missing : {"error", "drop", "mean", "median"}
        As for ``csv``; a test part is filled in with the statistics of the training part.
    """
    _check_policies(missing)
    file = existing_file(path)
    arrays = read_npz(file)
    for wanted in (key, target):
        if wanted not in (None, *arrays) and (wanted == key or wanted != "y"):
            raise ValueError(f"{file.name} has no array {wanted!r}; it has {', '.join(arrays)}")
    X = _table_of_numbers(arrays[key], f"{file.name}: {key}").astype(np.float64)
    y = None if target is None else arrays.get(target)
    X_test = arrays.get(f"{key}_test")
    y_test = arrays.get(f"{target}_test") if X_test is not None else None
    fill = _fill_values(X, missing)
    X, y, note = _settle_missing(X, y, missing, fill, "training ")
    notes = [note]
    if X_test is not None:
        X_test = _table_of_numbers(X_test, f"{file.name}: {key}_test").astype(np.float64)
        X_test, y_test, note = _settle_missing(X_test, y_test, missing, fill, "test ")
        notes.append(note)
    names = tuple(f"x{number}" for number in range(X.shape[1]))
    return Dataset("npz", X, y, X_test, y_test, names, _provenance(file, "; ".join(filter(None, notes))))


def _check_policies(missing: str, categorical: str = "error") -> None:
    for option, given, valid in (
        ("missing", missing, MISSING_POLICIES),
        ("categorical", categorical, CATEGORICAL),
    ):
        if given not in valid:
            raise ValueError(f"{option} must be one of {', '.join(valid)}, not {given!r}")


def _provenance(file: Path, note: str) -> Provenance:
    record = FileRecord(file.name, "user", str(file), sha256_of(file), file.stat().st_size)
    return Provenance("user", (record,), terms="the user's own", note=note)


def _from_frame(
    name: str,
    frame: Any,
    file: Path,
    target: Column | None,
    columns: Sequence[Column] | None,
    missing: str,
    categorical: str,
) -> Dataset:
    place, places = column_places(frame.columns, target, columns, file)
    if not len(frame):
        raise ValueError(f"{file.name} has no rows")
    X, names = to_numbers(frame.iloc[:, places], categorical, file.name)
    y = None if place is None else _as_labels(frame.iloc[:, place])
    X, y, note = _settle_missing(X, y, missing, _fill_values(X, missing), "")
    return Dataset(name, X, y, feature_names=tuple(names), provenance=_provenance(file, note))


def column_places(
    names: Sequence, target: Column | None, columns: Sequence[Column] | None, file: Path
) -> tuple[int | None, list[int]]:
    """Places of the target and of the columns of X."""
    place = None if target is None else _place(names, target, file)
    if columns is None:
        places = [number for number in range(len(names)) if number != place]
    elif isinstance(columns, str | int):
        raise ValueError(f"columns must be a list such as [{columns!r}], not {columns!r}")
    else:
        places = [_place(names, column, file) for column in columns]
    if not places:
        raise ValueError(f"{file.name}: no column is left for X")
    return place, places


def _place(names: Sequence, column: Column, file: Path) -> int:
    if isinstance(column, str):
        found = [number for number, name in enumerate(names) if str(name) == column]
        if len(found) == 1:
            return found[0]
        what = "no" if not found else "more than one"
        known = ", ".join(str(name) for name in names[:20])
        raise ValueError(f"{file.name} has {what} column {column!r}; it has {known}")
    width = len(names)
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise ValueError(f"a column is given by name or place, not by {column!r}")
    if not -width <= column < width:
        raise ValueError(f"{file.name} has {width} columns, so there is no column {column}")
    return int(column) % width


def _as_labels(column: Any) -> np.ndarray:
    if getattr(column.dtype, "kind", "O") in "biu" and not column.isna().any():
        return column.to_numpy(dtype=np.int64)
    if getattr(column.dtype, "kind", "O") in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.isna().any():
        raise ValueError(f"the target {column.name!r} has missing labels")
    return np.array([str(value) for value in column])


def _table_of_numbers(array: np.ndarray, what: str) -> np.ndarray:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(f"{what} is not a table of numbers but {array.dtype}, {array.shape}")
    if not len(array):
        raise ValueError(f"{what} has no rows")
    return array


def _fill_values(X: np.ndarray, missing: str) -> np.ndarray | None:
    if missing in ("error", "drop"):
        return None
    present = np.isfinite(X)
    if not present.any(axis=0).all():
        empty = np.flatnonzero(~present.any(axis=0))
        raise ValueError(f"columns {empty.tolist()} have no value at all to take a {missing} of")
    statistic = np.nanmean if missing == "mean" else np.nanmedian
    return statistic(np.where(present, X, np.nan), axis=0)


def _settle_missing(
    X: np.ndarray, y: np.ndarray | None, missing: str, fill: np.ndarray | None, part: str
) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Apply the policy; return the arrays and a note on what was changed."""
    gaps = ~np.isfinite(X)
    unlabelled = np.zeros(len(X), dtype=bool)
    if y is not None and y.dtype.kind == "f":
        unlabelled = ~np.isfinite(y)
    if not gaps.any() and not unlabelled.any():
        return X, y, ""
    if missing == "error" or (fill is not None and unlabelled.any()):
        raise ValueError(
            f"{gaps.sum()} values and {unlabelled.sum()} targets are missing or infinite (first "
            f"in row {int(np.flatnonzero(gaps.any(axis=1) | unlabelled)[0])}); choose missing="
            "drop (leave out such rows), mean or median (of the column; not for targets)"
        )
    if missing == "drop":
        kept = ~(gaps.any(axis=1) | unlabelled)
        if not kept.any():
            raise ValueError("every row has a missing value: dropping leaves nothing")
        note = f"{(~kept).sum()} of {len(X)} {part}rows dropped for missing values"
        return X[kept], None if y is None else y[kept], note
    assert fill is not None
    note = f"{gaps.sum()} missing {part}values replaced by the {missing} of the column"
    return np.where(gaps, fill, X), y, note
