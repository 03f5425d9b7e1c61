"""What is imported where. The layers and the absence of cycles are contracts that ``make lint`` checks."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kpca_lab"
ABOVE_THE_LIBRARY = ("suite", "cli", "datasets", "distributed.py", "distributed")
MANDATORY = {"kpca_lab", "numpy", "scipy", "sklearn", "threadpoolctl"}


def imports_of(path):
    """Every import in a file: its level of relativity and the module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""


def test_imports_are_absolute():
    for folder in (PACKAGE, ROOT / "experiments", ROOT / "hydra_plugins"):
        for path in folder.rglob("*.py"):
            assert not any(level for level, _ in imports_of(path)), path


def test_the_library_imports_nothing_but_its_mandatory_packages():
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in ABOVE_THE_LIBRARY:
            used = {module.partition(".")[0] for _, module in imports_of(path)}
            assert used - set(sys.stdlib_module_names) <= MANDATORY, path
