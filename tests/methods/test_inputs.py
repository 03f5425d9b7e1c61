"""Samples and parameters that an estimator cannot take: a clear outcome for every estimator."""

import numpy as np
import pytest
from scipy import sparse

import kpca_lab
from kpca_lab import IncrementalKPCA

READ_IN_BLOCKS = ("SubsetKPCA", "ImprovedKPCA")
ESTIMATORS = [name for name in kpca_lab.__all__ if hasattr(getattr(kpca_lab, name), "fit")]


@pytest.fixture
def samples():
    return np.random.default_rng(0).standard_normal((40, 3))


def arguments(name):
    return ([0, 1] * 20,) if name == "SubspaceClassifier" else ()


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in READ_IN_BLOCKS])
def test_estimators_that_need_an_array_say_which_ones_read_blocks(name, samples, tmp_path):
    path = tmp_path / "samples.npy"
    np.save(path, samples)
    chunks = [samples[:20], samples[20:]]
    for source in (path, str(path), chunks, iter(chunks), lambda: iter(chunks)):
        with pytest.raises(TypeError, match=f"{name} needs its samples as one array.*SubsetKPCA and Impro"):
            getattr(kpca_lab, name)().fit(source, *arguments(name))
    mapped = np.load(path, mmap_mode="r")
    model = getattr(kpca_lab, name)().fit(mapped, *arguments(name))
    with pytest.raises(TypeError, match="needs its samples as one array"):
        (model.predict if name == "SubspaceClassifier" else model.transform)(chunks)


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e3])
@pytest.mark.parametrize("name", [
    name for name in ESTIMATORS if {"center", "degree"} <= set(getattr(kpca_lab, name)().get_params())
])  # fmt: skip
def test_uncentred_linear_kernel_has_no_more_components_than_columns(name, offset, samples):
    """As elsewhere, ``n_components_`` tells that the rank is lower than what was asked for."""
    options = {"kernel": "linear", "center": False, "n_basis": 20, "alpha": 0.0, "random_state": 0}
    model = getattr(kpca_lab, name)(4)
    known = model.get_params()
    model.set_params(**{key: value for key, value in options.items() if key in known})
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(UserWarning)
        model.fit(samples + offset)
    assert 1 <= model.n_components_ <= 3


@pytest.mark.parametrize("changed", [
    {"gamma": 0.5}, {"n_components": 2}, {"compression": "select"}, {"kernel": "linear"}, {"n_preimages": 7},
])  # fmt: skip
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_incremental_kpca_does_not_go_on_with_other_parameters(begin, changed, samples):
    model = getattr(IncrementalKPCA(3, gamma=0.1), begin)(samples[:20])
    before = model.transform(samples)
    model.set_params(**changed)
    with pytest.raises(ValueError, match=f"{next(iter(changed))} was .*partial_fit cannot go on"):
        model.partial_fit(samples[20:])
    np.testing.assert_array_equal(model.transform(samples), before)
    model.fit(samples[20:]).partial_fit(samples[:20])
    assert model.n_samples_seen_ == 40


def test_incremental_kpca_asks_for_dense_samples(samples):
    for method in ("fit", "partial_fit"):
        with pytest.raises(TypeError, match="dense data is required"):
            getattr(IncrementalKPCA(3), method)(sparse.csr_matrix(samples))
