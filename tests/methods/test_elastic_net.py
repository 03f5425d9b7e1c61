"""Sparse kernel PCA by the elastic net."""

import warnings

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from kpca_lab import FullKPCA
from kpca_lab.methods.elastic_net import ElasticNetKPCA
from kpca_lab.methods.elastic_net_active import ActiveSet, lasso
from kpca_lab.methods.elastic_net_admm import AdmmSettings, AdmmTrace, ElasticNet
from kpca_lab.metrics import empirical_error, operator_distance


@pytest.fixture
def clusters(rng):
    """The paper's first toy example (Section IV-A)."""
    centres = np.repeat([(-0.5, -0.2), (0, 0.6), (0.5, 0)], 30, axis=0)
    return centres + rng.normal(0, 0.1, (90, 2))


CLUSTERS = {
    "gamma": 10,
    "l1": (0.02, 0.02, 0.009, 0.008, 0.006, 0.007, 0.01, 0.01),
    "l2": 0.1,
    "rho": 0.01,
    "max_admm_iter": 300,
}


@pytest.fixture
def curve(rng):
    """The second one."""
    x = rng.uniform(-1, 1, 500)
    return np.column_stack([x, x**2 + rng.normal(0, 0.2, 500)])


SOLVERS = ("active_set", "admm")
CURVE = dict(gamma=2, l2=0.05, rho=0.09, max_iter=60)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_penalties_it_is_kernel_pca(solver, center, clusters):
    full = FullKPCA(5, gamma=10, center=center).fit(clusters)
    model = ElasticNetKPCA(5, gamma=10, center=center, solver=solver, l1=0, l2=1e-10).fit(clusters)
    np.testing.assert_allclose(
        np.abs(model.transform(clusters)), np.abs(full.transform(clusters)), atol=1e-10
    )
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_)
    assert operator_distance(model, full).d < 1e-6


def literal_algorithm(K, l1, l2, rho, eps_abs, eps_rel, eps_outer, max_admm, max_outer):
    """Algorithm 1 as printed, with dense matrices, for a K that has an inverse."""
    n = len(K)
    half = np.real(sqrtm(K))
    minus_half = inv(half)
    solve = inv(K + l2 * np.eye(n) + rho * inv(K))
    P = np.linalg.eigh(K)[1][:, ::-1][:, : len(l1)].copy()
    coefficients = []
    for k, weight in enumerate(l1):
        q_old = P[:, k]
        for _ in range(max_outer):
            a, t = np.zeros(n), np.zeros(n)
            for _ in range(max_admm):
                q = solve @ (K @ P[:, k] + rho * minus_half @ (a - t / rho))
                a_old, z = a, minus_half @ q + t / rho
                a = np.sign(z) * np.maximum(np.abs(z) - weight / rho, 0)
                t = t + rho * (minus_half @ q - a)
                primal = np.linalg.norm(minus_half @ q - a)
                dual = np.linalg.norm(rho * minus_half @ (a - a_old))
                size = max(np.linalg.norm(minus_half @ q), np.linalg.norm(a))
                if primal <= n**0.5 * eps_abs + eps_rel * size and dual <= (
                    n**0.5 * eps_abs + eps_rel * np.linalg.norm(minus_half @ t)
                ):
                    break
            q = q / np.linalg.norm(q)
            p = K @ q - P[:, :k] @ (P[:, :k].T @ (K @ q))
            P[:, k] = p / np.linalg.norm(p)
            change, q_old = np.sum((q - q_old) ** 2), q
            if change < eps_outer:
                break
        coefficients.append(a / np.sqrt(a @ K @ a))
    return np.column_stack(coefficients)


def test_it_is_the_printed_algorithm_where_the_kernel_matrix_has_an_inverse(clusters):
    l1 = [0.02, 0.015, 0.01]
    K = laplacian_kernel(clusters, gamma=3)
    printed = literal_algorithm(K, l1, 0.1, 0.05, 1e-4, 1e-4, 1e-8, 300, 40)
    model = ElasticNetKPCA(
        kernel="laplacian",
        gamma=3,
        center=False,
        l1=l1,
        l2=0.1,
        solver="admm",
        rho=0.05,
        eps_outer=1e-8,
        max_iter=40,
    ).fit(clusters)
    signs = np.sign(np.sum(printed * model.coefficients_, axis=0))
    np.testing.assert_array_equal(model.coefficients_ == 0, printed == 0)
    np.testing.assert_allclose(model.coefficients_, printed * signs, atol=1e-8)
    assert model.n_iter_ > 2


@pytest.mark.parametrize("kernel", ["laplacian", "rbf"])
def test_admm_finds_the_minimum_that_coordinate_descent_finds(kernel, clusters):
    # With the Gaussian kernel the Gram matrix is singular to working precision.
    n, l1, l2 = len(clusters), 0.05, 0.1
    K = laplacian_kernel(clusters, gamma=3) if kernel == "laplacian" else rbf_kernel(clusters, gamma=10)
    values, vectors = np.linalg.eigh(K)
    half = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    p = vectors[:, -2]
    # 1/2 ||K^(1/2) p - K a||^2 + l2/2 a' K a + l1 ||a||_1 as a lasso with 2n rows
    rows, wanted = np.vstack([K, np.sqrt(l2) * half]), np.append(half @ p, np.zeros(n))
    with warnings.catch_warnings():  # coordinate descent comes near the minimum, but slowly
        warnings.simplefilter("ignore", ConvergenceWarning)
        lasso = Lasso(alpha=l1 / (2 * n), fit_intercept=False, tol=1e-14, max_iter=20_000)
        lasso.fit(rows, wanted)

    settings = AdmmSettings(l2=l2, rho=0.05, eps_abs=1e-9, eps_rel=1e-9, max_admm_iter=20_000)
    problem = ElasticNet.of(K, settings)
    a, _ = problem.solve(problem.eigenvectors.T @ p, l1, AdmmTrace())

    def objective(a):
        return np.sum((rows @ a - wanted) ** 2) / 2 + l1 * np.abs(a).sum()

    assert objective(a) == pytest.approx(objective(lasso.coef_), rel=1e-3)
    assert objective(a) <= objective(lasso.coef_) + 1e-8
    # The dual problem, max 1/2 ||wanted||^2 - 1/2 ||wanted - theta||^2 with |rows' theta| <= l1, bounds it.
    left = wanted - rows @ a
    theta = left * min(1.0, l1 / np.abs(rows.T @ left).max())
    bound = (wanted @ wanted - np.sum((wanted - theta) ** 2)) / 2
    assert bound == pytest.approx(objective(a), rel=1e-5)
    assert 0 < np.count_nonzero(a) < n
    # Optimality: the gradient is -l1 sign(a) where a is not zero, and within l1 elsewhere.
    gradient = rows.T @ (rows @ a - wanted)
    np.testing.assert_allclose(gradient[a != 0], -l1 * np.sign(a[a != 0]), atol=1e-5)
    assert np.abs(gradient).max() <= l1 * (1 + 1e-4)


@pytest.mark.parametrize("center", [True, False])
def test_both_solvers_find_the_same_components(center, clusters):
    options = CLUSTERS | {"l1": (0.02, 0.02), "max_admm_iter": 20_000, "center": center}
    exact = ElasticNetKPCA(**options).fit(clusters)
    steps = ElasticNetKPCA(solver="admm", eps_abs=1e-7, eps_rel=1e-7, **options).fit(clusters)
    np.testing.assert_array_equal(exact.n_nonzero_, steps.n_nonzero_)
    np.testing.assert_allclose(exact.coefficients_, steps.coefficients_, atol=1e-4)


@pytest.mark.parametrize("rank", [3, 20, 60])
@pytest.mark.parametrize("weight", [1e-6, 1e-2, 1.0])
def test_the_lasso_meets_its_optimality_conditions(rank, weight, rng):
    # Of low rank, with equal columns, and from a start that has nothing to do with the minimum.
    factor = rng.normal(size=(rank, 40))
    factor[:, 20:30] = factor[:, :10]
    matrix, wanted = factor.T @ factor, factor.T @ rng.normal(size=rank)
    for start in (np.zeros(40), rng.normal(size=40)):
        x, steps = lasso(matrix, wanted, weight, start, 1e-9, 10_000)
        gradient = matrix @ x - wanted
        assert steps < 10_000 and np.abs(gradient).max() <= weight + 1e-8
        np.testing.assert_allclose(gradient[x != 0], -weight * np.sign(x[x != 0]), atol=1e-8)


def test_the_lasso_is_that_of_scikit_learn(rng):
    X, y = rng.normal(size=(200, 50)), rng.normal(size=200)
    theirs = Lasso(alpha=0.05, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    ours, _ = lasso(X.T @ X, X.T @ y, 200 * 0.05, np.zeros(50), 1e-10, 1000)
    np.testing.assert_array_equal(ours == 0, theirs == 0)
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


@pytest.mark.parametrize("weight", [1e-4, 1e-2])
def test_equal_samples_share_what_one_of_them_would_have(weight, clusters):
    twice = np.vstack([clusters, clusters])
    K = rbf_kernel(twice, gamma=10)
    problem = ActiveSet(K, 3, 0.1, 10_000)
    for k in range(3):
        u = problem.eigenvectors[:, k] * problem.eigenvalues[k] ** 0.5
        a, solved = problem.minimum(u, weight, np.zeros(len(K)))
        gradient = K @ (K @ a + 0.1 * a - u)
        assert solved and np.abs(gradient).max() <= weight * (1 + 1e-5)
        np.testing.assert_allclose(gradient[a != 0], -weight * np.sign(a[a != 0]), rtol=1e-5)


@pytest.mark.parametrize("seed", [4, 71])
def test_rounding_of_large_values_is_no_reason_to_go_on(seed, monkeypatch):
    """Sums over all samples may be above the slack where those over the ones that count are not."""
    X = np.random.default_rng(seed).standard_t(1.5, (48, 3))
    idle = []

    def watched(*problem):
        x, steps = lasso(*problem)
        idle.append(steps == 0)
        assert idle[-2:] != [True, True], "the same problem again"
        return x, steps

    monkeypatch.setattr("kpca_lab.methods.elastic_net_active.lasso", watched)
    options = {"kernel": "poly", "degree": 2, "coef0": 2.5, "gamma": "median"}
    model = ElasticNetKPCA(6, max_iter=10, **options).fit(X)
    best = empirical_error(FullKPCA(6, **options).fit(X), X)
    assert any(idle) and best <= empirical_error(model, X) < 2 * best


@pytest.mark.parametrize("offset", [1e2, 1e5])
def test_directions_that_rounding_hides_do_not_let_coefficients_grow(offset, rng):
    """The square of such a kernel matrix has few digits left of its smaller eigenvalues, or none."""
    X = rng.standard_normal((54, 2)) + offset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        model = ElasticNetKPCA(5, kernel="poly", gamma="scale", max_iter=3).fit(X)
    full = FullKPCA(5, kernel="poly", gamma="scale").fit(X)
    assert np.isfinite(model.coefficients_).all()
    np.testing.assert_allclose(model.eigenvalues_[:2], full.eigenvalues_[:2], rtol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_each_pass_ends_by_the_printed_rule(center, clusters):
    model = ElasticNetKPCA(center=center, solver="admm", **CLUSTERS).fit(clusters)
    for trace in model.trace_:
        primal, dual = np.array(trace.primal_residual), np.array(trace.dual_residual)
        within = (primal <= trace.primal_limit) & (dual <= trace.dual_limit)
        ends = np.cumsum(trace.steps) - 1
        assert len(within) == ends[-1] + 1 == len(trace.objective)
        stopped_early = np.array(trace.steps) < 300
        assert within[ends[stopped_early]].all()
        assert within.sum() <= len(ends)
        assert np.isfinite(trace.objective).all()


def test_larger_weights_leave_fewer_coefficients(curve):
    counts = [ElasticNetKPCA(2, l1=l1, **CURVE).fit(curve).n_nonzero_ for l1 in (0.0, 0.005, 0.05)]
    assert (counts[0] == 500).all()
    assert (np.diff(counts, axis=0) < 0).all()


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_first_toy_example_is_sparse_and_close_to_kernel_pca(solver, center, clusters):
    model = ElasticNetKPCA(center=center, solver=solver, **CLUSTERS).fit(clusters)
    full = FullKPCA(8, gamma=10, center=center).fit(clusters)
    assert model.n_components_ == 8
    assert (model.n_nonzero_ <= 25).all()
    assert operator_distance(model, full).d2_per_component < 0.05
    assert 1 <= empirical_error(model, clusters) / empirical_error(full, clusters) < 1.2


@pytest.mark.parametrize("l1", [0.05, (0.05, 0.07, 0.08, 0.09)])
def test_second_toy_example_is_sparse_and_close_to_kernel_pca(l1, curve):
    model = ElasticNetKPCA(4, l1=l1, **CURVE).fit(curve)
    full = FullKPCA(4, gamma=2).fit(curve)
    assert (model.n_nonzero_ <= 50).all()
    assert operator_distance(model, full).d2_per_component < 0.05
    assert 1 <= empirical_error(model, curve) / empirical_error(full, curve) < 1.1


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_components_are_the_coefficients_and_of_unit_length(solver, center, clusters):
    model = ElasticNetKPCA(center=center, solver=solver, **CLUSTERS).fit(clusters)
    K = rbf_kernel(clusters, gamma=10)
    if center:
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    np.testing.assert_allclose(model.transform(clusters), K @ model.coefficients_, atol=1e-10)
    np.testing.assert_allclose(model.operator_.left_gram.diagonal(), 1)
    np.testing.assert_allclose(model.eigenvalues_, np.sum(model.transform(clusters) ** 2, axis=0))
    support = np.flatnonzero(model.coefficients_.any(axis=1))
    np.testing.assert_array_equal(model.support_, support)
    assert len(model.operator_.points) == (90 if center else len(support))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_orthonormalized_components_project_on_the_same_spans(solver, center, clusters):
    plain = ElasticNetKPCA(center=center, solver=solver, **CLUSTERS).fit(clusters)
    model = ElasticNetKPCA(center=center, solver=solver, orthonormalize=True, **CLUSTERS).fit(clusters)
    np.testing.assert_allclose(model.operator_.left_gram, np.eye(8), atol=1e-10)
    for r in (1, 4, 8):
        # The projector on the span is the best that can be done with those components.
        best = empirical_error(model.operator_.truncate(r), clusters)
        assert best <= empirical_error(plain.operator_.truncate(r), clusters) + 1e-12
        mixed = np.linalg.lstsq(plain.transform(clusters)[:, :r], model.transform(clusters)[:, :r])
        assert mixed[1].sum() < 1e-16


def test_precomputed_kernel_gives_the_same(clusters):
    plain = ElasticNetKPCA(**CLUSTERS).fit(clusters)
    options = {**CLUSTERS, "kernel": "precomputed"}
    model = ElasticNetKPCA(**options).fit(rbf_kernel(clusters, gamma=10))
    np.testing.assert_array_equal(model.n_nonzero_, plain.n_nonzero_)
    np.testing.assert_allclose(
        model.transform(rbf_kernel(clusters[:5], clusters, gamma=10)),
        plain.transform(clusters[:5]),
        atol=1e-6,
    )


def test_weights_that_leave_nothing_are_reported(clusters):
    for center in (True, False):
        model = ElasticNetKPCA(2, gamma=10, l1=1e6, center=center)
        with pytest.warns(ConvergenceWarning, match="l1=1000000.0 is too large"):
            model.fit(clusters)
        np.testing.assert_array_equal(model.transform(clusters), 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_by_default_there_are_components_until_the_penalty_leaves_none(solver, clusters):
    options = dict(gamma=10, l1=0.02, max_admm_iter=300, solver=solver)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "No coefficient")
        model = ElasticNetKPCA(**options).fit(clusters)
    r = model.n_components_
    assert 2 < r < 30 and len(getattr(model, "trace_", [0] * r)) == r and (model.n_nonzero_ > 0).all()
    with pytest.warns(ConvergenceWarning, match=rf"components \[{r}\]"):
        more = ElasticNetKPCA(r + 1, **options).fit(clusters)
    np.testing.assert_allclose(more.coefficients_[:, :r], model.coefficients_, atol=1e-7)


def test_equal_samples_have_no_components():
    model = ElasticNetKPCA(gamma=1.0).fit(np.full((6, 2), 0.3))
    assert model.transform(np.ones((2, 2))).shape == (2, 0)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_scale_and_offset_do_no_harm(scale, clusters):
    moved = scale * (clusters + 100)
    options = {**CLUSTERS, "gamma": 10 / scale**2}
    model = ElasticNetKPCA(**options).fit(moved)
    plain = ElasticNetKPCA(**CLUSTERS).fit(clusters)
    np.testing.assert_allclose(model.transform(moved), plain.transform(clusters), atol=1e-4)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(l1=-1.0), "l1 must be"),
        (dict(l1="much"), "l1 must be"),
        (dict(l1=[]), "l1 must be"),
        (dict(n_components=2, l1=[0.1]), "l1 has 1 values"),
        (dict(l2=-1), "l2 must be"),
        (dict(rho=0), "rho must be"),
        (dict(eps_rel=np.nan), "eps_rel must be"),
        (dict(solver="lars"), 'solver must be "active_set" or "admm"'),
        (dict(max_iter=0), "max_iter must be"),
        (dict(max_admm_iter=1.5), "max_admm_iter must be"),
        (dict(center="basis"), "center must be"),
    ],
)
def test_wrong_parameters_are_named(options, message, clusters):
    with pytest.raises(ValueError, match=message):
        ElasticNetKPCA(**options).fit(clusters)
