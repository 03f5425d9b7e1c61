"""What the winner of a race does on all rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kpca_lab.advice.budget import Budget, TimeUp, time_limit
from kpca_lab.advice.candidates import Candidate, CostModel, Task
from kpca_lab.advice.table import Table
from kpca_lab.gap import gap
from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import empirical_error, residual_outside_scores

__all__ = ["Check", "check_winner"]

GAP_ROWS = 1000
# Of the budget: when a fit is stopped that takes longer than predicted.
LATEST = 1.05


@dataclass(frozen=True)
class Check:
    """A fit, and its error.

    Attributes
    ----------
    estimator : estimator
        Fitted, if there was time.
    fitted : bool
    n_rows : int
        How many rows the error is of; 0 if none could be fitted.
    seconds : float or None
        What the fit took.
    error, floor : float or None
        The mean squared error in feature space, and the least that full KPCA could have.
    gap_bound, gap_estimate : float or None
        By which share the error is above that of full KPCA: at most, and as estimated from some rows.
    explained : float or None
        Share of the variance in feature space that the components explain.
    note : str
        What could not be done.
    """

    estimator: Any
    fitted: bool = False
    n_rows: int = 0
    seconds: float | None = None
    error: float | None = None
    floor: float | None = None
    gap_bound: float | None = None
    gap_estimate: float | None = None
    explained: float | None = None
    note: str = ""


def affordable_rows(candidate: Candidate, table: Table, costs: CostModel, seconds: float) -> int:
    """How many of the rows in memory can be fitted in so many seconds."""
    n = table.X.shape[0]
    while n > max(candidate.needs_rows, 1) and costs.seconds(candidate, n) > seconds:
        n = max(n // 2, candidate.needs_rows, 1)
    return n if costs.seconds(candidate, n) <= seconds else 0


def check_winner(candidate: Candidate, task: Task, table: Table, costs: CostModel, budget: Budget) -> Check:
    """Fit the winner to all rows, or to as many as there is time for, and measure its error.

    Parameters
    ----------
    candidate : Candidate
    task : Task
    table : Table
    costs : CostModel
    budget : Budget
    """
    estimator = candidate.estimator(task)
    seconds = costs.seconds(candidate, task.n_rows) + table.fit_reading
    on_all = table.whole and seconds <= budget.left()
    if on_all:
        rows, n_rows = table.everything, task.n_rows
    else:
        n_rows = affordable_rows(candidate, table, costs, 0.8 * budget.left())
        if n_rows == 0:
            return Check(estimator, note="there was no time left for a fit")
        rows = table.X[np.sort(np.random.default_rng(task.seed).permutation(table.X.shape[0])[:n_rows])]
    try:
        with time_limit(budget.left(LATEST)):
            begun = budget.spent
            fitted = estimator.fit(rows)
            seconds = budget.spent - begun
    except TimeUp:
        return Check(candidate.estimator(task), note="the fit took longer than predicted and was stopped")
    return _measured(fitted, candidate, rows, n_rows, seconds, task, budget, costs, on_all)


def _measured(fitted, candidate, rows, n_rows, seconds, task, budget, costs, on_all) -> Check:
    found: dict[str, Any] = {}
    try:
        with time_limit(budget.left(LATEST)):
            if candidate.method == "SubsetKPCA":
                found |= {
                    "error": fitted.error_,
                    "floor": fitted.error_floor_,
                    "gap_bound": fitted.gap_bound_,
                }
                if 2 * costs.seconds(candidate, min(n_rows, GAP_ROWS)) < budget.left():
                    estimate = fitted.estimate_gap(rows, n_samples=GAP_ROWS, random_state=task.seed)
                    found |= {"gap_estimate": estimate.estimate, "floor": estimate.floor}
            elif candidate.method == "FullKPCA":
                error = max(fitted.total_variance_ - fitted.explained_variance_.sum(), 0.0)
                found |= {"error": error, "floor": error, "gap_bound": 0.0, "gap_estimate": 0.0}
            else:
                found |= _outside(fitted, candidate, rows, n_rows, task, budget, costs)
    except TimeUp:
        pass
    knows_all = candidate.method in ("SubsetKPCA", "FullKPCA")  # others count the variance of some rows
    note = "" if on_all else f"there was time for {n_rows} of {task.n_rows} rows only"
    return Check(
        fitted,
        on_all,
        n_rows,
        seconds,
        explained=float(np.sum(fitted.explained_variance_ratio_)) if knows_all else None,
        note=note,
        **{name: float(value) for name, value in found.items()},
    )


def _outside(fitted, candidate, rows, n_rows, task, budget, costs) -> dict[str, float]:
    """The error of a method that does not know it, and its gap on some rows if it has one."""
    some = rows[np.sort(np.random.default_rng(task.seed).permutation(n_rows)[: 2 * GAP_ROWS])]
    if not hasattr(fitted, "operator_"):
        kernel = make_kernel(task.kernel, gamma=task.gamma, n_features=task.n_columns)
        return {"error": residual_outside_scores(fitted.transform(some), some, kernel)}
    found = {}
    if costs.seconds(candidate, n_rows) < budget.left():
        found["error"] = empirical_error(fitted, rows)
    if 2 * costs.seconds(Candidate("SubsetKPCA", "random", candidate.size), some.shape[0]) < budget.left():
        found["gap_estimate"] = gap(fitted, some).bound
    return found
