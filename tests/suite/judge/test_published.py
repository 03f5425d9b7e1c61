import numpy as np
import pandas as pd
import pytest

from kpca_lab.suite.judge.published import (
    COLUMNS,
    FLAGS,
    KEY,
    KINDS,
    format_number,
    load_published,
)
from kpca_lab.suite.papers import papers, titles

CELLS = load_published()


def test_every_cell_has_one_key_and_known_kind_and_flag():
    assert tuple(CELLS.columns) == COLUMNS
    assert list(CELLS.paper.unique()) == [name for name in papers() if name != "marukatat2016"]
    assert not CELLS.duplicated(KEY).any()
    assert set(CELLS.kind) <= set(KINDS)
    assert set(CELLS.flag) <= set(FLAGS)
    assert (CELLS[["table", "row", "column"]] != "").all(axis=None)


def test_all_tables_are_there():
    tables = CELLS[CELLS.table != "text"].groupby("paper").table.unique()
    assert set(tables["washizawa2012"]) == {f"table{i}" for i in range(1, 9)}
    assert set(tables["zhang2010"]) == {f"table{i}" for i in range(1, 12)}
    assert set(tables["chin2006"]) == {"table1", "table2"}
    assert all(key in titles() for key in set(zip(CELLS.paper, CELLS.table)))


def test_a_flag_says_why_and_only_lost_cells_have_no_value():
    assert (CELLS.note[CELLS.flag != ""] != "").all()
    assert (CELLS.value.isna() == (CELLS.flag == "lost")).all()
    assert CELLS.value.notna().equals(CELLS.decimals.notna())
    lost = CELLS[CELLS.flag == "lost"]
    assert lost.table.value_counts().to_dict() == {"table5": 7, "table4": 4, "table6": 4, "table3": 3}


def test_percentages_and_time_ratios_contradict_their_counts_only_where_flagged():
    zhang = CELLS[(CELLS.paper == "zhang2010") & CELLS.table.isin([f"table{i}" for i in (2, 3, 4, 6, 7, 8)])]
    for (table, row), cells in zhang.groupby(["table", "row"]):
        full, used, rate1, time_full, time_used, rate2 = cells.value
        flags = dict(zip(cells.column, cells.flag))
        assert (abs(100 * used / full - rate1) > 0.0501) == (flags["rate1 (%)"] == "contradiction"), (
            table,
            row,
        )
        # the times are printed with as few as two digits, so their ratio is known to a few per cent only
        assert (abs(time_full / time_used / rate2 - 1) > 0.1) == (flags["rate2"] == "contradiction"), (
            table,
            row,
        )


def test_error_rates_of_chin_and_suter_are_their_counts():
    cells = CELLS[(CELLS.paper == "chin2006") & (CELLS.table == "table2")]
    for row, group in cells.groupby("row"):
        rate, errors, images = group.value
        assert round(100 * errors / images, 2) == rate, row


def test_lower_rows_of_washizawas_table_1_are_flagged_as_not_being_the_distance():
    table = CELLS[(CELLS.paper == "washizawa2012") & (CELLS.table == "table1")]
    assert (table.row.str.startswith("D,") == (table.flag == "contradiction")).all()


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.67, 4, "0.6700"),
        (10000, 0, "10000"),
        (4.57e-5, 7, "4.57e-5"),
        (3.009e-4, 7, "3.009e-4"),
        (9.999e-5, 7, "1.00e-4"),
        (0.0002, 4, "0.0002"),
        (-1.5, 1, "-1.5"),
        (0.0, 7, "0.0000000"),
        (np.nan, 2, ""),
        (pd.NA, 2, ""),
    ],
)
def test_numbers_are_written_as_printed(value, decimals, text):
    assert format_number(value, decimals) == text


def test_unknown_paper_is_refused():
    with pytest.raises(ValueError, match="valid choices: chin2006"):
        load_published("nobody1999")


def test_growth_exponents_of_chins_table_1_are_fits_to_its_times():
    cells = CELLS[CELLS.paper == "chin2006"]
    fitted = cells[cells.flag == "fitted"].set_index("column")
    for name, times in cells[cells.table == "table1"].groupby("column"):
        x, y = np.log(times.row.str.split().str[0].astype(float)), np.log(times.value)
        (slope, _), covariance = np.polyfit(x, y, 1, cov=True)
        cell = fitted.loc[f"growth exponent of {name}"]
        assert cell.value == round(slope, 2) and cell.trials == len(times)
        assert cell.sd == round(np.sqrt(covariance[0, 0] * len(times)), 2)
