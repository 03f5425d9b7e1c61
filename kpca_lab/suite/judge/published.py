"""The numbers that the papers print, as data: ``experiments/<paper>/published.csv``, in the order of print.

Columns of the files:

============  ==========================================================================================
``paper``     the name of its folder
``table``     ``table1`` ... as in the paper, or ``text`` for a number stated in a sentence
``row``       with ``column``: the key of a cell, plain text near the printed labels
``value``     the printed number; empty where the source text lost it
``sd``        the printed standard deviation, empty where none is printed
``trials``    how many runs, images or settings the printed mean is over, empty where the paper does not say
``decimals``  digits after the point (for ``4.57e-5``: 7); zeros dropped in print are counted, with a note
``unit``      ``%``, ``s``, ``1e5`` or empty
``kind``      what the number is worth as evidence, see below
``flag``      ``lost``, ``damaged``, ``contradiction``, ``unavailable`` (data, code), ``constant`` (the
              accuracy of a constant predictor), ``fitted`` (not printed, but a fit to printed numbers), or
              empty
``note``      what the flag means here; numbers from a sentence carry it as ``text: "..."``
============  ==========================================================================================

Kinds:

==============  ========================================================================================
``result``      an outcome of the method on known data: the only kind that is evidence, and is counted
``derived``     follows from another cell or from the data alone: a share of a count, a count that the text
                restates, the accuracy of a constant predictor
``setting``     a size or a parameter of the protocol
``calibrated``  a result on data that are not specified, so that ours were chosen to fit
``time``        a time on the authors' machine, or a ratio of such times
``statement``   a bound or a rough statement
==============  ========================================================================================
"""

import re

import pandas as pd

from kpca_lab.choices import unknown
from kpca_lab.suite.papers import papers

KEY = ["paper", "table", "row", "column"]
COLUMNS = (*KEY, "value", "sd", "trials", "decimals", "unit", "kind", "flag", "note")
KINDS = ("result", "derived", "setting", "calibrated", "time", "statement")
FLAGS = ("", "lost", "damaged", "contradiction", "unavailable", "constant", "fitted")

_TYPES = {"value": float, "sd": float, "trials": "Int64", "decimals": "Int64"}


def load_published(paper=None):
    """Read the published cells.

    Parameters
    ----------
    paper : str, optional
        The name of its folder; all papers if None.

    Returns
    -------
    pandas.DataFrame
        One row per cell with the columns of this module's table, in the order of print. Missing
        numbers are NaN (``<NA>`` for whole numbers), missing texts empty.

    Examples
    --------
    >>> from kpca_lab.suite.judge.published import load_published
    >>> set(load_published().columns) == set(COLUMNS)
    True
    """
    if paper is None:
        frames = [load_published(name) for name in papers()]
        return pd.concat(frames, ignore_index=True) if frames else no_cells()
    if paper not in papers():
        raise ValueError(unknown("paper", paper, papers()))
    path = papers()[paper].folder / "published.csv"
    if not path.is_file():
        return no_cells()
    text = {name: str for name in COLUMNS if name not in _TYPES}
    empty = dict.fromkeys(_TYPES, "")
    frame = pd.read_csv(path, keep_default_na=False, dtype=text | _TYPES, na_values=empty)
    return _checked(frame.fillna(dict.fromkeys(text, "")), path)


def _checked(frame, path):
    """The frame, if it has the columns, kinds and flags of this module and no cell twice."""
    lacking = [name for name in COLUMNS if name not in frame]
    if lacking:
        raise ValueError(f"{path}: lacks the columns {', '.join(lacking)}")
    for column, valid in (("kind", KINDS), ("flag", FLAGS)):
        for given in frame[column].unique():
            if given not in valid:
                raise ValueError(f"{path}: {unknown(column, given, valid)}")
    twice = frame[frame.duplicated(KEY)]
    if len(twice):
        raise ValueError(f"{path}: printed twice: {' | '.join(twice.iloc[0][KEY])}")
    return frame


def no_cells():
    """A frame of published cells without a row."""
    return pd.DataFrame({name: pd.Series(dtype=_TYPES.get(name, str)) for name in COLUMNS})


def item_label(item):
    """The name of a table or figure in words.

    Examples
    --------
    >>> item_label("table1"), item_label("figure3_concrete"), item_label("kernel")
    ('Table 1', 'Figure 3 concrete', 'kernel')
    """
    numbered = re.sub(r"^(table|figure)(?=[0-9])", lambda kind: f"{kind[0].capitalize()} ", item)
    return numbered.replace("_", " ")


def format_number(value, decimals):
    """Write `value` as the papers print it: plain, or with an exponent where it is tiny.

    Examples
    --------
    >>> format_number(0.67, 4), format_number(4.57e-5, 7), format_number(float("nan"), 2)
    ('0.6700', '4.57e-5', '')
    """
    if pd.isna(value):
        return ""
    if 0 < abs(value) < 1e-3 and decimals > 4:
        mantissa, exponent = f"{value:.15e}".split("e")
        exponent = int(exponent)
        mantissa = f"{value:.{max(decimals + exponent, 0)}e}".split("e")
        return f"{mantissa[0]}e{int(mantissa[1])}"
    return f"{value:.{decimals}f}"
