"""Whether there is room for what is about to be computed, asked before it is too late."""

import os
from pathlib import Path

__all__ = ["available_memory", "check_memory"]

MEMORY_INFO = Path("/proc/meminfo")
# What a container may use at most, in the two places where Linux says so.
CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory() -> int | None:
    """Bytes of memory that this process can still get, None where the system does not tell.

    On Linux that is what is free or can be freed, within the limit of a container; elsewhere all there is.
    """
    known = [_free_memory(), *map(_number_in, CONTAINER_LIMITS)]
    return min((size for size in known if size is not None), default=None)


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Raise a MemoryError before ``n_bytes`` are asked for that are not there.

    Parameters
    ----------
    n_bytes : int
        What the computation will take.
    what : str
        What takes it, as the beginning of a sentence: "The kernel matrix of 200000 samples".
    remedy : str
        What to do instead.

    Examples
    --------
    >>> from kpca_lab.memory import check_memory
    >>> check_memory(8 * 10**2, "The kernel matrix of 10 samples", "use SubsetKPCA")
    """
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} would take {n_bytes / 2**30:.3g} GiB, and {available / 2**30:.3g} GiB are available: "
            f"{remedy}."
        )


def _free_memory() -> int | None:
    try:
        lines = MEMORY_INFO.read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _number_in(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
