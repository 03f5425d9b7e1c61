"""The user's own files: formats, targets, missing values, refusals."""

import gzip
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from kpca_lab.datasets import load_dataset, open_rows

TABLE = pd.DataFrame(
    {
        "width": [1.0, 2.0, np.nan, 4.0],
        "height": [10, 20, 30, 40],
        "kind": ["a", "b", "a", "b"],
        "price": [0.5, np.nan, 1.5, 2.5],
    }
)


@pytest.fixture
def table(tmp_path):
    def write(frame=TABLE, form="csv"):
        path = tmp_path / f"table.{form}"
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path, index=False)
        return path

    return write


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_target_and_columns_by_name_or_place(table, form):
    path = table(form=form)
    for target in ("kind", 2, -2):
        found = load_dataset(form, path=path, target=target, columns=["height"])
        assert found.y.tolist() == ["a", "b", "a", "b"]
        assert found.X.tolist() == [[10], [20], [30], [40]]
        assert found.feature_names == ("height",)
    whole = load_dataset(form, path=path, target="kind", missing="drop")
    assert whole.feature_names == ("width", "height", "price")
    assert whole.X.tolist() == [[1, 10, 0.5], [4, 40, 2.5]]
    assert whole.provenance.kind == "user"
    assert whole.provenance.files[0].size == path.stat().st_size


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(("policy", "filled"), [("mean", 7 / 3), ("median", 2.0)])
def test_missing_values_are_filled_by_column(table, form, policy, filled):
    found = load_dataset(form, path=table(form=form), columns=["width", "height"], missing=policy)
    np.testing.assert_allclose(found.X[:, 0], [1, 2, filled, 4])
    assert found.provenance.note == f"1 missing values replaced by the {policy} of the column"


def test_missing_values_are_an_error_unless_said_otherwise(table):
    with pytest.raises(
        ValueError, match=r"1 values and 0 targets are missing or infinite \(first in row 2\)"
    ):
        load_dataset("csv", path=table(), columns=["width"])
    with pytest.raises(ValueError, match="missing must be one of error, drop, mean, median"):
        load_dataset("csv", path=table(), columns=["width"], missing="ignore")
    infinite = TABLE.assign(width=[1.0, np.inf, 3.0, 4.0])
    with pytest.raises(ValueError, match="missing or infinite"):
        load_dataset("csv", path=table(infinite), columns=["width"])


def test_a_missing_target_is_never_made_up(table):
    path = table()
    options = {"path": path, "target": "price", "columns": ["height"]}
    with pytest.raises(ValueError, match="1 targets"):
        load_dataset("csv", missing="mean", **options)
    dropped = load_dataset("csv", missing="drop", **options)
    assert dropped.y.tolist() == [0.5, 1.5, 2.5]
    assert dropped.provenance.note == "1 of 4 rows dropped for missing values"


def test_columns_without_numbers_are_named(table):
    mixed = TABLE.assign(ok=[True, False, True, True], day=["2020-01-02"] * 4, price=["1", "2", "many", "3"])
    told = r"kind \(text such as 'a'\), price \(numbers but for 1 values, first 'many' in row 2\), "
    told += r"ok \(truth value\), day \(date\); choose categorical=onehot .*, ordinal .*, drop"
    with pytest.raises(ValueError, match=f"table.csv: these columns are not numbers: {told}"):
        load_dataset("csv", path=table(mixed))
    with pytest.raises(ValueError, match="categorical must be one of error, onehot, ordinal, drop, not"):
        load_dataset("csv", path=table(mixed), categorical="one")


CATEGORIES = pd.DataFrame(
    {
        "size": [3.0, 1.0, 2.0],
        "colour": ["red", "blue", "red"],
        "ok": [True, False, True],
        "day": pd.to_datetime(["1970-01-02", "1970-01-01", "1970-01-03"]),
    }
)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_categories_become_numbers_as_asked(table, form):
    path = table(CATEGORIES, form)
    ordinal = load_dataset(form, path=path, categorical="ordinal")
    assert ordinal.X.tolist() == [[3, 1, 1, 1], [1, 0, 0, 0], [2, 1, 1, 2]]
    assert ordinal.feature_names == ("size", "colour", "ok", "day")
    onehot = load_dataset(form, path=path, categorical="onehot", columns=["size", "colour", "ok"])
    assert onehot.X.tolist() == [[3, 0, 1, 1], [1, 1, 0, 0], [2, 0, 1, 1]]
    assert onehot.feature_names == ("size", "colour=blue", "colour=red", "ok")
    dropped = load_dataset(form, path=path, categorical="drop")
    assert (dropped.X.tolist(), dropped.feature_names) == ([[3], [1], [2]], ("size",))
    with pytest.raises(ValueError, match="no column is left"):
        load_dataset(form, path=path, categorical="drop", columns=["colour", "day"])


def test_a_missing_category_stays_missing(table):
    path = table(pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "y"], "c": [True, None, False]}))
    for categorical in ("onehot", "ordinal"):
        with pytest.raises(ValueError, match="missing or infinite"):
            load_dataset("csv", path=path, categorical=categorical)
        assert len(load_dataset("csv", path=path, categorical=categorical, missing="drop").X) == 2
    filled = load_dataset("csv", path=path, categorical="onehot", missing="mean")
    np.testing.assert_array_equal(filled.X, [[1, 1, 0, 1], [2, 0.5, 0.5, 0.5], [3, 0, 1, 0]])


def test_too_many_categories_and_unclear_dates_are_refused(table):
    path = table(pd.DataFrame({"key": [f"k{i}" for i in range(101)]}))
    with pytest.raises(ValueError, match="column key has 101 different values, more than 100"):
        load_dataset("csv", path=path, categorical="onehot")
    path = table(pd.DataFrame({"day": ["01/02/2020", "03/04/2020"]}))
    with pytest.raises(ValueError, match=r"read in 2 ways .* YYYY-MM-DD"):
        load_dataset("csv", path=path, categorical="ordinal")
    path = table(pd.DataFrame({"day": ["01/02/1970", "13/02/1970"]}))
    assert load_dataset("csv", path=path, categorical="ordinal").X.tolist() == [[31], [43]]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1.5,2\n-3e-1,4\n",
        "a;b\n1,5;2\n-3e-1;4\n",
        "a\tb\n1,5\t2\n-0,3\t4\n",
        "a|b\n1.5|2\n-0.3|4\n",
        "a   b\n 1,5 2\n-0,3   4\n",
        '"a";"b"\n"1,5";"2"\n"-0,3";"4"\n',
        "a, b\n1.5, 2\n-0.3, 4\n",
        "a ;b \n1,5 ; 2\n-0,3; 4 \n",
        "a;b;\n1.5;2;\n-0.3;4;\n",
        "\ufeffa,b\r\n1.5,2\r\n-0.3,4\r\n",
    ],
)
def test_the_separator_and_the_decimal_sign_are_found_out(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    found = load_dataset("csv", path=path)
    np.testing.assert_array_equal(found.X, [[1.5, 2], [-0.3, 4]])
    assert found.feature_names == ("a", "b")


def test_what_is_said_of_a_csv_file_holds(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1,5\n2,7\n")
    assert load_dataset("csv", path=path).X.tolist() == [[1, 5], [2, 7]]
    assert load_dataset("csv", path=path, delimiter=";", decimal=",").X.tolist() == [[1.5], [2.7]]
    with pytest.raises(ValueError, match="decimal must be"):
        load_dataset("csv", path=path, decimal=":")
    with pytest.raises(ValueError, match="delimiter must be one character"):
        load_dataset("csv", path=path, delimiter="::")
    with pytest.raises(ValueError, match="header must be true, false or None"):
        load_dataset("csv", path=path, header="no")


def test_numbers_that_pandas_keeps_as_objects_are_numbers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"a,b\n1,2\n3,{10**30}\n")
    assert load_dataset("csv", path=path).X.tolist() == [[1, 2], [3, 1e30]]
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": [Decimal("1.5"), Decimal("-2.25"), None]}).to_parquet(path)
    assert load_dataset("parquet", path=path, missing="drop").X.tolist() == [[1.5], [-2.25]]
    pd.DataFrame({"a": ["1", "2"]}).to_parquet(path)
    with pytest.raises(ValueError, match="text such as '1'"):
        load_dataset("parquet", path=path)


@pytest.mark.parametrize("text", ["a;b\n1.234,5;2\n2.000,25;3\n", 'a,b\n"1,234.5",2\n"2,000.25",3\n'])
def test_separators_of_thousands_are_told(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"a \(numbers such as '1[.,]234[.,]5', .* separators of thousands"):
        load_dataset("csv", path=path)


def _npy_of_shape(shape):
    content = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, header)
    return content.getvalue() + b"x" * 64


def _npz():
    content = io.BytesIO()
    np.savez(content, X=np.eye(2))
    return content.getvalue()


def _parquet():
    content = io.BytesIO()
    TABLE.to_parquet(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("form", "content", "told"),
    [
        ("csv", b"", "own.dat is empty"),
        ("csv", b"\n \n\n", "own.dat is empty"),
        ("csv", b"a,b\n", "own.dat has no rows"),
        ("csv", b'a,b\n1,"2\n3,4\n', "EOF inside string starting at row 1; check quotation marks"),
        ("csv", b"a,b\n1,2\n3,4,5\n", "Expected 2 fields in line 3, saw 3"),
        ("csv", b"a,b\n1,2,3\n3,4,5\n", "rows with more cells than its first line"),
        ("csv", b"a,b\n1,\xff\n", "own.dat is not UTF-8 text"),
        ("csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8 text: it holds zero bytes"),
        ("csv", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-12], "cannot be decompressed"),
        ("csv", _npz(), "own.dat is a zip archive such as NPZ, not csv: load an NPZ file as npz"),
        ("csv", _parquet(), "own.dat is a Parquet file, not csv: load it as parquet"),
        ("parquet", b"", "own.dat is empty"),
        ("parquet", _parquet()[:-100], "cannot be read as Parquet, it is damaged"),
        ("parquet", _npz(), "not parquet: load an NPZ file as npz"),
        ("npy", b"", "own.dat is empty"),
        ("npy", _npz(), "not npy: load an NPZ file as npz"),
        ("npy", _npy_of_shape((10**9, 10**6)), r"announces 8000000000000000 bytes, .* and holds 64"),
        ("npy", _npy_of_shape((10**15, 10**15)), "it is damaged or was not written to its end"),
        ("npy", _npy_of_shape((3, 3)), "announces 72 bytes"),
        ("npz", _npz()[:-40], "own.dat cannot be read as NPZ"),
        ("npz", _npy_of_shape((2, 4)), "own.dat is an NPY file, not npz: load it as npy"),
    ],
)
def test_files_that_are_damaged_or_of_another_kind_are_refused_in_words(tmp_path, form, content, told):
    path = tmp_path / "own.dat"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=told):
        load_dataset(form, path=path)


def test_an_empty_column_or_nothing_left_is_an_error(table):
    empty = TABLE.assign(width=np.nan)
    with pytest.raises(ValueError, match="no value at all"):
        load_dataset("csv", path=table(empty), columns=["width", "height"], missing="median")
    with pytest.raises(ValueError, match="dropping leaves nothing"):
        load_dataset("csv", path=table(empty), columns=["width", "height"], missing="drop")
    with pytest.raises(ValueError, match="no column is left"):
        load_dataset("csv", path=table(empty[["width"]]), target="width")


def test_wrong_columns_are_refused(table):
    path = table()
    with pytest.raises(ValueError, match="no column 'depth'; it has width, height"):
        load_dataset("csv", path=path, target="depth")
    with pytest.raises(ValueError, match="4 columns, so there is no column 4"):
        load_dataset("csv", path=path, target=4)
    with pytest.raises(ValueError, match="by name or place"):
        load_dataset("csv", path=path, target=1.5)


def test_a_csv_file_without_header_keeps_its_first_row(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("1;2;3\n4;5;6\n")
    found = load_dataset("csv", path=path, delimiter=";", target=-1)
    assert found.X.tolist() == [[1, 2], [4, 5]]
    assert found.y.tolist() == [3, 6]
    assert found.feature_names == ("x0", "x1")
    named = load_dataset("csv", path=path, delimiter=";", header=True)
    assert named.X.tolist() == [[4, 5, 6]]
    assert named.feature_names == ("1", "2", "3")


def test_a_compressed_csv_file(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0))
    assert load_dataset("csv", path=path).X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_an_array_without_rows_is_refused(tmp_path, kind):
    path, rows = tmp_path / f"none.{kind}", np.empty((0, 3))
    np.save(path, rows) if kind == "npy" else np.savez(path, X=rows)
    with pytest.raises(ValueError, match=r"none\..* has no rows"):
        load_dataset(kind, path=path)


def test_npy(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(12).reshape(4, 3))
    found = load_dataset("npy", path=str(path), target=0)
    assert found.X.tolist() == [[1, 2], [4, 5], [7, 8], [10, 11]]
    assert found.X.dtype == np.float64
    assert found.y.tolist() == [0, 3, 6, 9]
    np.save(path, np.arange(3))
    with pytest.raises(ValueError, match="not a table"):
        load_dataset("npy", path=path)


def test_npz_with_a_test_part(tmp_path):
    path = tmp_path / "a.npz"
    X = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 8.0]])
    np.savez(path, X=X, y=[0, 1, 1], X_test=np.array([[np.nan, 1.0]]), y_test=[0])
    found = load_dataset("npz", path=path, missing="mean")
    np.testing.assert_array_equal(found.X, [[1, 6], [3, 4], [5, 8]])
    np.testing.assert_array_equal(found.X_test, [[3, 1]])
    assert found.y_test.tolist() == [0]
    with pytest.raises(ValueError, match="dropping leaves nothing"):
        load_dataset("npz", path=path, missing="drop")
    with pytest.raises(ValueError, match="no array 'Z'; it has X, y"):
        load_dataset("npz", path=path, key="Z")
    with pytest.raises(ValueError, match="no array 'labels'"):
        load_dataset("npz", path=path, target="labels", missing="mean")


@pytest.mark.parametrize("form", ["npy", "npz"])
def test_objects_are_refused(tmp_path, form):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was executed",))

    path = tmp_path / f"evil.{form}"
    evil = np.array([[Trap()]], dtype=object)
    np.save(path, evil) if form == "npy" else np.savez(path, X=evil)
    with pytest.raises(ValueError, match="cannot be read without unpickling"):
        load_dataset(form, path=path)


def test_a_pickle_under_another_name_is_refused(tmp_path):
    path = tmp_path / "data.npy"
    pd.DataFrame({"a": [1]}).to_pickle(path)
    with pytest.raises(ValueError, match="cannot be read without unpickling"):
        load_dataset("npy", path=path)


def test_a_missing_file_or_path_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        load_dataset("csv", path=tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="there is no such user"):
        load_dataset("csv", path="~no-such-user/a.csv")
    with pytest.raises(FileNotFoundError, match="a folder, not a file"):
        load_dataset("csv", path=tmp_path)
    with pytest.raises(ValueError, match="csv needs the option path="):
        load_dataset("csv")
    with pytest.raises(ValueError, match="give the path"):
        load_dataset("csv", path=None)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "center"])
def test_scaling_uses_the_training_part(tmp_path, scaling):
    path = tmp_path / "a.npz"
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(3, 2, size=(30, 4)), rng.normal(3, 2, size=(9, 4))
    np.savez(path, X=X, X_test=X_test)
    found = load_dataset("npz", path=path, scaling=scaling)
    shift = X.min(axis=0) if scaling == "minmax" else X.mean(axis=0)
    width = {"standard": X.std(axis=0), "minmax": np.ptp(X, axis=0), "center": 1.0}[scaling]
    np.testing.assert_allclose(found.X, (X - shift) / width)
    np.testing.assert_allclose(found.X_test, (X_test - shift) / width)
    assert found.provenance.parameters["scaling"] == scaling


NUMBERS = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, -2.5], "kind": [0, 1, 0]})


@pytest.mark.parametrize("form", ["csv", "csv.gz", "tsv", "parquet", "npy", "folder"])
def test_rows_of_a_file_are_those_that_are_loaded(tmp_path, form):
    path = tmp_path / f"table.{form}"
    if form == "npy":
        np.save(path, NUMBERS.to_numpy())
    elif form == "folder":
        path.mkdir()
        NUMBERS[:1].to_parquet(path / "1.parquet")
        NUMBERS[1:].to_parquet(path / "2.parquet")
    elif form == "parquet":
        NUMBERS.to_parquet(path)
    elif form == "tsv":
        NUMBERS.to_csv(path, sep="\t", decimal=",", index=False)
    else:
        NUMBERS.to_csv(path, index=False)
    for options, expected in (
        ({}, NUMBERS),
        ({"target": 2}, NUMBERS[["a", "b"]]),
        ({"columns": [1, 0]}, NUMBERS[["b", "a"]]),
    ):
        source = open_rows(path, **options)
        assert source.shape == expected.shape
        np.testing.assert_array_equal(np.vstack(list(source.blocks(max_bytes=48))), expected)
        np.testing.assert_array_equal(source.take([2, 0]), expected.iloc[[2, 0]])
    with pytest.raises(ValueError, match="no column 'width'"):
        open_rows(path, columns=["width"])


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.parquet", _parquet()[:-100], "cannot be read as Parquet, it is damaged"),
        ("a.parquet", _npz(), "is a zip archive such as NPZ, not parquet"),
        ("a.npy", _npy_of_shape((10**9, 10**6)), "announces 8000000000000000 bytes"),
        ("a.csv", b"a,b\n1,x\n", "a.csv cannot be read as a table of numbers: could not convert string"),
        ("a.csv", b"a,b\n1,2\n3,\n", "Row 1 holds a value that is missing"),
        ("a.csv", b'a,b\n1,2\n3,"4\n', "EOF inside string"),
        ("a.csv", b"a,b\n1,2,3\n3,4,5\n", "a.csv has rows with more cells than its first line"),
        ("a.csv", b"a,b\n1,2\n3,4,5\n", "Expected 2 fields in line 3, saw 3"),
        ("a.csv", _npz(), "not csv"),
    ],
)
def test_rows_of_a_damaged_file_are_refused_in_words(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=told):
        list(open_rows(tmp_path / name).blocks())


def test_columns_without_a_name_keep_their_place(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",a ,b\n7,1,2\n8,3,4\n")
    for options, expected in (({}, [[7, 1, 2], [8, 3, 4]]), ({"columns": ["a"]}, [[1], [3]])):
        assert np.vstack(list(open_rows(path, **options).blocks())).tolist() == expected
        assert load_dataset("csv", path=path, **options).X.tolist() == expected
    path.write_text("a,b,\n1,2,\n3,4,\n")  # a separator at the end makes no column
    assert np.vstack(list(open_rows(path).blocks())).tolist() == [[1, 2], [3, 4]]


def test_rows_of_hdf5_and_zarr(tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    X = NUMBERS.to_numpy()
    path = tmp_path / "own.h5"
    with h5py.File(path, "w") as file:
        file["group/X"] = X
        file["y"] = [1, 2, 3]
    array = zarr.create_array(tmp_path / "own.zarr", shape=X.shape, chunks=(2, 3), dtype="f8")
    array[:] = X
    for place in (path, tmp_path / "own.zarr"):
        np.testing.assert_array_equal(open_rows(place).take([2, 0]), X[[2, 0]])
        np.testing.assert_array_equal(open_rows(place, columns=[2, 0]).take([1]), X[[1]][:, [2, 0]])
    with h5py.File(path, "a") as file:
        file["Z"] = X
    assert open_rows(path, key="Z", target=-1).shape == (3, 2)
    with pytest.raises(ValueError, match="more than one table: choose key= from Z, group/X"):
        open_rows(path)
    with pytest.raises(ValueError, match="no table 'W': choose key= from Z"):
        open_rows(path, key="W")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"own\.h5 cannot be read as HDF5"):
        open_rows(path)
