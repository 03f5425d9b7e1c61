"""Yale Face Database B: the multi-pose part, the cropped extension, the complete tar files."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kpca_lab.datasets import parsers
from kpca_lab.datasets.archives import iter_tar
from kpca_lab.datasets.dataset import Dataset, FileRecord, Provenance
from kpca_lab.datasets.fetch import DatasetUnavailableError, obtain, sha256_of
from kpca_lab.datasets.locations import cache_dir, mirror
from kpca_lab.datasets.parsed_cache import load_or_parse
from kpca_lab.datasets.pictures import crop_images, read_pgm, resize_images
from kpca_lab.datasets.registry import FILE_SETS

__all__ = ["load_yaleb"]

COMPLETE_ADDRESS = "http://www1.cs.columbia.edu/~belhumeur/pub/images/yalefacesB/"
COMPLETE_COUNT = 5760
IMAGES_PER_SUBJECT = 200
# In the multi-pose part, where each block of one pose begins: with the ambient image.
AMBIENT_PLACES = (0, 65, 130, 195)

_MAX_PICTURE_BYTES = 2_000_000
_MAX_ARCHIVE_BYTES = 200_000_000
_ARCHIVE_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2")
_PICTURE_NAME = re.compile(r"yaleB(\d\d)_P(\d\d)(?:A([+-]\d{3})E([+-]\d\d)|_Ambient)\.pgm$")


def load_yaleb(
    variant: str = "multipose",
    ambient: bool = False,
    size: Sequence[int] | None = None,
    crop: Sequence[int] | None = None,
    path: str | os.PathLike | None = None,
) -> Dataset:
    """Yale Face Database B; `y` is the subject.

    Parameters
    ----------
    variant : {"multipose", "extended", "complete"}
        ``"multipose"``: 10 subjects, poses P00 to P02 and 5 images of P03, 30 x 20 pixels, values
        0 to 15.94 (grey levels divided by 16). ``"extended"``: 38 subjects, frontal, cropped, 32 x
        32 pixels, 0 to 255. ``"complete"``: the tar files of PGM images, which the user must
        have.
    ambient : bool
        Keep the images taken without flash (not in the extended database).
    size : (int, int), optional
        Height and width to resize to, by mean over area; Chin and Suter use (20, 20). By
        default the stored size, and (20, 20) for the complete database.
    crop : (int, int, int, int), optional
        Box (top, bottom, left, right) to cut out before resizing, the same for all images.
    path : path, optional
        Folder with the tar files, or the PGM files, of the complete database. By default
        ``yaleb/complete`` in the cache or in a mirror folder.
    """
    if path is not None and variant != "complete":
        raise ValueError("path is only for variant='complete'")
    if variant == "multipose":
        images, y, provenance = _multipose(ambient)
        pixel_range = (0.0, 255 / 16)
    elif variant == "extended":
        images, y, provenance = _extended(ambient)
        pixel_range = (0.0, 255.0)
    elif variant == "complete":
        size = (20, 20) if size is None else size
        images, y, provenance = _complete(path, ambient, size, crop)
        crop = None
        pixel_range = (0.0, 255.0)
    else:
        raise ValueError(f"variant must be one of multipose, extended, complete, not {variant!r}")
    images = resize_images(crop_images(images, crop), size)
    height, width = images.shape[1:]
    return Dataset(
        "yaleb",
        images.reshape(len(images), height * width),
        np.asarray(y, dtype=np.int64),
        feature_names=tuple(f"pixel{number}" for number in range(height * width)),
        provenance=provenance,
        image_shape=(height, width),
        pixel_range=pixel_range,
    )


def _multipose(ambient: bool) -> tuple[np.ndarray, np.ndarray, Provenance]:
    file_set = FILE_SETS["yaleb"]
    ((path, record),) = obtain(file_set)

    def parse() -> dict[str, np.ndarray]:
        images, subjects = parsers.read_multipose_faces(path)
        return {"images": images, "subjects": subjects}

    arrays = load_or_parse("yaleb", 1, [record], parse)
    images, subjects = arrays["images"], arrays["subjects"]
    if not ambient:
        place = np.arange(len(images)) % IMAGES_PER_SUBJECT
        kept = ~np.isin(place, AMBIENT_PLACES)
        images, subjects = images[kept], subjects[kept]
    note = (
        "multi-pose part of Yale Face Database B (poses P00, P01, P02 and 5 images of P03): not "
        "comparable with results on the complete database"
    )
    return images, subjects, Provenance("real", (record,), file_set.terms, note)


def _extended(ambient: bool) -> tuple[np.ndarray, np.ndarray, Provenance]:
    if ambient:
        raise ValueError("the extended database holds no ambient images")
    file_set = FILE_SETS["yaleb:extended"]
    ((path, record),) = obtain(file_set)

    def parse() -> dict[str, np.ndarray]:
        features, subjects = parsers.read_matlab(path, "fea", "gnd")
        # Pixels run down the columns of a picture first.
        images = features.reshape(-1, 32, 32).transpose(0, 2, 1)
        return {"images": images, "subjects": subjects.ravel()}

    arrays = load_or_parse("yaleb:extended", 1, [record], parse)
    note = "Extended Yale Face Database B, cropped frontal images of 38 subjects"
    provenance = Provenance("real", (record,), file_set.terms, note)
    return arrays["images"], arrays["subjects"], provenance


def _complete(
    path: str | os.PathLike | None, ambient: bool, size: Sequence[int] | None, crop: Sequence[int] | None
) -> tuple[np.ndarray, np.ndarray, Provenance]:
    folder = _complete_folder(path)
    archives = sorted(
        entry
        for entry in folder.rglob("*")
        if entry.is_file() and entry.name.lower().endswith(_ARCHIVE_ENDINGS)
    )
    pictures = [] if archives else sorted(folder.rglob("*.pgm"))
    if archives:
        records = [
            FileRecord(
                f"yaleb/complete/{file.name}",
                "user",
                str(file),
                sha256_of(file),
                file.stat().st_size,
            )
            for file in archives
        ]
    else:
        records = [_record_of_all(folder, pictures)]

    def parse() -> dict[str, np.ndarray]:
        return _read_complete(_contents(archives, pictures), ambient, size, crop)

    digest = hashlib.sha256(f"{ambient} {size} {crop}".encode()).hexdigest()[:12]
    arrays = load_or_parse(f"yaleb:complete-{digest}", 1, records, parse)
    count = len(arrays["images"])
    note = "complete database, as given by the user"
    if count != COMPLETE_COUNT + (90 if ambient else 0):
        note = f"{count} images of the complete database, as given by the user"
    terms = "free for research, with acknowledgement"
    provenance = Provenance("real", tuple(records), terms, note)
    return arrays["images"], arrays["subjects"], provenance


def _complete_folder(path: str | os.PathLike | None) -> Path:
    if path is not None:
        candidates = [("user", Path(path).expanduser())]
    else:
        candidates = [("cache", cache_dir() / "yaleb" / "complete")]
        base = mirror()
        if isinstance(base, Path):
            candidates.append(("mirror", base / "yaleb" / "complete"))
    attempts: list[tuple[str, object, str]] = []
    for source, folder in candidates:
        if not folder.is_dir():
            attempts.append((source, folder, "no such folder"))
        elif not any(entry.name.lower().endswith((*_ARCHIVE_ENDINGS, ".pgm")) for entry in folder.rglob("*")):
            attempts.append((source, folder, "no tar or pgm file in it"))
        else:
            return folder
    attempts.append(("public", COMPLETE_ADDRESS, "not fetched: no hashes are known"))
    raise DatasetUnavailableError(
        "yaleb",
        attempts,
        f"Wanted: the 90 tar files of {COMPLETE_ADDRESS} (no hash is known), which hold images "
        f"named like yaleB01_P00A+000E+00.pgm.\nPut them into the folder "
        f"{cache_dir() / 'yaleb' / 'complete'}, or give path=.",
    )


def _record_of_all(folder: Path, pictures: list[Path]) -> FileRecord:
    """One record for thousands of loose pictures: a hash over their names and hashes."""
    lines = [f"{sha256_of(file)}  {file.relative_to(folder).as_posix()}\n" for file in pictures]
    return FileRecord(
        path="yaleb/complete/*.pgm",
        source="user",
        origin=str(folder),
        sha256=hashlib.sha256("".join(lines).encode()).hexdigest(),
        size=sum(file.stat().st_size for file in pictures),
    )


def _contents(archives: list[Path], pictures: list[Path]) -> Iterator[tuple[str, bytes]]:
    for archive in archives:
        yield from iter_tar(archive, ".pgm", _MAX_PICTURE_BYTES, _MAX_ARCHIVE_BYTES)
    for picture in pictures:
        if picture.stat().st_size > _MAX_PICTURE_BYTES:
            raise ValueError(f"{picture} is too large for a picture of this database")
        yield picture.name, picture.read_bytes()


def _read_complete(
    contents: Iterator[tuple[str, bytes]],
    ambient: bool,
    size: Sequence[int] | None,
    crop: Sequence[int] | None,
) -> dict[str, np.ndarray]:
    """Read, crop and resize one picture at a time: all of them at full size fill the memory."""
    found = {}
    for name, content in contents:
        named = _PICTURE_NAME.search(name)
        if named is None:
            continue
        subject, pose, azimuth, elevation = named.groups()
        if azimuth is None and not ambient:
            continue
        key = (int(subject), int(pose), azimuth is not None, int(azimuth or 0), int(elevation or 0))
        if key in found:
            raise ValueError(f"two pictures are called {named.group()}")
        try:
            picture = read_pgm(content)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        found[key] = resize_images(crop_images(picture, crop), size).astype(np.float64)
    if not found:
        raise ValueError("no picture is named like yaleB01_P00A+000E+00.pgm")
    keys = sorted(found)
    return {
        "images": np.stack([found[key] for key in keys]),
        "subjects": np.array([key[0] for key in keys]),
    }
