"""What fitting SubsetKPCA will take: time, memory and traffic, from counts of operations and measured speeds.

With n rows of d features, m basis samples, r components and w workers of one thread each:

================  ==========================================  ============================================
step              work                                        where
================  ==========================================  ============================================
frame             ``2 d m^2 + 2/3 m^3`` operations            client, once
products          ``2 (d + 2) m`` operations a row            workers
exponentials      ``m`` a row                                 workers
passes            ``m`` kernel values a row are compared,     workers
                  centred and summed up
sums              ``m^2`` operations a row (SYRK)             workers
reading           ``8 d`` bytes a row                         storage to workers
merging           ``8 m^2`` bytes a part                      between workers, then to the client
solution          ``4 m^3`` operations and r eigenpairs       client, once
================  ==========================================  ============================================

The speeds are those of this machine, measured in a few seconds at the very shapes (:func:`calibrate`), in
processor time of one thread. Not counted are the choice of the basis, a width that takes a pass of its own
(``gamma="scale"``), and a basis so badly conditioned that samples are turned to its principal directions
first (``2 m^2`` operations a row more, see :mod:`kpca_lab.span`). How long eigenpairs take depends on the
spectrum: with fewer rows than about ten times the basis the prediction is a rough one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from time import thread_time

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from kpca_lab.dask_rows import MERGED_AT_ONCE, PART_BYTES
from kpca_lab.distances import row_blocks
from kpca_lab.evaluator import BLOCK_ROWS
from kpca_lab.linalg import choose_solver, top_eigenpairs
from kpca_lab.methods.subset import PART_ROWS
from kpca_lab.row_source import BLOCK_BYTES
from kpca_lab.statistics import PIECE_BYTES

__all__ = ["Plan", "Speeds", "calibrate", "plan"]

# Seconds for a task beside its computing, as measured with small ones.
TASK_SECONDS = 2e-3
# Largest matrix that eigenpairs are measured of.
LARGEST_MEASURED = 700


@dataclass(frozen=True)
class Speeds:
    """Speeds of one thread.

    Attributes
    ----------
    products, sums, factors : float
        Operations a second of GEMM, SYRK and a triangular solve.
    exponentials : float
        Exponentials a second.
    passes : float
        Kernel values a second that are compared, centred and summed up.
    eigenpairs : float
        Seconds for the eigenpairs over ``m^3``.
    """

    products: float
    sums: float
    factors: float
    exponentials: float
    passes: float
    eigenpairs: float


@dataclass(frozen=True)
class Plan:
    """What a fit will take.

    Attributes
    ----------
    seconds : dict of str to float
        Of each step, one after the other: frame, computing, reading, merging, scheduling, solution.
    cpu_seconds : float
        Processor time in all, of all workers and the client.
    worker_bytes, client_bytes : int
        Most memory of a worker with one thread, and of the client, beside Python and its packages.
    read_bytes, sent_bytes : int
        What is read from storage, and what is sent between machines.
    n_parts, n_messages : int
        Numbers of parts that are summed up as one task, and of results that are sent.
    """

    seconds: dict[str, float]
    cpu_seconds: float
    worker_bytes: int
    client_bytes: int
    read_bytes: int
    sent_bytes: int
    n_parts: int
    n_messages: int

    @property
    def total_seconds(self) -> float:
        """From the start to the fitted model."""
        return sum(self.seconds.values())


def calibrate(n_features: int, n_basis: int, n_components: int = 10, *, repeats: int = 5) -> Speeds:
    """Measure the speeds of this machine for problems of a shape.

    Parameters
    ----------
    n_features, n_basis, n_components : int
        The shape. Larger ones than a few seconds allow are measured at a smaller size.
    repeats : int, default 5
        Each speed is the median of so many.

    Returns
    -------
    Speeds
    """
    rng = np.random.default_rng(0)
    d, m = min(n_features, 4000) + 2, min(n_basis, 4000)
    rows = int(np.clip(4e8 / (m * (d + m)), 64, BLOCK_ROWS))
    left, right = rng.standard_normal((rows, d)), rng.standard_normal((d, m))
    values = -rng.random((rows, m))
    products = np.zeros((m, m), order="F")
    size = min(m, LARGEST_MEASURED)
    factor = np.asfortranarray(np.tril(rng.random((size, size))) + size * np.eye(size))
    symmetric = np.cov(rng.standard_normal((size, 2 * size)))  # a flat spectrum, which takes longest
    wanted, solver = max(1, round(n_components * size / m)), choose_solver("auto", m, n_components)
    buffer = np.zeros_like(values)
    kernels: dict[str, tuple[float, Callable[[], object]]] = {
        "products": (2.0 * rows * d * m, lambda: np.matmul(left, right, out=buffer)),
        "sums": (
            1.0 * rows * m * m,
            lambda: scipy.linalg.blas.dsyrk(1.0, values.T, beta=1.0, c=products, overwrite_c=True),
        ),
        "factors": (1.0 * size**3, lambda: scipy.linalg.blas.dtrsm(1.0, factor, symmetric, lower=1)),
        "exponentials": (1.0 * values.size, lambda: np.expm1(values, out=buffer)),
        "passes": (1.0 * values.size, lambda: _passes(buffer)),
        "eigenpairs": (1.0 * size**3, lambda: top_eigenpairs(symmetric, wanted, solver=solver)),
    }
    with threadpool_limits(1):
        seconds = _median_seconds({name: kernel for name, (_, kernel) in kernels.items()}, repeats)
    speeds = {name: work / seconds[name] for name, (work, _) in kernels.items()}
    return Speeds(**speeds | {"eigenpairs": 1.0 / speeds["eigenpairs"]})


def _passes(values: np.ndarray) -> None:
    """What is done to kernel values between their evaluation and the sums of products."""
    np.count_nonzero(values > 1.0)
    means = np.full((values.shape[1], 2), 1.0 / values.shape[1])
    for piece in row_blocks(len(values), 8 * values.shape[1], PIECE_BYTES):
        part = values[piece]
        part -= means[:, 0]
        part.sum(axis=0)
        part -= (part @ means)[:, :1]


def _median_seconds(kernels: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Processor time of each, taken in turn, so that a disturbance meets all alike."""
    taken: dict[str, list[float]] = {name: [] for name in kernels}
    for turn in range(repeats + 1):
        for name, kernel in kernels.items():
            calls, start = 0, thread_time()
            while not calls or (thread_time() - start < 0.01 and calls < 1000):
                kernel()
                calls += 1
            if turn:  # the first one warms up
                taken[name].append((thread_time() - start) / calls)
    return {name: float(np.median(times)) for name, times in taken.items()}


def plan(
    n_rows: int,
    n_features: int,
    n_basis: int,
    n_components: int = 10,
    *,
    n_workers: int = 1,
    chunk_bytes: int = PART_BYTES,
    bandwidth: float = 1.25e9,
    speeds: Speeds | None = None,
) -> Plan:
    """Predict what fitting SubsetKPCA with the Gaussian kernel takes.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the samples.
    n_basis : int
        Number of basis samples.
    n_components : int, default=10
        Number of components.
    n_workers : int, default=1
        Workers of one thread each; with one, samples are read in blocks by this process without a cluster.
    chunk_bytes : int, default=134217728
        Size of a chunk of the samples.
    bandwidth : float, default=1250000000.0
        Bytes a second that each worker reads from storage and sends to others.
    speeds : Speeds, optional
        Measured for this shape by default, which takes a few seconds.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from kpca_lab.cost_model import Speeds, plan
    >>> speeds = Speeds(4e10, 3e10, 2e10, 2e8, 1e9, 2e-9)
    >>> one, many = (plan(10**9, 1000, 2000, 50, n_workers=w, speeds=speeds) for w in (1, 100))
    >>> 50 < one.total_seconds / many.total_seconds < 100
    True
    """
    sizes = {"rows": n_rows, "features": n_features, "basis samples": n_basis, "components": n_components}
    _check_sizes(sizes | {"workers": n_workers, "bytes of a chunk": chunk_bytes}, bandwidth)
    d, m = n_features, n_basis
    speeds = calibrate(d, m, n_components) if speeds is None else speeds
    part_rows = _part_rows(n_rows, d, m, chunk_bytes)
    n_parts = ceil(n_rows / part_rows) if n_workers > 1 else 1
    # The last round may leave workers without a part.
    rows_in_turn = n_rows if n_workers == 1 else min(ceil(n_parts / n_workers) * part_rows, n_rows)
    n_merged = ceil((n_parts - 1) * (1 + 1 / MERGED_AT_ONCE)) if n_parts > 1 else 0
    sums_bytes, empty_bytes = 8 * (m + 2) ** 2, 8 * (2 * m * d + 4 * m**2)
    frame = (2 * d * m**2) / speeds.products + 2 / 3 * m**3 / speeds.factors + m**2 / speeds.exponentials
    solution = 4 * m**3 / speeds.factors + speeds.eigenpairs * m**3 + 2 * m**2 / speeds.passes
    rounds = ceil(log(n_parts, MERGED_AT_ONCE)) if n_parts > 1 else 0
    depth = n_merged / n_workers + rounds
    seconds = {
        "frame": frame,
        "computing": rows_in_turn * _row_seconds(d, m, speeds),
        "reading": rows_in_turn * 8 * d / bandwidth,
        "merging": depth * (sums_bytes / bandwidth + m**2 / speeds.passes),
        "scheduling": 0.0,
        "solution": solution,
    }
    if n_workers > 1:
        seconds["merging"] += (1 + ceil(log(n_workers, 2))) * empty_bytes / bandwidth
        # Beside what they compute workers wait for each task; the scheduler may be the slowest of all.
        of_scheduler = TASK_SECONDS * (2 * n_parts + n_merged / MERGED_AT_ONCE)
        seconds["scheduling"] = max(of_scheduler / n_workers, of_scheduler - sum(seconds.values()))
    return Plan(
        seconds=seconds,
        cpu_seconds=n_rows * _row_seconds(d, m, speeds) + n_merged * m**2 / speeds.passes + frame + solution,
        worker_bytes=_worker_bytes(
            d, m, part_rows if n_workers > 1 else BLOCK_BYTES // (8 * d), n_merged > 0
        ),
        client_bytes=8 * (10 * m**2 + 4 * m * d),
        read_bytes=8 * d * n_rows,
        sent_bytes=n_merged * sums_bytes + n_workers * empty_bytes if n_workers > 1 else 0,
        n_parts=n_parts,
        n_messages=n_merged + n_workers if n_workers > 1 else 0,
    )


def _check_sizes(sizes: dict[str, int], bandwidth: float) -> None:
    for name, value in sizes.items():
        if value != int(value) or value < 1:
            raise ValueError(f"The number of {name} must be an integer >= 1, got {value!r}.")
    if sizes["basis samples"] > sizes["rows"]:
        raise ValueError(
            f"There cannot be more basis samples ({sizes['basis samples']}) than rows ({sizes['rows']})."
        )
    if not bandwidth > 0:
        raise ValueError(f"bandwidth must be positive, got {bandwidth!r}.")


def _part_rows(n_rows: int, d: int, m: int, chunk_bytes: int) -> int:
    """Rows of a part: a chunk, or as many small chunks as are read together."""
    chunk = max(1, int(chunk_bytes) // (8 * d))
    together = max(1, min(ceil(PART_ROWS * m / chunk), PART_BYTES // (8 * d * chunk)))
    return min(n_rows, chunk * together)


def _row_seconds(d: int, m: int, speeds: Speeds) -> float:
    return (
        2 * (d + 2) * m / speeds.products
        + m / speeds.exponentials
        + (m + d) / speeds.passes
        + m**2 / speeds.sums
    )


def _worker_bytes(d: int, m: int, part_rows: int, merges: bool) -> int:
    """The rows of a part and one block of them, what is evaluated, the frame, the sums and their merging."""
    rows = part_rows * d + BLOCK_BYTES // 8
    block = BLOCK_ROWS * (d + m + 2) + 3 * m * d
    return 8 * (rows + block + m**2 * (5 + merges * MERGED_AT_ONCE))
