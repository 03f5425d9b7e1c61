"""What the pages show of committed results is written here while the site is built; no number is typed in."""

import shutil
from pathlib import Path

import yaml

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
INTO = DOCS / "_generated"
EXTRA = INTO / "extra"
GAP = """:::{container} wide
![Error and floor over the size of the basis on three data sets](/_generated/gap.png)
:::

*The error of full kernel PCA must lie in the shaded band, and does; the band closes as the basis grows.
Rank 20, bases by K-means, Gaussian kernel with `gamma="median"`
(`results/bench/gap.csv`, by `scripts/gap_record.py`).*
"""
GROWTH = """## Time and memory against rows

The memory of kernel PCA grows with the square of the rows, that of `SubsetKPCA` not at all:

:::{container} wide
![Seconds and peak memory of fits over the number of samples](/_generated/bench_growth.png)
:::

*Each fit in a process of its own (`results/bench/growth.csv`, by `make bench`).*
"""
FRONTIER = """Beside other packages, the error over the time of fit and transform:

:::{container} wide
![Error over time of ours and of peers](/_generated/bench_frontier.png)
:::

*`results/bench/frontier.csv`, by `make bench`.*
"""


def setup(app):
    """Write the pieces before anything is read."""
    app.connect("config-inited", lambda app, config: write_all())
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all() -> None:
    """Write all pieces into ``docs/_generated``."""
    INTO.mkdir(exist_ok=True)
    (INTO / "references.md").write_text(references(), encoding="utf-8")
    (INTO / "reproduced.md").write_text(reproduced(), encoding="utf-8")
    (INTO / "bench.md").write_text(bench(), encoding="utf-8")
    (INTO / "selectors.rst").write_text(selectors(), encoding="utf-8")
    write_notes()
    copy_figures()
    write_gap()
    write_growth()
    write_leaderboard()


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
    """What ``make bench`` measured beside peers, in short."""
    from scripts.bench.rows import read_rows, short_table

    return short_table(read_rows(ROOT / "results" / "bench" / "bench.csv"))


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
        # Comments of the notes are written as definitions of links, which a page may have only once.
        lines = [line for line in "\n\n".join(parts).split("\n") if not line.startswith("[//]: #")]
        (INTO / f"notes-{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def copy_figures() -> None:
    """The committed pictures that pages show."""
    figures = {"error_time": ROOT / "results/paper/figures/washizawa2012/figure6.png"}
    figures["contours"] = ROOT / "results/paper/figures/washizawa2012/figure1.png"
    for picture in sorted((ROOT / "results" / "bench").glob("*.png")):
        figures[f"bench_{picture.stem}"] = picture
    for name, source in figures.items():
        if source.is_file():
            shutil.copyfile(source, INTO / f"{name}.png")


def selectors() -> str:
    """The table of selectors, and what follows it, from the docstring of their package."""
    from kpca_lab import selectors

    text = selectors.__doc__ or ""
    return text[text.index("With n samples") : text.index("References\n")].replace(" [1]_", "")


def write_gap() -> None:
    """The figure of the gap bound, for two pages."""
    from pictures import gap_figure

    record = ROOT / "results" / "bench" / "gap.csv"
    shown = "Run `.venv/bin/python scripts/gap_record.py` first.\n"
    if record.is_file():
        gap_figure(record, INTO / "gap.png")
        shown = GAP
    for page in ("why", "guide"):
        (INTO / f"{page}_gap.md").write_text(shown, encoding="utf-8")


def write_growth() -> None:
    """The sections with the figures of the bench; empty where it has not drawn them."""
    for name, text in {"growth": GROWTH, "frontier": FRONTIER}.items():
        drawn = (ROOT / "results" / "bench" / f"{name}.png").is_file()
        (INTO / f"why_{name}.md").write_text(text if drawn else "", encoding="utf-8")


def write_leaderboard() -> None:
    """The page of the leaderboard, copied beside the site's own, and the link to it."""
    page = ROOT / "results" / "leaderboard" / "index.html"
    shown = "Run `make leaderboard` first.\n"
    (EXTRA / "leaderboard_page").mkdir(parents=True, exist_ok=True)
    if page.is_file():
        for file in page.parent.iterdir():
            if file.suffix in (".html", ".png", ".csv", ".md"):
                shutil.copyfile(file, EXTRA / "leaderboard_page" / file.name)
        shown = (
            '<p><a href="leaderboard_page/index.html">Open the leaderboard on a page of its own.</a></p>\n'
        )
    (INTO / "leaderboard.md").write_text(shown, encoding="utf-8")
