"""Derived seeds, and splits that depend on nothing but name, number and purpose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kpca_lab.datasets import derive_rng, derive_seed, iter_splits, protocol_of, split

PARTS = st.lists(st.one_of(st.text(), st.integers(), st.booleans(), st.none()), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(PARTS, PARTS)
def test_seeds_repeat_for_the_same_parts_and_differ_for_others(first, second):
    same = [(type(part), part) for part in first] == [(type(part), part) for part in second]
    assert 0 <= derive_seed(*first) < 2**32
    assert derive_seed(*first) == derive_seed(*first)
    if not same:
        assert derive_rng(*first).integers(2**62) != derive_rng(*second).integers(2**62)


def test_seeds_are_the_same_on_every_machine():
    """Results are compared across machines: these numbers must never change."""
    assert derive_seed("concrete", 1, "split") == 859821622
    assert derive_seed("usps", 100, "validation", 0.5, None) == 3229463481


def test_numpy_numbers_count_as_numbers():
    assert derive_seed("a", np.int64(3)) == derive_seed("a", 3)
    with pytest.raises(TypeError, match="not list"):
        derive_seed("a", [1])
    with pytest.raises(ValueError, match="at least one part"):
        derive_seed()


SIZES = {
    "concrete": (927, 103, 50),
    "housing": (455, 51, 50),
    "tic": (8840, 982, 50),
    "usps": (6562, 729, 100),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_counts_are_those_of_the_paper(name):
    n_train, n_held_out, n_splits = SIZES[name]
    assert protocol_of(name).n_splits == n_splits
    for found in iter_splits(name, 3):
        assert (len(found.train), len(found.held_out)) == (n_train, n_held_out)
        together = np.concatenate([found.train, found.held_out])
        np.testing.assert_array_equal(np.sort(together), np.arange(n_train + n_held_out))
    assert len(list(iter_splits(name))) == n_splits


def test_a_split_depends_on_name_number_and_purpose_only():
    np.random.seed(0)  # noqa: NPY002 - the global state must not matter
    first = split("concrete", 7)
    derive_rng("something", "else").random(100)
    again = split("concrete", 7)
    np.testing.assert_array_equal(first.held_out, again.held_out)
    others = [
        split("concrete", 8),
        split("concrete", 7, purpose="test"),
        split("housing", 7, n_samples=1030),
    ]
    for other in others:
        assert not np.array_equal(first.held_out, other.held_out)
    assert list(iter_splits("concrete", 7))[-1].held_out.tolist() == first.held_out.tolist()


def test_chins_partition_keeps_the_share_of_test_images():
    whole = split("yaleb", 1, n_samples=5760)
    assert (len(whole.train), len(whole.held_out)) == (5000, 760)
    part = split("yaleb", 1, n_samples=1960)
    assert (len(part.train), len(part.held_out)) == (1701, 259)
    subset = split("yaleb", 1, n_samples=5000, n_held_out=1000, purpose="subset of set 1")
    assert len(subset.held_out) == 1000


def test_any_other_data_can_be_split_90_to_10():
    found = split("csv", 1, n_samples=57)
    assert (len(found.train), len(found.held_out)) == (51, 6)
    assert len(split("usps", 1, n_samples=2007).held_out) == 201


def test_senseless_splits_are_refused():
    for number in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="whole number from 1"):
            split("concrete", number)
    with pytest.raises(ValueError, match="n_samples="):
        split("yaleb", 1)
    with pytest.raises(ValueError, match="cannot hold out 5 of 5 rows"):
        split("csv", 1, n_samples=5, n_held_out=5)
    with pytest.raises(ValueError, match="unknown data set"):
        split("concret", 1)
    with pytest.raises(ValueError, match="splits of its own"):
        split("ida/banana", 1, n_samples=10)
    with pytest.raises(ValueError, match="20 realisations"):
        split("ida/image", 21)


def test_ida_splits_are_the_published_ones(real):
    from kpca_lab.datasets.real import read_ida

    for name, realisation in (("ida/banana", 3), ("ida/titanic", 100)):
        loaded = real(name, realisation=realisation)
        found = split(name, realisation)
        arrays, _ = read_ida(name.removeprefix("ida/"))
        np.testing.assert_array_equal(arrays["x"][found.train], loaded.X)
        np.testing.assert_array_equal(arrays["t"][found.held_out], loaded.y_test)
    assert protocol_of("ida/image").n_splits == 20
