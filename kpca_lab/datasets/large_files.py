"""The user's own tables as sources of rows, for files that do not fit into memory."""

import os
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from kpca_lab.datasets.csv_format import CsvFormat
from kpca_lab.datasets.locations import full_path
from kpca_lab.datasets.own_files import (
    column_names,
    csv_format,
    existing_file,
    open_text,
    read_npy,
    refuse_other_kinds,
)
from kpca_lab.datasets.user_data import Column, column_places
from kpca_lab.extras import require
from kpca_lab.row_source import RowSource, SlicedRows, StreamedRows
from kpca_lab.rows import as_rows

__all__ = ["open_rows", "standardized"]


def open_rows(
    path: str | os.PathLike,
    columns: Sequence[Column] | None = None,
    target: Column | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> RowSource:
    """Open a table for reading in blocks of rows, in memory that does not grow with its length.

    What :func:`load_dataset` does for tables that fit into memory, this does for any: the estimators that
    take sources of rows (see :mod:`kpca_lab.rows`) take what is returned. All columns used must be numbers,
    and all values finite. A CSV file is parsed at each pass, and once more to count its rows: Parquet is
    many times faster.

    Parameters
    ----------
    path : path
        An NPY, HDF5, Parquet or CSV file, known by its ending (.npy, .h5 or .hdf5, .parquet or .pq, anything
        else is CSV), a folder of Parquet files, or a zarr array (.zarr).
    columns : list of str or int, optional
        Columns to read, by name or by place; by default all but the target.
    target : str or int, optional
        A column to leave out.
    delimiter, decimal : str, default=None
        Separators of a CSV file; found out by default.
    header : bool, default=None
        Whether a CSV file begins with names; found out too, see
        :func:`kpca_lab.datasets.user_data.load_csv`.
    key : str, optional
        Name of the data set in an HDF5 file; not needed if there is only one table in it.

    Returns
    -------
    RowSource

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kpca_lab.datasets import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "own.csv"
    ...     _ = file.write_text("width;height\\n1,5;2\\n0,25;3\\n")
    ...     open_rows(file).shape
    (2, 2)
    """
    place = full_path(path, "path")
    if place.suffix == ".zarr" and place.is_dir():
        return _from_array(_package("zarr").open_array(place, mode="r"), place, columns, target)
    if place.suffix in (".h5", ".hdf5"):
        return _from_array(_hdf5_table(existing_file(place), key), place, columns, target)
    if place.is_dir() or place.suffix in (".parquet", ".pq"):
        return _from_parquet(place if place.is_dir() else existing_file(place), columns, target)
    file = existing_file(place)
    if file.suffix == ".npy":
        return _from_array(read_npy(file), file, columns, target)
    return _from_csv(file, csv_format(file, delimiter, decimal, header), columns, target)


def _from_array(array: Any, path: Path, columns: Sequence[Column] | None, target: Column | None) -> RowSource:
    if len(array.shape) != 2 or array.dtype.kind not in "biuf":
        raise ValueError(f"{path.name} is not a table of numbers but {array.dtype}, {tuple(array.shape)}")
    places = column_places(range(array.shape[1]), target, columns, path)[1]
    return SlicedRows(array, None if columns is None and target is None else places)


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"the package {name} is needed here: pip install {name}", name=name
        ) from None


def _hdf5_table(file: Path, key: str | None) -> Any:
    try:
        opened = _package("h5py").File(file, "r")
    except OSError as error:
        raise ValueError(f"{file.name} cannot be read as HDF5: {error}") from error
    tables: dict[str, Any] = {}
    opened.visititems(
        lambda name, item: tables.update({name: item} if len(getattr(item, "shape", ())) == 2 else {})
    )
    if key is None and len(tables) == 1:
        return next(iter(tables.values()))
    if key not in tables:
        what = "more than one table" if key is None and tables else f"no table {key!r}" if key else "no table"
        raise ValueError(f"{file.name} has {what}: choose key= from {', '.join(tables) or 'nothing'}")
    return tables[key]


def standardized(source: RowSource, verbose: int = 0) -> RowSource:
    """Return the rows with zero mean and unit variance of each column, found by a pass over them.

    Parameters
    ----------
    source : RowSource
        What :func:`open_rows` returns.
    verbose : int, default 0
        Whether to show the progress of the pass.

    Returns
    -------
    RowSource
        Constant columns are only shifted.
    """
    size, mean, squares = 0, np.zeros(source.n_columns), np.zeros(source.n_columns)
    for block in source.blocks(verbose=verbose, label="standardize"):
        new = block.shape[0]
        away = block.mean(axis=0, dtype=np.float64) - mean
        squares += new * block.var(axis=0, dtype=np.float64) + away**2 * (size * new / (size + new))
        mean += away * (new / (size + new))
        size += new
    width = np.sqrt(squares / size)
    width[width <= 1e-12 * np.abs(mean)] = 1.0
    return source.map(lambda block: (block - mean) / width)


def _from_parquet(path: Path, columns: Sequence[Column] | None, target: Column | None) -> RowSource:
    require("pyarrow", "data")
    if path.is_file():
        refuse_other_kinds(path, "parquet")
    try:
        dataset = require("pyarrow.dataset", "data").dataset(path, format="parquet")
        names = dataset.schema.names
        n_rows = dataset.count_rows()
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{path.name} cannot be read as Parquet, it is damaged or was not written to its end: {reason}"
        ) from error
    if not names:
        raise ValueError(f"{path.name} holds no Parquet file")
    if columns is None and target is None:
        return as_rows(dataset)
    chosen = [names[place] for place in column_places(names, target, columns, path)[1]]
    ahead: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}
    return StreamedRows(
        lambda rows: dataset.to_batches(columns=chosen, batch_size=rows, **ahead), len(chosen), n_rows
    )


def _from_csv(
    file: Path, form: CsvFormat, columns: Sequence[Column] | None, target: Column | None
) -> RowSource:
    first = next(_csv_chunks(file, form, 1, None, None))
    names = column_names(first)
    places = column_places(names, target, columns, file)[1]
    taken = sorted(set(places))
    # Where columns are chosen, pandas does not tell of rows with more cells than the head.
    chosen = None if len(taken) == first.shape[1] else taken

    def start(rows: int) -> Iterator[np.ndarray]:
        for chunk in _csv_chunks(file, form, rows, chosen, np.float64):
            yield chunk.to_numpy()[:, np.searchsorted(taken, places)]

    return StreamedRows(start, len(places))


def _csv_chunks(
    file: Path, form: CsvFormat, rows: int, places: list[int] | None, dtype: Any
) -> Iterator[Any]:
    pandas = require("pandas", "data")
    try:
        with (
            open_text(file) as opened,
            pandas.read_csv(
                opened,
                sep=form.delimiter,
                decimal=form.decimal,
                header=0 if form.header else None,
                index_col=False,
                skipinitialspace=True,
                encoding="utf-8",
                usecols=places,
                dtype=dtype,
                chunksize=rows,
            ) as chunks,
        ):
            while True:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", pandas.errors.ParserWarning)
                    chunk = next(chunks, None)
                if chunk is None:
                    return
                yield chunk
    except pandas.errors.ParserWarning:
        raise ValueError(f"{file.name} has rows with more cells than its first line") from None
    except (ValueError, OSError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{file.name} cannot be read as a table of numbers: {reason}; choose columns by columns=, or "
            "check quotation marks and numbers of cells"
        ) from error
