"""What every estimator promises to scikit-learn and to a user, whatever the method."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks

import kpca_lab
from kpca_lab.methods.base import OperatorEstimator
from kpca_lab.metrics import empirical_error
from kpca_lab.operator import FeatureOperator

ESTIMATORS = [
    estimator
    for _, estimator in inspect.getmembers(kpca_lab, inspect.isclass)
    if issubclass(estimator, OperatorEstimator)
]


# The one method without an operator over samples keeps the promises that do not speak of it.
ALL = [*ESTIMATORS, kpca_lab.RandomFeatureKPCA]


# What scikit-learn asks for does not depend on how far an iteration goes.
FEW_STEPS = {"HebbianKPCA": {"max_iter": 10}}


@parametrize_with_checks([estimator(**FEW_STEPS.get(estimator.__name__, {})) for estimator in ALL])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fitted_estimator(estimator, parabola):
    model = estimator()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    fitted = clone(model).fit(parabola[:100])
    components = fitted.transform(parabola)
    assert isinstance(fitted.operator_, FeatureOperator)
    assert components.shape == (300, fitted.n_components_) and components.shape[1] > 0
    assert np.isfinite(components).all()
    assert fitted.n_features_in_ == 2
    assert len(fitted.get_feature_names_out()) == fitted.n_components_
    np.testing.assert_array_equal(components, clone(model).fit(parabola[:100]).transform(parabola))
    assert np.isfinite(empirical_error(fitted, parabola))


@pytest.mark.parametrize("estimator", ALL)
def test_single_precision_in_single_precision_out(estimator, parabola):
    model = estimator()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X = parabola[:100].astype(np.float32)
    narrow, wide = clone(model).fit(X), clone(model).fit(X.astype(np.float64))
    components = narrow.transform(X)
    assert components.dtype == np.float32
    np.testing.assert_allclose(components, wide.transform(X.astype(np.float64)), rtol=1e-3, atol=1e-3)


def test_all_thirteen_are_there():
    assert {estimator.__name__ for estimator in ESTIMATORS} == {
        "APCA", "AKPCA", "CholeskyKPCA", "ElasticNetKPCA", "EmpiricalMapKPCA", "FullKPCA", "HebbianKPCA",
        "ImprovedKPCA", "IncrementalKPCA", "NystromKPCA", "ReducedKPCA", "SubsetKPCA", "TippingKPCA",
    }  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_fitted_model_does_not_change_with_the_callers_array(estimator, kernel, parabola):
    X = np.ascontiguousarray(parabola[:60])
    if kernel == "precomputed":
        if "kernel" not in estimator().get_params() or estimator is kpca_lab.IncrementalKPCA:
            pytest.skip("takes samples only")
        X = pairwise_kernels(X, metric="rbf", gamma=0.1)
    for options in ({}, {"center": "mean"}):
        model = estimator(n_components=2)
        wanted = {"kernel": kernel, "random_state": 0, **options}
        model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})
        mine, new = X.copy(), X[:7].copy()
        try:
            model.fit(mine)
        except ValueError:
            assert options  # not every method has this centroid
            continue
        numbers = np.arange(60) if kernel == "precomputed" else X
        before = model.transform(new), empirical_error(model, numbers)
        mine[:] = 17.0
        np.testing.assert_array_equal(model.transform(new), before[0])
        assert empirical_error(model, numbers) == before[1]
