import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_circles, make_regression
from sklearn.decomposition import KernelPCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from kpca_lab import FullKPCA
from kpca_lab.metrics import validation_error
from kpca_lab.model_selection import choose_gamma
from kpca_lab.widths import resolve_gamma

GAMMAS, RANKS = [0.01, 0.1, 0.5], [1, 3]


@pytest.fixture
def labelled(rng):
    centres = 2 * rng.standard_normal((6, 5))
    numbers = rng.integers(6, size=150)
    return centres[numbers] + rng.standard_normal((150, 5)), numbers % 3


@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_with_labels_it_is_the_grid_search_over_the_pipeline(estimator, labelled):
    X, y = labelled
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    found = choose_gamma(X, y, gammas=GAMMAS, n_components=RANKS, estimator=estimator, cv=cv, n_basis=150)
    pipeline = Pipeline([("pca", KernelPCA(kernel="rbf")), ("knn", estimator or KNeighborsClassifier())])
    search = GridSearchCV(pipeline, {"pca__gamma": GAMMAS, "pca__n_components": RANKS}, cv=cv).fit(X, y)
    np.testing.assert_allclose(
        [point.score for point in found.curve], search.cv_results_["mean_test_score"], atol=1e-6
    )
    np.testing.assert_allclose(
        [point.spread for point in found.curve], search.cv_results_["std_test_score"], atol=1e-6
    )
    assert found.score == pytest.approx(search.best_score_)
    assert [point[:2] for point in found.curve] == [(gamma, rank) for gamma in GAMMAS for rank in RANKS]


def test_without_labels_it_is_the_grid_search_over_pre_images(rng):
    along, cv = rng.uniform(-2, 2, 120), KFold(3, shuffle=True, random_state=0)
    X = np.column_stack([along, along**2, along**3 / 3])

    def recovered(model, X, y=None):
        error = ((X - model.inverse_transform(model.transform(X))) ** 2).sum()
        return 1 - error / ((X - model.training_mean) ** 2).sum()

    class Recovering(FullKPCA):
        def fit(self, X, y=None):
            self.training_mean = X.mean(axis=0)
            return super().fit(X)

    gammas = [1e-4, 0.02, 0.3]
    found = choose_gamma(X, gammas=gammas, n_components=1, cv=cv)
    search = GridSearchCV(Recovering(1), {"gamma": gammas}, scoring=recovered, cv=cv).fit(X)
    np.testing.assert_allclose(
        [point.score for point in found.curve], search.cv_results_["mean_test_score"], atol=0.01
    )
    assert found.gamma == search.best_params_["gamma"] == 0.02  # a curve, not a line


def test_the_error_in_feature_space_would_prefer_the_smallest_width(parabola):
    errors = [validation_error(FullKPCA(1, gamma=g).fit(parabola[:200]), parabola[200:]) for g in GAMMAS]
    assert errors == sorted(errors)


def test_circles_need_a_width_that_lines_do_not_have():
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    found = choose_gamma(X, y, gammas=[1e-6, 1.0], n_components=4, estimator=LogisticRegression())
    assert found.gamma == 1.0 and found.score > found.curve[0].score + 0.3


def test_a_numeric_target_is_regressed():
    X, y = make_regression(80, 4, noise=0.1, random_state=0)
    for estimator in (None, Ridge(1e-3)):
        found = choose_gamma(X, y, n_components=[4], estimator=estimator, cv=3)
        assert found.score > 0.5 and ("Ridge" in found.criterion) == (estimator is not None)


def test_a_subset_comes_near_to_all_samples(labelled):
    X, y = labelled
    exact = choose_gamma(X, y, gammas=[0.05], n_components=3, n_basis=150)
    subset = choose_gamma(X, y, gammas=[0.05], n_components=3, n_basis=40)
    assert abs(exact.score - subset.score) < 0.1


def test_many_samples_are_thinned_and_a_seed_repeats(labelled):
    X, y = labelled
    first, again, other = (
        choose_gamma(X, y, gammas=[0.1, 1.0], n_components=2, max_samples=60, random_state=seed)
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert first.n_samples == 60
    assert choose_gamma(X, y, gammas=[0.1], n_components=2, max_samples=None).n_samples == 150


@pytest.mark.parametrize("kernel", ["laplacian", "poly"])
def test_other_kernels(kernel, labelled):
    X, y = labelled
    assert choose_gamma(X, y, kernel=kernel, n_components=2, cv=3).score > 0.3
    assert np.isfinite(choose_gamma(X, kernel=kernel, gammas=[0.01], n_components=2, cv=2).score)


def test_default_widths_are_about_the_median_rule(labelled):
    X, y = labelled
    widths = [point.gamma for point in choose_gamma(X, y, n_components=2, cv=2).curve]
    assert len(widths) == 11 and widths[5] == resolve_gamma("median", X)
    assert widths[-1] == pytest.approx(1024 * widths[0])


def test_sparse_samples_need_labels(labelled):
    X, y = labelled
    dense = choose_gamma(X, y, gammas=[0.05], n_components=3)
    assert choose_gamma(sparse.csr_array(X), y, gammas=[0.05], n_components=3).score == dense.score
    with pytest.raises(TypeError, match="dense data is required"):
        choose_gamma(sparse.csr_array(X), n_components=2)


def test_a_warning_where_linear_pca_loses_nothing(parabola):
    with pytest.warns(UserWarning, match="n_components=3 is not less than the 2 features"):
        choose_gamma(parabola[:40], gammas=[0.1], n_components=[1, 3], cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choose_gamma(parabola[:40], gammas=[0.1], n_components=1, cv=2)


def test_equal_samples_are_no_error():
    found = choose_gamma(np.ones((20, 3)), gammas=[1.0], n_components=2, cv=2)
    assert found.score == 1.0
    found = choose_gamma(np.ones((20, 3)), [0, 1] * 10, gammas=[1.0], n_components=2, cv=2)
    assert found.score == 0.5


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kernel": "linear"}, "kernel='linear' has no width"),
        ({"gammas": []}, "gammas is empty"),
        ({"gammas": [0.1, -1]}, "gammas must be finite numbers above 0, got -1"),
        ({"n_components": []}, "n_components is empty"),
        ({"n_components": [2, 0]}, "n_components must be an integer >= 1, got 0"),
        ({"n_components": 4, "cv": 2, "max_samples": 8}, "n_components=4 must be less than the 4 samples"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"n_basis": 0}, "n_basis must be an integer >= 1"),
        ({"max_samples": 2.5}, "max_samples must be an integer >= 1"),
        ({"estimator": "svm"}, "estimator must be a classifier or regressor"),
    ],
)
def test_wrong_parameters_are_named(options, message, labelled):
    with pytest.raises(ValueError, match=message):
        choose_gamma(*labelled, **{"n_components": 2, **options})


def test_samples_may_be_read_in_blocks(rng, capsys):
    X = rng.integers(0, 9, (400, 5)).astype(float)
    y = (X.sum(axis=1) > 20).astype(int)
    options = {"gammas": [0.01, 0.1], "n_components": 2, "cv": 3, "n_basis": 40}
    for max_samples, labels in ((100, None), (100, y), (None, None)):
        expected = choose_gamma(X, labels, max_samples=max_samples, **options)
        chunks = [X[:150], X[150:]]
        assert choose_gamma(chunks, labels, max_samples=max_samples, verbose=1, **options) == expected
    assert "choose_gamma" in capsys.readouterr().err
    with pytest.raises(ValueError, match="only once"):
        choose_gamma(iter(chunks), **options)
