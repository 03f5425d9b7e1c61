"""The command line: tables, exit codes, messages."""

import dataclasses
import hashlib
import os
import subprocess
import sys

import pytest

from kpca_lab.datasets import list_datasets
from kpca_lab.datasets.__main__ import TABLE_HEAD, main
from kpca_lab.datasets.registry import FILE_SETS, Address

CONTENT = b"some values\n" * 1000


@pytest.fixture
def served(server, monkeypatch):
    """Let `frey` and `usps` be served here, and the others be nowhere."""
    for name, file_set in FILE_SETS.items():
        files = tuple(
            dataclasses.replace(
                raw,
                size=len(CONTENT),
                sha256=(hashlib.sha256(CONTENT).hexdigest(),),
                addresses=(Address(server.put(raw.path, CONTENT, "serve")),)
                if name in ("frey", "usps")
                else (),
                substitute=None,
            )
            for raw in file_set.files
        )
        monkeypatch.setitem(FILE_SETS, name, dataclasses.replace(file_set, files=files))
    return server


def rows_of(text):
    lines = text.split("\n\n")[0].splitlines()
    return {line.split("  ")[0]: line for line in lines[2:]}


def test_list_names_everything(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert list(rows_of(printed)) == list_datasets()


def test_fetch_of_everything_prints_a_table_and_succeeds(served, capsys, cache):
    assert main(["fetch"]) == 0
    printed = capsys.readouterr()
    head = printed.out.splitlines()[0]
    assert [part.strip() for part in head.split("  ") if part.strip()] == list(TABLE_HEAD)
    rows = rows_of(printed.out)
    assert "fetched" in rows["frey"] and "public" in rows["frey"]
    assert "12 kB" in rows["frey"] and " yes " in rows["frey"] and "none seen" in rows["frey"]
    assert "unavailable" in rows["mnist"]
    assert "unavailable" in rows["ida (13 sets)"]
    assert "generated" in rows["parabola"]
    assert "by hand" in rows["yaleb:complete"]
    assert "non-commercial" in rows["tic"]
    assert "data set 'mnist' cannot be had" in printed.err
    assert str(cache) in printed.out

    assert main(["fetch"]) == 0
    assert "cached" in rows_of(capsys.readouterr().out)["frey"]


def test_fetch_by_name_fails_if_one_cannot_be_had(served, capsys):
    assert main(["fetch", "frey", "usps"]) == 0
    assert sorted(rows_of(capsys.readouterr().out)) == ["frey", "usps"]
    assert main(["fetch", "frey", "ida/banana", "parabola"]) == 1
    printed = capsys.readouterr()
    rows = rows_of(printed.out)
    assert "cached" in rows["frey"]
    assert "unavailable" in rows["ida/banana"]
    assert "generated" in rows["parabola"]
    assert "sha256" in printed.err
    assert main(["fetch", "yaleb:extended"]) == 1


def test_wrong_names_and_commands_end_with_two(capsys):
    assert main(["fetch", "minst"]) == 2
    assert "did you mean 'mnist'?" in capsys.readouterr().err
    assert main(["info", "minst"]) == 2
    assert main(["fetch", "csv"]) == 2
    assert "your own files" in capsys.readouterr().err
    for arguments in ([], ["steal"], ["info"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2


def test_verify_tells_good_bad_and_absent_files(served, capsys, cache):
    main(["fetch", "frey", "usps"])
    capsys.readouterr()
    assert main(["verify"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert " yes " in rows["frey"] and "not here" in rows["mnist"]

    (cache / "frey" / "frey_rawface.mat").write_bytes(CONTENT[:-1])
    assert main(["verify"]) == 1
    printed = capsys.readouterr().out
    assert "BAD" in rows_of(printed)["frey"] and " NO " in rows_of(printed)["frey"]
    assert "1 bad" in printed

    assert main(["fetch", "frey"]) == 0
    capsys.readouterr()
    assert main(["verify"]) == 0
    assert "frey_rawface.mat.bad-" in capsys.readouterr().out


@pytest.mark.parametrize("name", list_datasets())
def test_info_on_every_data_set(name, capsys):
    assert main(["info", name]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}: ")
    assert "scaling = None" in printed
    if name == "concrete":
        assert "rounded values" in printed and "(member Concrete_Data.xls)" in printed
    if name == "csv":
        assert "path  (must be given)" in printed


def test_the_module_runs_as_a_command():
    finished = subprocess.run(
        [sys.executable, "-m", "kpca_lab.datasets", "fetch", "housing"],
        capture_output=True,
        text=True,
        env=os.environ | {"KPCA_LAB_OFFLINE": "1"},
        check=False,
    )
    assert finished.returncode == 1
    assert "unavailable" in finished.stdout
    assert "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a" in finished.stderr
