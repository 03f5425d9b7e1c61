"""Data of the bench: MNIST and tic where they can be had, and else generated ones like them."""

from functools import cache

import numpy as np

from kpca_lab.datasets import load_dataset

GAMMA_PICTURES = 0.01
GAMMA_DIGITS = 10**-5.1  # that of the denoising experiments: the kernel is almost constant
GAMMA_MIXTURE = 0.5


@cache
def mnist() -> tuple[str, np.ndarray]:
    """A name and 60000 x 784 numbers in [0, 1]."""
    try:
        return "MNIST", load_dataset("mnist").X / 255
    except Exception as error:  # no network and no mirror: nothing here depends on the very pictures
        print(f"MNIST cannot be had ({type(error).__name__}): generated pictures instead")
        return "generated pictures", pictures(60000, 784)


@cache
def tic() -> tuple[str, np.ndarray]:
    """A name and 9822 x 85 counts."""
    try:
        return "tic", load_dataset("tic").X
    except Exception as error:
        print(f"tic cannot be had ({type(error).__name__}): generated counts instead")
        return "generated counts", counts()


def pictures(n: int, d: int) -> np.ndarray:
    """Numbers in [0, 1]: mixtures of a few dozen patterns, and noise."""
    rng = np.random.default_rng(0)
    patterns = rng.random((40, d)) * (rng.random((40, d)) < 0.3)
    X = np.empty((n, d))
    for start in range(0, n, 5000):
        weights = rng.dirichlet(np.full(40, 0.1), min(5000, n - start))
        noisy = weights @ patterns + rng.normal(0, 0.1, (len(weights), d))
        X[start : start + 5000] = np.clip(noisy, 0, 1)
    return X


def counts() -> np.ndarray:
    """Small whole numbers in groups of nearly equal rows."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, rng.integers(2, 10, 85), (40, 85))
    X = groups[rng.integers(0, 40, 9822)].astype(float)
    changed = rng.random(X.shape) < 0.02
    X[changed] = rng.integers(0, 10, changed.sum())
    return X


def gamma_of_tic(X: np.ndarray) -> float:
    """Width at which distances of the size of the spread count."""
    return float(1 / (2 * X.var()))
