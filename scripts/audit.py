"""Licences and known vulnerabilities of the packages that constraints.txt pins.

Licences are those that the installed packages state. Vulnerabilities are asked for by pip-audit, of two
services; where none answers, that is said. Exit code 1 if a vulnerability is known, else 0.
"""

import json
import subprocess
import sys
from collections import defaultdict
from importlib import metadata
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
# Licences with conditions beyond naming the authors: whoever passes the package on should look at them.
CONDITIONS = ("GPL", "MPL", "EUPL", "SSPL", "Mozilla", "General Public")
SECONDS = 300


def main() -> int:
    """Print both parts and return the exit code."""
    pins = read_pins(CONSTRAINTS.read_text())
    print_licences({name: stated_licence(name) for name in pins})
    print()
    return print_vulnerabilities(pins)


def read_pins(text: str) -> dict[str, str]:
    """Versions by name from lines like ``name==version``."""
    lines = (line.partition("#")[0].partition(";")[0].strip() for line in text.splitlines())
    return dict(line.split("==", 1) for line in lines if "==" in line)


def stated_licence(name: str) -> str | None:
    """The licence that an installed package states, in few words; None if it is not installed."""
    try:
        stated: Any = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if expression := stated.get("License-Expression"):
        return expression
    classes = [line.split("::")[-1].strip() for line in stated.get_all("Classifier") or []]
    licences = [line for line in classes if "Licen" in line and line != "OSI Approved"]
    text = (stated.get("License") or "").strip().splitlines()
    # Some packages put the whole text there.
    short = text[0] if len(text) == 1 and len(text[0]) < 60 and text[0] != "UNKNOWN" else ""
    return " / ".join(licences) or short or "not stated"


def print_licences(licences: dict[str, str | None]) -> None:
    """Print the packages of each licence, those with conditions marked."""
    groups = defaultdict(list)
    for name, licence in licences.items():
        groups[licence or "not installed here"].append(name)
    print(f"licences of {len(licences)} packages (* has conditions for passing it on)")
    for licence, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        mark = "*" if any(word in licence for word in CONDITIONS) else " "
        print(f"{mark} {licence}: {', '.join(names)}")


def ask(service: str | None) -> dict[str, dict] | str:
    """Return what pip-audit found about each package, or why there is no answer."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--progress-spinner", "off"]
    command += ["--requirement", str(CONSTRAINTS), "--format", "json"]
    command += ["--vulnerability-service", service] if service else []
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    try:
        found = json.loads(finished.stdout)["dependencies"]
    except (ValueError, KeyError):
        lines = finished.stderr.strip().splitlines()
        if lines and "No module named pip_audit" in lines[-1]:
            return "pip-audit is not installed (python -m pip install pip-audit)"
        return f"no answer ({lines[-1].partition(':')[0] if lines else 'nothing said'})"
    return {package["name"]: package for package in found}


def print_vulnerabilities(pins: dict[str, str]) -> int:
    """Print what is known of the pinned versions; return 1 if a vulnerability is among it."""
    checked: dict[str, dict] = {}
    for service in (None, "osv"):
        answer = ask(service)
        if isinstance(answer, str):
            told = answer
        else:
            good = {name: package for name, package in answer.items() if "skip_reason" not in package}
            checked = good | checked
            told = f"knows {len(good)} of {len(pins)} packages"
        print(f"vulnerabilities, {service or 'the service of the package index'}: {told}")
        if len(checked) >= len(pins):
            break
    known = {name: package["vulns"] for name, package in checked.items() if package["vulns"]}
    for name, problems in known.items():
        for problem in problems:
            mended = ", ".join(problem.get("fix_versions", [])) or "no version yet"
            print(f"  {name} {checked[name]['version']}: {problem['id']}, mended in {mended}")
    left = len(pins) - len(checked)
    if left:
        print(f"{left} of {len(pins)} packages could not be checked: run this where the services answer")
    if checked and not known:
        print(f"no vulnerability is known of the {len(checked)} packages checked")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
