"""Taking single files out of archives that are not to be trusted.

Nothing is ever unpacked under a name that the archive chose: a caller names the member it
wants and the place it goes to, so no path can escape. Every read is capped, by counting what
comes out and not by what the headers claim.
"""

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

__all__ = ["ArchiveError", "extract_member", "iter_tar"]

_CHUNK = 1 << 16
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    NotImplementedError,
)


class ArchiveError(ValueError):
    """An archive that cannot be read, or that must not be."""


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return bool(path.parts) and not (path.is_absolute() or ".." in path.parts or ":" in path.parts[0])


def _pick(names: Iterable[str], wanted: str) -> str:
    """Choose the one name that is `wanted`, or that ends in it below some folder."""
    if not _is_safe(wanted):
        raise ArchiveError(f"{wanted!r} is not a plain relative name")
    exact = [name for name in names if name == wanted]
    below = [name for name in names if name.endswith("/" + wanted) and _is_safe(name)]
    found = exact or below
    if not found:
        raise ArchiveError(f"it holds no member {wanted!r}")
    if len(found) > 1:
        raise ArchiveError(f"it holds {len(found)} members {wanted!r}")
    return found[0]


def _copy_capped(stream: IO[bytes], destination: Path, max_bytes: int) -> None:
    copied = 0
    with open(destination, "xb") as out:
        while chunk := stream.read(_CHUNK):
            copied += len(chunk)
            if copied > max_bytes:
                raise ArchiveError(f"the member is larger than the {max_bytes} bytes allowed")
            out.write(chunk)


def extract_member(archive: Path, member: str, destination: Path, max_bytes: int) -> None:
    """Copy one regular file out of a zip or tar archive.

    Parameters
    ----------
    archive : path
        A zip file (a wheel is one) or a tar file, compressed or not.
    member : str
        Name inside the archive, or the end of it below some folder; it must be unique.
    destination : path
        Where the bytes go; must not exist. Removed again if anything fails.
    max_bytes : int
        Most bytes the member may have once decompressed.

    Raises
    ------
    ArchiveError
        If the archive is broken, lacks the member, or the member is a link, encrypted or too
        large.
    """
    destination = Path(destination)
    if destination.exists():
        raise FileExistsError(f"{destination} is in the way")
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                infos = {info.filename: info for info in opened.infolist() if not info.is_dir()}
                info = infos[_pick(infos, member)]
                if info.flag_bits & 0x1:
                    raise ArchiveError(f"{member!r} is encrypted")
                with opened.open(info) as stream:
                    _copy_capped(stream, destination, max_bytes)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                files = {entry.name: entry for entry in tar if entry.isreg()}
                with _stream(tar, files[_pick(files, member)]) as stream:
                    _copy_capped(stream, destination, max_bytes)
        else:
            raise ArchiveError("it is neither a zip nor a tar archive")
    except BaseException as error:
        destination.unlink(missing_ok=True)
        if isinstance(error, _BROKEN):
            raise ArchiveError(f"it is broken: {error}") from error
        raise


def _stream(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    stream = tar.extractfile(entry)
    assert stream is not None  # there is one of every regular file
    return stream


def iter_tar(
    archive: Path, suffix: str, max_member_bytes: int, max_total_bytes: int
) -> Iterator[tuple[str, bytes]]:
    """Yield ``(name, bytes)`` of the regular files in a tar archive whose name ends in `suffix`.

    Everything stays in memory: links, devices and folders are passed over and nothing is
    written, so the names in the archive need no trust.

    Parameters
    ----------
    archive : path
        A tar file, compressed or not.
    suffix : str
        Ending of the wanted names, compared without regard to case.
    max_member_bytes, max_total_bytes : int
        Caps on one member and on all members together, wanted or not.

    Raises
    ------
    ArchiveError
        If the archive is broken or exceeds a cap.
    """
    total = 0
    try:
        with tarfile.open(archive) as opened:
            for info in opened:
                # Passing over a member decompresses it too, so unwanted ones count as well.
                total += info.size
                if info.size > max_member_bytes or total > max_total_bytes:
                    raise ArchiveError(
                        f"{info.name!r} takes it over the cap of {max_member_bytes} bytes a "
                        f"member and {max_total_bytes} bytes in all"
                    )
                if info.isreg() and info.name.lower().endswith(suffix):
                    with _stream(opened, info) as stream:
                        content = stream.read(max_member_bytes + 1)
                    if len(content) != info.size:
                        raise ArchiveError(f"{info.name!r} is cut short")
                    yield info.name, content
    except (*_BROKEN, OSError) as error:
        raise ArchiveError(f"{archive} is broken: {error}") from error
