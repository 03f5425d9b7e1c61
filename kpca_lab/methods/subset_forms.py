"""What SubKPCA subtracts, its general solution, and that of an approximate criterion."""

import numpy as np

from kpca_lab.linalg import numerical_rank, pivoted_cholesky, rank_tolerance, top_eigenpairs
from kpca_lab.methods.base import check_size
from kpca_lab.methods.full import sample_mean
from kpca_lab.operator import Expansion
from kpca_lab.span import Frame
from kpca_lab.statistics import SpanStatistics


def restricted_to_samples(left: Expansion, frame: Frame, scatter: np.ndarray) -> Expansion:
    """Right vectors of the general solution, Eq. (27): the left ones times the projector on R(K_xy')."""
    eigenvalues, directions = top_eigenpairs(scatter)
    directions = directions[:, : numerical_rank(eigenvalues, rank_tolerance(len(scatter)))]
    # K_xy' holds the inner products of the basis with the samples: the frame's values at the basis turn
    # coordinates into such columns.
    span, _ = np.linalg.qr(frame.vectors.evaluate(frame.kernel, left.points) @ directions)
    return Expansion.over(left.points, span @ (span.T @ left.coefficients))


def low_rank_criterion(scatter: np.ndarray, frame: Frame, rank: int) -> np.ndarray:
    """Replace ``K_xy' K_xy`` by its incomplete Cholesky decomposition ``G G'`` (Eq. 45).

    The text then asks for eigenvectors of ``G' K_y G``; what solves Eq. (21) is ``G' K_y^+ G``, that is
    the same matrix in coordinates of the frame.
    """
    rank = check_size("criterion_rank", rank, len(frame.vectors.points))
    at_basis = frame.vectors.evaluate(frame.kernel, frame.vectors.points)
    in_basis = at_basis @ scatter @ at_basis.T
    factor, _ = pivoted_cholesky(in_basis.diagonal(), lambda j: in_basis[:, j], rank)
    factor = frame.vectors.coefficients.T @ factor
    return factor @ factor.T


def centroid_vector(centroid: str | None, statistics: SpanStatistics, basis, samples) -> Expansion | None:
    """What is subtracted of samples in feature space (Section 3.5); ``samples`` matter to "mean" only."""
    if centroid == "projected":
        return statistics.frame.expand_near_mean(statistics.drift())
    return None if centroid is None else sample_mean(samples if centroid == "mean" else basis)
