"""A matrix that is read in blocks of rows, in its four kinds: by number, by chunk, as a stream, and once."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kpca_lab.progress_bar import ProgressBar

# Memory of one block of rows in float64.
BLOCK_BYTES = 1 << 24

Matrix = Any  # an array or a sparse matrix in CSR form


class RowSource(ABC):
    """A matrix that is read in blocks of rows; made by :func:`kpca_lab.rows.as_rows`.

    Attributes
    ----------
    shape : tuple of int
        Numbers of rows and columns. Where nothing tells the number of rows, its first use reads them all.
    n_rows, n_columns : int
        The same.
    dtype : numpy.dtype
        Type of the blocks: float64, or float32 where the values are stored as such.
    """

    dtype: np.dtype = np.dtype(np.float64)
    ndim = 2
    first_number = 0  # of the first row, where these are a part of others

    def __init__(self, n_columns: int) -> None:
        if n_columns < 1:
            raise ValueError("There are no columns.")
        self.n_columns = int(n_columns)

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def _pieces(self, rows: int) -> Iterator[Any]:
        """Yield all rows in order, as they are stored, ``rows`` at a time or as they come."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.n_columns

    def __len__(self) -> int:
        return self.n_rows

    def blocks(
        self, max_bytes: int = BLOCK_BYTES, *, verbose: int = 0, label: str = "rows"
    ) -> Iterator[Matrix]:
        """Yield all rows in order, in blocks of the same number of rows but for the last.

        Parameters
        ----------
        max_bytes : int, default 16 MB
            Most memory of a block in float64; a block has one row at least.
        verbose : int, default 0
            Whether to show the progress on standard error.
        label : str, default "rows"
            What the progress is about.

        Yields
        ------
        ndarray or csr_array of shape (n_block, n_columns)
            Finite numbers.

        Raises
        ------
        ValueError
            If a row has another number of columns, or a value that is not a finite number.
        """
        rows = self._rows_of(max_bytes)
        start = self.first_number
        with ProgressBar(self.known_rows, verbose, label) as progress:
            for block in _regrouped(map(self._numbers, self._pieces(rows)), rows):
                stop = start + block.shape[0]
                _refuse_gaps(block, range(start, stop))
                yield block
                progress.update(stop - start)
                start = stop

    def reduce(
        self,
        function: Callable[[Iterator[Matrix]], Any],
        merge: Callable[[Any, Any], Any],
        *,
        least_rows: int = 1,
        verbose: int = 0,
        label: str = "rows",
    ) -> Any:
        """Return what ``function`` makes of an iterator over all blocks.

        Where the rows are on a cluster it is called there for parts of about ``least_rows`` rows, and
        ``merge(first, second)`` makes one result of two, without changing either.
        """
        return function(self.blocks(verbose=verbose, label=label))

    def take(self, indices: Any) -> Matrix:
        """Return the rows with the given numbers.

        Parameters
        ----------
        indices : array-like of int
            Row numbers in any order, also repeated; negative ones count from the end.

        Returns
        -------
        ndarray or csr_array of shape (n_indices, n_columns)
            In the order of ``indices``.
        """
        numbers = np.asarray(indices)
        n_rows = self.n_rows
        if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
            raise ValueError(f"Row numbers must be a list of integers, got {indices!r}.")
        if numbers.min() < -n_rows or numbers.max() >= n_rows:
            raise ValueError(f"Row numbers must lie within the {n_rows} rows, got {indices!r}.")
        wanted, places = np.unique(numbers.astype(np.intp) % n_rows, return_inverse=True)
        found = self._take_sorted(wanted)
        _refuse_gaps(found, wanted)
        return found[places]

    def sample(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return ``n`` rows, or all if there are fewer, drawn without repetition and in their order.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : numpy.random.Generator
            Draws them.

        Returns
        -------
        ndarray or csr_array
        """
        n_rows = self.n_rows
        return self.take(np.sort(rng.choice(n_rows, min(n, n_rows), replace=False)))

    def map(self, function: Callable[[Matrix], Matrix]) -> "RowSource":
        """Return the rows as ``function`` makes them, which gets blocks and keeps the number of columns."""
        return MappedRows(self, function)

    def _rows_of(self, max_bytes: int) -> int:
        return max(1, int(max_bytes) // (8 * self.n_columns))

    @property
    def known_rows(self) -> int | None:
        """Number of rows, None if that takes a pass over them or cannot be had."""
        return self.n_rows

    def _take_sorted(self, wanted: np.ndarray) -> Matrix:
        found, start = [], 0
        for piece in self._pieces(self._rows_of(BLOCK_BYTES)):
            stop = start + length_of(piece)
            inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, stop)]
            if len(inside):
                found.append(self._numbers(piece)[inside - start])
            start = stop
            if start > wanted[-1]:
                break
        return joined(found)

    def _numbers(self, piece: Any) -> Matrix:
        """A piece as a matrix of this source's type and width."""
        matrix = _as_matrix(piece)
        if matrix.ndim != 2:
            raise ValueError(f"A chunk of rows must have two dimensions, got one of shape {matrix.shape}.")
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"Rows must be numbers, got values of type {matrix.dtype}.")
        if matrix.shape[1] != self.n_columns:
            raise ValueError(f"Rows must all have {self.n_columns} columns, got {matrix.shape[1]}.")
        return matrix.astype(self.dtype, copy=False)


class SlicedRows(RowSource):
    """Rows that are there by number: arrays, memory maps, sparse matrices, h5py, zarr."""

    def __init__(self, array: Any, columns: Sequence[int] | None = None) -> None:
        if len(array.shape) != 2:
            raise ValueError(f"Rows must be an array of two dimensions, got shape {tuple(array.shape)}.")
        super().__init__(array.shape[1] if columns is None else len(columns))
        self._array = array
        self._columns = columns
        if array.dtype == np.float32:
            self.dtype = np.dtype(np.float32)

    @property
    def n_rows(self) -> int:
        return int(self._array.shape[0])

    def _pieces(self, rows: int) -> Iterator[Any]:
        for start in range(0, self.n_rows, rows):
            yield self._narrow(self._array[start : start + rows])

    def _narrow(self, rows: Any) -> Any:
        return rows if self._columns is None else rows[:, self._columns]

    def _take_sorted(self, wanted: np.ndarray) -> Matrix:
        if isinstance(self._array, np.ndarray) or sparse.issparse(self._array):
            return self._numbers(self._narrow(self._array[wanted]))
        # Whole ranges of rows that hold something wanted: files are slow at single rows.
        rows = self._rows_of(BLOCK_BYTES >> 4)
        found = []
        for number in np.unique(wanted // rows):
            start = int(number) * rows
            inside = wanted[(wanted >= start) & (wanted < start + rows)]
            found.append(self._numbers(self._narrow(self._array[start : start + rows]))[inside - start])
        return joined(found)


class ChunkedRows(RowSource):
    """Chunks of known lengths that can be had one by one: lists of arrays, Dask arrays."""

    def __init__(
        self, chunk: Callable[[int], Any], lengths: Sequence[int], n_columns: int, dtype: Any
    ) -> None:
        super().__init__(n_columns)
        self._chunk = chunk
        self._ends = np.cumsum([0, *lengths])
        if dtype == np.float32:
            self.dtype = np.dtype(np.float32)

    @property
    def n_rows(self) -> int:
        return int(self._ends[-1])

    def _pieces(self, rows: int) -> Iterator[Any]:
        for number in range(len(self._ends) - 1):
            yield self._chunk(number)

    def _take_sorted(self, wanted: np.ndarray) -> Matrix:
        places = np.searchsorted(self._ends, wanted, side="right") - 1
        return joined(
            [
                self._numbers(self._chunk(int(place)))[wanted[places == place] - self._ends[place]]
                for place in np.unique(places)
            ]
        )


class StreamedRows(RowSource):
    """Chunks that come one after the other, from the start each time; ``start(rows)`` begins anew."""

    def __init__(
        self,
        start: Callable[[int], Iterable[Any]],
        n_columns: int | None = None,
        n_rows: int | None = None,
    ) -> None:
        super().__init__(width_of(start(1)) if n_columns is None else n_columns)
        self._start = start
        self._n_rows = n_rows

    @property
    def n_rows(self) -> int:
        if self._n_rows is None:  # a pass to the end counts them
            self._n_rows = sum(length_of(piece) for piece in self._pieces(self._rows_of(BLOCK_BYTES)))
        return self._n_rows

    def _pieces(self, rows: int) -> Iterator[Any]:
        count = 0
        for piece in self._start(rows):
            count += length_of(piece)
            yield piece
        self._n_rows = count

    @property
    def known_rows(self) -> int | None:
        return self._n_rows


class MappedRows(RowSource):
    """The rows of another source, changed block by block."""

    def __init__(self, source: RowSource, function: Callable[[Matrix], Matrix]) -> None:
        super().__init__(source.n_columns)
        self._source, self._function = source, function
        self.dtype = source.dtype

    @property
    def n_rows(self) -> int:
        return self._source.n_rows

    @property
    def known_rows(self) -> int | None:
        return self._source.known_rows

    def _pieces(self, rows: int) -> Iterator[Any]:
        for piece in self._source._pieces(rows):
            yield self._function(self._source._numbers(piece))

    def _take_sorted(self, wanted: np.ndarray) -> Matrix:
        return self._function(self._source._take_sorted(wanted))


class RowsOnce(RowSource):
    """An iterator of chunks, which can be read a single time."""

    def __init__(self, chunks: Iterator[Any]) -> None:
        self._chunks: Iterator[Any] | None = chunks
        self._first = next(chunks, None)
        super().__init__(width_of([] if self._first is None else [self._first]))

    @property
    def n_rows(self) -> int:
        raise ValueError(
            "An iterator of chunks can be read only once, and here its rows are needed before or more than "
            "that: give a list of arrays or a function that returns a new iterator."
        )

    @property
    def known_rows(self) -> int | None:
        return None

    def _pieces(self, rows: int) -> Iterator[Any]:
        if self._chunks is None:
            self.n_rows  # noqa: B018  (raises)
        chunks, self._chunks = self._chunks, None
        yield self._first
        self._first = None
        yield from chunks or ()


def width_of(chunks: Iterable[Any]) -> int:
    for chunk in chunks:
        shape = getattr(chunk, "shape", None) or np.shape(chunk)
        if len(shape) != 2:
            raise ValueError(f"A chunk of rows must have two dimensions, got one of shape {tuple(shape)}.")
        return int(shape[1])
    raise ValueError("There are no rows: not a single chunk came.")


def length_of(chunk: Any) -> int:
    return int(chunk.shape[0] if hasattr(chunk, "shape") else len(chunk))


def _as_matrix(piece: Any) -> Matrix:
    if sparse.issparse(piece):
        return sparse.csr_array(piece)
    if type(piece).__module__.partition(".")[0] == "pyarrow":
        columns = [_arrow_numbers(piece.column(i), name) for i, name in enumerate(piece.schema.names)]
        return np.column_stack(columns)
    return np.asarray(piece)


def _arrow_numbers(column: Any, name: str) -> np.ndarray:
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The column {name!r} holds {column.type}, not numbers: choose others, as by "
            "kpca_lab.datasets.open_rows(path, columns=)."
        )
    return values.astype(np.float64, copy=False)


def joined(pieces: list[Matrix]) -> Matrix:
    if len(pieces) == 1:
        return pieces[0]
    return sparse.csr_array(sparse.vstack(pieces)) if sparse.issparse(pieces[0]) else np.concatenate(pieces)


def _regrouped(pieces: Iterator[Matrix], rows: int) -> Iterator[Matrix]:
    """Cut and join pieces to ``rows`` rows each, the last one having the rest."""
    waiting: list[Matrix] = []
    n_waiting = 0
    for piece in pieces:
        start = 0
        while start < piece.shape[0]:
            part = piece[start : start + rows - n_waiting]
            waiting.append(part)
            start += part.shape[0]
            n_waiting += part.shape[0]
            if n_waiting == rows:
                yield joined(waiting)
                waiting, n_waiting = [], 0
    if waiting:
        yield joined(waiting)


def _refuse_gaps(block: Matrix, numbers: Sequence[int] | np.ndarray) -> None:
    """Raise if a value is not finite; ``numbers`` are those of the rows."""
    values = block.data if sparse.issparse(block) else block
    # The sum is finite if all values are, unless it overflows, and costs a third of asking each.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
            return
    dense = block.toarray() if sparse.issparse(block) else block
    place = int(np.flatnonzero(~np.isfinite(dense).all(axis=1))[0])
    raise ValueError(f"Row {numbers[place]} holds a value that is missing (NaN) or infinite.")
