"""The audit of the pinned packages: what is stated, what is known, and what could not be asked."""

import json
import runpy
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "audit.py"


@pytest.fixture
def audit():
    return runpy.run_path(str(SCRIPT))


def answered(monkeypatch, *answers):
    """Let pip-audit give these answers, one a service."""
    answers = list(answers)
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0, *answers.pop(0))
    )


def found(**packages):
    listed = [{"name": name, "version": "1"} | entry for name, entry in packages.items()]
    return json.dumps({"dependencies": listed}), ""


def test_pins_are_read_and_licences_told(audit, capsys):
    assert audit["read_pins"]("a==1.0\n# b==2\nc==3 # why\nd==4; python_version<'3'\n") == {
        "a": "1.0",
        "c": "3",
        "d": "4",
    }
    assert "BSD" in audit["stated_licence"]("scikit-learn")
    assert "BSD" in audit["stated_licence"]("scipy")
    assert audit["stated_licence"]("no-such-package") is None
    audit["print_licences"]({"a": "MIT", "b": "MPL-2.0", "c": None, "d": "MIT"})
    told = capsys.readouterr().out.splitlines()
    assert told[1:] == ["  MIT: a, d", "* MPL-2.0: b", "  not installed here: c"]


def test_every_installed_pin_states_a_licence(audit):
    for name in audit["read_pins"](audit["CONSTRAINTS"].read_text()):
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        assert audit["stated_licence"](name) != "not stated", name


def test_a_known_vulnerability_is_named_and_fails(audit, monkeypatch, capsys):
    bad = {"vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    answered(monkeypatch, found(a=bad, b={"vulns": []}))
    assert audit["print_vulnerabilities"]({"a": "1", "b": "1"}) == 1
    assert "a 1: CVE-1, mended in 2" in capsys.readouterr().out


def test_services_that_do_not_answer_are_named(audit, monkeypatch, capsys):
    answered(monkeypatch, found(a={"vulns": []}, b={"skip_reason": "not found"}), ("", "ConnectionError: no"))
    assert audit["print_vulnerabilities"]({"a": "1", "b": "1"}) == 0
    told = capsys.readouterr().out
    assert "knows 1 of 2 packages" in told
    assert "osv: no answer (ConnectionError)" in told
    assert "1 of 2 packages could not be checked" in told
    assert "no vulnerability is known of the 1 packages checked" in told
    answered(monkeypatch, ("", "No module named pip_audit"), ("", "No module named pip_audit"))
    assert audit["print_vulnerabilities"]({"a": "1"}) == 0
    assert "pip-audit is not installed" in capsys.readouterr().out
