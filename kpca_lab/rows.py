"""Samples read in blocks of rows, from wherever they are, in memory that does not grow with their number.

:func:`as_rows` makes one :class:`RowSource` of a NumPy array or memory map of any type, a sparse matrix, an
h5py data set, a zarr array, a Dask array, Parquet files by their path or as a pyarrow data set, or chunks: a
list of arrays, an object that can be iterated again and again, or a function that returns an iterator. The
blocks do not depend on how the rows are stored, so that equal rows give equal results to the bit; only where
a Dask cluster is connected, the rows of a Dask array are summed up there, see :mod:`kpca_lab.distributed`.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kpca_lab.dask_rows import DaskRows, active_client
from kpca_lab.extras import require
from kpca_lab.row_source import (
    BLOCK_BYTES,
    ChunkedRows,
    RowsOnce,
    RowSource,
    SlicedRows,
    StreamedRows,
    length_of,
    width_of,
)

__all__ = ["BLOCK_BYTES", "RowSource", "as_rows", "is_row_source"]


def as_rows(X: Any) -> RowSource:
    """Make a source of rows from an object or a path.

    Parameters
    ----------
    X : object
        A two-dimensional NumPy array or :class:`numpy.memmap` of any type, SciPy sparse matrix, h5py data
        set, zarr array or Dask array; a pyarrow data set, table or ParquetFile; the path of an NPY file, of
        a Parquet file or of a folder of such; a list of arrays with the same number of columns; an object
        that can be iterated over repeatedly, or a function without arguments that returns an iterator of
        such arrays. A plain iterator will do where one pass is enough. A RowSource is returned as it is.

    Returns
    -------
    RowSource

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.rows import as_rows
    >>> pixels = np.arange(12, dtype=np.uint8).reshape(6, 2)
    >>> source = as_rows(lambda: iter([pixels[:2], pixels[2:]]))
    >>> source.shape
    (6, 2)
    >>> source.take([5, 0])
    array([[10., 11.],
           [ 0.,  1.]])
    """
    if isinstance(X, RowSource):
        return X
    if isinstance(X, str | os.PathLike):
        return _from_path(Path(X))
    package = type(X).__module__.partition(".")[0]
    if sparse.issparse(X):
        return SlicedRows(X.tocsr())
    if isinstance(X, np.ndarray) or package in ("h5py", "zarr"):
        return SlicedRows(X)
    if package == "dask":
        return _from_dask(X)
    if package == "pyarrow":
        return _from_arrow(X)
    if hasattr(X, "__array__"):
        return SlicedRows(np.asarray(X))
    if isinstance(X, list | tuple):
        if X and hasattr(X[0], "shape") and len(X[0].shape) == 2:
            same = {np.dtype(getattr(chunk, "dtype", np.float64)) for chunk in X}
            lengths = [length_of(chunk) for chunk in X]
            return ChunkedRows(X.__getitem__, lengths, width_of(X), same.pop() if len(same) == 1 else None)
        return SlicedRows(np.asarray(X))
    if isinstance(X, Iterator):
        return RowsOnce(X)
    if callable(X):
        return StreamedRows(lambda rows: _chunks_of(X))
    if isinstance(X, Iterable):
        return StreamedRows(lambda rows: X)
    raise ValueError(f"Rows cannot be read from an object of type {type(X).__name__}.")


def is_row_source(X: Any) -> bool:
    """Tell whether ``X`` is to be read in blocks, and not as an array that is in memory anyway."""
    if isinstance(X, RowSource | np.memmap | str | os.PathLike):
        return True
    if type(X).__module__.partition(".")[0] in ("h5py", "zarr", "dask", "pyarrow"):
        return True
    if isinstance(X, np.ndarray) or sparse.issparse(X) or hasattr(X, "__array__"):
        return False
    if isinstance(X, list | tuple):
        return bool(X) and hasattr(X[0], "shape") and len(X[0].shape) == 2
    return callable(X) or isinstance(X, Iterable)


def _from_path(path: Path) -> RowSource:
    if path.suffix == ".npy" and path.is_file():
        try:
            return SlicedRows(np.load(path, mmap_mode="r", allow_pickle=False))
        except (ValueError, EOFError, OverflowError) as error:
            raise ValueError(f"{path.name} cannot be read as an NPY file: {error}") from error
    if path.is_dir() or (path.suffix in (".parquet", ".pq") and path.is_file()):
        require("pyarrow", "data")
        return _from_arrow(require("pyarrow.dataset", "data").dataset(path, format="parquet"))
    if not path.exists():
        raise FileNotFoundError(f"no file {path}")
    raise ValueError(
        f"{path.name}: rows are read from .npy and .parquet files; kpca_lab.datasets.open_rows takes CSV too."
    )


def _from_dask(array: Any) -> RowSource:
    if not hasattr(array, "chunks"):
        raise ValueError(
            f"Rows are read from a Dask array, not {type(array).__name__}: see to_dask_array(lengths=True)."
        )
    if array.ndim != 2:
        raise ValueError(f"Rows must be an array of two dimensions, got shape {array.shape}.")
    client = active_client()
    if client is not None:
        return DaskRows(array, client)
    if np.isnan(array.shape).any():
        return StreamedRows(
            lambda rows: (array.blocks[number].compute() for number in range(array.numblocks[0]))
        )
    return ChunkedRows(
        lambda number: array.blocks[number].compute(), array.chunks[0], array.shape[1], array.dtype
    )


def _from_arrow(table: Any) -> RowSource:
    """Rows of a pyarrow data set, table or ParquetFile; only some of its batches are in memory at a time."""
    if hasattr(table, "iter_batches"):  # ParquetFile
        n_rows, n_columns = table.metadata.num_rows, len(table.schema_arrow.names)
        return StreamedRows(lambda rows: table.iter_batches(rows), n_columns, n_rows)
    if hasattr(table, "count_rows"):  # Dataset
        ahead = {"batch_readahead": 1, "fragment_readahead": 1}
        n_rows, n_columns = table.count_rows(), len(table.schema.names)
        return StreamedRows(lambda rows: table.to_batches(batch_size=rows, **ahead), n_columns, n_rows)
    if hasattr(table, "to_batches"):  # Table
        return StreamedRows(lambda rows: table.to_batches(rows), table.num_columns, table.num_rows)
    raise ValueError(f"Rows cannot be read from a pyarrow {type(table).__name__}.")


def _chunks_of(function: Callable[[], Any]) -> Iterable[Any]:
    chunks = function()
    if not isinstance(chunks, Iterable):
        raise ValueError(f"A function that gives rows must return an iterator, got {type(chunks).__name__}.")
    return chunks
