"""The complete Yale Face Database B from tar files, on tiny made-up ones; pictures."""

import io
import tarfile

import numpy as np
import pytest

from kpca_lab.datasets import DatasetUnavailableError, load_dataset
from kpca_lab.datasets.archives import ArchiveError
from kpca_lab.datasets.pictures import crop_images, read_pgm, resize_images

SUBJECTS, POSES = (1, 2), (0, 3)
LIGHTS = ("A+000E+00", "A-005E+10", "A+110E-20")


def pgm(pixels):
    height, width = pixels.shape
    return b"P5\n# made up\n%d %d\n255\n" % (width, height) + pixels.astype(np.uint8).tobytes()


def picture(subject, pose, light):
    """A flat picture whose grey tells what it shows, brighter in the left half."""
    pixels = np.full((40, 40), 10 * subject + 2 * pose + light, dtype=np.uint8)
    pixels[:, :20] += 100
    return pixels


def write_tar(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.fixture
def complete(tmp_path):
    """A folder of tar files in the layout of the database, some compressed, out of order."""
    folder = tmp_path / "yale"
    folder.mkdir()
    for subject in reversed(SUBJECTS):
        for pose in reversed(POSES):
            stem = f"yaleB{subject:02}_P{pose:02}"
            members = [(f"{stem}/{stem}.info", b"a list of names")]
            members += [(f"{stem}/{stem}_Ambient.pgm", pgm(np.zeros((40, 40))))]
            members += [
                (f"{stem}/{stem}{light}.pgm", pgm(picture(subject, pose, number)))
                for number, light in enumerate(LIGHTS)
            ]
            ending, mode = (".tar.gz", "w:gz") if pose else (".tar", "w")
            write_tar(folder / (stem + ending), members, mode)
    return folder


def test_complete_database_without_ambient_images(complete):
    faces = load_dataset("yaleb", variant="complete", path=complete)
    assert faces.X.shape == (12, 400)
    assert faces.image_shape == (20, 20)
    assert faces.y.tolist() == [1] * 6 + [2] * 6
    # Ordered by subject, pose and light, whatever the order of files: A-005 comes before A+000.
    greys = faces.X.reshape(-1, 20, 20)[:, 0, -1]
    expected = [10 * s + 2 * p + light for s in SUBJECTS for p in POSES for light in (1, 0, 2)]
    assert greys.tolist() == expected
    assert (faces.X.reshape(-1, 20, 20)[:, :, :10].mean(axis=(1, 2)) == greys + 100).all()
    assert faces.provenance.note == "12 images of the complete database, as given by the user"
    assert len(faces.provenance.files) == 4
    assert all(len(record.sha256) == 64 for record in faces.provenance.files)


def test_ambient_images_size_and_crop_on_request(complete):
    faces = load_dataset("yaleb", variant="complete", path=complete, ambient=True)
    assert faces.X.shape == (16, 400)
    assert (faces.X.max(axis=1) == 0).sum() == 4
    right = load_dataset("yaleb", variant="complete", path=complete, size=(5, 4), crop=(0, 40, 20, 40))
    assert right.X.shape == (12, 20)
    assert (np.ptp(right.X, axis=1) < 1e-12).all()
    again = load_dataset("yaleb", variant="complete", path=complete, size=(5, 4), crop=(0, 40, 20, 40))
    np.testing.assert_array_equal(again.X, right.X)


def test_it_is_found_in_the_cache_or_a_mirror(complete, cache, tmp_path, monkeypatch):
    (tmp_path / "mirror" / "yaleb").mkdir(parents=True)
    complete.rename(tmp_path / "mirror" / "yaleb" / "complete")
    with pytest.raises(DatasetUnavailableError) as caught:
        load_dataset("yaleb", variant="complete")
    assert str(cache / "yaleb" / "complete") in str(caught.value)
    assert "yaleB01_P00A+000E+00.pgm" in str(caught.value)
    monkeypatch.setenv("KPCA_LAB_MIRROR", str(tmp_path / "mirror"))
    assert len(load_dataset("yaleb", variant="complete").X) == 12


def test_unpacked_pictures_do_as_well(tmp_path):
    folder = tmp_path / "unpacked" / "yaleB07_P04"
    folder.mkdir(parents=True)
    (folder / "yaleB07_P04A+010E+00.pgm").write_bytes(pgm(picture(7, 4, 1)))
    (folder / "yaleB07_P04_Ambient.pgm").write_bytes(pgm(picture(7, 4, 0)))
    (folder / "holiday.pgm").write_bytes(b"not looked at")
    faces = load_dataset("yaleb", variant="complete", path=tmp_path / "unpacked")
    assert faces.y.tolist() == [7]
    before = faces.provenance.files[0].sha256
    (folder / "yaleB07_P04A+010E+00.pgm").write_bytes(pgm(picture(7, 4, 2)))
    after = load_dataset("yaleb", variant="complete", path=tmp_path / "unpacked")
    assert after.provenance.files[0].sha256 != before
    assert not np.array_equal(after.X, faces.X)


def test_bad_folders_and_files_are_refused(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DatasetUnavailableError, match="no tar or pgm file"):
        load_dataset("yaleb", variant="complete", path=empty)
    write_tar(empty / "a.tar", [("other.pgm", pgm(picture(1, 0, 0)))])
    with pytest.raises(ValueError, match="no picture is named like"):
        load_dataset("yaleb", variant="complete", path=empty)
    write_tar(empty / "a.tar", [("yaleB01_P00A+000E+00.pgm", pgm(picture(1, 0, 0))[:-1])])
    with pytest.raises(ValueError, match=r"yaleB01_P00A\+000E\+00.pgm: .*cut short"):
        load_dataset("yaleb", variant="complete", path=empty)
    twice = [(f"{folder}/yaleB01_P00A+000E+00.pgm", pgm(picture(1, 0, 0))) for folder in "ab"]
    write_tar(empty / "a.tar", twice)
    with pytest.raises(ValueError, match="two pictures are called"):
        load_dataset("yaleb", variant="complete", path=empty)
    write_tar(empty / "a.tar", [("yaleB01_P00A+000E+00.pgm", bytes(3_000_000))])
    with pytest.raises(ArchiveError, match="cap"):
        load_dataset("yaleb", variant="complete", path=empty)


def test_a_tar_file_writes_nothing_anywhere(complete, tmp_path, names_below):
    write_tar(complete / "evil.tar", [("../../evil.pgm", b"evil"), ("/tmp/evil.pgm", b"evil")])
    before = names_below(tmp_path)
    load_dataset("yaleb", variant="complete", path=complete)
    new = set(names_below(tmp_path)) - set(before)
    assert all(name.startswith("cache/.parsed/") for name in new)


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="multipose, extended, complete"):
        load_dataset("yaleb", variant="cropped")
    with pytest.raises(ValueError, match="only for variant='complete'"):
        load_dataset("yaleb", path="somewhere")


def test_pgm_pictures():
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for header in (b"P5 4 3 255\n", b"P5\n# c\n4 3\n# d\n255\n", b"P5\n4\n3\n15\n"):
        np.testing.assert_array_equal(read_pgm(header + pixels.tobytes()), pixels)
    for content, message in (
        (b"P2 4 3 255\n0 1 2", "not a binary PGM"),
        (b"P5 4 3 65535\n" + bytes(24), "65536 greys"),
        (b"P5 4 3 255\n" + bytes(11), "cut short"),
        (b"P5 0 3 255\n" + bytes(11), "cut short"),
        (b"", "not a binary PGM"),
    ):
        with pytest.raises(ValueError, match=message):
            read_pgm(content)


def test_resizing_keeps_means_and_flat_pictures():
    rng = np.random.default_rng(0)
    images = rng.integers(256, size=(5, 30, 20)).astype(np.uint8)
    small = resize_images(images, (20, 20))
    assert small.shape == (5, 20, 20)
    np.testing.assert_allclose(small.mean(axis=(1, 2)), images.mean(axis=(1, 2)))
    np.testing.assert_allclose(resize_images(np.full((7, 9), 3.0), (4, 2)), 3.0)
    halves = resize_images(images, (15, 10))
    np.testing.assert_allclose(halves, images.reshape(5, 15, 2, 10, 2).mean(axis=(2, 4)))
    np.testing.assert_allclose(resize_images(halves, (30, 20)), np.kron(halves, np.ones((2, 2))))
    assert resize_images(images, None) is images
    for size in ((0, 3), (3,), "20", 5):
        with pytest.raises(ValueError, match="size"):
            resize_images(images, size)


def test_cropping():
    images = np.arange(24).reshape(1, 4, 6)
    np.testing.assert_array_equal(crop_images(images, (1, 3, 2, 4)), [[[8, 9], [14, 15]]])
    for crop in ((0, 5, 0, 6), (2, 2, 0, 6), (-1, 2, 0, 6), (0, 4), "abcd"):
        with pytest.raises(ValueError, match="crop"):
            crop_images(images, crop)
