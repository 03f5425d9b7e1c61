"""How many processes and BLAS threads there may be, so that their product never exceeds the cores."""

import os

__all__ = ["available_cores", "share_cores", "thread_environment", "threads_wanted"]

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_cores(
    workers: int | None = None,
    threads: int | None = None,
    *,
    timing: bool = False,
    cores: int | None = None,
) -> tuple[int, int]:
    """Number of worker processes and BLAS threads of each, whose product is at most the cores.

    Parameters
    ----------
    workers, threads : int, optional
        What is asked for; by default as many workers as cores, with one thread each.
    timing : bool
        Times are measured: one worker, so that jobs do not disturb each other, and one thread.
    cores : int, optional
        All that this process may use by default.

    Returns
    -------
    workers, threads : int

    Examples
    --------
    >>> from kpca_lab.suite.cores import share_cores
    >>> share_cores(cores=8), share_cores(threads=4, cores=8), share_cores(timing=True, cores=8)
    ((8, 1), (2, 4), (1, 1))
    """
    cores = available_cores() if cores is None else cores
    if timing:
        return 1, min(threads or 1, cores)
    if workers is None:
        threads = min(threads or 1, cores)
        return cores // threads, threads
    workers = min(workers, cores)
    return workers, min(threads or 1, cores // workers)


def threads_wanted() -> int | None:
    """BLAS threads that the environment allows this process, or None if it does not say."""
    value = os.environ.get("KPCA_LAB_THREADS", "")
    return int(value) if value.isdigit() else None


def thread_environment(threads: int) -> dict[str, str]:
    """Environment variables that hold a new process to so many BLAS threads."""
    return dict.fromkeys((*THREAD_VARIABLES, "KPCA_LAB_THREADS"), str(threads))
