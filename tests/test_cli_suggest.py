"""kpca-lab suggest: a table in, a line of Python out."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from kpca_lab.advice.budget import Budget
from kpca_lab.cli import suggest
from kpca_lab.cli.main import main

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def table(tmp_path, rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.standard_normal((5000, 5)), columns=list("abcde"))
    frame["label"] = np.where(frame.a * frame.b > 0, "yes", "no")
    path = tmp_path / "it's mine.csv"
    frame.to_csv(path, index=False, float_format="%.4g")
    return path


def pasted(capsys, told=""):
    """Run the line that was printed, and return the model."""
    text = capsys.readouterr().out
    assert told in text
    (line,) = (line for line in text.splitlines() if "model = " in line)
    names: dict = {}
    exec(line.strip(), names)
    return names["model"]


def test_the_printed_line_runs_as_it_is_and_the_files_are_written(table, tmp_path, capsys):
    out, html = tmp_path / "out.json", tmp_path / "out.html"
    arguments = ["--target", "label", "--components", "4", "--budget", "3s", "--memory", "1GB", "--quiet"]
    assert main(["suggest", str(table), *arguments, "--json", str(out), "--html", str(html)]) == 0
    model = pasted(capsys)
    assert model.n_components_ == 4 and model.n_features_in_ == 5
    kept = json.loads(out.read_text())
    assert kept["n_rows"] == 5000 and "<svg" in html.read_text()


@pytest.mark.parametrize("scaling", [[], ["--scaling", "standard"]])
def test_a_file_that_is_too_large_is_read_in_blocks(table, monkeypatch, capsys, scaling):
    monkeypatch.setattr(suggest, "READING_SPEED", 1.0)
    arguments = ["--target", "label", "--components", "3", "--budget", "1s", "--gamma", "0.1", *scaling]
    assert main(["suggest", str(table), *arguments]) == 0
    assert pasted(capsys, "labels of a table").n_samples_seen_ == 5000


def test_the_rows_of_a_large_file_are_guessed_from_its_beginning(table):
    assert suggest._expected_rows(table, "csv") == pytest.approx(5001, rel=0.02)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "these columns are not numbers: label (text such as"),
        (["--target", "width"], "has no column 'width'"),
        (["--explain", "1.5", "--target", "label"], "share of the variance in (0, 1)"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(table, capsys, arguments, told):
    assert main(["suggest", str(table), *arguments, "--quiet"]) == 2
    error = capsys.readouterr().err
    assert told in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("options", [["--budget", "soon"], ["--memory", "2 pounds"], ["--budget", "0s"]])
def test_times_and_amounts_need_a_unit_that_is_known(options, capsys):
    with pytest.raises(SystemExit):
        main(["suggest", "any.csv", *options])
    assert "is not a" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("2m", 120), ("1.5", 1.5), ("1 h", 3600)])
def test_times_are_read(text, seconds):
    assert suggest._seconds(text) == seconds


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_ctrl_c_prints_the_best_so_far(table):
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # xdist ignores it
    code = f"{listen}; import sys; from kpca_lab.cli.main import main; sys.exit(main())"
    arguments = ["suggest", str(table), "--target", "label", "--gamma", "0.1", "--budget", "200s"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        begun = 0
        for line in process.stderr:  # a candidate is named when it begins, so the first have ended by then
            begun += " rows" in line
            if begun == 3:
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "interrupted" in out and "model = " in out


def test_the_budget_counts_the_start_of_the_process(monkeypatch):
    assert suggest._spent_starting() == 0.0  # the tests do other things
    if not Path("/proc/self/stat").is_file():
        pytest.skip("this system does not tell when a process was started")
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kpca-lab", "suggest"])
    expected = time.time() - psutil.Process().create_time()
    assert suggest._spent_starting() == pytest.approx(expected, abs=2)
    assert Budget(10, before=4).left() == pytest.approx(6, abs=0.5)
