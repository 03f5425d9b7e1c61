import numpy as np
import pytest

from kpca_lab import SubsetKPCA, precision
from kpca_lab.precision import SAFE, SOME_SAMPLES, measured_change, rows_to_measure
from kpca_lab.rows import as_rows
from kpca_lab.statistics import SpanStatistics


@pytest.fixture
def pictures(rng):
    return rng.random((600, 300)) * (rng.random((600, 300)) < 0.3)


@pytest.fixture
def few_samples_are_worth_it(monkeypatch):
    monkeypatch.setattr(precision, "MANY_SAMPLES", 600)


def fitted(pictures, n_components, **options):
    return SubsetKPCA(n_components, n_basis=60, random_state=0, **options).fit(pictures)


def change(model, other):
    eigenvalues = np.abs(other.eigenvalues_ / model.eigenvalues_ - 1).max()
    return max(eigenvalues, abs(other.error_ / model.error_ - 1))


@pytest.mark.usefixtures("few_samples_are_worth_it")
@pytest.mark.parametrize("gamma", [1e-6, 1e-4, 1e-2, 1.0])
def test_automatic_precision_is_safe(gamma, pictures):
    double, auto = (fitted(pictures, 3, gamma=gamma, precision=name) for name in ("double", "auto"))
    assert change(double, auto) <= SAFE


@pytest.mark.usefixtures("few_samples_are_worth_it")
def test_automatic_precision_is_single_for_leading_components_of_pictures(pictures):
    double, auto = (fitted(pictures, 3, gamma=1e-2, precision=name) for name in ("double", "auto"))
    assert change(double, auto) > 0


@pytest.mark.usefixtures("few_samples_are_worth_it")
def test_automatic_precision_is_double_where_single_would_spoil_eigenvalues(pictures):
    """Near copies of basis points make a basis whose smallest directions single precision does not see."""
    basis = np.concatenate([pictures[:30], pictures[:30] + 1e-5])
    double, auto, mixed = (
        SubsetKPCA(45, basis=basis, gamma=1e-2, precision=name).fit(pictures)
        for name in ("double", "auto", "mixed")
    )
    np.testing.assert_array_equal(auto.eigenvalues_, double.eigenvalues_)
    assert change(double, mixed) > SAFE


def test_rows_longer_than_those_measured_are_left_to_double_precision(pictures):
    kernel = fitted(pictures, 3, gamma=1e-2).operator_.kernel
    statistics, double = (SpanStatistics(kernel, pictures[:60]) for _ in range(2))
    statistics.allow_single_precision(pictures, 3)
    far = 100 * pictures
    np.testing.assert_array_equal(statistics.add(far).scatter(), double.add(far).scatter())
    statistics, double = statistics.fresh().add(pictures), double.fresh().add(pictures)
    assert np.any(statistics.scatter() != double.scatter())


def test_measured_change_is_that_of_eigenvalues_and_error(rng):
    coordinates = rng.standard_normal((200, 8)) * 2.0 ** -np.arange(8)
    changes = 1e-5 * rng.standard_normal((200, 8))
    outside, outside_change = rng.random(200), 1e-6 * rng.random(200)

    def eigenvalues_and_error(points, left):
        centred = points - points.mean(axis=0)
        values = np.linalg.eigvalsh(centred.T @ centred)[::-1][:3]
        return np.append(values, np.sum(centred**2) + left.sum() - values.sum())

    before = eigenvalues_and_error(coordinates, outside)
    after = eigenvalues_and_error(coordinates + changes, outside + outside_change)
    squares = np.sum(coordinates**2, axis=1) + outside
    square_changes = np.sum((coordinates + changes) ** 2, axis=1) + outside + outside_change - squares
    found = measured_change(coordinates, changes, squares, square_changes, 3)
    assert found == pytest.approx(np.abs(after / before - 1).max(), rel=1e-3)


def test_precision_is_measured_only_where_it_can_save_time():
    rows = rows_to_measure(np.broadcast_to(0.0, (60000, 784)))
    assert (rows[0], rows[-1], len(set(rows))) == (0, 59999, SOME_SAMPLES)
    assert rows_to_measure(np.broadcast_to(0.0, (60000, 50))) is None
    assert rows_to_measure(np.broadcast_to(0.0, (1000, 784))) is None
    assert rows_to_measure(as_rows(iter([np.zeros((5, 784))]))) is None


def test_unknown_precision_is_refused(pictures):
    with pytest.raises(ValueError, match="precision='half' is unknown"):
        SubsetKPCA(3, precision="half").fit(pictures)
