"""The published text files of tic, written again from the same values in other packages.

What is written is verified by its hash like any other file, so a mistake here cannot go unnoticed.
"""

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from kpca_lab.datasets.archives import ArchiveError
from kpca_lab.datasets.locations import cache_dir
from kpca_lab.extras import require

__all__ = ["REWRITES"]

N_TRAINING = 5822


def _write_rows(target: Path, rows: Iterable[Iterable]) -> None:
    target.write_bytes("".join("\t".join(map(str, row)) + "\n" for row in rows).encode("ascii"))


def training_from_caravan(source: Path, target: Path) -> None:
    """Write ticdata2000.txt from Caravan.csv of the wheel ISLP, whose target is Yes or No."""
    with open(source, encoding="ascii", newline="") as opened:
        _, *rows = csv.reader(opened)
    _write_rows(target, ([*row[:-1], {"Yes": 1, "No": 0}[row[-1]]] for row in rows))


def evaluation_from_ticdata(source: Path, target: Path) -> None:
    """Write ticeval2000.txt from ticdata.rda of the R package kernlab."""
    _write_rows(target, _evaluation_table(source)[:, :-1])


def targets_from_ticdata(source: Path, target: Path) -> None:
    """Write tictgts2000.txt from ticdata.rda of the R package kernlab."""
    _write_rows(target, _evaluation_table(source)[:, -1:])


def _evaluation_table(source: Path) -> np.ndarray:
    """The 4000 rows after the training rows, as codes.

    Most factors of the R table are in the order of their codes. Two are not, customer subtype and
    main type: their codes are learned from the training rows, which both sources have. A subtype's label
    tells its code only together with the main type, since two subtypes have the same label.
    """
    training_file = cache_dir() / "tic" / "ticdata2000.txt"
    if not training_file.is_file():
        raise ArchiveError(f"its labels need {training_file.name}, which is not in the cache")
    training = np.loadtxt(training_file, dtype=np.int64)
    frame = require("rdata", "data").read_rda(source)["ticdata"]
    # Counted from 0: columns 5 to 63 and the target are counts or shares from 0, others begin with 1.
    first = [0 if 5 <= place < 64 or place == 85 else 1 for place in range(frame.shape[1])]
    table = np.column_stack(
        [
            column.cat.codes.to_numpy() + first[place]
            if hasattr(column, "cat")
            else column.to_numpy(dtype=np.int64)
            for place, (_, column) in enumerate(frame.items())
        ]
    ).astype(np.int64)
    subtype_labels, main_labels = table[:, 0].copy(), table[:, 4].copy()
    main_types = dict(zip(main_labels[:N_TRAINING], training[:, 4]))
    table[:, 4] = [main_types[label] for label in main_labels]
    subtypes = dict(zip(zip(subtype_labels[:N_TRAINING], training[:, 4]), training[:, 0]))
    table[:, 0] = [subtypes[pair] for pair in zip(subtype_labels, table[:, 4])]
    return table[N_TRAINING:]


REWRITES: dict[str, Callable[[Path, Path], None]] = {
    "training_from_caravan": training_from_caravan,
    "evaluation_from_ticdata": evaluation_from_ticdata,
    "targets_from_ticdata": targets_from_ticdata,
}
