"""Recursive ridge leverage scores (Musco and Musco 2017)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kpca_lab.kernels import Kernel, row_blocks
from kpca_lab.linalg import rank_tolerance, top_eigenpairs
from kpca_lab.selectors.criterion import check_count


@dataclass(frozen=True)
class LeverageSelector:
    """Draw samples with probability in proportion to their ridge leverage scores, without repetition.

    The score of sample i is ``(K (K + lambda I)^-1)_ii``: how far it is from being spanned by the others,
    at a resolution ``lambda``. The scores of all samples are estimated from a weighted sample of half of
    them, drawn by the scores of that half, which are estimated in the same way; the recursion
    ends at ``n_basis`` samples. ``lambda`` is the sum of the eigenvalues beyond the k-th over k, with
    ``k = n_basis / (4 log n_basis)``, estimated from the same sample. Bases of different sizes have
    different scores, so a larger one does not extend a smaller one.

    With n samples, d features and a basis of m: O(n m (d + m)) operations, about those of fitting SubKPCA,
    and O(n + m^2) memory.

    References
    ----------
    .. [1] C. Musco, C. Musco, "Recursive sampling for the Nyström method", NIPS 30 (2017), Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="leverage", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the chosen samples."""
        n = X.shape[0]
        n_basis = check_count("n_basis", n_basis, most=n)
        kernel = kernel.anchored(X)
        order = rng.permutation(n)
        size = min(n, n_basis)
        sample, probabilities = order[:size], np.ones(size)
        while True:
            size = min(n, 2 * size)
            level = order[:size]
            scores = leverage_scores(kernel, X, level, sample, probabilities, n_basis)
            if size == n:
                return level[distinct_draw(scores, n_basis, rng)]
            sample, probabilities = _bernoulli_draw(level, scores, n_basis, rng)


def leverage_scores(
    kernel: Kernel,
    X,
    level: np.ndarray,
    sample: np.ndarray,
    probabilities: np.ndarray,
    n_basis: int,
    ridge: float | None = None,
) -> np.ndarray:
    """Ridge leverage scores of the samples ``level``, from a sample drawn with given probabilities.

    ``(k(x, x) - k_S(x)' (K_S + ridge W^-1)^-1 k_S(x)) / ridge``, with ``W`` the weights of the sample, which
    are one over the probabilities: the exact scores where the sample is all of ``level``. Without a
    sample, what the diagonal bounds them by.
    """
    if not len(sample):
        return np.clip(kernel.diagonal(X[level]) / ridge, 0.0, 1.0) if ridge else np.zeros(len(level))
    points, roots = X[sample], 1.0 / np.sqrt(probabilities)
    eigenvalues, vectors = top_eigenpairs(kernel(points, points) * roots[:, None] * roots, solver="dense")
    eigenvalues = np.maximum(eigenvalues, 0.0)
    if ridge is None:
        k = max(1, int(n_basis / (4 * np.log(max(n_basis, 2)))))
        ridge = max(eigenvalues[k:].sum() / k, rank_tolerance(len(sample)) * eigenvalues[0])
    if not ridge > 0:
        return np.zeros(len(level))
    turn = roots[:, None] * vectors / np.sqrt(eigenvalues + ridge)
    scores = np.empty(len(level))
    for block in row_blocks(len(level), 8 * max(len(sample), X.shape[-1])):
        rows = X[level[block]]
        spanned = kernel(rows, points) @ turn
        scores[block] = kernel.diagonal(rows) - np.einsum("ij,ij->i", spanned, spanned)
    return np.clip(scores / ridge, 0.0, 1.0)


def _bernoulli_draw(level, scores, n_basis, rng):
    """Each sample of a level on its own with probability score times log n_basis; never fewer than one."""
    probabilities = np.minimum(1.0, scores * np.log(max(n_basis, 3)))
    drawn = rng.random(len(level)) < probabilities
    if not drawn.any():
        drawn = np.zeros(len(level), dtype=bool)
        drawn[: min(n_basis, len(level))] = True
        probabilities = np.full(len(level), drawn.mean())
    return level[drawn], probabilities[drawn]


def distinct_draw(scores: np.ndarray, size: int, rng) -> np.ndarray:
    """Numbers drawn one after the other by weight, those drawn left out; uniformly when no weight is left."""
    # The smallest of exponential variables with these rates come in just that order.
    with np.errstate(divide="ignore", invalid="ignore"):
        waiting = rng.exponential(size=len(scores)) / scores
    return np.lexsort((rng.random(len(scores)), waiting))[:size]
