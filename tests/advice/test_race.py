"""The race, with a clock that only measurements move."""

import threading
import time

import numpy as np
import pytest

from kpca_lab.advice.budget import Budget, TimeUp, time_limit
from kpca_lab.advice.candidates import Candidate, CostModel, Task, candidates_for
from kpca_lab.advice.race import Measured, Race, race_sizes

TASK = Task(100_000, 10, 5, 5, 0.1, "rbf", 0)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def raced(
    candidates, error_of, *, seconds=60.0, speed=1e9, wrong=1.0, memory=1e12, tol=0.01, task=TASK, final=None
):
    """Race candidates of a made-up error, whose fits take as long as their operations, or ``wrong`` times."""
    clock, calls = Clock(), []
    budget = Budget(seconds, clock)

    def measure(candidate, n_rows):
        calls.append((candidate, n_rows))
        took = candidate.operations(n_rows, task) / speed * (1.0 if len(calls) < 5 else wrong)
        limit = max(budget.left(0.9), 0.0)
        clock.now += min(took, limit)
        if took > limit:
            raise TimeUp
        return Measured(n_rows, took, error_of(candidate))

    race = Race(
        candidates,
        task,
        measure,
        budget=budget,
        final_seconds=0.3 * seconds if final is None else final,
        memory=memory,
        tol=tol,
        tell=lambda text: None,
    )
    race.run(race_sizes(task.n_rows))
    return race, budget, calls


def error_by_size(candidate):
    return 1.0 + 10.0 / (candidate.size or 1e4)


@pytest.mark.parametrize("n_rows", [100, 5000, 10**5, 10**7])
@pytest.mark.parametrize("seconds", [0.5, 5.0, 60.0])
@pytest.mark.parametrize("speed", [1e7, 1e9, 1e11])
def test_the_race_and_the_last_fit_end_within_the_budget(n_rows, seconds, speed):
    task = Task(n_rows, 10, 5, 5, 0.1, "rbf", 0)
    candidates = candidates_for(n_rows, 5, "rbf", in_memory=True)
    race, budget, calls = raced(candidates, error_by_size, seconds=seconds, speed=speed, task=task)
    assert calls and budget.spent <= 0.95 * seconds
    best = race.winner(0.9 * budget.left())
    if any(race.seconds(entry) <= 0.9 * budget.left() for entry in race.entries if entry.measured):
        assert race.seconds(best) <= budget.left()


def test_fits_that_take_longer_than_predicted_do_not_break_the_budget():
    race, budget, _ = raced(candidates_for(10**5, 5, "rbf", in_memory=True), error_by_size, wrong=10.0)
    assert budget.spent <= 60.0
    assert race.winner(budget.left()) is not None


def test_where_no_fit_to_all_rows_can_be_had_in_time_candidates_are_compared_all_the_same():
    task = Task(10**9, 10, 5, 5, 0.1, "rbf", 0)
    for final in (1e-3, 1e6):  # a table of no time, and one whose reading takes far longer than the budget
        race, _, _ = raced(candidates_for(10**9, 5, "rbf", False), error_by_size, task=task, final=final)
        assert sum(bool(entry.measured) for entry in race.entries) > 5


def test_of_equal_errors_the_cheapest_wins_and_of_others_the_least():
    sizes = [
        Candidate("SubsetKPCA", selector, m) for selector in ("random", "kmeans") for m in (50, 200, 400)
    ]
    race, budget, _ = raced(sizes, lambda candidate: 1.0)
    assert race.winner(budget.left()).candidate == Candidate("SubsetKPCA", "random", 50)
    race, budget, _ = raced(sizes, error_by_size, tol=1e-3, seconds=1e3)
    assert race.winner(budget.left()).candidate == Candidate("SubsetKPCA", "random", 400)
    assert all(entry.lost for entry in race.entries if entry.candidate != race.winner(1e3).candidate)


def test_half_goes_on_each_time_on_three_times_as_many_rows():
    sizes = [Candidate("SubsetKPCA", "random", m) for m in range(50, 130, 10)]
    race, _, calls = raced(sizes, error_by_size, tol=1e-6, seconds=1e4)
    rows, counts = np.unique([n_rows for _, n_rows in calls], return_counts=True)
    assert rows.tolist() == [1000, 3000, 9000] and counts.tolist() == [8, 4, 2]
    assert race.ranked[0].candidate.size == 120


def test_a_candidate_that_is_clearly_worse_at_the_task_loses_in_spite_of_its_error():
    race, _, _ = raced([Candidate("SubsetKPCA", "random", 50)], error_by_size)
    good, bad = (
        type(race.entries[0])(Candidate("SubsetKPCA", name, 50), [Measured(1000, 1.0, error, score)])
        for name, error, score in (("kmeans", 1.0, 0.9), ("random", 0.5, 0.8))
    )
    assert race._ranked([bad, good])[0] is good


def test_what_does_not_fit_into_memory_is_never_measured():
    wanted = [Candidate("SubsetKPCA", "random", 50), Candidate("SubsetKPCA", "random", 6400)]
    race, _, calls = raced(wanted, error_by_size, memory=5e8, seconds=1e9)
    assert {candidate.size for candidate, _ in calls} == {50}
    assert "GiB" in race.entries[1].lost


def test_costs_are_learned_per_candidate_and_grow_with_the_rows():
    costs = CostModel(TASK)
    quick, slow = Candidate("SubsetKPCA", "random", 50), Candidate("SubsetKPCA", "random", 400)
    costs.learn(quick, 1000, 0.01)
    costs.learn(slow, 1000, 1.0)
    assert costs.seconds(slow, 1000) == pytest.approx(1.0, rel=0.02)
    assert costs.seconds(slow, 90_000) > 9 * costs.seconds(slow, 1000)
    assert costs.seconds(quick, 9000) < costs.seconds(slow, 9000)


@pytest.mark.parametrize("n_rows", [10, 1000, 4000, 10**6])
def test_sizes_of_the_rounds_grow_to_all_of_few_rows_and_half_of_many(n_rows):
    sizes = race_sizes(n_rows)
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == n_rows if n_rows <= 5000 else sizes[-1] <= n_rows / 2


def test_a_block_is_stopped_when_its_time_is_up_and_the_signal_is_given_back():
    signal = pytest.importorskip("signal")
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timer here")
    with pytest.raises(TimeUp), time_limit(0.01):
        while True:
            pass
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_or_a_handler_of_somebody_else_is_left_alone():
    signal = pytest.importorskip("signal")
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timer here")
    signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        with time_limit(0.001):
            time.sleep(0.01)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        with time_limit(0.001):
            time.sleep(0.01)
        assert signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_in_a_thread_a_block_is_not_stopped():
    done = []

    def block():
        with time_limit(0.001):
            time.sleep(0.01)
        done.append(True)

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert done == [True]
