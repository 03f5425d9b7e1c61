"""Records as CSV: one line for each row, and for each job its number of rows and a checksum.

The column ``check`` of a job's first line says ``<rows>-<checksum>``, and ``-<bytes>`` after it if the job
has a file of arrays of that size. A job that does not fit its check was cut or changed: its rows are not
given out. Files without that column are taken as they are. A name that ends in ``.gz`` is compressed: the
records of a paper's experiments take a tenth of the room so.
"""

import gzip
import io
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from kpca_lab.suite.files import set_aside, write_atomically
from kpca_lab.suite.jobs import COLUMNS

__all__ = ["RECORDS_SUFFIX", "Records", "check_of", "load_records", "read_records", "write_records"]

TEXT = (
    "experiment",
    "dataset",
    "method",
    "selector",
    "kernel",
    "parameters",
    "metric",
    "status",
    "error",
    "job",
)
TYPES = {column: "str" for column in TEXT} | {"m": "Int64", "r": "Int64"}
TYPES |= {"split": "int64", "seed": "int64", "value": "float64", "seconds": "float64"}
HEADER = ",".join(COLUMNS)
RECORDS_SUFFIX = ".csv.gz"


@dataclass
class Records:
    """A file of records: the rows of its sound jobs, their checks, and what is wrong with the rest.

    Attributes
    ----------
    table : DataFrame
        With the columns `kpca_lab.suite.jobs.COLUMNS`; ``m`` and ``r`` are nullable integers.
    checks : dict
        By job.
    problem : str
        Empty if the whole file is sound.
    """

    table: pd.DataFrame
    checks: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def read_records(path: str | os.PathLike) -> pd.DataFrame:
    """The sound rows of a CSV of records with the right types; none if there is no file.

    Parameters
    ----------
    path : path

    Returns
    -------
    DataFrame
        With the columns `kpca_lab.suite.jobs.COLUMNS`; ``m`` and ``r`` are nullable integers.
    """
    return load_records(Path(path)).table


def load_records(path: Path, *, repair: bool = False) -> Records:
    """Read a CSV of records.

    Parameters
    ----------
    path : Path
    repair : bool
        Whether to set a damaged file aside and write what is sound of it in its place.

    Returns
    -------
    Records
    """
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        lines, checks, problem = _sound_lines(content.decode("utf-8", errors="replace"))
        records = Records(_table(lines), checks, problem)
    except (FileNotFoundError, IsADirectoryError):
        return Records(_empty())
    except (OSError, EOFError, zlib.error, ValueError, KeyError) as error:
        records = Records(_empty(), {}, str(error).partition("\n")[0])
    if repair and records.problem:
        set_aside(path, f"{records.problem}; its jobs are computed again")
        if len(records.table):
            write_records(path, plain_rows(records.table), records.checks)
    return records


def _sound_lines(text):
    """The lines of jobs that fit their checks, those checks, and what is wrong with the others."""
    header, *lines = text.removesuffix("\n").split("\n")
    if header == HEADER:  # made before there were checks
        if not text.endswith("\n") or "\0" in text or "\ufffd" in text:
            raise ValueError("it is cut or garbled")
        return [header, *lines], {}, ""
    if header != f"{HEADER},check":
        raise ValueError("it does not begin with the names of the columns")
    jobs: dict[str, list[str]] = {}
    checks: dict[str, str] = {}
    for line in lines:
        content, _, check = line.rpartition(",")
        job = content.rpartition(",")[2]
        jobs.setdefault(job, []).append(content)
        if check:
            checks[job] = check
    bad = {job for job, found in jobs.items() if not _fits(found, checks.get(job, ""))}
    bad |= checks.keys() - jobs.keys()
    sound = [content for line in lines if (content := line.rpartition(",")[0]).rpartition(",")[2] not in bad]
    problem = f"{len(bad)} of {len(jobs)} jobs do not fit their checksums" if bad else ""
    return [HEADER, *sound], {job: check for job, check in checks.items() if job not in bad}, problem


def _fits(lines, check):
    return check.split("-")[:2] == _checksum(lines)


def _checksum(lines):
    text = "\n".join(sorted(lines))
    return [str(len(lines)), f"{zlib.crc32(text.encode()):08x}"]


def check_of(rows: Iterable[dict], arrays_size: int | None = None) -> str:
    """The check of one job's rows, and of the size of its file of arrays."""
    parts = _checksum([_line(row) for row in rows])
    return "-".join(parts if arrays_size is None else [*parts, str(arrays_size)])


def _table(lines):
    text = io.StringIO("\n".join(lines))
    missing = {column: ["", "nan"] for column in COLUMNS if column not in (*TEXT, "value")}
    table = pd.read_csv(text, dtype=TYPES | {"value": "str"}, keep_default_na=False, na_values=missing)
    # Some versions of pandas do not read every float exactly as it was written.
    table["value"] = [float(value or "nan") for value in table["value"]]
    return table[list(COLUMNS)]


def _empty():
    return pd.DataFrame({column: pd.Series(dtype=TYPES[column]) for column in COLUMNS})


def plain_rows(table: pd.DataFrame) -> list[dict]:
    """The rows of a table of records as dictionaries, None where there is nothing."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def write_records(path: Path, rows: Iterable[dict], checks: dict[str, str]) -> None:
    """Write rows, sorted, with the checks of their jobs.

    Parameters
    ----------
    path : Path
    rows : iterable of dict
    checks : dict
        By job; a job without one gets that of its rows here.
    """
    rows = sorted(rows, key=_sort_key)
    by_job: dict[str, list[str]] = {}
    lines = []
    for row in rows:
        lines.append((row["job"], _line(row)))
        by_job.setdefault(row["job"], []).append(lines[-1][1])
    left = {job: checks.get(job) or "-".join(_checksum(found)) for job, found in by_job.items()}
    written = [f"{line},{left.pop(job, '')}\n" for job, line in lines]
    content = "".join([f"{HEADER},check\n", *written]).encode()
    # Without the time of writing: the same rows are the same bytes.
    write_atomically(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def identity(row: dict) -> tuple:
    """What was measured: everything before the value."""
    return tuple(row[column] for column in COLUMNS[: COLUMNS.index("value")])


def _sort_key(row):
    # None goes before numbers.
    return tuple((value is not None, value) for value in (*identity(row), row["job"]))


def _line(row):
    return ",".join(_cell(column, row[column]) for column in COLUMNS)


def _cell(column, value):
    if value is None:
        return ""
    if column == "seconds":
        return f"{value:.6g}"
    if column == "value":
        return repr(float(value))
    if column in ("m", "r", "split", "seed"):
        return f"{value:d}"  # of a number and nothing like it
    if '"' in value or "," in value:
        value = value.replace('"', '""')
        return f'"{value}"'
    return value
