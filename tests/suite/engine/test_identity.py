"""The identity of a job: what determines its values, and nothing else."""

import importlib
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kpca_lab.suite.config.composing import compose_many
from kpca_lab.suite.engine.code_identity import OUTSIDE, code_version, definitions_used
from kpca_lab.suite.engine.identity import job_id
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.jobs import Job

ROOT = Path(__file__).resolve().parents[3]
MOVED = {
    "kpca_lab/linalg.py": "kpca_lab/dense_algebra.py",
    "kpca_lab/suite/measure/run_metrics.py": "kpca_lab/suite/measure/measures.py",
    "kpca_lab/selectors/random.py": "kpca_lab/selectors/draws.py",
    "experiments/common/stated.py": "experiments/common/texts.py",
}

# What is known of a module is kept by its name, so each is new.
NUMBERS = itertools.count()


@pytest.fixture
def version_of(tmp_path, monkeypatch):
    """The version of ``used`` in a module with the given text, and its definitions."""
    monkeypatch.syspath_prepend(tmp_path)

    def version(text, module=None):
        module = module or f"version_probe_{next(NUMBERS)}"
        (tmp_path / f"{module}.py").write_text(text)
        importlib.invalidate_caches()
        return code_version(f"{module}.used")

    return version


TEXT = """from kpca_lab import linalg
from kpca_lab.metrics import as_operator
from kpca_lab.suite.hooks import experiment
FACTOR = 2

def helper(x=1):
    from kpca_lab.classify import residuals_by_rank
    return FACTOR

ITEMS = ["a"]

@experiment.run(*ITEMS)
def used():
    return helper(), as_operator, linalg.numerical_rank

def other():
    return 1
"""


def test_the_code_version_follows_what_is_used_and_nothing_else(version_of):
    first = version_of(TEXT)
    for same in (
        TEXT.replace("    return 1", "    return 2"),
        TEXT.replace("def used():", "# why\ndef used() -> tuple:\n    '''Words.'''"),
        TEXT.replace("def helper(x=1):", "def helper(x: int = 1):"),
        TEXT.replace('["a"]', '["a", "b"]'),
        TEXT.replace("from kpca_lab import linalg", "import kpca_lab.linalg as algebra").replace(
            "linalg.numerical_rank", "numerical_rank").replace(
            "FACTOR = 2", "from kpca_lab.linalg import numerical_rank\nFACTOR = 2"),
    ):  # fmt: skip
        assert same != TEXT and version_of(same) == first
    assert version_of(TEXT, "another_name") == first
    for other in (
        TEXT.replace("FACTOR = 2", "FACTOR = 3"),
        TEXT.replace("return helper(),", "return"),
        TEXT.replace("linalg.numerical_rank", "linalg.fix_signs"),
        TEXT.replace("def helper(x=1)", "def helper(x=2)"),
    ):
        assert version_of(other) != first
    version_of(TEXT.replace("return FACTOR", "return residuals_by_rank"), "version_probe")
    names = definitions_used("version_probe.used")
    assert "version_probe.helper" in names and "kpca_lab.operator.FeatureOperator" in names
    assert "kpca_lab.classify.residuals_by_rank" in names, "imported inside a function"
    assert "version_probe.other" not in names


def test_names_that_a_module_makes_when_asked_are_followed(version_of):
    lazy = "def __getattr__(name):\n    from kpca_lab.linalg import fix_signs\n    return fix_signs\n"
    assert version_of(lazy) == code_version("kpca_lab.linalg.fix_signs")


def test_modules_that_change_no_value_exist_and_are_left_out():
    for module in OUTSIDE:
        place = ROOT / module.replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").is_file(), module
    used = definitions_used("kpca_lab.suite.measure.evaluate.evaluate")
    assert not [name for name in used if re.search(r"suite\.(judge|render|engine|config|\w+\.\w+$)", name)]


def identities(root, *overrides):
    plans = compose_many([[*words, "profile=smoke"] for words in overrides], conf=root / "conf")
    return [id for settings in plans for id in make_plan(settings).jobs]


WANTED = (
    ["n_train=30", "selector=[random,kmeans]"],
    ["+experiment=washizawa2012/table1"],
    ["+experiment=zhang2010/table1"],
)


def test_moving_a_module_changes_no_identity(tmp_path):
    """In a copy, modules are renamed wherever they are named."""
    for folder in ("kpca_lab", "experiments", "conf"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for old, new in MOVED.items():
        (tmp_path / old).rename(tmp_path / new)
    for path in [*tmp_path.rglob("*.py"), *tmp_path.rglob("*.yaml")]:
        before = text = path.read_text()
        for old, new in MOVED.items():
            package, old_name = old.removesuffix(".py").replace("/", ".").rsplit(".", 1)
            new_name = new.removesuffix(".py").rpartition("/")[2]
            text = text.replace(f"{package}.{old_name}", f"{package}.{new_name}")
        if text != before:
            path.write_text(text)
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    code += "from pathlib import Path; from test_identity import identities, WANTED\n"
    code += f"print(*identities(Path({str(tmp_path)!r}), *WANTED))"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": paths, "KPCA_LAB_ROOT": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.split() == identities(ROOT, *WANTED)


def test_the_identity_of_a_job_depends_on_the_users_file(tmp_path):
    path = tmp_path / "own.csv"
    dataset = {"name": "csv", "options": {"path": str(path), "target": "y"}, "scaling": None, "split": {}}
    path.write_text("1,2\n3,4\n")
    first = job_id(Job("custom/csv", dataset))
    assert job_id(Job("custom/csv", dataset)) == first
    path.write_text("1,2\n3,5\n")
    assert job_id(Job("custom/csv", dataset)) != first


def test_a_variant_of_a_data_set_is_identified_by_its_own_files():
    chosen = {"name": "yaleb", "options": {}, "scaling": None, "split": {}}
    first, same, other = (
        job_id(Job("custom/x", {**chosen, "options": options}))
        for options in ({"variant": "multipose"}, {"variant": "multipose"}, {"variant": "extended"})
    )
    assert first == same != other
