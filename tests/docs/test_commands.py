"""Every command of README and pages can be given: those of kpca-lab run, others name what exists."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra.core.global_hydra import GlobalHydra

from kpca_lab.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("guide/*.md")]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
LINES = sorted(
    {
        " ".join(line.split(" #")[0].split())
        for page in PAGES
        for block in BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in block.splitlines()
    }
)
# Sizes of a test in place of those of a reader.
SMALLER = {"--budget": "2s", "--rows": "1e5", "--features": "20", "--basis": "20", "--workers": "2"}


def of(program):
    return [line for line in LINES if line.startswith(f"{program} ")]


@pytest.mark.parametrize("line", of("kpca-lab"))
def test_a_command_of_the_pages_runs(line, tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"]).assign(
        label=rng.integers(0, 2, 60)
    )
    table.to_csv(tmp_path / "mine.csv", index=False)
    table.drop(columns="label").to_parquet(tmp_path / "mine.parquet")
    monkeypatch.chdir(tmp_path)
    GlobalHydra.instance().clear()
    words = shlex.split(line)
    words = [SMALLER.get(before, word) for before, word in zip(["", *words], words)]
    if words[1] == "suggest" and "--budget" not in words:
        words += ["--budget", SMALLER["--budget"]]
    if words[1] == "run":
        words.append("profile=smoke")
    monkeypatch.setattr(sys, "argv", words)
    try:
        code = main(words[1:])
    except SystemExit as end:
        code = end.code
    assert not code, capsys.readouterr().err


def test_targets_of_make_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    named = {line.split()[1] for line in of("make")}
    assert named and named <= set(targets)


def test_extras_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        extra
        for line in of("pip")
        for group in re.findall(r"\[([\w,]+)\]", line)
        for extra in group.split(",")
    }
    assert named and named <= set(extras)


def test_no_other_programs_are_asked_for():
    assert {line.split()[0] for line in LINES} <= {"kpca-lab", "make", "pip", "benchopt"}
