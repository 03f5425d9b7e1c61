"""Farthest-point traversal (Gonzalez 1985)."""

from dataclasses import dataclass

from kpca_lab.selectors.pivots import PivotDistances, PivotSelector, extend_by_largest


@dataclass(frozen=True)
class FarthestSelector(PivotSelector):
    """Take, again and again, the sample farthest from the nearest one before.

    Distances are those in feature space, ``k(x, x) - 2 k(x, y) + k(y, y)``; for the Gaussian kernel the
    order is that of distances in input space. The first sample is drawn uniformly. The largest distance of a
    sample to its nearest one in the basis is at most twice that of the best basis of the same size. When
    all samples coincide with chosen ones, the rest is drawn uniformly. A smaller basis is the start
    of a larger one of the same seed.

    With n candidates, d features and a basis of m: O(n m d) operations and O(n) memory.

    Parameters
    ----------
    block : int, default=64
        Number of samples looked at together; 1 is the plain algorithm. The choice is the same up to ties.
    max_samples : int or None, default=50000
        From more samples than this, so many are drawn to choose among, see
        :mod:`kpca_lab.selectors.subsample`.

    References
    ----------
    .. [1] T. F. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer
       Science 38 (1985).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="farthest", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    state = PivotDistances
    extend = staticmethod(extend_by_largest)

    def _first(self, samples, kernel, rng):
        return int(rng.integers(samples.shape[0]))
