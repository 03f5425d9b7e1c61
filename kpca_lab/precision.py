"""Whether the inner products behind a kernel may be formed in single precision.

With ``u = 2^-24`` the unit of rounding, single precision changes ``gamma |x - y|^2`` by about
``delta = u gamma (|x|^2 + |y|^2)``, and a kernel value by no more. In an orthonormal frame of the span of
the basis that is about ``delta / sqrt(p)``, where ``p`` is the smallest pivot of the basis. Along a
component with variance ``v``, a sample's coordinate is of size ``sqrt(v)``; if all errors along it had the
same sign, its eigenvalue would change by a share of

    2 delta / sqrt(p v).

That is the estimate. It is pessimistic, since errors mostly cancel; but those that come from rounding the
basis points are the same for all samples, and may not. Variances kept are mostly so small that it is far
above ``SAFE``, and "auto" stays with double precision: "mixed" is for those who need fewer digits.
"""

from numbers import Integral

import numpy as np
import scipy.linalg

from kpca_lab.distances import row_squares, shifted
from kpca_lab.span import SummationFrame

PRECISIONS = ("auto", "double", "mixed")
# The largest share of the last eigenvalue kept that "auto" lets single precision cost, by the estimate.
SAFE = 1e-6
# Below this many features products take too little of the time for single precision to help.
MANY_FEATURES = 200
UNIT = 2.0**-24


def check_precision(precision: str) -> None:
    """Refuse an unknown name."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} is unknown: choose from {list(PRECISIONS)}.")


def estimated_change(largest: float, smallest: float, variance: float) -> float:
    """The share of an eigenvalue that single precision may cost.

    Parameters
    ----------
    largest : float
        The largest ``gamma (|x|^2 + |y|^2)`` of samples and basis.
    smallest : float
        The smallest pivot of the basis.
    variance : float
        The eigenvalue over the number of samples.
    """
    return float(2 * UNIT * largest / np.sqrt(smallest * variance))


def single_limit(precision: str, summation: SummationFrame, n_components: int | float | None) -> float:
    """Up to which ``gamma (|x|^2 + |y|^2)`` products are formed in single precision."""
    kernel, points = summation.frame.kernel, summation.frame.vectors.points
    if precision == "mixed":
        return np.inf
    smallest, (m, d) = summation.smallest, points.shape if points.ndim == 2 else (len(points), 0)
    if precision == "double" or kernel.name != "rbf" or d < MANY_FEATURES or smallest == 0:
        return 0.0
    rank = min(n_components, m - 1) if isinstance(n_components, Integral) else m - 1
    largest = 2 * kernel.gamma * float(row_squares(shifted(points, kernel.origin)).max())
    # The basis has at most this variance along its last component, as a bounded kernel has at most one.
    if rank < 1 or estimated_change(largest, smallest, 1.0 / rank) > SAFE:
        return 0.0
    gram = kernel.core(points, points)
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    last = scipy.linalg.eigvalsh(gram, subset_by_index=(m - rank, m - rank))[0] / m
    return SAFE * np.sqrt(smallest * max(last, 0.0)) / (2 * UNIT)
