"""Measuring how long something takes, and saying it."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["Stopwatch", "duration", "median_seconds", "timed"]

SHORTEST = 0.002  # seconds: shorter calls are timed several at once


def duration(seconds: float) -> str:
    """A time in words: ``8.1 s``, ``2:05 min``, ``1:02:03 h``.

    >>> duration(8.06), duration(125), duration(3723)
    ('8.1 s', '2:05 min', '1:02:03 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"


class Stopwatch:
    """Times what is inside a ``with`` block; several blocks add up.

    Attributes
    ----------
    seconds, cpu_seconds : float
        Time on the clock, and of the processor.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch:
    ...     total = sum(range(1000))
    >>> watch.seconds > 0
    True
    """

    def __init__(self):
        self.seconds = self.cpu_seconds = 0.0

    def __enter__(self):
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error):
        self.seconds += time.perf_counter() - self._start[0]
        self.cpu_seconds += time.process_time() - self._start[1]


def timed(function: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """The result of a function, and the median of the seconds of several calls."""
    watches = [Stopwatch() for _ in range(repeats)]
    for watch in watches:
        with watch:
            result = function()
    return result, float(np.median([watch.seconds for watch in watches]))


def median_seconds(functions: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Median seconds of functions that are called in turn; short calls are timed several at once."""
    calls = [max(1, int(SHORTEST / max(timed(function)[1], 1e-9))) for function in functions]
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, number, found in zip(functions, calls, taken):
            with Stopwatch() as watch:
                for _ in range(number):
                    function()
            found.append(watch.seconds / number)
    return [float(np.median(found)) for found in taken]
