"""How far an error can be from the best that full kernel PCA could reach, without computing it.

Let ``K`` be the Gram matrix of n samples in feature space, taken about the point that a method subtracts, and
``P`` the orthogonal projector on the span of some basis points. Then ``K = K^ + R``, where ``K^`` is the Gram
matrix of the projected samples and ``R`` that of what is left of them; both are positive semidefinite. With
eigenvalues ``l_1 >= l_2 >= ...`` of ``K^``, and ``E_r`` the error of full KPCA of rank r,

    sum_{i>r} l_i / n   <=   E_r   <=   sum_{i>r} l_i / n + trace R / n.

*Proof.* ``E_r = sum_{i>r} l_i(K) / n`` by the theorem of Eckart and Young. Adding the positive semidefinite
``R`` lowers no eigenvalue (Weyl), so ``l_i(K) >= l_i(K^)``: the left inequality. The right-hand side is the
error of a projector of rank r, that of SubKPCA on the same span: by Pythagoras a sample's residual is what
is left within the span, which sums up to ``sum_{i>r} l_i``, and what is outside it, which sums up to
``trace R``. No projector of rank r has a lower error than full KPCA.

*What is subtracted.* Nothing, or the mean of the basis, lies in the span: the above holds as it stands, for
full KPCA that subtracts the same. If the mean of the samples is subtracted, ``K``, ``K^`` and ``R`` are
centred, ``H K H = H K^ H + H R H``, and the left inequality holds with the eigenvalues of ``H K^ H``.
``trace H R H <= trace R``, with equality where the projection of the mean on the span is subtracted instead
of the mean: so the right-hand side is the error of SubKPCA with center="projected", and not less than that
with center="mean". The components are the same, and the floor is that of full KPCA with center="mean", which
of all centrings has the least error.

*Sharper.* By Ky Fan's inequality the sum of the r largest eigenvalues of ``K`` is at most that of ``K^`` plus
that of ``R``. So ``E_r`` is not less than the error of SubKPCA less the sum of the r largest eigenvalues of
``R`` over n (of the r + 1 largest where a mean is subtracted, one of which takes the part of the mean outside
the span). That sum is a maximum of linear functions of ``R / n``, so its value on a random sample of the
rows is too large in expectation, and the floor from it is too low: the estimate is conservative.
"""

from dataclasses import dataclass

import numpy as np

from kpca_lab.deflation import FAR_ABOVE, eigenpairs_beside
from kpca_lab.linalg import rank_tolerance, top_eigenpairs
from kpca_lab.metrics import _samples as checked_samples
from kpca_lab.metrics import as_operator, empirical_error
from kpca_lab.statistics import SpanStatistics

__all__ = ["Gap", "GapEstimate", "estimate_gap", "gap", "relative_gap"]

# Spans of fewer dimensions have the rounding of this many: sums over many samples have it, too.
LEAST_SIZE = 100


@dataclass(frozen=True)
class Gap:
    """An error, the lower bound on that of full KPCA, and how far apart they are at most.

    Attributes
    ----------
    error : float
        Mean squared error in feature space of the model.
    floor : float
        Full KPCA of the same kernel and rank has at least this error.
    bound : float
        ``error / floor - 1``.
    """

    error: float
    floor: float
    bound: float


@dataclass(frozen=True)
class GapEstimate:
    """The gap to full KPCA, estimated from a sample of the rows.

    Attributes
    ----------
    estimate : float
        ``error / floor - 1``; conservative, that is, too large in expectation.
    spread : float
        Its standard error over the choice of the rows.
    floor : float
        The estimated lower bound on the error of full KPCA.
    error : float
        The error of the model on all training samples.
    n_samples : int
        Number of rows that the estimate comes from.
    """

    estimate: float
    spread: float
    floor: float
    error: float
    n_samples: int


def relative_gap(error: float, floor: float, rounding: float) -> float:
    """``error / floor - 1``, where errors up to ``rounding`` count as none."""
    if error <= max(floor, rounding):
        return 0.0
    return error / floor - 1.0 if floor > 0 else np.inf


def span_floor(rest: float, outside: float, scale: float, n_samples: int, size: int) -> tuple[float, float]:
    """The floor ``sum_{i>r} l_i / n``, less its rounding, and the rounding.

    A basis that is singular to rounding has more of it, which shows where the samples are longer within the
    span than they are: by what the sum of squares ``outside`` is negative, ``rest`` is too large.

    Parameters
    ----------
    rest : float
        The sum of all but the r largest eigenvalues of ``K^``.
    outside : float
        ``trace R`` as it was computed.
    scale : float
        What its rounding is a share of: the sum of all squares, within the span and outside it.
    n_samples : int
    size : int
        The dimension of the span.
    """
    rounding = float(rank_tolerance(max(size, LEAST_SIZE)) * scale / n_samples)
    return max((rest + min(outside, 0.0)) / n_samples - rounding, 0.0), rounding


def gap(model, X) -> Gap:
    """How far the error of a model on samples can be from that of full KPCA of them.

    Serves every method: the error is measured, and the floor comes from the span of the model's basis, or
    of all points that its operator is written over. Costs as much as fitting
    :class:`~kpca_lab.SubsetKPCA` with these points, and as measuring the error. See the notes in
    :mod:`kpca_lab.gap`.

    Parameters
    ----------
    model : fitted estimator or FeatureOperator
        A method that subtracts anything is compared with full KPCA that subtracts the mean of ``X``.
    X : array-like of shape (n_samples, n_features)
        The samples of both errors, usually those of training.

    Returns
    -------
    Gap

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import ReducedKPCA
    >>> from kpca_lab.gap import gap
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> found = gap(ReducedKPCA(n_components=5, gamma=0.1, n_basis=100, random_state=0).fit(X), X)
    >>> bool(0 < found.bound < 0.5)
    True
    """
    operator = as_operator(model)
    error = empirical_error(operator, X)
    statistics = SpanStatistics(operator.kernel, getattr(model, "basis_", operator.points))
    statistics.add(checked_samples(operator, X))
    scatter, mean, n = statistics.scatter(), statistics.mean(), statistics.n_samples
    away = mean if operator.mean is None else 0.0 * mean
    _, _, rest = eigenpairs_beside(scatter, n**0.5 * away, min(operator.rank, len(scatter)))
    outside = statistics.outside(scatter)
    spread = max(float(scatter.trace()) + outside, 0.0)
    scale = min(spread + n * float(away @ away), FAR_ABOVE * spread)
    floor, rounding = span_floor(rest, outside, scale, n, len(scatter))
    return Gap(error, floor, relative_gap(error, floor, rounding))


def estimate_gap(
    statistics: SpanStatistics,
    samples,
    n_outside: int,
    error: float,
    floor: float,
    rounding: float,
    core: np.ndarray | None = None,
) -> GapEstimate:
    """Estimate the gap from some of the samples.

    Parameters
    ----------
    statistics : SpanStatistics
        Of all samples.
    samples : array of shape (n_samples, n_features)
        Rows drawn at random from all.
    n_outside : int
        How many directions outside the span full KPCA could have: its rank, and one more for a mean.
    error, floor : float
        The error on all samples, and the lower bound that is certain.
    rounding : float
        Errors up to this count as none.
    core : ndarray, optional
        The kernel's core between the ``samples``, where it is known.
    """
    remainder = statistics.remainder(samples, core)
    size = len(remainder)
    eigenvalues, vectors = top_eigenpairs(remainder, min(n_outside, size))
    along = vectors**2 @ np.maximum(eigenvalues, 0.0)  # what each row adds to their sum
    estimated = max(error - along.mean(), floor)
    # The directions are the best for these rows, so that to first order only what lies along them varies.
    spread = along.std() / np.sqrt(size) * error / estimated**2 if estimated > floor else 0.0
    return GapEstimate(relative_gap(error, estimated, rounding), float(spread), estimated, error, size)
