"""A folder of results such as a run leaves behind, with invented figures, for the tests of the report."""

import json

import numpy as np
import pandas as pd
from PIL import Image

from kpca_lab.suite.hooks import Cell
from kpca_lab.suite.jobs import COLUMNS
from kpca_lab.suite.judge.claims import COLUMNS as COLUMNS_OF_CLAIMS
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.scoreboard import build_scoreboard, cells_frame, write_scoreboard

ENVIRONMENT = {
    "date": "2026-01-02T03:04:05+00:00",
    "python": "3.12.0",
    "cpu": "Example CPU",
    "cores": 2,
    "memory_mb": 8192,
    "blas": [{"internal_api": "openblas", "version": "0.3.30", "architecture": None}],
    "packages": {"numpy": "2.4.0", "scipy": None},
    "commit": "0123456789abcdef",
    "modified": True,
}
SUMMARY = {
    "seconds": 4500.0,
    "experiments": {},
    "skipped": {
        "usps": [["washizawa2012/table3", "washizawa2012/table5"], "python -m kpca_lab.datasets fetch usps"]
    },
}


def make_profile(folder, *, pictures=True, cells=None):
    """Write the files of a profile into a new folder and return it; at most so many cells of each paper."""
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps(ENVIRONMENT))
    (folder / "summary.json").write_text(json.dumps(SUMMARY))
    _write_scoreboard(folder, cells)
    _write_claims(folder)
    _write_tables(folder)
    _write_records(folder)
    _write_own_runs(folder)
    if pictures:
        _write_figures(folder)
    return folder


def _write_scoreboard(folder, number):
    rng = np.random.default_rng(0)
    published = load_published()
    if number is not None:
        published = published.groupby("paper", sort=False).head(number).reset_index(drop=True)
    printed = published[rng.random(len(published)) < 0.8]
    spread = printed["sd"].fillna(0.02 * printed["value"].abs()).fillna(0.1)
    ours = printed["value"] + spread * rng.choice([0, 0.1, -0.8, 0.8, -4, 4], len(printed))
    found = {}
    for cell, value, sd in zip(printed.itertuples(), ours, spread):
        found.setdefault(cell.paper, []).append(Cell(cell.table, cell.row, cell.column, value, sd, 10))
    cells = pd.concat([cells_frame(paper, own) for paper, own in found.items()], ignore_index=True)
    cells.loc[cells.index[::50], ["readings", "as_described"]] = [3, 1.0]
    write_scoreboard(folder, build_scoreboard(published, cells))


def _write_claims(folder):
    rows = [
        (
            "a-1",
            "washizawa2012",
            "6.2",
            "SubKPCA has the least error.",
            "claim",
            "ours",
            "holds",
            "ratio 0.93 (from 0.9 to 1)",
        ),
        ("a-2", "washizawa2012", "6.3", "ICD is slower than SubKPCA on tic.", "claim", "", "fails", "1.2"),
        (
            "b-1",
            "chin2006",
            "5",
            "Batch KPCA grows with the cube of n; <b>bold</b>.",
            "identity",
            "",
            "not run",
            "no records",
        ),
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS_OF_CLAIMS))
    frame.to_csv(folder / "claims.csv", index=False)


def _write_tables(folder):
    own = folder / "tables" / "washizawa2012"
    own.mkdir(parents=True)
    for number in (1, 8, 2):
        (own / f"table{number}.csv").write_text("row,column\n")


ROW = dict.fromkeys(COLUMNS, "") | {
    "experiment": "washizawa2012/table1",
    "dataset": "artificial2d",
    "split": 0,
    "seed": 0,
    "method": "subset",
    "selector": "random",
    "m": 50,
    "r": 5,
    "parameters": "{}",
    "metric": "distance",
    "value": 0.1,
    "seconds": 0.5,
    "status": "done",
    "job": "a",
}


def _write_own_runs(folder):
    """Two data sets, one of them the user's own, and a method that the project does not have."""
    own = folder / "custom"
    own.mkdir()
    rows = [
        ROW
        | {"experiment": "custom/mine", "dataset": dataset, "method": method, "m": m, "job": f"{method}{m}"}
        | {"metric": metric, "value": value / m}
        for dataset in ("artificial2d", "my_table")
        for method in ("subset", "my_method")
        for m in (10, 20)
        for metric, value in (("empirical_error", 2.0), ("runtime", 0.1))
    ]
    pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(own / "mine.csv", index=False)
    (own / "mine_table.csv").write_text("method,empirical_error\n")


def _write_records(folder):
    own = folder / "records" / "washizawa2012"
    own.mkdir(parents=True)
    base = ROW
    bad = base | {
        "status": "memory",
        "error": "MemoryError: too large",
        "value": "",
        "seconds": "",
        "job": "b",
    }
    pd.DataFrame([base, bad], columns=list(COLUMNS)).to_csv(own / "table1.csv.gz", index=False)
    other = base | {"experiment": "washizawa2012/figure3", "parameters": '{"basis": 0.1}'}
    pd.DataFrame([other], columns=list(COLUMNS)).to_csv(own / "figure3.csv.gz", index=False)


def _write_figures(folder):
    rng = np.random.default_rng(0)
    sizes = {"washizawa2012/figure3": (1400, 500), "chin2006/figure3_spectra": (680, 500)}
    for name, (width, height) in (sizes | {"washizawa2012/figure7": (1400, 900)}).items():
        path = folder / "figures" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.full((height, width, 3), 255, dtype=np.uint8)
        pixels[100:300, 100:400] = rng.integers(0, 256, (200, 300, 3))
        Image.fromarray(pixels).save(path)
        path.with_suffix(".pdf").write_bytes(b"%PDF-1.4")
