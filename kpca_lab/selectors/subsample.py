"""Selectors on many samples: the choice is made among some of them, drawn at random.

A basis of m samples does not need a million candidates. A selector whose cost grows faster than that of
fitting SubKPCA has a parameter ``max_samples``: from more samples than that, so many are drawn uniformly
with the selector's own generator, and the choice is made as if there were no others. Up to ``max_samples``
nothing is drawn.
"""

import numpy as np

from kpca_lab.selectors.criterion import check_count


def candidates(n_samples: int, n_basis: int, max_samples: int | None, rng) -> np.ndarray | None:
    """The numbers of the samples to choose among, in ascending order; None for all of them.

    Parameters
    ----------
    n_samples : int
    n_basis : int
        Number of samples to be chosen; there are at least so many candidates.
    max_samples : int or None
        Largest number of candidates; None for no limit.
    rng : numpy Generator
    """
    if max_samples is None:
        return None
    size = max(check_count("max_samples", max_samples), n_basis)
    if n_samples <= size:
        return None
    return np.sort(rng.choice(n_samples, size=size, replace=False))
