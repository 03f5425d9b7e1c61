"""Markdown, as the notes and tables are kept in, as parts of the report page."""

import re

from markdown_it import MarkdownIt
from markupsafe import Markup, escape


def slug(text) -> str:
    """A name for a link: ``Table 1`` and ``table1`` both give ``table-1``."""
    words = re.sub(r"(?<=[a-z])(?=[0-9])", "-", str(text).strip().lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def render_notes(paper, text) -> Markup:
    """The notes on a paper as HTML: headings below those of the page, with ids ``notes-<paper>-<heading>``.

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
    reader, tokens = _parse(text)
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 3, 6)}"
        if token.type == "heading_open":
            token.attrSet("id", f"notes-{paper}-{slug(tokens[place + 1].content)}")
    return _render(reader, tokens, "Table of the notes")


def render_table(text, label) -> tuple[str, Markup]:
    """A page with a heading, a table and remarks: the heading as text, and the rest as HTML.

    Parameters
    ----------
    text : str
        Markdown.
    label : str
        What a screen reader calls the box of the table.
    """
    reader, tokens = _parse(text)
    title = ""
    if tokens and tokens[0].type == "heading_open":
        title, tokens = tokens[1].content, tokens[3:]
    return title, _render(reader, tokens, label)


def _parse(text):
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    return reader, reader.parse(text)


def _render(reader, tokens, label) -> Markup:
    """HTML of the tokens, each table in a box that scrolls by itself and can be reached by the keyboard."""
    html = reader.renderer.render(tokens, reader.options, {})
    box = f'<div class="box tall" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
    return Markup(html.replace("<table>", box).replace("</table>", "</table></div>"))
