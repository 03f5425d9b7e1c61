"""What an experiment may have beyond its YAML: functions registered by name, in ``experiments/<paper>/``.

>>> from kpca_lab.suite.hooks import Claim, experiment
>>> @experiment.claim("example-holds", "example", "One is less than two.")
... def example(records):
...     return Claim(True, "1 < 2")
>>> experiment.claims["example-holds"].statement
'One is less than two.'
>>> del experiment.claims["example-holds"]
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Cell", "Claim", "RegisteredClaim", "Registry", "experiment"]


@dataclass(frozen=True)
class Cell:
    """Our figure for a published one.

    Attributes
    ----------
    table, row, column : str
        Which one: its key in ``published.csv``.
    ours : float
        NaN if we have none; the note says why.
    ours_sd : float
        Standard deviation over the trials; NaN if there is none.
    trials : int or None
        What ours is a mean over: trials, divisions, images.
    note : str
    comparable : bool
        False for a figure that is shown but must not be judged; the note says why.
    readings : int
        How many readings of the text were tried. With more than one, this one was chosen with the printed
        figures in view.
    as_described : float
        What the text gives as it stands, where the chosen reading departs from it.
    as_described_sd : float
        Its standard deviation over the trials, where that is another one.
    selection_sd : float
        Standard deviation that comes from choosing parameters by validation.
    """

    table: str
    row: str
    column: str
    ours: float
    ours_sd: float = math.nan
    trials: int | None = None
    note: str = ""
    comparable: bool = True
    readings: int = 1
    as_described: float = math.nan
    as_described_sd: float = math.nan
    selection_sd: float = math.nan


@dataclass(frozen=True)
class Claim:
    """What the records say about a statement.

    Attributes
    ----------
    holds : bool or None
        None if the records do not tell.
    numbers : str
        The computed numbers it rests on.
    """

    holds: bool | None
    numbers: str = ""


@dataclass(frozen=True)
class RegisteredClaim:
    """A statement of a paper with the function ``records -> Claim`` that checks it.

    Attributes
    ----------
    id, paper, statement : str
    check : callable
        It is given the records of all items of the paper, whose column ``experiment`` tells them apart.
    where : str
        The section of the paper.
    limit : {"", "of the text", "ours"}
        Where the limit that decides comes from; "" if none is needed.
    identity : bool
        Whether it holds by construction, and so tests our code rather than the paper.
    """

    id: str
    paper: str
    statement: str
    check: Callable
    where: str = ""
    limit: str = ""
    identity: bool = False


@dataclass
class Registry:
    """The registered functions: each table maps the name of an item, such as ``"<paper>/table1"``.

    Attributes
    ----------
    job_makers : dict
        ``config -> list of Job``; the grid of :func:`kpca_lab.suite.jobs.grid_jobs` where there is none.
    runners : dict
        ``Job -> Outcome``; :func:`kpca_lab.suite.measure.evaluate.evaluate` where there is none.
    cell_makers : dict
        ``(records, settings) -> list of`` :class:`Cell`. As for figures and claims, every setting of the
        records is a column; ``settings`` are those that the experiment was run with, as plain values by
        name.
    figure_makers : dict
        ``(records, arrays) -> matplotlib Figure`` or a dict of them by name.
    claims : dict
        :class:`RegisteredClaim` by id.
    note_tables : dict
        ``records -> DataFrame`` of texts by name, ``"<paper>/<name>"``: tables in the notes of the paper,
        where ``records`` are those of all its items (:mod:`kpca_lab.suite.judge.notes`).
    problems : dict
        Why the modules of a paper could not be imported, by paper.
    """

    job_makers: dict[str, Callable] = field(default_factory=dict)
    runners: dict[str, Callable] = field(default_factory=dict)
    cell_makers: dict[str, Callable] = field(default_factory=dict)
    figure_makers: dict[str, Callable] = field(default_factory=dict)
    claims: dict[str, RegisteredClaim] = field(default_factory=dict)
    note_tables: dict[str, Callable] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def jobs(self, *items: str):
        """Register a function ``config -> list of Job`` for items."""
        return self._into(self.job_makers, items)

    def run(self, *items: str):
        """Register a function ``Job -> Outcome`` for items."""
        return self._into(self.runners, items)

    def cells(self, *items: str):
        """Register a function ``(records, settings) -> list of Cell`` for items."""
        return self._into(self.cell_makers, items)

    def figure(self, *items: str):
        """Register a function ``(records, arrays) -> Figure`` for items."""
        return self._into(self.figure_makers, items)

    def note_table(self, *names: str):
        """Register a function ``records -> DataFrame`` for tables in the notes of a paper."""
        return self._into(self.note_tables, names)

    def claim(self, id: str, paper: str, statement: str, **about):
        """Register a function ``records -> Claim`` that checks a statement of a paper.

        ``about`` are the further attributes of :class:`RegisteredClaim`.
        """

        def register(check):
            self._add(self.claims, id, RegisteredClaim(id, paper, statement, check, **about))
            return check

        return register

    def _into(self, table, items):
        def register(function):
            for item in items:
                self._add(table, item, function)
            return function

        return register

    @staticmethod
    def _add(table, name, value):
        function = getattr(value, "check", value)
        known = table.get(name)
        known = getattr(known, "check", known)
        # The same function may be met again when its module is reloaded or run as a script.
        if known is not None and known.__qualname__ != function.__qualname__:
            raise ValueError(f"{name} is registered twice: {known.__qualname__}, {function.__qualname__}")
        table[name] = value


experiment = Registry()
