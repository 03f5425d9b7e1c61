"""Pivoted Cholesky decomposition (Fine and Scheinberg 2001)."""

from dataclasses import dataclass

from kpca_lab.selectors.pivots import PivotSelector, SpanDistances, extend_by_largest, first_of_largest


@dataclass(frozen=True)
class GreedySelector(PivotSelector):
    """Take, again and again, the sample farthest from the span of those before.

    It is the pivot of an incomplete Cholesky decomposition with the largest remaining diagonal. The first
    sample is that of largest ``k(x, x)``, the one of lowest number where several are. Outliers come first,
    so the error is often larger than that of drawing (``"rpcholesky"``). When all samples lie in the span,
    the rest is drawn uniformly, which is all that the seed does. A smaller basis is the start of a larger
    one.

    With n candidates, d features and a basis of m: O(n m (d + m)) operations and 8 n m bytes.

    Parameters
    ----------
    block : int, default=64
        Number of samples looked at together; 1 is the plain algorithm. The choice is the same up to ties.
    max_samples : int or None, default=50000
        From more samples than this, so many are drawn to choose among, see
        :mod:`kpca_lab.selectors.subsample`.

    References
    ----------
    .. [1] S. Fine, K. Scheinberg, "Efficient SVM training using low-rank kernel representations", Journal of
       Machine Learning Research 2 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="greedy").fit(X).basis_indices_.shape
    (10,)
    """

    state = SpanDistances
    extend = staticmethod(extend_by_largest)

    def _first(self, samples, kernel, rng):
        squares = kernel.diagonal(samples)
        first = first_of_largest(squares)
        return first if squares[first] > 0 else None
