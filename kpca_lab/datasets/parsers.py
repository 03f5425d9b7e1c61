"""Raw files to arrays. Pure functions of the files; nothing here executes what it reads."""

import gzip
import io
import lzma
import pickletools
import struct
from pathlib import Path

import numpy as np

from kpca_lab.extras import require

__all__ = [
    "read_benchmark",
    "read_concrete",
    "read_concrete_rounded",
    "read_idx",
    "read_matlab",
    "read_multipose_faces",
    "read_table",
]

MAX_DECOMPRESSED = 500_000_000


def _read_bytes(path: Path) -> bytes:
    """Read a file, decompressing it if it is gzip: servers may have done so already."""
    with open(path, "rb") as opened:
        if opened.read(2) != b"\x1f\x8b":
            opened.seek(0)
            return opened.read()
    with gzip.open(path, "rb") as opened:
        content = opened.read(MAX_DECOMPRESSED + 1)
    if len(content) > MAX_DECOMPRESSED:
        raise ValueError(f"{Path(path).name} has more than {MAX_DECOMPRESSED} bytes inside")
    return content


def read_idx(path: Path) -> np.ndarray:
    """Read unsigned bytes in the IDX format of MNIST."""
    content = _read_bytes(path)
    zero, kind, n_dimensions = struct.unpack_from(">HBB", content)
    if zero != 0 or kind != 0x08 or not 1 <= n_dimensions <= 4:
        raise ValueError(f"{Path(path).name} is not an IDX file of unsigned bytes")
    shape = struct.unpack_from(f">{n_dimensions}I", content, 4)
    start = 4 + 4 * n_dimensions
    if len(content) - start != int(np.prod(shape)):
        raise ValueError(f"{Path(path).name} does not hold the {shape} values it announces")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def read_table(path: Path, n_columns: int, delimiter: str | None = None) -> np.ndarray:
    """Read a table of numbers without header, of a known width, compressed or not."""
    text = io.StringIO(_read_bytes(path).decode("ascii"))
    table = np.loadtxt(text, delimiter=delimiter, ndmin=2)
    if table.shape[1] != n_columns:
        raise ValueError(f"{Path(path).name} has {table.shape[1]} columns instead of {n_columns}")
    return table


def read_matlab(path: Path, *names: str) -> list[np.ndarray]:
    """Read the named arrays of a MATLAB file."""
    from scipy.io import loadmat

    content = loadmat(path, variable_names=names)
    missing = set(names) - set(content)
    if missing:
        raise ValueError(f"{Path(path).name} has no variable {', '.join(sorted(missing))}")
    return [content[name] for name in names]


def read_benchmark(path: Path, name: str) -> dict[str, np.ndarray]:
    """Read one of the Raetsch benchmarks as zero-based index arrays over its patterns.

    The indices of some benchmarks repeat and must: the file keeps each pattern once.
    """
    struct_array = read_matlab(path, name)[0][0, 0]
    # Some patterns are stored as uint8, whose differences wrap around: cast first.
    return {
        "x": struct_array["x"].astype(np.float64),
        "t": struct_array["t"].ravel().astype(np.int64),
        "train": struct_array["train"].astype(np.int32) - 1,
        "test": struct_array["test"].astype(np.int32) - 1,
    }


def read_concrete(path: Path) -> np.ndarray:
    """Read the 1030 x 9 table of the concrete spreadsheet."""
    with open(path, "rb") as opened:
        sheet = require("xlrd", "data").open_workbook(file_contents=opened.read()).sheet_by_index(0)
    return np.array([sheet.row_values(row) for row in range(1, sheet.nrows)], dtype=np.float64)


def read_concrete_rounded(path: Path) -> np.ndarray:
    """Read the rounded concrete table out of a pickled data frame without unpickling it.

    Loading a pickle can run any code, so the stream is only cut into its tokens and the two
    blocks of numbers are picked by their size: eight columns of float64 (seven inputs and the
    strength) and two of int64 (row names and age).
    """
    n_rows = 1030
    with lzma.open(path) as opened:
        stream = opened.read(1_000_000)
    blocks = {
        len(token): bytes(token)
        for _, token, _ in pickletools.genops(stream)
        if isinstance(token, bytes | bytearray)
    }
    try:
        reals = np.frombuffer(blocks[8 * n_rows * 8], "<f8").reshape(8, n_rows)
        integers = np.frombuffer(blocks[2 * n_rows * 8], "<i8").reshape(2, n_rows)
    except KeyError:
        raise ValueError(f"{Path(path).name} does not hold the blocks expected") from None
    return np.vstack([reals[:7], integers[1:], reals[7:]]).T.astype(np.float64)


def read_multipose_faces(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the multi-pose part of Yale Face Database B: images (n, 30, 20), subjects 1..10."""
    faces = require("rdata", "data").read_rda(path)["yale"]
    # Pixels run down the columns of a picture first.
    images = np.asarray(faces["x"], dtype=np.float64).reshape(-1, 20, 30).transpose(0, 2, 1)
    return images, np.asarray(faces["c"], dtype=np.int64)
