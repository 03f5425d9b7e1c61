"""What the build of the documentation checks of its pages (``docs/_ext/checked.py``)."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs" / "_ext"))
from checked import faults

GOOD = (
    '<h1 id="top">One</h1><a href="two.html#part">two</a><a href="#top">up</a><a href="https://x.org">x</a>'
)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "one.html").write_text(GOOD)
    (tmp_path / "two.html").write_text(
        '<p id="part"></p><link rel="canonical" href="https://example.org/two">'
    )
    (tmp_path / "style.css").write_text("body { background: url(paper.png) }")
    return tmp_path


def test_a_sound_site_has_no_faults(site):
    assert faults(site) == []


@pytest.mark.parametrize(
    "fault",
    [
        '<a href="three.html">',
        '<a href="two.html#nowhere">',
        '<a href="#nowhere">',
        '<img src="lost.png">',
        '<script src="https://cdn.example.org/math.js"></script>',
        '<link rel="stylesheet" href="//cdn.example.org/style.css">',
        '<img src="https://example.org/badge.svg">',
    ],
)
def test_a_fault_is_named_with_its_page(site, fault):
    (site / "one.html").write_text(GOOD + fault)
    found = faults(site)
    assert found and all(line.startswith("one.html") for line in found)


def test_a_style_may_load_nothing_from_elsewhere(site):
    (site / "style.css").write_text('@import "https://fonts.example.org/a.css";')
    assert faults(site) == ["style.css loads https://fonts.example.org/a.css"]
