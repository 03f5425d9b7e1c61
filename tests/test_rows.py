"""Rows from wherever they are: the same blocks, the same errors, little memory."""

import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from kpca_lab.rows import as_rows, is_row_source

VALUES = np.random.default_rng(0).integers(0, 200, (103, 4))


def memmap(folder, dtype=np.uint8):
    mapped = np.memmap(folder / "rows.dat", dtype, "w+", shape=VALUES.shape)
    mapped[:] = VALUES
    return mapped


def h5py_dataset(folder):
    file = pytest.importorskip("h5py").File(folder / "rows.h5", "w")
    return file.create_dataset("X", data=VALUES.astype(np.int16), chunks=(10, 4), compression="gzip")


def zarr_array(folder):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(folder / "rows.zarr", shape=VALUES.shape, chunks=(20, 2), dtype="f8")
    array[:] = VALUES
    return array


def dask_array(folder, lengths=(3, 50, 50)):
    array = pytest.importorskip("dask.array")
    return array.from_array(VALUES.astype(float), chunks=(lengths, (2, 2)))


def dask_of_unknown_length(folder):
    array = dask_array(folder)
    return array[array[:, 0] >= 0]


def parquet_folder(folder):
    table = arrow_table(folder)
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "rows").mkdir()
    parquet.write_table(table[:60], folder / "rows" / "1.parquet", row_group_size=7)
    parquet.write_table(table[60:], folder / "rows" / "2.parquet")
    return folder / "rows"


def parquet_file(folder):
    return pytest.importorskip("pyarrow.parquet").ParquetFile(parquet_folder(folder) / "1.parquet")


def arrow_table(folder):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({f"c{i}": VALUES[:, i] for i in range(4)})


def npy_file(folder):
    np.save(folder / "rows.npy", VALUES.astype(np.float16))
    return str(folder / "rows.npy")


class Again:
    def __iter__(self):
        return iter(np.array_split(VALUES, 7))


SOURCES = {
    "array": lambda folder: VALUES,
    "list of rows": lambda folder: VALUES.tolist(),
    "uint8 memmap": memmap,
    "float16 memmap": lambda folder: memmap(folder, np.float16),
    "column order": lambda folder: np.asfortranarray(VALUES),
    "npy": npy_file,
    "h5py": h5py_dataset,
    "zarr": zarr_array,
    "dask": dask_array,
    "dask of unknown length": dask_of_unknown_length,
    "parquet folder": parquet_folder,
    "arrow table": arrow_table,
    "list of arrays": lambda folder: np.array_split(VALUES, 9),
    "function": lambda folder: lambda: iter(np.array_split(VALUES, 200)),
    "iterable": lambda folder: Again(),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_all_sources_give_the_same_blocks_and_rows(kind, tmp_path):
    source = as_rows(SOURCES[kind](tmp_path))
    assert source.shape == VALUES.shape
    assert source.dtype == np.float64
    for _ in range(2):
        blocks = list(source.blocks(max_bytes=10 * 4 * 8))
        assert [len(block) for block in blocks] == [10] * 10 + [3]
        assert all(block.dtype == np.float64 for block in blocks)
        np.testing.assert_array_equal(np.vstack(blocks), VALUES)
    numbers = [102, 0, 55, 7, 0, -2]
    np.testing.assert_array_equal(source.take(numbers), VALUES[numbers])
    drawn = source.sample(20, np.random.default_rng(1))
    expected = np.sort(np.random.default_rng(1).choice(103, 20, replace=False))
    np.testing.assert_array_equal(drawn, VALUES[expected])
    assert source.sample(1000, np.random.default_rng(1)).shape == VALUES.shape
    with pytest.raises(ValueError, match="within the 103 rows"):
        source.take([103])


def test_sparse_rows_stay_sparse():
    source = as_rows(sparse.coo_array(VALUES))
    blocks = list(source.blocks(max_bytes=10 * 4 * 8))
    assert all(sparse.issparse(block) and block.format == "csr" for block in blocks)
    np.testing.assert_array_equal(sparse.vstack(blocks).toarray(), VALUES)
    np.testing.assert_array_equal(source.take([5, 1]).toarray(), VALUES[[5, 1]])
    chunks = as_rows([sparse.csr_array(VALUES[:50]), sparse.csr_array(VALUES[50:])])
    np.testing.assert_array_equal(chunks.take([99, 1]).toarray(), VALUES[[99, 1]])


def test_a_parquet_file_object_and_float32(tmp_path):
    np.testing.assert_array_equal(np.vstack(list(as_rows(parquet_file(tmp_path)).blocks())), VALUES[:60])
    single = VALUES.astype(np.float32)
    for kind in (single, np.array_split(single, 3)):
        assert {block.dtype for block in as_rows(kind).blocks(max_bytes=64)} == {np.dtype(np.float32)}


def test_arrays_in_memory_are_not_copied():
    X = VALUES.astype(float)
    assert all(np.shares_memory(block, X) for block in as_rows(X).blocks(max_bytes=320))


def test_an_iterator_is_read_once():
    source = as_rows(iter(np.array_split(VALUES, 5)))
    assert source.n_columns == 4
    for use in (lambda: source.shape, lambda: source.take([0])):
        with pytest.raises(ValueError, match="only once"):
            use()
    np.testing.assert_array_equal(np.vstack(list(source.blocks())), VALUES)
    with pytest.raises(ValueError, match="only once"):
        list(source.blocks())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_row_of_a_value_that_is_not_finite_is_named(bad):
    X = VALUES.astype(float)
    X[41, 2] = bad
    for source in (X, sparse.csr_array(X), lambda: iter(np.array_split(X, 11))):
        with pytest.raises(ValueError, match="Row 41 holds"):
            list(as_rows(source).blocks(max_bytes=320))
        with pytest.raises(ValueError, match="Row 41 holds"):
            as_rows(source).take([3, 41])
    huge = np.full((5, 2), 1e308)
    assert sum(len(block) for block in as_rows(huge).blocks()) == 5


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (np.zeros(3), "two dimensions, got shape"),
        (np.zeros((3, 0)), "no columns"),
        (np.array([["a", "b"]]), "must be numbers"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], "must all have 3 columns, got 4"),
        (lambda: iter([np.zeros(3)]), "must have two dimensions"),
        (lambda: iter([]), "no rows"),
        (lambda: 5, "must return an iterator, got int"),
        (5, "cannot be read from an object of type int"),
    ],
)
def test_what_is_no_matrix_is_refused(source, told):
    with pytest.raises(ValueError, match=told):
        list(as_rows(source).blocks())


def test_columns_of_text_and_unknown_files_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="column 'b' holds string, not numbers"):
        list(as_rows(pyarrow.table({"a": [1.0], "b": ["x"]})).blocks())
    with pytest.raises(ValueError, match="Row 1 holds"):
        list(as_rows(pyarrow.table({"a": [1, None]})).blocks())
    (tmp_path / "rows.csv").write_text("1,2")
    with pytest.raises(ValueError, match="open_rows takes CSV"):
        as_rows(tmp_path / "rows.csv")
    with pytest.raises(FileNotFoundError, match="no file"):
        as_rows(tmp_path / "nothing.npy")


def test_what_is_in_memory_anyway_is_no_source(tmp_path):
    for kind in ("array", "list of rows", "column order"):
        assert not is_row_source(SOURCES[kind](tmp_path))
    assert not is_row_source(sparse.csr_array(VALUES))
    for kind in (
        "uint8 memmap",
        "npy",
        "h5py",
        "zarr",
        "dask",
        "parquet folder",
        "list of arrays",
        "function",
    ):
        assert is_row_source(SOURCES[kind](tmp_path)), kind
    assert is_row_source(iter([VALUES]))


@pytest.mark.parametrize("package", ["tqdm", None])
def test_progress_is_shown_if_asked_for(package, monkeypatch, capsys):
    if package is None:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    else:
        pytest.importorskip(package)
    list(as_rows(VALUES).blocks(max_bytes=320))
    assert capsys.readouterr().err == ""
    list(as_rows(VALUES).blocks(max_bytes=320, verbose=1, label="criterion"))
    told = capsys.readouterr().err
    assert "criterion" in told and "103" in told


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """40 MB of bytes, which are 320 MB as numbers, are read within 60 MB."""
    mapped = np.memmap(tmp_path / "rows.dat", np.uint8, "w+", shape=(400_000, 100))
    tracemalloc.start()
    try:
        assert sum(len(block) for block in as_rows(mapped).blocks()) == len(mapped)
        as_rows(mapped).sample(1000, np.random.default_rng(0))
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()
