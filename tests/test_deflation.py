"""Eigenpairs beside one that is far larger: to their own digits, not to those of the largest."""

from fractions import Fraction

import numpy as np
import pytest

from kpca_lab import FullKPCA, SubsetKPCA
from kpca_lab.deflation import eigenpairs_beside
from kpca_lab.linalg import top_eigenpairs
from kpca_lab.metrics import empirical_error


@pytest.mark.parametrize("scale", [1.0, 1e-2, 1e-4, 1e-12])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_pairs_solve_the_eigenproblem_of_the_whole(scale, k, rng):
    factor = rng.standard_normal((6, 6)) * 10.0 ** -np.arange(6)
    A, a = scale * factor.T @ factor, rng.standard_normal(6)
    values, vectors, rest = eigenpairs_beside(A, a, k)
    whole = A + np.outer(a, a)
    expected = top_eigenpairs(whole, k)[0]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14 * expected[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-13)
    np.testing.assert_allclose(whole @ vectors, vectors * values, atol=1e-13 * expected[0])
    assert abs(values.sum() + rest - whole.trace()) < 1e-13 * whole.trace()


def test_small_eigenvalues_keep_their_digits(rng):
    directions = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    small = np.array([0.0, 4e-16, 3e-18, 2e-20, 1e-22])
    a = directions[:, 0] * 7.0
    values, _, rest = eigenpairs_beside(directions * small @ directions.T, a, 3)
    np.testing.assert_allclose(values, [49.0, 4e-16, 3e-18], rtol=1e-10)
    assert np.isclose(rest, 2.01e-20, rtol=1e-8)


def exact_uncentred_error(X, gamma, places=60):
    """The mean residual of rank one: tail of the spectrum of exp(-gamma d^2), by rational arithmetic.

    ``trace K - largest eigenvalue``, the latter by power iteration, which converges at once: its ratio is
    that of the first two eigenvalues, about gamma.
    """
    unit = 10**places

    def exponential(x):
        total, term = Fraction(1), Fraction(1)
        for power in range(1, 12):
            term *= x / power
            total += term
        return total

    rows = [[Fraction(float(value)) for value in row] for row in X]
    K = [
        [exponential(-Fraction(gamma) * sum((a - b) ** 2 for a, b in zip(x, y))) for y in rows] for x in rows
    ]
    K = [[round(value * unit) for value in row] for row in K]
    vector = [unit] * len(K)
    for _ in range(8):
        image = [sum(a * b for a, b in zip(row, vector)) // unit for row in K]
        largest = sum(a * b for a, b in zip(image, vector)) * unit // sum(a * a for a in vector)
        vector = [value * unit // image[0] for value in image]
    return float(Fraction(len(K) * unit - largest, unit * len(K)))


@pytest.mark.parametrize("gamma", [1e-4, 1e-7, 1e-10])
def test_uncentred_errors_have_their_digits_down_to_narrow_widths(gamma, rng):
    X = rng.standard_normal((30, 3))
    expected = exact_uncentred_error(X, gamma)
    subset = SubsetKPCA(1, gamma=gamma, center=False, basis=np.arange(30)).fit(X)
    full = FullKPCA(1, gamma=gamma, center=False).fit(X)
    for error in (subset.error_, empirical_error(subset, X), empirical_error(full, X)):
        assert np.isclose(error, expected, rtol=1e-7)
    assert subset.error_floor_ <= expected * (1 + 1e-12) and subset.gap_bound_ < 1e-5


@pytest.mark.parametrize("n_rows", [400, 20_000])
@pytest.mark.parametrize("gamma", [1e-6, 1e-10])
def test_uncentred_errors_by_all_ways_agree_at_any_size(n_rows, gamma, rng):
    X = rng.standard_normal((n_rows, 3))
    model = SubsetKPCA(3, gamma=gamma, center=False, n_basis=40, random_state=0).fit(X)
    assert np.isclose(model.error_, empirical_error(model, X), rtol=1e-6)
    # To first order in gamma this is linear PCA beside the constant: 2 gamma times the least variance.
    spread = np.cov(X.T, bias=True)
    assert np.isclose(model.error_, 2 * gamma * np.linalg.eigvalsh(spread)[0], rtol=1e-3)
