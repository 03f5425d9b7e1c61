"""A small part of ``make torture``."""

import importlib
import multiprocessing
import os
import pickle
from pathlib import Path

from kpca_lab.suite.engine import pool

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


class Copy:
    """A run in a copy of this process, which need not import everything again."""

    def __init__(self, run, prepare=lambda: None):
        def body():
            pool._idle.clear()  # those belong to the process that was copied
            prepare()
            code = run()
            pool.close_idle()
            os._exit(code)

        self.process = multiprocessing.get_context("fork").Process(target=body)
        self.process.start()

    def wait(self, seconds):
        self.process.join(seconds)
        return self.process.exitcode


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    torture = importlib.import_module("torture")
    given = tmp_path / "settings.pickle"

    def start(self, results, settings=None, preexec_fn=lambda: None):
        given.write_bytes(pickle.dumps(settings or self.given))
        return Copy(lambda: torture.sweep(given, str(results)), preexec_fn)

    monkeypatch.setattr(torture, "TRIALS", 2)
    monkeypatch.setattr(torture.Torture, "start", start)
    assert torture.Torture(tmp_path, 1, 0, workers=1).disk(sizes=(1500,)) == (1, 0)
