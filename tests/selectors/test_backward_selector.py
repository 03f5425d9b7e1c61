"""Backward search removes what a search that refits every candidate removes."""

import numpy as np
import pytest
from literal_searches import KERNELS, explicit_features, kernel_of, projection_error, random_samples

from kpca_lab.kernels import Kernel
from kpca_lab.selectors import BackwardSelector, ForwardBackwardSelector, ForwardSelector, criterion
from kpca_lab.selectors.backward import compressed_loss_bounds, compressed_losses
from kpca_lab.selectors.criterion import TIE


def literal_backward(features, n_basis, n_components, center, per_step=1):
    """Remove the sample that is missed least, refitting for each; of ties the lowest number."""
    kept = list(range(len(features)))
    scale = np.mean(np.sum((features - features.mean(axis=0)) ** 2, axis=1))
    while len(kept) > n_basis:
        errors = np.array(
            [projection_error(features, [j for j in kept if j != i], n_components, center) for i in kept]
        )
        removed = []
        for _ in range(min(per_step, len(kept) - n_basis)):
            removed.append(int(np.flatnonzero(errors <= errors.min() + TIE * scale)[0]))
            errors[removed[-1]] = np.inf
        kept = np.delete(kept, removed).tolist()
    return kept


def select(selector, X, n_basis, n_components, center, **kernel):
    found = selector.select(
        X, n_basis, kernel=kernel_of(X, **kernel), n_components=n_components, center=center
    )
    return found.tolist()


@pytest.mark.parametrize("center", [False, True, "mean"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: "-".join(map(str, kernel.values())))
@pytest.mark.parametrize("n_components", [1, 3, None])
def test_agrees_with_refitting_every_candidate(kernel, center, n_components):
    for seed in range(2):
        X = random_samples(seed, duplicates=seed % 2)
        literal = literal_backward(explicit_features(X, **kernel), 4, n_components, center)
        assert select(BackwardSelector(), X, 4, n_components, center, **kernel) == literal


def test_removes_the_least_missed_of_a_step_together():
    for seed in range(3):
        X = random_samples(seed)
        literal = literal_backward(explicit_features(X, gamma=0.5), 4, 2, True, per_step=3)
        assert select(BackwardSelector(per_step=3), X, 4, 2, True, gamma=0.5) == literal


@pytest.mark.parametrize("center", [False, True, "mean"])
@pytest.mark.parametrize("n_components", [2, 8])
def test_backward_after_forward_is_never_worse_than_forward(center, n_components):
    better = 0
    for seed in range(12):
        X = np.random.default_rng(seed).standard_normal((60, 3))
        features = explicit_features(X, gamma=0.5)
        errors = [
            projection_error(
                features, select(selector, X, 6, n_components, center, gamma=0.5), n_components, center
            )
            for selector in (ForwardSelector(), ForwardBackwardSelector(), ForwardBackwardSelector(rounds=5))
        ]
        assert errors[0] * (1 + 1e-10) >= errors[1]
        assert errors[1] * (1 + 1e-10) >= errors[2]
        better += errors[1] < errors[0] * (1 - 1e-6)
    assert better >= 3


def test_all_samples_are_kept_when_all_are_wanted():
    X = random_samples(0)
    for selector in (BackwardSelector(), ForwardBackwardSelector()):
        assert sorted(select(selector, X, len(X), 2, True)) == list(range(len(X)))


def test_equal_samples_leave_the_highest_numbers():
    assert select(BackwardSelector(), np.ones((5, 2)), 2, 1, True) == [3, 4]
    assert select(BackwardSelector(), np.zeros((5, 2)), 2, 1, False, kernel="linear") == [3, 4]


def test_nearly_constant_gram_matrix_follows_the_linear_kernel():
    # To first order in gamma, centred kernel PCA with the Gaussian kernel is PCA.
    X = np.random.default_rng(5).standard_normal((12, 2))
    gaussian = select(BackwardSelector(), X, 4, 2, True, gamma=1e-7)
    spanned = np.column_stack([X[gaussian], np.ones(4)])
    assert np.linalg.matrix_rank(spanned, tol=0.1) == 3


def test_precomputed_kernel_gives_the_same():
    X = random_samples(2)
    precomputed = Kernel("precomputed", gram=kernel_of(X, gamma=0.5)(X, X))
    for selector in (BackwardSelector(), ForwardBackwardSelector()):
        found = selector.select(np.arange(len(X)), 5, kernel=precomputed, n_components=2, center=True)
        assert found.tolist() == select(selector, X, 5, 2, True, gamma=0.5)


def test_bounds_enclose_the_loss_of_a_direction():
    rng = np.random.default_rng(0)
    for trial in range(300):
        k = int(rng.integers(2, 9))
        r = int(rng.integers(1, k))
        eigenvalues = np.sort(10.0 ** rng.uniform(-3, 3, k))[::-1]
        if trial % 3 == 0:
            eigenvalues[k // 2 :] = eigenvalues[k // 2]
        lost = rng.standard_normal((k, 6)) * 10.0 ** rng.uniform(-4, 0, (k, 6)) * (rng.random((k, 6)) < 0.8)
        lost[rng.integers(k)] += 1e-3
        lost /= np.linalg.norm(lost, axis=0)
        lower, upper = compressed_loss_bounds(eigenvalues, r, lost)
        loss = compressed_losses(eigenvalues, r, lost)
        assert (lower <= loss + 1e-12 * eigenvalues[0]).all()
        assert (loss <= upper + 1e-12 * eigenvalues[0]).all()


def test_clear_errors(monkeypatch):
    X = random_samples(0)
    with pytest.raises(ValueError, match="n_basis"):
        select(BackwardSelector(), X, 100, 2, True)
    with pytest.raises(ValueError, match="per_step"):
        select(BackwardSelector(per_step=0), X, 3, 2, True)
    with pytest.raises(ValueError, match="overshoot"):
        select(ForwardBackwardSelector(overshoot=1.0), X, 3, 2, True)
    with pytest.raises(ValueError, match="rounds"):
        select(ForwardBackwardSelector(rounds=0), X, 3, 2, True)
    monkeypatch.setattr(criterion, "MATRIX_BYTES", 1000)
    with pytest.raises(ValueError, match="forward_backward"):
        select(BackwardSelector(), X, 3, 2, True)
