"""Killed at any moment, run by two processes at once: the records come out the same."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kpca_lab.suite.store import read_records

ROOT = Path(__file__).resolve().parents[2]
TRIALS = 8
SEED = 2010


def start(results):
    words = ["method=reduced", "+methods.slow.target=engine_probe.Slow", f"n_trials={TRIALS}"]
    words += ["n_train=30", "n_components=3", "n_basis=[5,6]", "profile=smoke", f"results_dir={results}"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.run", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def jobs_in(results):
    return list(Path(results).glob("smoke/jobs/custom/artificial2d/*.json"))


def records(results):
    """The records without measured times."""
    return read_records(Path(results) / "smoke" / "custom" / "artificial2d.csv").drop(columns="seconds")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What two processes give that share the work from the start: each waits for the other's jobs."""
    folder = tmp_path_factory.mktemp("two")
    processes = [start(folder), start(folder)]
    answers = [finish(process) for process in processes]
    return folder, answers


def test_two_processes_share_one_sweep(undisturbed):
    folder, answers = undisturbed
    assert len(jobs_in(folder)) == TRIALS
    table = records(folder)
    assert len(table) == TRIALS * 2 * 2 * 2 and (table["status"] == "done").all()
    assert not table.duplicated().any()
    assert answers[0][0] == answers[1][0], "both print the same table"
    assert not list(folder.rglob("*.tmp"))


def test_killed_at_random_moments_and_resumed_the_records_are_the_same(undisturbed, tmp_path):
    rng = random.Random(SEED)
    for least in (0, 2, 5):
        process = start(tmp_path)
        while len(jobs_in(tmp_path)) < least and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 1.5 if least == 0 else 0.2))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    done = len(jobs_in(tmp_path))
    assert 5 <= done < TRIALS
    _, shown = finish(start(tmp_path))
    assert f"{done} done before" in shown
    assert records(tmp_path).equals(records(undisturbed[0]))


def test_workers_do_not_outlive_a_killed_parent(tmp_path):
    process = start(tmp_path)
    while not jobs_in(tmp_path) and process.poll() is None:
        time.sleep(0.01)
    # The workers are in the session that the process leads.
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 30
    while _session_is_alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _session_is_alive(process.pid)


def _session_is_alive(leader):
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True
