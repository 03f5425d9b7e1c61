"""Ritz vectors in the span of components that an iteration has reached, and their distance from the limit."""

import numpy as np

from kpca_lab.linalg import numerical_rank, rank_tolerance, top_eigenpairs

# Eigenvalues that differ by a smaller share count as one, whose components may be any basis of their space.
COINCIDE = 1e-3
# Directions outside the components that are watched for the next eigenvalues.
WATCHED = 3
# Power steps of the first call: directions at random would make the eigenvalues outside look far away.
FIRST_STEPS = 30


def principal_axes(A, AK) -> tuple[np.ndarray, np.ndarray]:
    """Ritz values in the span of the rows, and the columns that turn rows to an orthonormal basis of it."""
    squares, turn = top_eigenpairs(AK @ A.T)
    rank = numerical_rank(squares, rank_tolerance(A.shape[1]))
    turn = turn[:, :rank] / np.sqrt(squares[:rank])
    scores = AK.T @ turn
    ritz, axes = top_eigenpairs(scores.T @ scores)
    return ritz, turn @ axes


class DistanceFromComponents:
    """How far rows can be from the components of a kernel matrix, as one minus the cosine in feature space.

    Within the span of the rows the distance is known from the Ritz vectors. Out of it, the sine of the angle
    is at most the residual over the gap to the eigenvalues outside, estimated by a power iteration that goes
    on from call to call. Eigenvalues that coincide count as one space.

    Attributes
    ----------
    value : float
        The largest distance at the last call.
    worst : int
        The row that has it.
    gap : float
        Relative difference of its eigenvalue from the nearest other one.
    share : float
        Its eigenvalue over the largest one.
    """

    def __init__(self, gram: np.ndarray, r: int):
        self.gram = gram
        self.others = np.random.default_rng(0).standard_normal((min(WATCHED, len(gram) - r), len(gram)))
        self.steps = FIRST_STEPS
        self.value, self.worst, self.gap, self.share = 1.0, 0, 0.0, 0.0

    def __call__(self, A: np.ndarray, AK: np.ndarray) -> float:
        ritz, turn = principal_axes(A, AK)
        if len(ritz) < len(A):
            self.value, self.worst, self.gap, self.share = 1.0, len(ritz), 0.0, 0.0
            return self.value
        scores = turn.T @ AK
        squares = np.einsum("ij,ij->i", scores, scores @ self.gram)
        residuals = np.sqrt(np.maximum(squares - ritz**2, 0.0))
        outside, errors = self._outside(scores / np.sqrt(ritz)[:, None])
        gaps = _gaps(ritz, residuals, outside, errors)
        # Beside a larger eigenvalue outside, a small residual tells nothing.
        sines = np.ones(len(ritz))
        np.divide(np.minimum(residuals, gaps), gaps, out=sines, where=gaps > 0)
        lengths = np.sqrt(np.einsum("ij,ij->i", A, AK))
        squared = ((AK @ A.T @ turn) / lengths[:, None]) ** 2
        same = _coincide(ritz, residuals, ritz, residuals) | np.eye(len(ritz), dtype=bool)
        inside = np.where(same, squared, 0.0).sum(axis=1)
        distances = 1 - np.sqrt(np.minimum(inside, 1.0) * (1 - sines**2))
        self.worst = int(distances.argmax())
        self.value = float(distances[self.worst])
        self.share = float(ritz[self.worst] / ritz[0])
        known = np.delete(np.concatenate([ritz, outside]), self.worst)
        self.gap = float(np.abs(known / ritz[self.worst] - 1).min(initial=1.0))
        return self.value

    def _outside(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest eigenvalues orthogonal to the directions and their errors, by power steps."""

        def reduced(vectors):
            return vectors - (vectors @ directions.T) @ directions

        for _ in range(self.steps):
            # Once more after normalizing: what is left may have been rounding errors alone.
            others = reduced(np.linalg.qr(reduced(self.others).T)[0].T)
            self.others = reduced(others @ self.gram)
        self.steps = 1
        values, turn = np.linalg.eigh(self.others @ others.T)
        return values, np.linalg.norm(turn.T @ self.others - values[:, None] * (turn.T @ others), axis=1)


def _gaps(ritz, residuals, outside, errors) -> np.ndarray:
    """How far Ritz values lie above the next eigenvalue outside."""
    if not len(outside):
        return ritz
    same = _coincide(ritz, residuals, outside, errors)
    gaps = np.where(same, np.inf, ritz[:, None] - (outside + errors)).min(axis=1)
    # Where all that are watched coincide with a value, so may the next one.
    return np.where(same.all(axis=1), COINCIDE * ritz, gaps)


def _coincide(values, errors, others, other_errors) -> np.ndarray:
    """Which values are the same up to ``COINCIDE``, and known well enough to tell."""
    width = COINCIDE * values[:, None]
    return (np.abs(values[:, None] - others) <= width) & (errors[:, None] <= width) & (other_errors <= width)
