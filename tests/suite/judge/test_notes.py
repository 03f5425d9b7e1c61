"""Tables of the notes that are made from records."""

from pathlib import Path

import pandas as pd
import pytest

from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.hooks import Registry
from kpca_lab.suite.judge.claims import NotRun
from kpca_lab.suite.judge.notes import filled, markdown_table
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.papers import load_experiments, papers

NOTES = """# Example

[//]: # (records: sizes)
old
[//]: # (end of records)

after
"""


def _registry(make):
    registry = Registry()
    registry.note_table("example/sizes")(make)
    return registry


def test_a_table_is_made_from_the_records():
    frame = pd.DataFrame({"name": ["a", ""], "size": ["1.5", ""]})
    assert markdown_table(frame) == "| name | size |\n| --- | --: |\n| a | 1.5 |\n|  |  |"
    registry = _registry(lambda records: frame.assign(size=[str(len(records)), ""]))
    text = filled(NOTES, "example", pd.DataFrame({"value": [1, 2, 3]}), registry)
    assert "| a | 3 |" in text and "old" not in text and text.endswith("after\n")
    assert filled(text, "example", pd.DataFrame({"value": [1, 2, 3]}), registry) == text


def test_a_table_without_records_stays_and_an_unknown_one_is_an_error():
    def missing(records):
        raise NotRun("no records")

    assert filled(NOTES, "example", pd.DataFrame(), _registry(missing)) == NOTES
    with pytest.raises(ValueError, match="'sizes', which no function makes"):
        filled(NOTES, "example", pd.DataFrame(), Registry())


def test_the_notes_are_those_of_the_records():
    registry = load_experiments()
    records = with_parameters(Store(Path(__file__).parents[3] / "results", "paper").all_records())
    records = records[records.status == "done"]
    for paper in papers().values():
        own = records[records.experiment.str.startswith(f"{paper.name}/")]
        assert filled(paper.notes, paper.name, own, registry) == paper.notes
        asked = paper.notes.count("(records: ")
        assert asked == sum(name.startswith(f"{paper.name}/") for name in registry.note_tables)
