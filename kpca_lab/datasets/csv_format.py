"""How a text table is written: the separator of its columns, its decimal sign, whether it has a head."""

import csv
import re
from collections import Counter
from dataclasses import dataclass

__all__ = ["CsvFormat", "detect_format"]

WHITESPACE = r"\s+"
# In the order of preference where two read the table equally well.
DELIMITERS = (",", ";", "\t", "|", WHITESPACE)

_POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?(\d+(,\d+)?|,\d+)([eE][+-]?\d+)?")
_MISSING = {"", "na", "n/a", "nan", "null", "none", "-nan", "#n/a", "<na>"}


@dataclass(frozen=True)
class CsvFormat:
    """Separator (a regular expression for white space), decimal sign, and whether names come first."""

    delimiter: str
    decimal: str
    header: bool


def detect_format(
    text: str, delimiter: str | None = None, decimal: str | None = None, header: bool | None = None
) -> CsvFormat:
    """Find out what is not said from the first lines of a table.

    The separator is the one under which the rows have equally many cells, more than one, and the most cells
    are numbers, in either decimal sign. The decimal sign is a comma if numbers with a comma occur and none
    with a point. The first line is a head if anything in it is not a number.

    Parameters
    ----------
    text : str
        First lines of the table.
    delimiter, decimal : str, optional
        What is known already.
    header : bool, optional
        What is known already.

    Returns
    -------
    CsvFormat

    Examples
    --------
    >>> from kpca_lab.datasets.csv_format import detect_format
    >>> detect_format("width;height\\n1,5;2\\n0,25;3\\n")
    CsvFormat(delimiter=';', decimal=',', header=True)
    """
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.', ',' or None to detect it, not {decimal!r}")
    if delimiter not in (None, WHITESPACE) and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise ValueError(
            rf"delimiter must be one character, '\s+' for white space or None to detect it, not {delimiter!r}"
        )
    if header not in (None, True, False):
        raise ValueError(f"header must be true, false or None to detect it, not {header!r}")
    if delimiter is None:
        readings = {candidate: _score(_cells(text, candidate)) for candidate in DELIMITERS}
        best = max(readings.values())
        delimiter = next(name for name in DELIMITERS if readings[name] == best) if best > 0 else ","
    rows = _cells(text, delimiter)
    if decimal is None:
        decimal = "." if delimiter == "," else _decimal_of(rows)
    if header is None:
        header = not rows or not all(_is_number(cell, decimal) for cell in rows[0])
        header = header or all(cell.strip().lower() in _MISSING for cell in rows[0])
    return CsvFormat(delimiter, decimal, header)


def _cells(text: str, delimiter: str) -> list[list[str]]:
    if delimiter == WHITESPACE:
        rows = [line.split() for line in text.splitlines()]
    else:
        try:
            rows = list(csv.reader(text.splitlines(), delimiter=delimiter))
        except csv.Error:
            return []
    return [row for row in rows if any(cell.strip() for cell in row)]


def _score(rows: list[list[str]]) -> float:
    """0 for rows that do not make a table of two columns or more, else 1 + the share of numbers."""
    if not rows:
        return 0.0
    width, agreeing = Counter(len(row) for row in rows).most_common(1)[0]
    if width < 2 or agreeing < 0.9 * len(rows):
        return 0.0
    cells = [cell for row in rows[1:] or rows for cell in row]
    numbers = sum(bool(_POINT.fullmatch(cell.strip()) or _COMMA.fullmatch(cell.strip())) for cell in cells)
    return 1.0 + numbers / len(cells)


def _decimal_of(rows: list[list[str]]) -> str:
    cells = [cell.strip() for row in rows for cell in row]
    with_comma = any("," in cell and _COMMA.fullmatch(cell) for cell in cells)
    with_point = any("." in cell and _POINT.fullmatch(cell) for cell in cells)
    return "," if with_comma and not with_point else "."


def _is_number(cell: str, decimal: str) -> bool:
    cell = cell.strip()
    pattern = _COMMA if decimal == "," else _POINT
    return cell.lower() in _MISSING or bool(pattern.fullmatch(cell))
