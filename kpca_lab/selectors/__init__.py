"""Ways to choose the basis samples; each serves every method that has a basis.

A selector has one method, ``select(X, n_basis, *, kernel, n_components, center, rng)``, which returns sample
numbers or points. With n samples, d features, a basis of m samples and r components:

====================  ====================================  ==================================================
name                  cost                                  when to use it
====================  ====================================  ==================================================
``random``            none                                  the default; large m, or a quick start
``kmeans``            n m d per pass                        the first thing to try for a small error
``kmeans_centroids``  the same                              the basis may be new points, as for pre-images
``kernel_kmeans``     n^2 per pass, n^2 memory              the kernel is precomputed, or far from Euclidean
``forward``           n (n + m^2) per sample, n^2 memory    the least error for small m; n up to about 10000
``backward``          n^4 in all, n^2 memory                a few hundred samples, most of them to be kept
``forward_backward``  forward, and m^3 per removal          never worse than ``forward``, a little dearer
``ransac``            n m (d + m) per trial                 a small improvement on ``random`` for any n
``rpcholesky``        n m (d + m), n m memory               data with outliers or very uneven density
``leverage``          n m (d + m)                           the same, with theory for the spectral norm
``bless``             m^3 + m^2 d, or as ``leverage``       the same for very many samples
``greedy``            n m (d + m), n m memory               low-rank kernels; the same basis for any seed
``dsquared``          n m d                                 cheaper than ``kmeans``, its start
``farthest``          n m d                                 samples must cover the data evenly
====================  ====================================  ==================================================

``forward``, ``backward``, ``forward_backward`` and ``ransac`` minimise the empirical error of SubKPCA of
rank r [1]_ (see :mod:`kpca_lab.selectors.criterion`), so they depend on the kernel, ``n_components`` and
``center``; ``kmeans`` depends on the points alone and the last six on the kernel. All but the two K-means
selectors take precomputed kernels. A selector whose class attribute ``nested`` is True returns numbers in
the order in which they were chosen: with the same seed, a smaller basis is the start of a larger one.
From many samples, most choose among some of them only, see :mod:`kpca_lab.selectors.subsample`. A name
stands for the selector with its default options; pass an object, such as ``ForwardSelector(per_step=5)``,
for others.

References
----------
.. [1] Y. Washizawa, "Subset basis approximation of kernel principal component analysis", in Principal
   Component Analysis, InTech (2012), Section 4.
"""

from functools import partial

from kpca_lab.selectors.backward import BackwardSelector, ForwardBackwardSelector
from kpca_lab.selectors.bless import BlessSelector
from kpca_lab.selectors.dsquared import DSquaredSelector
from kpca_lab.selectors.farthest import FarthestSelector
from kpca_lab.selectors.forward import ForwardSelector
from kpca_lab.selectors.greedy import GreedySelector
from kpca_lab.selectors.kernel_kmeans import KernelKMeansSelector
from kpca_lab.selectors.kmeans import KMeansSelector
from kpca_lab.selectors.leverage import LeverageSelector
from kpca_lab.selectors.random import RandomSelector
from kpca_lab.selectors.ransac import RansacSelector
from kpca_lab.selectors.rpcholesky import RPCholeskySelector

SELECTORS = {
    "random": RandomSelector,
    "kmeans": KMeansSelector,
    "kmeans_centroids": partial(KMeansSelector, centroids=True),
    "kernel_kmeans": KernelKMeansSelector,
    "forward": ForwardSelector,
    "backward": BackwardSelector,
    "forward_backward": ForwardBackwardSelector,
    "ransac": RansacSelector,
    "rpcholesky": RPCholeskySelector,
    "leverage": LeverageSelector,
    "bless": BlessSelector,
    "greedy": GreedySelector,
    "dsquared": DSquaredSelector,
    "farthest": FarthestSelector,
}


def get_selector(selector):
    """A selector by name, or the object itself if it has a ``select`` method.

    Parameters
    ----------
    selector : str or object
        A key of :data:`SELECTORS`, or a selector.

    Returns
    -------
    object
        Has a method ``select``.
    """
    if isinstance(selector, str) and selector in SELECTORS:
        return SELECTORS[selector]()
    if hasattr(selector, "select") and not isinstance(selector, type):
        return selector
    raise ValueError(
        f"selector={selector!r} is unknown: choose from {list(SELECTORS)}, or give an object with a "
        "method select(X, n_basis, *, kernel, n_components, center, rng)."
    )


__all__ = [
    "SELECTORS",
    "BackwardSelector",
    "BlessSelector",
    "DSquaredSelector",
    "FarthestSelector",
    "ForwardBackwardSelector",
    "ForwardSelector",
    "GreedySelector",
    "KMeansSelector",
    "KernelKMeansSelector",
    "LeverageSelector",
    "RPCholeskySelector",
    "RandomSelector",
    "RansacSelector",
    "get_selector",
]
