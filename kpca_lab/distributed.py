"""From laptop to cluster: fits on many machines, by Dask.

What fits one machine is fitted to a NumPy array, and data larger than its memory are read in blocks, see
:mod:`kpca_lab.rows`. Data that are too many for one machine are a Dask array, and the same ``fit`` runs on
the cluster that the process is connected to. Machines that are no cluster yet become one by three commands
(``pip install 'kpca-lab[dist]'`` on each)::

    dask scheduler                                                # on one machine; it prints its address
    dask worker tcp://SCHEDULER:8786 --nworkers 8 --nthreads 1    # on each machine
    python fit.py                                                 # anywhere

where ``fit.py`` is::

    import dask.array
    from distributed import Client
    from kpca_lab import SubsetKPCA
    from kpca_lab.distributed import transform

    client = Client("tcp://SCHEDULER:8786")
    X = dask.array.from_zarr("samples.zarr")
    model = SubsetKPCA(n_components=50, gamma="scale", n_basis=2000, random_state=0).fit(X)
    transform(model, X).to_zarr("components.zarr")

``kpca-lab plan --rows 1e9 --features 1000 --basis 2000 --workers 100`` tells beforehand what that takes.

*What happens.* The basis is chosen on the client: the selectors "random", "kmeans" and others draw a seeded
subsample, whose rows are picked where they are. Empty statistics over the basis
(:class:`~kpca_lab.statistics.SpanStatistics`) go to the workers, once to each. One task sums up the samples
of a few chunks, those that make up 50 rows for each basis sample or 128 MB, and returns ``n_basis^2``
numbers. These are added up eight at a time, and the sum is solved on the client, at a cost that does not
depend on the number of samples.

*What can be relied on.* The result is that of ``fit`` to the same rows in memory, up to the order of
summation. That order follows from the chunks alone: the result is the same to the bit for any number of
equal workers, and also if some are lost, whose tasks run again elsewhere. A value that is not finite is
refused with the number of its row. Samples stay where they are.

*Advice.* Chunks of 50 to 200 MB, of whole rows. One thread per worker: products are as fast, and nothing
waits for Python's lock. ``persist`` the array if the cluster's memory has room for it and it is read again,
as it is with ``gamma="scale"``. Sweeps of many small jobs are faster in the pool of one machine.
"""

from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kpca_lab.dask_rows import DaskRows, active_client
from kpca_lab.extras import require
from kpca_lab.kernel_checks import check_range
from kpca_lab.methods.base import in_precision
from kpca_lab.methods.blockwise import BlockwiseEstimator
from kpca_lab.metrics import as_operator
from kpca_lab.metrics import empirical_error as error_of_rows
from kpca_lab.operator import FeatureOperator
from kpca_lab.rows import as_rows

__all__ = ["empirical_error", "fit", "transform"]

Estimator = TypeVar("Estimator", bound=BlockwiseEstimator)


def fit(estimator: Estimator, data: Any, *, client: Any = None) -> Estimator:
    """Fit an estimator to a Dask array on a cluster.

    Parameters
    ----------
    estimator : SubsetKPCA or ImprovedKPCA
        One whose ``fit`` reads samples in blocks.
    data : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The samples.
    client : distributed.Client, default=None
        Of the cluster; by default that of the process, and without one the chunks are read here.

    Returns
    -------
    estimator

    See Also
    --------
    kpca_lab.SubsetKPCA.fit : Does the same for a Dask array, on the cluster of the process.

    Examples
    --------
    >>> import dask.array
    >>> from kpca_lab import SubsetKPCA
    >>> from kpca_lab.distributed import fit
    >>> X = dask.array.random.default_rng(0).standard_normal((2000, 3), chunks=(500, 3))
    >>> fit(SubsetKPCA(n_components=5, n_basis=50, random_state=0), X).n_samples_seen_
    2000
    """
    if not isinstance(estimator, BlockwiseEstimator):
        raise TypeError(
            f"{type(estimator).__name__} needs all samples in memory and cannot be fitted on a cluster: use "
            "SubsetKPCA."
        )
    return estimator.fit(_rows(data, client))


def transform(estimator: Any, data: Any) -> Any:
    """Project the rows of a Dask array on the components, chunk by chunk and when it is computed.

    Parameters
    ----------
    estimator : fitted estimator or FeatureOperator
        What has the components.
    data : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The samples.

    Returns
    -------
    dask.array.Array of shape (n_samples, n_components)
        In single precision if the rows are, with their chunks.

    Examples
    --------
    >>> import dask.array
    >>> from kpca_lab import SubsetKPCA
    >>> from kpca_lab.distributed import transform
    >>> X = dask.array.random.default_rng(0).standard_normal((2000, 3), chunks=(500, 3))
    >>> components = transform(SubsetKPCA(n_components=5, n_basis=50, random_state=0).fit(X), X)
    >>> components.shape, components.chunks[0]
    ((2000, 5), (500, 500, 500, 500))
    """
    if not isinstance(estimator, FeatureOperator):
        check_is_fitted(estimator)
    operator, array = as_operator(estimator), _dask_array(data)
    if array.shape[1] != operator.points.shape[1]:
        raise ValueError(
            f"X has {array.shape[1]} features, and the components are of {operator.points.shape[1]}."
        )
    array = array.rechunk({1: -1})
    dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
    return array.map_blocks(
        _components,
        require("dask", "dist").delayed(_itself)(operator),  # sent once, not with every chunk
        dtype=dtype,
        chunks=(array.chunks[0], (operator.rank,)),
        meta=np.empty((0, 0), dtype),
    )


def empirical_error(model: Any, data: Any, *, client: Any = None) -> float:
    """Mean squared reconstruction error in feature space over the rows of a Dask array, on a cluster.

    Parameters
    ----------
    model : fitted estimator or FeatureOperator
        What reconstructs the samples.
    data : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The samples.
    client : distributed.Client, default=None
        As for :func:`fit`.

    Returns
    -------
    float
        As :func:`kpca_lab.metrics.empirical_error`.
    """
    return error_of_rows(model, _rows(data, client))


def _rows(data: Any, client: Any) -> Any:
    array = _dask_array(data)
    client = active_client() if client is None else client
    return as_rows(array) if client is None else DaskRows(array, client)


def _dask_array(data: Any) -> Any:
    array = require("dask.array", "dist")
    if hasattr(data, "to_dask_array"):
        data = data.to_dask_array(lengths=True)
    if not isinstance(data, array.Array):
        raise TypeError(
            f"The samples must be a Dask array, got {type(data).__name__}: dask.array.from_array, from_zarr "
            "and from_npy_stack make one."
        )
    if data.ndim != 2:
        raise ValueError(f"Rows must be an array of two dimensions, got shape {data.shape}.")
    return data


def _itself(operator: FeatureOperator) -> FeatureOperator:
    return operator


def _components(chunk: Any, operator: FeatureOperator) -> np.ndarray:
    source = as_rows(chunk)
    parts = []
    for block in source.blocks():
        check_range(operator.kernel, block, training=False)
        parts.append(in_precision(operator.transform(block), source.dtype))
    return np.concatenate(parts) if parts else np.empty((0, operator.rank), source.dtype)
