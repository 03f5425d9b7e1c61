"""The user's own tables: CSV, NPY, NPZ and Parquet files."""

from pathlib import Path

import numpy as np

from kpca_lab.datasets.dataset import Dataset, FileRecord, Provenance
from kpca_lab.datasets.fetch import sha256_of
from kpca_lab.extras import require

__all__ = ["load_csv", "load_npy", "load_npz", "load_parquet"]

MISSING_POLICIES = ("error", "drop", "mean", "median")


def load_csv(path, target=None, columns=None, missing="error", delimiter=",", header=None):
    """A table in a text file, one sample a line.

    Parameters
    ----------
    path : path
        The file; it may be gzip-compressed.
    target : str or int, optional
        Column that becomes `y`, by name or by place (negative from the end).
    columns : list of str or int, optional
        Columns that become `X`; by default all but the target.
    missing : {"error", "drop", "mean", "median"}
        What to do about missing or infinite values: refuse, drop the rows, or put the mean or
        median of the column. A missing target is never made up.
    delimiter : str
        Separator of the columns.
    header : bool, optional
        Whether the first line has names. By default it has if it holds anything but numbers.
    """
    pd = require("pandas", "data")

    file = _existing(path)
    if header is None:
        first = pd.read_csv(file, sep=delimiter, header=None, nrows=1, dtype=str)
        numbers = pd.to_numeric(first.iloc[0].dropna(), errors="coerce")
        header = bool(numbers.isna().any()) or numbers.empty
    frame = pd.read_csv(file, sep=delimiter, header=0 if header else None)
    return _from_frame("csv", frame, file, target, columns, missing)


def load_parquet(path, target=None, columns=None, missing="error"):
    """A table in a Parquet file.

    Parameters
    ----------
    path : path
        The file.
    target, columns, missing
        As for ``csv``.
    """
    pd = require("pandas", "data")

    file = _existing(path)
    frame = pd.read_parquet(file, engine="pyarrow")
    return _from_frame("parquet", frame, file, target, columns, missing)


def load_npy(path, target=None, columns=None, missing="error"):
    """A two-dimensional array of numbers in an NPY file.

    Parameters
    ----------
    path : path
        The file; arrays of Python objects are refused.
    target, columns, missing
        As for ``csv``, columns being given by place.
    """
    pd = require("pandas", "data")

    file = _existing(path)
    array = _load_array(file)
    if array.ndim != 2:
        raise ValueError(f"{file.name} holds an array of shape {array.shape}, not a table")
    return _from_frame("npy", pd.DataFrame(array), file, target, columns, missing)


def load_npz(path, key="X", target="y", missing="error"):
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
    file = _existing(path)
    arrays = _load_array(file)
    if key not in arrays:
        raise ValueError(f"{file.name} has no array {key!r}; it has {', '.join(arrays)}")
    if target not in (None, "y") and target not in arrays:
        raise ValueError(f"{file.name} has no array {target!r}; it has {', '.join(arrays)}")
    X = _as_numbers(arrays[key], f"{file.name}: {key}")
    y = arrays.get(target)
    X_test = arrays.get(f"{key}_test")
    y_test = arrays.get(f"{target}_test") if X_test is not None else None
    fill = _fill_values(X, missing)
    X, y, note = _settle_missing(X, y, missing, fill, "training ")
    notes = [note]
    if X_test is not None:
        X_test = _as_numbers(X_test, f"{file.name}: {key}_test")
        X_test, y_test, note = _settle_missing(X_test, y_test, missing, fill, "test ")
        notes.append(note)
    names = tuple(f"x{number}" for number in range(X.shape[1]))
    return Dataset("npz", X, y, X_test, y_test, names, _provenance(file, "; ".join(filter(None, notes))))


def _existing(path):
    if path is None:
        raise ValueError("give the path of the file: path=...")
    file = Path(path).expanduser()
    if not file.is_file():
        raise FileNotFoundError(f"no file {file.absolute()}")
    return file


def _load_array(file):
    """Load NPY or NPZ, refusing pickled objects, whose loading could run any code."""
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except ValueError as error:
        raise ValueError(f"{file.name} cannot be read without unpickling: {error}") from error


def _provenance(file, note):
    record = FileRecord(file.name, "user", str(file.absolute()), sha256_of(file), file.stat().st_size)
    return Provenance("user", (record,), terms="the user's own", note=note)


def _from_frame(name, frame, file, target, columns, missing):
    place = None if target is None else _place(frame, target, file)
    if columns is None:
        places = [number for number in range(frame.shape[1]) if number != place]
    else:
        places = [_place(frame, column, file) for column in columns]
    if not places:
        raise ValueError(f"{file.name}: no column is left for X")
    chosen = frame.iloc[:, places]
    unfit = [
        str(column)
        for column, kind in zip(chosen.columns, chosen.dtypes)
        if getattr(kind, "kind", "O") not in "biuf"
    ]
    if unfit:
        raise ValueError(
            f"{file.name}: these columns are not numbers: {', '.join(unfit)}; choose others with columns="
        )
    X = chosen.to_numpy(dtype=np.float64, na_value=np.nan)
    y = None if place is None else _as_labels(frame.iloc[:, place])
    X, y, note = _settle_missing(X, y, missing, _fill_values(X, missing), "")
    names = tuple(
        f"x{number}" if isinstance(column, int | np.integer) else str(column)
        for number, column in zip(places, chosen.columns)
    )
    return Dataset(name, X, y, feature_names=names, provenance=_provenance(file, note))


def _place(frame, column, file):
    if isinstance(column, str):
        found = [number for number, name in enumerate(frame.columns) if str(name) == column]
        if len(found) == 1:
            return found[0]
        what = "no" if not found else "more than one"
        known = ", ".join(str(name) for name in frame.columns[:20])
        raise ValueError(f"{file.name} has {what} column {column!r}; it has {known}")
    width = frame.shape[1]
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise ValueError(f"a column is given by name or place, not by {column!r}")
    if not -width <= column < width:
        raise ValueError(f"{file.name} has {width} columns, so there is no column {column}")
    return int(column) % width


def _as_labels(column):
    if getattr(column.dtype, "kind", "O") in "biu" and not column.isna().any():
        return column.to_numpy(dtype=np.int64)
    if getattr(column.dtype, "kind", "O") in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.isna().any():
        raise ValueError(f"the target {column.name!r} has missing labels")
    return np.array([str(value) for value in column])


def _as_numbers(array, what):
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(f"{what} is not a table of numbers but {array.dtype}, {array.shape}")
    return array.astype(np.float64)


def _fill_values(X, missing):
    if missing not in MISSING_POLICIES:
        raise ValueError(f"missing must be one of {', '.join(MISSING_POLICIES)}, not {missing!r}")
    if missing in ("error", "drop"):
        return None
    present = np.isfinite(X)
    if not present.any(axis=0).all():
        empty = np.flatnonzero(~present.any(axis=0))
        raise ValueError(f"columns {empty.tolist()} have no value at all to take a {missing} of")
    statistic = np.nanmean if missing == "mean" else np.nanmedian
    return statistic(np.where(present, X, np.nan), axis=0)


def _settle_missing(X, y, missing, fill, part):
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
        )
    if missing == "drop":
        kept = ~(gaps.any(axis=1) | unlabelled)
        if not kept.any():
            raise ValueError("every row has a missing value: dropping leaves nothing")
        note = f"{(~kept).sum()} of {len(X)} {part}rows dropped for missing values"
        return X[kept], None if y is None else y[kept], note
    return (
        np.where(gaps, fill, X),
        y,
        f"{gaps.sum()} missing {part}values replaced by the {missing} of the column",
    )
