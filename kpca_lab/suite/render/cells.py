"""What the report page shows of scoreboard and claims: rows, counts, and how far ours are from the paper."""

import math
import re

import numpy as np
import pandas as pd

from kpca_lab.suite.judge.claims import read_claims
from kpca_lab.suite.judge.headline import headline
from kpca_lab.suite.judge.published import format_number, item_label
from kpca_lab.suite.judge.verdicts import AGREE, VERDICTS
from kpca_lab.suite.papers import paper_label, papers
from kpca_lab.suite.render.markdown import slug

TICKS = (-100, -10, -1, 0, 1, 10, 100)  # per cent
LINEAR = 0.1  # per cent: up to here the scale of the deviations is nearly linear
MEANINGS = {
    "exact": "ours rounds to the printed digits",
    "consistent": "the difference is at most two standard errors of the difference of the means: standard "
    "deviations over the root of the trials or images",
    "close": "the difference is at most 2 % of the printed number; whole numbers are exact or off",
    "off": "none of these; the notes of the paper say which readings were tried",
    "not_comparable": "a time on other hardware, a rough statement, or data that cannot be had; the note "
    "says why",
    "not_run": "not computed in this profile",
}
WORDS = {
    "blas": "BLAS",
    "cpu": "CPU",
    "identity": "identities that hold",
    "memory_mb": "memory [MB]",
    "modified": "changes not committed",
    "setting": "settings as printed",
}
# what the scoreboard writes for a cell that is off; the page has a link instead
READINGS = re.compile(r"^readings tried: \S+?(; |$)")


def named(text) -> str:
    """The name of a field or a verdict in words."""
    return WORDS.get(text, str(text).replace("_", " "))


def capital_label(item) -> str:
    """The name of a table or figure in words, to start a line with."""
    label = item_label(item)
    return label[0].upper() + label[1:]


def scoreboard_rows(board, notes) -> list[dict]:
    """The rows of the scoreboard with their numbers as printed texts and as keys to sort by."""
    rows = []
    for cell in board.to_dict("records"):
        digits = 4 if pd.isna(cell["decimals"]) else int(cell["decimals"])
        names = ("paper", "table", "row", "column", "kind", "verdict", "reading", "verdict_as_described")
        rows.append(
            {name: cell[name] for name in names}
            | {
                "paper_title": paper_label(cell["paper"]),
                "table_label": capital_label(cell["table"]),
                "published": _pair(cell["published"], cell["published_sd"], digits),
                "published_key": _key(cell["published"]),
                "ours": _pair(cell["ours"], cell["ours_sd"], digits),
                "ours_key": _key(cell["ours"]),
                "as_described": format_number(cell["as_described"], digits),
                "as_described_key": _key(cell["as_described"]),
                "trials": "" if pd.isna(cell["trials"]) else int(cell["trials"]),
                "rank": VERDICTS.index(cell["verdict"]),
                "note": READINGS.sub("", cell["note"]),
                "anchor": _anchor(cell, notes),
            }
        )
    return rows


def _anchor(cell, notes) -> str:
    """The id of the notes on the table of a cell that is off, "" for other cells."""
    if cell["verdict"] != "off" or not notes.get(cell["paper"]):
        return ""
    anchor = f"notes-{cell['paper']}-{slug(cell['table'])}"
    return anchor if f'id="{anchor}"' in notes[cell["paper"]] else f"notes-{cell['paper']}"


def _pair(value, sd, decimals) -> str:
    """A mean with its deviation, as the papers print them."""
    text = format_number(value, decimals)
    return f"{text} ± {format_number(sd, decimals)}" if text and not pd.isna(sd) else text


def _key(value) -> str:
    return "" if pd.isna(value) or not math.isfinite(value) else repr(float(value))


def claim_rows(profile_dir) -> list[dict]:
    """The rows of ``claims.csv``, none if there is no such file."""
    claims = read_claims(profile_dir)
    rows = [] if claims is None else claims.to_dict("records")
    for row in rows:
        row["paper_title"] = paper_label(row["paper"])
    return rows


def counts(rows, verdicts, beside) -> list[dict]:
    """The number of rows by paper and verdict, and of all; those of some kinds are counted apart."""
    found = []
    for paper in [*papers(), ""]:
        own = [row for row in rows if paper in ("", row["paper"])]
        if own:
            counted = [row["verdict"] for row in own if row["kind"] in ("result", "claim")]
            apart = {}
            for kind in beside:
                told = [row["verdict"] for row in own if row["kind"] == kind]
                told = [verdict for verdict in told if not verdict.startswith("not")]
                good = [verdict for verdict in told if verdict not in ("off", "fails")]
                apart[kind] = f"{len(good)} of {len(told)}" if told else ""
            found.append(
                {
                    "paper": paper,
                    "title": paper_label(paper) or "All papers",
                    "numbers": {name: counted.count(name) for name in verdicts},
                    "total": len(counted),
                    "beside": apart,
                }
            )
    return found


def with_shares(rows, board) -> list[dict]:
    """The counts with the shares of the results that agree, also with the texts as they stand."""
    for row in rows:
        found = headline(board).loc[row["paper"] or "all"]
        for name, share in (("agree", found.agree), ("as described", found.agree_as_described)):
            row["beside"][name] = "" if pd.isna(share) else f"{share:.1f} %"
    return rows


def deviations(board) -> dict:
    """The picture that opens the page: the deviation in per cent of every result that was compared.

    Parameters
    ----------
    board : DataFrame or None
        The scoreboard.

    Returns
    -------
    dict
        ``rows``, one for each printed table, with ``dots`` at ``x`` per cent of the width; ``ticks``;
        ``cells``, the number of dots; ``left_out``, that of cells printed as zero; ``verdicts``.
    """
    if board is None:
        return {"rows": []}
    shown = board[(board.kind == "result") & board.verdict.isin([*AGREE, "off"])]
    compared = shown[shown.published != 0]
    percent = 100 * (compared.ours - compared.published) / compared.published.abs()
    compared = compared.assign(percent=percent)[np.isfinite(percent)]
    rows = []
    for (paper, table), cells in compared.groupby(["paper", "table"], sort=False):
        # those that are off are drawn last, on top of the others
        cells = cells.sort_values("verdict", key=lambda names: names.map(VERDICTS.index), kind="stable")
        agree, median = int(cells.verdict.isin(AGREE).sum()), cells.percent.abs().median()
        rows.append(
            {
                "label": f"{paper_label(paper)}, {item_label(table)}",
                "target": f"table-{paper}-{table}",
                "told": f"{agree} of {len(cells)} agree; median deviation {median:.2g} %",
                "dots": [_dot(place, cell) for place, cell in enumerate(cells.itertuples())],
            }
        )
    return {
        "rows": rows,
        "ticks": [{"x": _place(value), "text": f"{value:+d}" if value else "0"} for value in TICKS],
        "cells": len(compared),
        "left_out": len(shown) - len(compared),
        "verdicts": set(compared.verdict),
    }


def _dot(place, cell) -> dict:
    digits = 4 if pd.isna(cell.decimals) else int(cell.decimals)
    printed, own = (format_number(value, digits) for value in (cell.published, cell.ours))
    return {
        "verdict": cell.verdict,
        "x": _place(cell.percent),
        "y": round(5 + 12 * (0.618 * place % 1), 1),  # the golden section keeps neighbours apart
        "text": f"{cell.row}, {cell.column}: published {printed}, ours {own} ({cell.percent:+.2g} %)",
    }


def _place(percent) -> float:
    """Where a deviation stands, in per cent of the width."""
    far = math.log10(1 + abs(percent) / LINEAR) / math.log10(1 + max(TICKS) / LINEAR)
    return round(50 + math.copysign(47 * min(far, 1.02), percent), 2)
