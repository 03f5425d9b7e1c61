"""Markdown, as the notes are kept in, as parts of the report page."""

import re

from markdown_it import MarkdownIt
from markupsafe import Markup


def slug(text) -> str:
    """A name for a link: ``Table 1`` and ``table1`` both give ``table-1``."""
    words = re.sub(r"(?<=[a-z])(?=[0-9])", "-", str(text).strip().lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def natural_order(name) -> list:
    """A key that puts table2 before table10."""
    parts = slug(name).split("-")
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def render_notes(paper, text) -> Markup:
    """The notes on a paper as HTML: headings below those of the page, with ids ``notes-<paper>-<heading>``.

    Nothing in them can lead or load from elsewhere: pictures stay text, and so do links that do not stay on
    the page.

    Parameters
    ----------
    paper : str
    text : str
        Markdown; HTML within it is shown, not obeyed.

    Returns
    -------
    Markup
        Empty for an empty text.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "autolink"])
    reader.validateLink = lambda address: address.startswith("#")
    tokens = reader.parse(text)
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 3, 6)}"
        # the content policy of the page forbids styles within tags
        if token.attrs.pop("style", "") == "text-align:right":
            token.attrSet("class", "number")
        if token.type == "heading_open":
            token.attrSet("id", f"notes-{paper}-{slug(tokens[place + 1].content)}")
    html = reader.renderer.render(tokens, reader.options, {})
    # each table in a box that scrolls by itself and can be reached by the keyboard
    box = '<div class="box tall" tabindex="0" role="region" aria-label="Table of the notes"><table>'
    return Markup(html.replace("<table>", box).replace("</table>", "</table></div>"))
