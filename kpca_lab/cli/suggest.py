"""``kpca-lab suggest FILE``: which approximation of kernel PCA to use for a table, and with which width.

Methods, selectors and basis sizes race on growing samples of the rows within a budget of time. Printed are
the winner, a line of Python that fits it, how far its error is from that of full kernel PCA, what it costs,
and why the others lost. Ctrl-C prints the best so far.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kpca_lab.advice.budget import Budget
from kpca_lab.advice.page import page
from kpca_lab.advice.search import LEAST_BUDGET, search
from kpca_lab.advice.suggestion import Suggestion
from kpca_lab.advice.table import Table, memory_limit, table_of
from kpca_lab.cli.arguments import column, columns, width
from kpca_lab.datasets import load_dataset, open_rows
from kpca_lab.datasets.categories import CATEGORICAL
from kpca_lab.datasets.own_files import existing_file, open_text
from kpca_lab.datasets.scaling import fit_scaling
from kpca_lab.datasets.user_data import MISSING_POLICIES
from kpca_lab.rows import RowSource

__all__ = ["main"]

UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
LOADERS = {".npy": "npy", ".parquet": "parquet", ".pq": "parquet"}
# Bytes of a file that are read in a second at least, and the share of the memory that a table may take.
READING_SPEED, TABLE_SHARE = 20e6, 0.25
BEGINNING = 200_000


def main(arguments: list[str] | None = None) -> int:
    """Search, print and write what was found; return the exit code."""
    chosen = _parser().parse_args(arguments)
    budget = Budget(chosen.budget, before=_spent_starting())
    try:
        if chosen.budget < LEAST_BUDGET:
            raise ValueError(f"--budget must be at least {LEAST_BUDGET:g} s, got {chosen.budget:g} s")
        found = _search(chosen, budget)
        _write(chosen, found)
    except KeyboardInterrupt:
        print("error: interrupted before anything was measured", file=sys.stderr)
        return 130
    except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(found)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kpca-lab suggest", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="a table: CSV, NPY, Parquet, HDF5, zarr")
    parser.add_argument("--target", type=column, metavar="A", help="column of labels, not one of the inputs")
    parser.add_argument("--columns", type=columns, metavar="A,B,...", help="columns to use, all by default")
    parser.add_argument(
        "--categorical", choices=CATEGORICAL, default="error", help="columns that are not numbers"
    )
    parser.add_argument("--missing", choices=MISSING_POLICIES, default="error", help="missing values")
    parser.add_argument("--scaling", choices=["standard"], help="zero mean and unit variance of each column")
    many = parser.add_mutually_exclusive_group()
    many.add_argument("--components", type=int, default=10, metavar="R", help="how many (10)")
    many.add_argument("--explain", type=float, metavar="SHARE", help="as many as explain this, such as 0.9")
    parser.add_argument("--tol", type=float, default=0.01, help="errors this near count as equal (0.01)")
    parser.add_argument(
        "--budget", type=_seconds, default=60.0, metavar="60s", help="time for all of it: 90s, 5m"
    )
    parser.add_argument("--memory", type=_bytes, metavar="2GB", help="beside the data; most of what is free")
    parser.add_argument("--kernel", choices=["rbf", "laplacian"], default="rbf")
    parser.add_argument("--gamma", type=width, help="the width: a number, scale or median; chosen by default")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (0)")
    parser.add_argument("--json", metavar="FILE", help="write all numbers here")
    parser.add_argument("--html", metavar="FILE", help="write a page here")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _spent_starting() -> float:
    """Seconds since the process of this command was started, where the system tells."""
    if Path(sys.argv[0]).stem not in ("kpca-lab", "main"):  # called from a program that does other things
        return 0.0
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # the 22nd field of all, in ticks
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started, 0.0)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def _seconds(text: str) -> float:
    return _with_unit(text, UNITS, str.lower, "a time such as 60s, 5m or 1h")


def _bytes(text: str) -> float:
    return _with_unit(text, SIZES, str.upper, "an amount of memory such as 500MB or 2GB")


def _with_unit(text: str, units: dict[str, int], case: Callable[[str], str], what: str) -> float:
    number = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit = case(text.strip()[len(number) :].strip())
    try:
        value = float(number) * units[unit]
    except (ValueError, KeyError):
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value


def _search(chosen: argparse.Namespace, budget: Budget) -> Suggestion:
    limit = memory_limit(chosen.memory)
    path = Path(chosen.file)
    loader = LOADERS.get(path.suffix, "csv")
    in_memory = _is_small(path, limit, budget)
    read, expression, imports = (_in_memory if in_memory else _in_blocks)(chosen, path, loader)
    return search(
        read,
        budget,
        n_components=chosen.components if chosen.explain is None else chosen.explain,
        tol=chosen.tol,
        memory=chosen.memory,
        kernel=chosen.kernel,
        gamma=chosen.gamma,
        random_state=chosen.seed,
        verbose=not chosen.quiet,
        expression=expression,
        imports=imports,
    )


def _is_small(path: Path, limit: float, budget: Budget) -> bool:
    """Whether a file can be read whole in a quarter of the budget, and its table fits into memory."""
    if path.suffix in (".h5", ".hdf5", ".zarr") or path.is_dir():
        return False
    size = existing_file(path).stat().st_size
    packed = 1 if path.suffix == ".npy" else 4
    return packed * size <= TABLE_SHARE * limit and size / READING_SPEED <= 0.25 * budget.seconds


def _in_memory(chosen: argparse.Namespace, path: Path, loader: str) -> tuple:
    options: dict[str, Any] = {"path": str(path)}
    for name in ("target", "columns", "scaling"):
        if getattr(chosen, name) is not None:
            options[name] = getattr(chosen, name)
    for name in ("missing", "categorical"):
        if getattr(chosen, name) != "error" and not (loader == "npy" and name == "categorical"):
            options[name] = getattr(chosen, name)

    def read(budget: Budget, limit: float, rng: np.random.Generator) -> Table:
        loaded = load_dataset(loader, **options)
        return table_of(loaded.X, loaded.y, budget, limit, rng)

    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    expression = f"load_dataset({loader!r}, {written}).X"
    return read, expression, ("from kpca_lab.datasets import load_dataset",)


def _in_blocks(chosen: argparse.Namespace, path: Path, loader: str) -> tuple:
    for name in ("missing", "categorical"):
        if getattr(chosen, name) != "error":
            raise ValueError(
                f"{path.name} is too large to be read whole within this budget and memory, as "
                f"--{name} needs: give more of either, or a table of finite numbers"
            )
    options = {
        name: getattr(chosen, name) for name in ("columns", "target") if getattr(chosen, name) is not None
    }

    def read(budget: Budget, limit: float, rng: np.random.Generator) -> Table:
        source = open_rows(path, **options)
        labels, note = _labels(path, chosen.target)
        table = table_of(source, labels, budget, limit, rng, expected_rows=_expected_rows(path, loader))
        table = replace(table, note=note)
        if not chosen.scaling:
            return table
        # A pass over all rows for their statistics may take too long: those of the sample will do.
        shift, width = fit_scaling(table.X, chosen.scaling)
        scaled = source.map(lambda block: (block - shift) / width)
        return replace(table, X=(table.X - shift) / width, everything=scaled)

    written = "".join(f", {name}={value!r}" for name, value in options.items())
    expression = f"open_rows({str(path)!r}{written})"
    imports = ["from kpca_lab.datasets import open_rows"]
    if chosen.scaling:
        expression = f"standardized({expression})"
        imports.append("from kpca_lab.datasets.large_files import standardized")
    return read, expression, tuple(imports)


def _labels(path: Path, target: str | int | None) -> tuple[RowSource | None, str]:
    """The target as a source of rows, or why there is none."""
    if target is None:
        return None, ""
    try:
        labels = open_rows(path, columns=[target])
        next(labels.blocks(8))
        return labels, ""
    except ValueError:
        return None, "labels of a table that is read in blocks must be numbers: they were not used"


def _expected_rows(path: Path, loader: str) -> int | None:
    """The number of lines of a text file, from its size and its beginning; None for other files."""
    if loader != "csv" or not path.is_file():
        return None
    with open(path, "rb") as opened, open_text(path) as text:
        if opened.read(2) != text.read(2):  # compressed
            return None
        beginning = opened.read(BEGINNING)
    return int(path.stat().st_size * beginning.count(b"\n") / max(len(beginning), 1))


def _write(chosen: argparse.Namespace, found: Suggestion) -> None:
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n")
    if chosen.html:
        Path(chosen.html).write_text(page(found), encoding="utf-8")
