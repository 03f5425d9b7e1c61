"""Seeds derived from what is being done, so that every method meets the same randomness."""

import hashlib
import json
from typing import Any

import numpy as np

__all__ = ["derive_rng", "derive_seed"]


def _digest(parts: tuple) -> bytes:
    if not parts:
        raise ValueError("a seed needs at least one part to be derived from")
    plain = []
    for part in parts:
        if isinstance(part, np.generic):
            part = part.item()
        if part is not None and not isinstance(part, str | int | float | bool):
            raise TypeError(f"seed parts are strings, numbers, booleans or None, not {type(part).__name__}")
        plain.append(part)
    # JSON keeps 1, "1" and True apart and separates the parts without ambiguity.
    return hashlib.sha256(json.dumps(plain).encode()).digest()


def derive_seed(*parts: Any) -> int:
    """Derive a 32-bit seed from strings and numbers.

    The same parts give the same seed on every machine and Python version; any other parts
    give, in effect, an independent one.

    Parameters
    ----------
    *parts : str, int, float, bool or None
        What the randomness is for, for example ``("concrete", 3, "split")``.

    Returns
    -------
    int
        In ``[0, 2**32)``: fit for NumPy generators and scikit-learn's ``random_state`` alike.

    Examples
    --------
    >>> from kpca_lab.datasets import derive_seed
    >>> derive_seed("concrete", 3, "split") == derive_seed("concrete", 3, "split")
    True
    >>> derive_seed("concrete", 3, "split") == derive_seed("concrete", "3", "split")
    False
    """
    return int.from_bytes(_digest(parts)[:4], "big")


def derive_rng(*parts: Any) -> np.random.Generator:
    """Return a NumPy generator seeded with all 256 bits derived from `parts`.

    Parameters
    ----------
    *parts : str, int, float, bool or None
        As for :func:`derive_seed`.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(_digest(parts), "big")))
