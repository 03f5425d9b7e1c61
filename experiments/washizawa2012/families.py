"""Families of distributions in the plane that may be behind Table 1 of Washizawa 2012."""

import numpy as np
from sklearn.datasets import make_moons

__all__ = ["draw"]


def draw(rng: np.random.Generator, n: int, family: str, outliers: float = 0.0, **parameters) -> np.ndarray:
    """Draw samples of a family.

    Parameters
    ----------
    rng : numpy Generator
    n : int
        Number of samples.
    family : str
        One of `FAMILIES`.
    outliers : float
        Share of the samples that are spread evenly over the box of the others, widened by a half.
    **parameters
        Of the family; their unit is arbitrary, as the samples are scaled later.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}")
    X = FAMILIES[family](rng, n, **parameters)
    spread = round(outliers * n)
    low, high = X.min(axis=0), X.max(axis=0)
    X[:spread] = rng.uniform(1.25 * low - 0.25 * high, 1.25 * high - 0.25 * low, (spread, 2))
    return X


def _along(rng, n, x):
    return {"uniform": lambda: rng.uniform(-1, 1, n), "normal": lambda: rng.normal(size=n)}[x]()


def _curve(x, y, noise, rng):
    return np.column_stack([x, y + noise * rng.normal(size=len(x))])


def parabola(rng, n, noise=0.2, curvature=1.0, x="uniform"):
    along = _along(rng, n, x)
    return _curve(along, curvature * along**2, noise, rng)


def cubic(rng, n, noise=0.2, curvature=1.0, x="uniform"):
    along = _along(rng, n, x)
    return _curve(along, curvature * along**3, noise, rng)


def sine(rng, n, noise=0.2, periods=1.0, x="uniform"):
    along = np.pi * periods * _along(rng, n, x)
    return _curve(along, np.sin(along), noise, rng)


def gaussian(rng, n, ratio=1.0):
    return rng.normal(size=(n, 2)) * [ratio, 1.0]


def student(rng, n, df=3, ratio=1.0):
    return rng.standard_t(df, size=(n, 2)) * [ratio, 1.0]


def laplace(rng, n, ratio=1.0):
    return rng.laplace(size=(n, 2)) * [ratio, 1.0]


def rectangle(rng, n, ratio=1.0):
    return rng.uniform(-1, 1, (n, 2)) * [ratio, 1.0]


def _polar(radius, angle):
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def disc(rng, n):
    return _polar(np.sqrt(rng.uniform(size=n)), rng.uniform(0, 2 * np.pi, n))


def ring(rng, n, noise=0.1):
    return _polar(1 + noise * rng.normal(size=n), rng.uniform(0, 2 * np.pi, n))


def spiral(rng, n, noise=0.05, turns=1.5):
    t = rng.uniform(0.1, 1, n)
    return _polar(t, 2 * np.pi * turns * t) + noise * rng.normal(size=(n, 2))


def s_curve(rng, n, noise=0.1):
    t = rng.uniform(-1.5 * np.pi, 1.5 * np.pi, n)
    return np.column_stack([np.sin(t), np.sign(t) * (np.cos(t) - 1)]) + noise * rng.normal(size=(n, 2))


def moons(rng, n, noise=0.1):
    return make_moons(n, noise=noise, random_state=int(rng.integers(2**31)))[0]


def clusters(rng, n, count=3, spread=0.3, unequal=False):
    """Normal clusters around the corners of a polygon; if unequal, each has half the samples of the last."""
    shares = 0.5 ** np.arange(count) if unequal else np.ones(count)
    label = rng.choice(count, size=n, p=shares / shares.sum())
    return _polar(np.ones(n), 2 * np.pi * label / count) + spread * rng.normal(size=(n, 2))


FAMILIES = {
    "parabola": parabola,
    "cubic": cubic,
    "sine": sine,
    "gaussian": gaussian,
    "student": student,
    "laplace": laplace,
    "rectangle": rectangle,
    "disc": disc,
    "ring": ring,
    "spiral": spiral,
    "s_curve": s_curve,
    "moons": moons,
    "clusters": clusters,
}
