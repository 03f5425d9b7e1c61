"""Generators of the papers' synthetic data, and of two hard cases: pure functions of their arguments.

Each returns a dictionary with ``X`` and where they exist ``y``, ``X_test`` and ``y_test``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kpca_lab.datasets.seeds import derive_seed

__all__ = [
    "artificial2d",
    "gaussian50",
    "heavy_tails",
    "parabola",
    "ringnorm",
    "swiss_roll_hole",
    "three_clusters",
    "twonorm",
    "uneven_clusters",
    "waveform",
]

CLUSTER_CENTRES = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])

# With these factors the n = 1000 samples of seed 0 have E_emp = 0.2063 under full kernel PCA with
# r = 5 and k = exp(-0.1 d^2), not centred, which Table 1 of Washizawa (2012) implies.
CALIBRATED_SCALE = {
    "parabola": 6.242,
    "ring": 4.282,
    "moons": 3.981,
    "clusters": 10.585,
    "blunt_parabola": 3.8807,
}

Arrays = dict[str, Any]


def _at_least(value: Any, smallest: int, what: str) -> int:
    if isinstance(value, bool) or int(value) != value or value < smallest:
        raise ValueError(f"{what} must be a whole number of at least {smallest}, not {value!r}")
    return int(value)


def _not_negative(value: Any, what: str) -> float:
    if not value >= 0:
        raise ValueError(f"{what} must not be negative, not {value!r}")
    return value


def parabola(n: int = 500, seed: int = 0, noise: float = 0.2) -> Arrays:
    """Points on a noisy parabola: x uniform in [-1, 1], y = x^2 + noise.

    Chin and Suter (2006), Section 6; Wang and Tanaka (2016), Section IV.A (n = 500).

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed of the generator.
    noise : float
        Standard deviation of the normal noise on y.
    """
    n = _at_least(n, 1, "n")
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return {"X": np.column_stack([x, x**2 + _not_negative(noise, "noise") * rng.normal(size=n)])}


def artificial2d(n: int = 1000, seed: int = 0, shape: str = "parabola", scale: float | None = None) -> Arrays:
    """Two-dimensional samples standing in for the unspecified ones of Washizawa (2012).

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed of the generator; the scales are calibrated at seed 0 and n = 1000.
    shape : {"parabola", "ring", "moons", "clusters", "blunt_parabola"}
        Family. The last one, normal x with y = 0.3 x^2 + N(0, 0.3), comes closest to the printed table.
    scale : float, optional
        Factor on the coordinates instead of the calibrated one.
    """
    if shape not in CALIBRATED_SCALE:
        raise ValueError(f"shape must be one of {', '.join(CALIBRATED_SCALE)}, not {shape!r}")
    n = _at_least(n, 1, "n")
    rng = np.random.default_rng(seed)
    y = None
    if shape == "parabola":
        X = parabola(n, seed)["X"]
    elif shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        radius = 1 + 0.1 * rng.normal(size=n)
        X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    elif shape == "moons":
        from sklearn.datasets import make_moons

        X, y = make_moons(n, noise=0.1, random_state=seed)
    elif shape == "blunt_parabola":
        x = rng.normal(size=n)
        X = np.column_stack([x, 0.3 * x**2 + 0.3 * rng.normal(size=n)])
    else:
        y = rng.integers(3, size=n)
        X = CLUSTER_CENTRES[y] + 0.1 * rng.normal(size=(n, 2))
    return {"X": (CALIBRATED_SCALE[shape] if scale is None else scale) * X, "y": y}


def three_clusters(n_per_cluster: int = 30, seed: int = 0, noise: float = 0.1) -> Arrays:
    """Three normal clusters in the plane: Wang and Tanaka (2016), Section IV.A.

    Parameters
    ----------
    n_per_cluster : int
        Points in each cluster.
    seed : int
        Seed of the generator.
    noise : float
        Standard deviation around the centres (-0.5, -0.2), (0, 0.6) and (0.5, 0).
    """
    y = np.repeat(np.arange(3), _at_least(n_per_cluster, 1, "n_per_cluster"))
    offsets = np.random.default_rng(seed).normal(size=(len(y), 2))
    return {"X": CLUSTER_CENTRES[y] + _not_negative(noise, "noise") * offsets, "y": y}


def swiss_roll_hole(n: int = 800, seed: int = 0, noise: float = 0.0) -> Arrays:
    """Perforated Swiss roll: Chin and Suter (2006), Figure 3(a); `y` is the place on the roll.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed of the generator.
    noise : float
        Standard deviation of normal noise on the coordinates.
    """
    from sklearn.datasets import make_swiss_roll

    X, y = make_swiss_roll(
        _at_least(n, 1, "n"), noise=_not_negative(noise, "noise"), random_state=seed, hole=True
    )
    return {"X": X, "y": y}


def gaussian50(n: int = 10000, seed: int = 0, n_features: int = 50) -> Arrays:
    """Independent standard normal entries: Zhang, Wang and Ma (2010), Test 1 and Table 1.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed of the generator.
    n_features : int
        Number of columns.
    """
    shape = (_at_least(n, 1, "n"), _at_least(n_features, 1, "n_features"))
    return {"X": np.random.default_rng(seed).standard_normal(shape)}


def _train_and_test(
    draw: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]], n: int, n_test: int, seed: int
) -> Arrays:
    """Draw both parts from streams of their own, so that neither size changes the other part."""
    X, y = draw(np.random.default_rng(seed), _at_least(n, 1, "n"))
    if _at_least(n_test, 0, "n_test") == 0:
        return {"X": X, "y": y}
    X_test, y_test = draw(np.random.default_rng(derive_seed(seed, "test part")), n_test)
    return {"X": X, "y": y, "X_test": X_test, "y_test": y_test}


def twonorm(n: int = 400, n_test: int = 7000, seed: int = 0) -> Arrays:
    """Breiman's twonorm: unit normals in 20 dimensions around (a, ..., a) and (-a, ..., -a).

    a = 2/sqrt(20); labels 1 and -1. L. Breiman, Bias, variance, and arcing classifiers (1996).

    Parameters
    ----------
    n, n_test : int
        Number of training and test points.
    seed : int
        Seed of the generator.
    """

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice([-1, 1], size=size)
        return rng.normal(size=(size, 20)) + (2 / np.sqrt(20)) * y[:, None], y

    return _train_and_test(draw, n, n_test, seed)


def ringnorm(n: int = 400, n_test: int = 7000, seed: int = 0) -> Arrays:
    """Breiman's ringnorm: a wide normal in 20 dimensions, and a narrow one inside it.

    Label 1 has mean zero and covariance 4 I, label -1 mean (a, ..., a) with a = 2/sqrt(20) and
    unit covariance. L. Breiman, Bias, variance, and arcing classifiers (1996).

    Parameters
    ----------
    n, n_test : int
        Number of training and test points.
    seed : int
        Seed of the generator.
    """

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice([-1, 1], size=size)
        normal = rng.normal(size=(size, 20))
        wide = (y == 1)[:, None]
        return np.where(wide, 2 * normal, normal + 2 / np.sqrt(20)), y

    return _train_and_test(draw, n, n_test, seed)


def waveform(n: int = 400, n_test: int = 4600, seed: int = 0, binary: bool = True) -> Arrays:
    """Breiman's waveform: random mixtures of two of three triangular waves, plus noise.

    21 points of u h_a + (1 - u) h_b + N(0, 1) with u uniform in [0, 1] and waves h of height 6
    with peaks at 7, 15 and 11; the classes mix waves 1+2, 1+3 and 2+3.
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984).

    Parameters
    ----------
    n, n_test : int
        Number of training and test points.
    seed : int
        Seed of the generator.
    binary : bool
        Labels as in the Raetsch benchmark: 1 for the second class, -1 for the others.
        Otherwise labels 0, 1, 2.
    """
    places = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(places - np.array([[7], [15], [11]])), 0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        label = rng.integers(3, size=size)
        mixture = rng.uniform(size=(size, 1))
        first, second = waves[pairs[label, 0]], waves[pairs[label, 1]]
        X = mixture * first + (1 - mixture) * second + rng.normal(size=(size, 21))
        return X, np.where(label == 1, 1, -1) if binary else label

    return _train_and_test(draw, n, n_test, seed)


def uneven_clusters(
    n: int = 10000, seed: int = 0, n_features: int = 10, n_clusters: int = 20, exponent: float = 2.0
) -> Arrays:
    """Normal clusters of very different sizes, labelled: the k-th has a share in proportion to k^-exponent.

    A few rows drawn at random miss the small ones.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed of the points; the centres are the same for all.
    n_features : int
        Number of columns.
    n_clusters : int
        Number of clusters.
    exponent : float
        How fast sizes fall; 0 for equal ones.
    """
    n_clusters, n_features = _at_least(n_clusters, 1, "n_clusters"), _at_least(n_features, 1, "n_features")
    shares = np.arange(1, n_clusters + 1) ** -_not_negative(exponent, "exponent")
    centres = np.random.default_rng(derive_seed("uneven_clusters")).normal(size=(n_clusters, n_features))
    rng = np.random.default_rng(seed)
    y = rng.choice(n_clusters, size=_at_least(n, 1, "n"), p=shares / shares.sum())
    return {"X": 3 * centres[y] + 0.5 * rng.normal(size=(len(y), n_features)), "y": y}


def heavy_tails(n: int = 10000, seed: int = 0, n_features: int = 8, degrees: float = 3.0) -> Arrays:
    """Independent entries of Student's t distribution: most rows near the centre, a few far away.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed of the generator.
    n_features : int
        Number of columns.
    degrees : float
        Degrees of freedom; the fewer, the heavier the tails.
    """
    if not degrees > 0:
        raise ValueError(f"degrees must be above 0, not {degrees!r}")
    shape = (_at_least(n, 1, "n"), _at_least(n_features, 1, "n_features"))
    return {"X": np.random.default_rng(seed).standard_t(degrees, size=shape)}
