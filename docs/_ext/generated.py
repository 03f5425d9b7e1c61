"""What the pages show of committed results is written here while the site is built; no number is typed in."""

import shutil
from pathlib import Path

import yaml

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
INTO = DOCS / "_generated"


def setup(app):
    """Write the pieces before anything is read."""
    app.connect("builder-inited", lambda app: write_all())
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all() -> None:
    """Write all pieces into ``docs/_generated``."""
    INTO.mkdir(exist_ok=True)
    (INTO / "references.md").write_text(references(), encoding="utf-8")
    (INTO / "reproduced.md").write_text(reproduced(), encoding="utf-8")
    (INTO / "bench.md").write_text(bench(), encoding="utf-8")
    write_notes()
    copy_figures()


def references() -> str:
    """The papers of CITATION.cff, one line each."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    lines = []
    for entry in cited:
        names = ", ".join(
            f"{author['given-names'][0]}. {author['family-names']}" for author in entry["authors"]
        )
        where = entry.get("journal") or entry.get("collection-title") or ""
        lines.append(f"- {names}, *{entry['title']}*, {where} ({entry['year']}).")
    return "\n".join(lines) + "\n"


def reproduced() -> str:
    """The headline of the committed paper profile."""
    from kpca_lab.suite.judge.headline import readme_table

    return readme_table(ROOT / "results") + "\n"


def bench() -> str:
    """The table that ``make bench`` wrote."""
    path = ROOT / "results" / "bench" / "bench.md"
    return path.read_text(encoding="utf-8") if path.is_file() else "Run `make bench` first.\n"


def write_notes() -> None:
    """A page for each paper: its tables as computed and the notes on how it was read."""
    from kpca_lab.suite.papers import papers

    for name, paper in papers().items():
        tables = sorted((ROOT / "results" / "paper" / "tables" / name).glob("table*.md"))
        parts = [paper.notes.replace(": readings tried", "", 1).rstrip()]
        printed = [path for path in tables if not path.stem.endswith("_all") and path.stem[5:].isdigit()]
        for path in sorted(printed, key=lambda path: int(path.stem[5:])):
            text = path.read_text(encoding="utf-8").lstrip("#").strip()
            heading, _, rest = text.partition("\n")
            parts.append(f"## Computed: {heading.strip()}\n{rest}")
        (INTO / f"notes-{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def copy_figures() -> None:
    """The committed pictures that pages show."""
    figures = {"error_time": ROOT / "results/paper/figures/washizawa2012/figure6.png"}
    figures["contours"] = ROOT / "results/paper/figures/washizawa2012/figure1.png"
    for picture in sorted((ROOT / "results" / "bench").glob("*.png")):
        figures[f"bench_{picture.stem}"] = picture
    for name, source in figures.items():
        if source.is_file():
            shutil.copyfile(source, INTO / f"{name}.png")
