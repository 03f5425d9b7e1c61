"""Results that several jobs need, computed once and kept in the cache folder of the data sets."""

import hashlib
import inspect
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from kpca_lab.datasets.locations import cache_dir
from kpca_lab.suite.engine.code_identity import code_version
from kpca_lab.suite.engine.data_identity import data_version
from kpca_lab.suite.engine.identity import identified
from kpca_lab.suite.files import write_atomically

__all__ = ["shared", "shared_all", "shared_folder"]


def shared(compute: Callable[..., dict], dataset: dict, **arguments) -> dict[str, np.ndarray]:
    """The arrays that ``compute(dataset, **arguments)`` returns, from the cache if they are there.

    What is kept is identified by the arguments, the files of the data set and the code of ``compute`` and of
    the targets that the arguments name. Two processes that want the same do the work once: the second one
    waits.

    Parameters
    ----------
    compute : function
        Of a module, returns a dictionary of arrays that the arguments alone determine.
    dataset : dict
        As in a :class:`kpca_lab.suite.jobs.Job`.
    **arguments
        Plain values.

    Returns
    -------
    dict of ndarray
    """
    return shared_all(compute, dataset, [arguments])[0]


def shared_all(compute: Callable[..., dict], dataset: dict, many: Sequence[dict]) -> list[dict]:
    """The same for several sets of arguments; processes that want the same ones divide the work."""
    paths = [_path(compute, dataset, arguments) for arguments in many]
    for patience in (0, -1):  # first what no other process is at, then what others have not finished
        for path, arguments in zip(paths, many):
            if path.is_file():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with FileLock(path.with_suffix(".lock"), timeout=patience):
                    if not path.is_file():
                        _keep(path, compute(dataset, **arguments))
            except Timeout:
                pass
    return [_read(path) for path in paths]


def shared_folder() -> Path:
    """Where the arrays are kept; it may be deleted at any time."""
    return cache_dir() / "shared"


def _path(compute, dataset, arguments) -> Path:
    code = code_version(f"{compute.__module__}.{compute.__qualname__}")
    given = inspect.signature(compute).bind(dataset, **arguments)  # a wrong name fails here, not later
    values = sorted(identified(dict(given.arguments)).items(), key=lambda item: item[0])
    parts = [compute.__name__, code, data_version(dataset), dataset, values]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]
    return shared_folder() / f"{compute.__name__.strip('_')}-{digest}.npz"


def _keep(path, arrays):
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    write_atomically(path, content.getvalue())


def _read(path):
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
