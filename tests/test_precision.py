import numpy as np
import pytest

from kpca_lab import SubsetKPCA
from kpca_lab.precision import SAFE, estimated_change
from kpca_lab.span import SummationFrame


@pytest.fixture
def pictures(rng):
    return rng.random((600, 300)) * (rng.random((600, 300)) < 0.3)


def change(X, model, other):
    kernel, squares = model.operator_.kernel, np.sum((X - model.operator_.kernel.origin) ** 2, axis=1)
    smallest = SummationFrame.of(kernel, model.basis_).smallest
    estimate = estimated_change(2 * kernel.gamma * squares.max(), smallest, model.eigenvalues_[-1] / len(X))
    return np.abs(other.eigenvalues_ / model.eigenvalues_ - 1).max(), estimate


@pytest.mark.parametrize("gamma", [1e-3, 1e-2, 0.1])
def test_mixed_precision_changes_eigenvalues_by_no_more_than_estimated(gamma, pictures):
    options = {"gamma": gamma, "n_basis": 60, "random_state": 0}
    double, mixed = (SubsetKPCA(10, precision=name, **options).fit(pictures) for name in ("double", "mixed"))
    changed, estimate = change(pictures, double, mixed)
    assert 0 < changed <= estimate


@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 1.0])
def test_automatic_precision_is_safe(gamma, pictures):
    options = {"gamma": gamma, "n_basis": 60, "random_state": 0}
    double, auto = (SubsetKPCA(3, precision=name, **options).fit(pictures) for name in ("double", "auto"))
    assert change(pictures, double, auto)[0] <= SAFE


def test_unknown_precision_is_refused(pictures):
    with pytest.raises(ValueError, match="precision='half' is unknown"):
        SubsetKPCA(3, precision="half").fit(pictures)
