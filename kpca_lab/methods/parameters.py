"""Whether the parameters of a model that is fitted bit by bit are still what they were."""

from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator


def remembered_parameters(model: BaseEstimator) -> dict[str, Any]:
    """The parameters of a model; arrays and dictionaries, which the caller may change, are copied."""
    return {
        name: deepcopy(value) if name in ("basis", "kernel_params") else value
        for name, value in model.get_params(deep=False).items()
    }


def check_unchanged(model: BaseEstimator, begun_with: dict[str, Any]) -> None:
    """Refuse to go on with other parameters than those a model was begun with."""
    for name, value in model.get_params(deep=False).items():
        before = begun_with[name]
        if name != "verbose" and value is not before and not _equal(value, before):
            raise ValueError(
                f"{name} was {before!r} when this model was begun and is {value!r} now: partial_fit "
                "cannot go on. Use fit, or a new model."
            )


def _equal(first, second) -> bool:
    if sparse.issparse(first) and sparse.issparse(second):
        return first.shape == second.shape and not (first != second).nnz
    first, second = np.asarray(first), np.asarray(second)
    return first.shape == second.shape and bool(np.all(first == second))
