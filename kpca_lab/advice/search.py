"""From rows to a suggestion, within a budget."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from kpca_lab.advice.budget import Budget
from kpca_lab.advice.candidates import Task, candidates_for, is_whole
from kpca_lab.advice.check import Check, check_winner
from kpca_lab.advice.judging import drawn, measuring
from kpca_lab.advice.progress import Progress
from kpca_lab.advice.race import FINAL_SHARE, Entry, Measured, Race, race_sizes
from kpca_lab.advice.suggestion import Suggestion, as_frame
from kpca_lab.advice.table import Table, memory_limit, table_of
from kpca_lab.advice.width import WidthChoice, choose_width
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.widths import resolve_gamma

__all__ = ["search", "suggest"]

KERNELS = ("rbf", "laplacian")
# Of the budget, what choosing the width may take.
WIDTH_SHARE = 0.15
# In less time nothing can be compared.
LEAST_BUDGET = 1.0


def suggest(
    X: Any,
    y: Any = None,
    budget: float = 60,
    *,
    n_components: int | float = 10,
    tol: float = 0.01,
    memory: float | None = None,
    kernel: str = "rbf",
    gamma: float | str | None = None,
    random_state: int = 0,
    verbose: int = 1,
) -> Suggestion:
    """Find out which approximation of kernel PCA to use for these rows, with how many basis samples.

    The width of the kernel is chosen on a sample. Methods, selectors and basis sizes then race on growing
    samples, of which the better half goes on each time. The winner is fitted to all rows, and its error
    compared with the least that full kernel PCA could have.

    Parameters
    ----------
    X : array-like, sparse matrix, or anything that :func:`kpca_lab.rows.as_rows` takes
        At least 10 rows. Of rows that are read in blocks, a sample is taken into memory.
    y : array-like of shape (n_rows,), default=None
        Labels or a numeric target. The width then is the best for predicting them from the components by
        the nearest neighbours, and a candidate that is clearly worse at that loses.
    budget : float, default=60
        Seconds that all of this may take, at least 1.
    n_components : int or float, default=10
        Number of components, or the share of the variance that they are to explain, such as 0.9.
    tol : float, default=0.01
        Of candidates whose errors differ by less than this share, the cheapest wins.
    memory : float, default=None
        Bytes that may be used beside the data; four fifths of what is free by default.
    kernel : {"rbf", "laplacian"}, default="rbf"
        Those that all candidates can have.
    gamma : float, "scale", "median" or None, default=None
        The width, if it is not to be chosen.
    random_state : int, default=0
        For all that is drawn. The suggestion depends on the measured times too.
    verbose : int, default=1
        Whether to show on standard error what is tried and how much time is left.

    Returns
    -------
    Suggestion
        Its text tells all; ``estimator`` is the model, ``line`` the Python to paste, ``tried`` the table.
        Ctrl-C ends the search, and the best so far is returned.

    See Also
    --------
    kpca_lab.model_selection.choose_gamma : How the width is chosen.
    SubsetKPCA.estimate_gap : How the distance to full kernel PCA is estimated.

    Notes
    -----
    Candidates are judged by their mean squared error in feature space on 1000 rows drawn once, and random
    features by the part of the kernel matrix outside their scores
    (:func:`kpca_lab.metrics.residual_outside_scores`). The winner is the candidate of least error of those
    that fit into the rest of the budget and the memory on all rows.

    References
    ----------
    .. [1] K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter
       optimization", AISTATS (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import suggest
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> found = suggest(X, budget=2, n_components=3, verbose=0)
    >>> found.estimator.transform(X).shape
    (500, 3)
    """
    return search(
        lambda clock, limit, rng: table_of(X, y, clock, limit, rng),
        Budget(_positive("budget", budget, LEAST_BUDGET)),
        n_components=n_components,
        tol=tol,
        memory=memory,
        kernel=kernel,
        gamma=gamma,
        random_state=random_state,
        verbose=verbose,
    )


def search(
    read: Callable[[Budget, float, np.random.Generator], Table],
    budget: Budget,
    *,
    n_components: int | float,
    tol: float,
    memory: float | None,
    kernel: str,
    gamma: float | str | None,
    random_state: int,
    verbose: int,
    expression: str = "X",
    imports: tuple[str, ...] = (),
) -> Suggestion:
    """Do what :func:`suggest` does, with a function that reads the table and a budget that has begun.

    ``expression`` and ``imports`` are what the line to paste says for the rows.
    """
    _check(n_components, tol, kernel, random_state)
    limit = memory_limit(memory)
    progress = Progress(budget, verbose)
    try:
        progress.tell("reading")
        table = read(budget, limit, np.random.default_rng(random_state))
        task, width = _task(table, n_components, kernel, gamma, random_state, budget, progress)
        race = _race(task, table, budget, limit, tol, progress)
        best, check, interrupted = _raced(race, task, table, budget, progress)
    finally:
        progress.close()
    line = "; ".join(
        [
            f"from kpca_lab import {best.candidate.method}",
            *imports,
            f"model = {best.candidate.written(task)}.fit({expression})",
        ]
    )
    return _suggestion(best, race, check, task, table, width, line, budget, tol, interrupted)


def _raced(
    race: Race, task: Task, table: Table, budget: Budget, progress: Progress
) -> tuple[Entry, Check, bool]:
    """The winner, what it does on all rows, and whether Ctrl-C was pressed on the way."""
    interrupted = False
    try:
        race.run(race_sizes(table.X.shape[0]))
    except KeyboardInterrupt:
        interrupted = True
        if not any(entry.measured for entry in race.entries):
            raise
    best = race.winner(0.9 * budget.left() - table.fit_reading)
    if best is None:
        raise ValueError(
            f"Nothing could be tried within {budget.seconds:g} s and {race.memory / 10**6:.3g} MB: give more."
        )
    if not interrupted:
        progress.tell(f"{best.candidate} on all rows")
        try:
            return best, check_winner(best.candidate, task, table, race.costs, budget), False
        except KeyboardInterrupt:
            pass
    return best, Check(best.candidate.estimator(task), note="not fitted to all rows: interrupted"), True


def _positive(name: str, value: Any, least: float = 0.0) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not max(least, 1e-300) <= float(value) < np.inf
    ):
        must = f"of at least {least:g} s" if least else "above 0"
        raise ValueError(f"{name} must be a number {must}, got {value!r}.")
    return float(value)


def _check(n_components: Any, tol: Any, kernel: Any, random_state: Any) -> None:
    share = isinstance(n_components, Real) and not is_whole(n_components) and 0 < float(n_components) < 1
    if not share and (not is_whole(n_components) or n_components < 1):
        raise ValueError(
            f"n_components must be an integer >= 1 or a share of the variance in (0, 1), "
            f"got {n_components!r}."
        )
    _positive("tol", tol)
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {list(KERNELS)}, got {kernel!r}.")
    if not is_whole(random_state) or random_state < 0:
        raise ValueError(f"random_state must be an integer >= 0, got {random_state!r}.")


def _task(table, n_components, kernel, gamma, seed, budget, progress) -> tuple[Task, WidthChoice]:
    rows = table.X.shape[0]
    if is_whole(n_components) and n_components >= rows:
        kept = "" if rows == table.n_rows else f" of {table.n_rows} that budget and memory leave room for"
        raise ValueError(f"n_components={n_components} must be less than the {rows} rows{kept}.")
    if gamma is not None:
        width = WidthChoice(resolve_gamma(gamma, table.X), f"gamma={gamma!r} as given")
    else:
        progress.tell("choosing the width")
        wanted = int(n_components) if is_whole(n_components) else 10
        share = budget.spent / budget.seconds + WIDTH_SHARE
        width = choose_width(table.X, table.y, wanted, kernel, seed, budget, share)
    task = Task(table.n_rows, table.n_columns, 1, n_components, width.gamma, kernel, seed)
    rank = int(n_components) if is_whole(n_components) else _rank_for(task, table.X)
    return Task(table.n_rows, table.n_columns, rank, n_components, width.gamma, kernel, seed), width


def _rank_for(task: Task, X: Any) -> int:
    """How many components explain the wanted share of the variance, from some rows."""
    some = X[drawn(X.shape[0], 2000, task.seed)]
    model = SubsetKPCA(
        task.n_components,
        kernel=task.kernel,
        gamma=task.gamma,
        n_basis=min(400, some.shape[0]),
        random_state=task.seed,
    ).fit(some)
    return model.n_components_


def _race(task: Task, table: Table, budget: Budget, limit: float, tol: float, progress: Progress) -> Race:
    # Where reading takes most of the time, computing may take as long.
    final = max(FINAL_SHARE * budget.seconds - table.fit_reading, table.fit_reading)
    return Race(
        candidates_for(table.n_rows, task.rank, task.kernel, table.in_memory),
        task,
        measuring(task, table, budget),
        budget=budget,
        final_seconds=final,
        memory=limit,
        tol=tol,
        tell=progress.tell,
    )


def _suggestion(best, race, check, task, table, width, line, budget, tol, interrupted) -> Suggestion:
    fits = sum(len(entry.measured) for entry in race.entries)
    tried = sum(bool(entry.measured) for entry in race.entries)
    why = (
        f"the cheapest within {tol:.2g} of the least error, of {tried} candidates in {fits} fits on up to "
        f"{max(entry.last.n_rows for entry in race.entries if entry.measured)} rows"
    )
    return Suggestion(
        name=str(best.candidate),
        estimator=check.estimator,
        fitted=check.fitted,
        line=line,
        n_rows=table.n_rows,
        n_columns=table.n_columns,
        n_components=getattr(check.estimator, "n_components_", task.rank) if check.n_rows else task.rank,
        gamma=task.gamma,
        width=width.how,
        checked_rows=check.n_rows,
        error=check.error,
        floor=check.floor,
        gap_bound=check.gap_bound,
        gap_estimate=check.gap_estimate,
        explained=check.explained,
        predicted_seconds=race.seconds(best),
        predicted_bytes=best.candidate.n_bytes(task.n_rows, task),
        fit_seconds=check.seconds,
        budget=budget.seconds,
        seconds=budget.spent,
        tried=as_frame(_rows_tried(best, race, task)),
        why=why,
        notes=_notes(check, table, tol),
        interrupted=interrupted,
    )


def _rows_tried(best: Entry, race: Race, task: Task) -> list[dict[str, Any]]:
    def place(entry: Entry) -> tuple:
        last = entry.measured[-1] if entry.measured else None
        return entry is not best, -last.n_rows if last else 0, last.error if last else 0.0

    found = []
    for entry in sorted(race.entries, key=place):
        last = entry.measured[-1] if entry.measured else Measured(0, None, None)  # type: ignore[arg-type]
        found.append(
            {
                "candidate": str(entry.candidate),
                "method": entry.candidate.method,
                "selector": entry.candidate.selector,
                "size": entry.candidate.size,
                "rows": last.n_rows,
                "seconds": last.seconds,
                "error": last.error,
                "score": last.score,
                "predicted_seconds": race.seconds(entry) if entry.measured else None,
                "predicted_bytes": entry.candidate.n_bytes(task.n_rows, task),
                "lost": entry.lost,
            }
        )
    return found


def _notes(check: Check, table: Table, tol: float) -> tuple[str, ...]:
    notes = [note for note in (table.note, check.note) if note]
    if check.gap_estimate is not None and check.gap_estimate > tol:
        notes.append(
            f"the error may be more than tol={tol:g} above the best possible: a smaller tol or a larger "
            "budget may find a better model"
        )
    if not table.whole:
        notes.append(f"the table was not read to its end, and its number of rows is a guess: {table.n_rows}")
    if not sparse.issparse(table.X):
        spreads = np.std(table.X[:10_000], axis=0, dtype=np.float64)
        spreads = spreads[spreads > 0]
        if spreads.max() > 10 * spreads.min():
            notes.append(
                f"columns differ in spread up to {spreads.max() / spreads.min():.2g} times, and those of "
                "small spread hardly count: scale them first (--scaling standard)"
            )
    return tuple(notes)
