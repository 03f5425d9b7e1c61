"""What the leaderboard says over all data sets, with intervals: interquartile means, profiles, pairs, fronts.

A run is one data set in one trial. Errors of different data sets are compared by their excess [2]_: by which
share they are above the least error that anybody had in the same run, with any size. Whoever was over a limit
or failed has an infinite one. Data sets weigh the same, however many trials they have. Intervals are those of
the stratified bootstrap [1]_: trials are drawn again within each data set, so that they tell what other
seeds would change, and nothing about other data sets. Of T trials T - 1 are drawn: with T, the few trials
of a data set would make the intervals too narrow [3]_.

References
----------
.. [1] R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. Bellemare, "Deep reinforcement learning at
   the edge of the statistical precipice", NeurIPS 34 (2021).
.. [2] E. Dolan, J. Moré, "Benchmarking optimization software with performance profiles", Mathematical
   Programming 91 (2002).
.. [3] J. Rao, C. Wu, "Resampling inference with complex survey data", Journal of the American Statistical
   Association 83 (1988).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = [
    "Runs",
    "fronts",
    "interquartile_mean",
    "is_on_front",
    "pairs",
    "profiles",
    "runs_of",
    "summary",
    "with_excess",
]

ERROR, TIME = "residual_outside_scores", "runtime"
REPEATS = 1000
LEVEL = (0.025, 0.975)
# Shares by which errors exceed the least one, for profiles.
SHARES = np.logspace(-4, 1, 101)
# Errors that differ by less than this share are equal.
EQUAL = 1e-6


@dataclass(frozen=True, eq=False)
class Runs:
    """What all entrants did with one size, by data set.

    Attributes
    ----------
    entrants : list of str
    datasets : list of str
    excess, seconds : list of ndarray of shape (n_entrants, n_trials)
        For each data set, infinite where there is nothing.
    """

    entrants: list[str]
    datasets: list[str]
    excess: list[np.ndarray]
    seconds: list[np.ndarray]

    @property
    def trials(self) -> list[int]:
        """How many there are of each data set."""
        return [values.shape[1] for values in self.excess]

    def drawn(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Numbers of trials, drawn again within each data set: one row for each repetition."""
        return [rng.integers(count, size=(REPEATS, max(count - 1, 1))) for count in self.trials]


def with_excess(table: pd.DataFrame) -> pd.DataFrame:
    """The table with columns ``entrant`` and ``excess``: infinite without an error, zero if almost equal."""
    found = table.assign(entrant=[_name(*pair) for pair in zip(table["method"], table["selector"])])
    errors = found[ERROR].where(found["status"] == "done")
    least = errors.groupby([found["dataset"], found["trial"]]).transform("min").clip(lower=1e-14)
    excess = (errors / least - 1).fillna(np.inf)
    return found.assign(excess=excess.where(excess > EQUAL, 0.0))


def _name(method, selector):
    return f"{method}/{selector}" if selector else method


def runs_of(table: pd.DataFrame, size: int) -> Runs:
    """All entrants with one size, on the data sets where that was tried; those without a size as they are.

    Parameters
    ----------
    table : DataFrame
        From `with_excess`.
    size : int
    """
    held = set(table.loc[table["m"] == size, "dataset"])
    rows = table[table["dataset"].isin(held) & ((table["m"] == size) | table["m"].isna())]
    entrants = sorted(rows["entrant"].unique())
    datasets = sorted(held)
    excess, seconds = [], []
    for dataset in datasets:
        own = rows[rows["dataset"] == dataset]
        trials = sorted(own["trial"].unique())
        for values, column in ((excess, own["excess"]), (seconds, own[TIME].where(own["status"] == "done"))):
            wide = column.to_frame("value").assign(entrant=own["entrant"], trial=own["trial"])
            wide = wide.pivot(index="entrant", columns="trial", values="value")
            wide = wide.reindex(entrants, columns=trials)
            values.append(wide.fillna(np.inf).to_numpy(float))
    return Runs(entrants, datasets, excess, seconds)


def interquartile_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted mean of the middle half of values, along the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> float(interquartile_mean(np.array([0.0, 1.0, 2.0, np.inf]), np.full(4, 0.25)))
    1.5
    """
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    ends = np.cumsum(np.take_along_axis(np.broadcast_to(weights, values.shape), order, axis=-1), axis=-1)
    ends /= ends[..., -1:]
    starts = np.concatenate([np.zeros((*ends.shape[:-1], 1)), ends[..., :-1]], axis=-1)
    inside = np.clip(ends, 0.25, 0.75) - np.clip(starts, 0.25, 0.75)
    inside[inside < 1e-12] = 0.0
    with np.errstate(invalid="ignore"):
        return np.where(inside > 0, inside * ordered, 0.0).sum(axis=-1) / inside.sum(axis=-1)


def summary(runs: Runs, reference: str, seed: int = 0) -> pd.DataFrame:
    """Interquartile means of excess and of time relative to a reference, with intervals.

    Parameters
    ----------
    runs : Runs
    reference : str
        The entrant whose time is 1.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        Indexed by entrant: ``finished`` (share of the runs), ``excess``, ``excess_low``, ``excess_high``,
        ``time``, ``time_low``, ``time_high``, and ``front``, whether no other has less of both.
    """
    place = runs.entrants.index(reference)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.where(np.isfinite(own), np.log(own / own[place]), np.inf) for own in runs.seconds]
    ratios = [np.nan_to_num(own, nan=np.inf, posinf=np.inf, neginf=np.inf) for own in ratios]
    drawn = runs.drawn(np.random.default_rng(seed))
    columns, weights = {}, equal_weights(runs.trials)
    finished = np.concatenate([np.isfinite(own) for own in runs.excess], axis=1) @ weights
    for name, parts, back in (("excess", runs.excess, lambda x: x), ("time", ratios, np.exp)):
        columns[name] = back(interquartile_mean(np.concatenate(parts, axis=1), weights))
        again = np.concatenate([own[:, rows] for own, rows in zip(parts, drawn)], axis=2)
        found = interquartile_mean(again, equal_weights([rows.shape[1] for rows in drawn]))
        low, high = _interval(found, axis=1)
        columns |= {f"{name}_low": back(low), f"{name}_high": back(high)}
    table = pd.DataFrame({"finished": finished, **columns}, index=pd.Index(runs.entrants, name="entrant"))
    table["front"] = is_on_front(table["time"].to_numpy(), table["excess"].to_numpy())
    return table.sort_values(["excess", "time"])


def equal_weights(counts: list[int]) -> np.ndarray:
    """Weights of runs, of which each data set has so many, such that all data sets weigh the same."""
    return np.concatenate([np.full(count, 1 / count / len(counts)) for count in counts])


def _interval(values, axis):
    """Bounds that an infinite value does not turn into no number."""
    return np.quantile(values, LEVEL, axis=axis, method="inverted_cdf")


def profiles(runs: Runs, seed: int = 0) -> pd.DataFrame:
    """For each entrant, the share of runs whose excess is at most so much: a performance profile.

    Returns
    -------
    DataFrame
        With the columns ``entrant``, ``excess``, ``share``, ``low``, ``high``.
    """
    drawn = runs.drawn(np.random.default_rng(seed))
    found = []
    for place, entrant in enumerate(runs.entrants):
        within = [np.less_equal.outer(own[place], SHARES) for own in runs.excess]
        share = np.mean([own.mean(axis=0) for own in within], axis=0)
        again = np.mean([own[rows].mean(axis=1) for own, rows in zip(within, drawn)], axis=0)
        low, high = _interval(again, axis=0)
        found.append(
            pd.DataFrame({"entrant": entrant, "excess": SHARES, "share": share, "low": low, "high": high})
        )
    return pd.concat(found, ignore_index=True)


def pairs(runs: Runs, seed: int = 0) -> pd.DataFrame:
    """How often one entrant has less error than another, a tie counting half; the mean over data sets.

    Returns
    -------
    DataFrame
        With the columns ``entrant``, ``other``, ``probability``, ``low``, ``high``, and ``beats``, whether
        all of the interval is above one half.
    """
    wins = [_wins(own) for own in runs.excess]
    rng = np.random.default_rng(seed)
    first, second = runs.drawn(rng), runs.drawn(rng)
    again = np.zeros((REPEATS, *wins[0].shape[:2]))
    for own, left, right in zip(wins, first, second):
        trials = own.shape[2]
        picked = [_counts(rows, trials) for rows in (left, right)]
        again += np.einsum("abij,ti,tj->tab", own, *picked, optimize=True)
    probability = np.mean([own.mean(axis=(2, 3)) for own in wins], axis=0)
    low, high = _interval(again / len(wins), axis=0)
    rows = [
        (entrant, other, probability[i, j], low[i, j], high[i, j])
        for i, entrant in enumerate(runs.entrants)
        for j, other in enumerate(runs.entrants)
        if i != j
    ]
    table = pd.DataFrame(rows, columns=["entrant", "other", "probability", "low", "high"])
    return table.assign(beats=table["low"] > 0.5 + EQUAL)


def _wins(excess):
    """For entrants a, b and trials i, j: 1 if a has less error in i than b in j, one half if as much."""
    left, right = excess[:, None, :, None], excess[None, :, None, :]
    with np.errstate(invalid="ignore"):
        near = np.abs(left - right) <= EQUAL * (1 + np.minimum(left, right))
        equal = near | (left == right)
    return np.where(equal, 0.5, (left < right).astype(float))


def _counts(rows, trials):
    """How often each trial was drawn, as a share."""
    return (rows[:, :, None] == np.arange(trials)).mean(axis=1)


def is_on_front(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Which points no other point is below in one way and not above in the other; no infinite ones.

    Examples
    --------
    >>> is_on_front([1.0, 2.0, 3.0], [3.0, 1.0, 2.0]).tolist()
    [True, True, False]
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    found = np.isfinite(first) & np.isfinite(second)
    for place in np.flatnonzero(found):
        no_worse = (first <= first[place]) & (second <= second[place])
        found[place] = not np.any(no_worse & ((first < first[place]) | (second < second[place])))
    return found


def fronts(table: pd.DataFrame) -> pd.DataFrame:
    """Who has the least error for the time, and for the size, on each data set.

    Parameters
    ----------
    table : DataFrame
        From `with_excess`.

    Returns
    -------
    DataFrame
        The medians over the trials, with the columns ``dataset``, ``entrant``, ``m``, ``n``, the error, the
        time, ``front_time`` and ``front_m``. Those without a size have that of all samples.
    """
    done = table[table["status"] == "done"]
    keys = ["dataset", "n", "entrant", "m"]
    points = done.groupby(keys, dropna=False)[[ERROR, TIME]].median().reset_index()
    sizes = points["m"].astype(float).fillna(points["n"])
    for name, cost in (("front_time", points[TIME]), ("front_m", sizes)):
        points[name] = False
        for rows in points.groupby("dataset").groups.values():
            points.loc[rows, name] = is_on_front(cost[rows].to_numpy(), points.loc[rows, ERROR].to_numpy())
    return points
