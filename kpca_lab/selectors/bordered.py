"""What a border adds to the largest eigenvalues of a diagonal matrix: bounds, and the gain itself."""

import numpy as np

NEWTON_STEPS = 5


def bordered_gain_bounds(
    eigenvalues: np.ndarray, r: int, border: np.ndarray, corner: np.ndarray
) -> np.ndarray:
    """Bounds on what a border adds to the sum of the ``r`` largest eigenvalues of a diagonal matrix.

    Parameters
    ----------
    eigenvalues : ndarray of shape (k,)
        The diagonal ``xi``, largest first, with ``k >= r``.
    r : int
    border : ndarray of shape (k, c)
        The new column ``z`` of each of ``c`` bordered ("arrow") matrices.
    corner : ndarray of shape (c,)
        Their new diagonal entries.

    Returns
    -------
    ndarray of shape (2, c)
        Lower and upper bounds.

    Notes
    -----
    Eliminating the entries after the first ``r`` turns the corner into
    ``beta(t) = corner + sum_{j > r} z_j^2 / (t - xi_j)``, which falls with ``t``; the eigenvalues in
    question are at least ``xi_r``. Hence ``beta = corner`` gives a lower bound and ``beta(xi_r)`` an
    upper one. For a constant ``beta`` the gain is ``s``, where ``beta - s`` is the least eigenvalue of
    the matrix of size ``r + 1``: ``s = sum_{j <= r} z_j^2 / (xi_j - beta + s)``. Another upper bound is
    the positive eigenvalue of the border alone.
    """
    lower, _ = _constant_corner_gain(eigenvalues[:r], border[:r] ** 2, corner, NEWTON_STEPS)
    upper = bordered_gain_ceiling(eigenvalues, r, border, corner, steps=NEWTON_STEPS)
    return np.stack([lower, np.maximum(upper, lower)])


def bordered_gain_ceiling(
    eigenvalues: np.ndarray,
    r: int,
    border: np.ndarray,
    corner: np.ndarray,
    *,
    rest: np.ndarray | float = 0.0,
    steps: int = 0,
) -> np.ndarray:
    """The upper bound of :func:`bordered_gain_bounds`, or a higher one that takes less work.

    Parameters
    ----------
    eigenvalues, r, corner
        As there.
    border : ndarray of shape (at least r, c)
        The first entries of ``z``.
    rest : ndarray of shape (c,)
        Sum of the squares of the entries of ``z`` that ``border`` leaves out.
    steps : int
        Steps of Newton's method: with fewer the bound is higher.

    Returns
    -------
    ndarray of shape (c,)
    """
    top, shown = eigenvalues[:r], len(border)
    squares = border**2
    half = corner / 2
    upper = half + np.sqrt(half * half + squares.sum(axis=0) + rest)
    gap = top[-1] - eigenvalues[r:]
    if (gap > np.finfo(np.float64).eps * top[-1]).all():
        raised = corner + (1 / gap[: shown - r]) @ squares[r:]
        if shown < len(eigenvalues):
            raised += rest / gap[shown - r]
        upper = np.minimum(upper, _constant_corner_gain(top, squares[:r], raised, steps)[1])
    return upper * (1 + 1e-12)


def _constant_corner_gain(top, squares, corner, steps):
    """Newton's method for ``s``, from below (the function is convex and falls), and an upper bound."""
    distance = top[:, None] - corner
    # Each term alone has a root in closed form, and all terms together have a larger one.
    half = distance / 2
    gain = (np.sqrt(half * half + squares) - half).max(axis=0)
    least = np.finfo(np.float64).eps * np.abs(distance) + np.finfo(np.float64).tiny
    for _ in range(steps):
        shifted = np.maximum(distance + gain, least)
        terms = squares / shifted
        value, slope = terms.sum(axis=0) - gain, (terms / shifted).sum(axis=0) + 1
        gain = gain + np.maximum(value, 0.0) / slope
    upper = (squares / np.maximum(distance + gain, least)).sum(axis=0)
    return gain, np.maximum(upper, gain)


def bordered_gains(eigenvalues, r: int, border: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """What a border adds to the sum of the ``r`` largest eigenvalues; see :func:`bordered_gain_bounds`."""
    k, count = border.shape
    arrow = np.zeros((count, k + 1, k + 1))
    arrow[:, np.arange(k), np.arange(k)] = eigenvalues
    arrow[:, k, :k] = arrow[:, :k, k] = border.T
    arrow[:, k, k] = corner
    return np.linalg.eigvalsh(arrow)[:, k + 1 - r :].sum(axis=1) - eigenvalues[:r].sum()
