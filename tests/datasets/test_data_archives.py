"""Archives that try to escape, to explode, or are broken."""

import io
import tarfile
import zipfile

import pytest

from kpca_lab.datasets.archives import ArchiveError, extract_member, iter_tar


def make_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def make_tar(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for member, content in members:
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            if content is not None:
                info.size = len(content)
            archive.addfile(info, None if content is None else io.BytesIO(content))
    return path


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_member_is_found_by_name_or_below_a_folder(tmp_path, make):
    archive = make(tmp_path / "a", [("one.txt", b"1"), ("deep/er/two.txt", b"2")])
    for member, content in (("one.txt", b"1"), ("two.txt", b"2"), ("er/two.txt", b"2")):
        target = tmp_path / "out"
        extract_member(archive, member, target, 10)
        assert target.read_bytes() == content
        target.unlink()


@pytest.mark.parametrize("make", [make_zip, make_tar])
@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/evil.txt", "a/../../evil.txt", "..\\evil.txt"])
def test_no_name_in_an_archive_decides_where_bytes_go(tmp_path, names_below, make, name):
    inner = tmp_path / "inner"
    inner.mkdir()
    archive = make(inner / "a", [(name, b"evil"), ("good.txt", b"good")])
    extract_member(archive, "good.txt", inner / "out", 10)
    assert names_below(tmp_path) == ["inner/a", "inner/out"]
    with pytest.raises(ArchiveError):
        extract_member(archive, "evil.txt", inner / "out2", 10)
    with pytest.raises(ArchiveError, match="plain relative name"):
        extract_member(archive, name, inner / "out2", 10)
    assert names_below(tmp_path) == ["inner/a", "inner/out"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_no_members(tmp_path, kind):
    archive = make_tar(tmp_path / "a", [(link("data.txt", "/etc/passwd", kind), None)])
    with pytest.raises(ArchiveError, match="no member"):
        extract_member(archive, "data.txt", tmp_path / "out", 10**6)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_member_over_the_cap_is_refused_and_nothing_stays(tmp_path, make):
    archive = make(tmp_path / "a", [("bomb", bytes(5_000_000))])
    with pytest.raises(ArchiveError, match="larger than the 1000000 bytes"):
        extract_member(archive, "bomb", tmp_path / "out", 1_000_000)
    assert not (tmp_path / "out").exists()


def test_a_header_that_lies_about_the_size_does_not_help(tmp_path):
    path = make_zip(tmp_path / "a", [("bomb", bytes(5_000_000))])
    content = path.read_bytes().replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(content)
    with pytest.raises(ArchiveError):
        extract_member(path, "bomb", tmp_path / "out", 1_000_000)
    assert not (tmp_path / "out").exists()


def test_ambiguous_missing_and_broken(tmp_path):
    archive = make_zip(tmp_path / "a", [("x/data", b"1"), ("y/data", b"2")])
    with pytest.raises(ArchiveError, match="2 members"):
        extract_member(archive, "data", tmp_path / "out", 10)
    with pytest.raises(ArchiveError, match="no member"):
        extract_member(archive, "other", tmp_path / "out", 10)
    (tmp_path / "junk").write_bytes(b"neither zip nor tar" * 100)
    with pytest.raises(ArchiveError, match="neither"):
        extract_member(tmp_path / "junk", "data", tmp_path / "out", 10)
    spoilt = bytearray(make_zip(tmp_path / "b", [("data", bytes(range(256)) * 40)]).read_bytes())
    spoilt[60:80] = bytes(20)
    (tmp_path / "b").write_bytes(spoilt)
    with pytest.raises(ArchiveError, match="broken"):
        extract_member(tmp_path / "b", "data", tmp_path / "out", 10**6)
    assert not (tmp_path / "out").exists()


def test_an_existing_file_is_not_overwritten(tmp_path):
    archive = make_zip(tmp_path / "a", [("data", b"new")])
    (tmp_path / "out").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        extract_member(archive, "data", tmp_path / "out", 10)
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2"])
def test_iter_tar_reads_regular_files_only(tmp_path, mode):
    members = [
        ("../a.pgm", b"one"),
        (link("b.pgm", "/etc/passwd"), None),
        ("notes.txt", b"no"),
        ("c.PGM", b"two"),
    ]
    archive = make_tar(tmp_path / "a", members, mode)
    assert list(iter_tar(archive, ".pgm", 100, 1000)) == [("../a.pgm", b"one"), ("c.PGM", b"two")]


def test_iter_tar_is_capped_by_member_and_in_all(tmp_path):
    archive = make_tar(tmp_path / "a", [("a.txt", bytes(600)), ("b.pgm", bytes(600))], "w:gz")
    assert len(list(iter_tar(archive, ".pgm", 600, 1200))) == 1
    with pytest.raises(ArchiveError, match="cap"):
        list(iter_tar(archive, ".pgm", 599, 1200))
    with pytest.raises(ArchiveError, match="cap"):
        list(iter_tar(archive, ".pgm", 600, 1199))


def test_iter_tar_notices_a_cut(tmp_path):
    archive = make_tar(tmp_path / "a", [("a.pgm", bytes(range(256)) * 100)])
    archive.write_bytes(archive.read_bytes()[:9000])
    with pytest.raises(ArchiveError):
        list(iter_tar(archive, ".pgm", 10**6, 10**6))
