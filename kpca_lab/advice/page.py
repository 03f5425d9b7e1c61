"""A suggestion as a page of its own: the facts, a plot of error against time, the table."""

import math
from html import escape
from typing import Any

from kpca_lab.advice.suggestion import Suggestion

__all__ = ["page"]

WIDTH, HEIGHT, MARGIN = 640, 360, 60
STYLE = """
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
pre { background: #f3f3f3; padding: 1em; overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9em; } td, th { padding: 0.2em 0.7em; text-align: left; }
tr:nth-child(even) { background: #f7f7f7; } td.number { text-align: right; } div { overflow-x: auto; }
svg { max-width: 100%; height: auto; } svg text { font-size: 12px; }
"""
COLUMNS = {
    "candidate": "candidate",
    "rows": "rows",
    "seconds": "seconds",
    "error": "error",
    "score": "score",
    "predicted_seconds": "seconds on all rows",
    "predicted_bytes": "bytes on all rows",
    "lost": "why not",
}


def page(found: Suggestion) -> str:
    """The page as HTML that needs no other file."""
    rows = found.rows_tried()
    facts = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in found.facts()
    )
    head = "".join(f"<th>{escape(title)}</th>" for title in COLUMNS.values())
    body = "".join(f"<tr>{''.join(_cell(row[name]) for name in COLUMNS)}</tr>\n" for row in rows)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(found.name)}</title>
<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>
<h1>{escape(found.name)} is suggested</h1>
<pre>{escape(found.line)}</pre>
<div><table>{facts}</table></div>
<h2>Error against time</h2>
{_plot([row for row in rows if row["error"]])}
<h2>What was tried</h2>
<div><table><tr>{head}</tr>
{body}</table></div>
</body></html>
"""


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    whole = float(value).is_integer()
    return f'<td class="number">{int(value) if whole else format(value, ".4g")}</td>'


def _plot(rows: list[dict[str, Any]]) -> str:
    """Points on logarithmic axes, the winner (the first row) filled; names appear under the pointer."""
    if not rows:
        return "<p>No error was measured.</p>"
    across = _axis([row["predicted_seconds"] for row in rows], MARGIN, WIDTH - 20)
    up = _axis([row["error"] for row in rows], HEIGHT - MARGIN, 20)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="error against time">'
    ]
    parts.append(
        f'<path d="M{MARGIN} 20V{HEIGHT - MARGIN}H{WIDTH - 20}" fill="none" stroke="#888"/>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 15}" text-anchor="middle">predicted seconds on all rows</text>'
        f'<text x="15" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 15 {HEIGHT / 2})">'
        "error</text>"
    )
    for value, place in across["ticks"]:
        parts.append(
            f'<text x="{place:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{value:.3g}</text>'
        )
    for value, place in up["ticks"]:
        parts.append(f'<text x="{MARGIN - 6}" y="{place + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    for number, row in enumerate(rows):
        x, y = across["place"](row["predicted_seconds"]), up["place"](row["error"])
        colour = "#c03" if number == 0 else "#48a"
        told = f"{row['candidate']}: error {row['error']:.4g}, {row['predicted_seconds']:.2g} s"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if number == 0 else 4}" fill="{colour}" '
            f'fill-opacity="0.7"><title>{escape(told)}</title></circle>'
        )
    return "\n".join([*parts, "</svg>"])


def _axis(values: list[float], start: float, stop: float) -> dict[str, Any]:
    """Where values lie between two places, on a logarithmic scale, and three of them to be written."""
    low, high = (math.log(max(value, 1e-300)) for value in (min(values), max(values)))
    margin = 0.05 * (high - low) or 0.05
    low, high = low - margin, high + margin

    def place(value: float) -> float:
        return start + (math.log(max(value, 1e-300)) - low) / (high - low) * (stop - start)

    ticks = [math.exp(low + share * (high - low)) for share in (0.05, 0.5, 0.95)]
    return {"place": place, "ticks": [(tick, place(tick)) for tick in ticks]}
