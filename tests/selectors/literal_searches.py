"""The searches' criterion, computed from scratch for one basis at a time, in explicit coordinates."""

import numpy as np

from kpca_lab.kernels import make_kernel

KERNELS = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "rbf", "gamma": 2.0},
    {"kernel": "laplacian", "gamma": 0.3},
    {"kernel": "poly", "degree": 2, "coef0": 1},
    {"kernel": "poly", "degree": 3, "coef0": 0, "gamma": 0.5},
    {"kernel": "linear"},
]


def random_samples(seed, duplicates=False):
    rng = np.random.default_rng([seed, 7])
    X = rng.standard_normal((18, 5)) @ rng.standard_normal((5, 5)) / 2 + rng.standard_normal(5)
    if duplicates:
        X[5:12] = X[rng.integers(0, 5, 7)]
    return X


def kernel_of(X, kernel="rbf", **parameters):
    return make_kernel(kernel, n_features=X.shape[1], **parameters)


def explicit_features(X, kernel="rbf", **parameters):
    """Rows whose inner products are the kernel matrix."""
    if kernel == "linear":
        return X
    eigenvalues, vectors = np.linalg.eigh(kernel_of(X, kernel, **parameters)(X, X))
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def projection_error(features, basis, n_components, center):
    """Empirical error of SubKPCA: project on the span of the basis, then on the leading directions in it."""
    _, lengths, directions = np.linalg.svd(features[basis], full_matrices=False)
    directions = directions[lengths > 1e-7 * lengths[0]]
    mean = features.mean(axis=0) if center else np.zeros(features.shape[1])
    if center is True:
        mean = (directions @ mean) @ directions
    centred = features - mean
    coordinates = centred @ directions.T
    outside = np.sum((centred - coordinates @ directions) ** 2)
    scatter = np.linalg.svd(coordinates, compute_uv=False) ** 2
    return (outside + scatter[n_components:].sum() if n_components else outside) / len(features)
