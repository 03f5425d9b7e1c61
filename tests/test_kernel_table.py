"""The table of kernel values: what comes out of it is what would have been computed, and computed once."""

import numpy as np
import pytest

from kpca_lab import CholeskyKPCA, FullKPCA, NystromKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.kernel_table import KernelTable, use_table
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.metrics import empirical_error, operator_distance


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 5))


@pytest.fixture
def counted(monkeypatch):
    """Numbers of the samples whose distances to all others were computed, in order."""
    numbers = []
    original = KernelTable._square_distances

    def compute(self, rows):
        numbers.extend(rows.tolist())
        return original(self, rows)

    monkeypatch.setattr(KernelTable, "_square_distances", compute)
    return numbers


def kernel(name):
    if name == "callable":
        return make_kernel(lambda x, y: np.exp(-abs(x - y).max()), n_features=5)
    return make_kernel(name, gamma=0.3, n_features=5)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "sigmoid", "cosine", "callable", "linear", "poly"])
def test_values_are_those_that_would_have_been_computed(X, name):
    own, rows, columns = kernel(name), X[[5, 9, 5, 40]], X[7:30]
    with use_table(KernelTable(X)):
        for first, second in ((rows, columns), (columns, rows), (X, columns), (rows, X), (X, X)):
            expected = own.computed_core(first, second)
            np.testing.assert_allclose(own.core(first, second), expected, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(
            own.core_columns(X[10:20])(3), own.computed_core(X[10:20], X[13:14])[:, 0], rtol=1e-13, atol=1e-14
        )


def test_what_is_taken_out_may_be_changed(X):
    own, table = kernel("rbf"), KernelTable(X)
    with use_table(table):
        for part in (X, X[:10]):
            own.core(part, X)[:] = 7.0
            own.core(X, part)[:] = 7.0
            np.testing.assert_allclose(own.core(part, X), own.computed_core(part, X), atol=1e-14)


def test_other_rows_are_computed_as_without_a_table(X):
    own, new = kernel("rbf"), np.random.default_rng(1).standard_normal((8, 5))
    with use_table(KernelTable(X)):
        np.testing.assert_array_equal(own.core(new, X), own.computed_core(new, X))
        np.testing.assert_array_equal(own.core(X, new), own.computed_core(X, new))
        almost = X[:4] + 1e-15
        np.testing.assert_array_equal(own.core(almost, X), own.computed_core(almost, X))
        np.testing.assert_array_equal(own.core(X[:, :3], X[:, :3]), own.computed_core(X[:, :3], X[:, :3]))


def test_outside_of_the_context_nothing_is_looked_up(X, counted):
    table = KernelTable(X)
    with use_table(table), use_table(None):
        kernel("rbf").core(X, X)
    kernel("rbf").core(X, X)
    assert counted == []


def test_rows_of_round_numbers_and_repeated_rows_are_told_apart():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (400, 4)).astype(float)  # most rows stand there several times
    own = kernel("rbf")
    with use_table(KernelTable(X)):
        found = own.core(X, X[::-1])
    np.testing.assert_allclose(found, own.computed_core(X, X[::-1]), atol=1e-14)
    same = (X[:, None] == X[::-1][None]).all(axis=2)
    assert (found[same] == 0).all(), "the distance of equal samples is zero, without rounding"


def test_single_precision_samples_are_recognised(X, counted):
    single = X.astype(np.float32)
    with use_table(KernelTable(single)):
        found = kernel("rbf").core(single[:5], single)
    assert counted == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(found, kernel("rbf").core(single[:5], single), atol=1e-14)


def test_close_pairs_of_samples_with_huge_norms_keep_their_digits():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.standard_normal((20, 3)) * 1e6, 2, axis=0)
    X[1::2] += rng.standard_normal((20, 3)) * 1e-2
    own = Kernel("rbf", gamma=1e3)
    exact = np.expm1(-1e3 * np.square(X[:, None] - X[None]).sum(axis=2))
    with use_table(KernelTable(X)):
        np.testing.assert_allclose(own.core(X, X), exact, rtol=1e-6)


def test_only_rows_that_are_asked_for_are_computed_and_each_once_for_all_widths(X, counted):
    with use_table(KernelTable(X)):
        for gamma in (0.1, 1.0):
            own = Kernel("rbf", gamma=gamma)
            own.core(X, X[3:6])
            own.core(X[4:8], X)
            own.core(X[4:6], X[10:50])
    assert counted == [3, 4, 5, 6, 7]


def test_all_methods_share_one_matrix_and_give_what_they_give_alone(X, counted):
    def figures(gamma):
        full = FullKPCA(4, gamma=gamma).fit(X)
        others = [
            SubsetKPCA(4, gamma=gamma, n_basis=20, random_state=0).fit(X),
            ReducedKPCA(4, gamma=gamma, n_basis=20, random_state=0).fit(X),
            NystromKPCA(4, gamma=gamma, n_basis=20, random_state=0).fit(X),
            CholeskyKPCA(4, gamma=gamma, n_basis=20).fit(X),
        ]
        return [(empirical_error(model, X), operator_distance(model, full).d2) for model in (full, *others)]

    alone = [figures(gamma) for gamma in (0.05, 0.2)]
    assert counted == []
    with use_table(KernelTable(X)):
        together = [figures(gamma) for gamma in (0.05, 0.2)]
    assert sorted(counted) == list(range(60))
    np.testing.assert_allclose(together, alone, rtol=1e-8, atol=1e-12)


def test_a_table_is_refused_to_more_samples_than_memory_is_meant_for():
    assert KernelTable.fits(5000) and not KernelTable.fits(6000)
