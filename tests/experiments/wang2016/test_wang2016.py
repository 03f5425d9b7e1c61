"""Wang & Tanaka 2016: the items at tiny sizes, and what their settings say."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import experiments.wang2016.figures as wang
from experiments.wang2016 import rho
from experiments.wang2016.claims import sparsity_depends_on_rho, subset_same_points
from kpca_lab.suite.config.composing import compose_many
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.judge.scoreboard import build_scoreboard, cells_frame

ITEMS = ("figure1", "figure2", "figure3", "figure4", "figure_tradeoff", "rho")
MADE = ("figure1", "figure2")  # their data is generated


@pytest.fixture(scope="module")
def settings():
    wanted = [(item, profile) for item in ITEMS for profile in ("smoke", "paper")]
    composed = compose_many(
        [f"+experiment=wang2016/{item}", f"profile={profile}"] for item, profile in wanted
    )
    return dict(zip(wanted, composed))


def outcome(run, job):
    """Records as the store would give them, and the arrays by job."""
    found = run(job)
    records = with_parameters(pd.DataFrame(found.rows).assign(job="job"))
    return records, {"job": found.arrays}


@pytest.fixture(scope="module")
def smoke(settings):
    plans = {item: make_plan(settings[item, "smoke"]) for item in MADE}
    return {item: outcome(wang.run, next(iter(plan.jobs.values()))) for item, plan in plans.items()}


def judged(records, settings, **how):
    """The part of the scoreboard that an item fills."""
    cells = cells_frame("wang2016", wang.cells(records, asdict(settings)))
    board = build_scoreboard(load_published("wang2016"), cells, **how)
    assert board.ours.notna().sum() == len(cells), "every cell is a published one"
    return board[board.ours.notna()]


def test_settings_are_those_of_the_paper(settings):
    first, second, third = (settings[item, "paper"] for item in ("figure1", "figure2", "figure3"))
    assert first.parameters["l1"] == [[0.02, 0.02, 0.009, 0.008, 0.006, 0.007, 0.01, 0.01]]
    assert first.datasets["three_clusters"]["options"]["n_per_cluster"] == 30
    assert first.kernels["three_clusters"][0]["gamma"] == pytest.approx(1 / (2 * 0.05))
    assert second.parameters["l1"] == [[0.05] * 4, [0.05, 0.07, 0.08, 0.09]]
    assert second.datasets["parabola"]["options"]["n"] == 500
    assert second.kernels["parabola"][0]["gamma"] == pytest.approx(1 / (2 * 0.5**2))
    assert third.parameters["l1"] == [[0.002, 0.002, 0.004]]
    assert third.n_train == 500 and third.datasets["mnist"]["scaling"] is None
    assert third.kernels["mnist"][0]["gamma"] == pytest.approx(1 / (2 * 700**2))
    assert settings["figure4", "paper"].parameters["l1"][0][:3] == [0.002, 0.002, 0.004]


@pytest.mark.parametrize("item, maker", [("figure1", wang.figure1), ("figure2", wang.figure2)])
def test_figures_are_drawn(smoke, item, maker):
    drawn = maker(*smoke[item])
    assert set(drawn) == {item, f"{item}_admm"}
    assert all(isinstance(figure, Figure) for figure in drawn.values())


@pytest.mark.parametrize("item", MADE)
def test_cells_are_published_ones(smoke, settings, item):
    board = judged(smoke[item][0], settings[item, "smoke"], full_size=False)
    reduced = board[board.verdict == "not_comparable"].column
    assert reduced.str.contains("points|samples|loops").all() and len(reduced) >= 2  # the profile is smaller


def test_sparse_components_are_no_better_than_kpca(smoke):
    records = smoke["figure2"][0]
    errors = records[records.metric == "reconstruction_mse"]
    optimum = errors[errors.method == "full"].set_index("r").value
    sparse = errors[errors.method == "elastic_net"]
    assert (sparse.value >= sparse.r.map(optimum) * (1 - 1e-12)).all()


def test_three_clusters_as_in_the_paper(settings):
    """Sparse, and hardly to be told from KPCA (Section IV-A)."""
    (job,) = make_plan(settings["figure1", "paper"]).jobs.values()
    records, arrays = outcome(wang.run, job)
    correlation = records[records.metric == "component_correlation"].value
    assert len(correlation) == 8 and correlation.median() > 0.99
    assert (records[records.metric == "n_nonzero"].value < 30).all()
    counts = np.count_nonzero(arrays["job"]["coefficients_0"], axis=1)
    assert counts.tolist() == records[records.metric == "n_nonzero"].value.tolist()
    assert (judged(records, settings["figure1", "paper"]).verdict == "exact").all()
    assert sum(array.nbytes for array in arrays["job"].values()) < 200_000


def test_tradeoff(settings):
    """SubKPCA over the points of sparse KPCA has the least error that they allow."""
    jobs = make_plan(settings["figure_tradeoff", "smoke"]).jobs.values()
    (job,) = (job for job in jobs if job.dataset["name"] == "three_clusters")
    records, _ = outcome(wang.tradeoff_run, job)
    found = subset_same_points(records)
    assert found.holds
    full = records[records.method == "full"].value.item()
    assert (records.value >= full * (1 - 1e-9)).all()
    assert isinstance(wang.tradeoff_figure(records, {}), Figure)
    used = records[records.method == "elastic_net"].sort_values("lambda_1").m
    assert used.is_monotonic_decreasing


def test_sparsity_for_each_rho(settings):
    jobs = make_plan(settings["rho", "smoke"]).jobs.values()
    records = pd.concat(outcome(rho.run, job)[0] for job in jobs)
    assert records[records.metric == "sparsity"].groupby("rho").size().tolist() == [4, 4]
    found = sparsity_depends_on_rho(records)
    assert isinstance(found.holds, bool) and "0.03: " in found.numbers
