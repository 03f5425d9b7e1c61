"""Statistics over data sets."""

import numpy as np
import pytest
from made_up import made_up_table
from scipy.stats import trim_mean

from kpca_lab.suite.leaderboard import aggregates
from kpca_lab.suite.leaderboard.words import sentences


@pytest.fixture(scope="module")
def table():
    return aggregates.with_excess(made_up_table())


@pytest.fixture(scope="module")
def runs(table):
    return aggregates.runs_of(table, 150)


def test_the_interquartile_mean_is_the_mean_without_a_quarter_on_each_side():
    values = np.random.default_rng(0).exponential(size=(5, 16))
    found = aggregates.interquartile_mean(values, np.full(16, 1 / 16))
    np.testing.assert_allclose(found, trim_mean(values, 0.25, axis=1))


def test_weights_of_the_interquartile_mean_are_repetitions():
    values = np.random.default_rng(1).normal(size=8)
    weights = np.array([1, 2, 3, 1, 1, 4, 2, 2])
    repeated = np.repeat(values, weights)
    found = aggregates.interquartile_mean(values, weights / weights.sum())
    assert found == pytest.approx(aggregates.interquartile_mean(repeated, np.full(16, 1 / 16)))


def test_infinite_values_count_only_when_they_are_more_than_a_quarter():
    weights = np.full(8, 1 / 8)
    few, many = (np.array([*range(8 - count), *[np.inf] * count], float) for count in (2, 3))
    assert aggregates.interquartile_mean(few, weights) == pytest.approx(np.mean([2, 3, 4, 5]))
    assert aggregates.interquartile_mean(many, weights) == np.inf


def test_excess_is_zero_for_the_best_of_each_run_and_infinite_for_who_did_not_finish(table):
    least = table.groupby(["dataset", "trial"])["excess"].min()
    assert (least == 0).all()
    assert np.isinf(table.loc[table["status"] == "not tried", "excess"]).all()


def test_the_summary_has_each_mean_within_its_interval_and_the_reference_at_one(runs):
    found = aggregates.summary(runs, "subset/random")
    assert (found["excess_low"] <= found["excess"]).all() and (found["excess"] <= found["excess_high"]).all()
    reference = found.loc["subset/random"]
    assert reference["time"] == reference["time_low"] == reference["time_high"] == 1
    assert found.loc["reduced/random", "time"] == pytest.approx(0.3)
    assert found.loc["full", "finished"] == pytest.approx(3 / 4)
    assert found.index[0] == "full" and found.index[-1] == "reduced/random"
    again = aggregates.summary(runs, "subset/random")
    assert again.equals(found)


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    covered = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        excess = [rng.normal(size=(1, 3)) + place / 10 for place in range(11)]
        runs = aggregates.Runs(["a"], list("abcdefghijk"), excess, [np.ones((1, 3))] * 11)
        row = aggregates.summary(runs, "a", seed).iloc[0]
        covered.append(row.excess_low <= 0.5 <= row.excess_high)
    assert 0.88 < np.mean(covered) < 1


def test_one_beats_another_only_if_the_whole_interval_says_so(runs):
    found = aggregates.pairs(runs).set_index(["entrant", "other"])
    assert found.loc[("subset/kmeans", "reduced/random"), "beats"]
    assert not found.loc[("reduced/random", "subset/kmeans"), "beats"]
    both = [
        found.loc[pair, "beats"]
        for pair in (("subset/random", "sklearn_nystroem"), ("sklearn_nystroem", "subset/random"))
    ]
    assert both == [False, False]  # the same law
    turned = found["probability"].swaplevel()
    np.testing.assert_allclose(found["probability"] + turned.reindex(found.index), 1)


def test_two_that_are_equal_or_did_not_finish_share_a_comparison():
    runs = aggregates.Runs(["a", "b"], ["x", "y"], [np.ones((2, 3)), np.full((2, 3), np.inf)], [])
    found = aggregates.pairs(runs)
    np.testing.assert_allclose(found[["probability", "low", "high"]], 0.5)
    assert not found["beats"].any()


def test_profiles_rise_to_the_share_that_finished(runs):
    found = aggregates.profiles(runs)
    for entrant, own in found.groupby("entrant"):
        assert own["share"].is_monotonic_increasing
        assert own["share"].iloc[-1] == pytest.approx(0.75 if entrant == "full" else 1)
        assert (own["low"] <= own["share"] + 1e-12).all() and (own["share"] <= own["high"] + 1e-12).all()


def test_fronts_hold_what_nobody_is_better_than_in_both_ways(table):
    points = aggregates.fronts(table)
    for _, own in points.groupby("dataset"):
        front = own[own["front_time"]].sort_values("runtime")
        assert front["residual_outside_scores"].is_monotonic_decreasing
        for row in own[~own["front_time"]].itertuples():
            faster = front[front["runtime"] <= row.runtime]
            assert faster["residual_outside_scores"].min() <= row.residual_outside_scores


def test_sentences_claim_no_more_than_the_intervals(runs):
    summary, pairs = aggregates.summary(runs, "subset/random"), aggregates.pairs(runs)
    first, second, third = sentences(150, summary, pairs, 4, set(summary.index) - {"full"})
    assert "subset / kmeans has the least error" in first and "is beaten by 0" in first
    assert "reduced / random (0.3; " in second
    assert "neither less nor more error" in third and "2 times as long" in third
    sure = pairs.assign(low=0.6, high=0.9)
    assert "has less error than" in sentences(150, summary, sure, 4, set())[-1]
