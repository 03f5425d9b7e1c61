"""K-means clustering in input space (Washizawa 2012, Section 4.1.4)."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from kpca_lab.selectors.criterion import check_count
from kpca_lab.selectors.subsample import candidates

STARTS = ("k-means++", "random")
MINI_BATCH = 4096
SAMPLES_PER_CLUSTER = 20
LARGEST_VALUE = 1e150


@dataclass(frozen=True)
class KMeansSelector:
    """Cluster the samples by K-means, and take one basis sample or the centroid of each cluster.

    Of more than ``max_samples`` samples, and more than 20 for each one in the basis, so many are drawn first
    (see :mod:`kpca_lab.selectors.subsample`): on 200000 samples with 20 features and a basis of 200, the
    choice then is 17 times faster and the error 0.4 % higher. Every pass of K-means uses all of these n
    samples while ``n * n_basis * n_features`` is at most ``largest_pass``; beyond that, batches of 4096
    samples are used (:class:`sklearn.cluster.MiniBatchKMeans`). It runs on one thread, so that a seed always
    gives the same centroids to the last digit.

    Parameters
    ----------
    centroids : bool
        Whether to return the centroids, as points, instead of the samples nearest to them. Where two
        centroids share their nearest sample, the later one gets the next nearest that is free.
    init : {"k-means++", "random"}
        Where the centroids start: at samples far from each other, or at any samples, drawn with equal
        probability. The latter leaves fewer centroids where samples are few, and costs nothing.
    n_init : int
        Number of starts, of which the one with the least sum of squared distances is kept. With batches
        that is the sum at the start, on some of the samples, and only the best start is carried on.
    max_iter : int or None
        Largest number of passes; None is 300, with batches 100.
    largest_pass : float
        Most multiplications in a pass over all samples: 0 always uses batches, infinity never.
    max_samples : int or None, default=20000
        Number of samples to cluster, if there are more; None for all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="kmeans", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    centroids: bool = False
    init: str = "k-means++"
    n_init: int = 1
    max_iter: int | None = None
    largest_pass: float = 1e10
    max_samples: int | None = 20_000

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel=None, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the chosen samples, or the centroids as rows."""
        if X.ndim != 2:
            raise ValueError(
                "K-means needs the samples as points, which a precomputed kernel does not have: choose "
                "selector='kernel_kmeans'."
            )
        # It imports most of scikit-learn, which would make half of the time of importing kpca_lab.
        from sklearn.cluster import KMeans, MiniBatchKMeans

        n_basis = check_count("n_basis", n_basis, most=X.shape[0])
        options = self._options()
        rows = None
        if self.max_samples is not None:
            enough = max(check_count("max_samples", self.max_samples), SAMPLES_PER_CLUSTER * n_basis)
            rows = candidates(X.shape[0], n_basis, enough, rng)
        if rows is not None:
            X = X[rows]
        largest = float(abs(X).max())
        if largest > LARGEST_VALUE:
            raise ValueError(
                f"K-means squares distances, and values of {largest:.1g} are too large for it: rescale them."
            )
        options["random_state"] = int(rng.integers(2**31))
        if X.shape[0] * n_basis * X.shape[1] <= self.largest_pass:
            kmeans = KMeans(n_basis, **options)
        else:
            kmeans = MiniBatchKMeans(n_basis, batch_size=MINI_BATCH, **options)
        with warnings.catch_warnings(), threadpool_limits(1):
            # Fewer distinct samples than clusters: then some centroids are equal, which is no harm here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = kmeans.fit(X).cluster_centers_
        if self.centroids:
            return found
        nearest = distinct_nearest(
            pairwise_distances_argmin(found, X),
            lambda j: euclidean_distances(found[j : j + 1], X, squared=True)[0],
        )
        return nearest if rows is None else rows[nearest]

    def _options(self):
        """What both variants of K-means are told, checked."""
        if not isinstance(self.init, str) or self.init not in STARTS:
            raise ValueError(f"init must be one of {list(STARTS)}, got {self.init!r}.")
        largest = self.largest_pass
        if isinstance(largest, bool) or not isinstance(largest, Real) or not largest >= 0:
            raise ValueError(
                f"largest_pass must be a number >= 0 (float('inf') for no batches), got {largest!r}."
            )
        options = {"init": self.init, "n_init": check_count("n_init", self.n_init)}
        if self.max_iter is not None:
            options["max_iter"] = check_count("max_iter", self.max_iter)
        return options


def distinct_nearest(nearest: np.ndarray, distances: Callable[[int], np.ndarray]) -> np.ndarray:
    """The nearest sample of each centre, or the next nearest where an earlier centre has taken it.

    Parameters
    ----------
    nearest : ndarray of shape (n_centres,)
        Number of the sample nearest to each centre.
    distances : callable
        ``distances(j)`` returns the distances of all samples to centre ``j``.
    """
    chosen: list[int] = []
    taken: set[int] = set()
    for j, number in enumerate(nearest.tolist()):
        if number in taken:
            free = np.array(distances(j), dtype=np.float64)
            free[chosen] = np.inf
            number = int(free.argmin())
        chosen.append(number)
        taken.add(number)
    return np.array(chosen, dtype=np.intp)
