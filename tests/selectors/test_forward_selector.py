"""Forward search picks what Algorithm 1 picks."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from literal_searches import KERNELS, explicit_features, kernel_of, projection_error, random_samples

from kpca_lab import SubsetKPCA
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.metrics import empirical_error
from kpca_lab.selectors import ForwardSelector, criterion, forward, get_selector
from kpca_lab.selectors.bordered import bordered_gain_bounds, bordered_gain_ceiling, bordered_gains
from kpca_lab.selectors.criterion import ROUNDING, TIE
from kpca_lab.selectors.forward import DRIFT, ForwardSearch


def literal_forward(error_of, n_samples, n_basis, per_step=1):
    """Algorithm 1, word for word. Errors within the stated tolerance are ties, and the lowest number wins."""
    chosen, scale = [], None
    while len(chosen) < n_basis:
        left = [i for i in range(n_samples) if i not in chosen]
        errors = np.array([error_of([*chosen, i]) for i in left])
        scale = errors.min() if scale is None else scale
        for _ in range(min(per_step, n_basis - len(chosen))):
            best = int(np.flatnonzero(errors <= errors.min() + TIE * scale)[0])
            chosen.append(left[best])
            errors[best] = np.inf
    return chosen


def select(X, n_basis, n_components, center, selector="forward", **kernel):
    found = get_selector(selector).select(
        X,
        n_basis,
        kernel=kernel_of(X, **kernel),
        n_components=n_components,
        center=center,
        rng=np.random.default_rng(0),
    )
    return found.tolist()


@pytest.mark.parametrize("center", [False, True, "mean"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: "-".join(map(str, kernel.values())))
@pytest.mark.parametrize("n_components", [1, 3, None])
def test_agrees_with_algorithm_1(kernel, center, n_components):
    for seed in range(4):
        X = random_samples(seed, duplicates=seed % 2)
        features = explicit_features(X, **kernel)
        literal = literal_forward(
            lambda basis, features=features: projection_error(features, basis, n_components, center),
            len(X),
            7,
        )
        assert select(X, 7, n_components, center, **kernel) == literal


@pytest.mark.parametrize("center", [False, True, "mean"])
@pytest.mark.parametrize("n_components", [2, None])
def test_agrees_with_algorithm_1_by_fitting_the_estimator(center, n_components):
    X = random_samples(5)

    def error_of(basis):
        model = SubsetKPCA(n_components, gamma=0.5, center=center, basis=np.array(basis)).fit(X)
        return empirical_error(model, X)

    assert select(X, 6, n_components, center, gamma=0.5) == literal_forward(error_of, len(X), 6)


@pytest.mark.parametrize("per_step", [2, 3])
@pytest.mark.parametrize("n_components", [2, None])
def test_adds_the_best_of_a_step_together(per_step, n_components):
    for seed in range(3):
        X = random_samples(seed)
        features = explicit_features(X, gamma=0.5)
        literal = literal_forward(
            lambda basis, features=features: projection_error(features, basis, n_components, True),
            len(X),
            7,
            per_step,
        )
        assert select(X, 7, n_components, True, ForwardSelector(per_step=per_step), gamma=0.5) == literal


def exact_error(X, gamma, basis, center, n_components):
    """The error of SubKPCA in decimal arithmetic of 60 digits, of any rank or of rank one."""
    points = [[Decimal(float(x)) for x in row] for row in X]
    n = len(points)

    def k(i, j):
        square = sum((a - b) ** 2 for a, b in zip(points[i], points[j]))
        return (-Decimal(gamma) * square).exp()

    residual = [[k(i, j) for j in range(n)] for i in basis]
    outside = [Decimal(1)] * n
    rows = []
    for step, number in enumerate(basis):
        row = [value / residual[step][number].sqrt() for value in residual[step]]
        for later in range(step + 1, len(basis)):
            share = row[basis[later]]
            residual[later] = [value - share * entry for value, entry in zip(residual[later], row)]
        outside = [value - entry**2 for value, entry in zip(outside, row)]
        rows.append(row)
    if center:
        means = [sum(row) / n for row in rows]
        rows = [[entry - mean for entry in row] for row, mean in zip(rows, means)]
    scatter = [[sum(a * b for a, b in zip(p, q)) for q in rows] for p in rows]
    trace = sum(scatter[i][i] for i in range(len(rows)))
    beyond = Decimal(0)
    if n_components == 1 and len(rows) > 1:
        power = scatter
        for _ in range(12):  # squaring finds the largest eigenvalue
            power = [[sum(a * b for a, b in zip(p, q)) for q in zip(*power)] for p in power]
            size = sum(power[i][i] for i in range(len(power)))
            power = [[entry / size for entry in row] for row in power]
        beyond = trace - sum(
            power[i][j] * scatter[i][j] for i in range(len(power)) for j in range(len(power))
        )
    return sum(outside) + beyond


@pytest.mark.parametrize("n_components", [1, None])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("gamma", [1e-5, 1e-8])
def test_nearly_constant_gram_matrix(gamma, center, n_components):
    X = np.random.default_rng(3).standard_normal((9, 2))
    with localcontext() as context:
        context.prec = 60
        chosen = []
        for _ in range(5):
            left = [i for i in range(len(X)) if i not in chosen]
            chosen.append(min(left, key=lambda i: exact_error(X, gamma, [*chosen, i], center, n_components)))
    # With rank one the error no longer changes in the digits that a search can see after a few samples.
    size = 3 if n_components == 1 or gamma < 1e-5 else 5
    assert select(X, size, n_components, center, gamma=gamma) == chosen[:size]


def test_data_far_from_zero():
    X = np.round(random_samples(1) * 64) / 64  # so that adding the offset is exact
    shifted = X + 4096.0
    assert select(shifted, 6, 2, True, gamma=0.3) == select(X, 6, 2, True, gamma=0.3)
    for center in (False, True, "mean"):
        literal = literal_forward(
            lambda basis, center=center: projection_error(shifted, basis, 2, center), len(X), 3
        )
        assert select(shifted, 3, 2, center, kernel="linear") == literal


def test_samples_in_the_span_come_last_by_number():
    X = np.zeros((8, 3))
    X[2, 0], X[5, 1] = 3.0, 2.0
    assert select(X, 5, None, False, kernel="linear") == [2, 5, 0, 1, 3]
    assert select(np.ones((4, 2)), 3, 2, True, gamma=1.0) == [0, 1, 2]
    assert select(np.zeros((4, 2)), 3, 2, True, kernel="linear") == [0, 1, 2]


def test_precomputed_kernel_gives_the_same():
    X = random_samples(2)
    gram = kernel_of(X, gamma=0.5)(X, X)
    found = ForwardSelector().select(
        np.arange(len(X)), 6, kernel=Kernel("precomputed", gram=gram), n_components=2, center=True
    )
    assert found.tolist() == select(X, 6, 2, True, gamma=0.5)


def test_candidates_limit_the_choice_not_the_criterion():
    X = random_samples(4)
    found = select(X, 5, 2, True, ForwardSelector(candidates=9), gamma=0.5)
    allowed = np.sort(np.random.default_rng(0).choice(len(X), size=9, replace=False))
    features = explicit_features(X, gamma=0.5)
    literal = literal_forward(
        lambda basis: projection_error(features, allowed[basis], 2, True), len(allowed), 5
    )
    assert found == allowed[literal].tolist()
    assert select(X, 5, 2, True, ForwardSelector(candidates=100), gamma=0.5) == select(
        X, 5, 2, True, gamma=0.5
    )


def test_bounds_enclose_the_gain_of_a_border():
    rng = np.random.default_rng(0)
    for trial in range(300):
        k = int(rng.integers(1, 9))
        r = int(rng.integers(1, k + 1))
        eigenvalues = np.sort(10.0 ** rng.uniform(-3, 3, k))[::-1]
        if trial % 3 == 0:
            eigenvalues[-k // 2 :] = eigenvalues[-k // 2]  # equal ones
        border = 10.0 ** rng.uniform(-4, 2) * rng.standard_normal((k, 6)) * (rng.random((k, 6)) < 0.8)
        corner = 10.0 ** rng.uniform(-3, 3, 6)
        lower, upper = bordered_gain_bounds(eigenvalues, r, border, corner)
        gain = bordered_gains(eigenvalues, r, border, corner)
        rounding = 1e-12 * (eigenvalues[0] + corner + np.abs(border).sum(axis=0))
        assert (lower <= gain + rounding).all()
        assert (gain <= upper + rounding).all()
        shown = int(rng.integers(r, k + 1))
        rest = np.sum(border[shown:] ** 2, axis=0)
        ceiling = bordered_gain_ceiling(eigenvalues, r, border[:shown], corner, rest=rest)
        assert (gain <= ceiling + rounding).all()


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("per_step", [1, 3])
def test_the_choice_does_not_depend_on_how_many_gains_are_bounded_closely(monkeypatch, center, per_step):
    X = np.random.default_rng(1).standard_normal((120, 3))
    found = []
    for front in (0, 5, 120):
        monkeypatch.setattr(forward, "FRONT", front)
        found.append(select(X, 20, 4, center, ForwardSelector(per_step), gamma=0.5))
    assert found[0] == found[1] == found[2]


def test_lengths_kept_up_to_date_are_as_exact_as_assumed():
    X = np.random.default_rng(0).standard_normal((150, 1))  # the kernel matrix has a low numerical rank
    for rank in (3, np.inf):
        search = ForwardSearch(X, make_kernel("rbf", gamma=0.5, n_features=1), rank, 12, True)
        search.extend(12)
        usable = np.flatnonzero(search.free & (search.outside > search.floor))
        squares, sums = search._lengths(usable)
        doubt = DRIFT * search.moved[usable]
        # Sums may have been formed anew some steps ago, from larger rows that rounding had its share in.
        computed_anew = 8 * np.sqrt(150 * squares.max()) * ROUNDING * search.largest_outside
        assert (np.abs(search.squares[usable] - squares) <= doubt + computed_anew).all()
        assert (np.abs(search.sums[usable] - sums) <= DRIFT * search.moved_sums[usable] + 1e-14).all()


def test_candidates_that_drift_leaves_in_question_are_summed_anew_together(monkeypatch):
    """One by one, each with an eigenproblem, they took minutes once little was left to gain."""
    X = np.random.default_rng(0).standard_normal((150, 2))
    asked = []

    def counted(values, r, border, corner):
        asked.append(border.shape[1])
        return bordered_gains(values, r, border, corner)

    monkeypatch.setattr("kpca_lab.selectors.forward.bordered_gains", counted)
    kernel = make_kernel("rbf", gamma=0.05, n_features=2)
    assert len(set(ForwardSelector().select(X, 150, kernel=kernel, n_components=3).tolist())) == 150
    assert sum(asked) < 150


def test_clear_errors(monkeypatch):
    X = random_samples(0)
    for wrong in ({"n_basis": 0}, {"n_basis": len(X) + 1}, {"n_components": 0}, {"center": "middle"}):
        arguments = {"n_basis": 3, "n_components": 2, "center": True} | wrong
        with pytest.raises(ValueError, match=next(iter(wrong))):
            select(X, **arguments)
    with pytest.raises(ValueError, match="per_step"):
        select(X, 3, 2, True, ForwardSelector(per_step=0))
    with pytest.raises(ValueError, match="candidates=2"):
        select(X, 3, 2, True, ForwardSelector(candidates=2))
    monkeypatch.setattr(criterion, "MATRIX_BYTES", 1000)
    with pytest.raises(ValueError, match="candidates"):
        select(X, 3, 2, True)
