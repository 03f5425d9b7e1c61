import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def parabola(rng):
    """A curved cloud in the plane, 300 samples."""
    x = rng.uniform(-1, 1, 300)
    return 6.242 * np.column_stack([x, x**2 + rng.normal(0, 0.2, 300)])
