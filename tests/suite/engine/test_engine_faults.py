"""Killed at any moment, run by two processes at once: the records come out the same."""

import dataclasses
import io
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import psutil
import pytest

from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine import pool
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.records_file import read_records
from kpca_lab.suite.engine.runner import run

TRIALS = 8
SEED = 2010


@pytest.fixture(scope="module")
def settings():
    words = ["method=[subset,reduced]", "methods.reduced.target=engine_probe.Slow", f"n_trials={TRIALS}"]
    words += ["n_train=30", "n_components=3", "n_basis=[5,6]", "profile=smoke", "workers=1"]
    return compose_settings(words)


def start(settings, results):
    """Run the settings in a process of their own, a copy of this one."""

    def body():
        pool._idle.clear()  # those belong to the process that was copied
        summary = run(
            [make_plan(dataclasses.replace(settings, results_dir=str(results)))], stream=io.StringIO()
        )
        (results / f"{os.getpid()}.txt").write_text(f"{summary.computed} {summary.kept}")
        pool.close_idle()
        os._exit(summary.exit_code)

    process = multiprocessing.get_context("fork").Process(target=body)
    process.start()
    return process


def finish(process):
    process.join(300)
    assert process.exitcode == 0


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def jobs_in(results):
    return list(Path(results).glob("smoke/jobs/custom/artificial2d/*.json"))


def records(results):
    """The records without measured times."""
    return read_records(Path(results) / "smoke" / "custom" / "artificial2d.csv").drop(columns="seconds")


def wait_for(condition, process):
    while not condition() and process.is_alive():
        time.sleep(0.01)


@pytest.fixture(scope="module")
def undisturbed(settings, tmp_path_factory):
    """Results of two processes that begin at the same time."""
    folder = tmp_path_factory.mktemp("two")
    for process in [start(settings, folder), start(settings, folder)]:
        finish(process)
    return folder


def test_two_processes_share_one_sweep(undisturbed):
    assert len(jobs_in(undisturbed)) == TRIALS
    table = records(undisturbed)
    assert len(table) == TRIALS * 2 * 2 * 2 and (table["status"] == "done").all()
    assert not table.duplicated().any() and table["job"].nunique() == TRIALS
    assert len(list(undisturbed.glob("*.txt"))) == 2
    assert not list(undisturbed.rglob("*.tmp"))


def test_killed_at_random_moments_and_resumed_the_records_are_the_same(settings, undisturbed, tmp_path):
    rng = random.Random(SEED)
    for least in (0, 2, 5):
        process = start(settings, tmp_path)
        wait_for(lambda least=least: len(jobs_in(tmp_path)) >= least, process)
        time.sleep(rng.uniform(0, 0.2))
        kill(process)
    done = len(jobs_in(tmp_path))
    assert 5 <= done < TRIALS
    process = start(settings, tmp_path)
    finish(process)
    assert (tmp_path / f"{process.pid}.txt").read_text() == f"{TRIALS - done} {done}"
    assert records(tmp_path).equals(records(undisturbed))


def test_workers_do_not_outlive_a_killed_parent(settings, tmp_path):
    process = start(settings, tmp_path)
    wait_for(lambda: jobs_in(tmp_path), process)
    workers = psutil.Process(process.pid).children()
    assert workers
    kill(process)
    assert not psutil.wait_procs(workers, timeout=60)[1]
