"""The page of the leaderboard: pick data and measures, hover, sort, share by the address; no network."""

import json

import numpy as np
import pandas as pd
from PIL import Image

from kpca_lab.suite.leaderboard.results import KEYS, MEASURES, Measure
from kpca_lab.suite.leaderboard.words import label
from kpca_lab.suite.render.labels import dataset_label
from kpca_lab.suite.render.pages import style_and_script, template_environment, template_source
from kpca_lab.suite.render.style import METHODS, method_style
from kpca_lab.suite.render.table import to_html

__all__ = ["page_data", "picture", "render_page"]

# What the rows over all data sets have.
OVERALL = {
    "excess": Measure("error above the least"),
    "time": Measure("time relative to subset / random"),
    "finished": Measure("share of runs finished", less_is_better=False, log=False),
}


def render_page(profile, table, summaries, said, tables, pictures, facts, files, command) -> str:
    """The page as a text.

    Parameters
    ----------
    profile : str
    table : DataFrame
        From :func:`~kpca_lab.suite.leaderboard.aggregates.with_excess`.
    summaries : dict
        By size, from :func:`~kpca_lab.suite.leaderboard.aggregates.summary`.
    said : list of str
        The sentences.
    tables : list of Table
    pictures : list of dict
        From `picture`.
    facts : dict
        How many, where.
    files : list of str
        Beside the page.
    command : str
        What made it.
    """
    style = template_source("report.css") + template_source("leaderboard.css")
    return (
        template_environment()
        .get_template("leaderboard.html")
        .render(
            profile=profile,
            facts=facts,
            sentences=said,
            tables=[{"title": entry.title, "body": to_html(entry, entry.title)} for entry in tables],
            figures=pictures,
            files=files,
            command=command,
            # as a script of its own it must not be ended early
            data=json.dumps(page_data(table, summaries), separators=(",", ":")).replace("<", "\\u003c"),
            **style_and_script(style, template_source("leaderboard.js")),
        )
    )


def picture(path, title) -> dict:
    """What the page needs to know of a figure beside it."""
    with Image.open(path) as image:
        width, height = image.size
    return {"title": title, "source": path.name, "file": "leaderboard.csv", "width": width, "height": height}


def page_data(table: pd.DataFrame, summaries: dict[int, pd.DataFrame]) -> dict:
    """What the script draws from: medians over the trials, with the least and the most."""
    names = [name for name in table.columns if name not in (*KEYS, "entrant", "excess")]
    measures = OVERALL | {name: MEASURES.get(name, Measure(name.replace("_", " "))) for name in names}
    entrants = sorted(table["entrant"].unique())
    datasets = [{"name": "all", "label": "all data sets", "about": "interquartile means with 95 % intervals"}]
    rows = [
        [0, entrants.index(entrant), size, *_overall(row), *[None] * len(names)]
        for size, summary in summaries.items()
        for entrant, row in summary.iterrows()
    ]
    for dataset, own in table.groupby("dataset"):
        about = f"{own['n'].iloc[0]} training rows, {own['d'].iloc[0]} columns; medians over the trials"
        datasets.append({"name": dataset, "label": dataset_label(dataset), "about": about})
        for (entrant, size), tried in own.groupby(["entrant", own["m"].fillna(0)]):
            values = [_spread(tried[name].astype(float)) for name in names]
            if any(values):
                place = [len(datasets) - 1, entrants.index(entrant), int(size) or None]
                rows.append([*place, *[None] * len(OVERALL), *values])
    selectors = sorted({name.partition("/")[2] for name in entrants} - {""})
    palette = [look.color for look in METHODS.values()]
    return {
        "datasets": datasets,
        "measures": [
            {"name": name, "label": entry.label, "log": entry.log, "more": not entry.less_is_better}
            for name, entry in measures.items()
        ],
        "entrants": [_entrant(name) for name in entrants],
        "selectors": {name: palette[place % len(palette)] for place, name in enumerate(selectors)},
        "rows": rows,
    }


def _entrant(name):
    method, _, selector = name.partition("/")
    color = method_style(method).color
    return {"name": name, "label": label(name), "method": method, "selector": selector, "color": color}


def _overall(row):
    found = [[row[name], row[f"{name}_low"], row[f"{name}_high"]] for name in ("excess", "time")]
    found.append([row["finished"]] * 3)
    return [_rounded(values) for values in found]


def _spread(values):
    values = values.dropna()
    return _rounded([values.median(), values.min(), values.max()]) if len(values) else None


def _rounded(values):
    """Numbers of five digits, None for infinite ones; nothing if the first is that."""
    if not np.isfinite(values[0]):
        return None
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]
