"""Configuration of the documentation: ``make docs`` builds it into ``docs/_build/html``."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from pygments.lexers.special import TextLexer

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS / "_ext")]
os.environ.setdefault("MPLBACKEND", "agg")

project = "kpca_lab"
author = "The kpca_lab developers"
copyright = author
version = release = installed_version("kpca-lab")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "generated",
    "checked",
]
exclude_patterns = ["_build", "gallery", "_generated/[!n]*"]  # all but the notes are pieces of pages
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(DOCS / "gallery"),
    "gallery_dirs": str(DOCS / "auto_gallery"),
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "kpca_lab"
html_static_path = ["_static"]
html_css_files = ["kpca_lab.css"]
html_extra_path = ["_generated/extra"]
html_show_search_summary = False  # it would be fetched, which browsers refuse for files
html_show_sourcelink = False
# Pages without pages below them need no list of these.
ALONE = "why quickstart migrate data cluster suite leaderboard glossary contributing changelog cite"
html_sidebars = {page: [] for page in ALONE.split()}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
}


def skip_inherited(app, what, name, member, skip, options):
    """Leave out what scikit-learn documents itself."""
    module = getattr(member, "__module__", None) or ""
    return True if module.startswith("sklearn") else skip


def setup(app):
    """Connect the hooks."""
    app.add_lexer("csv", TextLexer)  # of CONTRIBUTING.md; Pygments has none
    app.connect("autodoc-skip-member", skip_inherited)
