"""Errors of subspace classifiers for all kernel widths, ranks and basis sizes at once.

Equal to :class:`kpca_lab.classify.SubspaceClassifier` with SubsetKPCA, ReducedKPCA and (linear) FullKPCA,
as a test shows, but written on Gram matrices, because the work can then be shared: one matrix of
squared distances for all widths, one decomposition for all ranks and for both methods, and the centred
problem from the other by an update of rank one.
"""

import numpy as np
import scipy.linalg

from kpca_lab.linalg import numerical_rank, rank_tolerance

__all__ = ["METHODS", "count_errors", "count_linear_errors", "downdated_eigenpairs"]

METHODS = ("subset", "reduced")
# Up to this size a dense decomposition is faster than finding the roots of the secular equation.
DENSE_SIZE = 250


def count_errors(train, new, new_labels, bases, gammas, ranks, *, include=False):
    """Misclassified samples of Gaussian subspace classifiers.

    Parameters
    ----------
    train : list of ndarray
        Samples of each class.
    new : ndarray of shape (n_new, n_features)
        Samples to classify.
    new_labels : ndarray of shape (n_new,)
        Their classes, as places in ``train``.
    bases : list of ndarray or None
        Basis points of each class; None for all its samples.
    gammas, ranks : sequence
        Kernel widths, numbers of components.
    include : bool
        Whether the basis points belong to the criterion set too, as they should if they are no samples.

    Returns
    -------
    ndarray of shape (2, 2, n_gammas, n_ranks)
        For SubKPCA and reduced KPCA, not centred and centred.
    """
    distances = [_distances(X, new, basis, include) for X, basis in zip(train, bases)]
    counts = np.empty((2, 2, len(gammas), len(ranks)), dtype=np.int64)
    residuals = np.empty((2, 2, len(train), len(ranks), len(new)))
    for place, gamma in enumerate(gammas):
        for number, squares in enumerate(distances):
            kernels = [None if entry is None else np.exp(-gamma * entry) for entry in squares]
            _residuals(kernels, ranks, residuals[:, :, number])
        counts[:, :, place] = (residuals.argmin(axis=2) != new_labels).sum(axis=-1)
    return counts


def count_linear_errors(bases, new, new_labels, ranks):
    """Misclassified samples of CLAFIC, which is PCA of the basis points of each class.

    Returns
    -------
    ndarray of shape (2, n_ranks)
        Not centred and centred.
    """
    squares = np.einsum("ij,ij->i", new, new)
    residuals = np.empty((2, len(bases), len(ranks), len(new)))
    for number, basis in enumerate(bases):
        values, vectors = _eigenpairs(basis.T @ basis)
        mean = vectors.T @ basis.mean(axis=0)
        _fill(residuals[:, number], new @ vectors, squares, values, mean, len(basis), ranks)
    return (residuals.argmin(axis=1) != new_labels).sum(axis=-1)


def _distances(X, new, basis, include):
    """Squared distances of basis to basis, samples to basis, new samples to basis."""
    if basis is None:
        return _squared(X, X), None, _squared(new, X)
    own = _squared(basis, basis)
    samples = _squared(X, basis)
    return own, np.vstack([samples, own]) if include else samples, _squared(new, basis)


def _squared(A, B):
    values = A @ B.T
    values *= -2
    values += np.einsum("ij,ij->i", A, A)[:, None]
    values += np.einsum("ij,ij->i", B, B)
    np.maximum(values, 0, out=values)
    if A is B:
        np.fill_diagonal(values, 0)
    return values


def _residuals(kernels, ranks, out):
    """Fill ``out``, of shape (2 methods, 2 centrings, ranks, new samples), for one class and width."""
    own, samples, new = kernels
    ones = np.ones(len(new))
    values, vectors = _eigenpairs(own)
    frame = vectors / np.sqrt(values)  # orthonormal in feature space, along reduced KPCA's components
    coordinates = new @ frame
    mean = np.sqrt(values) * vectors.mean(axis=0)
    _fill(out[1], coordinates, ones, values, mean, len(own), ranks)
    if samples is None:
        out[0] = out[1]
        return
    of_samples = samples @ frame
    values, vectors = _eigenpairs(of_samples.T @ of_samples)
    mean = of_samples.mean(axis=0) @ vectors
    _fill(out[0], coordinates @ vectors, ones, values, mean, len(of_samples), ranks)


def _fill(out, coordinates, squares, values, mean, n, ranks):
    """Residuals, not centred and centred, from coordinates along the components that are not centred."""
    most = min(max(ranks), len(values))
    out[0] = _less_components(squares, coordinates[:, :most], ranks)
    centred_values, turn = downdated_eigenpairs(values, mean, n, most)
    turn = turn[:, : numerical_rank(centred_values, rank_tolerance(len(values)))]
    squares = squares - 2 * (coordinates @ mean) + mean @ mean
    out[1] = _less_components(squares, coordinates @ turn - mean @ turn, ranks)


def _less_components(squares, components, ranks):
    counted = np.arange(components.shape[1])[:, None] < np.asarray(ranks)
    return squares - (components**2 @ counted).T


def _eigenpairs(A):
    """Eigenpairs above rounding, largest first."""
    values, vectors = scipy.linalg.eigh(A, driver="evd", check_finite=False, overwrite_a=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = numerical_rank(values, rank_tolerance(len(A)))
    return values[:rank], vectors[:, :rank]


def downdated_eigenpairs(values, vector, weight, k):
    """The largest eigenpairs of ``diag(values) - weight * vector vector'``.

    Parameters
    ----------
    values : ndarray of shape (n,)
        In descending order.
    vector : ndarray of shape (n,)
    weight : float
        Not negative.
    k : int
        Number of pairs.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    eigenvectors : ndarray of shape (n, k)
    """
    if len(values) > max(DENSE_SIZE, k):
        found = _secular_eigenpairs(values, vector, weight, k)
        if found is not None:
            return found
    matrix = np.diag(values) - weight * np.outer(vector, vector)
    found, vectors = scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
    return found[::-1][:k], vectors[:, ::-1][:, :k]


def _secular_eigenpairs(values, vector, weight, k):
    """The same from the roots of ``1 = weight sum_j vector_j^2 / (values_j - root)``, or None.

    The i-th root lies between ``values[i + 1]`` and ``values[i]``, and is kept as a distance from the nearer
    of them, so that the differences that make up the eigenvectors keep their digits.
    """
    gaps = values[:k] - values[1 : k + 1]
    weights = weight * vector**2
    if gaps.min() <= 1e-14 * values[0] or weights[: k + 1].min() <= 1e-30 * values[0]:
        return None  # the roots meet the poles
    middle = (values[:k] + values[1 : k + 1]) / 2
    above = 1 - (weights / (values - middle[:, None])).sum(axis=1) > 0
    pole = np.where(above, np.arange(k), np.arange(1, k + 1))
    from_pole = values - values[pole][:, None]
    other = np.where(above, -gaps, gaps)  # the other pole, seen from this one

    # Times -step the equation has no pole at this end; Newton's method within a bracket solves it.
    near, far, step = np.zeros(k), other / 2, other / 4
    todo = np.arange(k)
    for _ in range(60):
        old, own_weights = step[todo], weights[pole[todo]]
        from_root = from_pole[todo] - old[:, None]
        terms = weights / from_root
        terms[np.arange(len(todo)), pole[todo]] = 0.0
        level = 1 - terms.sum(axis=1)
        terms /= from_root
        value, slope = -old * level - own_weights, -level + old * terms.sum(axis=1)
        beyond = value > 0
        far[todo[beyond]], near[todo[~beyond]] = old[beyond], old[~beyond]
        new = old - value / slope
        outside = ~((np.abs(new) > np.abs(near[todo])) & (np.abs(new) < np.abs(far[todo])))
        new[outside] = (near + far)[todo[outside]] / 2
        step[todo] = new
        todo = todo[np.abs(new - old) > 1e-11 * np.abs(old)]  # the error after a step is about its square
        if not len(todo):
            break
    differences = from_pole - step[:, None]
    vectors = (vector / differences).T
    vectors /= np.linalg.norm(vectors, axis=0)
    if np.abs(vectors.T @ vectors - np.eye(k)).max() > 1e-9:
        return None
    return values[pole] + step, vectors
