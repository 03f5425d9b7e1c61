"""Parsed arrays are kept, found again, and never trusted blindly."""

import json

import numpy as np
import pytest

from kpca_lab.datasets.dataset import FileRecord
from kpca_lab.datasets.parsed_cache import load_or_parse

RECORD = FileRecord("a/b.txt", "cache", "somewhere", "0" * 64, 10)


@pytest.fixture
def parser():
    calls = []

    def parse():
        calls.append(1)
        return {"x": np.arange(12.0).reshape(3, 4), "labels": np.array([1, 2, 3], dtype=np.uint8)}

    parse.calls = calls
    return parse


def entry_of(cache):
    (entry,) = (cache / ".parsed").iterdir()
    return entry


def test_the_second_time_nothing_is_parsed(parser, cache):
    first = load_or_parse("a/b", 1, [RECORD], parser)
    second = load_or_parse("a/b", 1, [RECORD], parser)
    assert len(parser.calls) == 1
    for key in first:
        np.testing.assert_array_equal(first[key], second[key])
        assert first[key].dtype == second[key].dtype
    assert not second["x"].flags.writeable


@pytest.mark.parametrize(
    ("name", "version", "record"),
    [
        ("a/c", 1, RECORD),
        ("a/b", 2, RECORD),
        ("a/b", 1, FileRecord("a/b.txt", "cache", "somewhere", "1" * 64, 10)),
        ("a/b", 1, FileRecord("a/other.txt", "cache", "somewhere", "0" * 64, 10)),
    ],
)
def test_another_name_version_or_raw_file_is_parsed_anew(parser, name, version, record):
    load_or_parse("a/b", 1, [RECORD], parser)
    load_or_parse(name, version, [record], parser)
    assert len(parser.calls) == 2


@pytest.mark.parametrize(
    "damage",
    [
        "truncate",
        "tamper",
        "pickle",
        "remove",
        "garbage index",
        "odd index",
        "no list",
        "deep index",
        "short list",
    ],
)
def test_a_damaged_entry_is_parsed_anew_and_replaced(parser, cache, damage):
    expected = load_or_parse("a/b", 1, [RECORD], parser)
    entry = entry_of(cache)
    array = entry / "x.npy"
    if damage == "truncate":
        array.write_bytes(array.read_bytes()[:-8])
    elif damage == "tamper":
        array.write_bytes(array.read_bytes()[:-1] + b"?")
    elif damage == "pickle":
        np.save(array, np.array([{"any": "object"}], dtype=object), allow_pickle=True)
    elif damage == "remove":
        array.unlink()
    elif damage == "garbage index":
        (entry / "hashes.json").write_text("{")
    elif damage == "odd index":
        (entry / "hashes.json").write_text("[1]")
    elif damage == "deep index":
        (entry / "hashes.json").write_text("[" * 100_000)
    elif damage == "no list":
        (entry / "hashes.json").write_text("{}")
    else:
        hashes = json.loads((entry / "hashes.json").read_text())
        (entry / "hashes.json").write_text(json.dumps({"labels": hashes["labels"]}))
    for calls in (2, 2):
        found = load_or_parse("a/b", 1, [RECORD], parser)
        np.testing.assert_array_equal(found["x"], expected["x"])
        assert len(parser.calls) == calls


def test_a_cache_that_cannot_be_written_does_no_harm(parser, cache, names_below, monkeypatch):
    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", no_space)
    found = load_or_parse("a/b", 1, [RECORD], parser)
    assert found["x"].shape == (3, 4)
    assert names_below(cache) == []
