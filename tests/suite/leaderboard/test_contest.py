"""Who takes part, and how the leaderboard is run."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import yaml

from kpca_lab.cli import leaderboard as cli
from kpca_lab.suite.engine.summary import Summary
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.jobs import Outcome, row
from kpca_lab.suite.leaderboard import contest
from kpca_lab.suite.leaderboard.field import Entrant, events, read_rules
from kpca_lab.suite.leaderboard.results import read_table, results_table, write_table
from kpca_lab.suite.places import conf_folder


@pytest.fixture
def conf(tmp_path):
    """A configuration of three methods, two selectors and one data set, and a user's own of each."""
    folder = tmp_path / "conf"
    shutil.copytree(conf_folder(), folder)
    rules = yaml.safe_load((folder / "leaderboard.yaml").read_text())
    methods = {path.stem for path in (folder / "method").glob("*.yaml")} - {"subset", "reduced", "full"}
    selectors = {path.stem for path in (folder / "selector").glob("*.yaml")} - {"random", "kmeans"}
    files = (path.relative_to(folder / "dataset") for path in (folder / "dataset").rglob("*.yaml"))
    datasets = {path.with_suffix("").as_posix() for path in files} - {"artificial2d"}
    rules["without"] = {"methods": [*methods], "selectors": [*selectors], "datasets": [*datasets]}
    rules["datasets"] = {"twin": {"like": "artificial2d", "options": {"shape": "ring"}, "n_trials": 1}}
    rules["profiles"] = {"tiny": {"n_basis": [10, 20], "n_trials": 2, "most_rows": 60}}
    rules["profiles"]["tiny"] |= {"seconds": 60, "memory_mb": 4000}
    (folder / "leaderboard.yaml").write_text(yaml.safe_dump(rules))
    np.savetxt(tmp_path / "mine.csv", np.random.default_rng(0).normal(size=(50, 3)), delimiter=",")
    own = {"name": "csv", "options": {"path": str(tmp_path / "mine.csv"), "header": False}}
    own |= {"kernel": {"kernel": "rbf", "gamma": 1.0}, "n_components": 2}
    (folder / "dataset" / "mine.yaml").write_text(yaml.safe_dump(own))
    (folder / "method" / "my_method.yaml").write_text(
        "# @package methods.my_method\ntarget: kpca_lab.ImprovedKPCA\nparams: {}\n"
    )
    (folder / "selector" / "my_selector.yaml").write_text(
        "# @package selectors.my_selector\ntarget: kpca_lab.selectors.FarthestSelector\nparams: {}\n"
    )
    return folder


def test_a_method_selector_and_data_set_that_are_added_take_part(conf, tmp_path):
    found = events("tiny", str(tmp_path), conf=conf)
    assert [event.name for event in found] == ["artificial2d", "mine", "twin"]
    assert set(found[1].entrants) == {
        Entrant("full"),
        Entrant("subset", "random"),
        Entrant("subset", "kmeans"),
        Entrant("subset", "my_selector"),
        Entrant("reduced", "random"),
        Entrant("reduced", "kmeans"),
        Entrant("my_method", "random"),
        Entrant("my_method", "kmeans"),
    }
    assert [event.trials for event in found] == [2, 2, 1]
    assert found[0].capped().settings.n_train == 60 and found[1].capped().settings.n_train is None


def test_every_job_has_one_entrant_and_the_measures_of_the_first_trial_come_once(conf, tmp_path):
    event = events("tiny", str(tmp_path), only=["mine"], conf=conf)[0]
    first, second = ([job for _, _, job in event.jobs(trial)] for trial in (0, 1))
    assert len(first) == len(second) == 7 * 2 + 1
    assert all("fit_memory" in job.settings["metrics"] for job in first)
    assert not any("fit_memory" in job.settings["metrics"] for job in second)
    assert all(len(job.settings["methods"]) == 1 and job.settings["timing"] for job in first)


def test_it_is_run_and_written_and_goes_on_where_it_was(conf, tmp_path):
    field = [replace(event, trials=1) for event in events("tiny", str(tmp_path), only=["mine"], conf=conf)]
    held = contest.hold(field)
    assert held.computed == 15 and not held.failures and not held.missing
    again = contest.hold(field)
    assert again.computed == 0
    table = results_table(again.attempts)
    write_table(tmp_path / "leaderboard.csv", table)
    assert (table["status"] == "done").all() and set(table["n"]) == {40}
    assert (table["residual_outside_scores"] > 0).all() and (table["runtime"] > 0).all()
    read = read_table(tmp_path / "leaderboard.csv")
    assert read["m"].equals(table["m"]) and (read["selector"] == table["selector"]).all()
    np.testing.assert_allclose(read["runtime"], table["runtime"], rtol=1e-5)


def test_who_is_over_the_limit_is_not_tried_where_it_is_no_easier(conf, tmp_path, monkeypatch):
    tried = []

    def pretend(plans, **options):
        (plan,) = plans
        for id, job in plan.jobs.items():
            (method,), (size,) = job.settings["methods"], job.settings["n_basis"]
            slow = method == "reduced" and size == 20
            status = {"status": "timeout", "error": "over"} if slow else {}
            rows = [row(job, "runtime", None if slow else 1.0, method=method, **status)]
            plan.store.write(plan.name, id, Outcome(rows), {"seconds": 1.0})
            tried.append((plan.name, method, size, job.seed))
        return Summary()

    monkeypatch.setattr(contest, "run", pretend)
    held = contest.hold(events("tiny", str(tmp_path), conf=conf))
    # The smallest data set comes first: two columns of 48 rows, then as many of the twin, then three of 40.
    slow = {entry for entry in tried if entry[1:3] == ("reduced", 20)}
    assert slow == {("leaderboard/artificial2d", "reduced", 20, 0), ("leaderboard/mine", "reduced", 20, 0)}
    assert ("leaderboard/twin", "reduced", 10, 0) in tried
    left_out = [attempt for attempt in held.attempts if not attempt.rows]
    assert {attempt.reason for attempt in left_out} == {
        "over the limit with 20 on artificial2d",
        "over the limit with 20 on mine",
    }
    assert (results_table(left_out)["status"] == "not tried").all()


def test_data_that_an_entrant_refuses_are_no_failure(conf, tmp_path, monkeypatch):
    errors = {"full": "ValueError: too many rows", "reduced": "ZeroDivisionError: division by zero"}

    def pretend(plans, **options):
        (plan,) = plans
        for id, job in plan.jobs.items():
            (method,) = job.settings["methods"]
            status = {"status": "failed", "error": errors[method]} if method in errors else {}
            rows = [row(job, "runtime", None if status else 1.0, method=method, **status)]
            plan.store.write(plan.name, id, Outcome(rows), {"seconds": 1.0})
        return Summary()

    monkeypatch.setattr(contest, "run", pretend)
    held = contest.hold(events("tiny", str(tmp_path), only=["twin"], conf=conf))
    assert held.refused == ["twin full: ValueError: too many rows"]
    assert len(held.failures) == 4 and all("ZeroDivisionError" in failure for failure in held.failures)


def test_wrong_names_are_told(conf, tmp_path, capsys):
    with pytest.raises(ConfigError, match="unknown profile of the leaderboard 'fast'"):
        read_rules("fast")
    with pytest.raises(ConfigError, match="unknown data set of the leaderboard 'usp'"):
        events("quick", str(tmp_path), only=["usp"])
    with pytest.raises(SystemExit, match="2"):
        cli.main(["--profile", "fast"])
    assert "unknown profile of the leaderboard 'fast'" in capsys.readouterr().err
