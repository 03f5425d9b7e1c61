"""What is known about the published files, checked wherever the files are."""

import gzip
import lzma
import pickle
from dataclasses import replace

import numpy as np
import pytest

from kpca_lab.datasets import DataVariantWarning, list_datasets, load_dataset, locations, parsers
from kpca_lab.datasets.fetch import sha256_of
from kpca_lab.datasets.real import IDA_BENCHMARKS, read_ida
from kpca_lab.datasets.registry import FILE_SETS
from kpca_lab.datasets.row_counts import most_rows


def n_duplicates(table):
    return len(table) - len(np.unique(table, axis=0))


def test_usps(real):
    usps = real("usps")
    assert usps.X.shape == (7291, 256)
    assert usps.X_test.shape == (2007, 256)
    assert usps.X.dtype == np.float64
    assert (usps.X.min(), usps.X.max()) == (-1.0, 1.0)
    assert (usps.X_test.min(), usps.X_test.max()) == (-1.0, 1.0)
    assert np.bincount(usps.y).tolist() == [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    assert np.bincount(usps.y_test).tolist() == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    assert n_duplicates(np.vstack([usps.X, usps.X_test])) == 0
    assert usps.image_shape == (16, 16)


def test_mnist(real):
    mnist = real("mnist", dtype="uint8")
    assert mnist.X.shape == (60000, 784)
    assert mnist.X_test.shape == (10000, 784)
    assert (mnist.X.min(), mnist.X.max()) == (0, 255)
    assert np.bincount(mnist.y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert len(mnist.y_test) == 10000
    assert mnist.y[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]


def test_mnist_comes_raw_and_in_double_precision_unless_asked_otherwise(real):
    raw = real("mnist", n_train=20, n_test=10)
    assert raw.X.dtype == np.float64
    assert raw.X.max() == 255
    unit = real("mnist", n_train=20, n_test=10, scaling="unit")
    np.testing.assert_allclose(unit.X, raw.X / 255, rtol=1e-15)
    np.testing.assert_allclose(unit.X_test, raw.X_test / 255, rtol=1e-15)
    assert unit.pixel_range == (0.0, 1.0)
    single = real("mnist", n_train=20, n_test=10, dtype="float32", scaling="unit")
    assert single.X.dtype == single.X_test.dtype == np.float32


def test_mnist_is_the_same_from_compressed_and_plain_files(real, tmp_path):
    real("mnist", n_train=1)
    packed = locations.cache_dir() / "mnist" / "t10k-images-idx3-ubyte.gz"
    if not packed.exists():
        pytest.skip("only the plain files are here")
    raw = FILE_SETS["mnist"].files[2].substitute
    plain = tmp_path / "plain"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    assert sha256_of(plain) in raw.sha256
    assert plain.stat().st_size == raw.size
    np.testing.assert_array_equal(parsers.read_idx(plain), parsers.read_idx(packed))


def test_concrete(real):
    concrete = real("concrete")
    assert concrete.X.shape == (1030, 9)
    assert concrete.y is None
    assert np.isfinite(concrete.X).all()
    assert n_duplicates(concrete.X) == 25
    assert concrete.feature_names[-1] == "compressive_strength"
    np.testing.assert_allclose(concrete.X[0], [540, 0, 0, 162, 2.5, 1040, 676, 28, 79.98611], rtol=1e-6)
    apart = real("concrete", include_target=False)
    assert apart.X.shape == (1030, 8)
    np.testing.assert_array_equal(apart.y, concrete.X[:, 8])


def test_concrete_from_the_wheel_is_rounded_and_says_so(real, monkeypatch, tmp_path):
    exact = real("concrete").X
    reals = np.vstack([np.round(exact[:, :7].T, 1), np.round(exact[:, 8], 2)])
    integers = np.vstack([np.arange(1030), exact[:, 7]]).astype("<i8")
    stream = pickle.dumps([reals.astype("<f8").tobytes(), integers.tobytes()])
    monkeypatch.setenv("KPCA_LAB_CACHE", str(tmp_path / "other"))
    monkeypatch.delenv("KPCA_LAB_MIRROR")
    stand_in = tmp_path / "other" / "concrete" / "concrete.pkl.compress"
    stand_in.parent.mkdir(parents=True)
    stand_in.write_bytes(lzma.compress(stream))
    file_set = FILE_SETS["concrete"]
    rounded = replace(file_set.files[0].substitute, sha256=(sha256_of(stand_in),))
    raw = replace(file_set.files[0], substitute=rounded)
    monkeypatch.setitem(FILE_SETS, "concrete", replace(file_set, files=(raw,)))
    with pytest.warns(DataVariantWarning, match="inputs to one decimal, strength to two"):
        found = load_dataset("concrete")
    np.testing.assert_allclose(found.X, exact, atol=0.0501)
    assert found.provenance.note.startswith("rounded values")
    with pytest.raises(ValueError, match="allow_rounded is False"):
        load_dataset("concrete", allow_rounded=False)


def test_housing(real):
    housing = real("housing")
    assert housing.X.shape == (506, 14)
    assert housing.feature_names[0] == "CRIM"
    assert housing.X[0, :3].tolist() == [0.00632, 18.0, 2.31]
    apart = real("housing", include_target=False)
    assert apart.X.shape == (506, 13)
    assert (apart.y.min(), apart.y.max()) == (5.0, 50.0)


def test_tic(real):
    tic = real("tic")
    assert tic.X.shape == (9822, 85)
    assert len(set(tic.feature_names)) == 85
    assert set(np.unique(tic.y)) == {0, 1}
    whole = real("tic", include_target=True)
    assert whole.X.shape == (9822, 86)
    assert whole.feature_names[-1] == "CARAVAN"
    assert (whole.X.min(), whole.X.max()) == (0, 41)
    assert n_duplicates(whole.X) == 1442
    official = real("tic", parts="official")
    assert (official.X.shape, official.X_test.shape) == ((5822, 85), (4000, 85))
    np.testing.assert_array_equal(np.concatenate([official.y, official.y_test]), tic.y)
    assert official.y.sum() == 348


IDA_FACTS = {
    "banana": (5300, 2, 400, 4900),
    "breast_cancer": (263, 9, 200, 77),
    "diabetis": (768, 8, 468, 300),
    "flare_solar": (144, 9, 666, 400),
    "german": (1000, 20, 700, 300),
    "heart": (270, 13, 170, 100),
    "image": (2086, 18, 1300, 1010),
    "ringnorm": (7400, 20, 400, 7000),
    "splice": (2991, 60, 1000, 2175),
    "thyroid": (215, 5, 140, 75),
    "titanic": (24, 3, 150, 2051),
    "twonorm": (7400, 20, 400, 7000),
    "waveform": (5000, 21, 400, 4600),
}
UNIQUE_PATTERNS_ONLY = {"breast_cancer", "flare_solar", "image", "splice", "titanic"}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in list_datasets("real")),
        *(("tic", {"parts": parts}) for parts in ("official", "train")),
        *(("yaleb", chosen) for chosen in ({"ambient": True}, {"variant": "extended"})),
    ],
)
def test_the_rows_that_are_known_without_loading_are_those_loaded(real, name, options):
    dtype = {"dtype": "uint8"} if name == "mnist" else {}
    assert most_rows(name, options) == len(real(name, **options, **dtype).X)


@pytest.mark.parametrize("name", IDA_FACTS)
def test_ida(real, name):
    n_patterns, n_features, n_train, n_test = IDA_FACTS[name]
    last = IDA_BENCHMARKS[name]
    assert last == (20 if name in ("image", "splice") else 100)
    loaded = real(f"ida/{name}", realisation=last)
    assert loaded.X.shape == (n_train, n_features)
    assert loaded.X_test.shape == (n_test, n_features)
    # Some patterns are stored as uint8, whose differences would wrap around.
    assert loaded.X.dtype == loaded.X_test.dtype == np.float64
    assert set(np.unique(loaded.y)) == set(np.unique(loaded.y_test)) == {-1, 1}
    arrays, _ = read_ida(name)
    assert arrays["x"].shape == (n_patterns, n_features)
    assert arrays["train"].shape == (last, n_train)
    assert arrays["test"].shape == (last, n_test)
    indices = np.concatenate([arrays["train"].ravel(), arrays["test"].ravel()])
    assert (indices.min(), indices.max()) == (0, n_patterns - 1)
    repeats = len(np.unique(arrays["train"][0])) < n_train
    shared = np.intersect1d(arrays["train"][0], arrays["test"][0]).size > 0
    assert (repeats or shared) == (name in UNIQUE_PATTERNS_ONLY)
    with pytest.raises(ValueError, match=f"from 1 to {last}"):
        real(f"ida/{name}", realisation=last + 1)


def test_some_ida_realisations_repeat_others(real):
    real("ida/banana")
    arrays, _ = read_ida("banana")
    assert len(np.unique(arrays["train"], axis=0)) == 80


def test_frey(real):
    frey = real("frey", dtype="uint8")
    assert frey.X.shape == (1965, 560)
    assert frey.image_shape == (28, 20)
    # One row is like the next if rows have 20 pixels, and less so if they are cut otherwise.
    frames = frey.X.astype(float)
    upright = np.abs(np.diff(frames.reshape(-1, 28, 20), axis=1)).mean()
    for width in (14, 28, 35):
        cut_wrongly = np.diff(frames.reshape(len(frames), -1, width), axis=1)
        assert upright < np.abs(cut_wrongly).mean() / 1.5


def test_teapots(real):
    teapots = real("teapots", dtype="uint8")
    assert teapots.X.shape == (100, 23028)
    frames = teapots.X.astype(float).reshape(-1, *teapots.image_shape)
    assert frames.shape == (100, 76, 101, 3)
    spread = frames.std()
    for axis in (1, 2):
        assert np.abs(np.diff(frames, axis=axis)).mean() < spread / 4
    # A full turn: the last frame is as close to the first as any two neighbours.
    steps = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3))
    assert np.abs(frames[-1] - frames[0]).mean() <= steps.max()


def test_yaleb_multipose(real):
    whole = real("yaleb", ambient=True)
    assert whole.X.shape == (2000, 600)
    assert np.bincount(whole.y).tolist() == [0] + [200] * 10
    assert whole.X.min() == 0.0
    assert whole.X.max() == 15.9
    assert whole.image_shape == (30, 20)
    faces = real("yaleb")
    assert faces.X.shape == (1960, 600)
    assert np.bincount(faces.y).tolist() == [0] + [196] * 10
    # The ambient images, taken without flash, are far darker than the first one after each.
    brightness = whole.X.mean(axis=1).reshape(10, 200)
    for place in (0, 65, 130, 195):
        assert (brightness[:, place] < brightness[:, place + 1] / 2).all()
    small = real("yaleb", size=(20, 20))
    assert small.X.shape == (1960, 400)
    np.testing.assert_allclose(small.X.mean(axis=1), faces.X.mean(axis=1))
    assert "not comparable" in faces.provenance.note
    assert real("yaleb", scaling="unit").X.max() <= 1


def test_yaleb_extended(real):
    faces = real("yaleb", variant="extended", dtype="uint8")
    assert faces.X.shape == (2414, 1024)
    assert (faces.y.min(), faces.y.max()) == (1, 38)
    assert len(np.unique(faces.y)) == 38
    # Upright: faces are nearly symmetric from left to right, and not from top to bottom.
    mean = faces.X.mean(axis=0).reshape(32, 32)
    assert np.abs(mean - mean[:, ::-1]).mean() < np.abs(mean - mean[::-1]).mean() / 2
    with pytest.raises(ValueError, match="no ambient"):
        real("yaleb", variant="extended", ambient=True)


@pytest.mark.parametrize("name", ["twonorm", "ringnorm", "waveform"])
def test_generators_agree_with_the_published_samples(real, name):
    """The benchmark's columns are standardised; so are the generated ones before comparing."""
    published = real(f"ida/{name}")
    X = np.vstack([published.X, published.X_test])
    y = np.concatenate([published.y, published.y_test])
    made = real(name, n=len(X), n_test=0)
    Z = (made.X - made.X.mean(axis=0)) / made.X.std(axis=0)
    assert abs((y == 1).mean() - (made.y == 1).mean()) < 0.03
    for label in (-1, 1):
        np.testing.assert_allclose(Z[made.y == label].mean(axis=0), X[y == label].mean(axis=0), atol=0.1)
        np.testing.assert_allclose(np.cov(Z[made.y == label].T), np.cov(X[y == label].T), atol=0.15)


def test_every_cached_raw_file_is_as_large_as_the_table_says(real):
    for name in ("usps", "mnist", "frey", "teapots", "yaleb", "housing"):
        real(name, n_train=1)
    for name in ("usps", "mnist", "frey", "teapots", "yaleb", "housing"):
        for raw in FILE_SETS[name].files:
            path = locations.cache_dir() / raw.path
            if path.exists() and sha256_of(path) == raw.sha256[0]:
                assert path.stat().st_size == raw.size
