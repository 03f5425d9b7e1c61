"""Running the leaderboard: one job at a time, without what is known to take too long."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TextIO

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.engine.identity import job_id
from kpca_lab.suite.engine.plan import Plan
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.leaderboard.field import Entrant, Event
from kpca_lab.suite.measure.samples import load_samples

__all__ = ["Attempt", "Contest", "hold"]

OVER = ("timeout", "memory")


@dataclass(frozen=True)
class Attempt:
    """One entrant on one data set with one size in one trial: the rows that came of it, if it was tried.

    Attributes
    ----------
    event : str
        The data set.
    n, d : int
        Training rows, and columns.
    entrant : Entrant
    size : int or None
    trial : int
    rows : list of dict
        Empty if it was not tried, for ``reason``.
    reason : str
    """

    event: str
    n: int
    d: int
    entrant: Entrant
    size: int | None
    trial: int
    rows: list[dict] = field(default_factory=list)
    reason: str = ""


@dataclass
class Contest:
    """What a run of the leaderboard came to.

    Attributes
    ----------
    attempts : list of Attempt
    missing : dict
        By data set that cannot be had, the command that gets it.
    computed : int
        Jobs computed now.
    refused : list of str
        Data that an entrant does not take, with its reason (a ``ValueError``).
    failures : list of str
        Jobs that failed for another reason than that or a limit.
    """

    attempts: list[Attempt] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    computed: int = 0
    refused: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def hold(events: Iterable[Event], *, force: bool = False, stream: TextIO | None = None) -> Contest:
    """Run what is not done.

    A job over its limit of time or memory is ended. Its entrant is then not tried where there are at least
    as many rows and columns and the size is no smaller: in the other trials, and on larger data sets, which
    come later.

    Parameters
    ----------
    events : iterable of Event
    force : bool
        Whether to compute again what is done.
    stream : text stream, optional
        For progress; standard error by default.

    Returns
    -------
    Contest
    """
    contest = Contest()
    shaped = []
    for event in events:
        try:
            event = event.capped()
            shaped.append((event, *load_samples(next(event.jobs(0))[2]).train.shape))
        except DatasetUnavailableError as error:
            contest.missing[event.name] = error.command
    too_slow: list[Attempt] = []
    for event, n, d in sorted(shaped, key=lambda found: (found[1] * found[2], found[0].name)):
        print(f"{event.name}: {n} rows, {d} columns", file=stream or sys.stderr, flush=True)
        attempts = _attempts_at(event, n, d, too_slow, contest, force, stream)
        contest.attempts += attempts
        for attempt in attempts:
            for row in attempt.rows:
                if row["status"] == "failed":
                    found = contest.refused if row["error"].startswith("ValueError:") else contest.failures
                    size = f" m={attempt.size}" if attempt.size else ""
                    found.append(f"{event.name} {attempt.entrant.name}{size}: {row['error']}")
    return contest


def _attempts_at(event, n, d, too_slow, contest, force, stream):
    """Run the first trial, and the others without those that were too slow in it."""
    jobs, attempts = {}, {}
    for trials in (range(1), range(1, event.trials)):
        fresh = {}
        for trial in trials:
            for entrant, size, job in event.jobs(trial):
                if size is not None and size >= n:
                    continue
                attempt = Attempt(event.name, n, d, entrant, size, trial)
                slow = next((other for other in too_slow if _no_less(attempt, other)), None)
                if slow is None:
                    fresh[job_id(job)] = job
                    attempts[job_id(job)] = attempt
                else:
                    told = f" with {slow.size}" if slow.size else ""
                    attempts[len(attempts)] = replace(attempt, reason=f"over the limit{told} on {slow.event}")
        plan = _plan(event, fresh, force)
        contest.computed += run([plan], stream=stream, compact=False).computed
        jobs |= plan.jobs
        for row in plan.store.rows(plan.name, plan.jobs):
            attempts[row["job"]].rows.append(row)
            if row["status"] in OVER:
                too_slow.append(attempts[row["job"]])
    run([_plan(event, jobs, False)], stream=stream)  # nothing is left to compute: this writes the records
    return list(attempts.values())


def _plan(event, jobs, force):
    return Plan(replace(event.settings, force=force), jobs, event.settings.experiment)


def _no_less(attempt, other):
    """Whether an attempt is no smaller in any way than another of the same entrant."""
    return (
        attempt.entrant == other.entrant
        and attempt.n >= other.n
        and attempt.d >= other.d
        and (attempt.size or 0) >= (other.size or 0)
    )
