"""Vectors and finite-rank operators in feature space: what every method of this package ends in."""

import json
import os
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from kpca_lab.kernels import Kernel

FORMAT_VERSION = 1


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
        return kernel.offset(self.points) @ self.coefficients

    def evaluate(self, kernel: Kernel, Z) -> np.ndarray:
        """Inner products ``<u_j, phi(z)>``: one row per row of ``Z``, one column per vector."""
        values = np.empty((Z.shape[0], self.coefficients.shape[1]))
        for rows, core in kernel.core_blocks(Z, self.points):
            np.matmul(core, self.coefficients, out=values[rows])
        values += self.offset(kernel) + kernel.constant * self.totals
        values += np.outer(kernel.offset(Z), self.totals)
        return values

    def inner(self, kernel: Kernel, other: "Expansion") -> np.ndarray:
        """Inner products of these vectors (rows) with the other ones (columns)."""
        product = np.zeros((self.coefficients.shape[1], other.coefficients.shape[1]))
        for rows, core in kernel.core_blocks(self.points, other.points):
            product += self.coefficients[rows].T @ (core @ other.coefficients)
        product += np.outer(self.offset(kernel), other.totals)
        product += np.outer(self.totals, other.offset(kernel))
        return product + kernel.constant * np.outer(self.totals, other.totals)


@dataclass(frozen=True, eq=False)
class FeatureOperator:
    """The operator ``X = Phi(P) L R' Phi(P)*`` of rank r, acting on ``phi(x) - mean``.

    Parameters
    ----------
    kernel : Kernel
    left : Expansion
        The vectors ``Phi(P) L``; for a projector, its orthonormal basis.
    right : Expansion, optional
        The vectors ``Phi(P) R``, the same as ``left`` by default.
    mean : Expansion, optional
        One vector; not given for an operator that does not centre.
    orthonormal : bool
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
    def _mean_inner(self) -> tuple[np.ndarray, np.ndarray]:
        mean = self.mean
        left = self.left.inner(self.kernel, mean).ravel()
        return left, left if self.right is None else self.right.inner(self.kernel, mean).ravel()

    @cached_property
    def _mean_core_square(self) -> float:
        c = self.mean.coefficients[:, 0]
        blocks = self.kernel.core_blocks(self.mean.points, self.mean.points)
        return float(sum(c[rows] @ (core @ c) for rows, core in blocks))

    def transform(self, Z) -> np.ndarray:
        """Components ``<right_j, phi(z) - mean>`` of each row of ``Z``."""
        values = self.analysis.evaluate(self.kernel, Z)
        return values if self.mean is None else values - self._mean_inner[1]

    def centred_square_norm(self, Z) -> np.ndarray:
        """``||phi(z) - mean||^2`` of each row of ``Z``."""
        kernel, mean = self.kernel, self.mean
        if mean is None:
            return kernel.diagonal(Z)
        # phi(z) - mean is an expansion with coefficients 1 and -c, whose total is `left_over`.
        left_over = 1.0 - mean.totals[0]
        cross = np.empty(Z.shape[0])
        for rows, core in kernel.core_blocks(Z, mean.points):
            cross[rows] = core @ mean.coefficients[:, 0]
        square = kernel.core_diagonal(Z) - 2 * cross + self._mean_core_square
        square += 2 * left_over * (kernel.offset(Z) - mean.offset(kernel)[0])
        return square + kernel.constant * left_over**2

    def projection_norm(self, Z) -> np.ndarray:
        """``||X (phi(z) - mean)||`` of each row of ``Z``."""
        components = self.transform(Z)
        return np.sqrt(np.maximum(self._square_norm(components), 0.0))

    def residual(self, Z) -> np.ndarray:
        """``||(phi(z) - mean) - X (phi(z) - mean)||^2`` of each row of ``Z``, never negative."""
        components = self.transform(Z)
        if self.right is None:
            along_left = components
        else:
            along_left = self.left.evaluate(self.kernel, Z)
            if self.mean is not None:
                along_left -= self._mean_inner[0]
        cross = np.einsum("ij,ij->i", components, along_left)
        residual = self.centred_square_norm(Z) - 2 * cross + self._square_norm(components)
        return np.maximum(residual, 0.0)

    def _square_norm(self, components: np.ndarray) -> np.ndarray:
        image = components if self.orthonormal else components @ self.left_gram
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
            np.concatenate([self.points, mean.points]),
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
                np.savez(file, header=np.array(json.dumps(header)), **arrays)
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
