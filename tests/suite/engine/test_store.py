"""What is stored is whole, is noticed when it is not, and is then computed again."""

import io
import json
import os
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.engine.records_file import load_records, read_records
from kpca_lab.suite.engine.runner import run
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.errors import failure
from kpca_lab.suite.files import csv_for_spreadsheets, read_json, write_atomically
from kpca_lab.suite.jobs import Job, Outcome, row

NAME = "custom/probe"
JOBS = ("a" * 16, "b" * 16, "c" * 16)


@pytest.fixture
def store(tmp_path):
    """Three jobs of two rows each; the second has arrays."""
    store = Store(tmp_path, "smoke")
    for number, job in enumerate(JOBS):
        rows = [row(Job(NAME, seed=number), metric, number + share, error='a, "b"')
                for metric, share in (("x", 0.1), ("y", 1 / 3))]  # fmt: skip
        arrays = {"grid": np.arange(5.0)} if number == 1 else {}
        store.write(NAME, job, Outcome(rows, arrays), {"seconds": 1.0})
    store.compact(NAME, JOBS)
    return store


@pytest.fixture
def alone(store):
    """The records without the files of the jobs."""
    for path in (store.root / "jobs" / NAME).glob("*.json"):
        path.unlink()
    return store


def test_the_records_give_back_what_was_stored(alone):
    table = alone.records(NAME)
    assert table["value"].tolist() == [0.1, 1 / 3, 1.1, 1 + 1 / 3, 2.1, 2 + 1 / 3]
    assert set(table["error"]) == {'a, "b"'} and set(alone.settled(NAME)) == set(JOBS)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("-inf")])
def test_a_value_that_is_not_finite_is_a_failure_and_breaks_nothing(store, value, capsys):
    found = row(Job(NAME), "x", value)
    assert found["status"] == "failed" and found["value"] is None and str(float(value)) in found["error"]
    store.write(NAME, "d" * 16, Outcome([found]), {})
    store.compact(NAME, [*JOBS, "d" * 16])
    table = store.records(NAME)
    assert len(table) == 7 and table["value"].isna().sum() == 1
    assert set(store.settled(NAME)) == set(JOBS), "what failed is tried again"
    assert capsys.readouterr().err == ""


def test_records_with_nan_cells_made_before_can_be_read(tmp_path):
    path = tmp_path / "old.csv"
    names = "experiment,dataset,split,seed,method,selector,m,r,kernel,parameters,metric,value,seconds,status,"
    path.write_text(f"{names}error,job\nx/y,,0,0,,,,,,{{}},a,nan,nan,done,,{'a' * 16}\n")
    table = read_records(path)
    assert len(table) == 1 and table["value"].isna().all()


DAMAGE = {
    "empty": lambda content: b"",
    "one line": lambda content: content[: content.index(b"\n") + 1][:40],
    "garbled": lambda content: bytes((byte * 7 + 13) % 256 for byte in content),
    "NULs": lambda content: b"\0" * len(content),
    "another table": lambda content: b"name,age\nx,3\n",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_of_records_is_set_aside_with_one_line(alone, kind, capsys):
    path = alone.records_path(NAME)
    path.write_bytes(DAMAGE[kind](path.read_bytes()))
    assert alone.settled(NAME) == {}
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line and "damaged" in line
    assert path.with_name("probe.csv.damaged").exists() and not path.exists()
    assert len(alone.records(NAME)) == 0 and capsys.readouterr().err == ""


def cut_in_the_middle(lines):
    return [*lines[:-1], lines[-1][:30]]


def without_the_last(lines):
    return lines[:-1]


def with_another_value(lines):
    return [*lines[:-1], lines[-1].replace("2.3333", "2.4333")]


def with_nul(lines):
    return [*lines[:-1], lines[-1].replace("custom", "cu\0tom")]


def twice(lines):
    return [*lines, lines[-1]]


@pytest.mark.parametrize("change", [cut_in_the_middle, without_the_last, with_another_value, with_nul, twice])
def test_a_job_whose_rows_are_cut_or_changed_is_computed_again_and_the_others_stay(alone, change, capsys):
    path = alone.records_path(NAME)
    lines = change(path.read_text().splitlines())
    path.write_text("\n".join(lines) + ("" if change is cut_in_the_middle else "\n"))
    assert set(alone.settled(NAME)) == set(JOBS[:2])
    assert str(path) in capsys.readouterr().err
    assert set(alone.settled(NAME)) == set(JOBS[:2]) and capsys.readouterr().err == ""
    assert not load_records(path).problem and path.with_name("probe.csv.damaged").exists()


NO_JOBS = ["", "{}", "[]", "null", "3", '{"rows": []}', '{"rows": 3', "\0\0", "[" * 100_000]
NO_JOBS += ['{"rows": [{}], "check": "1-0", "job": "x", "seconds": 0}']
NO_JOBS += ['{"rows": 3, "check": 4, "job": "x", "seconds": 0}']


@pytest.mark.parametrize("content", NO_JOBS)
def test_a_damaged_file_of_a_job_is_set_aside_and_the_job_computed_again(store, content, capsys):
    store.records_path(NAME).unlink()
    path = store.job_path(NAME, JOBS[0])
    path.write_text(content)
    assert set(store.settled(NAME)) == set(JOBS[1:])
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line and not store.is_settled(NAME, JOBS[0])
    assert store.seconds(NAME, JOBS) == 2.0


def test_a_file_of_a_job_with_a_changed_row_is_noticed(store, capsys):
    store.records_path(NAME).unlink()
    path = store.job_path(NAME, JOBS[0])
    path.write_text(path.read_text().replace("0.1", "0.2"))
    assert not store.is_settled(NAME, JOBS[0]) and "checksum" in capsys.readouterr().err


def test_a_file_that_is_that_of_another_job_is_set_aside(store, capsys):
    store.records_path(NAME).unlink()
    path = store.job_path(NAME, JOBS[0])
    path.write_text(store.job_path(NAME, JOBS[1]).read_text())
    assert set(store.settled(NAME)) == set(JOBS[1:]) and "another job" in capsys.readouterr().err


@pytest.mark.parametrize("change", [{"seconds": "x"}, {"seconds": None}, {"seed": "0"}, {"seed": 0.5}])
def test_a_number_of_another_type_is_noticed(store, change):
    store.records_path(NAME).unlink()
    path = store.job_path(NAME, JOBS[0])
    content = json.loads(path.read_text())
    (content if "seconds" in change else content["rows"][0]).update(change)
    path.write_text(json.dumps(content))
    assert set(store.settled(NAME)) == set(JOBS[1:]) and store.seconds(NAME, JOBS) == 2.0


@pytest.mark.parametrize("damage", ["gone", "cut", "garbled"])
def test_a_job_without_its_arrays_is_computed_again(alone, damage, capsys):
    path = alone.arrays_path(NAME, JOBS[1])
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:50] if damage == "cut" else b"\xff" * len(content))
    assert set(alone.arrays(NAME)) == set()
    assert damage == "gone" or str(path) in capsys.readouterr().err
    assert set(alone.settled(NAME)) == {JOBS[0], JOBS[2]}


TEXTS = ["lone \ud800 surrogate", "a\nb\r\nc", "nul \0", "x \u2028 \x85 \x0b", '=1+1,"x"']


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_stored_and_read_back_in_one_line(store, text):
    store.write(NAME, "d" * 16, Outcome([row(Job(NAME), "", None, status="failed", error=text)]), {})
    store.compact(NAME, [*JOBS, "d" * 16])
    found = load_records(store.records_path(NAME))
    assert not found.problem and len(found.table) == 7
    (stored,) = found.table.loc[found.table["status"] == "failed", "error"]
    assert stored.encode() and len(stored.splitlines()) == 1 and stored.split()[0] == text.split()[0]


def test_an_error_whose_text_cannot_be_made_is_told():
    class Bad(Exception):
        def __str__(self):
            raise RuntimeError

    assert failure(Bad())[0] == "failed"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_files_have_the_permissions_of_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "x" / "file", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x" / "file").stat().st_mode) == 0o666 & ~mask


def test_content_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    fsync, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: done.append("fsync") or fsync(file))
    monkeypatch.setattr(os, "replace", lambda *names: done.append("rename") or rename(*names))
    write_atomically(tmp_path / "file", b"1")
    assert done == ["fsync", "rename"]


def test_a_full_disk_leaves_the_old_file_and_no_remains(tmp_path, monkeypatch):
    write_atomically(tmp_path / "file", b"old")
    monkeypatch.setattr(
        os, "fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_no_cell_of_a_table_for_spreadsheets_is_a_formula():
    table = pd.DataFrame({"name": ["=cmd()", "+1 x", "-x", "@y", "plain", "-1e-3"], "value": [-1.5] * 6})
    read = pd.read_csv(io.StringIO(csv_for_spreadsheets(table)), dtype=str)
    assert read["name"].tolist() == ["'=cmd()", "'+1 x", "'-x", "'@y", "plain", "-1e-3"]
    assert set(read["value"]) == {"-1.5"}


def test_json_of_another_shape_is_set_aside(tmp_path, capsys):
    path = tmp_path / "summary.json"
    for content in ("[]", '{"other": 1}', "{", ""):
        path.write_text(content)
        assert read_json(path, ("experiments",)) == {} and not path.exists()
        assert "summary.json" in capsys.readouterr().err
    path.write_text(json.dumps({"experiments": {}}))
    assert read_json(path, ("experiments",)) == {"experiments": {}}


def test_a_run_with_damaged_files_computes_only_what_they_held(tmp_path, capsys):
    words = ["n_train=30", "n_components=2", "n_basis=5", "n_trials=3", "method=full", "profile=smoke"]
    settings = replace(compose_settings(words), results_dir=str(tmp_path))
    plan = make_plan(settings)
    assert run([plan], stream=io.StringIO()).computed == 3
    first = plan.store.records(plan.records_name).drop(columns="seconds")
    path = plan.store.records_path(plan.records_name)
    path.write_text(path.read_text()[:-40])
    next((plan.store.root / "jobs" / plan.name).glob("*.json")).write_text("{}")
    again = run([make_plan(settings)], stream=io.StringIO())
    assert again.computed <= 2 and again.computed + again.kept == 3 and not again.failures
    assert plan.store.records(plan.records_name).drop(columns="seconds").equals(first)
    assert len(capsys.readouterr().err.splitlines()) == 2
