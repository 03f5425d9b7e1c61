"""Reduced sets: a few points in whose span given feature vectors lie almost (Chin & Suter 2006, Section 5).

A vector is a column that holds the total of its coefficients first and then the coefficients; ``gram`` is the
matrix for which inner products are ``a' gram b``, as in :class:`kpca_lab.methods.incremental.State`.
"""

import numpy as np

from kpca_lab.kernels import Kernel
from kpca_lab.operator import Expansion
from kpca_lab.preimage import VANISHING, preimage

# What is left of a vector, or of a point's image, counts as nothing below this share of its squared length.
NOTHING = 1e-10


def selected_points(
    kernel: Kernel, points: np.ndarray, gram: np.ndarray, vectors: np.ndarray, n_points: int
) -> np.ndarray:
    """Those of the points that, one after the other, remove most of what is left of all vectors together.

    Parameters and result are those of :func:`iterated_preimages`, with ``n_points`` as the limit; a longer
    vector counts for more.
    """
    pursuit = _Pursuit(kernel, points, gram, vectors, n_points)
    for _ in range(n_points):
        gain, point = pursuit.best_given_point(slice(None))
        direction = pursuit.new_direction(point)
        if gain <= NOTHING**2 * pursuit.squares.sum() or direction is None:
            break
        pursuit.add(direction)
    return pursuit.found() if pursuit.n_found else points[:1]


def iterated_preimages(
    kernel: Kernel,
    points: np.ndarray,
    gram: np.ndarray,
    vectors: np.ndarray,
    n_preimages: int,
    *,
    tol: float,
    max_iter: int,
) -> np.ndarray:
    """For one vector after the other, pre-images of what is left of it, again and again (Section 5.1).

    What is left of a vector is its part orthogonal to the images of all points found so far, for whichever
    vector. So each vector begins with what the points of the vectors before it leave open (Eq. 21).

    Pre-images of what is left tend to run away from the samples, and over many updates the points would
    gather where no samples are. So a search starts at the given point that removes most of the vector, and
    its result is taken only if it removes more.

    Parameters
    ----------
    kernel : Kernel
    points, gram : ndarray of shape (n_points, n_features), (n_points + 1, n_points + 1)
    vectors : ndarray of shape (n_points + 1, n_vectors)
    n_preimages : int
        At most this many points for each vector.
    tol, max_iter : float, int
        Of each search, see :func:`kpca_lab.preimage.preimage`.

    Returns
    -------
    ndarray of shape (n_found, n_features)
        At least one point.
    """
    pursuit = _Pursuit(kernel, points, gram, vectors, vectors.shape[1] * n_preimages)
    for vector in range(vectors.shape[1]):
        for _ in range(n_preimages):
            if pursuit.is_represented(vector):
                break
            gain, start = pursuit.best_given_point([vector])
            found = pursuit.preimage(vector, start, tol, max_iter)
            direction = pursuit.new_direction(found)
            if direction is None or pursuit.gain(direction, vector) < gain:
                direction = pursuit.new_direction(start)
            if direction is None:
                break
            pursuit.add(direction)
    return pursuit.found() if pursuit.n_found else points[:1]


class _Pursuit:
    """What is left of some vectors while points are added whose span is removed from them."""

    def __init__(self, kernel: Kernel, points, gram, vectors, most: int):
        self.kernel = kernel
        self.n_given, self.n_found = len(points), 0
        room = len(gram) + most
        self.points = np.concatenate([points, np.zeros((most, points.shape[1]))])
        if kernel.name == "rbf":
            self.shifted = self.points - kernel.origin
            self.point_squares = np.einsum("ij,ij->i", self.shifted, self.shifted)
        self.gram = np.zeros((room, room))
        self.gram[: len(gram), : len(gram)] = gram
        self.left = np.concatenate([vectors, np.zeros((most, vectors.shape[1]))])
        self.squares = np.einsum("ij,ij->j", vectors, gram @ vectors)
        self.spanned = np.zeros((room, most))
        self.gram_spanned = np.zeros((room, most))
        self.given_squares = kernel.diagonal(points)
        self.given_left = self.given_squares.copy()
        self.given_along = self._at_given_points(self.gram @ self.left)

    def preimage(self, vector: int, start: np.ndarray, tol: float, max_iter: int) -> np.ndarray:
        """A pre-image, up to scale, of what is left of a vector."""
        if self.kernel.name != "rbf":
            return preimage(
                self.kernel,
                self.what_is_left(vector),
                start=start,
                up_to_scale=True,
                tol=tol,
                max_iter=max_iter,
                n_restarts=0,
            )
        n_points = self.n_given + self.n_found
        points, squares = self.shifted[:n_points], self.point_squares[:n_points]
        total, coefficients = self.left[0, vector], self.left[1 : n_points + 1, vector]
        middle = points.mean(axis=0)
        threshold = tol * np.sqrt(max(squares.mean() - middle @ middle, 0.0))
        moment = coefficients @ points
        z = start[0] - self.kernel.origin
        best, best_value, sign = z, -np.inf, 0.0
        for iteration in range(max_iter + 1):
            weights = coefficients * self._core_with(z, points, squares)
            value = total + weights.sum()  # <u, phi(z)>
            if not sign:  # the vector or its opposite, whichever the start is nearer to
                sign = -1.0 if value < 0 else 1.0
            if sign * value > best_value:
                best, best_value = z, sign * value
            if iteration == max_iter or sign * value <= VANISHING * (abs(total) + np.abs(weights).sum()):
                break
            moved = (moment + weights @ points) / value
            step, z = moved - z, moved
            if step @ step <= threshold**2:
                best = z
                break
        return (best + self.kernel.origin)[None]

    def _core_with(self, z: np.ndarray, points: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """The core of the Gaussian kernel between a point and some others, all about the kernel's origin."""
        values = points @ (2 * z)
        values -= squares
        values -= z @ z
        values *= self.kernel.gamma
        np.minimum(values, 0, out=values)
        return np.expm1(values, out=values)

    def is_represented(self, vector: int) -> bool:
        u = self.left[:, vector]
        return u @ (self.gram @ u) <= NOTHING * self.squares[vector]

    def what_is_left(self, vector: int) -> Expansion:
        n_points = self.n_given + self.n_found
        u = self.left[: n_points + 1, vector]
        return Expansion(self.points[:n_points], u[1:, None], u[:1])

    def best_given_point(self, vectors) -> tuple[float, np.ndarray]:
        """The given point that removes most of what is left of some vectors, and how much that is."""
        removed = np.sum(self.given_along[:, vectors] ** 2, axis=1)
        usable = self.given_left > NOTHING * self.given_squares
        gains = np.where(usable, removed / np.where(usable, self.given_left, 1.0), 0.0)
        return gains.max(), self.points[[gains.argmax()]]

    def new_direction(self, point: np.ndarray) -> np.ndarray | None:
        """The unit vector that a point would add to the span, None if it would add nothing.

        The point is written into the next free place, where :meth:`add` keeps it.
        """
        last = self.n_given + self.n_found
        size = last + 2
        self.points[last] = point
        self.gram[last + 1, : last + 1] = self.gram[: last + 1, last + 1] = self._values_with_earlier(last)
        square = self.kernel.constant
        if self.kernel.name != "rbf":
            self.gram[last + 1, last + 1] = self.kernel.core_diagonal(point)[0]
            square = self.kernel.diagonal(point)[0]
        gram, spanned = self.gram[:size, :size], self.spanned[:size, : self.n_found]
        # What the products with the directions before have along the new point.
        self.gram_spanned[last + 1, : self.n_found] = self.gram[last + 1, :size] @ spanned
        gram_spanned = self.gram_spanned[:size, : self.n_found]
        image = np.zeros(len(self.gram))
        image[[0, last + 1]] = 1.0
        for _ in range(2):
            image[:size] -= spanned @ (gram_spanned.T @ image[:size])
        left = image[:size] @ (gram @ image[:size])
        return image / np.sqrt(left) if left > NOTHING * square else None

    def _values_with_earlier(self, last: int) -> np.ndarray:
        """The newest point's offset, and the core of the kernel with all points before it."""
        if self.kernel.name != "rbf":
            point = self.points[last : last + 1]
            return np.append(self.kernel.offset(point), self.kernel.core(point, self.points[:last]))
        self.shifted[last] = self.points[last] - self.kernel.origin
        self.point_squares[last] = self.shifted[last] @ self.shifted[last]
        core = self._core_with(self.shifted[last], self.shifted[:last], self.point_squares[:last])
        return np.append(0.0, core)

    def gain(self, direction: np.ndarray, vector: int) -> float:
        """By how much a direction reduces the squared length of what is left of a vector."""
        return (direction @ (self.gram @ self.left[:, vector])) ** 2

    def add(self, direction: np.ndarray) -> None:
        """Keep the point that :meth:`new_direction` was called for last."""
        self.spanned[:, self.n_found] = direction
        gram_direction = self.gram @ direction
        self.gram_spanned[:, self.n_found] = gram_direction
        self.n_found += 1
        along = gram_direction @ self.left
        self.left -= np.outer(direction, along)
        at_given = self._at_given_points(gram_direction)
        self.given_along -= np.outer(at_given, along)
        self.given_left -= at_given**2

    def found(self) -> np.ndarray:
        """The points that were added."""
        return self.points[self.n_given : self.n_given + self.n_found].copy()

    def _at_given_points(self, gram_vector: np.ndarray) -> np.ndarray:
        return gram_vector[1 : self.n_given + 1] + gram_vector[0]
