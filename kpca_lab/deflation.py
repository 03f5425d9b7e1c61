"""Eigenpairs of a matrix with one eigenvalue so large that the others would drown in its rounding."""

import numpy as np

from kpca_lab.linalg import fix_signs, top_eigenpairs

__all__ = ["eigenpairs_beside"]

# The large part is split off where it is this many times the rest, and the iteration then converges fast.
FAR_ABOVE = 1e3
MOST_STEPS = 20


def eigenpairs_beside(A: np.ndarray, a: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The ``k`` largest eigenpairs of ``A + a a'``, and the sum of all other eigenvalues.

    Uncentred feature vectors of a wide kernel are almost the same one: their second moments are a small
    scatter ``A`` and the product of a long mean. Solved as a whole, all eigenvalues have the rounding of the
    largest. Here the largest is found first, as a small correction to ``a``, and the others from what is
    left, which has only the rounding of ``A``.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric, positive semidefinite.
    a : ndarray of shape (n,)
    k : int

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    eigenvectors : ndarray of shape (n, k)
    rest : float

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab.deflation import eigenpairs_beside
    >>> values, _, rest = eigenpairs_beside(np.diag([0.0, 2e-18, 1e-18]), np.array([1.0, 0.0, 0.0]), 2)
    >>> print(values, rest)
    [1.e+00 2.e-18] 1e-18
    """
    square = float(a @ a)
    if square <= FAR_ABOVE * max(float(A.trace()), 0.0) or k < 1 or len(a) < 2:
        values, vectors = top_eigenpairs(A + np.outer(a, a), k)
        return values, vectors, float(A.trace() + square - values.sum())
    # In coordinates whose first axis is that of a, the largest eigenvector is (1, w) with a small w.
    reflect = _reflection(a)
    turned = reflect(reflect(A).T)
    corner, beside, others = square + turned[0, 0], turned[1:, 0], turned[1:, 1:]
    largest, w = corner, beside / corner
    for _ in range(MOST_STEPS):
        previous, largest = largest, corner + beside @ w
        w = (beside + others @ w) / largest
        if largest == previous:
            break
    # Of its complement, (-w' S; S) with S = (I + w w')^(-1/2) is an orthonormal basis.
    along = float(w @ w)
    shrink = 1 / (1 + along + np.sqrt(1 + along))
    left = others - np.outer(beside, w) - np.outer(w, beside) + corner * np.outer(w, w)
    left -= shrink * np.outer(w, w @ left)
    left -= shrink * np.outer(left @ w, w)
    left = (left + left.T) / 2
    values, within = top_eigenpairs(left, min(k - 1, len(left)))
    within = within - shrink * np.outer(w, w @ within)
    vectors = np.empty((len(a), 1 + len(values)))
    vectors[0], vectors[1:, 1:] = np.append(1.0, -(w @ within)), within
    vectors[1:, 0] = w
    vectors[:, 0] /= np.sqrt(1 + along)
    return np.append(largest, values), fix_signs(reflect(vectors)), float(left.trace() - values.sum())


def _reflection(a: np.ndarray):
    """The reflection, of the columns of a matrix, between the direction of ``a`` and the first axis."""
    normal = a / np.linalg.norm(a)
    normal[0] -= 1.0
    if normal[0] > -0.5:  # take the sum of both instead: no digits are lost to the difference
        normal[0] += 2.0
    normal /= np.linalg.norm(normal)
    return lambda M: M - 2 * np.outer(normal, normal @ M)
