"""What users of scikit-learn expect: shares of the variance, scores, the names that they know."""

from collections import Counter

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from test_estimator_contract import ESTIMATORS

import kpca_lab.methods
from kpca_lab import (
    AKPCA,
    APCA,
    CholeskyKPCA,
    ElasticNetKPCA,
    FullKPCA,
    HebbianKPCA,
    ImprovedKPCA,
    IncrementalKPCA,
    NystromKPCA,
    ReducedKPCA,
    SubsetKPCA,
    TippingKPCA,
)
from kpca_lab.metrics import empirical_error

NUMBER_FIRST = (ElasticNetKPCA, HebbianKPCA, IncrementalKPCA)
OTHERS = [estimator for estimator in ESTIMATORS if estimator not in NUMBER_FIRST]


def made(estimator, **wanted):
    model = estimator()
    wanted = {"random_state": 0} | wanted
    return model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})


@pytest.mark.parametrize("estimator", [*OTHERS, *NUMBER_FIRST])
def test_what_is_not_explained_is_the_error(estimator, parabola):
    """Exactly for orthonormal components about the mean that was subtracted."""
    X = parabola[:100]
    model = made(estimator, n_components=4, gamma=0.1, n_basis=1.0, sketch_size=1.0, alpha=0.0)
    model.set_params(
        **({"compression": None, "batch_size": 100} if estimator is IncrementalKPCA else {})
    ).fit(X)
    assert model.explained_variance_.shape == model.explained_variance_ratio_.shape == (model.n_components_,)
    np.testing.assert_allclose(
        model.explained_variance_, model.explained_variance_ratio_ * model.total_variance_
    )
    total = model.operator_.centred_square_norm(X).mean()
    assert model.total_variance_ == pytest.approx(total, rel=1e-8)
    if model.operator_.orthonormal:
        explained = model.explained_variance_.sum()
        assert total - explained == pytest.approx(empirical_error(model, X), abs=1e-8 * total)


def test_shares_are_of_all_variance_as_in_pca(rng):
    X = rng.standard_normal((60, 5)) * [5, 3, 2, 1, 0.5] + 100
    pca = PCA().fit(X)
    for model in (FullKPCA(2, kernel="linear"), APCA(2, alpha=0)):
        np.testing.assert_allclose(model.fit(X).explained_variance_ratio_, pca.explained_variance_ratio_[:2])
    for share in (0.5, 0.9, 0.999):
        expected = PCA(share).fit(X).n_components_
        for model in (FullKPCA(share, kernel="linear"), APCA(share, alpha=0.0), AKPCA(share, alpha=0.0)):
            model.set_params(**({"kernel": "linear"} if "kernel" in model.get_params() else {}))
            assert model.fit(X).n_components_ == expected


@pytest.mark.parametrize("estimator", OTHERS)
def test_least_number_of_components_for_a_share_of_the_variance(estimator, parabola):
    X = parabola[:100]
    every = made(estimator, gamma=0.1, n_basis=0.3, alpha=0.0).fit(X)
    shares = np.cumsum(every.explained_variance_ratio_)
    wanted = float(shares[1] * 0.99)
    model = made(estimator, gamma=0.1, n_basis=0.3, alpha=0.0, n_components=wanted).fit(X)
    assert model.n_components_ == np.searchsorted(shares, wanted, side="right") + 1
    np.testing.assert_allclose(
        model.explained_variance_ratio_, every.explained_variance_ratio_[: model.n_components_]
    )
    assert made(estimator, n_components=0.9, selector="forward").fit(X).n_components_ >= 1


@pytest.mark.parametrize("estimator", NUMBER_FIRST)
def test_methods_that_must_know_the_number_refuse_a_share(estimator, parabola):
    with pytest.raises(ValueError, match=r"n_components=0\.9 has no meaning, give an integer"):
        estimator(n_components=0.9).fit(parabola)


@pytest.mark.parametrize("wrong", [0, -1, 1.0, 1.5, -0.5, True, "mle", np.nan])
def test_other_numbers_of_components_are_refused(wrong, parabola):
    with pytest.raises(ValueError, match="n_components must be an integer >= 1, a share"):
        FullKPCA(n_components=wrong).fit(parabola)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_score_is_the_share_that_is_reconstructed(estimator, parabola):
    model = made(estimator, n_components=3, gamma=0.1).fit(parabola[:100])
    new = parabola[100:]
    expected = 1 - empirical_error(model, new) / model.operator_.centred_square_norm(new).mean()
    assert model.score(new) == pytest.approx(expected)
    assert model.score(new) <= 1


def test_grid_search_prefers_more_components_and_a_larger_basis(parabola):
    X = parabola[:90]
    search = GridSearchCV(
        SubsetKPCA(gamma=0.1, random_state=0), {"n_components": [1, 2, 4], "n_basis": [5, 20]}, cv=3
    ).fit(X)
    assert search.best_params_ == {"n_components": 4, "n_basis": 20}
    assert (np.diff(FullKPCA(gamma=0.1).fit(X).explained_variance_ratio_) <= 0).all()


def test_nothing_to_explain(parabola):
    same = np.ones((5, 2))
    model = FullKPCA(2).fit(same)
    assert model.n_components_ == 0 and model.total_variance_ == 0 and model.score(same) == 1.0


def test_scikit_learns_names_of_solvers(parabola):
    expected = FullKPCA(3, gamma=0.1).fit(parabola).eigenvalues_
    for name in ("auto", "dense", "arpack", "randomized"):
        found = FullKPCA(3, gamma=0.1, eigen_solver=name).fit(parabola).eigenvalues_
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="choose from"):
        FullKPCA(3, eigen_solver="other").fit(parabola)


def test_incomplete_factor_that_misses_its_tolerance_warns(parabola):
    with pytest.warns(ConvergenceWarning, match="raise n_basis"):
        CholeskyKPCA(n_basis=3, tol=1e-6, gamma=0.1).fit(parabola)


@pytest.mark.parametrize(
    "model",
    [
        TippingKPCA(2, gamma=0.1, update="em", max_iter=3),
        ElasticNetKPCA(2, gamma=0.1, max_admm_iter=2),
        ElasticNetKPCA(2, gamma=0.1, eps_outer=0.0, max_iter=2),
        HebbianKPCA(2, gamma=0.1, max_iter=1, random_state=0),
    ],
)
def test_iteration_that_stops_at_its_limit_warns(model, parabola):
    with pytest.warns(ConvergenceWarning, match=r"raise (max_iter|these)"):
        model.fit(parabola[:60])


@pytest.mark.parametrize("estimator", [FullKPCA, SubsetKPCA, ReducedKPCA, ImprovedKPCA, NystromKPCA])
def test_width_of_a_callable_kernel_is_refused(estimator, parabola):
    with pytest.raises(ValueError, match="has no meaning for a callable kernel"):
        estimator(kernel=lambda x, y: float(x @ y), gamma=0.1).fit(parabola)


def test_table_of_parameters_has_every_name_that_methods_share():
    names = Counter(name for estimator in ESTIMATORS for name in estimator().get_params())
    own = {"alpha", "outside_basis", "criterion_rank"}  # of two methods that are one
    shared = {name for name, count in names.items() if count > 2} - own
    assert [name for name in shared if f"``{name}``" not in kpca_lab.methods.__doc__] == []
    assert not {"n_passes", "orthogonalize", "preimage_steps"} & set(names)
