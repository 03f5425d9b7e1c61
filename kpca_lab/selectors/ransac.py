"""The best of many random choices (Washizawa 2012, Section 4.1.3)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kpca_lab.linalg import top_eigenpairs
from kpca_lab.selectors.criterion import check_count, check_criterion, check_rank
from kpca_lab.selectors.subsample import candidates
from kpca_lab.statistics import SpanStatistics


@dataclass(frozen=True)
class RansacSelector:
    """Draw bases at random and keep the one with the least empirical error of SubKPCA.

    A trial costs as much as fitting :class:`~kpca_lab.SubsetKPCA`, and reads the samples in blocks as it
    does.

    Parameters
    ----------
    n_trials : int
        Number of draws.
    max_samples : int or None, default=20000
        From more samples than this, so many are drawn, and bases are drawn from these and judged on them,
        see :mod:`kpca_lab.selectors.subsample`.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_components=3, n_basis=10, selector="ransac", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    n_trials: int = 20
    max_samples: int | None = 20_000

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the samples of the best draw."""
        n_basis = check_count("n_basis", n_basis, most=X.shape[0])
        rank = check_rank(n_components)
        rows = candidates(X.shape[0], n_basis, self.max_samples, rng)
        if rows is not None:
            X = X[rows]
        n = X.shape[0]
        best, most_captured = np.empty(0, dtype=np.intp), -np.inf
        for _ in range(check_count("n_trials", self.n_trials)):
            drawn = rng.choice(n, size=n_basis, replace=False)
            captured = captured_by(X, drawn, kernel, rank, center)
            if captured > most_captured:
                best, most_captured = drawn, captured
        return best if rows is None else rows[best]


def captured_by(X, basis: np.ndarray, kernel, rank: float, center) -> float:
    """A constant less ``n`` times the empirical error of SubKPCA with the basis; see ``criterion``."""
    centred, mean_counts = check_criterion(center)
    points = X[basis]
    criterion = SpanStatistics(kernel, points)
    criterion.add(X)
    mean = criterion.mean()
    eigenvalues, _ = top_eigenpairs(criterion.scatter_about(mean if centred else 0.0 * mean))
    captured = eigenvalues[: int(min(rank, len(eigenvalues)))].sum()
    return float(captured + (X.shape[0] * (mean @ mean) if mean_counts else 0.0))
