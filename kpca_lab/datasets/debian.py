"""Files out of packages of the Debian archive, where apt is there; nothing is installed."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from kpca_lab.datasets.archives import extract_member
from kpca_lab.datasets.download import DownloadError, Downloads

__all__ = ["extract_from_package"]

APT_SECONDS = 300


def extract_from_package(
    package: str, member: str, target: Path, max_bytes: int, downloads: Downloads
) -> None:
    """Download a package with apt and copy one file out of it.

    Parameters
    ----------
    package : str
        Name of the package.
    member : str
        Name of the file inside, matched from the right.
    target : path
        Where the bytes go; must not exist.
    max_bytes : int
        Most bytes the file may have.
    downloads : Downloads
        Gives the staging folder.

    Raises
    ------
    DownloadError
        If apt is not there or cannot get the package.
    ArchiveError
        If the package does not hold the file.
    """
    content = downloads.staging / f"{package}.tar"
    if not content.exists():
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            raise DownloadError("apt-get and dpkg-deb are not there")
        with open(content.with_suffix(".part"), "wb") as out:
            _run(["dpkg-deb", "--fsys-tarfile", str(_download(package, downloads.staging))], stdout=out)
        content.with_suffix(".part").rename(content)
    extract_member(content, member, target, max_bytes)


def _download(package: str, staging: Path) -> Path:
    folder = staging / f"{package}-apt"
    folder.mkdir(exist_ok=True)
    try:
        _run(["apt-get", "download", package], cwd=folder)
    except DownloadError:
        # A fresh system has no lists of packages; ours are kept apart, since those of the system are not
        # ours to write.
        lists, cache = folder / "lists", folder / "cache"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        (cache / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        apart = ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={cache}"]
        _run(["apt-get", *apart, "update"], cwd=folder)
        _run(["apt-get", *apart, "download", package], cwd=folder)
    found = sorted(folder.glob("*.deb"))
    if not found:
        raise DownloadError(f"apt-get downloads no package {package}")
    return found[0]


def _run(command: list[str], cwd: Path | None = None, stdout: Any = subprocess.DEVNULL) -> None:
    try:
        finished = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=APT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DownloadError(f"{command[0]} did not finish within {APT_SECONDS} s") from None
    if finished.returncode != 0:
        lines = [line for line in finished.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        raise DownloadError(f"{command[0]}: {lines[-1] if lines else 'no reason given'}")
