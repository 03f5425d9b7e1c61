"""SubsetKPCA on samples that are read in blocks: the same as on an array, in little memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from kpca_lab import SubsetKPCA
from kpca_lab.metrics import empirical_error
from kpca_lab.model_selection import choose_gamma
from kpca_lab.row_source import BLOCK_BYTES
from kpca_lab.rows import as_rows
from kpca_lab.widths import resolve_gamma

X = np.random.default_rng(0).integers(0, 255, (700, 3))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make several blocks of a few samples."""
    blocks = type(as_rows(X)).__mro__[1].blocks
    monkeypatch.setattr(
        "kpca_lab.row_source.RowSource.blocks",
        lambda self, max_bytes=BLOCK_BYTES, **options: blocks(self, min(max_bytes, 200 * 3 * 8), **options),
    )


@pytest.fixture
def mapped(tmp_path):
    def make(dtype):
        array = np.memmap(tmp_path / "X.dat", dtype, "w+", shape=X.shape)
        array[:] = X
        return array

    return make


def model(**options):
    return SubsetKPCA(**{"n_components": 4, "gamma": "scale", "n_basis": 30, "random_state": 0} | options)


def agrees(fitted, whole, rel=1e-10):
    np.testing.assert_allclose(fitted.eigenvalues_, whole.eigenvalues_, rtol=rel)
    assert fitted.gamma_ == pytest.approx(whole.gamma_, rel=1e-12)
    Z = X[:50].astype(float)
    np.testing.assert_allclose(fitted.transform(Z), whole.transform(Z), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("selector", ["random", "kmeans", "greedy"])
def test_a_memory_map_of_any_type_is_fitted_as_an_array(mapped, dtype, selector):
    whole = model(selector=selector).fit(X.astype(float))
    fitted = model(selector=selector).fit(mapped(dtype))
    np.testing.assert_array_equal(fitted.basis_indices_, whole.basis_indices_)
    agrees(fitted, whole)
    assert fitted.n_features_in_ == 3 and fitted.n_samples_seen_ == 700


@pytest.mark.parametrize("center", [True, False, "basis"])
def test_chunks_are_fitted_as_an_array(center):
    chunks = np.array_split(X, 9)
    whole = model(center=center).fit(X.astype(float))
    for source in (chunks, lambda: iter(chunks), as_rows(X)):
        agrees(model(center=center).fit(source), whole)


def test_sparse_chunks_are_fitted_as_an_array():
    chunks = [sparse.csr_array(X[:300].astype(float)), sparse.csr_array(X[300:].astype(float))]
    fitted = model().fit(chunks)
    agrees(fitted, model().fit(X.astype(float)))
    np.testing.assert_allclose(fitted.transform(chunks), fitted.transform(X.astype(float)), atol=1e-8)


def test_a_dask_array_and_parquet_are_fitted_as_an_array(tmp_path):
    dask = pytest.importorskip("dask.array")
    pandas = pytest.importorskip("pandas")
    whole = model().fit(X.astype(float))
    agrees(model().fit(dask.from_array(X, chunks=(90, 3))), whole)
    pandas.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "X.parquet")
    agrees(model().fit(tmp_path / "X.parquet"), whole)


@pytest.mark.parametrize("package", ["h5py", "zarr"])
def test_array_files_are_fitted_and_transformed_as_an_array(package, tmp_path):
    module = pytest.importorskip(package)
    if package == "h5py":
        stored = module.File(tmp_path / "rows.h5", "w").create_dataset("X", data=X.astype(np.uint8))
    else:
        stored = module.create_array(tmp_path / "rows.zarr", shape=X.shape, chunks=(90, 3), dtype="u1")
        stored[:] = X.astype(np.uint8)
    whole, fitted = model().fit(X.astype(float)), model().fit(stored)
    agrees(fitted, whole)
    np.testing.assert_allclose(fitted.transform(stored), whole.transform(X.astype(float)), atol=1e-8)
    options = {"gammas": [1e-6, 1e-4], "n_components": 2, "cv": 2, "n_basis": 20, "max_samples": 100}
    assert choose_gamma(stored, **options) == choose_gamma(X.astype(float), **options)


def test_an_iterator_is_enough_for_a_basis_of_points_and_a_width():
    basis = X[::40].astype(float)
    whole = model(basis=basis, gamma=1e-4).fit(X.astype(float))
    agrees(model(basis=basis, gamma=1e-4).fit(iter(np.array_split(X, 5))), whole)
    for options in ({"gamma": 1e-4}, {"basis": basis}, {"basis": [1, 2, 3], "gamma": 1e-4}):
        with pytest.raises(ValueError, match="only once"):
            model(**options).fit(iter(np.array_split(X, 5)))


def test_transform_takes_sources_and_writes_where_it_is_told(mapped, tmp_path):
    fitted = model().fit(X.astype(float))
    expected = fitted.transform(X.astype(float))
    for source in (mapped(np.uint8), lambda: iter([X[:300], X[300:]]), iter([X[:300], X[300:]])):
        np.testing.assert_allclose(fitted.transform(source), expected, atol=1e-10)
    out = np.memmap(tmp_path / "out.dat", np.float32, "w+", shape=(700, 4))
    assert fitted.transform(mapped(np.uint8), out=out) is out
    np.testing.assert_allclose(out, expected, atol=1e-5)
    assert fitted.transform(mapped(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="out must have 700 rows"):
        fitted.transform(mapped(np.uint8), out=out[:5])
    with pytest.raises(ValueError, match="out must have 4 columns"):
        fitted.transform(mapped(np.uint8), out=np.empty((700, 2)))
    with pytest.raises(ValueError, match="X has 2 features, but SubsetKPCA is expecting 3"):
        fitted.transform(iter([X[:, :2]]))


def test_errors_and_scores_take_sources(mapped):
    fitted = model().fit(X.astype(float))
    for source in (mapped(np.uint8), iter([X[:300], X[300:]])):
        assert empirical_error(fitted, source) == pytest.approx(empirical_error(fitted, X), rel=1e-12)
    assert fitted.score([X[:300], X[300:]]) == pytest.approx(fitted.score(X), rel=1e-12)


def test_what_needs_all_samples_is_refused(mapped):
    with pytest.raises(ValueError, match="keeps all samples in memory: use center=True"):
        model(center="mean").fit(lambda: iter([X]))
    agrees(model(center="mean").fit(mapped(np.float64)), model(center="mean").fit(X.astype(float)))
    with pytest.raises(ValueError, match="At least 2 samples"):
        model().fit([X[:1]])
    bad = X.astype(float)
    bad[600, 1] = np.nan
    with pytest.raises(ValueError, match="Row 600 holds"):
        model(gamma=1e-4).fit([bad[:100], bad[100:]])
    with pytest.raises(ValueError, match="too large for kernel"):
        model(kernel="poly", gamma=1.0).fit([X[:5], X[5:] * 1e60])


def test_a_bad_row_in_the_midst_leaves_nothing_half_done():
    bad = X.astype(float)
    bad[600, 1] = np.nan
    fitted = model(gamma=1e-4)
    with pytest.raises(ValueError, match="Row 600 holds"):
        fitted.fit([bad])
    with pytest.raises(NotFittedError):
        fitted.transform(X[:5].astype(float))
    fitted.partial_fit(X[:100].astype(float))
    with pytest.raises(ValueError, match="Row 600 holds"):
        fitted.partial_fit([bad])
    assert fitted.n_samples_seen_ == 100
    agrees(fitted, model(gamma=1e-4).fit(X[:100].astype(float)))


def test_widths_by_rule_are_those_of_the_array():
    for source in (as_rows(X.astype(float)), as_rows(sparse.csr_array(X))):
        for rule in ("scale", "median"):
            assert resolve_gamma(rule, source) == pytest.approx(
                resolve_gamma(rule, X.astype(float)), rel=1e-12
            )
    constant = np.full((500, 3), 7.0)
    assert resolve_gamma("scale", as_rows(constant)) == 1.0
    far = X + 1e6
    assert resolve_gamma("scale", as_rows(far)) == pytest.approx(resolve_gamma("scale", far), rel=1e-9)


def test_progress_is_shown_if_asked_for(capsys):
    model(verbose=1).fit([X[:400], X[400:]]).transform(iter([X]))
    told = capsys.readouterr().err
    assert "fit" in told and "transform" in told


def test_memory_does_not_grow_with_the_samples(tmp_path, monkeypatch):
    """20 MB of bytes, which are 160 MB as numbers, are fitted and transformed within 60 MB."""
    monkeypatch.undo()  # blocks as they are
    mapped = np.memmap(tmp_path / "X.dat", np.uint8, "w+", shape=(100_000, 200))
    mapped[:] = np.random.default_rng(0).integers(0, 255, mapped.shape, np.uint8)
    tracemalloc.start()
    try:
        fitted = model(n_basis=20).fit(mapped)
        fitted.transform(mapped, out=np.empty((100_000, 4), np.float32))
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()
