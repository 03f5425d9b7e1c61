"""A table, and how it looks as Markdown, as TeX and as HTML."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup, escape

__all__ = ["Table", "tex_escape", "to_html", "to_markdown", "to_tex"]

TEX_LETTERS = 110  # a line with more of them is turned to the long side of the page

_TEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"$\sim$", "^": r"\^{}"}
_TEX |= {letter: "\\" + letter for letter in "&%$#_"} | {sign: f"${sign}$" for sign in "<>|"}
_TEX |= {"±": r"$\pm$", "≈": r"$\approx$", "✗": r"$\times$", "×": r"$\times$", "–": "--", "=": "$=$"}
_TEX |= {"−": "$-$", "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\rightarrow$"}
_TEX |= {"∞": r"$\infty$", "∈": r"$\in$", "°": r"$^\circ$", "²": "$^2$", "³": "$^3$"}
_TEX |= {"…": r"\ldots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "—": "---"}
_GREEK = re.compile("GREEK SMALL LETTER ((?!OMICRON)[A-Z]+)")
_READINGS = re.compile(r"readings tried: \S*/(\w+)/notes\.md#([\w-]+)")


@dataclass(frozen=True)
class Table:
    """What a table says, whatever it is written as.

    Attributes
    ----------
    title : str
    headings : list of str
    rows : list of list of str
    left : list of bool
        Which columns are text, and so stand on the left.
    notes : list of str
        Remarks below it.
    marks : str
        Signs that may end a number, after a space; they get a place of their own where that can be had.
    """

    title: str
    headings: list[str]
    rows: list[list[str]]
    left: list[bool]
    notes: list[str] = field(default_factory=list)
    marks: str = ""

    def first(self, most: int, file: str, notes: int | None = None) -> "Table":
        """The table cut to so many rows, with a note that says where the others are, and so many notes."""
        hidden = len(self.rows) - most
        more = [f"{hidden} more lines are in {file}."] if hidden > 0 else []
        return replace(self, rows=self.rows[:most], notes=[*self.notes[:notes], *more])


def to_markdown(table: Table) -> str:
    """A page with one table."""

    def line(entries):
        texts = (re.sub(r"([|*\\])", r"\\\1", entry.replace("\n", " ")) for entry in entries)
        return f"| {' | '.join(texts)} |"

    rule = "|" + "|".join("---" if left else "--:" for left in table.left) + "|"
    parts = [f"# {table.title}", "", line(table.headings), rule, *map(line, table.rows), ""]
    parts += [part for note in table.notes for part in (note, "")]
    return "\n".join(parts).rstrip() + "\n"


def to_tex(table: Table) -> str:
    """A table environment for LaTeX: turned if it is wide, and smaller if it does not fit the page."""

    def line(entries):
        # a line that starts with [ or * would be read as an argument of the line break before it
        joined = " & ".join(map(tex_escape, entries))
        return ("{}" if joined.startswith(("[", "*")) else "") + joined + r" \\"

    letters = sum(2 + max(map(len, column)) for column in zip(table.headings, *table.rows))
    environment, height = ("sidewaystable", "width") if letters > TEX_LETTERS else ("table", "height")
    height = rf"0.98\text{height}"  # less than all of it, for what is lost in rounding
    return "\n".join(
        [
            r"% needs \usepackage{booktabs, graphicx, rotating}",
            rf"\begin{{{environment}}}",
            # caption and table together, which is what has to fit
            rf"\resizebox*{{!}}{{\ifdim\totalheight>{height}{height}\else\totalheight\fi}}{{"
            r"\parbox{\linewidth}{\centering\small",
            rf"\caption{{{tex_escape(' '.join([f'{table.title}.', *table.notes]))}}}",
            r"\medskip",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{"
            rf"\begin{{tabular}}{{{''.join('l' if left else 'r' for left in table.left)}}}",
            r"\toprule",
            line(table.headings),
            r"\midrule",
            *map(line, table.rows),
            r"\bottomrule",
            r"\end{tabular}}}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def to_html(
    table: Table, label: str, places: Sequence[str] = (), text_to_html: Callable[[str], Markup] = escape
) -> Markup:
    """The table and its notes as HTML, in a box that scrolls by itself and can be reached by the keyboard.

    Parameters
    ----------
    table : Table
    label : str
        What a screen reader calls the box.
    places : sequence of str
        Ids that notes may be linked to: ``notes-<paper>-<heading>`` or ``notes-<paper>``.
    text_to_html : callable
        What is done with headings and cells.
    """

    def cell(text, left):
        if left:
            return Markup("<td>{}</td>").format(text_to_html(text))
        number, mark = text, ""
        if table.marks and text[-2:-1] == " " and text[-1] in table.marks:
            number, mark = text[:-2], text[-1]
        # a place for the mark in every cell, so that the digits of both lines are below each other
        place = Markup('<span class="mark">{}</span>').format(mark) if table.marks else ""
        return Markup('<td class="number">{}{}</td>').format(text_to_html(number), place)

    heads = Markup("").join(
        Markup("<th{}>{}</th>").format("" if left else Markup(' class="number"'), text_to_html(text))
        for text, left in zip(table.headings, table.left)
    )
    rows = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup("").join(map(cell, row, table.left))) for row in table.rows
    )
    box = Markup('<div class="box tall" tabindex="0" role="region" aria-label="{}"><table>\n').format(label)
    body = Markup("<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>\n").format(heads, rows)
    notes = Markup("").join(Markup("<p>{}</p>\n").format(_linked(note, places)) for note in table.notes)
    return box + body + notes


def _linked(note, places):
    """A note with a link to the readings that were tried, where it names them."""

    def link(found):
        whole = f"notes-{found[1]}"
        place = f"{whole}-{found[2]}" if f"{whole}-{found[2]}" in places else whole
        return f'<a href="#{place}">readings tried</a>' if place in places else "readings tried"

    return Markup(_READINGS.sub(link, str(escape(note))))


def tex_escape(text: str) -> str:
    """Plain text as LaTeX; a letter that it does not know is replaced by its number.

    Examples
    --------
    >>> print(tex_escape("10 % ± 2_a"))
    10 \\% $\\pm$ 2\\_a
    """
    return "".join(map(_tex_letter, text.replace("\n", " ")))


def _tex_letter(letter):
    if letter in _TEX:
        return _TEX[letter]
    if letter.isprintable() and (letter.isascii() or (letter.isalpha() and letter <= "ÿ")):
        return letter
    if greek := _GREEK.fullmatch(unicodedata.name(letter, "")):
        return rf"$\{greek[1].lower()}$"
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return "".join(_TEX.get(sign, sign) for sign in plain) or f"[U+{ord(letter):04X}]"
