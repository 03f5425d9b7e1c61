"""A text of headings, paragraphs, lists, tables and pictures, whatever it is written as.

A paragraph is a tuple of spans, so that neither HTML nor TeX has to be won back from the other. Notes, kept
as Markdown, become such blocks too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from markupsafe import Markup, escape

from kpca_lab.suite.render.markdown import slug
from kpca_lab.suite.render.table import Table

__all__ = [
    "Block",
    "Bullets",
    "Heading",
    "Paragraph",
    "Picture",
    "Span",
    "Spans",
    "from_markdown",
    "plain",
    "spans_to_html",
]

# x^2, 10^-5.1, K^(1/2); and E_emp, K_xy: one letter before it, so that names of columns are left alone
_SCRIPTS = re.compile(r"(?<=[\w)\]])\^(\([^()]*\)|[-+]?\w+(?:\.\d+)?)|(?<![\w.])(?<=\b)([A-Za-z])_(\w+)")


@dataclass(frozen=True)
class Span:
    """A piece of a line; its kind is "" or a tag of HTML: "code", "em", "strong", "sup" or "sub"."""

    text: str
    kind: str = ""


Spans = tuple[Span, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is a section of the text, and `name` is what links lead to."""

    level: int
    text: str
    name: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    spans: Spans


@dataclass(frozen=True)
class Bullets:
    """A list."""

    entries: tuple[Spans, ...]


@dataclass(frozen=True)
class Picture:
    """A picture as a file without its ending (there are .png and .pdf), with what it shows."""

    source: str
    title: str
    width: int
    height: int


Block = Heading | Paragraph | Bullets | Picture | Table


def plain(text: str) -> Spans:
    """A text as it stands, with powers and indices recognised.

    Examples
    --------
    >>> [(span.kind, span.text) for span in plain("E_emp at 10^-5.1")]
    [('', 'E'), ('sub', 'emp'), ('', ' at 10'), ('sup', '-5.1')]
    """
    spans, place = [], 0
    for found in _SCRIPTS.finditer(text):
        spans.append(Span(text[place : found.start()] + (found[2] or "")))
        power = found[1] or ""
        whole = power[1:-1] if power.startswith("(") else power
        spans.append(Span(whole, "sup") if power else Span(found[3], "sub"))
        place = found.end()
    spans.append(Span(text[place:]))
    return tuple(span for span in spans if span.text)


def from_markdown(
    text: str, level: int, name: str, deepest: int = 6, most_rows: int | None = None
) -> list[Block]:
    """Markdown as blocks; tables without rows are left out.

    Parameters
    ----------
    text : str
    level : int
        What a heading ``##`` becomes; the first line, ``# ...``, is left out.
    name : str
        What the names of headings begin with.
    deepest : int, default=6
        Parts under headings with more signs ``#`` than that are left out.
    most_rows : int, optional
        Tables with more rows are left out, with a line that says so.

    Returns
    -------
    list of blocks
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "autolink", "link"])
    blocks: list[Block] = []
    left_out = False
    for node in SyntaxTreeNode(reader.parse(text)).children:
        if node.type == "heading":
            signs = int(node.tag[1])
            left_out = signs > deepest
            if signs > 1 and not left_out:
                words = _text(node.children[0])
                blocks.append(Heading(level + signs - 2, words, f"{name}-{slug(words)}"))
        elif not left_out:
            blocks += _block(node)
    return [_shortened(block, most_rows) for block in blocks]


def _shortened(block: Block, most_rows: int | None) -> Block:
    if most_rows is None or not isinstance(block, Table) or len(block.rows) <= most_rows:
        return block
    return Paragraph(plain(f"(A table of {len(block.rows)} lines is in the notes.)"))


def _block(node) -> list[Block]:
    if node.type == "paragraph":
        return [Paragraph(_spans(node.children[0]))]
    if node.type in ("bullet_list", "ordered_list"):
        entries = [
            tuple(span for part in entry.children for span in _spans(part.children[0])) for entry in node
        ]
        return [Bullets(tuple(entries))]
    if node.type == "table":
        table = _table(node)
        return [table] if table.rows else []
    if node.type in ("code_block", "fence"):
        return [Paragraph((Span(node.content.strip(), "code"),))]
    return []


def _table(node) -> Table:
    head, *body = ([cell.children[0] for cell in row] for part in node for row in part)
    left = [cell.attrs.get("style", "") != "text-align:right" for cell in node.children[0].children[0]]
    headings, *rows = ([_text(cell) for cell in row] for row in (head, *body))
    return Table("", headings, rows, left)


def _text(inline) -> str:
    """The text of an inline node without its marks."""
    return "".join(_text(node) if node.children else node.content or " " for node in inline.children)


def _spans(inline) -> Spans:
    """The spans of an inline node; marks within marks are dropped."""
    spans: list[Span] = []
    for node in inline.children:
        if node.type == "text":
            spans += plain(node.content)
        elif node.type == "code_inline":
            spans.append(Span(node.content, "code"))
        elif node.type in ("softbreak", "hardbreak"):
            spans.append(Span(" "))
        elif node.type in ("em", "strong"):
            spans += [Span(part.text, node.type) for part in _spans(node)]
    return tuple(spans)


def spans_to_html(spans: Iterable[Span]) -> Markup:
    """A line of text as HTML."""
    return Markup("").join(
        Markup("<{0}>{1}</{0}>").format(span.kind, span.text) if span.kind else escape(span.text)
        for span in spans
    )
