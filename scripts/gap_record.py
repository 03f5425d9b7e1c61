"""Error, floor and full kernel PCA over the size of the basis, which the documentation draws.

Writes ``results/bench/gap.csv``. On three real data sets, for bases of growing size chosen by K-means: the
error of SubsetKPCA, the floor below which no kernel PCA of the same rank can be, the sharper estimate of
the gap, and the error of full kernel PCA, which the first three do not need.
"""

import csv
from pathlib import Path

from kpca_lab import FullKPCA, SubsetKPCA
from kpca_lab.datasets import load_dataset
from kpca_lab.metrics import empirical_error

INTO = Path(__file__).resolve().parents[1] / "results" / "bench" / "gap.csv"
DATA = {"usps": {}, "concrete": {"scaling": "standard"}, "tic": {"scaling": "standard"}}
SIZES = (25, 50, 100, 200, 400, 800)
RANK = 20


def rows_of(name: str, options: dict) -> list[dict]:
    """One row for each size of the basis."""
    X = load_dataset(name, **options).X
    full = FullKPCA(RANK, gamma="median").fit(X)
    least = empirical_error(full, X)
    rows = []
    for m in SIZES:
        model = SubsetKPCA(RANK, gamma="median", n_basis=m, selector="kmeans", random_state=0).fit(X)
        sharper = model.estimate_gap(X, n_samples=1000, random_state=0)
        row = {"dataset": name, "n": len(X), "r": RANK, "m": m, "gamma": model.gamma_, "full": least}
        row |= {"error": model.error_, "floor": model.error_floor_, "bound": model.gap_bound_}
        rows.append(row | {"estimate": sharper.estimate, "spread": sharper.spread})
        print(f"{name}, {m} of {len(X)}: bound {model.gap_bound_:.3f}, gap {model.error_ / least - 1:.3f}")
    return rows


def main() -> None:
    """Compute all rows and write them."""
    rows = [row for name, options in DATA.items() for row in rows_of(name, options)]
    with INTO.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
