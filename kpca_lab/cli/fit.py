"""``kpca-lab fit FILE``: SubsetKPCA of a table that may be larger than memory.

The rows of an NPY, HDF5, Parquet or CSV file, a zarr array or a folder of Parquet files are read in blocks.
Printed are the shares of the variance in feature space that the components explain.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from kpca_lab.cli.arguments import column, columns, width
from kpca_lab.datasets import open_rows
from kpca_lab.datasets.large_files import standardized
from kpca_lab.kernels import KERNELS
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.rows import RowSource
from kpca_lab.selectors import SELECTORS

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Fit, write what is asked for, print what the components explain; return the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.model and chosen.scaling:
            raise ValueError("a model does not know how its samples were scaled: give --model or --scaling")
        return _fit(chosen)
    except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kpca-lab fit", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="the table")
    parser.add_argument("--key", metavar="NAME", help="table of an HDF5 file that has several")
    parser.add_argument("--columns", type=columns, metavar="A,B,...", help="columns to use, all by default")
    parser.add_argument("--target", type=column, metavar="A", help="a column to leave out")
    parser.add_argument("--scaling", choices=["standard"], help="zero mean and unit variance of each column")
    parser.add_argument("--components", type=int, default=10, metavar="R", help="how many (10)")
    parser.add_argument("--basis", type=int, default=500, metavar="M", help="number of basis samples (500)")
    parser.add_argument(
        "--selector",
        choices=list(SELECTORS),
        default="random",
        metavar="NAME",
        help=f"how they are chosen (random): {', '.join(SELECTORS)}",
    )
    kernels = [name for name in KERNELS if name != "precomputed"]
    parser.add_argument(
        "--kernel", choices=kernels, default="rbf", metavar="NAME", help=f"(rbf) {', '.join(kernels)}"
    )
    parser.add_argument("--gamma", type=width, default="scale", help="a number, scale (default) or median")
    parser.add_argument("--degree", type=int, default=3, help="of the kernel poly (3)")
    parser.add_argument("--no-center", action="store_true", help="do not subtract the mean in feature space")
    parser.add_argument("--seed", type=int, default=0, help="of the selector (0)")
    parser.add_argument("--scores", metavar="FILE.npy", help="write the components of all rows here")
    parser.add_argument("--model", metavar="FILE.npz", help="write the operator here (FeatureOperator.load)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _fit(chosen: argparse.Namespace) -> int:
    verbose = 0 if chosen.quiet else 1
    source = open_rows(chosen.file, columns=chosen.columns, target=chosen.target, key=chosen.key)
    if chosen.scaling:
        source = standardized(source, verbose)
    model = SubsetKPCA(
        chosen.components,
        kernel=chosen.kernel,
        gamma=chosen.gamma,
        degree=chosen.degree,
        n_basis=min(chosen.basis, source.n_rows),
        selector=chosen.selector,
        center=not chosen.no_center,
        random_state=chosen.seed,
        verbose=verbose,
    ).fit(source)
    print(f"{source.n_rows} rows x {source.n_columns} columns, gamma = {model.gamma_:.6g}")
    shares = model.explained_variance_ratio_
    for number, (share, total) in enumerate(zip(shares, np.cumsum(shares)), start=1):
        print(f"component {number}: {share:.4%} of the variance in feature space, {total:.4%} so far")
    if chosen.model:
        model.operator_.save(chosen.model)
    if chosen.scores:
        _write_scores(model, source, Path(chosen.scores))
    return 0


def _write_scores(model: SubsetKPCA, source: RowSource, path: Path) -> None:
    """Write the components of all rows block by block, and the file under its name when it is whole."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    shape = (source.n_rows, model.n_components_)
    try:
        scores = np.lib.format.open_memmap(unfinished, mode="w+", dtype=source.dtype, shape=shape)
        model.transform(source, out=scores)
        scores.flush()
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
