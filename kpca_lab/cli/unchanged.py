"""Whether a command has anything to do: a stamp of all that it reads and of all that it has written.

Composing, identities and judging take some seconds, also where nothing is left to do. So a command that has
succeeded leaves a stamp; the same command with the same code, configuration, data and results ends at once.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kpca_lab.datasets.locations import cache_dir
from kpca_lab.suite.files import read_json, write_atomically
from kpca_lab.suite.places import conf_folder, experiments_folder

__all__ = ["is_unchanged", "remember"]

PACKAGE = Path(__file__).resolve().parents[1]


def is_unchanged(root: Path, command: str) -> bool:
    """Whether all is as the same command left it.

    Parameters
    ----------
    root : Path
        Results of the profile.
    command : str
        The words of the command.
    """
    kept = read_json(_path(root, command))
    return bool(kept) and kept.get("stamp") == _stamp(root)


def remember(root: Path, command: str) -> None:
    """Keep how all is now that a command has done its work."""
    write_atomically(_path(root, command), f'{{"stamp": "{_stamp(root)}"}}\n'.encode())


def _path(root, command):
    name = hashlib.sha256(command.encode()).hexdigest()[:16]
    return root / "jobs" / "unchanged" / f"{name}.json"


def _stamp(root: Path) -> str:
    digest = hashlib.sha256(f"{sys.version} {sys.prefix}".encode())
    for key in sorted(key for key in os.environ if key.startswith("KPCA_LAB_")):
        digest.update(f"{key}={os.environ[key]}\n".encode())
    for path in _files(root):
        try:
            found = path.stat()
        except OSError:
            continue
        digest.update(f"{path} {found.st_mtime_ns} {found.st_size}\n".encode())
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    """Code, configuration, data, and what is under the results but for the stamps and locks themselves."""
    places = [PACKAGE, conf_folder(), experiments_folder(), cache_dir()]
    for place in [place for place in places if place is not None]:
        for path in sorted(place.rglob("*")):
            if path.suffix not in (".pyc", ".lock") and ".warned" not in path.parts and path.is_file():
                yield path
    for path in sorted(root.rglob("*")):
        if "unchanged" not in path.parts and path.suffix != ".lock" and path.is_file():
            yield path
