"""Measure what is asked for, and write results/bench/ and the table of the README."""

import argparse
import json
import time

import pandas as pd

from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine.environment import write_environment
from kpca_lab.suite.files import write_atomically
from scripts.bench import frontier, full, growth, methods, pictures, subset, suite, widths
from scripts.bench.clock import ROOT, problem_text
from scripts.bench.rows import between_markers, failed, merged, page, read_rows, short_table, table

RESULTS = ROOT / "results" / "bench"
GROUPS = {
    "full": full.measure,
    "subset": subset.measure,
    "frontier": frontier.measure,
    "growth": growth.measure,
    "methods": methods.measure,
    "searches": methods.measure_searches,
    "widths": widths.measure,
    "suite": suite.measure,
}
TITLES = {
    "full": "Full kernel PCA",
    "subset": "SubsetKPCA",
    "frontier": "Error against time",
    "growth": "Growth over n",
    "methods": "The other methods",
    "searches": "Searches for a basis",
    "widths": "Choosing a width",
    "suite": "The suite",
}
PREFACE = (
    "Seconds are medians of calls in turn, with as many BLAS threads as there are cores; a ratio below one "
    "means that kpca_lab is faster, or needs less. Memory is measured in a process of its own.\n"
)


def main() -> None:
    """Run the groups that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m scripts.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="this group (all by default)")
    parser.add_argument("--quick", action="store_true", help="small sizes, under three minutes")
    arguments = parser.parse_args()
    rows, records = [], {}
    for name in arguments.only or GROUPS:
        start = time.perf_counter()
        print(f"{name} ...", end=" ", flush=True)
        found, record = measured(name, arguments.quick)
        rows += found
        if record is not None:
            records[name] = record
        print(f"{time.perf_counter() - start:.0f} s", flush=True)
    write(table(rows), records, quick=arguments.quick)


def measured(name: str, quick: bool):
    """The rows of a group and its records, if it keeps any; a row that says so if it fails as a whole."""
    try:
        found = GROUPS[name](quick)
    except Exception as error:  # the other groups go on
        return [failed(name, "all", "", problem_text(error))], None
    return found if isinstance(found, tuple) else (found, None)


def write(new: pd.DataFrame, records: dict[str, pd.DataFrame], quick: bool) -> None:
    """Write tables, figures, environment and the README; groups that were not measured keep their rows."""
    path = RESULTS / "bench.csv"
    new["sizes"] = "quick" if quick else "full"
    rows = merged(read_rows(path) if path.exists() else None, new)
    rows = rows.sort_values("group", key=lambda names: names.map(list(GROUPS).index), kind="stable")
    write_atomically(path, rows.to_csv(index=False).encode())
    for name, record in records.items():
        write_atomically(RESULTS / f"{name}.csv", record.to_csv(index=False).encode())
        figure = {"growth": pictures.growth, "frontier": pictures.frontier}[name](record)
        figure.savefig(RESULTS / f"{name}.png", dpi=200)
    write_environment(RESULTS, workers=1, threads=available_cores())
    source = _source(rows)
    write_atomically(RESULTS / "bench.md", page(rows, TITLES, f"{PREFACE}\n{source}\n").encode())
    readme = ROOT / "README.md"
    text = between_markers(readme.read_text(encoding="utf-8"), f"{source}\n\n{short_table(rows)}")
    write_atomically(readme, text.encode())


def _source(rows: pd.DataFrame) -> str:
    """Where and at which sizes the rows were measured."""
    here = json.loads((RESULTS / "environment.json").read_text())
    sizes = " and ".join(sorted(rows["sizes"].unique()))
    return f"Measured on {here['date'][:10]} with {here['cores']} cores ({here['cpu']}), sizes: {sizes}."


if __name__ == "__main__":
    main()
