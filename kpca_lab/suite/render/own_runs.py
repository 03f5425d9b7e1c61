"""Runs of one's own on the report page: a table of each file of records, and error against time."""

from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from kpca_lab.suite.engine.records_file import load_records
from kpca_lab.suite.render.figures import PNG_DPI
from kpca_lab.suite.render.labels import dataset_label
from kpca_lab.suite.render.markdown import slug
from kpca_lab.suite.render.plots import prepare
from kpca_lab.suite.render.plots.curves import tradeoff
from kpca_lab.suite.render.table import to_html
from kpca_lab.suite.render.tables import summary_table

MOST_ROWS = 60  # of a table; its CSV has all
NO_ERRORS = {"runtime", "peak_memory", "sparsity"}
ERRORS = ("normalized_empirical_error", "empirical_error", "validation_error", "classification_error")


def own_runs(profile_dir) -> list[dict]:
    """What ``<profile_dir>/custom`` holds, a dict for each file of records.

    Returns
    -------
    list of dict
        ``name`` (for links), ``title``, ``body`` (HTML), ``problem``, ``files``, and ``figures``: dicts with
        the `matplotlib.figure.Figure` as ``figure`` and its file, below ``report``, as ``source``.
    """
    folder = Path(profile_dir) / "custom"
    paths = sorted(path for path in folder.rglob("*.csv") if not path.stem.endswith("_table"))
    return [_run(path, path.relative_to(folder).with_suffix("").as_posix()) for path in paths]


def _run(path, title) -> dict:
    records = load_records(path)
    done = records.table[records.table["status"] == "done"]
    failed = records.table[records.table["status"] != "done"]["job"].nunique()
    problems = [records.problem] if records.problem else []
    if failed:
        problems.append(f"{failed} {'job' if failed == 1 else 'jobs'} failed or did not end")
    name, body = slug(title), ""
    if len(done):
        table = summary_table(done)[1].first(MOST_ROWS, f"{path.stem}_table.csv")
        table = replace(table, headings=[text.replace("_", " ") for text in table.headings])
        body = to_html(table, title)
    elif not problems:
        problems = ["no rows"]
    beside = [path, *(path.with_name(f"{path.stem}_table.{end}") for end in ("csv", "md", "tex"))]
    root = path.parents[len(Path(title).parts)]
    return {
        "name": name,
        "title": title,
        "body": body,
        "problem": "; ".join(problems),
        "files": [f"../{file.relative_to(root).as_posix()}" for file in beside if file.exists()],
        "figures": _figures(done, name) if len(done) else [],
    }


def _figures(records, name) -> list[dict]:
    found = []
    for dataset, rows in records.groupby("dataset", sort=False):
        figure = error_over_time(rows)
        if figure is not None:
            width, height = (round(PNG_DPI * inches) for inches in figure.get_size_inches())
            item = slug(dataset)
            found.append(
                {
                    "item": item,
                    "title": f"{dataset_label(dataset)}: error against time",
                    "figure": figure,
                    "source": f"runs/{name}-{item}.png",
                    "width": width,
                    "height": height,
                }
            )
    return found


def error_over_time(records) -> Figure | None:
    """The error of each method against its time, a line over the size of its basis.

    Parameters
    ----------
    records : DataFrame
        Rows of one data set; methods and measures may be any.

    Returns
    -------
    Figure or None
        None if nothing there is an error, or no time was taken.
    """
    rows = prepare.usable(records)
    metrics = list(rows["metric"].unique())
    errors = [name for name in ERRORS if name in metrics] + [
        name for name in metrics if name not in NO_ERRORS and name not in ERRORS
    ]
    time = "runtime" if "runtime" in metrics else "seconds"
    if not errors or prepare.metric_rows(rows, time)["value"].le(0).all():
        return None
    positive = (rows.loc[rows["metric"] == errors[0], "value"] > 0).all()
    return tradeoff(rows, time, errors[0], panels="dataset", log="xy" if positive else "x", annotate=True)
