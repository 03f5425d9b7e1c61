"""Whether the inner products behind a kernel may be formed in single precision.

Single precision changes ``gamma |x - y|^2``, and so a kernel value, by a few units of ``6e-8 gamma
(|x|^2 + |y|^2)``. What that does to eigenvalues depends on the coefficients of the components, which grow
with the condition of the basis, and on how far errors cancel: those from rounding samples do, those from
rounding the basis points are the same for all samples and need not. Bounds that hold in any case are
hundreds of times too large. So "auto" measures: some of the samples are evaluated both ways, and along each
of their principal components within the span of the basis the sums of squares are compared. Errors
that differ from sample to sample cancel less among few samples than among all, so that the change measured is
rather larger than that of the whole.
"""

from numbers import Integral

import numpy as np

from kpca_lab.linalg import top_eigenpairs

PRECISIONS = ("auto", "double", "mixed")
# The largest share of an eigenvalue kept, or of the error, that "auto" lets single precision cost.
SAFE = 1e-6
# Below this many features products take too little of the time for single precision to help.
MANY_FEATURES = 200
# Samples that are evaluated both ways; with fewer than MANY_SAMPLES that would take longer than it saves.
SOME_SAMPLES, MANY_SAMPLES = 500, 10_000


def check_precision(precision: str) -> None:
    """Refuse an unknown name."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} is unknown: choose from {list(PRECISIONS)}.")


def rows_to_measure(samples) -> np.ndarray | None:
    """Numbers of samples to evaluate both ways; None where that takes longer than it saves."""
    n = samples.known_rows if hasattr(samples, "known_rows") else samples.shape[0]
    if n is None or n < MANY_SAMPLES or samples.shape[-1] < MANY_FEATURES:
        return None
    return np.linspace(0, n - 1, SOME_SAMPLES).astype(np.intp)


def measured_change(
    coordinates: np.ndarray,
    changes: np.ndarray,
    squares: np.ndarray,
    square_changes: np.ndarray,
    n_components: int | float | None,
) -> float:
    """The largest share of an eigenvalue, or of the error, by which some samples' kernel PCA changes.

    Parameters
    ----------
    coordinates, changes : ndarray of shape (n_samples, n_directions)
        The samples in an orthonormal frame, and what is added to that.
    squares, square_changes : ndarray of shape (n_samples,)
        Their squared distances from the origin of the frame, also outside it, and what is added.
    n_components : int, float or None
        How many eigenvalues count; all unless it is a whole number.
    """
    n, mean = len(coordinates), coordinates.mean(axis=0)
    mean_change = changes.mean(axis=0)
    coordinates, changes = coordinates - mean, changes - mean_change
    rank = min(coordinates.shape) - 1
    rank = min(n_components, rank) if isinstance(n_components, Integral) else rank
    values, vectors = top_eigenpairs(coordinates @ coordinates.T, rank)
    if not rank or values[-1] <= 0:
        return np.inf
    along = coordinates.T @ vectors / np.sqrt(values)
    scores, score_changes = coordinates @ along, changes @ along
    moved = np.sum((2 * scores + score_changes) * score_changes, axis=0)
    error = squares.sum() - n * mean @ mean - values.sum()
    error_moved = square_changes.sum() - n * (2 * mean + mean_change) @ mean_change - moved.sum()
    if error <= 0:
        return np.inf
    return float(max(np.abs(moved / values).max(), abs(error_moved) / error))
