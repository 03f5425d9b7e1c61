"""SubsetKPCA with tol: accuracy in, basis size out."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kpca_lab import FullKPCA, SubsetKPCA
from kpca_lab.methods import growth
from kpca_lab.metrics import empirical_error


@pytest.fixture
def cloud(rng):
    return rng.standard_normal((500, 3))


@pytest.mark.parametrize("selector", ["random", "kmeans"])
@pytest.mark.parametrize("center", [False, True, "mean", "basis"])
def test_error_is_within_tol_of_the_best(selector, center, cloud):
    options = {"gamma": 0.2, "center": center}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = SubsetKPCA(6, tol=0.02, n_basis=20, selector=selector, random_state=0, **options).fit(cloud)
    assert model.gap_ <= 0.02 and 20 < len(model.basis_) < 500
    if center != "basis":
        best = empirical_error(FullKPCA(6, gamma=0.2, center=bool(center)).fit(cloud), cloud)
        assert best <= empirical_error(model, cloud) <= 1.02 * best


def test_random_bases_are_nested_and_the_same_for_a_seed(cloud):
    loose, tight, again = (
        SubsetKPCA(6, gamma=0.2, tol=tol, n_basis=20, random_state=1).fit(cloud)
        for tol in (0.1, 0.005, 0.005)
    )
    assert len(loose.basis_) < len(tight.basis_)
    np.testing.assert_array_equal(tight.basis_indices_[: len(loose.basis_)], loose.basis_indices_)
    np.testing.assert_array_equal(tight.transform(cloud), again.transform(cloud))
    assert tight.error_ < loose.error_


def test_sizes_are_tried_on_some_samples_first(cloud, monkeypatch):
    monkeypatch.setattr(growth, "TRIAL_ROWS", 200)
    passes = []
    fit_to = SubsetKPCA._fit_to
    monkeypatch.setattr(
        SubsetKPCA, "_fit_to", lambda model, X, *rest: passes.append(len(X)) or fit_to(model, X, *rest)
    )
    model = SubsetKPCA(6, gamma=0.2, tol=0.02, n_basis=10, random_state=0).fit(cloud)
    assert model.gap_ <= 0.02
    assert passes.count(200) >= 2 and passes.count(500) <= 2


def test_what_cannot_be_reached_is_warned_of(cloud):
    with pytest.warns(ConvergenceWarning, match="more than tol=0.0001: raise max_basis"):
        model = SubsetKPCA(6, gamma=0.2, tol=1e-4, max_basis=40, n_basis=10, random_state=0).fit(cloud)
    assert len(model.basis_) == 40 and model.gap_ > 1e-4
    model.partial_fit(cloud[:50])
    assert not hasattr(model, "gap_") and model.n_samples_seen_ == 550


@pytest.mark.parametrize("options, message", [
    ({"tol": 0}, "tol must be a number > 0"),
    ({"tol": "small"}, "tol must be a number > 0"),
    ({"tol": 0.1, "basis": [1, 2]}, "give n_basis, where to begin, instead of basis"),
    ({"tol": 0.1, "n_components": None}, "give n_components"),
    ({"tol": 0.1, "max_basis": 0}, "max_basis=0 must be"),
])  # fmt: skip
def test_wrong_parameters(options, message, cloud):
    with pytest.raises(ValueError, match=message):
        SubsetKPCA(**{"n_components": 3} | options).fit(cloud)
    if "basis" in options:
        with pytest.raises(ValueError, match="begin with fit"):
            SubsetKPCA(3, tol=0.1).partial_fit(cloud)
