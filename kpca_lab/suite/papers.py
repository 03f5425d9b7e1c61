"""The papers, discovered from their folders: ``experiments/<paper>/`` and ``conf/experiment/<paper>/``.

A folder of ``experiments`` with a ``notes.md`` is a paper. It holds

- ``notes.md``: its first line, ``# <name>: ...``, names the paper; the rest says which readings were tried;
- ``published.csv``: the numbers that it prints (:mod:`kpca_lab.suite.judge.published` has the columns);
- ``claims.py``: its statements as computed checks (:mod:`kpca_lab.suite.judge.claims`);
- modules that register what its items need beyond their YAML files (:mod:`kpca_lab.suite.hooks`).

The titles of tables and figures are the ``title:`` of the YAML files; an item with several pictures or tables
lists theirs under ``titles:``.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from kpca_lab.suite.hooks import Registry, experiment
from kpca_lab.suite.places import conf_folder, experiments_folder, make_experiments_importable

__all__ = ["Paper", "load_experiments", "paper_label", "papers", "titles"]


@dataclass(frozen=True)
class Paper:
    """A paper: the name of its folder, the name for people, and the folder."""

    name: str
    label: str
    folder: Path

    @property
    def notes(self) -> str:
        """Which readings were tried, as Markdown."""
        return (self.folder / "notes.md").read_text(encoding="utf-8")


@cache
def papers() -> dict[str, Paper]:
    """All papers by the name of their folder, in alphabetical order."""
    folder = experiments_folder()
    if folder is None:
        return {}
    found = {}
    for notes in sorted(folder.glob("*/notes.md")):
        with notes.open(encoding="utf-8") as file:
            label = file.readline().lstrip("# ").partition(":")[0].strip()
        found[notes.parent.name] = Paper(notes.parent.name, label or notes.parent.name, notes.parent)
    return found


def paper_label(name: str) -> str:
    """The name of a paper for people; the folder's name where it is not known."""
    return papers()[name].label if name in papers() else name


@cache
def titles() -> dict[tuple[str, str], str]:
    """Titles of tables and figures in our words, by paper and item."""
    found = {}
    for path in sorted((conf_folder() / "experiment").glob("*/*.yaml")):
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        paper = path.parent.name
        found[paper, path.stem] = content.get("title", "")
        found |= {(paper, item): title for item, title in content.get("titles", {}).items()}
        found.setdefault((paper, "text"), "Numbers stated in the text")
    return found


def load_experiments(paper: str | None = None) -> Registry:
    """Import the modules of one paper, or of all of them, so that what they register is known.

    A paper whose modules cannot be imported is left out, and what happened is kept in
    ``experiment.problems``, unless it is the one that is asked for.

    Parameters
    ----------
    paper : str, optional
        All papers by default.

    Returns
    -------
    Registry
    """
    for name in papers() if paper is None else [paper] if paper in papers() else []:
        try:
            _import_modules(name)
        except Exception as error:
            if paper is not None:
                raise
            experiment.problems[name] = f"{type(error).__name__}: {error}"
    return experiment


def _import_modules(paper: str) -> None:
    make_experiments_importable()
    package = importlib.import_module(f"experiments.{paper}")
    for module in sorted(entry.name for entry in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
