"""Tables of ``notes.md`` that are made from records, so that no number in them is typed.

In the notes of a paper, the lines between

    [//]: # (records: <name>)
    [//]: # (end of records)

are the table that the function registered as ``"<paper>/<name>"`` makes of the records of the paper profile.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.hooks import Registry
from kpca_lab.suite.judge.claims import NotRun
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.papers import load_experiments, papers

__all__ = ["filled", "main", "markdown_table", "update_notes"]

_BLOCK = re.compile(
    r"^(\[//\]: # \(records: (?P<name>[^)\n]+)\)\n).*?^(\[//\]: # \(end of records\)\n)", re.M | re.S
)


def markdown_table(frame: pd.DataFrame) -> str:
    """A frame of texts as a Markdown table; columns of numbers are aligned to the right."""
    numbers = [frame[name].map(lambda text: text[:1].isdigit() or not text).all() for name in frame]
    lines = [list(frame.columns), ["--:" if right else "---" for right in numbers]]
    lines += frame.to_numpy().tolist()
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def filled(text: str, paper: str, records: pd.DataFrame, registry: Registry) -> str:
    """The notes of a paper with all tables made anew; one whose records are missing stays as it is.

    Raises
    ------
    ValueError
        If the notes ask for a table that no function makes.
    """

    def table(found):
        name = f"{paper}/{found['name']}"
        if name not in registry.note_tables:
            raise ValueError(f"the notes of {paper} ask for {found['name']!r}, which no function makes")
        try:
            made = markdown_table(registry.note_tables[name](records))
        except NotRun:
            return found[0]
        return f"{found[1]}\n{made}\n\n{found[3]}"

    return _BLOCK.sub(table, text)


def update_notes(profile_dir, registry: Registry | None = None) -> list[Path]:
    """Fill the tables of all notes from the records of a profile; return the files that changed."""
    profile_dir = Path(profile_dir)
    registry = load_experiments() if registry is None else registry
    records = with_parameters(Store(profile_dir.parent, profile_dir.name).all_records())
    records = records[records.status == "done"]
    of_paper = records.experiment.str.partition("/")[0]
    changed = []
    for paper in papers().values():
        new = filled(paper.notes, paper.name, records[of_paper == paper.name], registry)
        if new != paper.notes:
            write_atomically(paper.folder / "notes.md", new.encode())
            changed.append(paper.folder / "notes.md")
    return changed


def main(arguments=None):
    """Command line: fill the tables of the notes from the records of the paper profile."""
    parser = argparse.ArgumentParser(prog="python -m kpca_lab.suite.judge.notes", description=main.__doc__)
    parser.add_argument("--results", default="results", help="folder of the results (default: %(default)s)")
    options = parser.parse_args(arguments)
    for path in update_notes(Path(options.results) / "paper") or ["no notes"]:
        print(f"{path}: updated")


if __name__ == "__main__":
    main()
