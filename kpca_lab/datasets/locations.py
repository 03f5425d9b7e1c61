"""Where files are kept and looked for, read from the environment at each call.

``KPCA_LAB_CACHE``
    Folder of the cache; the platform's cache folder unless set.
``KPCA_LAB_MIRROR``
    A folder, or the base address of a server, that holds the files under the names of the cache.
``KPCA_LAB_OFFLINE``
    ``1`` restricts the search to cache and mirror.
``KPCA_LAB_TIMEOUT``
    Seconds a server may stay silent before it is given up, and may take on the whole beyond what it
    needs at 20 kB/s; 30 unless set.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from kpca_lab.extras import require

__all__ = ["LocationError", "cache_dir", "full_path", "is_address", "is_offline", "mirror", "timeout"]


class LocationError(ValueError):
    """A path or a variable of the environment that tells of no place, with what to give instead."""


def full_path(place: str | os.PathLike, what: str) -> Path:
    """Return `place` as an absolute path, ``~`` replaced; `what` names it if that is not possible."""
    try:
        return Path(place).expanduser().absolute()
    except RuntimeError:
        raise LocationError(
            f"{what}={os.fspath(place)!r}: there is no such user with a home folder; give the whole path"
        ) from None


def cache_dir() -> Path:
    """Return the folder of the cache as an absolute path; it need not exist."""
    chosen = os.environ.get("KPCA_LAB_CACHE", "").strip()
    if not chosen:
        chosen = require("platformdirs", "data").user_cache_dir("kpca_lab", False)
    return full_path(chosen, "KPCA_LAB_CACHE")


def is_address(place: object) -> bool:
    """Tell whether `place` is a web address and not a folder."""
    return str(place).startswith(("http://", "https://"))


def mirror() -> str | Path | None:
    """Return the mirror: a base address without trailing slash, a folder, or None."""
    chosen = os.environ.get("KPCA_LAB_MIRROR", "").strip()
    if not chosen:
        return None
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", chosen):
        return full_path(chosen, "KPCA_LAB_MIRROR")
    if not is_address(chosen) or not _has_host(chosen):
        raise LocationError(
            f"KPCA_LAB_MIRROR={chosen!r} is neither a folder nor an address such as https://host/folder"
        )
    return chosen.rstrip("/")


def _has_host(address: str) -> bool:
    try:
        return bool(urlsplit(address).hostname)
    except ValueError:
        return False


def is_offline() -> bool:
    """Tell whether public addresses and the package index are ruled out."""
    return os.environ.get("KPCA_LAB_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def timeout() -> float:
    """Return the seconds a server may stay silent."""
    chosen = os.environ.get("KPCA_LAB_TIMEOUT", "").strip()
    try:
        seconds = float(chosen) if chosen else 30.0
    except ValueError:
        seconds = -1.0
    if not seconds > 0:
        raise LocationError(f"KPCA_LAB_TIMEOUT must be a positive number of seconds, not {chosen!r}")
    return seconds
