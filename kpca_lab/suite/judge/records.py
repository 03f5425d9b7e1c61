"""Records as judging and drawing read them: every setting is a column of its own."""

import json
import re

import pandas as pd

from kpca_lab.suite.jobs import COLUMNS

__all__ = ["KERNEL_COLUMNS", "only_value", "setting_columns", "with_parameters"]

# Those that the texts of kernels give.
KERNEL_COLUMNS = ("kernel_name", "gamma", "degree", "coef0")
_KERNEL = re.compile(r"(\w+)(?:\((.*)\))?")


def with_parameters(records: pd.DataFrame) -> pd.DataFrame:
    """Records with the settings in ``parameters`` and those of ``kernel`` as further columns.

    The texts in ``parameters`` are read here and nowhere else; their column is left out. A setting with the
    name of a column of the records is left out too. Records that have the columns already stay as they are.

    Examples
    --------
    >>> records = pd.DataFrame({"kernel": ["rbf(gamma=0.5)"], "parameters": ['{"n": 10}']})
    >>> with_parameters(records).to_dict("records")
    [{'kernel': 'rbf(gamma=0.5)', 'n': 10, 'kernel_name': 'rbf', 'gamma': 0.5}]
    """
    if "parameters" not in records:
        return records
    wide = records.drop(columns="parameters").reset_index(drop=True)
    for column, read in (("parameters", _settings), ("kernel", _kernel)):
        if column in records:
            texts = records[column].reset_index(drop=True)
            known = {text: read(text) for text in texts.unique()}
            extra = pd.DataFrame([known[text] for text in texts], index=wide.index)
            wide = wide.join(extra[[name for name in extra if name not in wide and name not in COLUMNS]])
    return wide


def setting_columns(records: pd.DataFrame) -> list[str]:
    """The columns that come from ``parameters``."""
    return [name for name in records if name not in COLUMNS and name not in KERNEL_COLUMNS]


def only_value(records: pd.DataFrame, column: str):
    """The value that all records have which have one in this column at all.

    Examples
    --------
    >>> only_value(pd.DataFrame({"gamma": [None, 0.5, 0.5]}), "gamma")
    0.5
    """
    found = records[column].dropna().unique() if column in records else []
    if len(found) != 1:
        raise ValueError(f"the records have {len(found)} values of {column}, where one is expected")
    return found[0].item() if hasattr(found[0], "item") else found[0]


def _settings(text) -> dict:
    return json.loads(text) if isinstance(text, str) and text.strip() else {}


def _kernel(text) -> dict:
    """The inverse of :func:`kpca_lab.suite.measure.samples.kernel_text`; nothing for any other text."""
    match = _KERNEL.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return {}
    pairs = [entry.split("=") for entry in (match[2] or "").split(",") if entry]
    return {"kernel_name": match[1], **{name: float(value) for name, value in pairs}}
