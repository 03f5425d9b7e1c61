"""Facts that tie the methods together, and the papers' numbers that need no downloaded data."""

import numpy as np
import pytest

from kpca_lab import FullKPCA, ImprovedKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.datasets import load_dataset
from kpca_lab.metrics import empirical_error, normalized_empirical_error


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 80)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-1, 1) + rng.choice([0, 10, 1000])
    basis = rng.choice(n, int(rng.integers(1, n + 1)), replace=False)
    options = [
        {"kernel": "rbf", "gamma": 10 ** rng.uniform(-6, 1)},
        {"kernel": "poly", "degree": int(rng.integers(1, 4)), "gamma": 1 / d},
        {"kernel": "laplacian", "gamma": 10 ** rng.uniform(-3, 1)},
    ][rng.integers(3)]
    return X, basis, int(rng.integers(1, 9)), options


@pytest.mark.parametrize("centred", [False, True])
def test_subset_kpca_lies_between_reduced_and_full_kpca(centred):
    """For the same basis and centroid, on 200 random problems; rounding is relative to the total variance."""
    for seed in range(200):
        X, basis, r, options = random_problem(seed)
        full = FullKPCA(r, center=centred, **options).fit(X)
        reduced = ReducedKPCA(r, basis=basis, center=centred, **options).fit(X)
        same_centroid = "basis" if centred else False
        subset = SubsetKPCA(r, basis=basis, center=same_centroid, **options).fit(X)
        best = SubsetKPCA(r, basis=basis, center=centred, **options).fit(X)
        rounding = 1e-10 * full.operator_.truncate(0).residual(X).mean()
        assert empirical_error(subset, X) <= empirical_error(reduced, X) + rounding, seed
        assert empirical_error(best, X) >= empirical_error(full, X) - rounding, seed


def test_table_1_random_basis():
    """Washizawa 2012, Table 1, first row, on the calibrated parabola: within the printed mean +- SD."""
    X = load_dataset("artificial2d").X
    options = {"gamma": 0.1, "center": False}
    full = FullKPCA(5, **options).fit(X)
    assert empirical_error(full, X) == pytest.approx(0.2063, abs=5e-5)
    ratios = []
    for trial in range(20):
        basis = np.random.default_rng([2012, trial]).choice(1000, 50, replace=False)
        models = [
            method(5, basis=basis, **options).fit(X) for method in (SubsetKPCA, ReducedKPCA, ImprovedKPCA)
        ]
        ratios.append([normalized_empirical_error(model, full, X) for model in models])
    subset, reduced, improved = np.mean(ratios, axis=0)
    assert abs(subset - 1.0025) <= 0.0019
    assert abs(reduced - 1.1420) <= 0.0771
    assert improved == pytest.approx(4.7998, abs=1e-3)
