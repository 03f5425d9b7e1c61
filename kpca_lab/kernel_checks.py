"""Whether a kernel can be computed with: no overflow, a symmetric matrix, no negative eigenvalues."""

import warnings

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, eigvalsh

from kpca_lab.distances import Rows, row_blocks
from kpca_lab.kernels import Kernel
from kpca_lab.linalg import numerical_rank, rank_tolerance

__all__ = [
    "NotPositiveWarning",
    "check_differs",
    "check_positive",
    "check_range",
    "common_size",
    "gram_rank",
    "symmetric",
]

# Kernel values are squared and summed up on the way, so they must keep this far from the ends of the numbers.
LARGEST, SMALLEST = 1e140, 1e-140
# Arguments of an exponential may go farther.
LARGEST_ARGUMENT = 1e290
# The eigenvalues of a kernel that may have negative ones are computed for at most this many samples.
MOST_SAMPLES, MOST_CALLS = 1000, 150
# A negative eigenvalue of this share of the largest is refused: kernel PCA is then not defined.
INDEFINITE = {np.dtype(np.float64): 1e-5, np.dtype(np.float32): 1e-3}
# What rounding may do to an eigenvalue, or to the symmetry of a matrix, as a share of the largest entry.
ROUNDING = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}

# Squared distances in feature space below this share of the squared lengths are rounding.
SAME = 1e-12


class NotPositiveWarning(UserWarning):
    """A kernel matrix has negative eigenvalues that are small, but more than rounding."""


def check_range(kernel: Kernel, X: Rows, *, training: bool) -> None:
    """Refuse samples whose kernel values, or what they differ by, leave the range of the numbers.

    Parameters
    ----------
    kernel : Kernel
    X : samples
    training : bool
        Whether the samples must also differ by something that can be computed with.
    """
    if kernel.name in ("cosine", "callable") or not X.shape[0]:
        return
    low, high = _extremes(X)
    if kernel.name in ("chi2", "additive_chi2") and low.min() < 0:
        raise ValueError(
            f"kernel={kernel.name!r} compares histograms: no value may be negative, got {low.min():.3g}."
        )
    size = float(max(-low.min(), high.max(), 0.0))
    spread = float((high / 2 - low / 2).max())
    if spread == 0 and kernel.name in ("linear", "poly"):  # the same samples differ from zero
        spread = size
    largest, smallest, ceiling = _kernel_range(kernel, size, spread, X.shape[1])
    settings = "" if kernel.name in ("linear", "precomputed") else f" and gamma={kernel.gamma:.3g}"
    if size > LARGEST or largest > ceiling:
        raise ValueError(
            f"Values up to {size:.3g} are too large for kernel={kernel.name!r}{settings}: kernel values "
            "would overflow. Scale the data, for instance by sklearn.preprocessing.StandardScaler."
        )
    if training and spread > 0 and smallest < SMALLEST and kernel.gamma > 0:
        raise ValueError(
            f"Samples that differ by {2 * spread:.3g} at most are all the same for kernel={kernel.name!r}"
            f"{settings}: the differences of kernel values would vanish. Scale the data, for instance by "
            "sklearn.preprocessing.StandardScaler, or raise gamma."
        )


def _extremes(X: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of each column, in double precision."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return low.astype(np.float64), high.astype(np.float64)


def _kernel_range(kernel: Kernel, size: float, spread: float, d: int) -> tuple[float, float, float]:
    """How large kernel values can become, how far they differ at least, and how large they may be."""
    name, gamma = kernel.name, kernel.gamma
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square, difference = np.float64(d) * np.float64(size) ** 2, np.float64(spread) ** 2
        if name == "precomputed":
            return size, spread, LARGEST
        if name == "linear":
            return square, difference, LARGEST
        if name in ("laplacian", "chi2"):
            return gamma * d * size, gamma * spread, LARGEST_ARGUMENT
        if name == "additive_chi2":
            return d * size, spread, LARGEST
        if name != "poly":
            return gamma * square, gamma * difference, LARGEST_ARGUMENT
        degree, coef0 = kernel.degree, np.float64(abs(kernel.coef0))
        if degree == 0:
            return 1.0, 1.0, LARGEST
        differs = (gamma * difference) ** degree
        if coef0 > 0:
            differs = max(differs, coef0 ** (degree - 1) * gamma * difference)
        return (gamma * square + coef0) ** degree, differs, LARGEST


def symmetric(gram: np.ndarray, *, centred: bool) -> np.ndarray:
    """A given kernel matrix, made symmetric to the last digit; ValueError if it is not symmetric.

    If it is going to be centred, numbers that are added to whole rows or columns do no harm.
    """
    n = len(gram)
    if gram.shape != (n, n):
        raise ValueError(
            f"kernel='precomputed' needs the square kernel matrix of the samples, got shape {gram.shape}."
        )
    shift = gram.mean(axis=1, dtype=np.float64) - gram.mean(axis=0, dtype=np.float64) if centred else None
    worst = 0.0
    for rows in row_blocks(n, 8 * n):
        difference = gram[rows, rows.start :] - gram[rows.start :, rows].T
        if shift is not None:
            difference = difference - shift[rows, None] + shift[rows.start :]
        worst = max(worst, float(difference.max()), -float(difference.min()))
    if worst == 0:
        return gram
    if worst > ROUNDING[gram.dtype] * np.abs(gram).max():
        raise ValueError(
            f"The precomputed kernel matrix is not symmetric: two values that should be the same differ by "
            f"{worst:.3g}. If that is rounding, give (K + K.T) / 2."
        )
    return (gram + gram.T) / 2


def check_differs(kernel: Kernel, samples: Rows) -> None:
    """Refuse samples that are the same in feature space but for rounding, which centring would leave alone.

    Kernels that are split into parts (see :mod:`kpca_lab.kernels`) need no such check: their parts are zero.
    """
    splits = ("rbf", "laplacian", "linear", "cosine", "chi2", "additive_chi2")
    if kernel.name in splits or (kernel.name == "poly" and kernel.degree > 0) or samples.shape[0] < 2:
        return
    own = kernel.core_diagonal(samples)
    square_distances = own - 2 * kernel.core(samples, samples[:1])[:, 0] + own[0]
    if np.abs(square_distances).max() <= SAME * np.abs(own).max():
        raise ValueError(
            f"kernel={kernel.name!r} takes all samples to the same point, to rounding: centred, there is "
            "nothing left. Check the data and the parameters of the kernel, or give center=False."
        )


def common_size(kernel: Kernel, samples: Rows) -> float:
    """The size of what values of this kernel may have in common, and lose their last digits to.

    Zero for kernels that are split into parts, whose core has nothing in common.
    """
    if kernel.name not in ("callable", "precomputed"):
        return 0.0
    return float(np.abs(kernel.core_diagonal(samples)).max(initial=0.0))


def gram_rank(kernel: Kernel, samples: Rows, eigenvalues: np.ndarray) -> int:
    """How many eigenvalues, largest first, of the (centred) Gram matrix of samples are not rounding."""
    tol = rank_tolerance(samples.shape[0])
    above = int(np.count_nonzero(eigenvalues > tol * common_size(kernel, samples)))
    return min(numerical_rank(eigenvalues, tol), above)


def check_positive(kernel: Kernel, samples: Rows, *, centred: bool) -> None:
    """Refuse a kernel with negative eigenvalues on these samples, or warn where they are small.

    Kernels that cannot have any are not looked at. Of many samples 1000 are taken at random with a fixed
    seed, and 150 for a callable.
    """
    doubtful = kernel.name in ("sigmoid", "callable", "precomputed")
    if not doubtful and not (kernel.name == "additive_chi2" and not centred) and not _odd_poly(kernel):
        return
    n, most = samples.shape[0], MOST_CALLS if kernel.name == "callable" else MOST_SAMPLES
    if n > most:
        samples = samples[np.sort(np.random.default_rng(0).choice(n, most, replace=False))]
    # Of a copy: scikit-learn asks a callable for one half only where both sides are the same object.
    # What centring removes is left out from the start, where it would cost the digits that matter.
    gram = (kernel.core if centred else kernel)(samples, samples.copy())
    if not np.isfinite(gram).all() or np.abs(gram).max() > LARGEST:
        raise ValueError("The kernel has values that are not finite or too large to compute with.")
    dtype = kernel.gram.dtype if kernel.gram is not None else np.dtype(np.float64)
    if kernel.name == "callable" and np.abs(gram - gram.T).max() > ROUNDING[dtype] * np.abs(gram).max():
        raise ValueError("The callable kernel is not symmetric: k(x, y) and k(y, x) differ.")
    scale = np.abs(gram).max() or 1.0
    gram = gram / scale
    if centred:
        gram = gram - gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, None]
    gram = (gram + gram.T) / 2
    shifted = gram + ROUNDING[dtype] * np.eye(len(gram))  # entries were scaled to 1
    try:
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        eigenvalues = eigvalsh(gram)
        _judge(eigenvalues[0], eigenvalues[-1], kernel.name, dtype)


def _judge(least: float, largest: float, name: str, dtype: np.dtype) -> None:
    if least >= -ROUNDING[dtype] * max(largest, 1.0):
        return
    share = -least / largest if largest > 0 else np.inf
    if share > INDEFINITE[dtype]:
        raise ValueError(
            f"kernel={name!r} is not positive semidefinite on these samples: its matrix has a negative "
            f"eigenvalue of {share:.3g} times the largest, and no feature space. Choose other parameters of "
            "the kernel or another kernel; a given matrix can be made valid by leaving out its negative "
            "eigenvalues."
        )
    warnings.warn(
        f"kernel={name!r} is not quite positive semidefinite on these samples: its matrix has a negative "
        f"eigenvalue of {share:.3g} times the largest. Errors are right to that share only.",
        NotPositiveWarning,
        stacklevel=4,
    )


def _odd_poly(kernel: Kernel) -> bool:
    """Whether a polynomial kernel can have negative eigenvalues: with a negative constant it can."""
    return kernel.name == "poly" and kernel.coef0 < 0
