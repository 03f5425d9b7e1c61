"""The papers' error measures, for any estimator of this package or any FeatureOperator."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array

from kpca_lab.operator import FeatureOperator


def empirical_error(model, X) -> float:
    """Mean squared reconstruction error in feature space (Washizawa 2012, Eq. 46).

    Parameters
    ----------
    model : fitted estimator or FeatureOperator
    X : array-like of shape (n_samples, n_features)
        For a precomputed kernel, the numbers of training samples.

    Returns
    -------
    float
        ``mean ||(phi(x) - mean) - X (phi(x) - mean)||^2`` over the rows of ``X``.
    """
    operator = as_operator(model)
    return float(operator.residual(_samples(operator, X)).mean())


def validation_error(model, X) -> float:
    """The empirical error on samples that the model has not seen (Section 6.1)."""
    return empirical_error(model, X)


def normalized_empirical_error(model, reference, X) -> float:
    """Empirical error of ``model`` divided by that of ``reference``, usually full kernel PCA."""
    return empirical_error(model, X) / empirical_error(reference, X)


@dataclass(frozen=True)
class OperatorDistance:
    """Frobenius distance ``d`` of two operators, its square, and its square per component."""

    d: float
    d2: float
    d2_per_component: float


def operator_distance(model, reference) -> OperatorDistance:
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


def as_operator(model) -> FeatureOperator:
    """The operator of a fitted estimator, or the operator itself."""
    if isinstance(model, FeatureOperator):
        return model
    if hasattr(model, "operator_"):
        return model.operator_
    raise TypeError(
        f"Expected a fitted estimator of kpca_lab or a FeatureOperator, got {type(model).__name__}; "
        "an estimator must be fitted first."
    )


def _samples(operator: FeatureOperator, X):
    if operator.kernel.name == "precomputed":
        return np.asarray(X)
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
