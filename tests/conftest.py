import os

if "PYTEST_XDIST_WORKER" in os.environ:  # one level of parallelism: test processes, not BLAS threads
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

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
