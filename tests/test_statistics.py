import pickle

import numpy as np
import pytest
from sklearn.decomposition import PCA

from kpca_lab import SubsetKPCA
from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import empirical_error
from kpca_lab.span import Frame, SummationFrame
from kpca_lab.statistics import SpanStatistics


@pytest.fixture(params=["flat", "cliff", "few directions", "one point", "duplicates", "linear", "poly"])
def problem(request, rng):
    """A kernel and samples for every way of summing up; the basis are the first samples."""
    X = rng.standard_normal((300, 6))
    options = {"kernel": "rbf", "gamma": 0.1}
    if request.param == "cliff":
        options["gamma"] = 1e-8
    elif request.param == "few directions":
        X = X[:, :2]
    elif request.param == "one point":
        X[:30] = X[0]
    elif request.param == "duplicates":
        X[:15] = X[15:30]
    elif request.param in ("linear", "poly"):
        options = {"kernel": request.param, "degree": 2}
        X = X + 3
    return make_kernel(n_features=X.shape[1], **options), X


def explicit(kernel, frame, X):
    """Coordinates of the samples in the frame, one row each."""
    return frame.vectors.evaluate(kernel.anchored(X[:30]), X)


def test_sums_are_those_of_explicit_coordinates(problem):
    kernel, X = problem
    statistics = SpanStatistics(kernel, X[:30]).add(X)
    coordinates = explicit(kernel, statistics.frame, X)
    scale = np.abs(coordinates - coordinates.mean(axis=0)).max(axis=0)
    np.testing.assert_allclose(
        statistics.mean(), coordinates.mean(axis=0), atol=1e-6 * np.abs(coordinates).max()
    )
    centred = coordinates - coordinates.mean(axis=0)
    tolerance = 1e-7 * 300 * np.outer(scale, scale) + 1e-8 * 300 * scale.max() ** 2
    assert (np.abs(statistics.scatter() - centred.T @ centred) <= tolerance).all()


def test_frame_is_orthonormal_and_spans_the_basis(problem):
    kernel, X = problem
    kernel = kernel.anchored(X[:30])
    frame = SummationFrame.of(kernel, X[:30]).frame
    gram = frame.vectors.inner(kernel, frame.vectors)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-5)
    reference = Frame.of(kernel, X[:30], tol=1e-13)
    captured = [np.sum(explicit(kernel, f, X) ** 2) for f in (frame, reference)]
    assert captured[0] == pytest.approx(captured[1], rel=1e-10)


def test_merged_statistics_are_those_of_all_samples(problem):
    kernel, X = problem
    whole = SpanStatistics(kernel, X[:30]).add(X)
    parts = [SpanStatistics(kernel, X[:30]).add(chunk) for chunk in np.array_split(X, 3)]
    merged = pickle.loads(pickle.dumps(parts[0])).merge(parts[1]).merge(pickle.loads(pickle.dumps(parts[2])))
    assert merged.n_samples == 300
    np.testing.assert_allclose(merged.mean(), whole.mean(), rtol=1e-7, atol=1e-12)
    largest = np.abs(whole.scatter()).max()
    np.testing.assert_allclose(merged.scatter(), whole.scatter(), rtol=1e-6, atol=1e-9 * largest)


def test_kernel_values_may_be_centred_after_they_are_summed_up(rng):
    """Blocks near the basis are summed up as they are, far ones in coordinates; together they are right."""
    X = rng.standard_normal((400, 5))
    X[300:] += 50.0
    kernel = make_kernel("rbf", gamma=0.2, n_features=5)
    always, never, mixed = (SpanStatistics(kernel, X[:40]) for _ in range(3))
    always._plain_limit, never._plain_limit = np.inf, 0.0
    parts = np.array_split(X, 4)
    for statistics in (always, never, mixed):
        for part in parts:
            statistics.add(part)
    assert np.ndim(mixed._plain) and np.ndim(mixed._turned)
    expected = never.scatter()
    for statistics in (always, mixed):
        np.testing.assert_allclose(statistics.mean(), never.mean(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(statistics.scatter(), expected, rtol=1e-9, atol=1e-12 * expected.max())
        assert statistics.outside(statistics.scatter()) == pytest.approx(never.outside(expected), rel=1e-10)


def test_statistics_of_another_span_are_not_merged(rng):
    X = rng.standard_normal((50, 2))
    kernel, other = (make_kernel("rbf", gamma=gamma, n_features=2) for gamma in (0.1, 0.2))
    with pytest.raises(ValueError, match="same kernel and the same basis"):
        SpanStatistics(kernel, X[:5]).merge(SpanStatistics(other, X[:5]))
    with pytest.raises(ValueError, match="same kernel and the same basis"):
        SpanStatistics(kernel, X[:5]).merge(SpanStatistics(kernel, X[:6]))


@pytest.mark.parametrize("gamma", [1e-4, 1e-6, 1e-8, 1e-10])
def test_narrow_kernels_end_in_linear_pca(gamma, rng):
    """For gamma to 0 the error is 2 gamma times that of PCA of the samples, whatever their number."""
    X = rng.standard_normal((6000, 12)) @ np.diag(np.geomspace(1, 0.1, 12))
    linear = PCA().fit(X).explained_variance_[4:].sum() * 5999 / 6000
    model = SubsetKPCA(4, gamma=gamma, n_basis=150, random_state=0).fit(X)
    assert empirical_error(model, X) == pytest.approx(2 * gamma * linear, rel=max(1e-6, 30 * gamma))


def test_directions_far_below_the_largest_are_kept(rng):
    """At gamma = 1e-8 products of features are 1e-8 of the features, and among the components."""
    X = rng.standard_normal((2000, 4))
    products = np.column_stack([X[:, i] * X[:, j] * (1 if i == j else 2**0.5)
                                for i in range(4) for j in range(i, 4)])  # fmt: skip
    gamma = 1e-8
    features = np.column_stack([(2 * gamma) ** 0.5 * X, 2**0.5 * gamma * products, -gamma * (X**2).sum(1)])
    model = SubsetKPCA(10, gamma=gamma, n_basis=60, random_state=0).fit(X)
    square = np.sort(np.linalg.eigvalsh(2000 * np.cov((features / gamma**0.5).T, bias=True)))[::-1] * gamma
    np.testing.assert_allclose(model.eigenvalues_, square[:10], rtol=1e-4)
