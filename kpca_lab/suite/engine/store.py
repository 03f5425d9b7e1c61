"""The store: a file for each finished job, and one CSV of records for each experiment.

``jobs/<experiment>/<id>.json`` is written once a job has ended, by a rename, so it is there as a whole or not
at all. ``records/<paper>/<item>.csv.gz`` holds the rows of all jobs of the experiment, sorted, and is made
from the job files when the experiment is complete. It is enough by itself: jobs whose rows it
holds are done, also in a fresh clone that has no job files. ``<item>.settings.json`` beside it holds the
settings that it was made with, so that whoever judges it needs no configuration.
"""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

from kpca_lab.suite.engine.records_file import (
    RECORDS_SUFFIX,
    check_of,
    identity,
    load_records,
    plain_rows,
    read_records,
    write_records,
)
from kpca_lab.suite.files import read_json, set_aside, write_atomically
from kpca_lab.suite.jobs import SOUND, Outcome

__all__ = ["Store"]


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
        if name.startswith("custom/"):
            return self.root / f"{name}.csv"
        return self.root / "records" / f"{name}{RECORDS_SUFFIX}"

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
            job: [row for row in rows if row["status"] not in SOUND]
            for job, (rows, check) in self._by_job(name).items()
            if _are_settled(rows, accepted_errors) and self._has_arrays(name, job, check)
        }

    def is_settled(self, name: str, job: str, accepted_errors: Iterable[str] = ()) -> bool:
        """The same for one job, from its file alone."""
        stored = self._read(self.job_path(name, job))
        sound = stored is not None and self._has_arrays(name, job, stored["check"])
        return sound and _are_settled(stored["rows"], accepted_errors)

    def rows(self, name: str, jobs: Iterable[str]) -> list[dict]:
        """The rows of some jobs of an experiment."""
        known = self._by_job(name)
        return [row for job in jobs if job in known for row in known[job][0]]

    def _by_job(self, name):
        """Rows and check of every job, from the records and from the files of the jobs."""
        records = load_records(self.records_path(name), repair=True)
        found = {}
        for row in plain_rows(records.table):
            found.setdefault(row["job"], ([], records.checks.get(row["job"], "")))[0].append(row)
        for path in sorted((self.root / "jobs" / name).glob("*.json")):
            stored = self._read(path)
            if stored is not None:
                found[path.stem] = stored["rows"], stored["check"]
        return found

    def _has_arrays(self, name, job, check):
        """Whether the file of arrays that a check tells of is there, as long as it was."""
        size = check.split("-")[2:]
        path = self.arrays_path(name, job)
        return not size or (path.is_file() and path.stat().st_size == int(size[0]))

    @staticmethod
    def _read(path):
        """What the file of a job holds; None if there is none, or if it is damaged and so set aside."""
        stored = read_json(path, ("job", "seconds", "rows", "check"))
        if not stored:
            return None
        rows, check = stored["rows"], stored["check"]
        try:
            sound = check_of(rows).split("-") == check.split("-")[:2] and stored["seconds"] >= 0
            told = {stored["job"], *(row["job"] for row in rows)}
        except (TypeError, ValueError, KeyError, AttributeError):
            sound, told = False, set()
        if not sound or told != {path.stem}:
            why = "it is that of another job" if sound else "its content does not fit its checksum"
            set_aside(path, why)
            return None
        return stored

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
        size = None
        if outcome.arrays:
            buffer = io.BytesIO()
            arrays = {key: np.asarray(value) for key, value in sorted(outcome.arrays.items())}
            np.savez_compressed(buffer, allow_pickle=False, **arrays)
            size = buffer.tell()
            write_atomically(self.arrays_path(name, job), buffer.getvalue())
        rows = [{**row, "job": job} for row in outcome.rows]
        content = {"job": job, "seconds": 0.0, **header, "check": check_of(rows, size), "rows": rows}
        write_atomically(self.job_path(name, job), json.dumps(content, indent=1).encode())

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
            own = {job: known[job] for job in sorted(jobs) if job in known}
            rows = [row for found, _ in own.values() for row in found]
            checks = {job: check for job, (_, check) in own.items()}
            if keep_others:
                before = load_records(path, repair=True)
                measured = {identity(row) for row in rows}
                others = (row for row in plain_rows(before.table) if row["job"] not in jobs)
                rows += [row for row in others if identity(row) not in measured]
            if not rows and not path.exists():
                return path
            write_records(path, rows, checks)
            if not keep_others:
                self._drop_arrays(name, jobs)
        return path

    def _drop_arrays(self, name, jobs):
        """Remove arrays of jobs that the experiment does not have any more."""
        for path in (self.root / "arrays" / name).glob("*.npz"):
            if path.stem not in jobs:
                path.unlink(missing_ok=True)

    def settings_path(self, name: str) -> Path:
        """The settings that the records of an experiment were made with."""
        path = self.records_path(name)
        return path.with_name(path.name.partition(".csv")[0] + ".settings.json")

    def write_settings(self, name: str, settings: dict) -> None:
        """Keep the settings of an experiment beside its records."""
        text = json.dumps(settings, indent=1, sort_keys=True)
        write_atomically(self.settings_path(name), f"{text}\n".encode())

    def settings(self, name: str) -> dict:
        """The settings that the records of an experiment were made with; empty if none are kept."""
        return read_json(self.settings_path(name))

    def records(self, name: str) -> pd.DataFrame:
        """The records of an experiment; empty if there are none."""
        return load_records(self.records_path(name), repair=True).table

    def all_records(self) -> pd.DataFrame:
        """The records of all experiments of the papers."""
        paths = sorted((self.root / "records").glob(f"*/*{RECORDS_SUFFIX}"))
        tables = [load_records(path, repair=True).table for path in paths]
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
            try:
                with np.load(path, allow_pickle=False) as file:
                    found[path.stem] = {key: file[key] for key in file.files}
            except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
                set_aside(path, f"{error}; run the experiment again")
        return found


def _are_settled(rows, accepted_errors):
    accepted = {"", *accepted_errors}
    return all(row["status"] in SOUND or row["error"] in accepted for row in rows)
