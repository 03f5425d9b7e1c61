"""Estimators that can be fitted to samples which are read in blocks, see :mod:`kpca_lab.rows`."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kpca_lab.kernel_checks import check_range
from kpca_lab.kernels import Kernel
from kpca_lab.methods.base import OperatorEstimator, variance_share
from kpca_lab.operator import FeatureOperator
from kpca_lab.rows import RowSource, as_rows, is_row_source


class BlockwiseEstimator(OperatorEstimator):
    """An estimator whose samples may be any source of rows; arrays in memory go the usual way.

    A subclass has a parameter ``verbose``, and its ``fit`` can do with the blocks of a
    :class:`~kpca_lab.row_source.RowSource` where :meth:`_start` returns one.
    """

    verbose: int

    def _start(self, X, *, min_samples: int = 1, reset: bool = True) -> tuple[Any, Kernel]:
        if not self._is_read_in_blocks(X):
            return super()._start(X, min_samples=min_samples, reset=reset)
        source = as_rows(X)
        if self._keeps_samples:
            raise ValueError(
                f"center={self.center!r} keeps all samples in memory: use center=True for samples that are "
                "read in blocks."
            )
        if reset:
            self.n_features_in_ = source.n_columns
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        self._check_columns(source)
        if source.known_rows is not None and source.known_rows < min_samples:
            raise ValueError(f"At least {min_samples} samples are needed, got {source.known_rows}.")
        return source, self._make_kernel(source, source.n_columns, reset)

    def _blocks_of(self, source: RowSource, kernel: Kernel, label: str) -> Iterator[Any]:
        """The blocks of a source, checked."""
        for block in source.blocks(verbose=self.verbose, label=label):
            check_range(kernel, block, training=False)
            yield block

    def _is_read_in_blocks(self, X) -> bool:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return False
        # A memory map that has to be kept is read like any array.
        return is_row_source(X) and not (self._keeps_samples and isinstance(X, np.memmap))

    def _check_columns(self, source: RowSource) -> None:
        if source.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {source.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    def score(self, X, y=None) -> float:
        if not self._is_read_in_blocks(X):
            return super().score(X)
        check_is_fitted(self)
        source = as_rows(X)
        self._check_columns(source)
        sums = source.reduce(
            partial(_score_sums, self.operator_), list.__add__, verbose=self.verbose, label="score"
        )
        return variance_share(*np.transpose(sums))

    score.__doc__ = OperatorEstimator.score.__doc__

    def transform(self, X, *, out=None):
        """Project samples on the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or anything that :func:`kpca_lab.rows.as_rows` takes
            With a precomputed kernel, the kernel values with all training samples.
        out : array of shape (n_samples, n_components), optional
            Where the components are written block by block: an array, a memory map, or an h5py or zarr data
            set. It is returned.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or ``out``
        """
        if out is None and not self._is_read_in_blocks(X):
            return super().transform(X)
        check_is_fitted(self)
        source = as_rows(X)
        self._check_columns(source)
        n_rows = source.known_rows
        if out is None and n_rows is not None:
            out = np.empty((n_rows, self.n_components_), source.dtype)
        if out is not None and (len(out.shape) != 2 or out.shape[1] != self.n_components_):
            raise ValueError(f"out must have {self.n_components_} columns, got shape {tuple(out.shape)}.")
        if out is not None and n_rows is not None and out.shape[0] != n_rows:
            raise ValueError(f"out must have {n_rows} rows, got shape {tuple(out.shape)}.")
        parts, start = [], 0
        for block in self._blocks_of(source, self.operator_.kernel, "transform"):
            components = self.operator_.transform(block).astype(source.dtype, copy=False)
            if out is None:
                parts.append(components)
            else:
                out[start : start + len(components)] = components
                start += len(components)
        return np.concatenate(parts) if out is None else out


def _score_sums(operator: FeatureOperator, blocks: Iterable[Any]) -> list[tuple[float, float]]:
    """Sums of the residuals and of the squared distances from the mean, for each block."""
    sums = []
    for block in blocks:
        check_range(operator.kernel, block, training=False)
        sums.append((operator.residual(block).sum(), operator.centred_square_norm(block).sum()))
    return sums
