"""Fits on a Dask cluster: the same as in memory, whatever becomes of the workers."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from kpca_lab import FullKPCA, SubsetKPCA, metrics
from kpca_lab.dask_rows import DaskRows
from kpca_lab.distributed import empirical_error, fit, transform

dask_array = pytest.importorskip("dask.array", reason="needs the extra dist")
distributed = pytest.importorskip("distributed", reason="needs the extra dist")

N_CHUNKS, ROWS = 20, 200
X = np.random.default_rng(0).standard_normal((N_CHUNKS * ROWS, 4))


@pytest.fixture
def client(cluster):
    """A client that is not that of this process: none of the tests finds it by itself."""
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


def model(**options):
    return SubsetKPCA(**{"n_components": 5, "gamma": 0.1, "n_basis": 8, "random_state": 0} | options)


def deadly(block, marker):
    """Return the block, but end the process that asks for it first."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_lost_worker_changes_no_bit(client, tmp_path):
    chunks = dask_array.from_array(X, chunks=(ROWS, 4)).blocks
    dies = chunks[13].map_blocks(deadly, str(tmp_path / "dead"), meta=X[:0])
    with_death = dask_array.concatenate([chunks[:13], dies, chunks[14:]])
    before = set(client.scheduler_info()["workers"])
    fitted = fit(model(basis=X[:8]), with_death, client=client)
    assert (tmp_path / "dead").exists() and set(client.scheduler_info()["workers"]) != before
    calm = fit(model(basis=X[:8]), with_death, client=client)
    for one, other in zip(fitted.statistics_.sums(), calm.statistics_.sums()):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(fitted.eigenvalues_, calm.eigenvalues_)
    plain = model(basis=X[:8]).fit(X)
    np.testing.assert_allclose(fitted.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    assert fitted.error_ == pytest.approx(plain.error_, rel=1e-12)


def test_basis_width_and_errors_are_those_of_the_array(client):
    array = dask_array.from_array(X, chunks=(ROWS, 2))
    unknown = array[dask_array.from_array(np.ones(len(X), bool), chunks=ROWS)]
    with client.as_current():
        fitted = model(gamma="scale", selector="kmeans").fit(unknown)
        shares = fitted.score(array)
        components = transform(fitted, array)
        assert isinstance(components, dask_array.Array) and components.shape == (len(X), 5)
        values = components.compute()
    plain = model(gamma="scale", selector="kmeans").fit(X)
    np.testing.assert_array_equal(fitted.basis_indices_, plain.basis_indices_)
    assert fitted.gamma_ == pytest.approx(plain.gamma_, rel=1e-12)
    np.testing.assert_allclose(fitted.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(values, plain.transform(X), atol=1e-10)
    expected = metrics.empirical_error(plain, X)
    assert empirical_error(fitted, array, client=client) == pytest.approx(expected, rel=1e-12)
    assert shares == pytest.approx(plain.score(X), rel=1e-12)


def test_a_bad_row_is_named_and_leaves_no_model(client):
    broken = X.copy()
    broken[1723, 2] = np.nan
    begun = model(basis=X[:8])
    with pytest.raises(ValueError, match="Row 1723 holds a value that is missing"):
        fit(begun, dask_array.from_array(broken, chunks=(ROWS, 4)), client=client)
    assert not begun.__sklearn_is_fitted__()


def test_without_a_cluster_chunks_are_read_here():
    array = dask_array.from_array(X.astype(np.float32), chunks=(70, 4))
    plain = model().fit(X.astype(np.float32))
    fitted = fit(model(), array)
    np.testing.assert_allclose(fitted.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    components = transform(fitted, array)
    assert components.dtype == np.float32 and components.chunks[0] == array.chunks[0]
    np.testing.assert_allclose(components.compute(), plain.transform(X), atol=1e-5)


@pytest.mark.parametrize("least_rows", [1, 120, 10_000])
def test_parts_are_whole_chunks_that_are_large_enough(least_rows, monkeypatch):
    monkeypatch.setattr("kpca_lab.dask_rows.PART_BYTES", 8 * 4 * 300)
    lengths = (50, 50, 50, 200, 400, 10, 10)
    rows = DaskRows(dask_array.from_array(X[:770], chunks=(lengths, 4)), None)
    groups = list(rows._groups(least_rows))
    assert [chunk for first, last in groups for chunk in range(first, last)] == list(range(7))
    sizes = [sum(lengths[first:last]) for first, last in groups]
    assert all(size <= 300 or last - first == 1 for size, (first, last) in zip(sizes, groups))
    expected = {1: list(lengths), 120: [150, 200, 400, 20], 10_000: [150, 200, 400, 20]}
    assert sizes == expected[least_rows]


def test_what_cannot_be_distributed_is_refused():
    array = dask_array.from_array(X, chunks=(ROWS, 4))
    with pytest.raises(TypeError, match="FullKPCA needs all samples in memory"):
        fit(FullKPCA(3), array)
    with pytest.raises(TypeError, match="must be a Dask array, got ndarray"):
        fit(model(), X)
    with pytest.raises(ValueError, match="X has 3 features, and the components are of 4"):
        transform(model().fit(X), array[:, :3])
