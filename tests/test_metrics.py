import numpy as np
import pytest
from sklearn.decomposition import PCA

from kpca_lab import FullKPCA, ImprovedKPCA, NystromKPCA, SubsetKPCA
from kpca_lab.metrics import (
    empirical_error,
    normalized_empirical_error,
    operator_distance,
    validation_error,
)


def test_error_of_full_kpca_is_the_sum_of_the_other_eigenvalues(parabola):
    every = FullKPCA(gamma=0.1).fit(parabola).eigenvalues_
    model = FullKPCA(5, gamma=0.1).fit(parabola)
    assert empirical_error(model, parabola) == pytest.approx(every[5:].sum() / 300, rel=1e-9)  # Eq. (32)


def test_linear_kernel_gives_the_error_of_pca(rng):
    X, new = rng.standard_normal((80, 6)), rng.standard_normal((30, 6))
    pca = PCA(3).fit(X)
    model = FullKPCA(3, kernel="linear").fit(X)
    for samples in (X, new):
        lost = samples - pca.inverse_transform(pca.transform(samples))
        assert validation_error(model, samples) == pytest.approx((lost**2).sum(axis=1).mean())


def test_distance_of_projectors_is_that_of_their_matrices(rng):
    X, Y = rng.standard_normal((50, 6)), rng.standard_normal((40, 6))
    first, second = (FullKPCA(2, kernel="linear").fit(data) for data in (X, Y))
    P, Q = (PCA(2).fit(data).components_ for data in (X, Y))
    distance = operator_distance(first, second)
    assert distance.d == pytest.approx(np.linalg.norm(P.T @ P - Q.T @ Q))
    assert distance.d2 == pytest.approx(distance.d**2)
    assert distance.d2_per_component == pytest.approx(distance.d**2 / 2)


def test_distance_of_general_operators(rng):
    """A basis outside the samples' span has different left and right vectors, improved KPCA no projector."""
    X, basis = rng.standard_normal((3, 6)), rng.standard_normal((5, 6))
    options = {"kernel": "linear", "basis": basis, "center": False, "outside_basis": "general"}
    first, second = SubsetKPCA(2, **options).fit(X), ImprovedKPCA(2, **options).fit(X)

    def matrix(model):
        left, right = model.operator_.left, model.operator_.right
        return left.points.T @ left.coefficients @ right.coefficients.T @ right.points

    distance = operator_distance(first, second)
    assert distance.d == pytest.approx(np.linalg.norm(matrix(first) - matrix(second)))


def test_normalized_error_and_plain_operators(parabola):
    full = FullKPCA(5, gamma=0.1, center=False).fit(parabola)
    model = NystromKPCA(5, gamma=0.1, n_basis=50, center=False, random_state=0).fit(parabola)
    ratio = normalized_empirical_error(model.operator_, full, parabola)
    assert ratio == empirical_error(model, parabola) / empirical_error(full, parabola) > 1
    assert isinstance(empirical_error(model, parabola), float)


def test_what_cannot_be_compared_is_refused(parabola):
    first, second = (FullKPCA(2, gamma=gamma).fit(parabola) for gamma in (0.1, 0.2))
    with pytest.raises(ValueError, match=r"their kernels are \('rbf', 0.1\) and \('rbf', 0.2\)"):
        operator_distance(first, second)
    with pytest.raises(TypeError, match="must be fitted first"):
        empirical_error(FullKPCA(2), parabola)


def test_errors_with_a_precomputed_kernel(parabola):
    gram = np.exp(-0.1 * ((parabola[:, None] - parabola[None]) ** 2).sum(axis=2))
    given = FullKPCA(4, kernel="precomputed").fit(gram)
    direct = FullKPCA(4, gamma=0.1).fit(parabola)
    assert empirical_error(given, np.arange(300)) == pytest.approx(empirical_error(direct, parabola))
    with pytest.raises(ValueError, match="only for training samples"):
        empirical_error(given, gram[:5])


def test_ratios_of_rounding_are_not_ratios_of_errors(rng):
    X = rng.standard_normal((50, 3))
    full = FullKPCA(3, kernel="linear").fit(X)
    subset = SubsetKPCA(3, kernel="linear", n_basis=20, random_state=0).fit(X)
    assert normalized_empirical_error(subset, full, X) == 1.0
    assert normalized_empirical_error(full, full, X) == 1.0
    assert normalized_empirical_error(FullKPCA(2, kernel="linear").fit(X), full, X) == np.inf
    same = np.ones((5, 2))
    assert normalized_empirical_error(FullKPCA(2).fit(same), FullKPCA(2).fit(same), same) == 1.0
