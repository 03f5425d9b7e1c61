"""Improved KPCA: the components of SubKPCA with another length."""

from dataclasses import replace

import numpy as np

from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.operator import Expansion


class ImprovedKPCA(SubsetKPCA):
    """Improved KPCA of Xu et al., as Washizawa 2012 states it (Eqs. 41-42).

    Solves the eigenproblem of :class:`SubsetKPCA`, and divides each component by the root of its
    eigenvalue. So its operator is no projector, and its error does not depend on the basis: without
    centring it is ``mean k(x, x) - 2 r / n + sum(1 / kappa) / n``.

    Parameters, attributes and methods are those of :class:`SubsetKPCA`.

    References
    ----------
    .. [1] Y. Xu et al., "A method for speeding up feature extraction based on KPCA", Neurocomputing 70
       (2007).
    .. [2] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in
       Principal Component Analysis, InTech (2012), Section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import ImprovedKPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> ImprovedKPCA(n_components=5, n_basis=50, random_state=0).fit_transform(X).shape
    (500, 5)
    """

    def _operator(self, frame, directions, scatter, mean):
        projector = super()._operator(frame, directions, scatter, mean)
        scales = 1.0 / np.sqrt(self.eigenvalues_)  # Eq. (42)
        right = None if projector.right is None else _scaled(projector.right, scales)
        return replace(projector, left=_scaled(projector.left, scales), right=right, orthonormal=False)

    def _captured(self, along):
        shares = along / self.eigenvalues_
        return float(2 * shares.sum() - (shares / self.eigenvalues_).sum())


def _scaled(vectors: Expansion, scales: np.ndarray) -> Expansion:
    return Expansion(vectors.points, vectors.coefficients * scales, vectors.totals * scales)
