"""The article as LaTeX, and that as PDF where LaTeX is installed.

Tables run over pages. Their columns get widths estimated from the letters: text that is too long is
wrapped, and columns for which there is no room continue below the others.
"""

import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jinja2

from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.render.document import Block, Bullets, Heading, Paragraph, Picture, Spans, plain
from kpca_lab.suite.render.pages import template_source
from kpca_lab.suite.render.table import Table, tex_escape

__all__ = ["compile_tex", "render_tex"]

LINE = 505.0  # points: the width of the text
GAP = 6.0  # points between columns
FOLDED = 8  # rows from which a narrow table is folded into two halves
MOST_BESIDE = 30  # rows of tables that stand beside each other
WRAPPED = 110.0  # points: text up to here stays on its line
HEADING = 50.0  # points: headings of numbers up to here stay on their line
LIMIT = 120  # seconds for a run of LaTeX
_COMMANDS = {"code": r"\texttt", "em": r"\emph", "strong": r"\textbf"}
_COMMANDS |= {"sup": r"\textsuperscript", "sub": r"\textsubscript"}
_HEADINGS = {1: "section", 2: "subsection", 3: "subsubsection"}
# words may be cut here, which LaTeX does not do by itself
_BREAKS = re.compile(r"(?<=[/_=,])(?=[^\s/_=,)])|(?<=[a-z]\.)(?=[a-z])")
# how wide letters are in the type of the tables, in points; others are like small letters
_WIDTHS = {
    2.7: "!',.:;[]il|fj",
    3.3: ' -I"',
    3.6: "()trs",
    4.4: "cez?$*/0123456789\\`ago{}",
    6.2: "ZLFEPBCTw",
}
_WIDTHS |= {6.9: "RAHNUVXY_DK&+<=>@OQG±≈~×✗–−", 7.3: "#%m", 8.7: "MW"}
_POINTS = {letter: width for width, letters in _WIDTHS.items() for letter in letters}


def render_tex(article) -> str:
    """The whole file for pdflatex."""
    environment = jinja2.Environment(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    environment.filters |= {"tex": tex_escape, "blocks": _blocks}
    return environment.from_string(template_source("article.tex")).render(article=article, width=LINE)


def compile_tex(text: str, pictures: Path, target: Path) -> str:
    """Write a PDF.

    Parameters
    ----------
    text : str
        LaTeX.
    pictures : Path
        The folder of its pictures.
    target : Path
        The file.

    Returns
    -------
    str
        What is wrong, in a line; "" if the file was written.
    """
    if shutil.which("pdflatex") is None:
        return "pdflatex is not installed"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "article.tex").write_text(text, encoding="utf-8")
        for path in pictures.glob("*.pdf"):
            if path != target:
                shutil.copy(path, folder)
        command = [
            "pdflatex",
            "-interaction=nonstopmode",
            "-halt-on-error",
            "-no-shell-escape",
            "article.tex",
        ]
        for _ in range(2):  # the second run knows the widths of the tables and the pages
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=LIMIT
                )
            except subprocess.TimeoutExpired:
                return f"pdflatex did not end within {LIMIT} s"
            if done.returncode:
                found = re.search(r"^! .*", done.stdout, re.MULTILINE)
                return f"pdflatex failed: {found[0] if found else 'no reason given'}"
        write_atomically(target, (Path(folder) / "article.pdf").read_bytes())
    return ""


def _blocks(blocks: Sequence[Block]) -> str:
    """The blocks one after the other; narrow tables stand beside each other."""
    parts, place = [], 0
    while place < len(blocks):
        block, after = blocks[place], blocks[place + 1] if place + 1 < len(blocks) else None
        if isinstance(block, Table) and _is_narrow(block):
            if isinstance(after, Table) and _is_narrow(after):
                parts.append(_beside(block, after))
                place += 1
            else:
                parts.append(_beside(*_halves(block)))
            place += 1
            continue
        parts.append(_block(block))
        if isinstance(block, Heading) and block.level > 2 and not isinstance(after, Paragraph):
            parts.append(r"\leavevmode\par\nopagebreak")  # it stands in the line of what follows
        place += 1
    return "\n".join(parts)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return rf"\{_HEADINGS.get(block.level, 'paragraph')}{{{_spans(plain(block.text))}}}"
    if isinstance(block, Paragraph):
        return _spans(block.spans) + "\n"
    if isinstance(block, Bullets):
        entries = "\n".join(rf"\item {_guarded(_spans(entry))}" for entry in block.entries)
        return f"\\begin{{itemize}}\n{entries}\n\\end{{itemize}}"
    if isinstance(block, Picture):
        return (
            "\\par\\medskip\\begin{minipage}{\\linewidth}\\centering\n"
            rf"\includegraphics[width=\linewidth]{{{Path(block.source).name}.pdf}}"
            f"\n\n\\footnotesize {_spans(plain(block.title))}\n\\end{{minipage}}\\par"
        )
    first, *others = _split(block)
    parts = [first, *(replace(part, title="") for part in others)]
    parts = [*(replace(part, notes=[]) for part in parts[:-1]), replace(parts[-1], notes=block.notes)]
    return "\n".join(map(_long_table, parts))


def _spans(spans: Spans) -> str:
    parts = []
    for span in spans:
        text = r"\allowbreak{}".join(map(tex_escape, _BREAKS.split(span.text)))
        parts.append(f"{_COMMANDS[span.kind]}{{{text}}}" if span.kind else text)
    return "".join(parts)


def _guarded(text: str) -> str:
    """A text that starts with [ or * would be read as an argument of what is before it."""
    return "{}" + text if text.startswith(("[", "*")) else text


def _points(text: str) -> float:
    """How wide a text is in the type of the tables, rather too much than too little."""
    return sum(_POINTS.get(letter, 4.8) for letter in text)


def _column(table: Table, place: int) -> list[str]:
    """What the width of a column depends on: headings of numbers are wrapped, so their words."""
    heading = table.headings[place]
    words = [heading] if table.left[place] or _points(heading) <= HEADING else heading.split()
    return [*words, *(row[place] for row in table.rows)]


def _natural(table: Table) -> list[float]:
    return [max(map(_points, _column(table, place)), default=0.0) for place in range(len(table.headings))]


def _least(table: Table, place: int) -> float:
    """What a column needs at least: its longest word, if it is text that may be wrapped."""
    pieces = [
        piece for text in _column(table, place) for word in text.split() for piece in _BREAKS.split(word)
    ]
    return max(map(_points, pieces), default=0.0)


def _split(table: Table) -> list[Table]:
    """The table in parts that fit the page; the columns of text before the numbers stand in each."""
    natural = _natural(table)
    keys = next((place for place, left in enumerate(table.left) if not left), len(natural))
    needed = [
        min(width, max(WRAPPED, _least(table, place))) if left else width
        for place, (width, left) in enumerate(zip(natural, table.left))
    ]
    groups: list[list[int]] = [[]]
    room = LINE - sum(needed[:keys]) - GAP * keys
    used = 0.0
    for place in range(keys, len(natural)):
        if groups[-1] and used + needed[place] + GAP > room:
            groups.append([])
            used = 0.0
        groups[-1].append(place)
        used += needed[place] + GAP
    return [_columns(table, [*range(keys), *group]) for group in groups]


def _columns(table: Table, places: list[int]) -> Table:
    return replace(
        table,
        headings=[table.headings[place] for place in places],
        rows=[[row[place] for place in places] for row in table.rows],
        left=[table.left[place] for place in places],
    )


def _widths(table: Table) -> list[float | None]:
    """The width of each column that is wrapped, in points; None for those that are as wide as their text."""
    natural = _natural(table)
    room = LINE - GAP * len(natural)
    wrapped = [place for place, left in enumerate(table.left) if left and natural[place] > WRAPPED]
    if sum(natural) <= room or not wrapped:
        return [None] * len(natural)
    room -= sum(width for place, width in enumerate(natural) if place not in wrapped)
    least = {place: max(_least(table, place), 40.0) for place in wrapped}
    weight = {place: math.sqrt(sum(map(_points, _column(table, place)))) for place in wrapped}
    spare = max(room - sum(least.values()), 0.0) / sum(weight.values())
    return [
        least[place] + spare * weight[place] if place in wrapped else None for place in range(len(natural))
    ]


def _is_narrow(table: Table) -> bool:
    """Whether two of the kind fit beside each other."""
    width = sum(_natural(table)) + GAP * len(table.headings)
    return width < 0.5 * LINE and len(table.rows) <= MOST_BESIDE and not table.notes


def _halves(table: Table) -> list[Table]:
    if len(table.rows) < FOLDED:
        return [table]
    middle = (len(table.rows) + 1) // 2
    return [replace(table, rows=table.rows[:middle]), replace(table, rows=table.rows[middle:], title="")]


def _beside(*tables: Table) -> str:
    boxes = []
    for table in tables:
        head, *lines = _lines(table)
        kinds = "".join("l" if left else "r" for left in table.left)
        boxes.append(
            "\n".join(
                [
                    r"\begin{minipage}[t]{0.48\linewidth}\footnotesize",
                    rf"\raggedright\textbf{{{_cell(table.title)}}}\par\smallskip" if table.title else "%",
                    rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
                    rf"\toprule {head} \midrule",
                    *lines,
                    r"\bottomrule",
                    r"\end{tabular}",
                    r"\end{minipage}",
                ]
            )
        )
    return r"\par\medskip\noindent" + "\n" + "\\hfill\n".join(boxes) + "\n\\par\\medskip"


def _long_table(table: Table) -> str:
    kinds = [
        ("l" if left else "r") if width is None else rf">{{\raggedright\arraybackslash}}p{{{width:.1f}pt}}"
        for width, left in zip(_widths(table), table.left)
    ]
    head, *lines = _lines(table)
    # within the table, so that it stays with it, but in a box without width
    title = rf"\multicolumn{{{len(kinds)}}}{{@{{}}l@{{}}}}{{\tabletitle{{{_cell(table.title)}}}}} \\[2pt]"
    notes = [rf"\tablenote{{{_cell(note)}}}" for note in table.notes]
    return "\n".join(
        [
            r"{\footnotesize",
            rf"\begin{{longtable}}{{@{{}}{''.join(kinds)}@{{}}}}",
            *([title] if table.title else []),
            rf"\toprule {head} \midrule \endfirsthead",
            rf"\toprule {head} \midrule \endhead",
            r"\bottomrule \endfoot",
            *lines,
            r"\end{longtable}}",
            *notes,
        ]
    )


def _lines(table: Table) -> list[str]:
    """Headings and rows as lines of a tabular."""
    heads = [
        _cell(text) if left else _wrapped_heading(text, width)
        for text, left, width in zip(table.headings, table.left, _natural(table))
    ]
    rows = [[_cell(text) for text in row] for row in table.rows]
    return [_guarded(" & ".join(entries)) + r" \\" for entries in (heads, *rows)]


def _wrapped_heading(text: str, width: float) -> str:
    lines: list[str] = []
    for word in text.split():
        if lines and _points(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) < 2:
        return _cell(text)
    joined = r" \\ ".join(_guarded(_cell(line)) for line in lines)
    return rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{joined}\end{{tabular}}"


def _cell(text: str) -> str:
    return _spans(plain(text.replace("\n", " ")))
