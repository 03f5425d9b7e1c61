"""The store: a file for each finished job, and one CSV of records for each experiment.

``jobs/<experiment>/<id>.json`` is written once a job has ended, by a rename, so it is there as a whole or not
at all. ``records/<paper>/<item>.csv`` holds the rows of all jobs of the experiment, sorted, and is made
from the job files when the experiment is complete. It is enough by itself: jobs whose rows it
holds are done, also in a fresh clone that has no job files.
"""

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.jobs import COLUMNS, Outcome

__all__ = ["Store", "read_records"]

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


class Store:
    """Results of one profile.

    Parameters
    ----------
    results_dir : str or Path
    profile : str
    """

    def __init__(self, results_dir: str | os.PathLike, profile: str):
        self.root = Path(results_dir) / profile

    def records_path(self, name: str) -> Path:
        """The CSV of an experiment ``<paper>/<item>``; runs of one's own are kept apart, in ``custom``."""
        folder = self.root if name.startswith("custom/") else self.root / "records"
        return folder / f"{name}.csv"

    def job_path(self, name: str, job: str) -> Path:
        """The file of one job."""
        return self.root / "jobs" / name / f"{job}.json"

    def arrays_path(self, name: str, job: str) -> Path:
        """The arrays of one job."""
        return self.root / "arrays" / name / f"{job}.npz"

    def settled(self, name: str, accepted_errors: Iterable[str] = ()) -> dict[str, list[dict]]:
        """Jobs that need not be computed: done, or over limits that are still the same.

        Parameters
        ----------
        name : str
            The experiment.
        accepted_errors : iterable of str
            Texts of errors that would only come again.

        Returns
        -------
        dict
            By identity, the rows of the job that are not done.
        """
        return {
            job: [row for row in rows if row["status"] != "done"]
            for job, rows in self._by_job(name).items()
            if _are_settled(rows, accepted_errors)
        }

    def is_settled(self, name: str, job: str, accepted_errors: Iterable[str] = ()) -> bool:
        """The same for one job, from its file alone."""
        stored = self._read(self.job_path(name, job))
        return stored is not None and _are_settled(stored["rows"], accepted_errors)

    def _by_job(self, name):
        rows = {}
        for row in _plain_rows(self.records_path(name)):
            rows.setdefault(row["job"], []).append(row)
        for path in sorted((self.root / "jobs" / name).glob("*.json")):
            stored = self._read(path)
            if stored is not None:
                rows[path.stem] = stored["rows"]
        return rows

    @staticmethod
    def _read(path):
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write(self, name: str, job: str, outcome: Outcome, header: dict) -> None:
        """Store the outcome of a job: arrays first, so that a job file never lacks them.

        Parameters
        ----------
        name : str
            The experiment.
        job : str
            The identity of the job.
        outcome : Outcome
        header : dict
            What else is worth keeping: the job's text, its times.
        """
        if outcome.arrays:
            buffer = io.BytesIO()
            arrays = {key: np.asarray(value) for key, value in sorted(outcome.arrays.items())}
            np.savez_compressed(buffer, allow_pickle=False, **arrays)
            write_atomically(self.arrays_path(name, job), buffer.getvalue())
        rows = [{**row, "job": job} for row in outcome.rows]
        text = json.dumps({**header, "rows": rows}, indent=1)
        write_atomically(self.job_path(name, job), text.encode())

    def claim(self, name: str, job: str) -> FileLock | None:
        """Hold a job against other processes until the lock is released; None if another one has it.

        It is a lock of the operating system, which ends with the process, however that ends.
        """
        lock = FileLock(self._lock_path(name, job))
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None
        return lock

    def _lock_path(self, name, what):
        path = self.root / "jobs" / name / ".claims" / f"{what}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def compact(
        self, name: str, jobs: Iterable[str], *, into: str | None = None, keep_others: bool = False
    ) -> Path:
        """Write the records of an experiment: the rows of its jobs, sorted.

        Parameters
        ----------
        name : str
            The experiment.
        jobs : iterable of str
            Identities of its jobs; those not computed yet are left out.
        into : str, optional
            Another name for the records.
        keep_others : bool
            Keep rows of other jobs that measured something else.

        Returns
        -------
        Path
        """
        jobs = set(jobs)
        path = self.records_path(into or name)
        with FileLock(self._lock_path(into or name, "records")):
            known = self._by_job(name)
            rows = [row for job in sorted(jobs) for row in known.get(job, [])]
            if keep_others:
                measured = {_identity(row) for row in rows}
                others = (row for row in _plain_rows(path) if row["job"] not in jobs)
                rows += [row for row in others if _identity(row) not in measured]
            rows.sort(key=_sort_key)
            if not rows and not path.exists():
                return path
            write_atomically(path, _csv(rows).encode())
            if not keep_others:
                self._drop_arrays(name, jobs)
        return path

    def _drop_arrays(self, name, jobs):
        """Remove arrays of jobs that the experiment does not have any more."""
        for path in (self.root / "arrays" / name).glob("*.npz"):
            if path.stem not in jobs:
                path.unlink(missing_ok=True)

    def records(self, name: str) -> pd.DataFrame:
        """The records of an experiment; empty if there are none."""
        return read_records(self.records_path(name))

    def all_records(self) -> pd.DataFrame:
        """The records of all experiments of the papers."""
        tables = [read_records(path) for path in sorted((self.root / "records").glob("*/*.csv"))]
        tables = [table for table in tables if len(table)]
        return pd.concat(tables, ignore_index=True) if tables else read_records("")

    def seconds(self, name: str, jobs: Iterable[str]) -> float | None:
        """What some jobs took to compute, in all; None if their files are not there."""
        stored = [self._read(self.job_path(name, job)) for job in jobs]
        found = [entry["seconds"] for entry in stored if entry is not None]
        return round(sum(found), 3) if found else None

    def arrays(self, name: str) -> dict[str, dict[str, np.ndarray]]:
        """Arrays of the jobs that the records of an experiment come from, by job and name."""
        found = {}
        jobs = set(self.records(name)["job"])
        paths = (self.root / "arrays" / name).glob("*.npz")
        for path in sorted(path for path in paths if path.stem in jobs):
            with np.load(path, allow_pickle=False) as file:
                found[path.stem] = {key: file[key] for key in file.files}
        return found


def _are_settled(rows, accepted_errors):
    accepted = {"", *accepted_errors}
    return all(row["status"] == "done" or row["error"] in accepted for row in rows)


def read_records(path: str | os.PathLike) -> pd.DataFrame:
    """Read a CSV of records with the right types; an empty table if there is no file.

    Parameters
    ----------
    path : path

    Returns
    -------
    DataFrame
        With the columns `kpca_lab.suite.jobs.COLUMNS`; ``m`` and ``r`` are nullable integers.
    """
    types = {column: "str" for column in TEXT} | {"m": "Int64", "r": "Int64"}
    types |= {"split": "int64", "seed": "int64", "value": "float64", "seconds": "float64"}
    if not Path(path).is_file():
        return pd.DataFrame({column: pd.Series(dtype=types[column]) for column in COLUMNS})
    table = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=_empty_numbers())
    return table[list(COLUMNS)]


def _empty_numbers():
    return {column: [""] for column in COLUMNS if column not in TEXT}


def _plain_rows(path):
    table = read_records(path)
    return table.astype(object).where(table.notna(), None).to_dict("records")


def _identity(row):
    """What was measured: everything before the value."""
    return tuple(row[column] for column in COLUMNS[: COLUMNS.index("value")])


def _sort_key(row):
    # None goes before numbers.
    return tuple((value is not None, value) for value in (*_identity(row), row["job"]))


def _csv(rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(column, row[column]) for column in COLUMNS])
    return text.getvalue()


def _cell(column, value):
    if value is None:
        return ""
    if column == "seconds":
        return f"{value:.6g}"
    if column == "value":
        return repr(float(value))
    return int(value) if column in ("m", "r", "split", "seed") else value
