"""The bound on the distance to full KPCA: never below the truth, and nothing with all samples as basis."""

import numpy as np
import pytest

from kpca_lab import CholeskyKPCA, FullKPCA, ImprovedKPCA, NystromKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.gap import gap, relative_gap
from kpca_lab.metrics import empirical_error

KERNELS = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "rbf", "gamma": 1e-3},
    {"kernel": "laplacian", "gamma": 0.2},
    {"kernel": "poly", "degree": 2, "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "cosine"},
]
CENTRINGS = [False, True, "mean", "basis"]


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 60)), int(rng.integers(2, 6))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-1, 1, d) + rng.choice([0.0, 3.0])
    if rng.random() < 0.3:
        X[: n // 2] = X[n // 2 : n // 2 + n // 2]
    options = KERNELS[seed % len(KERNELS)] | {"center": CENTRINGS[seed // len(KERNELS) % len(CENTRINGS)]}
    return X, int(rng.integers(1, 6)), int(rng.integers(2, n + 1)), options


def full_error(X, r, options, basis):
    """The least error of an operator of rank r that subtracts the same."""
    if options["center"] != "basis":
        full = FullKPCA(r, **options | {"center": bool(options["center"])}).fit(X)
        return empirical_error(full, X)
    reference = SubsetKPCA(r, basis=basis, **options).fit(X)
    about = reference.operator_.mean
    kernel = reference.operator_.kernel
    with_mean = about.evaluate(kernel, X)[:, 0]
    gram = kernel(X, X) - with_mean - with_mean[:, None] + about.inner(kernel, about)[0, 0]
    return max(np.linalg.eigvalsh(gram)[: max(len(X) - r, 0)].sum(), 0.0) / len(X)


@pytest.mark.parametrize("part", range(10))
def test_bound_is_never_below_the_truth(part):
    """On 300 random problems: kernels, centrings, ranks, duplicates."""
    for seed in range(30 * part, 30 * part + 30):
        X, r, m, options = random_problem(seed)
        basis = np.random.default_rng(seed).choice(len(X), m, replace=False)
        r = min(r, m)
        model = SubsetKPCA(r, basis=basis, **options).fit(X)
        error, best = empirical_error(model, X), full_error(X, r, options, basis)
        noise = 1e-11 * max(model.total_variance_, np.abs(model.operator_.kernel.diagonal(X)).mean())
        assert model.error_floor_ <= best + 1e-14 * model.total_variance_, (seed, options)
        if options["center"] == "mean":
            assert error <= model.error_ + noise, (seed, options)
        else:
            assert model.error_ == pytest.approx(error, rel=1e-7, abs=noise), (seed, options)
        assert error - best <= model.gap_bound_ * max(best, noise) + noise, (seed, options)


@pytest.mark.parametrize("center", CENTRINGS)
def test_bound_vanishes_with_all_samples_as_basis(center, parabola):
    model = SubsetKPCA(5, gamma=0.1, n_basis=300, center=center).fit(parabola)
    assert 0 <= model.gap_bound_ < 1e-8
    assert model.error_floor_ == pytest.approx(model.error_, rel=1e-8)


def test_errors_that_are_rounding_have_no_gap():
    assert relative_gap(1e-17, 0.0, 1e-15) == 0.0
    assert relative_gap(1e-3, 0.0, 1e-15) == np.inf
    assert relative_gap(3.0, 2.0, 0.0) == 0.5
    X = np.random.default_rng(0).standard_normal((50, 2))
    assert SubsetKPCA(2, kernel="linear", n_basis=10, random_state=0).fit(X).gap_bound_ == 0.0


@pytest.mark.parametrize("options", [
    {"outside_basis": "general"}, {"outside_basis": "include"}, {"criterion_rank": 12}, {},
])  # fmt: skip
def test_variants_know_their_error(options, parabola, rng):
    basis = parabola[:30] + rng.normal(0, 0.3, (30, 2))
    model = SubsetKPCA(4, gamma=0.1, basis=basis, **options).fit(parabola)
    samples = np.vstack([parabola, basis]) if options.get("outside_basis") == "include" else parabola
    assert model.error_ == pytest.approx(empirical_error(model, samples), rel=1e-8)
    full = FullKPCA(4, gamma=0.1).fit(samples)
    assert model.error_floor_ <= empirical_error(full, samples) <= model.error_


def test_other_methods(parabola):
    full = FullKPCA(4, gamma=0.1).fit(parabola)
    best = empirical_error(full, parabola)
    for method in (ReducedKPCA, NystromKPCA, ImprovedKPCA, CholeskyKPCA, SubsetKPCA):
        model = method(4, gamma=0.1, n_basis=60)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        found = gap(model.fit(parabola), parabola)
        assert found.error == empirical_error(model, parabola)
        assert found.floor <= best * (1 + 1e-10)
        assert found.error <= (1 + found.bound) * best * (1 + 1e-10)
    assert found.bound == pytest.approx(model.gap_bound_, rel=1e-6)
    improved = ImprovedKPCA(4, gamma=0.1, n_basis=60, random_state=0).fit(parabola)
    assert improved.error_ == pytest.approx(empirical_error(improved, parabola), rel=1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_estimate_lies_between_truth_and_bound(center, rng):
    X = rng.standard_normal((900, 4))
    model = SubsetKPCA(8, gamma=0.3, n_basis=60, center=center, random_state=0).fit(X)
    truth = model.error_ / empirical_error(FullKPCA(8, gamma=0.3, center=center).fit(X), X) - 1
    found = model.estimate_gap(X, n_samples=400, random_state=0)
    assert truth < found.estimate < model.gap_bound_
    assert found.error == model.error_ and found.n_samples == 400
    assert model.estimate_gap(X, n_samples=400, random_state=0) == found
    whole = model.estimate_gap(X, n_samples=10**6)
    assert whole.n_samples == 900
    assert truth <= whole.estimate < found.estimate + 3 * found.spread
    draws = [model.estimate_gap(X, n_samples=200, random_state=seed) for seed in range(12)]
    assert 0.4 < np.mean([one.spread for one in draws]) / np.std([one.estimate for one in draws]) < 2.5
