import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from kpca_lab import FullKPCA, ImprovedKPCA, NystromKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.methods.basis import basis_size
from kpca_lab.metrics import empirical_error, operator_distance


def test_solves_the_generalised_eigenproblem(parabola):
    """Eqs. (21), (22), (33), with scipy's solver on a well-conditioned basis."""
    basis = np.arange(0, 300, 20)
    Ky = rbf_kernel(parabola[basis], gamma=1.0)
    Kxy = rbf_kernel(parabola, parabola[basis], gamma=1.0)
    kappa, Z = scipy.linalg.eigh(Kxy.T @ Kxy, Ky)
    model = SubsetKPCA(4, gamma=1.0, basis=basis, center=False).fit(parabola)
    np.testing.assert_allclose(model.eigenvalues_, kappa[::-1][:4], rtol=1e-7)
    np.testing.assert_allclose(np.abs(model.transform(parabola)), np.abs(Kxy @ Z[:, ::-1][:, :4]), atol=1e-7)
    lost = np.trace(np.eye(300) - Kxy @ np.linalg.solve(Ky, Kxy.T)) + kappa[::-1][4:].sum()
    lost += np.trace(rbf_kernel(parabola, gamma=1.0)) - 300
    assert empirical_error(model, parabola) == pytest.approx(lost / 300, rel=1e-7)


@pytest.mark.parametrize("center", [False, "mean", "projected"])
@pytest.mark.parametrize("kernel", [{"gamma": 0.1}, {"kernel": "poly", "degree": 3, "gamma": 0.1}])
def test_all_samples_as_basis_is_full_kpca(kernel, center, parabola):
    full = FullKPCA(5, center=bool(center), **kernel).fit(parabola)
    model = SubsetKPCA(5, basis=np.arange(300), center=center, **kernel).fit(parabola)
    # Orthonormal to 1e-12 in a basis as close to dependent as this one is, hence a square of that size.
    assert operator_distance(model, full).d2 < 1e-10
    assert empirical_error(model, parabola) == pytest.approx(empirical_error(full, parabola), rel=1e-8)


def test_is_nystroem_followed_by_pca(parabola):
    model = SubsetKPCA(5, gamma=0.5, n_basis=40, random_state=0).fit(parabola)
    nystroem = Nystroem(gamma=0.5, n_components=40).fit(model.basis_)
    features = nystroem.transform(parabola)
    pca = PCA(5).fit(features)
    np.testing.assert_allclose(model.eigenvalues_, pca.singular_values_**2, rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.transform(parabola)), np.abs(pca.transform(features)), atol=1e-6)


def test_the_three_centroids(parabola):
    """'mean' and 'projected' have the same components; their residuals differ by what is outside the span."""
    models = {c: SubsetKPCA(4, gamma=0.3, n_basis=20, center=c, random_state=3).fit(parabola)
              for c in ("mean", "basis", "projected")}  # fmt: skip
    transformed = {c: model.transform(parabola) for c, model in models.items()}
    np.testing.assert_allclose(transformed["mean"], transformed["projected"], atol=1e-9)
    np.testing.assert_allclose(transformed["mean"].mean(axis=0), 0, atol=1e-10)
    assert not np.allclose(transformed["basis"], transformed["mean"], atol=1e-3)
    Kx, Kxy, Ky = (rbf_kernel(A, B, gamma=0.3) for A, B in (
        (parabola, parabola), (parabola, models["mean"].basis_), (models["mean"].basis_,) * 2))  # fmt: skip
    outside = Kx.mean() - Kxy.mean(axis=0) @ np.linalg.solve(Ky, Kxy.mean(axis=0))
    errors = {c: empirical_error(model, parabola) for c, model in models.items()}
    # E||a - b - c||^2 with the mean outside the span: the projected centroid leaves it in.
    assert errors["projected"] - errors["mean"] == pytest.approx(outside, rel=1e-4)


@pytest.mark.parametrize("center", [False, True, "basis"])
def test_partial_fit_is_fit(center, parabola):
    options = {"gamma": 0.1, "basis": parabola[::10], "center": center}
    whole = SubsetKPCA(5, **options).fit(parabola)
    parts = SubsetKPCA(5, **options)
    for chunk in np.array_split(parabola, 7):
        parts.partial_fit(chunk)
    assert parts.n_samples_seen_ == 300
    assert operator_distance(parts, whole).d < 1e-5  # D^2 is a difference of traces: its floor is rounding
    np.testing.assert_allclose(parts.transform(parabola), whole.transform(parabola), atol=1e-6)


def test_memory_mapped_samples_are_read_in_blocks(tmp_path, rng):
    np.save(tmp_path / "X.npy", rng.standard_normal((5000, 3)).astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"gamma": 0.2, "n_basis": 30, "random_state": 0}
    from_file = SubsetKPCA(4, **options).fit(mapped)
    in_memory = SubsetKPCA(4, **options).fit(np.array(mapped))
    np.testing.assert_array_equal(from_file.eigenvalues_, in_memory.eigenvalues_)
    assert from_file.basis_.base is None and not isinstance(from_file.basis_, np.memmap)


def test_general_solution_outside_the_span(rng):
    """Eq. (27) for the linear kernel, where feature vectors can be written down."""
    S, T = rng.standard_normal((3, 8)).T, rng.standard_normal((5, 8)).T
    Ky, Kxy = T.T @ T, S.T @ T
    root = scipy.linalg.sqrtm(Ky).real
    W = np.linalg.svd(np.linalg.solve(root, Kxy.T))[0][:, :2]
    onto_samples = Kxy.T @ Kxy @ np.linalg.pinv(Kxy.T @ Kxy)
    expected = T @ np.linalg.solve(root, W @ W.T) @ np.linalg.solve(root, onto_samples) @ T.T
    model = SubsetKPCA(2, kernel="linear", basis=T.T, center=False, outside_basis="general").fit(S.T)
    left, right = model.operator_.left, model.operator_.right
    ours = left.points.T @ left.coefficients @ right.coefficients.T @ right.points
    np.testing.assert_allclose(ours, expected, atol=1e-9)
    projector = SubsetKPCA(2, kernel="linear", basis=T.T, center=False).fit(S.T)
    assert empirical_error(model, S.T) == pytest.approx(empirical_error(projector, S.T))
    assert operator_distance(model, projector).d > 0.1


def test_basis_included_in_the_criterion_set(parabola, rng):
    centroids = parabola[:20] + rng.normal(0, 0.5, (20, 2))
    options = {"gamma": 0.1, "basis": centroids, "center": False}
    included = SubsetKPCA(5, outside_basis="include", **options).fit(parabola)
    by_hand = SubsetKPCA(5, **options).fit(np.vstack([parabola, centroids]))
    assert operator_distance(included, by_hand).d < 1e-5


def test_incomplete_cholesky_of_the_criterion(parabola):
    """Eq. (45): the full rank changes nothing, and lower ranks come closer as they grow."""
    options = {"gamma": 0.3, "n_basis": 40, "random_state": 1}
    exact = SubsetKPCA(5, **options).fit(parabola)
    distances = [
        operator_distance(SubsetKPCA(5, criterion_rank=rank, **options).fit(parabola), exact).d
        for rank in (6, 12, 40)
    ]
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 1e-5


def test_improved_kpca_has_the_error_of_the_closed_form(parabola):
    model = ImprovedKPCA(5, gamma=0.1, n_basis=50, center=False, random_state=0).fit(parabola)
    expected = 1 - 2 * 5 / 300 + (1 / model.eigenvalues_).sum() / 300
    assert empirical_error(model, parabola) == pytest.approx(expected, rel=1e-9)


def test_precomputed_kernel_with_a_basis(parabola):
    gram = rbf_kernel(parabola, gamma=0.1)
    for method in (SubsetKPCA, ReducedKPCA):
        given = method(4, kernel="precomputed", basis=np.arange(30)).fit(gram)
        direct = method(4, gamma=0.1, basis=np.arange(30)).fit(parabola)
        np.testing.assert_allclose(given.transform(gram), direct.transform(parabola), atol=1e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_basis": 0}, "n_basis=0 must be between 1 and the number of samples, 300"),
        ({"n_basis": "all"}, "n_basis must be .auto., an integer or a fraction"),
        ({"n_basis": 1.5}, r"n_basis must be an integer or a fraction in \(0, 1\], got 1.5"),
        ({"selector": "best"}, "selector='best' is unknown"),
        ({"basis": [300]}, "must lie within the 300 samples"),
        ({"basis": np.ones((4, 3))}, "as many columns as the samples"),
        ({"basis": []}, "non-empty list"),
        ({"center": "median"}, "center must be one of"),
        ({"outside_basis": "ignore"}, "outside_basis must be"),
        ({"criterion_rank": 0}, "criterion_rank=0 must be"),
    ],
)
def test_wrong_parameters_are_named(options, message, parabola):
    with pytest.raises(ValueError, match=message):
        SubsetKPCA(3, **options).fit(parabola)


def test_partial_fit_says_what_it_cannot_do(parabola):
    with pytest.raises(ValueError, match="keeps no samples"):
        SubsetKPCA(3, center="mean").partial_fit(parabola)
    with pytest.raises(ValueError, match="not possible with kernel='precomputed'"):
        SubsetKPCA(3, kernel="precomputed").partial_fit(np.eye(5))


def test_partial_fit_takes_the_basis_from_the_first_chunk(parabola):
    model = SubsetKPCA(3, n_basis=10, random_state=0).partial_fit(parabola[:100])
    basis = model.basis_
    model.partial_fit(parabola[100:])
    assert model.basis_ is basis and model.n_samples_seen_ == 300
    np.testing.assert_array_equal(parabola[model.basis_indices_], basis)


def test_components_are_computed_when_asked_for(parabola, monkeypatch):
    solved = []
    solve = SubsetKPCA._solve
    monkeypatch.setattr(SubsetKPCA, "_solve", lambda model: solved.append(1) or solve(model))
    model = SubsetKPCA(3, gamma=0.1, basis=parabola[::10])
    for chunk in np.array_split(parabola, 5):
        model.partial_fit(chunk)
    assert not solved and model.n_samples_seen_ == 300
    again = pickle.loads(pickle.dumps(model))
    whole = SubsetKPCA(3, gamma=0.1, basis=parabola[::10]).fit(parabola)
    assert len(solved) == 1
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    np.testing.assert_array_equal(again.transform(parabola), model.transform(parabola))
    assert model.error_ == pytest.approx(whole.error_, rel=1e-8) and len(solved) == 3


def test_partial_fit_goes_on_after_fit(parabola):
    options = {"gamma": 0.1, "n_basis": 30, "random_state": 0}
    model = SubsetKPCA(3, **options).fit(parabola[:200])
    model.transform(parabola)
    model.partial_fit(parabola[200:])
    whole = SubsetKPCA(3, gamma=0.1, basis=model.basis_).fit(parabola)
    assert model.n_samples_seen_ == 300
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert model.fit(parabola).n_samples_seen_ == 300  # and fit begins anew


@pytest.mark.parametrize("change", [
    {"gamma": 0.2}, {"n_basis": 20}, {"center": False}, {"basis": [1, 2, 3]}, {"n_components": 2},
])  # fmt: skip
def test_parameters_must_not_change_between_calls(change, parabola):
    model = SubsetKPCA(3, gamma=0.1, random_state=0).partial_fit(parabola)
    with pytest.raises(ValueError, match=f"{next(iter(change))} was .* and is .* now"):
        model.set_params(**change).partial_fit(parabola)
    with pytest.raises(ValueError, match=f"{next(iter(change))} was .* and is .* now"):
        SubsetKPCA(3, gamma=0.1).fit(parabola).set_params(**change).partial_fit(parabola)
    basis = parabola[:20].copy()
    model = SubsetKPCA(3, gamma=0.1, basis=basis).partial_fit(parabola)
    basis[0] += 1
    with pytest.raises(ValueError, match="basis was"):
        model.partial_fit(parabola)


@pytest.mark.parametrize("n_samples, n_components, expected", [
    (50, None, 50), (400, 5, 200), (100, None, 100), (60, 40, 60), (10**4, None, 1000), (10**7, 20, 1000),
    (10**6, 800, 1600), (10**4, 0.9, 1000),
])  # fmt: skip
def test_automatic_basis_sizes(n_samples, n_components, expected):
    assert basis_size("auto", n_components, n_samples) == expected


@pytest.mark.parametrize("method", [SubsetKPCA, ReducedKPCA, NystromKPCA])
def test_sizes_that_do_not_fit_are_warned_of(method, parabola):
    with pytest.warns(UserWarning, match="n_basis=301 is more than the 300 samples"):
        model = method(3, n_basis=301, random_state=0).fit(parabola)
    assert len(model.basis_) == 300
    with pytest.warns(UserWarning, match="n_components=8 is more than n_basis=5"):
        model = method(8, n_basis=5, random_state=0).fit(parabola)
    assert model.n_components_ <= 5


@pytest.mark.parametrize("center", [False, "mean", "projected", "basis"])
@pytest.mark.parametrize("method", [SubsetKPCA, ImprovedKPCA])
@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.1},
        {"gamma": 1e-9},
        {"gamma": 0.1, "n_components": 0.9},
        {"gamma": 0.1, "precision": "auto"},
        {"gamma": 0.1, "tol": 0.5},
        {"kernel": "poly", "degree": 3, "gamma": 0.1},
        {"kernel": "laplacian", "gamma": 0.1},
        {"kernel": lambda x, y: x @ y + 1.0},
    ],
)
def test_fit_transform_is_fit_and_transform(method, options, center, parabola):
    options = {"n_components": 3, "n_basis": 30, "random_state": 0, "center": center} | options
    known = method().get_params()
    options = {name: value for name, value in options.items() if name in known}
    for X in (parabola, parabola.astype(np.float32), scipy.sparse.csr_array(parabola)):
        if scipy.sparse.issparse(X) and (
            callable(options.get("kernel")) or options.get("kernel") == "laplacian"
        ):
            continue
        model, other = method(**options), method(**options)
        scores, expected = model.fit_transform(X), other.fit(X).transform(X)
        assert scores.dtype == expected.dtype
        scale = max(np.abs(expected).max(), np.finfo(float).tiny)
        rounding = 1e-5 if scores.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(scores / scale, expected / scale, atol=rounding)
        np.testing.assert_array_equal(model.eigenvalues_, other.eigenvalues_)


def test_fit_transform_evaluates_the_kernel_once(parabola):
    evaluated = []

    def kernel(x, y):
        evaluated.append(1)
        return np.exp(-np.sum((x - y) ** 2))

    options = {"kernel": kernel, "basis": np.arange(10), "random_state": 0}
    SubsetKPCA(2, **options).fit(parabola)
    after_fit = len(evaluated)
    SubsetKPCA(2, **options).fit_transform(parabola)
    assert len(evaluated) == 2 * after_fit + 10 * 10  # between the basis samples, for the mean


def test_fit_transform_of_kernel_values_and_of_chunks(parabola):
    gram = rbf_kernel(parabola, gamma=0.1)
    model = SubsetKPCA(2, kernel="precomputed", basis=np.arange(20))
    np.testing.assert_allclose(model.fit_transform(gram), model.fit(gram).transform(gram), atol=1e-12)
    chunks = np.array_split(parabola, 3)
    model = SubsetKPCA(2, gamma=0.1, basis=np.arange(20))
    np.testing.assert_allclose(model.fit_transform(chunks), model.transform(parabola), atol=1e-9)
