"""How many training rows a data set has at most, without loading it."""

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from kpca_lab.datasets.catalogue import entry_of, load_dataset
from kpca_lab.datasets.own_files import existing_file, open_text, read_npy
from kpca_lab.extras import require

__all__ = ["most_rows"]

# Training rows of the published files. Those of tic and yaleb depend on an option.
_ROWS = {
    "concrete": 1030,
    "frey": 1965,
    "housing": 506,
    "mnist": 60000,
    "teapots": 100,
    "usps": 7291,
    "ida/banana": 400,
    "ida/breast_cancer": 200,
    "ida/diabetis": 468,
    "ida/flare_solar": 666,
    "ida/german": 700,
    "ida/heart": 170,
    "ida/image": 1300,
    "ida/ringnorm": 400,
    "ida/splice": 1000,
    "ida/thyroid": 140,
    "ida/titanic": 150,
    "ida/twonorm": 400,
    "ida/waveform": 400,
}
_TIC_ROWS = {"all": 9822, "official": 5822, "train": 5822}
_YALEB_ROWS = {("multipose", False): 1960, ("multipose", True): 2000, ("extended", False): 2414}


def most_rows(name: str, options: dict[str, Any]) -> int | None:
    """Training rows of a data set at most, from its options, its registry or the header of its file.

    Parameters
    ----------
    name : str
        One of `list_datasets`.
    options : dict
        As for `load_dataset`.

    Returns
    -------
    int or None
        None where only the loaded data tell, or where a file of the user's cannot be read: what is wrong
        with it is told by loading it.

    Examples
    --------
    >>> most_rows("mnist", {}), most_rows("tic", {"parts": "train"})
    (60000, 5822)
    """
    if options.get("n_train") is not None:
        return options["n_train"]
    kind = entry_of(name).kind
    if kind == "synthetic":
        return len(load_dataset(name, **options).X)
    if kind == "user":
        return _rows_of_file(name, options)
    if name == "tic":
        return _TIC_ROWS.get(options.get("parts", "all"))
    if name == "yaleb":
        variant, ambient = options.get("variant", "multipose"), options.get("ambient", False)
        return None if options.get("path") else _YALEB_ROWS.get((variant, ambient))
    return _ROWS.get(name)


def _rows_of_file(name: str, options: dict[str, Any]) -> int | None:
    try:
        file = existing_file(options["path"])
        if name == "npy":
            return len(read_npy(file))
        if name == "npz":
            return _npz_rows(file, options.get("key", "X"))
        if name == "parquet":
            return require("pyarrow.parquet", "data").read_metadata(file).num_rows
        return _lines(file)
    except (ValueError, OSError, EOFError, KeyError, TypeError, IndexError, zipfile.BadZipFile, zlib.error):
        return None


def _npz_rows(file: str | os.PathLike, key: str) -> int:
    """Rows of one array of an NPZ file, from the header of that array."""
    with zipfile.ZipFile(file) as archive, archive.open(f"{key}.npy") as member:
        version = np.lib.format.read_magic(member)
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}[version[0]]
        return read(member)[0][0]


def _lines(file: Path) -> int:
    """Lines of a text file, compressed or not, and so the most rows that it can have."""
    ends = {b"\n": 0, b"\r": 0}
    last = b""
    with open_text(file) as opened:
        while block := opened.read(2**20):
            last = block[-1:]
            for end in ends:
                ends[end] += block.count(end)
    return max(ends.values()) + (last not in ends)
