"""What is told while a run goes on, and at its end."""

import io
import json
from types import SimpleNamespace

import pytest

from kpca_lab.suite.engine.progress import Progress, job_weights
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.engine.summary import Failure, Summary
from kpca_lab.suite.jobs import Job


def test_a_failed_job_is_not_called_computed():
    failure = Failure("x", "failed", "why")
    text = Summary(computed=1, failed=1, failures=[failure]).text()
    assert (
        text.startswith("0 jobs computed, 1 failed, 0 done before") and "1 failure:\n  failed: x: why" in text
    )
    assert Summary(computed=1).text().startswith("1 job computed, 0 done before")


def test_what_is_skipped_is_told_in_a_line_for_each_source():
    tables = [f"zhang2010/table{number}" for number in range(1, 12)]
    skipped = {f"ida/{name}": (tables, f"fetch ida/{name}") for name in ("banana", "image", "splice")}
    skipped["mnist"] = (["washizawa2012/figure7"], "fetch mnist")
    skipped["bm3d"] = (["washizawa2012/table7"], "pip install bm3d")
    lines = Summary(skipped=skipped).text().splitlines()[1:]
    assert lines == [
        "skipped, without bm3d: washizawa2012/table7; to get it: pip install bm3d",
        "skipped, without ida (3 data sets): 11 of zhang2010; to get it: fetch ida/banana",
        "skipped, without mnist: washizawa2012/figure7; to get it: fetch mnist",
    ]


def test_a_job_is_called_by_its_seed():
    assert Job("x/y", {"name": "concrete"}, split=4, seed=3).label.endswith("seed 3")


@pytest.fixture
def plans(tmp_path):
    return [
        SimpleNamespace(name=f"paper/{name}", store=Store(tmp_path, "smoke"))
        for name in ("fast", "slow", "new")
    ]


def test_the_time_left_is_estimated_from_what_jobs_took_before(plans, tmp_path, monkeypatch):
    monkeypatch.setattr("kpca_lab.suite.engine.progress.experiments_folder", lambda: None)
    assert set(job_weights(plans).values()) == {1.0}
    entries = {"paper/fast": {"seconds": 1.0, "jobs": 10}, "paper/slow": {"seconds": 90.0, "jobs": 3}}
    (tmp_path / "smoke").mkdir()
    content = {"seconds": 91.0, "experiments": entries, "skipped": {}}
    (tmp_path / "smoke" / "summary.json").write_text(json.dumps(content))
    weights = job_weights(plans)
    assert weights == {"paper/fast": 0.1, "paper/slow": 30.0, "paper/new": pytest.approx(15.05)}

    lines = io.StringIO()
    progress = Progress(2, lines, weight=0.1 + 30.0)
    progress.start -= 6.0  # the fast one took six seconds
    progress.end("fast", "done", 6.0, 0.1)
    assert "30:0" in lines.getvalue() and "min left" in lines.getvalue()


def test_what_comes_before_the_first_job_is_not_counted_as_time_of_jobs():
    lines = io.StringIO()
    progress = Progress(100, lines)
    progress.start -= 600.0  # data, and processes that start
    progress.begin("first")
    progress.began -= 6.0
    progress.end("first", "done", 6.0)
    assert "10:00 min elapsed, 9:54 min left" in lines.getvalue()


def test_the_time_left_is_not_told_from_a_first_job_that_has_just_begun():
    lines = io.StringIO()
    progress = Progress(3, lines, every=0.0)
    progress.begin("first")
    for name in ("first", "second", "third"):
        progress.end(name, "done", 0.1)
    first, second, third = lines.getvalue().splitlines()
    assert "elapsed" in first and "left" not in first + second and "0.0 s left" in third


def test_the_committed_run_tells_the_weights_of_the_papers_experiments(tmp_path):
    names = ("washizawa2012/table1", "washizawa2012/table3")
    weights = job_weights([SimpleNamespace(name=name, store=Store(tmp_path, "quick")) for name in names])
    assert len(set(weights.values())) == 2
