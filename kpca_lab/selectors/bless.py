"""Bottom-up leverage score sampling (Rudi, Calandriello, Carratino and Rosasco 2018)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kpca_lab.selectors.criterion import check_count
from kpca_lab.selectors.leverage import distinct_draw, leverage_scores

# How many candidates are drawn for each unit of resolution, and sample points for each effective dimension.
CANDIDATES, POINTS = 2.0, 2.0


@dataclass(frozen=True)
class BlessSelector:
    """Draw samples by ridge leverage scores that are found from few samples, whatever their number.

    The resolution ``lambda`` is halved from ``max k(x, x)`` on. At each, ``2 max k(x, x) / lambda``
    candidates are drawn uniformly, their scores are estimated from the sample of the step before, and a
    sample of twice their effective dimension is drawn by them. When that dimension reaches ``n_basis``, or
    all samples are candidates, the basis is drawn from these by their scores, without repetition.

    With a basis of m samples of d features: O(m^3 + m^2 d) operations and O(m^2) memory where the
    eigenvalues fall slowly, however many samples there are; where they fall fast, all samples become
    candidates, and it costs what ``leverage`` does. Bases of different sizes do not extend each other.

    References
    ----------
    .. [1] A. Rudi, D. Calandriello, L. Carratino, L. Rosasco, "On fast leverage score sampling and optimal
       learning", NeurIPS 31 (2018), Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="bless", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the chosen samples."""
        n = X.shape[0]
        n_basis = check_count("n_basis", n_basis, most=n)
        kernel = kernel.anchored(X)
        largest = float(np.max(kernel.diagonal(X)))
        sample, weights = np.empty(0, dtype=np.intp), np.empty(0)
        resolution = largest
        while True:
            count = min(n, max(n_basis, int(np.ceil(CANDIDATES * largest / max(resolution, 1e-300)))))
            candidates = rng.choice(n, count, replace=False)
            scores = leverage_scores(kernel, X, candidates, sample, weights, n_basis, n * resolution)
            dimension = n / count * scores.sum()
            if dimension >= n_basis or count == n or not dimension > 0:
                return candidates[distinct_draw(scores, n_basis, rng)]
            size = max(1, int(np.ceil(POINTS * dimension)))
            probabilities = scores / scores.sum()
            drawn = rng.choice(count, size, p=probabilities)
            sample, weights = candidates[drawn], count * size / n * probabilities[drawn]
            resolution /= 2
