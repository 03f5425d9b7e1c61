"""Numbers that the texts state, counted."""

import pandas as pd
import pytest

from experiments.common.stated import count_parts, one_job_for_each, sigma
from experiments.washizawa2012.sizes import text_cells
from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.judge.scoreboard import cells_frame


def test_the_sizes_of_the_data_are_the_stated_ones():
    settings = compose_settings(["+experiment=washizawa2012/text", "profile=paper"])
    rows = []
    for job in one_job_for_each(settings):
        try:
            rows += count_parts(job).rows
        except DatasetUnavailableError as error:
            pytest.skip(f"the data of {error.dataset} cannot be had here")
    cells = cells_frame("washizawa2012", text_cells(pd.DataFrame(rows), {})).set_index("column")["ours"]
    published = load_published("washizawa2012").set_index(["table", "column"])["value"]["text"]
    assert cells.pop("USPS test images") == 2007  # the text says 2001
    assert len(cells) == 11
    assert cells.round(1).to_dict() == published[cells.index].to_dict()


def test_the_width_of_the_one_gaussian_kernel():
    records = with_parameters(pd.DataFrame({"kernel": ["linear", "rbf(gamma=0.5)"], "parameters": "{}"}))
    assert sigma(records) == 1
