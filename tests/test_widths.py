import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.svm import SVC
from test_estimator_contract import ESTIMATORS

from kpca_lab import FullKPCA, IncrementalKPCA, SubsetKPCA, SubspaceClassifier
from kpca_lab.widths import resolve_gamma


def test_scale_is_that_of_scikit_learn(rng):
    X = 3 * rng.standard_normal((50, 4)) + 1e3
    y = np.arange(50) % 2
    assert resolve_gamma("scale", X) == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma, rel=1e-12)
    assert resolve_gamma("scale", sparse.csr_array(X)) == pytest.approx(resolve_gamma("scale", X), rel=1e-9)


def test_median_is_that_of_all_pairs_or_of_a_seeded_subsample(rng):
    X = rng.standard_normal((100, 3))
    assert resolve_gamma("median", X) == 1 / np.median(pdist(X, "sqeuclidean"))
    assert resolve_gamma("median", sparse.csr_array(X)) == resolve_gamma("median", X)
    many = rng.standard_normal((5000, 3))
    assert resolve_gamma("median", many) == resolve_gamma("median", many)
    assert resolve_gamma("median", many) == pytest.approx(1 / np.median(pdist(many, "sqeuclidean")), rel=0.05)


def test_rules_do_not_fail_on_equal_samples_and_refuse_what_overflows():
    for rule in ("scale", "median"):
        assert resolve_gamma(rule, np.ones((5, 2))) == 1.0
        with pytest.raises(ValueError, match="rescale the data"):
            resolve_gamma(rule, np.array([[1e200], [0.0], [-1e200]]))
    with pytest.raises(ValueError, match="gamma='mean' is unknown"):
        resolve_gamma("mean", np.eye(2))


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e.__name__ != "APCA"])
def test_every_estimator_tells_the_width_it_used(estimator, parabola):
    X = parabola[:60]
    for gamma, expected in [(None, 0.5), (0.25, 0.25), ("scale", 1 / (2 * X.var()))]:
        assert estimator(n_components=2, gamma=gamma).fit(X).gamma_ == pytest.approx(expected)
    median = estimator(n_components=2, gamma="median")
    if "random_state" in median.get_params():
        median.set_params(random_state=0)
    number = median.__class__(**median.get_params() | {"gamma": resolve_gamma("median", X)})
    np.testing.assert_array_equal(median.fit(X).transform(X), number.fit(X).transform(X))
    assert median.operator_.kernel.gamma == median.gamma_


@pytest.mark.parametrize("estimator", [SubsetKPCA, IncrementalKPCA])
def test_later_chunks_keep_the_width_of_the_first(estimator, parabola):
    model = estimator(2, gamma="median").partial_fit(parabola[:50])
    width = model.gamma_
    assert model.partial_fit(10 * parabola[50:]).gamma_ == width == resolve_gamma("median", parabola[:50])


def test_classes_share_one_width(rng):
    X = np.vstack([rng.standard_normal((20, 2)), 5 * rng.standard_normal((20, 2))])
    model = SubspaceClassifier(FullKPCA(2, gamma="median", center=False)).fit(X, np.arange(40) // 20)
    assert {estimator.gamma_ for estimator in model.estimators_} == {resolve_gamma("median", X)}
