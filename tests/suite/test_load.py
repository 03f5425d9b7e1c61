"""Results as a data frame."""

import pytest

from kpca_lab.suite import load_results
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.jobs import Job, Outcome, row


@pytest.fixture
def results(tmp_path):
    """A profile with an experiment of a paper and a run of one's own, and a leaderboard."""
    for store, name, seeds in (
        (Store(tmp_path, "quick"), "someone2020/table1", (0, 1)),
        (Store(tmp_path, "quick"), "custom/iris", (0,)),
        (Store(tmp_path, "leaderboard"), "leaderboard/usps", (0, 1, 2)),
        (Store(tmp_path / "quick", "leaderboard"), "leaderboard/usps", (0,)),
    ):
        for seed in seeds:
            job = Job(name, {"name": "usps", "options": {}}, 0, seed)
            about = {
                "kernel": "rbf(gamma=0.5)",
                "parameters": {"n": 10},
                "m": 5,
                "r": 2,
                "selector": "random",
            }
            rows = [
                row(job, "empirical_error", 0.25 + seed, method="subset", **about),
                row(job, "runtime", None, method="full", status="failed", error="too large"),
            ]
            store.write(name, f"job{seed}", Outcome(rows), {})
        store.compact(name, [f"job{seed}" for seed in seeds])
    return tmp_path


def test_all_records_are_one_table_with_settings_as_columns(results):
    found = load_results(results_dir=results)
    assert found.groupby("source").size().to_dict() == {
        "leaderboard/usps": 3,
        "quick/custom/iris": 1,
        "quick/leaderboard/usps": 1,
        "quick/someone2020/table1": 2,
    }
    assert list(found.columns[:3]) == ["source", "experiment", "dataset"]
    assert found["gamma"].eq(0.5).all() and found["n"].eq(10).all() and "parameters" not in found
    assert found["value"].notna().all() and found["m"].eq(5).all()


@pytest.mark.parametrize(
    ("what", "count"),
    [
        ("leaderboard", 3),
        ("quick", 4),
        ("quick/someone2020", 2),
        ("quick/someone2020/table1", 2),
        ("quick/custom", 1),
        (["leaderboard", "quick/leaderboard/"], 4),
    ],
)
def test_parts_are_chosen_by_name(results, what, count):
    assert len(load_results(what, results_dir=results)) == count


def test_filters_keep_rows_with_one_of_the_values(results):
    assert set(load_results("leaderboard", results_dir=results, seed=[1, 2])["seed"]) == {1, 2}
    assert load_results(results_dir=results, metric="runtime").empty
    failed = load_results(results_dir=results, metric="runtime", failed=True)
    assert len(failed) == 7 and set(failed["error"]) == {"too large"}


def test_wrong_names_are_told(results, tmp_path):
    with pytest.raises(ValueError, match="unknown results 'quik'; did you mean 'quick"):
        load_results("quik", results_dir=results)
    with pytest.raises(ValueError, match="unknown filter 'metrics'; did you mean 'metric'"):
        load_results(results_dir=results, metrics="runtime")
    with pytest.raises(ValueError, match="there are no records in"):
        load_results("quick", results_dir=tmp_path / "nowhere")
    assert load_results(results_dir=tmp_path / "nowhere").empty


def test_the_committed_results_can_be_read():
    found = load_results("paper/zhang2010/table9")
    assert len(found) and found["source"].eq("paper/zhang2010/table9").all()
