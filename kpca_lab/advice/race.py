"""Successive halving: all candidates on few rows, the better half on more, until time or rows are up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kpca_lab.advice.budget import Budget, TimeUp
from kpca_lab.advice.candidates import Candidate, CostModel, Task

__all__ = ["Entry", "Measured", "Race", "race_sizes"]

FIRST_ROWS, GROWTH, FEW_ROWS = 1000, 3, 5000
# The first prediction is rough: candidates stay in the race up to so many times the time they may take.
DOUBT = 3.0
# Of the time of the race, what the first round may take.
FIRST_SHARE = 0.5
# Of the budget, when the last fit must be done, and what it may take.
ENDS, FINAL_SHARE = 0.9, 0.45
# Rows that judge errors and scores.
JUDGES = 1000


class Measured(NamedTuple):
    """A fit to ``n_rows`` rows.

    ``seconds`` are those of the fit and of the components of these rows, ``error`` is on the rows that judge,
    ``score`` that of a task with labels.
    """

    n_rows: int
    seconds: float
    error: float
    score: float | None = None


@dataclass
class Entry:
    """A candidate, what was measured of it, and why it is out of the race."""

    candidate: Candidate
    measured: list[Measured] = field(default_factory=list)
    lost: str = ""

    @property
    def last(self) -> Measured:
        """What was measured on the most rows."""
        return self.measured[-1]


def race_sizes(n_rows: int) -> list[int]:
    """Numbers of rows, growing threefold, up to all of few rows and to at most half of many."""
    most = n_rows if n_rows <= FEW_ROWS else n_rows // 2
    sizes = [min(most, FIRST_ROWS)]
    while GROWTH * sizes[-1] <= most:
        sizes.append(GROWTH * sizes[-1])
    return sizes if most > FEW_ROWS or sizes[-1] == most else [*sizes, most]


class Race:
    """Candidates, measured on growing numbers of rows.

    Parameters
    ----------
    candidates : list of Candidate
    task : Task
    measure : callable
        ``measure(candidate, n_rows)`` fits and judges, and returns a :class:`Measured`. It may raise
        MemoryError or :class:`~kpca_lab.advice.budget.TimeUp`.
    budget : Budget
    final_seconds : float
        What a fit of the winner to all rows may take.
    memory : float
        Bytes that it may take.
    tol : float
        Errors that differ by less than this share are equal, and the cheaper candidate is better.
    tell : callable
        Gets a line of text at each step.
    """

    def __init__(
        self,
        candidates: list[Candidate],
        task: Task,
        measure: Callable[[Candidate, int], Measured],
        *,
        budget: Budget,
        final_seconds: float,
        memory: float,
        tol: float,
        tell: Callable[[str], None],
    ) -> None:
        self.entries = [Entry(candidate) for candidate in candidates]
        self.costs = CostModel(task)
        self._task, self._measure, self._tell = task, measure, tell
        self._budget = budget
        self._final_seconds, self.memory, self._tol = final_seconds, memory, tol
        self._overhead = 0.0
        self.ranked: list[Entry] = []

    def run(self, sizes: list[int]) -> None:
        """Race on these numbers of rows, and give those a chance in the end that there was no time for."""
        self.ranked = [entry for entry in self.entries if self._fits(entry)]
        self.ranked.sort(key=lambda entry: self.costs.seconds(entry.candidate, sizes[0]))
        for number, size in enumerate([*sizes, sizes[-1]]):
            left = self._time_left()
            if number and (left <= 0 or len(self.ranked) <= 1):  # something is tried in any case
                break
            # Most candidates are there only at first.
            share = 1 / max(len(sizes) - number, 1)
            if not self._rung(size, left * (share if number else max(share, FIRST_SHARE)), sizes[-1]):
                break
        for entry in self.ranked:
            if not entry.measured:
                entry.lost = entry.lost or "no time for as many rows as it needs"

    def _time_left(self) -> float:
        """Seconds, less what the last fit may take."""
        known = [self.seconds(entry) for entry in self.ranked if entry.measured]
        return self._budget.left(ENDS) - min([FINAL_SHARE * self._budget.seconds, *known[:1]])

    def _allowed(self) -> float:
        """Seconds that a fit to all rows may take; some times those of the cheapest if that takes longer."""
        known = [self.seconds(entry) for entry in self.entries if entry.measured]
        return max(self._final_seconds, DOUBT * min(known, default=0.0))

    def _fits(self, entry: Entry) -> bool:
        entry.lost = ""
        needed = entry.candidate.n_bytes(self._task.n_rows, self._task)
        if needed > self.memory:
            entry.lost = f"needs {needed / 2**30:.2g} GiB"
        elif self.costs.hopeless(entry.candidate, self._allowed()):
            entry.lost = "would take far too long on all rows"
        return not entry.lost

    def _rung(self, size: int, seconds: float, most: int) -> bool:
        """Measure the ranked candidates, and then those that had to wait; keep half.

        Returns False, and leaves the ranking as it is, if there is no time for the best so far.
        """
        end = self._budget.spent + seconds
        ran: list[Entry] = []
        waiting: list[Entry] = []
        for entry in self._in_turn(size):
            if entry.measured and entry.last.n_rows == size:
                ran.append(entry)
                continue
            if entry.candidate.needs_rows > (size if size == most else size // 2):
                waiting.append(entry)
                continue
            expected = self.costs.seconds(entry.candidate, size) + self._overhead
            late = self._budget.spent + expected > end and any(other.measured for other in self.entries)
            if late and entry.measured and not ran:
                return False
            if late:
                entry.lost = f"no time for it on {size} rows (about {expected:.2g} s)"
                waiting.append(entry)
            elif self._fits(entry) and self._try(entry, size):
                ran.append(entry)
        best = self._ranked(ran)
        kept = (len(best) + 1) // 2
        for entry in best[kept:]:
            entry.lost = self._reason(entry, best[0], size)
        self.ranked = best[:kept] + waiting
        return True

    def _in_turn(self, size: int) -> list[Entry]:
        """Those measured before in their order, then the others, the cheapest first."""
        fresh = [entry for entry in self.ranked if not entry.measured]
        fresh.sort(key=lambda entry: self.costs.seconds(entry.candidate, size))
        return [entry for entry in self.ranked if entry.measured] + fresh

    def _try(self, entry: Entry, size: int) -> bool:
        self._tell(f"{entry.candidate} on {size} rows")
        begun = self._budget.spent
        try:
            found = self._measure(entry.candidate, size)
        except (TimeUp, MemoryError) as error:
            why = "longer than predicted" if isinstance(error, TimeUp) else "more memory than there is"
            entry.lost = f"took {why} on {size} rows"
            return False
        entry.measured.append(found)
        self.costs.learn(entry.candidate, size, found.seconds)
        self._overhead = max(0.0, self._budget.spent - begun - found.seconds)
        expected = self.seconds(entry)
        if expected > (DOUBT if len(entry.measured) == 1 else 1.0) * self._allowed():
            entry.lost = f"would take about {expected:.3g} s on all rows"
            return False
        return True

    def _reason(self, entry: Entry, best: Entry, size: int) -> str:
        excess = entry.last.error / best.last.error - 1 if best.last.error > 0 else 0.0
        if self._behind(entry.last, best.last):
            return f"score {entry.last.score:.3g} on {size} rows, {best.candidate} {best.last.score:.3g}"
        if excess > self._tol:
            return f"error {excess:.1%} above that of {best.candidate} on {size} rows"
        return f"no better than {best.candidate} on {size} rows, and dearer"

    def _ranked(self, entries: list[Entry]) -> list[Entry]:
        """The best first: clearly lower scores last, then by error, and where that is equal by cost."""
        if not entries:
            return []
        least = min(entry.last.error for entry in entries)
        top = max(entries, key=lambda entry: -np.inf if entry.last.score is None else entry.last.score)

        def order(entry: Entry) -> tuple[bool, int, float]:
            steps = 0
            if entry.last.error > least:
                ratio = np.log(entry.last.error / least) if least > 0 else np.inf
                steps = int(min(ratio / np.log1p(self._tol), 1e9))
            # Counted, not measured: a seed gives the same order whatever else the machine does.
            operations = entry.candidate.operations(self._task.n_rows, self._task)
            return self._behind(entry.last, top.last), steps, operations

        return sorted(entries, key=order)

    def _behind(self, measured: Measured, top: Measured) -> bool:
        """Whether a score is lower by more than two standard errors of a share."""
        if measured.score is None or top.score is None:
            return False
        return measured.score < top.score - 2 * 0.5 / np.sqrt(min(JUDGES, self._task.n_rows))

    def seconds(self, entry: Entry) -> float:
        """What a fit to all rows is predicted to take."""
        return self.costs.seconds(entry.candidate, self._task.n_rows)

    def winner(self, seconds: float) -> Entry | None:
        """The best that can be fitted to all rows in so many seconds; if none can be, the best of all.

        Those that are still in the race come first, then those that left it late.
        """
        order = [entry for entry in self.ranked if entry.measured]
        others = [entry for entry in self.entries if entry.measured and entry not in order]
        for n_rows in sorted({entry.last.n_rows for entry in others}, reverse=True):
            order += self._ranked([entry for entry in others if entry.last.n_rows == n_rows])
        affordable = [entry for entry in order if self.seconds(entry) <= seconds]
        if not order:
            return None
        best = (affordable or order)[0]
        for entry in order:
            if entry is not best and not entry.lost:
                slow = affordable and self.seconds(entry) > seconds
                late = f"would take about {self.seconds(entry):.3g} s on all rows"
                entry.lost = late if slow else self._reason(entry, best, entry.last.n_rows)
        best.lost = ""
        return best
