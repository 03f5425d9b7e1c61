"""The user's files, read into arrays and frames. What is wrong with a file is said in words."""

import bz2
import gzip
import io
import lzma
import math
import os
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kpca_lab.datasets.csv_format import CsvFormat, detect_format
from kpca_lab.datasets.locations import full_path
from kpca_lab.extras import require

__all__ = [
    "column_names",
    "csv_format",
    "existing_file",
    "open_text",
    "read_csv",
    "read_npy",
    "read_npz",
    "read_parquet",
    "refuse_other_kinds",
]

# What other kinds of files begin with, and how to load them.
_BEGINNINGS = {
    b"\x93NUMPY": ("npy", "an NPY file", "load it as npy"),
    b"PK\x03\x04": ("npz", "a zip archive such as NPZ", "load an NPZ file as npz, unpack any other"),
    b"PAR1": ("parquet", "a Parquet file", "load it as parquet"),
    b"\x89HDF": ("hdf5", "an HDF5 file", "open it with h5py"),
}
_COMPRESSED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_UNREADABLE = (ValueError, EOFError, OSError, MemoryError, OverflowError, KeyError, NotImplementedError)
_SAMPLE_BYTES = 200_000


def existing_file(path: str | os.PathLike | None) -> Path:
    """Return the path of a file that is there, or say which one is not."""
    if path is None:
        raise ValueError("give the path of the file: path=...")
    file = full_path(path, "path")
    if not file.is_file():
        what = "a folder, not a file:" if file.is_dir() else "no file"
        raise FileNotFoundError(f"{what} {file}")
    return file


def refuse_other_kinds(file: Path, kind: str) -> None:
    """Raise if a file is empty, or begins as files of another kind than ``kind`` do."""
    with open(file, "rb") as opened:
        beginning = opened.read(8)
    if not beginning:
        raise ValueError(f"{file.name} is empty")
    for mark, (other, what, advice) in _BEGINNINGS.items():
        if beginning.startswith(mark) and other != kind:
            raise ValueError(f"{file.name} is {what}, not {kind}: {advice}")


def _reason(error: BaseException) -> str:
    """The first line of an error's text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def read_npy(file: Path) -> np.ndarray:
    """Map the array of an NPY file into memory; nothing is read yet, and pickled objects are refused."""
    refuse_other_kinds(file, "npy")
    with open(file, "rb") as opened:
        try:
            version = np.lib.format.read_magic(opened)
            headers = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }
            shape, _, dtype = headers[version](opened)
        except _UNREADABLE as error:
            raise ValueError(
                f"{file.name} cannot be read without unpickling: it is no NPY file ({_reason(error)})"
            ) from error
        there = file.stat().st_size - opened.tell()
    if dtype.hasobject:
        raise ValueError(f"{file.name} cannot be read without unpickling: it holds Python objects")
    announced = math.prod(shape) * dtype.itemsize
    if announced != there:
        raise ValueError(
            f"{file.name} announces {announced} bytes, of shape {shape} and type {dtype}, and holds {there}: "
            "it is damaged or was not written to its end"
        )
    return np.load(file, mmap_mode="r" if announced else None, allow_pickle=False)


def read_npz(file: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an NPZ file; pickled objects are refused."""
    refuse_other_kinds(file, "npz")
    try:
        with np.load(file, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except (*_UNREADABLE, zipfile.BadZipFile, zlib.error) as error:
        how = "without unpickling" if "allow_pickle" in str(error) else "as NPZ"
        raise ValueError(f"{file.name} cannot be read {how}: {_reason(error)}") from error


def read_parquet(file: Path) -> Any:
    """Read a Parquet file into a data frame."""
    require("pyarrow", "data")
    pandas = require("pandas", "data")
    refuse_other_kinds(file, "parquet")
    try:
        return pandas.read_parquet(file, engine="pyarrow")
    except _UNREADABLE as error:
        raise ValueError(
            f"{file.name} cannot be read as Parquet, it is damaged or was not written to its end: "
            f"{_reason(error)}"
        ) from error


def read_csv(
    file: Path, delimiter: str | None = None, decimal: str | None = None, header: bool | None = None
) -> Any:
    """Read a text table into a data frame; see :func:`kpca_lab.datasets.user_data.load_csv`."""
    pandas = require("pandas", "data")
    form = csv_format(file, delimiter, decimal, header)
    try:
        with open_text(file) as opened, warnings.catch_warnings():
            # Rows with more cells than the head: pandas would cut them with no more than a warning.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(
                opened,
                sep=form.delimiter,
                decimal=form.decimal,
                header=0 if form.header else None,
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
                encoding="utf-8",
            )
        names = column_names(frame)
        return frame.iloc[:, : len(names)].set_axis(names, axis=1)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file.name} is not UTF-8 text ({error}): save it as UTF-8") from error
    except pandas.errors.ParserWarning:
        raise ValueError(f"{file.name} has rows with more cells than its first line") from None
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, *_UNREADABLE, zlib.error) as error:
        raise ValueError(
            f"{file.name} cannot be read as a table: {_reason(error)}; check quotation marks and the number "
            f"of cells there (columns are taken to be separated by {form.delimiter!r})"
        ) from error


def column_names(frame: Any) -> list:
    """Names of the columns of a text table, or of its first rows, without white space around them."""
    names = [name.strip() if isinstance(name, str) else name for name in frame.columns]
    # A separator at the end of each line makes one more column of nothing.
    if str(names[-1]).startswith("Unnamed:") and frame.iloc[:, -1].isna().all():
        names.pop()
    return names


def csv_format(
    file: Path, delimiter: str | None = None, decimal: str | None = None, header: bool | None = None
) -> CsvFormat:
    """How a text table is written: as said, and the rest as its first lines show."""
    refuse_other_kinds(file, "csv")
    try:
        with open_text(file) as opened:
            beginning = opened.read(_SAMPLE_BYTES)
    except (*_UNREADABLE, zlib.error) as error:
        raise ValueError(f"{file.name} cannot be decompressed: {_reason(error)}") from error
    if b"\0" in beginning:
        raise ValueError(f"{file.name} is not UTF-8 text: it holds zero bytes")
    text = beginning.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise ValueError(f"{file.name} is empty")
    if len(beginning) == _SAMPLE_BYTES:
        text = text[: text.rfind("\n") + 1] or text
    return detect_format(text, delimiter, decimal, header)


def open_text(file: Path) -> BinaryIO | io.BufferedIOBase:
    """Open a text file, decompressing it if it is compressed, whatever its name is."""
    with open(file, "rb") as opened:
        beginning = opened.read(8)
    for mark, opener in _COMPRESSED.items():
        if beginning.startswith(mark):
            return opener(file, "rb")  # type: ignore[operator]
    return open(file, "rb")
