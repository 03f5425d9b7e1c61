"""`load_dataset`: names, options, the parts common to all data sets."""

import dataclasses
import hashlib
import inspect
import json

import numpy as np
import pytest

from kpca_lab.datasets import (
    Dataset,
    DatasetUnavailableError,
    Provenance,
    catalogue,
    dataset_options,
    list_datasets,
    load_dataset,
    scale,
)
from kpca_lab.datasets.registry import FILE_SETS, Address, FileSet, RawFile

IDA = ["banana", "breast_cancer", "diabetis", "flare_solar", "german", "heart", "image"]
IDA += ["ringnorm", "splice", "thyroid", "titanic", "twonorm", "waveform"]
SYNTHETIC = ["artificial2d", "parabola", "three_clusters", "swiss_roll_hole", "gaussian50"]
SYNTHETIC += ["twonorm", "ringnorm", "waveform", "heavy_tails", "uneven_clusters"]
REAL = ["concrete", "housing", "tic", "usps", "mnist", "yaleb", "frey", "teapots"]
REAL += [f"ida/{name}" for name in IDA]
USER = ["csv", "npy", "npz", "parquet"]
NAMES = SYNTHETIC + REAL + USER


def test_every_data_set_is_there():
    assert sorted(list_datasets()) == sorted(NAMES)
    for kind, names in (("synthetic", SYNTHETIC), ("real", REAL), ("user", USER)):
        assert sorted(list_datasets(kind)) == sorted(names)
    with pytest.raises(ValueError, match="kind must be one of"):
        list_datasets("imaginary")


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown data set 'ida/bananna'") as caught:
        load_dataset("ida/bananna")
    assert "did you mean 'ida/banana'?" in str(caught.value)
    assert all(name in str(caught.value) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match="unknown option") as caught:
        load_dataset(name, scalling="standard")
    assert "did you mean 'scaling'?" in str(caught.value)
    assert all(option in str(caught.value) for option in dataset_options(name))


def test_options_have_defaults_unless_they_must_be_given():
    assert dataset_options("ida/banana")["realisation"] == 1
    assert dataset_options("csv")["path"] is inspect.Parameter.empty
    assert "benchmark" not in dataset_options("ida/banana")


@pytest.mark.parametrize("realisation", [0, 101, -1, 1.5, "1", True, None])
def test_a_realisation_out_of_range_is_refused_before_any_fetching(realisation):
    with pytest.raises(ValueError, match="from 1 to 100"):
        load_dataset("ida/banana", realisation=realisation)


@pytest.fixture
def small_housing(server, monkeypatch):
    """Housing in shape, served by a server that breaks off first."""
    rows = np.random.default_rng(0).normal(size=(506, 14)).round(3)
    content = "\n".join(" ".join(map(str, row)) for row in rows).encode()
    url = server.put("housing.data", content, "truncate", "serve")
    raw = RawFile(
        "housing/housing.data", len(content), (hashlib.sha256(content).hexdigest(),), (Address(url),)
    )
    monkeypatch.setitem(FILE_SETS, "housing", FileSet("housing", (raw,), terms="some terms"))
    return rows, url, raw.sha256[0]


def test_from_server_to_arrays_with_provenance(small_housing, server):
    rows, url, digest = small_housing
    for source in ("public", "cache"):
        found = load_dataset("housing")
        np.testing.assert_array_equal(found.X, rows)
        assert found.provenance.source == source
        assert found.provenance.sha256 == {"housing/housing.data": digest}
        assert found.provenance.terms == "some terms"
        assert found.provenance.files[0].origin == url
    assert server.count("housing.data") == 2


def test_loaded_arrays_are_the_callers_own(small_housing):
    rows, _, _ = small_housing
    for _ in range(2):
        found = load_dataset("housing")
        found.X[:] = -1
    np.testing.assert_array_equal(load_dataset("housing").X, rows)
    assert found.X.flags.c_contiguous and type(found.X) is np.ndarray


@pytest.mark.parametrize("large", [1, 10**12])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_large_arrays_are_as_good_as_small_ones(small_housing, monkeypatch, large, dtype):
    rows, _, _ = small_housing
    monkeypatch.setattr(catalogue, "LARGE", large)
    X = load_dataset("housing", dtype=dtype).X
    np.testing.assert_array_equal(X, rows.astype(dtype))
    assert X.dtype == dtype and X.flags.writeable and X.flags.c_contiguous
    X += 1
    np.testing.assert_array_equal(load_dataset("housing", dtype=dtype).X, rows.astype(dtype))


def test_a_record_of_provenance_is_plain_and_holds_no_local_path(small_housing, tmp_path):
    record = load_dataset("housing", n_train=10).provenance.as_record()
    text = json.dumps(record)
    assert str(tmp_path) not in text
    assert record["parameters"] == {"n_train": 10}
    np.save(tmp_path / "a.npy", np.eye(3))
    assert str(tmp_path) not in json.dumps(
        load_dataset("npy", path=str(tmp_path / "a.npy")).provenance.as_record()
    )


def test_subsets_are_drawn_from_the_name_and_number(small_housing):
    rows, _, _ = small_housing
    ten, again = load_dataset("housing", n_train=10), load_dataset("housing", n_train=10)
    np.testing.assert_array_equal(ten.X, again.X)
    places = [np.flatnonzero((rows == row).all(axis=1))[0] for row in ten.X]
    assert places == sorted(set(places))
    assert not np.array_equal(ten.X, load_dataset("housing", n_train=10, subset_seed=1).X)
    for size in (0, 507, 2.5, True):
        with pytest.raises(ValueError, match="cannot take"):
            load_dataset("housing", n_train=size)
    with pytest.raises(ValueError, match="of the 0 rows of X_test"):
        load_dataset("housing", n_test=1)


def test_types_and_scalings_are_checked(small_housing):
    assert load_dataset("housing", dtype="float32").X.dtype == np.float32
    for options, message in (
        ({"dtype": "float16"}, "dtype must be one of"),
        ({"dtype": "uint8"}, "only for unscaled images"),
        ({"scaling": "whiten"}, "scaling must be None or one of"),
        ({"scaling": "unit"}, "for pixels"),
    ):
        with pytest.raises(ValueError, match=message):
            load_dataset("housing", **options)


def test_without_any_source_the_error_names_the_data_set(cache):
    with pytest.raises(DatasetUnavailableError) as caught:
        load_dataset("ida/splice")
    message = str(caught.value)
    assert "'ida/splice'" in message
    assert str(cache / "ida") in message
    assert "47c19e4bc4716edc4077cfa5ea61edf4d02af4ec51a0ecfe035626ae8b561c75" in message
    assert "KPCA_LAB_OFFLINE is set" in message


def test_a_dataset_is_frozen_and_consistent():
    found = load_dataset("three_clusters")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.X = None
    for fields in (
        {"X": np.ones(3)},
        {"X": np.ones((3, 2)), "feature_names": ("a",)},
        {"X": np.ones((3, 1)), "feature_names": ("a",), "y": np.ones(2)},
        {"X": np.ones((3, 1)), "feature_names": ("a",), "y_test": np.ones(2)},
    ):
        with pytest.raises(ValueError):
            Dataset("bad", provenance=Provenance("user"), **fields)


def test_scale_leaves_constant_columns_finite():
    X = np.column_stack([np.full(5, 0.1), np.arange(5.0)])
    for scaling in ("standard", "minmax", "center"):
        scaled, nothing = scale(X, None, scaling=scaling)
        assert nothing is None
        np.testing.assert_allclose(scaled[:, 0], 0, atol=1e-15)
    assert scale(X, scaling=None)[0] is X
    assert scale(np.arange(6, dtype=np.uint8).reshape(2, 3), scaling="center")[0].min() == -1.5


def test_public_examples_hold():
    import doctest

    from kpca_lab.datasets import seeds, splits

    for module in (catalogue, seeds, splits):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0
