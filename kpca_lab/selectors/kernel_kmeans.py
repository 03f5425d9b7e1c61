"""K-means clustering in feature space (Girolami 2002)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from kpca_lab.selectors.criterion import check_count, check_matrix_size
from kpca_lab.selectors.kmeans import distinct_nearest
from kpca_lab.selectors.subsample import candidates


@dataclass(frozen=True)
class KernelKMeansSelector:
    """Cluster the samples by K-means in feature space, and take the sample nearest to each cluster mean.

    The means are never formed: distances to them follow from the kernel matrix, which is kept, so that memory
    is O(n^2) and a pass takes O(n^2) operations. The start is chosen as in k-means++, and a cluster that
    becomes empty starts anew with the sample that lies farthest from its own mean.

    Parameters
    ----------
    max_iter : int
        Largest number of passes.
    max_samples : int or None, default=10000
        From more samples than this, so many are drawn to cluster, see
        :mod:`kpca_lab.selectors.subsample`.

    References
    ----------
    .. [1] M. Girolami, "Mercer kernel-based clustering in feature space", IEEE Transactions on Neural
       Networks 13 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import SubsetKPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> SubsetKPCA(n_basis=10, selector="kernel_kmeans", random_state=0).fit(X).basis_indices_.shape
    (10,)
    """

    max_iter: int = 100
    max_samples: int | None = 10_000

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the chosen samples."""
        n_basis = check_count("n_basis", n_basis, most=X.shape[0])
        max_iter = check_count("max_iter", self.max_iter)
        rows = candidates(X.shape[0], n_basis, self.max_samples, rng)
        if rows is not None:
            X = X[rows]
        n = X.shape[0]
        check_matrix_size("kernel_kmeans", n, n, "choose 'kmeans' or 'random'")
        # Distances do not see the constant and the offsets of the kernel: its core is enough.
        core = kernel.anchored(X).core(X, X)
        labels = np.argmin(_distances_to_seeds(core, n_basis, rng), axis=1)
        for _ in range(max_iter):
            distances = _distances_to_means(core, labels, n_basis)
            new_labels = _without_empty_clusters(distances.argmin(axis=1), distances)
            if np.array_equal(new_labels, labels):
                break
            labels = new_labels
        distances = _distances_to_means(core, labels, n_basis)
        nearest = distinct_nearest(distances.argmin(axis=0), lambda j: distances[:, j])
        return nearest if rows is None else rows[nearest]


def _distances_to_seeds(core: np.ndarray, n_clusters: int, rng) -> np.ndarray:
    """Squared distances of all samples to seeds, each drawn in proportion to its distance to the others."""
    n = len(core)
    own = core.diagonal()
    distances = np.empty((n_clusters, n))
    nearest = np.full(n, 1.0)
    free = np.ones(n, dtype=bool)
    for j in range(n_clusters):
        weights = np.where(free, nearest, 0.0)
        if not weights.sum() > 0:  # all samples that are left coincide with seeds
            weights = free.astype(np.float64)
        seed = int(rng.choice(n, p=weights / weights.sum()))
        free[seed] = False
        distances[j] = np.maximum(own - 2 * core[seed] + own[seed], 0.0)
        distances[j, seed] = 0.0
        nearest = distances[j] if j == 0 else np.minimum(nearest, distances[j])
    return distances.T


def _distances_to_means(core: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Squared distances of all samples to the cluster means; infinite for an empty cluster."""
    n = len(core)
    sizes = np.bincount(labels, minlength=n_clusters)
    shares = np.divide(1.0, sizes, out=np.zeros(n_clusters), where=sizes > 0)
    membership = sparse.csr_array((shares[labels], (labels, np.arange(n))), shape=(n_clusters, n))
    along = (membership @ core).T
    squares = np.bincount(labels, weights=along[np.arange(n), labels], minlength=n_clusters) * shares
    distances = core.diagonal()[:, None] - 2 * along + squares
    distances[:, sizes == 0] = np.inf
    return distances


def _without_empty_clusters(labels: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Give each empty cluster the sample farthest from its own mean, of those in a cluster of several."""
    sizes = np.bincount(labels, minlength=distances.shape[1])
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    own = distances[np.arange(len(labels)), labels]
    farthest = iter(np.argsort(-own, kind="stable"))
    for cluster in empty:
        number = next(i for i in farthest if sizes[labels[i]] > 1)
        sizes[labels[number]] -= 1
        labels[number] = cluster
        sizes[cluster] = 1
    return labels
