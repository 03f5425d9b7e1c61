"""Uniform random choice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class RandomSelector:
    """Choose basis samples uniformly at random, without repetition."""

    nested: ClassVar[bool] = False

    def select(self, X, n_basis, *, kernel=None, n_components=None, center=True, rng) -> np.ndarray:
        """Return the numbers of the chosen samples."""
        return rng.choice(X.shape[0], size=n_basis, replace=False)
