"""All that is judged of a profile: from its records to ``scoreboard.csv`` and ``claims.csv``.

A wrong cell, claim, module or list of published numbers of one paper is a problem of that paper, and stops
nothing else.
"""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.hooks import Registry
from kpca_lab.suite.judge.claims import NOT_CHECKED, write_claims
from kpca_lab.suite.judge.published import load_published, no_cells
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.judge.scoreboard import build_scoreboard, collect_cells, write_scoreboard
from kpca_lab.suite.papers import load_experiments, papers

__all__ = ["Judged", "judge_profile"]

REDUCED = ("smoke", "quick")  # profiles whose settings differ from the printed ones on purpose
TINY = "smoke"


@dataclass
class Judged:
    """What judging gave.

    Attributes
    ----------
    records : DataFrame
        All records of the papers, every setting a column.
    scoreboard, claims : DataFrame
        As written to their files.
    problems : dict
        What is wrong, in a line, by paper, item or claim.
    """

    records: pd.DataFrame
    scoreboard: pd.DataFrame
    claims: pd.DataFrame
    problems: dict[str, str] = field(default_factory=dict)


def judge_profile(profile_dir, registry: Registry | None = None) -> Judged:
    """Judge the records of a profile, and write its scoreboard and claims.

    Parameters
    ----------
    profile_dir : path
        Such as ``results/quick``.
    registry : Registry, optional
        What the papers' experiments registered; all of it by default.

    Returns
    -------
    Judged
    """
    profile_dir = Path(profile_dir)
    store = Store(profile_dir.parent, profile_dir.name)
    registry = load_experiments() if registry is None else registry
    problems = dict(registry.problems)
    published = _published(problems)
    records = with_parameters(store.all_records())
    cells, wrong = collect_cells(records, published, registry.cell_makers, store.settings)
    if profile_dir.name == TINY:
        cells = cells.assign(comparable=False, note="computed at the tiny sizes of the smoke profile")
    scoreboard = build_scoreboard(published, cells, full_size=profile_dir.name not in REDUCED)
    write_scoreboard(profile_dir, scoreboard)
    claims = write_claims(profile_dir, records, registry.claims)
    broken = claims[claims.numbers.str.startswith(NOT_CHECKED)]
    problems |= wrong | dict(zip(broken.paper + " claim " + broken.id, broken.numbers))
    return Judged(records, scoreboard, claims, problems)


def _published(problems):
    """The published cells of all papers whose files can be read."""
    frames = [no_cells()]
    for paper in papers():
        try:
            frames.append(load_published(paper))
        except Exception as error:
            problems[paper] = f"published.csv: {type(error).__name__}: {error}"
    frames = [frame for frame in frames if len(frame)] or frames
    return pd.concat(frames, ignore_index=True)
