"""Numbers that the texts state: counted, and judged only where no profile reduces them."""

import pandas as pd
import pytest

from experiments.common.stated import configured, count_parts, kernel_value, one_job_for_each, stated
from experiments.washizawa2012.sizes import text_cells
from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.judge.published import load_published


def test_the_sizes_of_the_data_are_the_stated_ones():
    settings = compose_settings(["+experiment=washizawa2012/text", "profile=paper"])
    rows = []
    for job in one_job_for_each(settings):
        try:
            rows += count_parts(job).rows
        except DatasetUnavailableError as error:
            pytest.skip(f"the data of {error.dataset} cannot be had here")
    cells = text_cells(pd.DataFrame(rows)).set_index("column")["ours"]
    published = load_published("washizawa2012").set_index(["table", "column"])["value"]["text"]
    assert cells.pop("USPS test images") == 2007  # the text says 2001
    assert len(cells) == 11
    assert cells.round(1).to_dict() == published[cells.index].to_dict()


def test_what_a_profile_reduces_is_not_judged():
    assert stated("washizawa2012", "Section 6.2", "trials of Table 1", 10)["comparable"].item()
    fewer = stated("washizawa2012", "Section 6.2", "trials of Table 1", 3).iloc[0]
    assert not fewer["comparable"] and fewer["note"] == "reduced in this profile"


def test_settings_come_from_the_configuration_of_the_profile_and_kernels_from_the_records():
    records = pd.DataFrame({"experiment": ["chin2006/table2"] * 2, "kernel": ["linear", "rbf(gamma=0.5)"]})
    found = {name: configured(records.assign(profile=name)).parameters for name in ("quick", "paper")}
    assert {name: entry["incremental"]["n_preimages"] for name, entry in found.items()} == {
        "quick": 3,
        "paper": 10,
    }
    assert kernel_value(records, "gamma") == 0.5 and kernel_value(records, "sigma") == 1
