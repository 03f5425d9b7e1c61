"""The time that a search may take."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Budget", "TimeUp", "time_limit"]


class TimeUp(BaseException):
    """A computation was stopped by :func:`time_limit`. No ``Exception``, so that nobody else catches it."""


class Budget:
    """Seconds that may be spent, counted from now.

    Parameters
    ----------
    seconds : float
    clock : callable, default time.perf_counter
        Returns the time in seconds.
    before : float, default 0
        Seconds that are spent already.
    """

    def __init__(
        self, seconds: float, clock: Callable[[], float] = time.perf_counter, before: float = 0.0
    ) -> None:
        self.seconds = float(seconds)
        self._clock = clock
        self._start = clock() - before

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    def left(self, share: float = 1.0) -> float:
        """Seconds until this share of the budget is spent; negative afterwards."""
        return share * self.seconds - self.spent


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeUp` in the block when its time is up.

    Predictions keep to a budget; this is for those that were wrong. It works where a program can be woken by
    a signal (in the main thread, not on Windows), unless somebody else waits for the same signal; elsewhere
    it does nothing.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
        or signal.getitimer(signal.ITIMER_REAL)[0] > 0
    ):
        yield
        return

    running = True

    def stop(*_: object) -> None:
        if running:
            raise TimeUp

    signal.signal(signal.SIGALRM, stop)
    try:
        # Again and again: an exception in a destructor is lost.
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), 0.5)
        try:
            yield
        finally:
            running = False  # from here on nothing is raised that could keep the rest from being done
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
