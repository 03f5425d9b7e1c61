"""The rows of a Dask array on a cluster: read, picked and summed up where they are."""

import sys
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from kpca_lab.extras import require
from kpca_lab.row_source import ChunkedRows, Matrix, joined

__all__ = ["DaskRows", "active_client"]

# Chunks that are read together, since they are small, take no more memory than this.
PART_BYTES = 1 << 27
# How many results are merged in one task.
MERGED_AT_ONCE = 8


def active_client() -> Any:
    """The client of the Dask cluster that this process is connected to, None without one."""
    distributed = sys.modules.get("distributed")  # who is connected has imported it
    try:
        return distributed and distributed.default_client()
    except ValueError:
        return None


class DaskRows(ChunkedRows):
    """The rows of a Dask array, of which only results come to the client.

    Parameters
    ----------
    array : dask.array.Array of shape (n_rows, n_columns)
        Chunks of unknown lengths are computed once to find these.
    client : distributed.Client
        Of the cluster.
    """

    def __init__(self, array: Any, client: Any) -> None:
        array = array.rechunk({1: -1})
        if np.isnan(array.shape).any():
            array = array.copy()
            with client.as_current():
                array.compute_chunk_sizes()
        self._client = client
        self._parts = array.to_delayed().ravel()
        super().__init__(
            lambda number: self._computed([self._parts[number]])[0],
            array.chunks[0],
            array.shape[1],
            array.dtype,
        )

    def reduce(
        self,
        function: Callable[[Iterator[Matrix]], Any],
        merge: Callable[[Any, Any], Any],
        *,
        least_rows: int = 1,
        verbose: int = 0,
        label: str = "rows",
    ) -> Any:
        """See :meth:`kpca_lab.row_source.RowSource.reduce`; the progress is on the cluster's own page.

        Each part is one task and its result comes back as one: what is lost with a worker is computed again
        elsewhere. Parts and the tree of their merges depend on the chunks alone, so that neither the number
        of workers nor their end changes a bit of the result.
        """
        delayed = require("dask", "dist").delayed
        # One task holds the function, which may be large: it is sent once, and can be had again.
        shared = delayed(_itself)(function)
        results = [
            delayed(_part)(shared, list(self._parts[first:last]), self._ends[first], self.n_columns)
            for first, last in self._groups(least_rows)
        ]
        while len(results) > 1:
            results = [
                delayed(_merged)(merge, results[start : start + MERGED_AT_ONCE])
                for start in range(0, len(results), MERGED_AT_ONCE)
            ]
        return self._computed(results)[0]

    def _groups(self, least_rows: int) -> Iterator[tuple[int, int]]:
        """First and last chunk, exclusive, of each part."""
        most_rows = PART_BYTES // (8 * self.n_columns)
        first, n_chunks = 0, len(self._parts)
        for last in range(1, n_chunks + 1):
            after = self._ends[min(last + 1, n_chunks)] - self._ends[first]
            if last == n_chunks or after > most_rows or self._ends[last] - self._ends[first] >= least_rows:
                yield first, last
                first = last

    def _take_sorted(self, wanted: np.ndarray) -> Matrix:
        delayed = require("dask", "dist").delayed
        places = np.searchsorted(self._ends, wanted, side="right") - 1
        chunks, starts = np.unique(places, return_index=True)
        picked = [
            delayed(_picked)(self._parts[chunk], inside - self._ends[chunk])
            for chunk, inside in zip(chunks, np.split(wanted, starts[1:]))
        ]
        return joined([self._numbers(rows) for rows in self._computed(picked)])

    def _computed(self, tasks: list[Any]) -> list[Any]:
        # What is sent with a task is meant to be: no warning of a large graph.
        settings = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}
        with require("dask", "dist").config.set(settings):
            futures = self._client.compute(tasks)
        try:
            return self._client.gather(futures)
        except BaseException:
            self._client.cancel(futures)
            raise


def _itself(function: Any) -> Any:
    return function


def _part(function: Callable[[Iterator[Matrix]], Any], chunks: list[Any], first: int, n_columns: int) -> Any:
    types = {getattr(chunk, "dtype", None) for chunk in chunks}
    rows = ChunkedRows(chunks.__getitem__, [chunk.shape[0] for chunk in chunks], n_columns, types.pop())
    rows.first_number = int(first)
    return function(rows.blocks())


def _merged(merge: Callable[[Any, Any], Any], results: list[Any]) -> Any:
    return reduce(merge, results)


def _picked(chunk: Any, rows: np.ndarray) -> Any:
    return chunk[rows]
