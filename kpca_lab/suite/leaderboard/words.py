"""What the leaderboard says in words: names, tables, and the sentences of the README."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.render.table import Table

__all__ = ["MARKERS", "fronts_table", "label", "sentences", "summary_table", "update_readme"]

MARKERS = ("<!-- leaderboard: begin -->", "<!-- leaderboard: end -->")
MOST_NAMED = 5


def label(entrant: str) -> str:
    """What an entrant is called.

    >>> label("subset/kmeans_centroids"), label("full")
    ('subset / kmeans centroids', 'full')
    """
    return entrant.replace("_", " ").replace("/", " / ")


def percent(share: float) -> str:
    """A share in per cent with three digits, or a dash.

    >>> percent(0.01234), percent(float("inf")), percent(0.0)
    ('1.23 %', '-', '0 %')
    """
    if not np.isfinite(share):
        return "-"
    return f"{float(f'{100 * share:.3g}'):g} %" if share >= 5e-6 else "0 %"


def _times(ratio):
    return f"{float(f'{ratio:.3g}'):g}" if np.isfinite(ratio) else "-"


def summary_table(summary: pd.DataFrame, size: int, datasets: int) -> Table:
    """The interquartile means of one size as a table."""
    rows = [
        [
            label(entrant),
            percent(row.finished),
            percent(row.excess),
            f"{percent(row.excess_low)} to {percent(row.excess_high)}",
            _times(row.time),
            f"{_times(row.time_low)} to {_times(row.time_high)}",
            "yes" if row.front else "",
        ]
        for entrant, row in summary.iterrows()
    ]
    numbers = ["finished", "error above the least", "interval", "time", "interval"]
    return Table(
        f"Size {size}: interquartile means over {datasets} data sets",
        ["method / selector", *numbers, "front"],
        rows,
        [True, *[False] * len(numbers), True],
        [
            "Error above the least: of all methods and sizes on the same data in the same trial. A dash: "
            "too few runs finished. Time: of the fit, relative to subset / random of this size. Front: "
            "nobody else has less error in less time. Intervals: 95 %, bootstrap over the trials within "
            "data sets."
        ],
    )


def fronts_table(points: pd.DataFrame) -> Table:
    """Who has the least error for the time on each data set, from the fastest on."""
    rows = []
    for dataset, own in points[points["front_time"]].groupby("dataset"):
        for row in own.sort_values("runtime").itertuples():
            size = "" if pd.isna(row.m) else str(row.m)
            numbers = [f"{row.runtime:.3g}", f"{row.residual_outside_scores:.4g}"]
            rows.append([dataset, label(row.entrant), size, *numbers])
    headings = ["data set", "method / selector", "m", "fit [s]", "error outside the scores"]
    return Table(
        "Pareto fronts: nobody has less error in less time",
        headings,
        rows,
        [True, True, False, False, False],
        ["Medians over the trials."],
    )


def sentences(
    size: int, summary: pd.DataFrame, pairs: pd.DataFrame, datasets: int, sized: set[str]
) -> list[str]:
    """Three statements, each with the interval that it rests on.

    Parameters
    ----------
    size : int
    summary, pairs : DataFrame
        From :mod:`~kpca_lab.suite.leaderboard.aggregates`, of this size.
    datasets : int
        How many there are.
    sized : set of str
        The entrants that have a size.
    """
    return [
        text
        for text in (
            _least_error(size, summary[summary.index.isin(sized)], pairs, datasets),
            _front(size, summary),
            _against_peer(size, summary, pairs),
        )
        if text
    ]


def _least_error(size, summary, pairs, datasets):
    best = summary[summary["finished"] > 1 - 1e-9]  # they are in the order of their errors
    if best.empty:
        return ""
    row = best.iloc[0]
    own = pairs[(pairs["entrant"] == best.index[0]) & pairs["other"].isin(summary.index)]
    beaten, lost = own["beats"].sum(), (own["high"] < 0.5).sum()
    return (
        f"Of those that finished on all {datasets} data sets with m = {size}, {label(best.index[0])} has the "
        f"least error: {percent(row.excess)} above the least of all (interquartile mean; interval "
        f"{percent(row.excess_low)} to {percent(row.excess_high)}). Of the {len(own)} others it beats "
        f"{beaten}, is beaten by {lost}, and for {len(own) - beaten - lost} the interval leaves it open."
    )


def _front(size, summary):
    front = summary[summary["front"]].sort_values("time")
    if front.empty:
        return ""
    named = [
        f"{label(entrant)} ({_times(row.time)}; {percent(row.excess)})" for entrant, row in front.iterrows()
    ]
    more = len(named) - MOST_NAMED
    if more > 0:  # the fastest, the most exact, and some between
        places = np.unique(np.linspace(0, len(named) - 1, MOST_NAMED).round().astype(int))
        named = [named[place] for place in places]
    others = f" and {more} more" if more > 0 else ""
    return (
        f"With m = {size}, nobody has less error in less time than these (time relative to subset / random; "
        f"error above the least): {', '.join(named)}{others}."
    )


def _against_peer(size, summary, pairs):
    ours, peer = "subset/random", "sklearn_nystroem"
    found = pairs[(pairs["entrant"] == ours) & (pairs["other"] == peer)]
    if found.empty:
        return ""
    pair, row = found.iloc[0], summary.loc[peer]
    verdict = "less" if pair.low > 0.5 else "more" if pair.high < 0.5 else "neither less nor more"
    return (
        f"SubsetKPCA with random samples has {verdict} error than scikit-learn's Nystroem and PCA with as "
        f"many (m = {size}): it is better in {percent(pair.probability)} of the comparisons (interval "
        f"{percent(pair.low)} to {percent(pair.high)}), and scikit-learn takes {_times(row.time)} times as "
        f"long (interval {_times(row.time_low)} to {_times(row.time_high)})."
    )


def update_readme(path: Path, figure: str, said: list[str], origin: str) -> bool:
    """Put the figure and the sentences between the markers of a file; leave one without markers alone.

    Returns
    -------
    bool
        Whether the file changed.
    """
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    begin, end = MARKERS
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        return False
    lines = [f"![Performance profiles, and error against time, over all data sets]({figure})", ""]
    lines += [f"- {text}" for text in said]
    lines += ["", origin]
    block = "\n".join([begin, *lines, end])
    new = re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: block, old, flags=re.DOTALL)
    if new != old:
        write_atomically(path, new.encode())
    return new != old
