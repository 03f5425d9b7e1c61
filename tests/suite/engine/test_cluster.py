"""Sweeps on a Dask cluster of two worker processes of this machine."""

import contextlib
import dataclasses
import io
import os
import signal
import sys
import threading
import time

import psutil
import pytest
from hydra.core.global_hydra import GlobalHydra

from kpca_lab.cli import run as command
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine import pool
from kpca_lab.suite.engine.cluster import on_cluster
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.runner import run

distributed = pytest.importorskip("distributed", reason="needs the extra dist")


@pytest.fixture(scope="module")
def base():
    words = ["n_train=30", "n_components=2", "n_basis=5", "metric=empirical_error", "profile=smoke"]
    return compose_settings(words)


def planned(base, folder, target, n_jobs, **limits):
    method = {"target": target, "params": {}, "size_parameter": None, "nested": True}
    limits = {"seconds": None, "memory_mb": None, **limits}
    return make_plan(
        dataclasses.replace(
            base, methods={"x": method}, seeds=list(range(n_jobs)), results_dir=str(folder), limits=limits
        )
    )


def values(plan):
    return plan.store.records(plan.records_name).drop(columns=["seconds"])


def test_a_sweep_survives_the_loss_of_a_worker_and_gives_what_one_machine_gives(base, cluster, tmp_path):
    n_jobs = 12
    plan = planned(base, tmp_path / "cluster", "engine_probe.Slow", n_jobs)

    def kill_one():
        while len(list(plan.store.root.glob("jobs/custom/*/*.json"))) < 2:
            time.sleep(0.02)
        os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    with on_cluster(cluster.scheduler_address) as compute:
        killer.start()
        summary = run([plan], stream=io.StringIO(), compute=compute)
    killer.join()
    assert (summary.computed, summary.failures) == (n_jobs, [])
    alone = planned(base, tmp_path / "alone", "engine_probe.Slow", n_jobs)
    run([alone], stream=io.StringIO())
    assert values(plan).equals(values(alone))


def test_limits_hold_and_failures_are_told(base, cluster, tmp_path):
    endless = planned(base, tmp_path, "engine_probe.Endless", 1, seconds=0.5)
    failing = planned(base, tmp_path, "engine_probe.Failing", 1)
    with on_cluster(cluster.scheduler_address) as compute:
        summary = run([endless, failing], stream=io.StringIO(), compute=compute)
    assert sorted(failure.status for failure in summary.failures) == ["failed", "timeout"]
    assert any("this method always fails" in failure.error for failure in summary.failures)


def job_processes():
    """The processes that run jobs beside the workers of the cluster."""
    own = {worker.process.pid for worker in pool._idle}
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.pid not in own and any("worker.py" in word for word in process.cmdline()):
                found.append(process)
    return found


def test_an_interrupt_cancels_what_is_running(base, cluster, tmp_path):
    plan = planned(base, tmp_path, "engine_probe.Endless", 3)
    seen = []

    def interrupt():
        deadline = time.monotonic() + 120
        while len(seen) < 2 and time.monotonic() < deadline:
            time.sleep(0.5)
            seen[:] = job_processes()
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # processes of xdist ignore it
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt), on_cluster(cluster.scheduler_address) as compute:
            run([plan], stream=io.StringIO(), compute=compute)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(seen) == 2
    assert not psutil.wait_procs(seen, timeout=30)[1]
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        assert not any(client.processing().values())


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr("kpca_lab.suite.engine.cluster.PATIENCE", 0.5)
    told = pytest.raises(ConnectionError, match=r"no Dask scheduler answers at tcp:")
    with told, on_cluster("tcp://127.0.0.1:1"):
        pass


def test_the_launcher_sends_a_sweep_to_the_cluster(cluster, tmp_path, monkeypatch, capsys):
    GlobalHydra.instance().clear()
    words = ["-m", "hydra/launcher=dask", f"hydra.launcher.scheduler={cluster.scheduler_address}"]
    words += ["n_train=30", "n_components=2", "n_basis=5", "seed=0,1", f"results_dir={tmp_path}"]
    monkeypatch.setattr(sys, "argv", ["run", *words])
    command.main()
    assert "2 jobs computed" in capsys.readouterr().err
    GlobalHydra.instance().clear()
    monkeypatch.setattr(sys, "argv", ["run", "-m", "hydra/launcher=dask", "seed=0,1"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "hydra.launcher.scheduler=tcp" in capsys.readouterr().err
