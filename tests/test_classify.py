"""The subspace classifier."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from kpca_lab import FullKPCA, NystromKPCA, SubsetKPCA
from kpca_lab.classify import SubspaceClassifier, residuals_by_rank


@parametrize_with_checks(
    [
        SubspaceClassifier(),
        SubspaceClassifier(n_components=3),
        SubspaceClassifier(SubsetKPCA(center=False, n_basis=0.5, random_state=0)),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, random_state=0, stratify=y)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", [FullKPCA, SubsetKPCA])
def test_digits_are_recognised(method, center, digits):
    X, Z, y, labels = digits
    options = {} if method is FullKPCA else {"n_basis": 0.4, "random_state": 0}
    model = SubspaceClassifier(method(20, gamma=0.05, center=center, **options)).fit(X, y)
    assert model.score(Z, labels) > 0.97
    for r, predicted in zip([5, 10, 20], model.predict_all(Z, [5, 10, 20]).T):
        assert np.mean(predicted == labels) > 0.93, r


@pytest.mark.parametrize("center", [True, False])
def test_linear_kernel_is_clafic(center, digits):
    X, Z, y, labels = digits
    model = SubspaceClassifier(FullKPCA(15, kernel="linear", center=center)).fit(X, y)
    residuals = []
    for name in range(10):
        mean = X[y == name].mean(axis=0) if center else 0.0
        axes = np.linalg.svd(X[y == name] - mean, full_matrices=False)[2][:15]
        centred = Z - mean
        residuals.append(np.sum((centred - centred @ axes.T @ axes) ** 2, axis=1))
    np.testing.assert_allclose(model.residuals(Z), np.column_stack(residuals), atol=1e-9)
    np.testing.assert_array_equal(model.predict(Z), np.argmin(residuals, axis=0))
    assert model.score(Z, labels) > 0.95


OPERATORS = {
    "projector": FullKPCA(6, gamma=0.2),
    "projector, not centred": FullKPCA(6, gamma=0.2, center=False),
    "not orthonormal": NystromKPCA(6, gamma=0.2, n_basis=15, random_state=0),
    "with different sides": SubsetKPCA(
        6, gamma=0.2, basis=np.random.default_rng(1).normal(0, 4, (12, 2)), outside_basis="general"
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_residuals_by_rank_are_those_of_the_truncated_operators(name, parabola):
    operator = OPERATORS[name].fit(parabola).operator_
    ranks = [0, 3, 1, 6, 100]
    residuals = residuals_by_rank(operator, parabola, ranks)
    expected = [operator.truncate(min(r, operator.rank)).residual(parabola) for r in ranks]
    np.testing.assert_allclose(residuals, np.column_stack(expected), atol=1e-10)


def test_predictions_at_all_ranks_are_those_of_separate_fits(digits):
    X, Z, y, _ = digits
    model = SubspaceClassifier(FullKPCA(30, gamma=0.05)).fit(X, y)
    together = model.predict_all(Z, [2, 7, 30])
    assert together.shape == (len(Z), 3)
    for r, predicted in zip([2, 7, 30], together.T):
        alone = SubspaceClassifier(FullKPCA(r, gamma=0.05)).fit(X, y)
        np.testing.assert_array_equal(predicted, alone.predict(Z))
        np.testing.assert_array_equal(predicted, model.set_params(n_components=r).predict(Z))
        np.testing.assert_allclose(model.residuals(Z, r), alone.residuals(Z), atol=1e-10)


def test_class_names_and_decisions():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SubspaceClassifier(FullKPCA(8, gamma=0.1)).fit(X, names)
    assert model.decision_function(X).shape == (150, 3)
    np.testing.assert_array_equal(model.decision_function(X), -model.residuals(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert model.score(X, names) > 0.95
    two = SubspaceClassifier(FullKPCA(8, gamma=0.1)).fit(X[:100], names[:100])
    decision = two.decision_function(X[:100])
    np.testing.assert_array_equal(two.predict(X[:100]) == "versicolor", decision > 0)


def test_small_classes_use_the_components_that_they_have(rng):
    X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(8, 1, (3, 2))])
    y = np.repeat([0, 1], [30, 3])
    model = SubspaceClassifier(FullKPCA(10, gamma=0.1, center=False)).fit(X, y)
    assert [estimator.n_components_ for estimator in model.estimators_] == [10, 3]
    np.testing.assert_array_equal(model.predict_all(X, [1, 10]), np.column_stack([y, y]))


def test_a_tie_goes_to_the_first_class():
    X = np.tile(np.random.default_rng(0).standard_normal((10, 3)), (2, 1))
    y = np.repeat(["b", "a"], 10)
    model = SubspaceClassifier(FullKPCA(4)).fit(X, y)
    assert set(model.predict(X)) == {"a"}
    assert set(model.predict_all(X, [1, 3]).ravel()) == {"a"}


def test_wrong_use_is_explained(digits):
    X, _, y, _ = digits
    with pytest.raises(ValueError, match="precomputed"):
        SubspaceClassifier(FullKPCA(kernel="precomputed")).fit(X, y)
    with pytest.raises(ValueError, match="Class 1 cannot be fitted"):
        SubspaceClassifier(FullKPCA(2)).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    model = SubspaceClassifier(FullKPCA(5)).fit(X[:200], y[:200])
    for ranks in ([], [-1], [1.5], [[1, 2]]):
        with pytest.raises(ValueError, match="must be integers >= 0"):
            model.predict_all(X[:5], ranks)


def test_usps_errors_are_the_published_ones():
    """Full KPCA of all training images: 4.78 % and 4.83 % of the 2007 test images are 96 and 97."""
    folder = Path(os.environ.get("KPCA_LAB_MIRROR", "")) / "usps"
    if "KPCA_LAB_MIRROR" not in os.environ or not folder.exists():
        pytest.skip("set KPCA_LAB_MIRROR to a folder with usps/zip.train.gz to compare with the paper")
    data = []
    for part in ("train", "test"):
        with gzip.open(folder / f"zip.{part}.gz", "rt") as file:
            data.append(np.loadtxt(file))
    (y, X), (labels, Z) = ((part[:, 0].astype(int), part[:, 1:]) for part in data)
    model = SubspaceClassifier(FullKPCA(200, gamma=1e-2, center=False)).fit(X, y)
    errors = np.sum(model.predict_all(Z, [140, 160, 180, 200]) != labels[:, None], axis=0)
    assert ((errors >= 95) & (errors <= 97)).all(), errors
