"""The rows that a search works on: all of them if they are few, a sample of many."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d

from kpca_lab.advice.budget import Budget
from kpca_lab.memory import available_memory
from kpca_lab.rows import BLOCK_BYTES, RowSource, as_rows, is_row_source

__all__ = ["Table", "table_of"]

FEWEST_ROWS = 10
MOST_SAMPLED = 200_000
# Of the budget for reading a file once; of the memory for what is kept of it.
READING_SHARE, SAMPLE_SHARE = 0.25, 0.25


@dataclass(frozen=True)
class Table:
    """Rows, a sample of them, and how long they take to read.

    Attributes
    ----------
    X : ndarray or sparse matrix
        All rows, or a sample of them.
    y : ndarray or None
        What belongs to these.
    n_rows : int
        Number of all rows; where they were not read to the end, what it is expected to be.
    everything : ndarray, sparse matrix or RowSource
        All rows.
    pass_seconds : float
        Time of reading the source once.
    whole : bool
        Whether all rows were seen.
    note : str
        What the user should know of them.
    """

    X: Any
    y: np.ndarray | None
    n_rows: int
    everything: Any
    pass_seconds: float = 0.0
    whole: bool = True
    note: str = ""

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in memory."""
        return not isinstance(self.everything, RowSource)

    @property
    def fit_reading(self) -> float:
        """Seconds that a fit reads: once to choose the basis, once to sum up."""
        return 2 * self.pass_seconds

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])


def table_of(
    X: Any,
    y: Any,
    budget: Budget,
    memory: float,
    rng: np.random.Generator,
    expected_rows: int | None = None,
) -> Table:
    """Check the rows, and read a sample if they are to be read in blocks.

    Parameters
    ----------
    X : array-like, sparse matrix, or anything that :func:`kpca_lab.rows.as_rows` takes
    y : array-like or None
        For rows that are read in blocks, a source with one column will do.
    budget : Budget
    memory : float
        Bytes that may be used.
    rng : numpy Generator
        Draws the sample.
    expected_rows : int, optional
        About how many rows a source has that does not know it.
    """
    if is_row_source(X):
        table = _sampled(as_rows(X), y, budget, memory, rng, expected_rows)
    else:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        table = _drawn(X, _target(y, X.shape[0]), rng)
    if table.n_rows < FEWEST_ROWS:
        raise ValueError(
            f"There are {table.n_rows} rows: nothing can be compared on fewer than {FEWEST_ROWS}."
        )
    values = table.X.data if sparse.issparse(table.X) else table.X
    if np.ptp(values) == 0 or (not sparse.issparse(table.X) and not (np.ptp(table.X, axis=0) > 0).any()):
        raise ValueError("All rows are the same: there is nothing to find components of.")
    return table


def _drawn(X: Any, y: np.ndarray | None, rng: np.random.Generator) -> Table:
    n_rows = X.shape[0]
    if n_rows <= MOST_SAMPLED:
        return Table(X, y, n_rows, X)
    rows = np.sort(rng.choice(n_rows, MOST_SAMPLED, replace=False, shuffle=False))
    return Table(X[rows], None if y is None else y[rows], n_rows, X)


def memory_limit(memory: float | None) -> float:
    """Bytes that may be used: those given, or four fifths of what there is."""
    if memory is None:
        return 0.8 * (available_memory() or 2 * 2**30)
    if not memory > 0:
        raise ValueError(f"memory must be a number of bytes above 0, got {memory!r}.")
    return float(memory)


def _target(y: Any, n_rows: int) -> np.ndarray | None:
    if y is None:
        return None
    y = column_or_1d(y)
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} values, X has {n_rows} rows.")
    return y


def _sampled(source, y, budget, memory, rng, expected_rows) -> Table:
    """A random sample of what can be read in time: each row has a random key, the largest are kept."""
    room = int(np.clip(SAMPLE_SHARE * memory / (24 * source.n_columns), FEWEST_ROWS, MOST_SAMPLED))
    begun, seen, whole = budget.spent, 0, True
    kept: list[np.ndarray] = []  # keys, numbers of the rows or their labels, rows
    for block, labels in _with_labels(source, y):
        size = block.shape[0]
        block = block.toarray() if sparse.issparse(block) else block
        new = [rng.random(size), np.arange(seen, seen + size) if labels is None else labels, block]
        kept = new if not kept else [np.concatenate(pair) for pair in zip(kept, new)]
        if len(kept[0]) > room:
            chosen = np.sort(np.argpartition(kept[0], -room)[-room:])
            kept = [part[chosen] for part in kept]
        seen += size
        if budget.left(READING_SHARE) < 0 and seen >= FEWEST_ROWS:
            whole = seen == source.known_rows
            break
    seconds = (budget.spent - begun) / max(seen, 1)
    n_rows = seen if whole else max(source.known_rows or expected_rows or seen, seen)
    _, beside, rows = kept
    labels = beside if is_row_source(y) else _target(y, n_rows)
    if labels is not None and labels is not beside:
        labels = labels[beside]
    return Table(rows, labels, n_rows, source, seconds * n_rows, whole)


def _with_labels(source: RowSource, y: Any) -> Iterator[tuple[Any, np.ndarray | None]]:
    """The blocks of the rows, and those of labels that are read in blocks too."""
    if not is_row_source(y):
        for block in source.blocks():
            yield block, None
        return
    count = max(1, BLOCK_BYTES // (8 * source.n_columns))
    labels = as_rows(y).blocks(8 * count)
    for block in source.blocks(8 * count * source.n_columns):
        yield block, next(labels).ravel()
