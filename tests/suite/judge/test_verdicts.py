import math

import pytest

from kpca_lab.suite.judge.verdicts import verdict


@pytest.mark.parametrize(
    ("ours", "expected"),
    [(4.78, "exact"), (4.7849, "exact"), (4.785, "exact"), (4.775, "exact"), (4.786, "close"), (4.88, "off")],
)
def test_exact_means_the_printed_digits(ours, expected):
    assert verdict(4.78, 2, ours) == expected


def test_whole_numbers_are_exact_or_off_and_tiny_numbers_have_digits():
    assert verdict(4.57e-5, 7, 4.5749e-5) == "exact"
    assert verdict(4.57e-5, 7, 4.576e-5) == "close"
    assert verdict(190, 0, 190) == "exact"
    assert verdict(6335, 0, 6336) == "off"
    assert verdict(2001, 0, 2007) == "off"


def test_consistent_is_two_standard_errors_of_the_difference_of_means():
    known = {"published_sd": 0.3, "published_trials": 9, "ours_sd": 0.4, "trials": 16}
    bound = 2 * math.sqrt(0.01 + 0.01)
    assert verdict(1.0, 2, 1 + 0.999 * bound, **known) == "consistent"
    assert verdict(1.0, 2, 1 - 0.999 * bound, **known) == "consistent"
    assert verdict(1.0, 2, 1 + 1.001 * bound, **known) == "off"


def test_a_wide_deviation_over_many_images_excuses_nothing():
    known = {"published_sd": 4.72, "published_trials": 10000, "ours_sd": 2.55, "trials": 10000}
    assert verdict(13.58, 2, 16.24, **known) == "off"
    assert verdict(13.58, 2, 13.68, **known) == "consistent"
    assert verdict(13.58, 2, 13.80, **known) == "close"


def test_consistent_needs_deviations_and_trials_on_both_sides():
    known = {"published_sd": 1.0, "published_trials": 10, "ours_sd": 1.0, "trials": 10}
    assert verdict(5.0, 2, 5.5, **known) == "consistent"
    for missing in (
        {"trials": 1},
        {"published_trials": 0},
        {"ours_sd": math.nan},
        {"published_sd": math.nan},
    ):
        assert verdict(5.0, 2, 5.5, **(known | missing)) == "off"
        assert verdict(5.0, 2, 5.1, **(known | missing)) == "close"


def test_a_single_printed_draw_is_judged_by_the_scatter_of_ours():
    known = {"published_trials": 1, "ours_sd": 10.0, "trials": 25}
    bound = 2 * 10 * math.sqrt(1 + 1 / 25)
    assert verdict(7966, 0, 7966 + 0.99 * bound, **known) == "consistent"
    assert verdict(796, 0, 796 + 1.01 * bound, **known) == "off"


def test_the_choice_of_parameters_scatters_on_both_sides():
    known = {"published_sd": 0.0, "published_trials": 100, "ours_sd": 0.0, "trials": 100}
    assert verdict(4.83, 2, 4.73, **known) == "off"
    assert verdict(4.83, 2, 4.73, selection_sd=0.04, **known) == "consistent"
    assert verdict(4.83, 2, 4.73, selection_sd=0.03, **known) == "off"


def test_two_per_cent_of_zero_is_zero():
    assert verdict(0.0, 2, 0.004) == "exact"
    assert verdict(0.0, 2, 0.006) == "off"
    assert verdict(-2.0, 1, -2.04) == "exact"
    assert verdict(-5.0, 1, -5.09) == "close"
