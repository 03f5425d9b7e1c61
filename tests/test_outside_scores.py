"""The part of the kernel matrix outside the column space of scores, which every transformer has."""

import numpy as np
import pytest
from scipy import sparse

from kpca_lab import FullKPCA, NystromKPCA, RandomFeatureKPCA, SubsetKPCA
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.metrics import empirical_error, residual_outside_scores
from kpca_lab.peers import SklearnKernelPCA, SklearnNystroem

KERNELS = [
    {"kernel": "rbf", "gamma": 0.1},
    {"kernel": "laplacian", "gamma": 0.1},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.1},
    {"kernel": "cosine"},
]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_it_is_the_trace_of_its_definition(kernel, center, rng):
    X, scores = rng.standard_normal((60, 4)) + 1.0, rng.standard_normal((60, 3))
    wanted = make_kernel(**kernel, n_features=4)
    centring = np.eye(60) - center / 60
    Q = np.linalg.qr(centring @ scores)[0]
    left = np.eye(60) - Q @ Q.T
    expected = np.trace(left @ centring @ wanted(X, X) @ centring @ left) / 60
    assert residual_outside_scores(scores, X, wanted, center=center) == pytest.approx(expected)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_for_full_kernel_pca_it_is_the_empirical_error(kernel, center, parabola):
    model = FullKPCA(1, **kernel, center=center).fit(parabola)
    wanted = make_kernel(**kernel, n_features=2)
    found = residual_outside_scores(model.transform(parabola), parabola, wanted, center=center)
    assert found == pytest.approx(empirical_error(model, parabola), rel=1e-8)


@pytest.mark.parametrize("center", [True, False])
def test_of_an_operator_it_lies_between_the_optimum_and_the_empirical_error(center, parabola):
    wanted = make_kernel("rbf", gamma=0.1, n_features=2)
    best = empirical_error(FullKPCA(4, gamma=0.1, center=center).fit(parabola), parabola)
    for method in (SubsetKPCA, NystromKPCA):
        for m in (8, 20, 60):
            model = method(4, gamma=0.1, n_basis=m, center=center, random_state=0).fit(parabola)
            found = residual_outside_scores(model.transform(parabola), parabola, wanted, center=center)
            assert best * (1 - 1e-9) <= found <= empirical_error(model, parabola) * (1 + 1e-9)
    every = SubsetKPCA(4, gamma=0.1, basis=np.arange(300), center=center).fit(parabola)
    found = residual_outside_scores(every.transform(parabola), parabola, wanted, center=center)
    assert found == pytest.approx(empirical_error(every, parabola), rel=1e-6)


def test_models_without_an_operator_are_served(parabola):
    wanted = make_kernel("rbf", gamma=0.1, n_features=2)
    best = empirical_error(FullKPCA(4, gamma=0.1).fit(parabola), parabola)
    for model in (
        SklearnKernelPCA(4, gamma=0.1),
        SklearnNystroem(4, gamma=0.1, n_basis=30, random_state=0),
        RandomFeatureKPCA(4, gamma=0.1, random_state=0),
    ):
        found = residual_outside_scores(model.fit_transform(parabola), parabola, wanted)
        assert best * (1 - 1e-7) <= found < 2 * best


def test_neither_scale_nor_basis_of_the_scores_matters(rng, parabola):
    wanted = make_kernel("rbf", gamma=0.1, n_features=2)
    scores = FullKPCA(3, gamma=0.1).fit_transform(parabola)
    expected = residual_outside_scores(scores, parabola, wanted)
    mixed = np.column_stack([scores @ rng.standard_normal((3, 3)) * [1.0, 1e-9, 1e9], scores[:, 0], scores])
    assert residual_outside_scores(mixed, parabola, wanted) == pytest.approx(expected, rel=1e-6)
    nothing = residual_outside_scores(np.full((300, 2), 7.0), parabola, wanted)
    assert nothing == pytest.approx(FullKPCA(gamma=0.1).fit(parabola).eigenvalues_.sum() / 300)


@pytest.mark.parametrize("gamma", [1e-6, 1e-10])
def test_digits_are_kept_where_the_kernel_is_nearly_constant(gamma, parabola):
    model = FullKPCA(1, gamma=gamma).fit(parabola)
    wanted = make_kernel("rbf", gamma=gamma, n_features=2)
    found = residual_outside_scores(model.transform(parabola), parabola, wanted)
    assert found == pytest.approx(empirical_error(model, parabola), rel=1e-6)


def test_sparse_samples_and_precomputed_kernels(parabola):
    wanted = make_kernel("rbf", gamma=0.1, n_features=2)
    scores = FullKPCA(3, gamma=0.1).fit_transform(parabola)
    expected = residual_outside_scores(scores, parabola, wanted)
    assert residual_outside_scores(scores, sparse.csr_array(parabola), wanted) == pytest.approx(expected)
    given = Kernel("precomputed", gram=wanted(parabola, parabola))
    assert residual_outside_scores(scores, np.arange(300), given) == pytest.approx(expected)


def test_of_many_samples_some_are_drawn(parabola):
    wanted = make_kernel("rbf", gamma=0.1, n_features=2)
    scores = FullKPCA(3, gamma=0.1).fit_transform(parabola)
    rows = np.sort(np.random.default_rng(4).choice(300, 150, replace=False))
    found = residual_outside_scores(scores, parabola, wanted, max_samples=150, random_state=4)
    assert found == residual_outside_scores(scores[rows], parabola[rows], wanted)
    assert found == pytest.approx(residual_outside_scores(scores, parabola, wanted), rel=0.2)
    with pytest.raises(ValueError, match="scores are of 300 samples, X has 10"):
        residual_outside_scores(scores, parabola[:10], wanted)
