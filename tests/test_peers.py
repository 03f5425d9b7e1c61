import numpy as np
import pytest
import yaml
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.estimator_checks import parametrize_with_checks

from kpca_lab import FullKPCA
from kpca_lab.peers import SklearnKernelPCA, SklearnNystroem
from kpca_lab.suite.places import conf_folder
from kpca_lab.suite.targets import import_target, parameters_of


@parametrize_with_checks([SklearnNystroem(), SklearnKernelPCA(n_components=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_nystroem_is_the_pipeline(parabola):
    features = Nystroem(gamma=0.1, n_components=40, random_state=3).fit_transform(parabola)
    peer = SklearnNystroem(4, gamma=0.1, n_basis=40, random_state=3).fit(parabola)
    np.testing.assert_array_equal(peer.transform(parabola), PCA(4).fit(features).transform(features))
    assert peer.n_components_ == 4 and peer.explained_variance_ratio_.sum() < 1
    np.testing.assert_allclose(peer.eigenvalues_, (peer.transform(parabola) ** 2).sum(axis=0))


def test_kernel_pca_is_that_of_scikit_learn_and_of_this_package(parabola):
    peer = SklearnKernelPCA(4, gamma="median", random_state=0).fit(parabola)
    theirs = KernelPCA(4, kernel="rbf", gamma=peer.gamma_, random_state=0).fit(parabola)
    np.testing.assert_array_equal(peer.transform(parabola), theirs.transform(parabola))
    np.testing.assert_allclose(
        peer.eigenvalues_, FullKPCA(4, gamma="median").fit(parabola).eigenvalues_, rtol=1e-8
    )


@pytest.mark.parametrize(
    "name", ["random_features", "orthogonal_features", "sklearn_nystroem", "sklearn_kernel_pca"]
)
def test_the_suite_can_build_them(name, parabola):
    with open(conf_folder() / "method" / f"{name}.yaml") as file:
        entry = yaml.safe_load(file)
    takes = parameters_of(entry["target"])
    size = entry.get("size_parameter") or ("n_basis" if "n_basis" in takes else None)
    params = {**entry["params"], **({size: 20} if size else {})}
    model = import_target(entry["target"])(n_components=3, gamma=0.1, random_state=0, **params)
    scores = model.fit(parabola).transform(parabola)
    assert scores.shape == (300, 3)
    np.testing.assert_allclose((scores**2).sum(axis=0), model.eigenvalues_, rtol=1e-6)
