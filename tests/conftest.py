import os

if "PYTEST_XDIST_WORKER" in os.environ:  # one level of parallelism: test processes, not BLAS threads
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1)  # a plugin has imported numpy before


def pytest_collection_modifyitems(items):
    """First the tests on a cluster, so that one process has them all and starts one; the rest as it is."""
    items.sort(key=lambda item: "cluster" not in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def started_cluster():
    """A Dask cluster of two processes with one thread each, which know the estimators of the tests."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dist")
    paths = [str(Path(__file__).parent / "suite" / "engine"), *filter(None, sys.path)]
    options = {"dashboard_address": None, "memory_limit": 0, "silence_logs": 50}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        with distributed.LocalCluster(2, threads_per_worker=1, processes=True, **options) as cluster:
            yield cluster


@pytest.fixture
def cluster(started_cluster):
    """That cluster with both of its processes: a test before may have killed one."""
    import distributed

    with distributed.Client(started_cluster, set_as_default=False) as client:
        try:
            client.wait_for_workers(2, timeout=30)
        except TimeoutError:
            started_cluster.scale(0)
            started_cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
    return started_cluster


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def parabola(rng):
    """A curved cloud in the plane, 300 samples."""
    x = rng.uniform(-1, 1, 300)
    return 6.242 * np.column_stack([x, x**2 + rng.normal(0, 0.2, 300)])
