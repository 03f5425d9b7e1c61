"""Washizawa 2012, Section 4.1.1: forward search, first one by one, then in larger steps."""

from dataclasses import dataclass

import numpy as np

from kpca_lab.selectors.criterion import check_rank
from kpca_lab.selectors.forward import ForwardSearch

__all__ = ["StagedForwardSelector"]


@dataclass(frozen=True)
class StagedForwardSelector:
    """Forward search one by one up to a share of the samples, then several samples in each step.

    Section 4.1.1 allows for both, and leaves the first sample open.

    Parameters
    ----------
    one_by_one : float
        Share of the samples that are chosen one by one.
    per_step : float
        Share of the samples that each later step adds.
    random_start : bool
        Whether the first sample is drawn at random instead of being the best one.
    whole_span : bool
        Whether the error is that of the projection on the whole span of the basis, instead of the best
        operator of the wanted rank within it.
    """

    one_by_one: float = 0.2
    per_step: float = 0.02
    random_start: bool = False
    whole_span: bool = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng=None) -> np.ndarray:
        """Return the numbers of the chosen samples, in the order in which they were chosen."""
        n, rank = len(X), check_rank(None if self.whole_span else n_components)
        search = ForwardSearch(X, kernel, rank, n_basis, center)
        if self.random_start:
            search.add(int(rng.integers(n)))
        search.extend(min(n_basis, max(1, round(self.one_by_one * n))))
        search.extend(n_basis, max(1, round(self.per_step * n)))
        return np.array(search.chosen, dtype=np.intp)
