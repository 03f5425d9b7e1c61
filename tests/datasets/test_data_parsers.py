"""Parsers on small made-up files, and the rule that nothing is ever unpickled."""

import ast
import gzip
import lzma
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

import kpca_lab.datasets
from kpca_lab.datasets import parsers


def idx(values):
    header = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    return header + values.astype(np.uint8).tobytes()


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("shape", [(7,), (3, 2, 2)])
def test_idx_is_read_compressed_or_not(tmp_path, compress, shape):
    values = np.arange(np.prod(shape)).reshape(shape)
    (tmp_path / "f").write_bytes(compress(idx(values)))
    found = parsers.read_idx(tmp_path / "f")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, values)


def test_idx_of_another_kind_or_length_is_refused(tmp_path):
    good = idx(np.arange(6).reshape(2, 3))
    (tmp_path / "f").write_bytes(good[:-1])
    with pytest.raises(ValueError, match="does not hold"):
        parsers.read_idx(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"\0\0\x0d" + good[3:])
    with pytest.raises(ValueError, match="not an IDX file"):
        parsers.read_idx(tmp_path / "f")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_tables_do_not_care_about_line_ends_or_compression(tmp_path, line_end):
    text = line_end.join(["1 2.5 -3", " 4  5 6 ", ""]).encode()
    for content in (text, gzip.compress(text)):
        (tmp_path / "f").write_bytes(content)
        np.testing.assert_array_equal(parsers.read_table(tmp_path / "f", 3), [[1, 2.5, -3], [4, 5, 6]])
    with pytest.raises(ValueError, match="3 columns instead of 4"):
        parsers.read_table(tmp_path / "f", 4)


def test_decompression_is_capped(tmp_path, monkeypatch):
    monkeypatch.setattr(parsers, "MAX_DECOMPRESSED", 1000)
    (tmp_path / "f").write_bytes(gzip.compress(bytes(1001)))
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        parsers.read_idx(tmp_path / "f")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was executed",))


def test_the_rounded_concrete_table_is_read_without_unpickling(tmp_path):
    rng = np.random.default_rng(0)
    reals, integers = rng.normal(size=(8, 1030)), rng.integers(100, size=(2, 1030))
    stream = pickle.dumps([Trap(), reals.tobytes(), integers.astype("<i8").tobytes()])
    (tmp_path / "f").write_bytes(lzma.compress(stream))
    table = parsers.read_concrete_rounded(tmp_path / "f")
    assert table.shape == (1030, 9)
    np.testing.assert_array_equal(table[:, [0, 1, 2, 3, 4, 5, 6, 8]], reals.T)
    np.testing.assert_array_equal(table[:, 7], integers[1])
    (tmp_path / "f").write_bytes(lzma.compress(pickle.dumps([Trap(), b"too little"])))
    with pytest.raises(ValueError, match="does not hold the blocks"):
        parsers.read_concrete_rounded(tmp_path / "f")


def test_no_module_can_load_a_pickle():
    """Nothing imports an unpickler, and every NumPy load forbids objects."""
    for file in Path(kpca_lab.datasets.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.split(".")[0] for alias in node.names}
                names.add((getattr(node, "module", None) or "").split(".")[0])
                assert not names & {"pickle", "joblib", "cloudpickle", "dill", "shelve"}, file.name
            if isinstance(node, ast.Attribute):
                assert node.attr != "read_pickle", file.name
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "np.save"):
                keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert keywords.get("allow_pickle") == "False", file.name
