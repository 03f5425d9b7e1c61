"""Showing how far a run is: a live bar on a terminal, plain lines elsewhere; always on standard error."""

import statistics
import sys
import time
from collections.abc import Iterable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from kpca_lab.suite.engine.plan import Plan
from kpca_lab.suite.engine.summary import read_summary
from kpca_lab.suite.measure.timing import duration
from kpca_lab.suite.places import experiments_folder

__all__ = ["LINE_EVERY", "Progress", "job_weights"]

# Seconds between plain lines: a sweep of thousands of jobs should not give thousands of lines.
LINE_EVERY = 2.0
# Seconds of computing before the time left is told: the first jobs take that of importing what all need.
SETTLED = 5.0


class Progress:
    """Done and total, current job, elapsed and remaining time of a run.

    Parameters
    ----------
    total : int
        Jobs to be computed.
    stream : text stream, optional
        Standard error by default.
    weight : float, optional
        How long they take together, in any unit; by default all take the same.
    every : float
        Seconds between plain lines.
    """

    def __init__(self, total: int, stream=None, weight: float | None = None, *, every: float = LINE_EVERY):
        self.total, self.finished = total, 0
        self.weight, self.done_weight, self.every = weight or float(total), 0.0, every
        self.stream = sys.stderr if stream is None else stream
        self.start = self.last_line = time.monotonic()
        self.began: float | None = None  # with the first job: what comes before it does not come again
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
        self.began = self.began or time.monotonic()
        if self.live:
            self.live.update(self.task, description=label)

    def end(self, label: str, status: str, seconds: float, weight: float = 1.0) -> None:
        """A job of some weight has ended."""
        self.finished += 1
        self.done_weight += weight
        now = time.monotonic()
        elapsed, computed = now - self.start, now - (self.began or self.start)
        left = ""
        if computed >= SETTLED or self.finished == self.total:
            seconds_left = computed * max(self.weight - self.done_weight, 0.0) / self.done_weight
            left = f"{duration(seconds_left)} left"
        if self.live:
            self.live.update(self.task, completed=self.finished, remaining=left)
            return
        if now - self.last_line < self.every and self.finished not in (1, self.total):
            return
        self.last_line = now
        times = ", ".join(filter(None, [f"{duration(elapsed)} elapsed", left]))
        self.say(f"[{self.finished}/{self.total}] {status} {label} ({duration(seconds)}); {times}")

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


def job_weights(plans: Iterable[Plan]) -> dict[str, float]:
    """How long a job of each experiment takes, in any unit, as far as earlier runs tell.

    From the summary of the same profile, else from that of the papers' profile that comes with a clone; an
    experiment that neither has weighs as much as most do.

    Parameters
    ----------
    plans : iterable of Plan

    Returns
    -------
    dict
        By experiment.
    """
    plans, known = list(plans), {}
    folder = experiments_folder()
    roots = [] if folder is None else [folder.parent / "results" / "paper"]
    for root in [*roots, *dict.fromkeys(plan.store.root for plan in plans)]:
        entries = read_summary(root)["experiments"]
        told = {
            name: max(entry["seconds"], 1e-3) / entry["jobs"]
            for name, entry in entries.items()
            if entry.get("seconds") and entry.get("jobs")
        }
        if told.keys() >= {plan.name for plan in plans} or not known:
            known = told
    usual = statistics.median(known.values()) if known else 1.0
    return {plan.name: known.get(plan.name, usual) for plan in plans}
