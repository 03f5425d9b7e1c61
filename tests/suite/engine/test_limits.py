"""Jobs that start processes, print without end or ask for the impossible."""

import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import psutil
import pytest

from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine import pool
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.errors import ConfigError

ENTRY = {"params": {}, "size_parameter": None, "nested": True}


@pytest.fixture(scope="module")
def base():
    return compose_settings(["n_train=30", "n_components=2", "n_basis=5", "metric=empirical_error"])


@pytest.fixture
def go(base, tmp_path):
    def go(name, params=None, seconds=None, memory_mb=None, seeds=(0,)):
        method = {**ENTRY, "target": f"engine_probe.{name}", "params": params or {}}
        limits = {"seconds": seconds, "memory_mb": memory_mb}
        plan = make_plan(
            dataclasses.replace(
                base, methods={name: method}, results_dir=str(tmp_path), limits=limits, seeds=list(seeds)
            )
        )
        lines = io.StringIO()
        return plan, run([plan], stream=lines), lines.getvalue()

    return go


def is_alive(number):
    return psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_what_a_job_has_started_ends_with_it(go, tmp_path):
    _, summary, _ = go("Starter", {"path": str(tmp_path / "child")})
    assert not summary.failures
    assert not is_alive(int((tmp_path / "child").read_text()))


def test_what_a_job_has_started_ends_when_it_is_stopped(go, tmp_path):
    _, summary, _ = go("Starter", {"path": str(tmp_path / "child"), "endless": True}, seconds=1.0)
    assert [failure.status for failure in summary.failures] == ["timeout"]
    child = int((tmp_path / "child").read_text())
    assert wait_until(lambda: not is_alive(child))


def test_the_memory_of_a_job_is_that_of_its_children_too(go):
    _, summary, _ = go("HungryChild", memory_mb=500.0, seconds=60.0)
    assert [failure.status for failure in summary.failures] == ["memory"]


def test_a_child_that_keeps_the_pipe_open_does_not_hold_the_run(go):
    start = time.monotonic()
    _, summary, _ = go("DyingParent")
    assert "the worker process died: signal SIGKILL" in summary.failures[0].error
    assert time.monotonic() - start < 60


def test_the_output_of_a_failed_job_is_capped_and_kept_with_it(go):
    plan, summary, shown = go("Chatty")
    (id,) = plan.jobs
    stored = json.loads(plan.store.job_path(plan.name, id).read_text())
    assert stored["printed"].startswith("[...]") and stored["printed"].endswith("the last words\n")
    assert len(stored["printed"]) < 25_000 and "the last words" in shown and len(shown) < 30_000
    assert len(summary.failures) == 1


def test_what_all_jobs_print_is_shown_once(go):
    plan, _, shown = go("Noting", seeds=range(4))
    assert shown.count("a warning that all jobs give") == 1
    stored = json.loads(plan.store.job_path(plan.name, next(iter(plan.jobs))).read_text())
    assert "printed" not in stored


def test_a_worker_whose_parent_dies_while_it_starts_ends_at_once():
    """Its start takes some tenths of a second; the parent dies right after it has begun."""
    code = "import os, sys\nfrom kpca_lab.suite.engine.pool import Worker\n"
    code += "worker = Worker(1)\nprint(worker.process.pid, flush=True)\nos.kill(os.getpid(), 9)"
    parent = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.returncode == -signal.SIGKILL
    started = time.monotonic()
    assert wait_until(lambda: not is_alive(int(parent.stdout)))
    # Not before it has imported what a job needs: that alone takes longer on a busy machine.
    assert time.monotonic() - started < 10


def test_a_worker_that_was_killed_while_idle_is_replaced(go):
    go("Noting")
    (worker,) = [worker for worker in pool._idle if worker.threads == 1][:1]
    os.kill(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    _, summary, _ = go("Noting", seeds=(5,))
    assert summary.computed == 1 and not summary.failures


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["n_basis=1001"], "n_basis=1001 is more than any data set of this run can have: artificial2d has"),
        (["n_components=5000"], "n_components=5000 is more"),
        (["n_train=40", "n_basis=[5,41]"], "n_basis=41 is more .* 40 training samples"),
        (["datasets=[concrete,artificial2d]", "n_basis=1001"], "concrete has 927 training samples"),
        (["dataset=mnist", "n_basis=60001"], "mnist has 60000 training samples"),
        (["dataset=frey", "n_basis=1966"], "frey has 1965 training samples"),
        (["dataset=ida/banana", "n_components=401"], "ida/banana has 400 training samples"),
        (["dataset=usps", "n_train=1000", "n_basis=901"], "usps has 900 training samples"),
    ],
)
def test_sizes_that_no_data_set_of_a_run_has_are_refused_before_anything_is_computed(words, told):
    with pytest.raises(ConfigError, match=told):
        make_plan(compose_settings(words))


def test_sizes_that_one_data_set_has_are_not_refused():
    assert make_plan(compose_settings(["datasets=[concrete,artificial2d]", "n_basis=500"])).jobs


def write_table(path, rows):
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".npz":
        np.savez_compressed(path, X=rows)
    elif path.suffix == ".parquet":
        pd.DataFrame(rows, columns=list("abc")).to_parquet(path)
    else:
        np.savetxt(path, rows, delimiter=",")  # compressed where the name ends in gz


@pytest.mark.parametrize("name", ["own.csv", "own.csv.gz", "own.npy", "own.npz", "own.parquet"])
def test_the_rows_of_a_users_file_are_counted(tmp_path, name):
    path = tmp_path / name
    write_table(path, np.random.default_rng(0).standard_normal((40, 3)))
    kind = name.split(".")[1]
    words = [f"dataset={kind}", f"dataset.options.path={path}"]
    assert make_plan(compose_settings([*words, "n_basis=36"])).jobs
    with pytest.raises(ConfigError, match=f"{kind} has 36 training samples"):
        make_plan(compose_settings([*words, "n_basis=37"]))
    if name != "own.csv":  # of a damaged file nothing is known: the job says what is wrong with it
        path.write_bytes(path.read_bytes()[:30])
        assert make_plan(compose_settings([*words, "n_basis=37"])).jobs
