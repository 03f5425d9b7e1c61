"""The papers' error measures, for any estimator of this package or any FeatureOperator."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_array

from kpca_lab.distances import Rows
from kpca_lab.kernels import Kernel
from kpca_lab.linalg import numerical_rank, rank_tolerance
from kpca_lab.operator import FeatureOperator, core_product
from kpca_lab.rows import as_rows, is_row_source

# A fitted estimator of this package, or its operator.
Model = Any


def empirical_error(model: Model, X: Rows) -> float:
    """Mean squared reconstruction error in feature space (Washizawa 2012, Eq. 46).

    Parameters
    ----------
    model : fitted estimator or FeatureOperator
        What reconstructs the samples.
    X : array-like of shape (n_samples, n_features), or anything that :func:`kpca_lab.rows.as_rows` takes
        For a precomputed kernel, the numbers of training samples.

    Returns
    -------
    float
        ``mean ||(phi(x) - mean) - X (phi(x) - mean)||^2`` over the rows of ``X``.
    """
    operator = as_operator(model)
    if not is_row_source(X):
        return float(operator.residual(_samples(operator, X)).mean())
    total, n_samples = as_rows(X).reduce(partial(_residuals, operator), _added)
    return total / n_samples


def _residuals(operator: FeatureOperator, blocks: Iterable[Rows]) -> tuple[float, int]:
    total, n_samples = 0.0, 0
    for block in blocks:
        total += float(operator.residual(block).sum())
        n_samples += block.shape[0]
    return total, n_samples


def _added(first: tuple[float, int], second: tuple[float, int]) -> tuple[float, int]:
    return first[0] + second[0], first[1] + second[1]


def validation_error(model: Model, X: Rows) -> float:
    """The empirical error on samples that the model has not seen (Section 6.1)."""
    return empirical_error(model, X)


def normalized_empirical_error(model: Model, reference: Model, X: Rows) -> float:
    """Empirical error of ``model`` divided by that of ``reference``, usually full kernel PCA.

    Errors that are no more than rounding count as zero, so that the ratio never compares rounding with
    rounding: it is 1 where both errors are zero, and infinite where only that of the reference is.

    Parameters
    ----------
    model, reference : fitted estimators or FeatureOperators
        The one to judge, and the one to judge it by.
    X : array-like of shape (n_samples, n_features)
        For a precomputed kernel, the numbers of training samples.

    Returns
    -------
    float
    """
    errors, noise = zip(*(_error_and_noise(as_operator(each), X) for each in (model, reference)))
    return error_ratio(errors[0], errors[1], max(noise))


def error_ratio(error: float, reference: float, noise: float) -> float:
    """``error / reference``, where both count as zero up to ``noise``: 0/0 is 1, anything else over 0 inf."""
    if reference > noise:
        return error / reference
    return 1.0 if error <= noise else float("inf")


def _error_and_noise(operator: FeatureOperator, X: Rows) -> tuple[float, float]:
    """The empirical error, and what rounding makes of an error of zero."""
    samples = _samples(operator, X)
    total = max(float(operator.centred_square_norm(samples).mean()), 0.0)
    return float(operator.residual(samples).mean()), rank_tolerance(operator.points.shape[0]) * total


def residual_outside_scores(
    scores, X, kernel: Kernel, *, center: bool = True, max_samples: int | None = 10_000, random_state=0
) -> float:
    """The part of the kernel matrix outside the column space of the scores, for any transformer.

    ``(1/n) trace((I - Q Q') K (I - Q Q'))`` with the centred kernel matrix ``K`` of the samples and an
    orthonormal basis ``Q`` of their centred scores: the mean squared error in feature space of the best
    linear reconstruction from the scores. It needs no operator, and neither the scale nor the basis of the
    scores matters.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_components)
        What ``transform`` makes of ``X``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Usually the training samples; for a precomputed kernel, their numbers.
    kernel : Kernel
        The wanted kernel, from :func:`kpca_lab.kernels.make_kernel`.
    center : bool, default=True
        Whether scores and kernel are centred.
    max_samples : int or None, default=10000
        Of more samples than this, so many are drawn, since the cost is quadratic. The value then is
        an estimate, too low by about the share ``n_components / max_samples`` of itself.
    random_state : int, default=0
        For that draw.

    Returns
    -------
    float
        Never below the empirical error of full kernel PCA with as many components, and equal to it for
        its scores. Never above the empirical error of a method with an operator: that reconstructs by
        the operator, which is the best only from scores of full kernel PCA.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import FullKPCA, RandomFeatureKPCA
    >>> from kpca_lab.kernels import make_kernel
    >>> from kpca_lab.metrics import empirical_error, residual_outside_scores
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> kernel = make_kernel("rbf", gamma=0.1, n_features=3)
    >>> full = FullKPCA(5, gamma=0.1).fit(X)
    >>> outside = residual_outside_scores(full.transform(X), X, kernel)
    >>> bool(np.isclose(outside, empirical_error(full, X)))
    True
    >>> other = RandomFeatureKPCA(5, gamma=0.1, random_state=0).fit(X)
    >>> residual_outside_scores(other.transform(X), X, kernel) > outside
    True
    """
    scores = check_array(scores, dtype=np.float64, ensure_min_features=0)
    X = np.asarray(X) if kernel.name == "precomputed" else _checked(X)
    if len(scores) != X.shape[0]:
        raise ValueError(f"scores are of {len(scores)} samples, X has {X.shape[0]}.")
    if max_samples is not None and len(scores) > max_samples:
        rows = np.sort(np.random.default_rng(random_state).choice(len(scores), max_samples, replace=False))
        scores, X = scores[rows], X[rows]
    n, kernel = len(scores), kernel.anchored(X)
    basis = _column_space(scores - scores.mean(axis=0) if center else scores)
    # Centred columns do not meet the constant and the offsets of the kernel, which may be all but the last
    # digits of it; the row of ones gives the mean of the core in the same pass.
    columns = np.column_stack([basis, np.full(n, n**-0.5)])
    inside = np.einsum("ij,ij->j", columns, core_product(kernel, X, X, columns))
    if center:
        return max(float(kernel.core_diagonal(X).sum() - inside.sum()) / n, 0.0)
    totals = columns[:, :-1].sum(axis=0)
    inside = inside[:-1] + 2 * totals * (kernel.offset(X) @ columns[:, :-1]) + kernel.constant * totals**2
    return max(float(kernel.diagonal(X).sum() - inside.sum()) / n, 0.0)


def _column_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span those of ``A``, of whatever length these are."""
    lengths = np.linalg.norm(A, axis=0)
    A = A[:, lengths > 0] / lengths[lengths > 0]
    if not A.size:
        return A
    left, sizes, _ = np.linalg.svd(A, full_matrices=False)
    return left[:, : numerical_rank(sizes**2, rank_tolerance(len(A)) ** 2)]


@dataclass(frozen=True)
class OperatorDistance:
    """The distance of two operators.

    Attributes
    ----------
    d : float
        Frobenius norm of their difference.
    d2 : float
        Its square.
    d2_per_component : float
        Its square over the number of components of the first.
    """

    d: float
    d2: float
    d2_per_component: float


def operator_distance(model: Model, reference: Model) -> OperatorDistance:
    """Frobenius distance of two operators (Washizawa 2012, Eq. 47).

    Parameters
    ----------
    model, reference : fitted estimators or FeatureOperators with the same kernel
        The distance per component is divided by the rank of ``reference``.

    Returns
    -------
    OperatorDistance
        With fields ``d`` (D), ``d2`` (D^2) and ``d2_per_component`` (D^2 / r).
    """
    first, second = as_operator(model), as_operator(reference)
    kernel = first.kernel
    if kernel.signature != second.kernel.signature:
        raise ValueError(
            "The two operators live in different feature spaces: their kernels are "
            f"{kernel.signature} and {second.kernel.signature}."
        )
    left = first.left.inner(kernel, second.left)
    right = (
        left
        if first.right is None and second.right is None
        else (first.analysis.inner(kernel, second.analysis))
    )
    square = _square_norm(first) + _square_norm(second) - 2 * float(np.sum(left * right))
    square = max(square, 0.0)
    return OperatorDistance(square**0.5, square, square / max(second.rank, 1))


def _square_norm(operator: FeatureOperator) -> float:
    """``||L R'||_F^2`` in feature space."""
    if operator.right is None:
        return float(np.sum(operator.left_gram**2))
    return float(np.sum(operator.left_gram * operator.right.inner(operator.kernel, operator.right)))


def as_operator(model: Model) -> FeatureOperator:
    """The operator of a fitted estimator, or the operator itself."""
    if isinstance(model, FeatureOperator):
        return model
    if hasattr(model, "operator_"):
        return model.operator_
    raise TypeError(
        f"Expected a fitted estimator of kpca_lab or a FeatureOperator, got {type(model).__name__}; "
        "an estimator must be fitted first."
    )


def _samples(operator: FeatureOperator, X: Rows) -> Rows:
    if operator.kernel.name == "precomputed":
        return np.asarray(X)
    return _checked(X)


def _checked(X):
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
