"""Whether what ``kpca_lab.suggest`` suggests is as good as the best of the leaderboard in the same time."""

import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from kpca_lab.advice import suggest
from kpca_lab.suite.files import csv_for_spreadsheets, write_atomically
from kpca_lab.suite.leaderboard.aggregates import ERROR, TIME, with_excess
from kpca_lab.suite.leaderboard.field import Event
from kpca_lab.suite.leaderboard.words import label, percent
from kpca_lab.suite.measure.evaluate import Evaluation
from kpca_lab.suite.measure.sampled import residual_outside_scores
from kpca_lab.suite.measure.workbench import Fit, Place, Workbench
from kpca_lab.suite.render.table import Table, to_markdown

__all__ = ["advised_table", "best_in", "compare", "write_comparison"]

# By which share the error of a suggestion may be above the best.
ALLOWED = 0.05


def best_in(table: pd.DataFrame, dataset: str, seconds: float) -> pd.Series | None:
    """The row of least error among those of the first trial that took no longer, if there is one."""
    own = with_excess(table[(table["dataset"] == dataset) & (table["trial"] == 0)])
    fast = own[(own["status"] == "done") & (own[TIME] <= seconds)]
    return None if fast.empty else fast.sort_values(ERROR, kind="stable").iloc[0]


def compare(event: Event, best: pd.Series, seconds: float) -> dict:
    """Ask for a suggestion for one data set, and compare it with the best of those that were as fast.

    Both have the same rows, width and number of components, one BLAS thread, and are judged by the same rows.

    Parameters
    ----------
    event : Event
    best : Series
        From `best_in`.
    seconds : float
        For the search and the fit together; the others have them for the fit alone.
    """
    bench = Workbench(next(event.capped().jobs(0))[2])
    (rank,) = bench.settings["n_components"]
    X = bench.samples.train
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        begun = time.perf_counter()
        found = suggest(X, n_components=rank, gamma=bench.kernel["gamma"], budget=seconds, verbose=0)
        model = found.estimator if found.checked_rows else found.estimator.fit(X)
        spent = time.perf_counter() - begun
    error = residual_outside_scores(Evaluation(bench, Fit(Place("suggested"), model, 0.0, [rank]), rank))
    return {
        "dataset": event.name,
        "n": len(X),
        "d": X.shape[1],
        "budget": seconds,
        "suggested": found.name,
        "seconds": spent,
        "error": error,
        "best": best["entrant"],
        "best_m": best["m"],
        "best_seconds": best[TIME],
        "best_error": best[ERROR],
        "above_best": error / best[ERROR] - 1,
    }


def write_comparison(
    folder: Path, events: Iterable[Event], table: pd.DataFrame, seconds: float, *, force: bool = False
) -> Iterator[dict]:
    """Compare on all data sets, and write ``suggest.csv`` and ``suggest.md``.

    What is there is kept as long as the budget and the best of the leaderboard are the same.

    Yields
    ------
    dict
        Of each data set.
    """
    path = folder / "suggest.csv"
    known = pd.read_csv(path) if path.is_file() and not force else pd.DataFrame({"dataset": []})
    rows = known.to_dict("records")
    for event in events:
        best = best_in(table, event.name, seconds)
        if best is None:
            continue
        same = {"dataset": event.name, "budget": seconds, "best_error": float(f"{best[ERROR]:.5g}")}
        kept = [row for row in rows if same.items() <= row.items()]
        found = kept[0] if kept else compare(event, best, seconds)
        rows = sorted(
            [*(row for row in rows if row["dataset"] != event.name), found], key=lambda row: row["dataset"]
        )
        frame = pd.DataFrame(rows).astype({"best_m": "Int64"})
        for name in frame.select_dtypes("float"):
            frame[name] = [float(f"{value:.5g}") for value in frame[name]]
        write_atomically(path, csv_for_spreadsheets(frame).encode())
        write_atomically(folder / "suggest.md", to_markdown(advised_table(frame)).encode())
        yield found


def advised_table(frame: pd.DataFrame) -> Table:
    """The comparison as a table."""
    rows = []
    for row in frame.itertuples():
        best = label(row.best) + ("" if pd.isna(row.best_m) else f", m = {row.best_m}")
        share = percent(abs(row.above_best))
        above = f"-{share}" if row.above_best < 0 and share != percent(0) else share
        numbers = [f"{row.seconds:.3g}", f"{row.error:.4g}"]
        rows.append([row.dataset, str(row.n), row.suggested, *numbers, best, f"{row.best_error:.4g}", above])
    within = int((frame["above_best"] <= ALLOWED).sum())
    headings = [
        "data set",
        "rows",
        "suggested",
        "seconds",
        "error",
        "best of the leaderboard",
        "its error",
        "above it",
    ]
    return Table(
        f"Suggestions within {percent(ALLOWED)} of the best in the same time: {within} of {len(frame)} "
        "data sets",
        headings,
        rows,
        [True, False, True, False, False, True, False, False],
        [
            f"The suggestion has {frame['budget'].iloc[0]:g} s for the search and the fit together, the "
            "others for the fit alone. Same rows, width and number of components; errors outside the "
            "scores, on the same 1000 rows."
        ],
    )
