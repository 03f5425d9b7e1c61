"""The lists of CONTRIBUTING.md, followed in a copy of the project: each ends in a run with what was added."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = ("paper", "table", "method", "selector", "metric", "generator", "real data set", "launcher")
BLOCK = re.compile(r"```(python|yaml|csv|markdown|sh)\n(.*?)```", re.S)

# Runs the commands one after the other, in one process that keeps its workers.
COMMANDS = """
import contextlib, io, json, shlex, sys
from hydra.core.global_hydra import GlobalHydra
from kpca_lab.cli.main import main
for command in json.load(sys.stdin):
    GlobalHydra.instance().clear()
    sys.argv[:] = words = shlex.split(command)
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            code = main(words[1:])
        except SystemExit as end:
            code = end.code
    print(json.dumps([command, code or 0, told.getvalue()]), flush=True)
"""


def sections():
    """The blocks of every list, by what it adds."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {}
    for part in re.split(r"^## Add an? ", text, flags=re.M)[1:]:
        name, _, body = part.partition("\n")
        found[name] = BLOCK.findall(body.partition("\n## ")[0])
    return found


def put(root, block):
    """Write a block where its first line that is a path says: a new file, after a line, or at the end."""
    lines = block.splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if re.match(r"# [\w/]+\.\w+", line))
    place, text = lines[number][2:].strip(), "".join(lines[:number] + lines[number + 1 :])
    name, _, where = place.partition(", ")
    path = root / name
    if not where:
        assert not path.exists(), f"{name} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif where == "at the end":
        gap = "\n\n" if path.suffix == ".py" else ""
        path.write_text(path.read_text(encoding="utf-8") + gap + text, encoding="utf-8")
    else:
        line = where.removeprefix("after the line: ")
        old = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = [i for i, entry in enumerate(old) if entry.strip() == line]
        assert len(at) == 1, f"{name} has {len(at)} lines {line!r}"
        path.write_text("".join(old[: at[0] + 1]) + text + "".join(old[at[0] + 1 :]), encoding="utf-8")


def test_each_list_leads_to_a_run_with_what_was_added(tmp_path):
    root, mirror = tmp_path / "project", tmp_path / "mirror"
    for name in ("kpca_lab", "conf", "experiments", "hydra_plugins"):
        shutil.copytree(ROOT / name, root / name)
    (mirror / "squares").mkdir(parents=True)
    (mirror / "squares" / "squares.txt").write_text("".join(f"{i} {i * i}\n" for i in range(40)))
    blocks = sections()
    assert set(blocks) == set(LISTS)
    commands = []
    for added in LISTS:
        for kind, block in blocks[added]:
            if kind == "sh":
                commands += block.splitlines()
            else:
                put(root, block)
    environment = os.environ | {
        "PYTHONPATH": str(root),
        "KPCA_LAB_ROOT": str(root),
        "KPCA_LAB_CACHE": str(tmp_path / "cache"),
        "KPCA_LAB_MIRROR": str(mirror),
        "KPCA_LAB_OFFLINE": "1",
    }
    finished = subprocess.run(
        [sys.executable, "-c", COMMANDS], input=json.dumps(commands), cwd=root, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    told = {}
    for line in finished.stdout.splitlines():
        command, code, text = json.loads(line)
        assert code == 0, f"{command}: {code}\n{text}"
        told[command] = text
    expected = ["4 jobs", "1 done before", "every_second", "every_nth", "points_kept"]
    expected += ["1 job computed", "squares.txt", "1 job computed", "2 trials"]
    assert len(told) == len(commands) == len(expected)
    for (command, text), word in zip(told.items(), expected):
        assert word in text, f"{command}: {text}"
    results = root / "results" / "smoke"
    for name in (
        "tables/example2026/table1.md",
        "tables/example2026/table2.md",
        "figures/example2026/figure1.png",
    ):
        assert (results / name).is_file(), name
    assert "example2026,table1,SubKPCA" in (results / "scoreboard.csv").read_text()
    assert "example-never-below,example2026" in (results / "claims.csv").read_text()
    assert "Example 2026" in (results / "report" / "index.html").read_text(encoding="utf-8")
