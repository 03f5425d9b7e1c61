"""Any data, however badly scaled or degenerate: a finite result or a ValueError that says why."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_estimator_contract import ESTIMATORS

from kpca_lab.metrics import empirical_error


@st.composite
def samples(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-8, 8))
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = draw(st.sampled_from([0.0, 1.0, -1e6]))
    if draw(st.booleans()):
        X = X[rng.integers(0, n, n)]
    if draw(st.booleans()):
        X = X + draw(st.sampled_from([1.0, 1e4]))
    return X


@pytest.mark.parametrize("estimator", ESTIMATORS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    X=samples(),
    kernel=st.sampled_from(["rbf", "poly", "linear", "laplacian"]),
    gamma=st.sampled_from([None, 1e-8, 1.0, 1e8]),
    n_components=st.sampled_from([None, 1, 3, 50]),
    n_basis=st.sampled_from([1, 0.5, 1.0]),
    center=st.booleans(),
)
def test_finite_result_or_clear_error(estimator, X, kernel, gamma, n_components, n_basis, center):
    model = estimator(n_components=n_components)
    wanted = {"kernel": kernel, "gamma": gamma, "n_basis": n_basis, "center": center, "random_state": 0}
    model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})
    try:
        model.fit(X)
    except ValueError as error:
        assert len(str(error)) > 20
        return
    components = model.transform(X)
    assert components.shape == (len(X), model.n_components_)
    assert np.isfinite(components).all()
    assert np.isfinite(empirical_error(model, X))
    if n_components is not None:
        assert model.n_components_ <= n_components
