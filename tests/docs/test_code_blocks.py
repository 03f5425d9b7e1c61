"""Every Python block of README and documentation runs, those of a page one after another."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("guide/*.md")),
]
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page.relative_to(ROOT)), "exec"), names)


def source(page, target):
    """The file that a link leads to, or that its page is built from."""
    path = (page.parent / target).resolve()
    if path.parent.name == "auto_gallery":
        folder = ROOT / "docs" / "gallery"
        return folder / "README.rst" if path.stem == "index" else folder / f"{path.stem}.py"
    return path


def test_links_between_pages_lead_somewhere():
    lost = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "_generated" not in target and not source(page, target).exists():
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert not lost
