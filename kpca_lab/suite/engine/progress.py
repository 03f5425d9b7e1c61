"""Showing how far a run is: a live bar on a terminal, plain lines elsewhere; always on standard error."""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from kpca_lab.suite.measure.timing import duration

__all__ = ["Progress"]

# Seconds between plain lines: a sweep of thousands of jobs should not give thousands of lines.
LINE_EVERY = 2.0


class Progress:
    """Done and total, current job, elapsed and remaining time of a run.

    Parameters
    ----------
    total : int
        Jobs to be computed.
    stream : text stream, optional
        Standard error by default.
    """

    def __init__(self, total: int, stream=None):
        self.total, self.finished = total, 0
        self.stream = sys.stderr if stream is None else stream
        self.start = self.last_line = time.monotonic()
        self.live = None
        if total and self.stream.isatty():
            self.live = RichProgress(
                MofNCompleteColumn(),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                TextColumn("{task.fields[remaining]}"),
                TextColumn("{task.description}"),
                console=Console(file=self.stream),
                transient=True,
            )
            self.task = self.live.add_task("", total=total, remaining="")
            self.live.start()

    def begin(self, label: str) -> None:
        """A job has begun."""
        if self.live:
            self.live.update(self.task, description=label)

    def end(self, label: str, status: str, seconds: float) -> None:
        """A job has ended."""
        self.finished += 1
        elapsed = time.monotonic() - self.start
        left = elapsed / self.finished * (self.total - self.finished)
        if self.live:
            self.live.update(self.task, completed=self.finished, remaining=f"{duration(left)} left")
            return
        now = time.monotonic()
        if now - self.last_line < LINE_EVERY and self.finished not in (1, self.total):
            return
        self.last_line = now
        self.say(
            f"[{self.finished}/{self.total}] {status} {label} ({duration(seconds)}); "
            f"{duration(elapsed)} elapsed, {duration(left)} left"
        )

    def say(self, text: str) -> None:
        """Print a line beside the bar."""
        if self.live:
            self.live.console.print(Text(text))
        else:
            print(text, file=self.stream, flush=True)

    def close(self) -> None:
        """Take the bar away."""
        if self.live:
            self.live.stop()
