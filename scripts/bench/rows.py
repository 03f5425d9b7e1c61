"""Rows of the bench, and the texts that are made of them."""

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pandas as pd

SAME_ERROR = 1e-6  # errors that differ by this share are equal
MANY = 5  # so many rows of one kind are one line of the README
NUMBERS = ["ours_value", "peer_value", "ratio", "ours_error", "peer_error"]
MARKERS = ("<!-- bench: begin -->", "<!-- bench: end -->")


@dataclass
class Row:
    """One comparison: seconds or megabytes of ours and of a peer, the errors that both reached, and an aim.

    Without a ``peer_value`` (not a number) the peer was not measured, and ``note`` says why.
    """

    group: str
    what: str
    ours: str
    peer: str
    ours_value: float
    peer_value: float
    unit: str = "s"
    ours_error: float = math.nan
    peer_error: float = math.nan
    error: str = ""  # what the errors are
    terms: str = ""  # what is equal on both sides: work, error, time, number of basis samples
    aim: str = ""
    note: str = ""
    headline: bool = False

    @property
    def ratio(self) -> float:
        """Ours over the peer's: below one is better."""
        return self.ours_value / self.peer_value if self.peer_value else math.nan


def failed(group: str, what: str, peer: str, problem: str, ours: str = "") -> Row:
    """The row of a peer that could not be measured."""
    return Row(group, what, ours, peer, math.nan, math.nan, note=problem)


def table(rows: list[Row]) -> pd.DataFrame:
    """The rows with their ratio, one line each."""
    columns = [field.name for field in fields(Row)]
    columns.insert(columns.index("unit"), "ratio")
    return pd.DataFrame([asdict(row) | {"ratio": row.ratio} for row in rows], columns=columns)


def read_rows(path: Path) -> pd.DataFrame:
    """The table of an earlier run, its figures as numbers."""
    rows = pd.read_csv(path, keep_default_na=False)
    rows[NUMBERS] = rows[NUMBERS].apply(pd.to_numeric)
    rows["headline"] = rows["headline"].astype(str) == "True"
    return rows


def merged(old: pd.DataFrame | None, new: pd.DataFrame) -> pd.DataFrame:
    """The new rows, and the old ones of groups that were not measured again."""
    if old is None or not len(old):
        return new
    kept = old[~old["group"].isin(new["group"])]
    return pd.concat([kept, new], ignore_index=True) if len(kept) else new


def number(value: float, digits: int = 3) -> str:
    """A figure for a table: empty if there is none, and below a million without a power of ten."""
    if value is None or math.isnan(float(value)):
        return ""
    shown = f"{float(value):.{digits}g}"
    return f"{float(shown):.0f}" if "e+" in shown and abs(float(shown)) < 1e6 else shown


def markdown(columns: list[str], cells: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells]) + "\n"


def page(rows: pd.DataFrame, titles: dict[str, str], preface: str) -> str:
    """All rows in one table per group."""
    parts = [preface]
    for group in [*titles, *(name for name in rows["group"].unique() if name not in titles)]:
        own = rows[rows["group"] == group]
        if not len(own):
            continue
        cells = [
            [
                row.what, row.ours, row.peer, number(row.ours_value), number(row.peer_value), row.unit,
                number(row.ratio), number(row.ours_error, 4), number(row.peer_error, 4), row.error, row.terms,
                row.aim, row.note,
            ]
            for row in own.itertuples()
        ]  # fmt: skip
        columns = ["case", "ours", "peer", "ours", "peer", "unit", "ratio", "error", "error of the peer"]
        columns += ["error is", "equal", "aim", "note"]
        used = [place for place in range(len(columns)) if any(row[place] for row in cells)]
        shown = markdown([columns[i] for i in used], [[row[i] for i in used] for row in cells])
        parts.append(f"### {titles.get(group, group)}\n\n{shown}")
    return "\n".join(parts)


def short_table(rows: pd.DataFrame) -> str:
    """The rows for README and site; many of one kind against the same peers are one line."""
    chosen = rows[rows["headline"].astype(bool) & rows["ratio"].notna()]
    cells = []
    for (_, ours, _, _), own in chosen.groupby(["group", "ours", "unit", "aim"], sort=False):
        if len(own) >= MANY:
            cells.append([_range(own), ours, _peers(own), "", _ratios(own["ratio"]), _largest(own)])
        else:
            cells += [
                [row.what, row.ours, row.peer, _quantities(row), number(row.ratio, 2), _errors(row)]
                for row in own.itertuples()
            ]
    columns = ["case", "kpca_lab", "peer", "kpca_lab / peer", "ratio", "error, kpca_lab / peer"]
    return markdown(columns, cells)


def _range(rows: pd.DataFrame) -> str:
    return f"{len(rows)} cases: {rows['what'].iloc[0]} to {rows['what'].iloc[-1]}"


def _peers(rows: pd.DataFrame) -> str:
    """The peers, of solvers of one estimator its name once."""
    names = list(dict.fromkeys(rows["peer"]))
    common = names[0].partition(", ")[0]
    same = all(name.partition(", ")[0] == common for name in names)
    return f"{common}, its fastest accurate solver" if same and len(names) > 1 else " or ".join(names)


def _ratios(ratios: pd.Series) -> str:
    return f"{number(ratios.min(), 2)} to {number(ratios.max(), 2)}, median {number(ratios.median(), 2)}"


def _largest(rows: pd.DataFrame) -> str:
    worst = number(rows["ours_error"].max(), 2), number(rows["peer_error"].max(), 2)
    return f"at most {worst[0]} / {worst[1]} ({rows['error'].iloc[0]})"


def _quantities(row) -> str:
    return f"{number(row.ours_value, 2)} / {number(row.peer_value, 2)} {row.unit}"


def _errors(row) -> str:
    if math.isnan(row.ours_error) and math.isnan(row.peer_error):
        return "same result"
    return f"{number(row.ours_error, 4) or '-'} / {number(row.peer_error, 4) or '-'} ({row.error})"


def between_markers(text: str, content: str, markers: tuple[str, str] = MARKERS) -> str:
    """``text`` with what stands between the markers replaced by ``content``."""
    begin, end = markers
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"The text must have {begin} once, and {end} once after it.")
    head, rest = text.split(begin)
    return f"{head}{begin}\n{content.strip()}\n{end}{rest.split(end)[1]}"


def seconds_at_error(points: list[tuple[float, float]], error: float) -> float:
    """Least seconds among points (seconds, error) whose error is at most the given one; NaN if none."""
    enough = [seconds for seconds, reached in points if reached <= error * (1 + SAME_ERROR)]
    return min(enough, default=math.nan)


def error_at_seconds(points: list[tuple[float, float]], seconds: float) -> float:
    """Least error among points (seconds, error) that take at most the given time; NaN if there is none."""
    enough = [reached for taken, reached in points if taken <= seconds]
    return min(enough, default=math.nan)


def exponent(sizes: list[float], values: list[float]) -> float:
    """Slope of the values over the sizes on logarithmic axes, by least squares."""
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
