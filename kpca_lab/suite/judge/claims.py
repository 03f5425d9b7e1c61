"""The papers' statements as computed checks on the records: holds, fails or not run.

A check is a function ``records -> Claim`` registered under an id; those of a paper are in
``experiments/<paper>/claims.py``. It is given all records of its paper with status ``done``, every setting
a column of its own. Checks are written with the functions below, which raise `NotRun` where records are
missing, so that a check reads as the statement does.

A statement that cannot fail, such as a bound that was proved, is an identity: it tests our code, not the
paper, and is counted apart. A check that needs a limit says whether the text gives it or we do.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from kpca_lab.choices import unknown
from kpca_lab.suite.files import csv_for_spreadsheets, read_table, write_atomically
from kpca_lab.suite.hooks import Claim, experiment
from kpca_lab.suite.papers import load_experiments

COLUMNS = ("id", "paper", "where", "statement", "kind", "limit", "verdict", "numbers")
VERDICTS = {True: "holds", False: "fails", None: "not run"}
LIMITS = ("", "of the text", "ours")
NOT_CHECKED = "could not be checked: "
# what must agree between two measurements for them to be a pair
PAIR = ["experiment", "dataset", "split", "seed", "selector", "m", "r", "kernel"]


class NotRun(Exception):
    """The records do not tell."""


def statement(id, paper, where, text, *, limit="", identity=False):
    """Register a check ``records -> Claim``.

    Parameters
    ----------
    id, paper : str
    where : str
        The section of the paper.
    text : str
        The statement.
    limit : {"", "of the text", "ours"}
        Where the limit that decides comes from; "" if none is needed.
    identity : bool
        Whether it holds by construction.
    """
    if limit not in LIMITS:
        raise ValueError(f"claim {id}: {unknown('limit', limit, LIMITS)}")
    return experiment.claim(id, paper, text, where=where, limit=limit, identity=identity)


def evaluate_claims(records, claims=None):
    """Check every claim on the records.

    Parameters
    ----------
    records : DataFrame
        Records of a profile, all experiments, every setting a column.
    claims : dict of RegisteredClaim, optional
        By id; by default all that are registered.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`, ordered by paper and id: verdict is ``holds``, ``fails`` or ``not run``. A check
        that raises is ``not run`` with the error as its numbers.
    """
    claims = load_experiments().claims if claims is None else claims
    done = records[records.status == "done"]
    papers = done.experiment.map(lambda name: name.partition("/")[0])
    rows = []
    for claim in sorted(claims.values(), key=lambda claim: (claim.paper, claim.id)):
        try:
            found = claim.check(done[papers == claim.paper])
        except NotRun as reason:
            found = Claim(None, str(reason))
        except Exception as error:
            found = Claim(None, f"{NOT_CHECKED}{type(error).__name__}: {error}")
        holds = None if found.holds is None else bool(found.holds)
        kind = "identity" if claim.identity else "claim"
        about = (claim.where, claim.statement, kind, claim.limit)
        rows.append((claim.id, claim.paper, *about, VERDICTS[holds], found.numbers))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def write_claims(profile_dir, records, claims=None):
    """Write ``<profile_dir>/claims.csv`` and return its frame."""
    frame = evaluate_claims(records, claims)
    write_atomically(Path(profile_dir) / "claims.csv", csv_for_spreadsheets(frame).encode())
    return frame


def read_claims(profile_dir):
    """The frame of ``<profile_dir>/claims.csv``, or None if there is none that can be read."""
    return read_table(Path(profile_dir) / "claims.csv", COLUMNS, dict.fromkeys(COLUMNS, str))


def select(records, items=None, **values):
    """Rows of the items (``"figure3"`` or a list) whose columns have the given values (or one of a list)."""
    chosen = records
    if items is not None:
        items = [items] if isinstance(items, str) else list(items)
        chosen = chosen[chosen.experiment.map(lambda name: name.partition("/")[2]).isin(items)]
    for column, wanted in values.items():
        if column not in chosen:
            raise NotRun(f"no records with {column}")
        wanted = list(wanted) if isinstance(wanted, list | tuple | set) else [wanted]
        chosen = chosen[chosen[column].isin(wanted)]
    if chosen.empty:
        wanted = ", ".join(f"{name} {value}" for name, value in values.items())
        raise NotRun(
            f"no records of {' or '.join(items or ['any item'])}" + (f" with {wanted}" if wanted else "")
        )
    return chosen


def pairs(records, column, left, right, on=None):
    """Measurements of `left` beside those of `right`, which are values of `column`, e.g. two methods.

    Returns
    -------
    DataFrame
        Indexed by the columns `on` (by default those of `PAIR`), columns ``left`` and ``right``; repeated
        measurements are averaged.
    """
    on = [name for name in (PAIR if on is None else on) if name in records]
    sides = []
    for name in (left, right):
        rows = select(records, **{column: name})
        sides.append(rows.groupby(on, dropna=False).value.mean())
    both = pd.concat(sides, axis=1, join="inner", keys=["left", "right"])
    if both.empty:
        raise NotRun(f"no common settings of {left} and {right}")
    return both


def basis_share(records):
    """Basis size as a share of the samples: the setting ``basis``, else m over the data set's largest m."""
    if "basis" in records and records.basis.notna().all():
        return records.basis.astype(float).round(6)
    return (records.m / records.groupby(["experiment", "dataset"]).m.transform("max")).round(6)


def growth_exponent(sizes, values):
    """Slope of log(value) over log(size); values of one size are represented by their median.

    Examples
    --------
    >>> round(float(growth_exponent([1, 2, 4], [5, 40, 320])), 6)
    3.0
    """
    medians = pd.Series(np.asarray(values, float)).groupby(np.asarray(sizes, float)).median()
    if len(medians) < 2 or (medians <= 0).any():
        raise NotRun("fewer than two sizes")
    return np.polyfit(np.log(medians.index), np.log(medians), 1)[0]


def exponent_interval(sizes, values):
    """The slope of `growth_exponent` with two of its standard errors, as a text."""
    slope = growth_exponent(sizes, values)
    medians = pd.Series(np.asarray(values, float)).groupby(np.asarray(sizes, float)).median()
    if len(medians) < 3:
        return f"{slope:.3g}"
    x, y = np.log(medians.index.to_numpy()), np.log(medians.to_numpy())
    left = y - y.mean() - slope * (x - x.mean())
    error = np.sqrt(np.sum(left**2) / (len(x) - 2) / np.sum((x - x.mean()) ** 2))
    return f"{slope:.3g} ± {2 * error:.2g}"


def interval(differences, unit):
    """The mean of paired differences with two of its standard errors, as `with_error` writes it."""
    differences = np.asarray(differences, float)
    if len(differences) < 2:
        return f"{differences.mean():+.3g} {unit}"
    return with_error(differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences)), unit)


def with_error(difference, error, unit):
    """A difference with two standard errors, as a text that says if they cover zero."""
    covered = " (zero is within two standard errors)" if abs(difference) <= 2 * error else ""
    return f"{difference:+.3g} ± {2 * error:.2g} {unit}{covered}"


def all_below(both, *, margin=0.0, less="left", more="right"):
    """Claim that ``left <= right`` in every pair, up to a relative margin."""
    ratio = (both.left / both.right).where(both.right != 0, np.where(both.left == 0, 1.0, np.inf))
    holds = ratio <= 1 + margin
    figures = f"{less} <= {more} in {holds.sum()} of {len(both)} pairs; ratio {spread(ratio)}"
    return Claim(bool(holds.all()), figures)


def lowest(table, winners, *, margin=0.0, trials=None):
    """Claim that in every row of `table` (settings x candidates) the least value is one of the winners'.

    ``trials`` is the same with the number of the trial as last level of the index: then each row that fails
    tells by how much, with an interval.
    """
    winners = [name for name in winners if name in table]
    others = [name for name in table if name not in winners]
    if not winners or not others:
        raise NotRun("nothing to compare with")
    table = table.dropna(subset=others, how="all").dropna(subset=winners, how="all")
    if table.empty:
        raise NotRun("nothing to compare with")
    ratio = table[winners].min(axis=1) / table[others].min(axis=1)
    holds = ratio <= 1 + margin
    names = " or ".join(" ".join(name) if isinstance(name, tuple) else str(name) for name in winners)
    told = f"{names} least in {holds.sum()} of {len(table)} settings; ratio {spread(ratio)}"
    if trials is None and not holds.all():
        told += f"; missed by {100 * (ratio.max() - 1):.2g} % at most"
    for place in table.index[~holds] if trials is not None else []:
        ours, theirs = (trials.loc[place][table.loc[place, part].idxmin()] for part in (winners, others))
        where = " ".join(map(str, place)) if isinstance(place, tuple) else place
        told += f"; missed at {where} by {interval(100 * (ours / theirs - 1), '%')}"
    return Claim(bool(holds.all()), told)


def both_hold(*found):
    """One claim of several: holds if all do, fails if one fails."""
    verdicts = [claim.holds for claim in found]
    if any(holds is not None and not holds for holds in verdicts):
        holds = False
    else:
        holds = None if None in verdicts else True
    return Claim(holds, "; ".join(claim.numbers for claim in found))


def spread(values):
    """Median and range of numbers as a text."""
    values = np.asarray(values, float)
    if len(values) == 1:
        return f"{values[0]:.4g}"
    return f"{np.median(values):.4g} (from {values.min():.4g} to {values.max():.4g})"


def time_to_reach(curve, targets):
    """Least time with an error not above each target: `curve` has columns ``seconds`` and ``error``."""
    return np.array([curve.seconds[curve.error <= target * (1 + 1e-9)].min() for target in targets])


def error_against_time(records, items, error_metric):
    """Median time and mean error of each method, selector and size.

    Returns
    -------
    DataFrame
        Columns dataset, method, selector, m, r, seconds, error.
    """
    keys = ["dataset", "method", "selector", "m", "r"]
    rows = select(records, items, metric=[error_metric, "runtime"])
    seconds = rows[rows.metric == "runtime"].groupby(keys, dropna=False).value.median()
    error = rows[rows.metric == error_metric].groupby(keys, dropna=False).value.mean()
    curve = pd.concat([seconds, error], axis=1, join="inner", keys=["seconds", "error"]).reset_index()
    if curve.empty:
        raise NotRun(f"no records with both runtime and {error_metric}")
    return curve
