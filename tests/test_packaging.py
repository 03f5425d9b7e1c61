"""The wheel, with exactly the packages that it declares, in an empty folder; and the command ``kpca-lab``."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kpca_lab
from kpca_lab.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[1]
SMALL = ["n_train=30", "n_components=3", "n_basis=6"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of what is committed."""
    source = tmp_path_factory.mktemp("source")
    for name in ("kpca_lab", "conf", "hydra_plugins"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", source]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True)
    return next(source.glob("*.whl"))


@pytest.fixture(scope="session")
def install(wheel, tmp_path_factory):
    """Install the wheel with an extra in a fresh environment; return the folder of its commands."""

    def installed(extra=""):
        home = tmp_path_factory.mktemp(f"with_{extra}")
        venv.create(home, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--python", home / "bin" / "python"]
        subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
        packages = next(home.glob("lib/python*/site-packages"))
        own = metadata.Distribution.at(next(packages.glob("kpca_lab-*.dist-info")))
        for name in _needed(own, extra):
            _link(name, packages)
        return home / "bin"

    return installed


def _needed(own, extra):
    """Names of the packages that an installation brings, as the metadata of all of them say."""
    done, todo = set(), [(own.requires, {extra})]
    while todo:
        requirements, extras = todo.pop()
        for requirement in map(Requirement, requirements or []):
            marker, name = requirement.marker, canonicalize_name(requirement.name)
            key = (name, frozenset(requirement.extras))
            if key in done or (marker and not any(marker.evaluate({"extra": entry}) for entry in extras)):
                continue
            done.add(key)
            known = own if name == "kpca-lab" else metadata.distribution(name)
            todo.append((known.requires, requirement.extras or {""}))
    return sorted({name for name, _ in done} - {"kpca-lab"})


def _link(name, packages):
    """Put an installed package into another environment by links to its files."""
    here = Path(sysconfig.get_path("purelib"))
    for file in metadata.distribution(name).files:
        depth = 2 if file.parts[0] == "hydra_plugins" else 1  # a folder that several packages share
        place = Path(*file.parts[:depth])
        if place.parts[0] != ".." and not (packages / place).exists():
            (packages / place).parent.mkdir(exist_ok=True)
            (packages / place).symlink_to(here / place)


def call(folder, *words):
    """Run a command in a folder without anything of this environment, and return what it gave."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "KPCA_LAB"))}
    environment = kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_suite_works_from_an_empty_folder(install, tmp_path):
    command = install("suite") / "kpca-lab"
    done = call(tmp_path, command, "run", "dataset=artificial2d", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "1 job computed" in done.stderr and "empirical_error" in done.stdout
    assert (tmp_path / "results/quick/custom/artificial2d.csv").is_file()

    (tmp_path / "mine.csv").write_text("\n".join(f"{i},{i * i % 7},{i % 3}" for i in range(40)))
    own = ["dataset=csv", "dataset.options.path=mine.csv", "seed=0,1"]
    done = call(tmp_path, command, "run", "-m", *own, *SMALL)
    assert done.returncode == 0, done.stderr
    assert "2 jobs computed" in done.stderr
    # the file's name, and a mark that tells it from files of that name elsewhere
    assert len(list((tmp_path / "results/quick/custom").glob("mine-??????.csv"))) == 1


@pytest.mark.parametrize("words", [["run", "+experiment=any/table1"], ["reproduce", "tables"]])
def test_the_experiments_of_papers_need_a_clone_and_one_line_says_so(words, monkeypatch, capsys):
    for module in ("run", "reproduce"):
        monkeypatch.setattr(f"kpca_lab.cli.{module}.experiments_folder", lambda: None)
    monkeypatch.setattr(sys, "argv", ["kpca-lab"])
    with pytest.raises(SystemExit, match="2"):
        main(words)
    text = capsys.readouterr().err
    assert "clone the project" in text and "KPCA_LAB_ROOT" in text and "\n" not in text.strip()


def test_the_library_needs_no_extra_and_the_commands_name_theirs(install, tmp_path):
    code = """
import importlib, pkgutil, kpca_lab
for module in pkgutil.walk_packages(kpca_lab.__path__, "kpca_lab."):
    if not module.name.startswith(("kpca_lab.suite", "kpca_lab.cli", "kpca_lab.datasets.__main__")):
        importlib.import_module(module.name)
from kpca_lab.cli.main import main
assert main(["run"]) == main(["report"]) == main(["datasets", "fetch", "usps"]) == 2
"""
    done = call(tmp_path, install() / "python", "-c", code)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    for line, extra in zip(lines, ("suite", "suite", "data")):
        assert line.endswith(f"pip install 'kpca-lab[{extra}]'")


def test_an_extra_brings_the_packages_that_the_code_says_it_brings():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    call = re.compile(r'require\(\s*"(\w+)[\w.]*",\s*"(\w+)"')
    calls = {pair for path in (ROOT / "kpca_lab").rglob("*.py") for pair in call.findall(path.read_text())}
    assert len(calls) > 5
    providers = metadata.packages_distributions()
    for module, extra in calls - {("json", "data")}:  # the example of extras.py
        brought = {canonicalize_name(Requirement(text).name) for text in declared[extra]}
        assert brought & {canonicalize_name(name) for name in providers[module]}, (module, extra)


def test_importing_the_library_imports_little_beside_scikit_learn():
    code = """
import sys, sklearn.decomposition
known = set(sys.modules)
import kpca_lab
for name in kpca_lab.__all__:
    getattr(kpca_lab, name)
new = set(sys.modules) - known
assert {name.partition(".")[0] for name in new} <= {"kpca_lab", "sklearn"}, new
heavy = {"cluster", "ensemble", "manifold", "neighbors", "tree"}
assert not {name.split(".")[1] for name in new if name.startswith("sklearn.")} & heavy, new
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_type_checkers_import_is_what_is_imported_when_asked_for():
    tree = ast.parse(Path(kpca_lab.__file__).read_text())
    (told,) = [node for node in tree.body if isinstance(node, ast.If)]
    homes = {alias.name: f"{node.module}" for node in told.body for alias in node.names}
    assert homes == {name: f"kpca_lab.{home}" for name, home in kpca_lab._HOMES.items()}
    assert sorted(homes) == sorted(kpca_lab.__all__) and set(kpca_lab.__all__) <= set(dir(kpca_lab))
    with pytest.raises(AttributeError, match="has no attribute 'SubKPCA'"):
        kpca_lab.SubKPCA  # noqa: B018


def test_a_command_with_nothing_to_do_imports_no_large_package():
    code = "import sys, kpca_lab.cli.main, kpca_lab.cli.reproduce; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"sklearn", "pandas", "hydra", "matplotlib", "rich"} & set(found.stdout.split())


def test_every_command_is_a_module_that_the_help_names(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name} " in text and f"  {command.example}\n" in text


def test_an_unknown_command_is_refused_with_the_near_one(capsys):
    assert main(["reprodce"]) == 2
    assert "did you mean 'reproduce'?" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    declared = (ROOT / "pyproject.toml").read_text().partition('\nversion = "')[2].partition('"')[0]
    assert capsys.readouterr().out == f"kpca-lab {declared}\n"
