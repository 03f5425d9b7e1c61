"""A few hundred of the random cases of ``make fuzz``, other ones than its own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import fuzz


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_random_cases_end_in_a_result_or_a_clear_error(start, capsys):
    counts = fuzz.run(1, range(start, start + 100))
    assert not counts["BAD"], capsys.readouterr().out
    assert counts["result"] > 20
