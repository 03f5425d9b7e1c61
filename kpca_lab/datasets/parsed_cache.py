"""Parsed arrays kept beside the raw files, so that a second load does not parse again.

The key holds the hashes of the raw files and the version of the parser: a changed file or
parser finds nothing stale. An entry is a folder of ``.npy`` files and their hashes. It is only
a convenience: one that cannot be written or does not verify is ignored, and the raw files are
parsed.
"""

import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from kpca_lab.datasets.dataset import FileRecord
from kpca_lab.datasets.fetch import sha256_of
from kpca_lab.datasets.locations import cache_dir

__all__ = ["load_or_parse"]

_log = logging.getLogger(__name__)


def load_or_parse(
    name: str, version: int, records: Iterable[FileRecord], parse: Callable[[], dict[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """Return the arrays of `parse`, from an earlier call if the raw files are the same.

    Parameters
    ----------
    name : str
        Name of the parser's result, part of the key.
    version : int
        Version of the parser, part of the key.
    records : sequence of FileRecord
        The raw files; their names and hashes are the rest of the key.
    parse : callable
        Called without arguments; returns a dictionary of arrays.

    Returns
    -------
    dict of str to ndarray
        Memory-mapped and read-only if they come from the cache.
    """
    parts = [name, version, [[record.path, record.sha256] for record in records]]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    entry = cache_dir() / ".parsed" / f"{name.replace('/', '-').replace(':', '-')}-{key}"
    arrays = _read(entry)
    if arrays is None:
        arrays = parse()
        try:
            _write(entry, arrays)
        except OSError as error:
            _log.warning("parsed arrays of %s are not kept: %s", name, error)
    return arrays


def _read(entry: Path) -> dict[str, np.ndarray] | None:
    try:
        hashes = json.loads((entry / "hashes.json").read_text())
        if not hashes or set(hashes) != {file.stem for file in entry.glob("*.npy")}:
            raise ValueError("its list is not that of its arrays")
        if any(sha256_of(entry / f"{key}.npy") != digest for key, digest in hashes.items()):
            raise ValueError("an array has changed")
        return {key: np.load(entry / f"{key}.npy", mmap_mode="r", allow_pickle=False) for key in hashes}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        _log.warning("%s is ignored: %s", entry.name, error)
        return None


def _write(entry: Path, arrays: dict[str, np.ndarray]) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=entry.parent, prefix=".writing-"))
    try:
        hashes = {}
        for key, array in arrays.items():
            np.save(staging / f"{key}.npy", np.ascontiguousarray(array), allow_pickle=False)
            hashes[key] = sha256_of(staging / f"{key}.npy")
        (staging / "hashes.json").write_text(json.dumps(hashes))
        if entry.exists():  # one that _read turned down
            shutil.rmtree(entry, ignore_errors=True)
        # If another process was faster, its folder stands and ours goes.
        if not entry.exists():
            os.rename(staging, entry)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
