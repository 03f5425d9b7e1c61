"""The orthogonal projector on the vectors that an operator projects samples on."""

from dataclasses import replace

import numpy as np

from kpca_lab.linalg import numerical_rank, top_eigenpairs
from kpca_lab.operator import Expansion, FeatureOperator

# Directions of the Gram matrix of unit vectors below this share of the largest count as dependent.
DEPENDENT = 1e-10


def projector(operator: FeatureOperator) -> tuple[FeatureOperator, np.ndarray]:
    """The orthogonal projector on the span of an operator's analysis vectors.

    What the components ``t = R* (phi(x) - mean)`` say about a sample is its projection on the span of
    the vectors ``R``. With ``W`` such that ``R W`` is orthonormal that is ``R W W' t``, the least-squares
    solution of ``R* v = t``.

    Parameters
    ----------
    operator : FeatureOperator

    Returns
    -------
    projector : FeatureOperator
        With the vectors ``R W``; the operator itself where it is a projector already.
    turn : ndarray of shape (operator.rank, projector.rank)
        The matrix ``W``: components ``t`` of the operator are components ``t W`` of the projector.
    """
    if operator.orthonormal and operator.right is None:
        return operator, np.eye(operator.rank)
    vectors = operator.analysis
    gram = operator.left_gram if operator.right is None else vectors.inner(operator.kernel, vectors)
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    eigenvalues, directions = top_eigenpairs(scales[:, None] * gram * scales, solver="dense")
    rank = numerical_rank(eigenvalues, DEPENDENT)
    turn = scales[:, None] * directions[:, :rank] / np.sqrt(eigenvalues[:rank])
    orthonormal = Expansion(vectors.points, vectors.coefficients @ turn, vectors.totals @ turn)
    return replace(operator, left=orthonormal, right=None, orthonormal=True), turn
