import pandas as pd
import pytest

from kpca_lab.suite.judge.records import only_value, setting_columns, with_parameters
from kpca_lab.suite.measure.samples import kernel_text


def test_settings_and_kernels_become_columns_but_do_not_hide_those_of_the_record():
    records = pd.DataFrame(
        {
            "method": ["full", "full", "pca"],
            "kernel": [kernel_text({"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0}), "linear", ""],
            "parameters": ['{"alpha": 0.1, "method": "other"}', "", None],
        },
        index=[5, 6, 7],
    )
    wide = with_parameters(records)
    assert "parameters" not in wide and wide.method.tolist() == ["full", "full", "pca"]
    assert wide.alpha.tolist()[0] == 0.1 and wide.alpha.isna().tolist() == [False, True, True]
    assert wide.degree.tolist()[0] == 2 and wide.kernel_name.tolist()[:2] == ["poly", "linear"]
    assert setting_columns(wide) == ["alpha"]
    assert with_parameters(wide) is wide


def test_one_value_is_wanted():
    records = pd.DataFrame({"gamma": [0.5, None, 0.5], "degree": [1.0, 2.0, None]})
    assert only_value(records, "gamma") == 0.5
    with pytest.raises(ValueError, match="2 values of degree"):
        only_value(records, "degree")
    with pytest.raises(ValueError, match="0 values of coef0"):
        only_value(records, "coef0")
