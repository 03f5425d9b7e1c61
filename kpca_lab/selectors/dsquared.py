"""Sampling by squared distance, the seeding of k-means++ (Arthur and Vassilvitskii 2007)."""

from dataclasses import dataclass

from kpca_lab.selectors.pivots import PivotDistances, PivotSelector, extend_by_drawing


@dataclass(frozen=True)
class DSquaredSelector(PivotSelector):
    """Draw each sample with probability in proportion to its squared distance to the nearest one before.

    Distances are those in feature space, ``k(x, x) - 2 k(x, y) + k(y, y)``, so that every kernel has them;
    with the linear kernel this is k-means++ in input space. The first sample is drawn uniformly. Samples
    are proposed in blocks and accepted or rejected one by one, which has the law of one at a time.
    When all samples coincide with chosen ones, the rest is drawn uniformly. A smaller basis is the start
    of a larger one of the same seed.

    With n candidates, d features and a basis of m: O(n m d) operations and O(n) memory.

    Parameters
    ----------
    block : int, default=64
        Number of samples proposed at a time; 1 is the plain algorithm.
    max_samples : int or None, default=50000
        From more samples than this, so many are drawn to choose among, see
        :mod:`kpca_lab.selectors.subsample`.

    References
    ----------
    .. [1] D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", Proceedings of
       the 18th ACM-SIAM Symposium on Discrete Algorithms (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="dsquared", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    state = PivotDistances
    extend = staticmethod(extend_by_drawing)

    def _first(self, samples, kernel, rng):
        return int(rng.integers(samples.shape[0]))
