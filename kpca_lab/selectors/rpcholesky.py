"""Randomly pivoted Cholesky decomposition (Chen, Epperly, Tropp and Webber 2025)."""

from dataclasses import dataclass

import numpy as np

from kpca_lab.selectors.pivots import PivotSelector, SpanDistances, draw, extend_by_drawing


@dataclass(frozen=True)
class RPCholeskySelector(PivotSelector):
    """Draw each sample with probability in proportion to its squared distance to the span of those before.

    These distances are the diagonal that Cholesky elimination leaves of the kernel matrix. Samples are
    proposed in blocks and accepted or rejected one by one, which has the law of one at a time and is
    faster. Samples in the span have probability zero; when no others are left, the rest is drawn
    uniformly. A smaller basis is the start of a larger one of the same seed.

    With n candidates, d features and a basis of m: O(n m (d + m)) operations and 8 n m bytes.

    Parameters
    ----------
    block : int, default=64
        Number of samples proposed at a time; 1 is the plain algorithm.
    max_samples : int or None, default=50000
        From more samples than this, so many are drawn to choose among, see
        :mod:`kpca_lab.selectors.subsample`.

    References
    ----------
    .. [1] Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, "Randomly pivoted Cholesky: practical
       approximation of a kernel matrix with few entry evaluations", Communications on Pure and Applied
       Mathematics 78 (2025).
    .. [2] E. N. Epperly, J. A. Tropp, R. J. Webber, "Embrace rejection: kernel matrix approximation by
       accelerated randomly pivoted Cholesky", arXiv:2410.03969 (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="rpcholesky", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    state = SpanDistances
    extend = staticmethod(extend_by_drawing)

    def _first(self, samples, kernel, rng):
        weights = np.maximum(kernel.diagonal(samples), 0.0)
        return int(draw(weights, 1, rng)[0]) if weights.any() else None
