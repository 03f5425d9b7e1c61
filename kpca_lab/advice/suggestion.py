"""What a search found, as an object, a text and numbers."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["Suggestion"]


@dataclass(frozen=True)
class Suggestion:
    """What :func:`kpca_lab.suggest` suggests.

    Attributes
    ----------
    name : str
        Method, selector and size in short.
    estimator : estimator
        Fitted to all rows if ``fitted``, otherwise ready to fit, or fitted to ``checked_rows`` of them.
    fitted : bool
        Whether it is fitted to all rows.
    line : str
        A line of Python that fits the same model to ``X``.
    n_rows, n_columns : int
        Size of the table; where it could not be read to its end, as expected.
    n_components : int
        Number of components.
    gamma : float
        Width of the kernel.
    width : str
        How it was chosen.
    checked_rows : int
        Number of rows that the following four are of.
    error, floor : float or None
        Mean squared error in feature space, and the least that full KPCA could have.
    gap_bound, gap_estimate : float or None
        By which share the error is above that of full KPCA: at most, and as estimated.
    explained : float or None
        Share of the variance in feature space that the components explain.
    predicted_seconds, predicted_bytes : float, int
        What a fit to all rows and their components take, extrapolated from what was measured; memory is
        beside the data.
    fit_seconds : float or None
        What the fit to ``checked_rows`` took.
    budget, seconds : float
        What the search might take and took.
    tried : pandas.DataFrame or list of dict
        All candidates, the winner first, and then by how far they came: rows, seconds and error of the
        last fit, predicted seconds and bytes on all rows, and why they lost.
    why : str
        In a sentence, why this one.
    notes : tuple of str
        What else to know.
    interrupted : bool
        Whether the search was ended by Ctrl-C.
    """

    name: str
    estimator: Any
    fitted: bool
    line: str
    n_rows: int
    n_columns: int
    n_components: int
    gamma: float
    width: str
    checked_rows: int
    error: float | None
    floor: float | None
    gap_bound: float | None
    gap_estimate: float | None
    explained: float | None
    predicted_seconds: float
    predicted_bytes: int
    fit_seconds: float | None
    budget: float
    seconds: float
    tried: Any
    why: str
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    def rows_tried(self) -> list[dict[str, Any]]:
        """The table of what was tried as a list, whatever ``tried`` is."""
        if isinstance(self.tried, list):
            return self.tried
        # A data frame has NaN where there is no number.
        return [
            {str(name): None if value != value else value for name, value in row.items()}
            for row in self.tried.to_dict("records")
        ]

    def to_dict(self) -> dict[str, Any]:
        """All but the estimator, as JSON can hold it."""
        values = {name: value for name, value in vars(self).items() if name not in ("estimator", "tried")}
        infinite = {name for name, value in values.items() if value == float("inf")}
        values |= dict.fromkeys(infinite)
        return values | {"notes": list(self.notes), "tried": self.rows_tried()}

    def facts(self) -> list[tuple[str, str]]:
        """What there is to say, as pairs of a heading and a text."""
        found = [
            ("data", f"{self.n_rows} rows x {self.n_columns} columns"),
            ("width", f"gamma = {self.gamma:.6g}, by {self.width}"),
            ("components", f"{self.n_components}" + self._explained()),
            ("error", self._error_told()),
            ("cost", self._fit_told()),
            ("search", f"{self.seconds:.1f} s of {self.budget:g} s{', interrupted' * self.interrupted}"),
            ("why", self.why),
        ]
        return found + [("note", note) for note in self.notes]

    def _explained(self) -> str:
        if self.explained is None:
            return ""
        return f", which explain {self.explained:.2%} of the variance in feature space"

    def _error_told(self) -> str:
        if self.error is None:
            return "not measured on all rows"
        of = "all" if self.checked_rows == self.n_rows else "a sample of"
        told = f"{self.error:.4g} on {of} {self.checked_rows} rows"
        if self.gap_bound is not None and self.gap_bound < float("inf"):
            told += f", at most {self.gap_bound:.2%} above that of full KPCA"
        if self.gap_estimate is not None and self.gap_estimate not in (self.gap_bound, float("inf")):
            told += f" (estimated: {self.gap_estimate:.2%})"
        return told

    def _fit_told(self) -> str:
        told = f"{self.predicted_seconds:.2g} s and {self.predicted_bytes / 2**30:.2g} GiB beside the data"
        told += " predicted for a fit to all rows and their components"
        if self.fit_seconds is not None:
            told += f"; the fit to {self.checked_rows} rows took {self.fit_seconds:.2g} s"
        return told

    def __str__(self) -> str:
        lines = [f"{self.name} is suggested:", "", f"    {self.line}", ""]
        lines += [f"{heading:11}{text}" for heading, text in self.facts()]
        lines += ["", f"{'tried':32}{'rows':>8}{'seconds':>9}{'error':>11}{'all rows':>10}  why not"]
        for row in self.rows_tried():
            if row["error"] is not None:
                numbers = f"{row['rows']:8.0f}{row['seconds']:8.2g}s{row['error']:11.4g}"
                lines.append(f"{row['candidate']:32}{numbers}{row['predicted_seconds']:9.2g}s  {row['lost']}")
        untried = sum(row["error"] is None for row in self.rows_tried())
        if untried:
            lines.append(f"and {untried} that were not tried, for want of time, memory or rows")
        return "\n".join(lines)


def as_frame(rows: list[dict[str, Any]]) -> Any:
    """A data frame if pandas is there, else the list."""
    try:
        return import_module("pandas").DataFrame(rows)
    except ModuleNotFoundError:
        return rows
