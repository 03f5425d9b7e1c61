"""Vectors and finite-rank operators in feature space: what every method of this package ends in."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from kpca_lab.blas import product
from kpca_lab.distances import stacked
from kpca_lab.evaluator import CoreEvaluator
from kpca_lab.kernels import EXPONENTIALS, Kernel

FORMAT_VERSION = 1
# What a product with the points needs of them is kept for the next call up to this size.
KEPT_BYTES = 32 * 2**20
# About so many points stand for all where one vector amid them is wanted.
POINTS_AMID = 16


@dataclass(frozen=True, eq=False)
class Expansion:
    """Vectors ``u_j = sum_i coefficients[i, j] phi(points[i])`` of the feature space.

    ``totals`` are the column sums of the coefficients. They are kept apart because coefficients
    are often large and of both signs, so that adding them up later would lose the digits that meet the
    constant part of the kernel (see :mod:`kpca_lab.kernels`).
    """

    points: np.ndarray
    coefficients: np.ndarray
    totals: np.ndarray

    @classmethod
    def over(cls, points, coefficients: np.ndarray, totals: np.ndarray | None = None) -> "Expansion":
        """Vectors over ``points``; the totals are summed up here unless they are known better."""
        totals = coefficients.sum(axis=0) if totals is None else np.asarray(totals, dtype=np.float64)
        return cls(points, coefficients, totals)

    def columns(self, selection) -> "Expansion":
        """Some of the vectors."""
        return replace(self, coefficients=self.coefficients[:, selection], totals=self.totals[selection])

    def offset(self, kernel: Kernel) -> np.ndarray:
        """What the kernel's offsets add up to in each vector."""
        return product(kernel.offset(self.points), self.coefficients)

    def evaluate(self, kernel: Kernel, Z) -> np.ndarray:
        """Inner products ``<u_j, phi(z)>``: one row per row of ``Z``, one column per vector."""
        values = core_product(kernel, Z, self.points, self.coefficients)
        values += self.offset(kernel) + kernel.constant * self.totals
        values += np.outer(kernel.offset(Z), self.totals)
        return values

    def core_inner(self, kernel: Kernel, other: "Expansion") -> np.ndarray:
        """What the core of the kernel adds to the inner products with the other vectors."""
        inner = np.zeros((self.coefficients.shape[1], other.coefficients.shape[1]))
        for rows, core in kernel.core_blocks(self.points, other.points):
            inner += product(self.coefficients[rows].T, product(core, other.coefficients))
        return inner

    def inner(self, kernel: Kernel, other: "Expansion") -> np.ndarray:
        """Inner products of these vectors (rows) with the other ones (columns)."""
        inner = self.core_inner(kernel, other)
        inner += np.outer(self.offset(kernel), other.totals)
        inner += np.outer(self.totals, other.offset(kernel))
        return inner + kernel.constant * np.outer(self.totals, other.totals)


def core_product(kernel: Kernel, Z, points, coefficients: np.ndarray) -> np.ndarray:
    """``core(Z, points) @ coefficients``, in blocks of rows."""
    values = np.empty((Z.shape[0], coefficients.shape[1]))
    for rows, core in kernel.core_blocks(Z, points):
        product(core, coefficients, out=values[rows])
    return values


@dataclass(frozen=True, eq=False)
class FeatureOperator:
    """The operator ``X = Phi(P) L R' Phi(P)*`` of rank r, acting on ``phi(x) - mean``.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose feature space it acts in.
    left : Expansion
        The vectors ``Phi(P) L``; for a projector, its orthonormal basis.
    right : Expansion, default=None
        The vectors ``Phi(P) R``, the same as ``left`` by default.
    mean : Expansion, default=None
        One vector; not given for an operator that does not centre.
    orthonormal : bool, default=False
        Whether ``left`` is known to be orthonormal, which saves forming its Gram matrix.
    """

    kernel: Kernel
    left: Expansion
    right: Expansion | None = None
    mean: Expansion | None = None
    orthonormal: bool = False

    @property
    def points(self) -> np.ndarray:
        """The points that the operator is written over."""
        return self.left.points

    @property
    def rank(self) -> int:
        """Number of components."""
        return self.left.coefficients.shape[1]

    @property
    def analysis(self) -> Expansion:
        """The vectors that samples are projected on: ``right``, or ``left`` where they are the same."""
        return self.left if self.right is None else self.right

    @cached_property
    def left_gram(self) -> np.ndarray:
        """Inner products of the left vectors."""
        return np.eye(self.rank) if self.orthonormal else self.left.inner(self.kernel, self.left)

    @cached_property
    def _mean_core(self) -> dict[str, np.ndarray]:
        """Core parts of the inner products of the mean with the vectors and with itself."""
        assert self.mean is not None
        mean, vectors = self.mean, {"left": self.left, "right": self.analysis, "mean": self.mean}
        at_points = core_product(self.kernel, self.points, mean.points, mean.coefficients)
        return {
            name: (
                product(v.coefficients.T, at_points)
                if v.points is self.points
                else v.core_inner(self.kernel, mean)
            ).ravel()
            for name, v in vectors.items()
        }

    def _core_blocks(self, Z) -> Iterator[tuple[slice, np.ndarray]]:
        """The kernel's core of ``Z`` with the points, in blocks of rows."""
        many = 8 * np.prod(self.points.shape, dtype=np.int64) > KEPT_BYTES
        evaluator = CoreEvaluator(self.kernel, self.points) if many else self._evaluator
        return evaluator.blocks(Z, keep_buffers=False)

    @cached_property
    def _evaluator(self) -> CoreEvaluator:
        return CoreEvaluator(self.kernel, self.points)

    def __getstate__(self):
        left_out = ("_evaluator", "_about_own_vector")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def transform(self, Z) -> np.ndarray:
        """Components ``<right_j, phi(z) - mean>`` of each row of ``Z``.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_features)
            Samples; for a precomputed kernel, numbers of training samples or rows of kernel values.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            Their components.
        """
        values = np.empty((Z.shape[0], self.rank))
        for rows, core in self._core_blocks(Z):
            product(core, self.analysis.coefficients, out=values[rows])
            self._add_other_parts(values[rows], "right", Z[rows])
        return values

    def transform_core(self, core: np.ndarray, Z) -> np.ndarray:
        """The same, where the kernel's core of ``Z`` with the points is known."""
        values = product(core, self.analysis.coefficients)
        self._add_other_parts(values, "right", Z)
        return values

    def centred_square_norm(self, Z) -> np.ndarray:
        """``||phi(z) - mean||^2`` of each row of ``Z``."""
        if self.mean is None:
            return self.kernel.diagonal(Z)
        with_mean = core_product(self.kernel, Z, self.mean.points, self.mean.coefficients)
        return self._square_distance(Z, with_mean[:, 0])

    def _add_other_parts(self, core_values: np.ndarray, side: str, Z) -> None:
        """Complete the core part of ``<u_j, phi(z)>`` to ``<u_j, phi(z) - mean>``, in place."""
        kernel, vectors = self.kernel, self.left if side == "left" else self.analysis
        offset, left_over = kernel.offset(Z), 1.0
        if self.mean is not None:
            core_values -= self._mean_core[side]
            offset, left_over = offset - self.mean.offset(kernel)[0], 1.0 - self.mean.totals[0]
        core_values += left_over * (vectors.offset(kernel) + kernel.constant * vectors.totals)
        if offset.any():
            core_values += np.outer(offset, vectors.totals)

    def _square_distance(self, Z, core_with_mean: np.ndarray) -> np.ndarray:
        # phi(z) - mean is an expansion with coefficients 1 and -c, whose total is `left_over`.
        assert self.mean is not None
        kernel, left_over = self.kernel, 1.0 - self.mean.totals[0]
        square = kernel.core_diagonal(Z) - 2 * core_with_mean + self._mean_core["mean"][0]
        square += 2 * left_over * (kernel.offset(Z) - self.mean.offset(kernel)[0])
        return square + kernel.constant * left_over**2

    def projection_norm(self, Z) -> np.ndarray:
        """``||X (phi(z) - mean)||`` of each row of ``Z``."""
        components = self.transform(Z)
        return np.sqrt(np.maximum(self._square_norm(components), 0.0))

    def residual(self, Z) -> np.ndarray:
        """``||(phi(z) - mean) - X (phi(z) - mean)||^2`` of each row of ``Z``, never negative."""
        if self.mean is None and self.orthonormal and self.right is None and self.rank and self._is_bounded:
            return self._about_own_vector.residual(Z)
        # One pass over the kernel values serves both sides and, where it is over the same points, the mean.
        shared_mean = self.mean is not None and self.mean.points is self.points
        parts = [self.analysis.coefficients]
        if self.right is not None:
            parts.append(self.left.coefficients)
        if self.mean is not None and shared_mean:
            parts.append(self.mean.coefficients)
        coefficients = np.hstack(parts)
        square = np.empty(Z.shape[0]) if shared_mean else self.centred_square_norm(Z)
        for rows, core in self._core_blocks(Z):
            core_values = product(core, coefficients)
            components = along_left = core_values[:, : self.rank]
            self._add_other_parts(components, "right", Z[rows])
            if self.right is not None:
                along_left = core_values[:, self.rank : 2 * self.rank]
                self._add_other_parts(along_left, "left", Z[rows])
            if shared_mean:
                square[rows] = self._square_distance(Z[rows], core_values[:, -1])
            square[rows] -= 2 * np.einsum("ij,ij->i", components, along_left)
            square[rows] += self._square_norm(components)
        return np.maximum(square, 0.0)

    @property
    def _is_bounded(self) -> bool:
        """Whether feature vectors have length one, so that no two of them are far apart."""
        return self.kernel.name in (*EXPONENTIALS, "cosine")

    @cached_property
    def _about_own_vector(self) -> "FeatureOperator":
        """This projector, acting on differences to a vector of its range amid the points.

        ``phi(z) - P phi(z)`` is the same for all of them, and where all feature vectors are almost the same
        one, ``P phi(p)`` for any point p is close to it: the differences keep the digits that
        ``|phi(z)|^2 - |P phi(z)|^2`` would lose.
        """
        amid = self.points[:: max(1, self.points.shape[0] // POINTS_AMID)]
        along = self.left.evaluate(self.kernel, amid).mean(axis=0)[:, None]
        mean = Expansion(self.points, self.left.coefficients @ along, self.left.totals @ along)
        return replace(self, mean=mean)

    def _square_norm(self, components: np.ndarray) -> np.ndarray:
        image = components if self.orthonormal else product(components, self.left_gram)
        return np.einsum("ij,ij->i", components, image)

    def synthesize(self, components: np.ndarray) -> Expansion:
        """The feature vectors ``sum_j components[i, j] left_j + mean``, one per row of ``components``."""
        coefficients = self.left.coefficients @ components.T
        totals = self.left.totals @ components.T
        if self.mean is None:
            return Expansion(self.points, coefficients, totals)
        mean = self.mean
        n_vectors = len(components)
        if mean.points is self.points:
            return Expansion(self.points, coefficients + mean.coefficients, totals + mean.totals)
        return Expansion(
            stacked(self.points, mean.points),
            np.concatenate([coefficients, np.repeat(mean.coefficients, n_vectors, axis=1)]),
            totals + mean.totals,
        )

    def truncate(self, r: int) -> "FeatureOperator":
        """The operator of the first ``r`` components."""
        if not 0 <= r <= self.rank:
            raise ValueError(f"r must be between 0 and the operator's rank {self.rank}, got {r}.")
        right = None if self.right is None else self.right.columns(slice(r))
        return replace(self, left=self.left.columns(slice(r)), right=right)

    def save(self, path: str | os.PathLike) -> None:
        """Write the operator to an ``.npz`` file, whole or not at all."""
        if self.kernel.name == "callable":
            raise ValueError(
                "An operator whose kernel is a callable cannot be saved: there is no code in npz."
            )
        if sparse.issparse(self.points):
            raise ValueError("An operator over sparse points cannot be saved: fit it on a dense array.")
        arrays = {
            "left": self.left.coefficients,
            "left_totals": self.left.totals,
            "points": self.points,
        }
        if self.right is not None:
            arrays |= {"right": self.right.coefficients, "right_totals": self.right.totals}
        if self.mean is not None:
            arrays |= {"mean": self.mean.coefficients, "mean_totals": self.mean.totals}
            if self.mean.points is not self.points:
                arrays["mean_points"] = self.mean.points
        for name in ("origin", "gram"):
            if getattr(self.kernel, name) is not None:
                arrays[name] = getattr(self.kernel, name)
        kernel = {name: getattr(self.kernel, name) for name in ("name", "gamma", "degree", "coef0")}
        header = {"format": FORMAT_VERSION, "kernel": kernel, "orthonormal": self.orthonormal}
        path = Path(path)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            try:
                np.savez(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]
                file.close()
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise

    @classmethod
    def load(cls, path: str | os.PathLike) -> "FeatureOperator":
        """Read an operator that :meth:`save` wrote; nothing in the file is executed."""
        with np.load(path, allow_pickle=False) as file:
            if "header" not in file:
                raise ValueError(f"{os.fspath(path)} holds no kpca_lab operator.")
            header = json.loads(str(file["header"]))
            if header["format"] != FORMAT_VERSION:
                raise ValueError(
                    f"{os.fspath(path)} has format {header['format']}; this kpca_lab reads "
                    f"format {FORMAT_VERSION}: write it again with this version."
                )
            arrays = {name: file[name] for name in file.files if name != "header"}
        kernel = Kernel(**header["kernel"], origin=arrays.get("origin"), gram=arrays.get("gram"))
        points = arrays["points"]
        right = mean = None
        if "right" in arrays:
            right = Expansion(points, arrays["right"], arrays["right_totals"])
        if "mean" in arrays:
            mean = Expansion(arrays.get("mean_points", points), arrays["mean"], arrays["mean_totals"])
        left = Expansion(points, arrays["left"], arrays["left_totals"])
        return cls(kernel, left, right, mean, header["orthonormal"])
