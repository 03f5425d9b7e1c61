"""Results as a data frame: records of the papers, of runs of one's own, and of the leaderboard."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from kpca_lab.choices import unknown
from kpca_lab.suite.engine.records_file import RECORDS_SUFFIX, read_records
from kpca_lab.suite.jobs import SOUND
from kpca_lab.suite.judge.records import with_parameters

__all__ = ["load_results"]

FILTERS = ("dataset", "method", "selector", "metric", "kernel", "split", "seed", "m", "r", "status")


def load_results(
    what: str | Iterable[str] | None = None,
    *,
    results_dir: str | os.PathLike = "results",
    failed: bool = False,
    **filters: Any,
) -> pd.DataFrame:
    """Records of the suite as one tidy data frame: a row for each measured value.

    Parameters
    ----------
    what : str or iterable of str, optional
        Folders below ``results_dir``: a profile (``"paper"``, ``"quick"``), the ``"leaderboard"``, or a part:
        ``"paper/<paper>"``, ``"paper/<paper>/<item>"``, ``"quick/custom"`` for runs of one's own,
        ``"quick/leaderboard"``. All there are by default.
    results_dir : path, default="results"
        The folder that has them.
    failed : bool, default=False
        Whether to keep rows without a value: of jobs that failed or were over a limit.
    **filters
        Values, or lists of values, that rows must have in the columns ``dataset``, ``method``, ``selector``,
        ``metric``, ``kernel``, ``split``, ``seed``, ``m``, ``r``, ``status``.

    Returns
    -------
    DataFrame
        ``source`` (where it is from, as in ``what``), ``experiment``, ``dataset``, ``split``, ``seed``,
        ``method``, ``selector``, ``m``, ``r``, ``kernel``, ``metric``, ``value``, ``seconds`` (of the fit),
        ``status``, ``error``, ``job``, and a column for each further setting (``kernel_name``, ``gamma``).
        Empty if nothing fits.

    Raises
    ------
    ValueError
        If there is nothing of that name, or a filter is no column.

    Examples
    --------
    >>> from kpca_lab.suite import load_results
    >>> frame = load_results("paper", metric="accuracy")  # doctest: +SKIP
    >>> frame.groupby(["dataset", "method"])["value"].mean()  # doctest: +SKIP
    """
    strange = [name for name in filters if name not in FILTERS]
    if strange:
        raise ValueError(unknown("filter", strange[0], FILTERS))
    root = Path(results_dir)
    files = {_source(root, path): path for path in _files(root)}
    chosen = files if what is None else _chosen(files, [what] if isinstance(what, str) else list(what), root)
    frames = [read_records(path).assign(source=source) for source, path in sorted(chosen.items())]
    frames = [_filtered(frame, filters, failed) for frame in frames]
    frames = [frame for frame in frames if len(frame)]
    table = pd.concat(frames, ignore_index=True) if frames else read_records("").assign(source="")
    table = with_parameters(table)
    return table[["source", *(name for name in table if name != "source")]]


def _files(root):
    """Files of records: those of experiments, of the leaderboard, and of runs of one's own."""
    yield from root.glob(f"*/records/*/*{RECORDS_SUFFIX}")
    yield from root.glob(f"*/leaderboard/records/*/*{RECORDS_SUFFIX}")
    for path in root.glob("*/custom/**/*.csv"):
        if not path.name.endswith("_table.csv"):
            yield path


def _source(root, path):
    """Such as ``paper/<paper>/<item>``, ``leaderboard/<data set>`` or ``quick/custom/<name>``."""
    parts = [part for part in path.relative_to(root).parts if part != "records"]
    parts[-1] = parts[-1].removesuffix(RECORDS_SUFFIX).removesuffix(".csv")
    if "leaderboard" in parts:  # the profile full has no folder of its own
        parts = [*parts[: parts.index("leaderboard") + 1], parts[-1]]
    return "/".join(parts)


def _chosen(files, wanted, root):
    found = {}
    for name in wanted:
        name = name.strip("/")
        own = {source: path for source, path in files.items() if f"{source}/".startswith(f"{name}/")}
        if not own:
            if not files:
                raise ValueError(f"there are no records in {root}")
            known = sorted({source.rpartition("/")[0] for source in files})
            raise ValueError(unknown("results", name, known))
        found |= own
    return found


def _filtered(frame, filters, failed):
    kept = frame if failed else frame[frame["status"].isin(SOUND) & frame["value"].notna()]
    for name, value in filters.items():
        values = list(value) if isinstance(value, list | tuple | set | range) else [value]
        kept = kept[kept[name].isin(values)]
    return kept
