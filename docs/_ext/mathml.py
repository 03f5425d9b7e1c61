"""Mathematics as MathML, which browsers draw by themselves: the pages need no script from elsewhere."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def inline(translator, node):
    """A formula within a line."""
    translator.body.append(convert(node.astext()))
    raise SkipNode


def block(translator, node):
    """A formula on lines of its own, with its number if it has a label."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    anchor = f' id="equation-{node["label"]}"' if node.get("label") else ""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math"{anchor}>{number}{formula}</div>')
    raise SkipNode


def setup(app):
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
