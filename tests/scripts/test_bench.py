"""The parts of ``make bench`` that measure nothing: rows, texts, and what becomes of a peer that fails."""

import math

import pandas as pd
import pytest

from scripts.bench import frontier, growth, pictures
from scripts.bench.__main__ import GROUPS, TITLES, measured
from scripts.bench.clock import in_child, side_by_side
from scripts.bench.peers import WAYS
from scripts.bench.rows import (
    MARKERS,
    Row,
    between_markers,
    error_at_seconds,
    exponent,
    failed,
    merged,
    number,
    page,
    read_rows,
    seconds_at_error,
    short_table,
    table,
)


def rows():
    return table(
        [
            Row(
                "full", "fit, n = 10", "FullKPCA", "arpack", 1.0, 4.0, "s", 0.0, 2e-3, "share", headline=True
            ),
            Row("full", "fit, n = 20", "FullKPCA", "dense", 1.0, 2.0),
            failed("full", "fit, n = 30", "lobpcg", "not measured: no memory", "FullKPCA"),
        ]
    )


def test_a_ratio_is_ours_over_the_peers():
    ratios = rows()["ratio"].tolist()
    assert ratios[:2] == [0.25, 0.5] and math.isnan(ratios[2])


def test_the_page_has_every_row_and_says_why_one_is_empty():
    text = page(rows(), TITLES, "Preface.\n")
    assert text.startswith("Preface.\n\n### Full kernel PCA\n\n| case |")
    lines = [line for line in text.splitlines() if line.startswith("| fit")]
    assert len(lines) == 3
    assert {line.count("|") for line in lines} == {lines[0].count("|")}
    assert "nan" not in text and "not measured: no memory" in lines[2]


def test_the_short_table_has_the_headlines_only():
    text = short_table(rows())
    assert text.count("FullKPCA") == 1 and "| 0.25 |" in text and "0 / 0.002 (share)" in text


def test_rows_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "bench.csv"
    written = rows()
    written.to_csv(path, index=False)
    read = read_rows(path)
    assert short_table(read) == short_table(written)
    assert read["peer_value"].equals(written["peer_value"]) and read["note"].equals(written["note"])


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(1042.0, 2, "1000"), (98765.0, 3, "98800"), (2.5e7, 2, "2.5e+07"), (0.5, 2, "0.5")],
)
def test_figures_below_a_million_have_no_power_of_ten(value, digits, shown):
    assert number(value, digits) == shown


def test_many_cases_of_one_kind_are_one_line_that_tells_best_and_worst():
    kinds = [
        Row(
            "full",
            f"n = {n}",
            "FullKPCA",
            f"KernelPCA, {way}",
            n,
            4.0,
            "s",
            1e-9 * n,
            0.0,
            "share",
            headline=True,
        )
        for n, way in ((1, "arpack"), (2, "dense"), (6, "arpack"), (3, "arpack"), (2, "arpack"))
    ]
    text = short_table(table(kinds))
    assert text.count("FullKPCA") == 1 and "5 cases: n = 1 to n = 2" in text
    assert "0.25 to 1.5, median 0.5" in text and "at most 6e-09 / 0 (share)" in text
    assert "KernelPCA, its fastest accurate solver" in text


def test_text_between_markers_is_replaced_and_the_rest_kept():
    begin, end = MARKERS
    text = f"before\n{begin}\nold\n{end}\nafter\n"
    new = between_markers(text, "new\n")
    assert new == f"before\n{begin}\nnew\n{end}\nafter\n"
    assert between_markers(new, "new") == new


@pytest.mark.parametrize("text", ["", MARKERS[0], MARKERS[1] + MARKERS[0], "".join(MARKERS) * 2])
def test_missing_markers_are_an_error(text):
    with pytest.raises(ValueError, match="must have"):
        between_markers(text, "new")


def test_groups_that_are_measured_again_replace_their_rows():
    old = pd.concat([rows(), rows().assign(group="suite")], ignore_index=True)
    new = rows().head(1).assign(what="anew")
    both = merged(old, new)
    assert both["group"].value_counts().to_dict() == {"suite": 3, "full": 1}
    assert both[both["group"] == "full"]["what"].tolist() == ["anew"]
    assert merged(None, new) is new


def test_comparisons_at_equal_error_and_equal_time():
    points = [(1.0, 0.4), (2.0, 0.2), (4.0, 0.1)]
    assert seconds_at_error(points, 0.25) == 2.0
    assert seconds_at_error(points, 0.2) == 2.0
    assert math.isnan(seconds_at_error(points, 0.05))
    assert error_at_seconds(points, 3.0) == 0.2
    assert math.isnan(error_at_seconds(points, 0.5))


def test_the_exponent_is_the_slope_on_logarithmic_axes():
    sizes = [10.0, 100.0, 1000.0]
    assert exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)


def test_a_function_that_fails_is_told_and_stops_no_other():
    calls = []

    def breaks():
        calls.append("broken")
        raise MemoryError("a | b\nc")

    found = side_by_side({"broken": breaks, "fine": lambda: 3}, repeats=2)
    assert calls == ["broken"] and math.isnan(found["broken"].median)
    assert found["broken"].problem == "not measured: MemoryError: a / b c"
    assert found["fine"].result == 3 and len(found["fine"].seconds) == 2


def test_a_group_that_fails_gives_a_row_that_says_so(monkeypatch):
    def breaks(quick):
        raise OSError("no disk")

    monkeypatch.setitem(GROUPS, "full", breaks)
    found, record = measured("full", quick=True)
    assert record is None and found[0].note == "not measured: OSError: no disk"


def test_a_child_measures_a_fit_or_says_what_went_wrong():
    size = {"n": 600, "d": 3, "gamma": 0.5, "r": 2, "m": 20}
    found = in_child(60, way="SubsetKPCA", **size)
    assert found["seconds"] > 0
    assert "KeyError" in in_child(60, way="no such way", **size)["problem"]


def test_every_way_has_a_name_in_the_figures():
    assert set(WAYS) - set(pictures.SHORT) == {"R kernlab"}


def test_a_peer_is_compared_at_its_smallest_error():
    peer = "scikit-learn Nystroem + PCA"
    found = [
        {"method": "SubsetKPCA", "m": 50, "seconds": 1.0, "error": 1.2, "note": ""},
        {"method": "SubsetKPCA", "m": 100, "seconds": 2.0, "error": 1.1, "note": ""},
        {"method": peer, "m": 50, "seconds": 3.0, "error": 1.3, "note": ""},
        {"method": peer, "m": 100, "seconds": 6.0, "error": 1.15, "note": ""},
        {"method": "nystrompca", "m": 50, "seconds": 1.5, "error": 1.05, "note": ""},
        {
            "method": "scikit-learn KernelPCA, dense",
            "m": 0,
            "seconds": math.nan,
            "error": math.nan,
            "note": "no",
        },
    ]
    equal_error, equal_time, missing = frontier._rows("case", found)
    assert (equal_error.terms, equal_error.ours, equal_error.ratio) == ("error", "SubsetKPCA, m = 100", 2 / 6)
    assert equal_error.ours_error == 1.1 and equal_error.peer_error == 1.15
    assert (equal_time.terms, equal_time.ours_error, equal_time.peer_error) == ("time", 1.2, 1.05)
    assert missing.note == "no" and math.isnan(missing.ratio)


def test_growth_is_compared_at_the_largest_common_size():
    sizes = {"SubsetKPCA": (1000, 16_000, 64_000), growth.NYSTROEM: (1000, 16_000), "FullKPCA": (1000,)}
    records = pd.DataFrame(
        [
            {"method": way, "n": n, **growth.SHAPE, "seconds": n / 1e4, "mebibytes": 10.0, "note": ""}
            for way, own in sizes.items()
            for n in own
        ]
    )
    found = growth._rows(records)
    fits = [row for row in found if row.ours == "SubsetKPCA" and row.peer == growth.NYSTROEM]
    assert "n = 16000" in fits[0].what and fits[0].ratio == 1.0
    assert found[-1].what.startswith("exponent") and found[-1].ours_value == pytest.approx(1.0)
    assert [row.note for row in found if row.peer == growth.ARPACK] == ["not measured"]
