"""Kernels that cannot be computed with are refused: not symmetric, not positive, out of range."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels
from test_estimator_contract import ESTIMATORS

from kpca_lab import CholeskyKPCA, FullKPCA, IncrementalKPCA, SubsetKPCA
from kpca_lab.kernel_checks import NotPositiveWarning
from kpca_lab.metrics import empirical_error

WITH_KERNEL = [estimator for estimator in ESTIMATORS if "kernel" in estimator().get_params()]
PRECOMPUTED = [estimator for estimator in WITH_KERNEL if estimator is not IncrementalKPCA]


@pytest.mark.parametrize("estimator", PRECOMPUTED)
def test_matrix_that_is_not_symmetric_is_refused(estimator, rng):
    gram = pairwise_kernels(rng.standard_normal((30, 2)), metric="rbf")
    wrong = gram + 0.01 * rng.random((30, 30))
    for center in (True, False):
        model = estimator(n_components=2, kernel="precomputed", center=center)
        with pytest.raises(ValueError, match="not symmetric"):
            model.fit(wrong)


def test_numbers_added_to_whole_columns_vanish_with_centring(rng):
    gram = pairwise_kernels(rng.standard_normal((30, 2)), metric="rbf")
    added = gram + rng.standard_normal(30)
    expected = FullKPCA(3, kernel="precomputed").fit(gram)
    for matrix in (added, added.T):
        model = FullKPCA(3, kernel="precomputed").fit(matrix)
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(model.fit_transform(matrix), expected.fit_transform(gram), atol=1e-8)
    with pytest.raises(ValueError, match="not symmetric"):
        FullKPCA(3, kernel="precomputed", center=False).fit(added)


def test_a_matrix_and_its_transpose_give_the_same_fit(rng):
    gram = pairwise_kernels(rng.standard_normal((30, 2)), metric="rbf")
    gram += 1e-13 * rng.random((30, 30))
    first, second = (FullKPCA(3, kernel="precomputed").fit(matrix) for matrix in (gram, gram.T))
    assert first.eigenvalues_.tobytes() == second.eigenvalues_.tobytes()


@pytest.mark.parametrize("estimator", WITH_KERNEL)
@pytest.mark.parametrize("center", [True, False])
def test_kernels_without_a_feature_space_are_refused(estimator, center, rng):
    X = rng.standard_normal((60, 3))
    model = estimator(n_components=2, kernel="sigmoid")
    if "center" in model.get_params():
        model.set_params(center=center)
    if estimator is IncrementalKPCA:
        model.set_params(compression="select")
    with pytest.raises(ValueError, match=r"not positive semidefinite.*negative eigenvalue of 0\.\d+ times"):
        model.fit(X)


def with_eigenvalue(value, rng):
    vectors, _ = np.linalg.qr(rng.standard_normal((40, 40)))
    return vectors @ np.diag(np.append(np.linspace(1, 0.1, 39), value)) @ vectors.T


def test_negative_eigenvalues_raise_or_warn_by_their_size(rng):
    for value, outcome in ((-0.5, ValueError), (-1e-6, NotPositiveWarning), (-1e-13, None), (0.0, None)):
        gram = with_eigenvalue(value, rng)
        model = FullKPCA(3, kernel="precomputed", center=False)
        if outcome is ValueError:
            with pytest.raises(ValueError, match=r"0\.5 times the largest"):
                model.fit(gram)
        elif outcome is None:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model.fit(gram)
        else:
            with pytest.warns(NotPositiveWarning, match="1e-06 times the largest"):
                model.fit(gram)


@pytest.mark.parametrize("gamma", [1 / 3, 0.1, 0.01, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("coef0", [1.0, 0.0, -1.0])
def test_sigmoid_kernels_are_judged_by_their_negative_part(gamma, coef0, rng):
    """Nearly straight ones pass, with a warning; the limit is the one of scikit-learn."""
    X = rng.standard_normal((150, 3))
    gram = np.tanh(gamma * X @ X.T + coef0)
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    eigenvalues = np.linalg.eigvalsh(gram)
    share = -eigenvalues[0] / eigenvalues[-1]
    ours = FullKPCA(2, kernel="sigmoid", gamma=gamma, coef0=coef0)
    theirs = KernelPCA(kernel="sigmoid", gamma=gamma, coef0=coef0, eigen_solver="dense")
    if share > 1e-5:
        for model in (ours, theirs):
            with pytest.raises(ValueError, match=r"not positive semidefinite|not PSD"):
                model.fit(X)
        return
    theirs.fit(X)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours.fit(X)
    if share > 1e-7 or share < 1e-11:
        assert any(entry.category is NotPositiveWarning for entry in told) == (share > 1e-7)


def test_single_precision_is_no_reason_to_refuse(rng):
    X = rng.standard_normal((80, 2)).astype(np.float32)
    gram = pairwise_kernels(X, metric="rbf").astype(np.float32)
    assert FullKPCA(3, kernel="precomputed").fit(gram).n_components_ == 3


def test_callables_are_checked_too(rng):
    X = rng.standard_normal((200, 2))
    for function, message in (
        (lambda x, y: float(x @ y + x[0]), "not symmetric"),
        (lambda x, y: -float(x @ y), "not positive"),
        (lambda x, y: np.nan, "not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            SubsetKPCA(2, kernel=function).fit(X)


def test_additive_chi2_has_a_feature_space_only_when_centred(rng):
    X = rng.random((50, 3))
    assert FullKPCA(2, kernel="additive_chi2").fit(X).n_components_ == 2
    with pytest.raises(ValueError, match="not positive"):
        FullKPCA(2, kernel="additive_chi2", center=False).fit(X)


def test_methods_that_need_more_than_differences_refuse_kernels_that_have_no_more(rng):
    """Cholesky found nothing in such a kernel, and compressed components had an error below the optimum."""
    X = rng.dirichlet(np.ones(6), 200)
    distances = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    with pytest.raises(ValueError, match="not positive"):
        CholeskyKPCA(3, kernel="additive_chi2").fit(X)
    with pytest.raises(ValueError, match="not positive"):
        CholeskyKPCA(3, kernel="precomputed").fit(-distances)
    with pytest.raises(ValueError, match="use compression=None"):
        IncrementalKPCA(3, kernel="additive_chi2", compression="select").fit(X)
    with pytest.raises(ValueError, match="not positive"):
        IncrementalKPCA(1, kernel="poly", degree=1, coef0=-1, compression="select").fit(X)
    optimum = empirical_error(FullKPCA(3, kernel="additive_chi2").fit(X), X)
    exact = IncrementalKPCA(3, kernel="additive_chi2", compression=None).fit(X)
    assert optimum * (1 - 1e-9) < empirical_error(exact, X) < 1.1 * optimum


@pytest.mark.parametrize("selector", ["forward", "backward", "forward_backward", "greedy", "rpcholesky"])
@pytest.mark.parametrize(
    "options",
    [{"kernel": "additive_chi2"}, {"kernel": "poly", "degree": 1, "coef0": -1}],
)
def test_selectors_that_measure_distances_to_a_span_refuse_kernels_that_have_none(selector, options, rng):
    """They took samples without a criterion, the first ones or the last."""
    X = rng.dirichlet(np.ones(6), 60)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        SubsetKPCA(2, n_basis=8, selector=selector, random_state=0, **options).fit(X)
    by_differences = SubsetKPCA(2, n_basis=8, selector="farthest", random_state=0, **options).fit(X)
    assert by_differences.error_ < by_differences.total_variance_


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "chi2", "additive_chi2"])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-75, 1.0, 1e60, 1e150, 1e300])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_samples_of_any_scale_give_a_result_or_a_way_out(kernel, scale, kind, rng):
    X = kind(rng.random((20, 3)) * scale)
    try:
        model = FullKPCA(2, kernel=kernel).fit(X)
    except ValueError as error:
        assert "Scale the data" in str(error)
        return
    assert model.n_components_ == 2
    assert np.isfinite(model.transform(X)).all() and np.isfinite(empirical_error(model, X))


def test_cosine_does_not_depend_on_the_scale(rng):
    X = rng.standard_normal((30, 3))
    expected = FullKPCA(2, kernel="cosine").fit(X).transform(X)
    for scale in (1e-300, 1e-160, 1e300):
        for kind in (np.asarray, sparse.csr_array):
            model = FullKPCA(2, kernel="cosine").fit(kind(X * scale))
            np.testing.assert_allclose(model.transform(kind(X * scale)), expected, atol=1e-10)


@pytest.mark.parametrize("kernel", ["sigmoid", "precomputed", lambda x, y: 0.7])
def test_samples_that_are_the_same_in_feature_space_are_refused(kernel, rng):
    X = np.full((20, 2), 0.3) if kernel != "precomputed" else np.full((20, 20), 0.7)
    with pytest.raises(ValueError, match="takes all samples to the same point"):
        FullKPCA(2, kernel=kernel).fit(X)
    assert FullKPCA(2, kernel=kernel, center=False).fit(X).n_components_ == 1
    assert FullKPCA(2, kernel="rbf").fit(X).n_components_ == 0


def test_new_samples_that_are_too_large_are_refused(rng):
    model = FullKPCA(2, kernel="linear").fit(rng.standard_normal((20, 2)))
    with pytest.raises(ValueError, match="too large"):
        model.transform(np.full((1, 2), 1e200))
