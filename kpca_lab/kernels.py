"""Kernels, evaluated so that a large common component does not swallow the small differences.

With a narrow ``gamma`` the Gaussian Gram matrix is almost a matrix of ones, and what kernel PCA is after
sits in the digits that ``exp`` rounds away. The same happens to the linear and polynomial kernels when
the data lie far from zero. So every kernel here is a sum

    k(x, y) = core(x, y) + offset(x) + offset(y) + constant,

whose parts are each computed to full precision: ``core`` is ``expm1(-gamma d^2)`` for the Gaussian
kernel and the inner product of differences to an origin for the linear one. Centring removes the last
three parts exactly, and code that does not centre adds them last.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances, pairwise_kernels

from kpca_lab.blas import product
from kpca_lab.distances import (
    BLOCK_BYTES,
    Rows,
    as_double,
    central_point,
    dense_product,
    densify,
    measure_close_pairs,
    row_blocks,
    row_squares,
    shifted,
    unit_rows,
)
from kpca_lab.widths import GAMMA_RULES

KERNELS = (
    "rbf", "laplacian", "linear", "poly", "sigmoid", "cosine", "chi2", "additive_chi2", "precomputed",
)  # fmt: skip
# Kernels exp(-gamma d) of some distance d, which is zero between a sample and itself.
EXPONENTIALS = ("rbf", "laplacian", "chi2")
# Inner products, of the rows or of rows of unit length.
LINEAR = ("linear", "cosine")
# Where kernels look first for values between known samples: a kpca_lab.kernel_table.KernelTable.
TABLE_IN_USE: ContextVar[Any] = ContextVar("table in use", default=None)


def make_kernel(
    kernel: str | Callable = "rbf",
    *,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
    kernel_params: dict[str, Any] | None = None,
    n_features: int,
) -> "Kernel":
    """Build a kernel from scikit-learn's names and parameters.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        One of ``KERNELS`` (``"polynomial"`` is accepted for ``"poly"``), or a function of two rows.
    gamma : float, default=None
        Width; ``1 / n_features`` when not given, as in :class:`sklearn.decomposition.KernelPCA`. A rule
        such as "median" is turned into a number by :func:`kpca_lab.widths.resolve_gamma` first.
    degree, coef0 : float, default=3, 1
        For the polynomial kernel, whose degree is a whole number, and (coef0) the sigmoid kernel.
    kernel_params : dict, default=None
        Passed to a callable.
    n_features : int
        Number of columns of the data.

    Returns
    -------
    Kernel
    """
    if callable(kernel):
        if gamma is not None:
            raise ValueError(
                f"gamma={gamma!r} has no meaning for a callable kernel: give its parameters in kernel_params."
            )
        return Kernel("callable", function=kernel, function_params=dict(kernel_params or {}))
    name = {"polynomial": "poly"}.get(kernel, kernel)
    if name not in KERNELS:
        raise ValueError(f"kernel={kernel!r} is unknown: give a callable or one of {list(KERNELS)}.")
    gamma = 1.0 / n_features if gamma is None else gamma
    if isinstance(gamma, str) and gamma in GAMMA_RULES:
        raise ValueError(f"gamma={gamma!r} depends on the samples: use kpca_lab.widths.resolve_gamma first.")
    if not isinstance(gamma, Real) or not np.isfinite(gamma) or gamma < 0:
        raise ValueError(f"gamma must be a finite number >= 0 or None, got {gamma!r}.")
    if not isinstance(degree, Real) or degree < 0 or degree != np.floor(degree) or np.isinf(degree):
        raise ValueError(
            f"degree must be a whole number >= 0, got {degree!r}: other powers give no kernel of this kind."
        )
    if not isinstance(coef0, Real) or not np.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}.")
    return Kernel(name, gamma=float(gamma), degree=int(degree), coef0=float(coef0))


def _run(numbers: np.ndarray) -> np.ndarray | slice:
    """The slice that sample numbers are, if they follow one another: copied far faster than one by one."""
    if len(numbers) and numbers[0] >= 0 and (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters and, after :meth:`anchored`, an origin.

    Samples are the rows of an array or sparse matrix. For ``"precomputed"`` a sample is either an integer
    (the training sample of that number) or a row of kernel values with all training samples, whose
    matrix is ``gram``; ``function`` is that of a callable kernel. These and ``origin`` are None elsewhere.
    :func:`make_kernel` makes one from scikit-learn's names and parameters.

    Attributes
    ----------
    name : str
        One of ``KERNELS``.
    gamma, degree, coef0 : float
        Its parameters.
    function, function_params : callable, dict
        A callable kernel and its keyword arguments.
    gram : ndarray
        A precomputed kernel matrix.
    origin : ndarray
        What is subtracted of samples before their inner products are formed.
    """

    name: str
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0
    function: Any = None
    function_params: dict[str, Any] = field(default_factory=dict)
    gram: Any = None
    origin: Any = None

    @property
    def signature(self) -> tuple:
        """What determines the feature space: kernels with equal signatures share it."""
        matters = {
            "rbf": ("gamma",),
            "laplacian": ("gamma",),
            "chi2": ("gamma",),
            "poly": ("gamma", "degree", "coef0"),
            "sigmoid": ("gamma", "coef0"),
            "callable": ("function", "function_params"),
        }
        return self.name, *(getattr(self, name) for name in matters.get(self.name, ()))

    def anchored(self, points: Rows) -> "Kernel":
        """The same kernel with its parts taken about a point amid ``points``."""
        if self.name in ("rbf", "laplacian", "linear", "cosine") or self._is_integer_poly:
            return replace(self, origin=central_point(self._mapped(points)))
        return self

    @property
    def constant(self) -> float:
        """The part of the kernel that no sample changes."""
        if self.name in EXPONENTIALS:
            return 1.0
        if self.name == "sigmoid":
            return float(np.tanh(self.coef0))
        if self.origin is None:
            return 0.0
        square = float(self.origin @ self.origin)
        return square if self.name in LINEAR else (self.gamma * square + self.coef0) ** self.degree

    def offset(self, X: Rows) -> np.ndarray:
        """The part that depends on one sample, for each row of ``X``."""
        if self.origin is None or self.name in EXPONENTIALS:
            return np.zeros(X.shape[0])
        along = self._shift(X) @ self.origin
        return along if self.name in LINEAR else self._poly_offset(along, int(self.degree))

    def core(self, X: Rows, Y: Rows) -> np.ndarray:
        """The part that depends on both samples: rows for those of ``X``, columns for those of ``Y``."""
        table = TABLE_IN_USE.get()
        known = None if table is None else table.core(self, X, Y)
        return self.computed_core(X, Y) if known is None else known

    def computed_core(self, X: Rows, Y: Rows) -> np.ndarray:
        """The same, never from a table."""
        if self.name == "precomputed":
            rows = self.gram[_run(X)] if X.ndim == 1 else X
            return np.array(rows[:, _run(Y)], dtype=np.float64)
        if self.name == "callable":
            X, Y = as_double(X), None if Y is X else as_double(Y)
            with np.errstate(over="ignore", invalid="ignore"):  # its check of huge values
                return pairwise_kernels(X, Y, metric=self.function, **self.function_params)
        A = self._shift(X)
        return self._core_of_shifted(A, A if Y is X else self._shift(Y))

    def core_columns(self, X: Rows) -> Callable[[int], np.ndarray]:
        """A function that gives a column of ``core(X, X)``; what all columns share is computed once."""
        table = TABLE_IN_USE.get()
        known = None if table is None else table.core_columns(self, X)
        if known is not None:
            return known
        if self.name in ("precomputed", "callable"):
            return lambda j: self.core(X, X[j : j + 1])[:, 0]
        A = self._shift(X)
        if self.name != "rbf" or sparse.issparse(A):
            return lambda j: self._core_of_shifted(A, A[j : j + 1])[:, 0]
        squares = self.gamma * row_squares(A)

        def column(j: int) -> np.ndarray:
            values = product(A, 2 * self.gamma * A[j])
            values -= squares
            values -= squares[j]
            self._measure_close_pairs(values[:, None], A, A[j : j + 1], 2 * squares.max())
            return np.expm1(values, out=values)

        return column

    def _core_of_shifted(self, A: Rows, B: Rows) -> np.ndarray:
        if self.name == "rbf":
            values = self._scaled_distances(A, B)
            np.expm1(values, out=values)
        elif self.name == "laplacian":
            values = self.core_of_distances(_city_block_distances(A, B), A, B)
        elif self.name in ("chi2", "additive_chi2"):
            values = self._chi2_core(densify(A), densify(B))
        elif self.name in LINEAR:
            values = dense_product(A, B)
        elif self.origin is not None:
            values = self._poly_core(A, B)
        else:
            values = self._whole(self.gamma * dense_product(A, B))
        return values

    def _whole(self, products: np.ndarray) -> np.ndarray:
        """The sigmoid kernel less its constant, or a polynomial kernel that has no parts.

        ``tanh(a + c) - tanh(c)`` is had from the theorem of addition, without a subtraction.
        """
        if self.name == "sigmoid":
            return np.tanh(products) * (1.0 - np.tanh(products + self.coef0) * self.constant)
        return (products + self.coef0) ** self.degree

    def _chi2_core(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        for values in (A, B):
            if (values < 0).any():
                raise ValueError(
                    f"kernel={self.name!r} compares histograms: no value may be negative, got {values.min()}."
                )
        negative_distances = additive_chi2_kernel(
            *(np.require(values, requirements="W") for values in (A, B))
        )
        if self.name == "additive_chi2":
            return negative_distances
        negative_distances *= self.gamma
        return np.expm1(negative_distances, out=negative_distances)

    def core_of_distances(self, distances: np.ndarray, A: Rows, B: Rows) -> np.ndarray:
        """The core of the Gaussian or Laplacian kernel from the distances that it is a function of, in place.

        These are squared Euclidean ones for the Gaussian kernel, of the rows of ``A`` to those of ``B``.
        """
        distances *= -self.gamma
        if self.name == "rbf":
            largest = self.gamma * (row_squares(A).max(initial=0) + row_squares(B).max(initial=0))
            self._measure_close_pairs(distances, A, B, largest)
        return np.expm1(distances, out=distances)

    def core_diagonal(self, X: Rows) -> np.ndarray:
        """``core(x, x)`` for each row, without the matrix."""
        if self.name in (*EXPONENTIALS, "additive_chi2"):
            return np.zeros(X.shape[0])
        if self.name == "precomputed":
            if X.ndim != 1:
                raise ValueError(
                    "k(x, x) of new samples is not known with kernel='precomputed': errors and residuals "
                    "can be had only for training samples, given by their numbers."
                )
            return self.gram.diagonal()[X].astype(np.float64)
        if self.name == "callable":
            return np.array([self.function(x, x, **self.function_params) for x in X], dtype=np.float64)
        A = self._shift(X)
        if self.name in LINEAR:
            return row_squares(A)
        if self.origin is not None:
            return self._poly_core_diagonal(A)
        return self._whole(self.gamma * row_squares(A))

    def __call__(self, X: Rows, Y: Rows) -> np.ndarray:
        """The kernel matrix between the rows of ``X`` and of ``Y``."""
        values = self.core(X, Y)
        if self.origin is not None or self.constant:
            values += self.offset(X)[:, None] + self.constant
            values += self.offset(Y)
        return values

    def diagonal(self, X: Rows) -> np.ndarray:
        """``k(x, x)`` for each row, without the matrix."""
        return self.core_diagonal(X) + 2 * self.offset(X) + self.constant

    def core_blocks(
        self, X: Rows, Y: Rows, block_bytes: int = BLOCK_BYTES
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """``core(X, Y)`` in blocks of rows, with the slice of ``X`` that each belongs to."""
        width = Y.shape[0] if sparse.issparse(X) else max(Y.shape[0], X.shape[-1])
        for rows in row_blocks(X.shape[0], 8 * width, block_bytes):
            yield rows, self.core(X[rows], Y)

    @property
    def _is_integer_poly(self) -> bool:
        return self.name == "poly" and isinstance(self.degree, Integral) and self.degree >= 1

    def _shift(self, X: Rows) -> Rows:
        return shifted(self._mapped(X), self.origin)

    def _mapped(self, X: Rows) -> Rows:
        """The rows that the kernel is a function of: of unit length for the cosine."""
        return unit_rows(X) if self.name == "cosine" else X

    def _scaled_distances(self, A: Rows, B: Rows) -> np.ndarray:
        """``-gamma d^2``; the squared norms ride along as two more columns of the product."""
        a, b = -self.gamma * row_squares(A), -self.gamma * row_squares(B)
        if sparse.issparse(A) or sparse.issparse(B):
            values = 2 * self.gamma * dense_product(A, B)
            values += a[:, None]
            values += b
        else:
            left = np.column_stack([A, a, np.ones(len(a))])
            right = np.column_stack([2 * self.gamma * B, np.ones(len(b)), b])
            values = product(left, right.T)
        self._measure_close_pairs(values, A, B, -a.min(initial=0) - b.min(initial=0))
        if A is B:
            np.fill_diagonal(values, 0)
        return values

    def _measure_close_pairs(self, values: np.ndarray, A: Rows, B: Rows, largest_square: float) -> None:
        measure_close_pairs(values, A, B, self.gamma, largest_square)

    # The polynomial kernel is a product of linear ones, and the parts of a product follow from the parts
    # of its factors without a subtraction: with factors f = F + f(x) + f(y) + f0 and g likewise, the core
    # is F g + (f(x) + f(y) + f0) G + f(x) g(y) + f(y) g(x), the offset f0 g(x) + g0 f(x) + f(x) g(x).

    def _poly_base(self) -> float:
        return self.gamma * float(self.origin @ self.origin) + self.coef0

    def _poly_offset(self, along: np.ndarray, degree: int) -> np.ndarray:
        base, first = self._poly_base(), self.gamma * along
        total = first
        for power in range(1, degree):
            total = base * total + base**power * first + first * total
        return total

    def _poly_core(self, A: Rows, B: Rows) -> np.ndarray:
        along_a, along_b = A @ self.origin, B @ self.origin
        return self._poly_product(self.gamma * dense_product(A, B), along_a[:, None], along_b)

    def _poly_core_diagonal(self, A: Rows) -> np.ndarray:
        along = A @ self.origin
        return self._poly_product(self.gamma * row_squares(A), along, along)

    def _poly_product(self, linear: np.ndarray, along_a: np.ndarray, along_b: np.ndarray) -> np.ndarray:
        base, a, b = self._poly_base(), self.gamma * along_a, self.gamma * along_b
        core = linear
        for power in range(1, int(self.degree)):
            higher_a, higher_b = (
                self._poly_offset(along_a, power),
                self._poly_offset(along_b, power),
            )
            full = linear + a + b + base
            core = core * full + (higher_a + higher_b + base**power) * linear
            core += a * higher_b + b * higher_a
        return core


def _city_block_distances(A: Rows, B: Rows) -> np.ndarray:
    if sparse.issparse(A) or sparse.issparse(B):
        return manhattan_distances(as_double(A), as_double(B))
    return cdist(A, B, "cityblock")
