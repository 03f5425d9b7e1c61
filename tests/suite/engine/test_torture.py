"""A small part of ``make torture``."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "torture.py"


def test_a_full_disk_loses_nothing(tmp_path):
    spec = importlib.util.spec_from_file_location("torture", SCRIPT)
    torture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(torture)
    torture.TRIALS = 2
    assert torture.Torture(tmp_path, 1, 0, workers=1).disk(sizes=(1500,)) == (1, 0)
