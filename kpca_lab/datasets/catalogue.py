"""All data sets by name: what there is, and one function that loads any of it."""

import inspect
import math
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kpca_lab.choices import unknown
from kpca_lab.datasets import real, synthetic, user_data
from kpca_lab.datasets.dataset import Dataset, Provenance
from kpca_lab.datasets.scaling import SCALINGS, apply_scaling, fit_scaling
from kpca_lab.datasets.seeds import derive_rng
from kpca_lab.datasets.yaleb import load_yaleb

__all__ = ["CATALOGUE", "Entry", "dataset_options", "list_datasets", "load_dataset"]

# Bytes from which an array is worth memory of its own: see `_room`.
LARGE = 32_000_000

DTYPES = ("float64", "float32", "uint8")


@dataclass(frozen=True)
class Entry:
    """One name of the catalogue.

    Attributes
    ----------
    name : str
        What `load_dataset` is asked for.
    kind : str
        ``"real"``, ``"synthetic"`` or ``"user"``.
    load : callable
        Loader with the options of this data set; returns a Dataset in its stored type.
    summary : str
        One line on what it is.
    file_sets : tuple of str
        The file sets it needs: keys of the registry.
    variants : tuple of str
        Where the option ``variant`` chooses between the file sets: the variant of each, the default first.
    """

    name: str
    kind: str
    load: Callable[..., Dataset]
    summary: str
    file_sets: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    def file_sets_for(self, options: dict[str, Any]) -> tuple[str, ...]:
        """The file sets that the data with some options need; none if the user names files instead."""
        if options.get("path") is not None:
            return ()
        if not self.variants:
            return self.file_sets
        chosen = options.get("variant", self.variants[0])
        return tuple(name for name, variant in zip(self.file_sets, self.variants) if variant == chosen)


def _first_line(function: Callable) -> str:
    return (inspect.getdoc(function) or "").splitlines()[0]


# What a reader of results must know about a synthetic set.
_SYNTHETIC_NOTES = {
    "artificial2d": ("calibrated stand-in: Washizawa (2012) does not specify the data of Section 6.2"),
}

_PLANE = ("x", "y")


def _generate(generator: Callable[..., dict[str, np.ndarray]], **options: Any) -> Dataset:
    call = inspect.signature(generator).bind(**options)
    call.apply_defaults()
    arrays = generator(**options)
    n_features = arrays["X"].shape[1]
    name = generator.__name__
    return Dataset(
        name,
        arrays["X"],
        arrays.get("y"),
        arrays.get("X_test"),
        arrays.get("y_test"),
        feature_names=_PLANE if n_features == 2 else tuple(f"x{i}" for i in range(n_features)),
        provenance=Provenance(
            "synthetic",
            terms="none: generated",
            note=_SYNTHETIC_NOTES.get(name, ""),
            generator=f"kpca_lab.datasets.synthetic.{name}",
            parameters=dict(call.arguments),
        ),
    )


def _synthetic_entries() -> Iterator[Entry]:
    for name in synthetic.__all__:
        generator = getattr(synthetic, name)
        load: Any = partial(_generate, generator)
        load.__signature__ = inspect.signature(generator)
        yield Entry(name, "synthetic", load, _first_line(generator))


def _real_entries() -> Iterator[Entry]:
    loaders = [name for name in real.__all__ if name.startswith("load_") and name != "load_ida"]
    for load in (getattr(real, loader) for loader in loaders):
        name = load.__name__.removeprefix("load_")
        yield Entry(name, "real", load, _first_line(load), (name,))
    file_sets, variants = ("yaleb", "yaleb:extended"), ("multipose", "extended")
    yield Entry("yaleb", "real", load_yaleb, _first_line(load_yaleb), file_sets, variants)
    for benchmark, count in real.IDA_BENCHMARKS.items():
        yield Entry(
            f"ida/{benchmark}",
            "real",
            partial(real.load_ida, benchmark),
            f"Raetsch (IDA) benchmark {benchmark}, {count} realisations.",
            ("ida",),
        )


def _user_entries() -> Iterator[Entry]:
    for name in ("csv", "npy", "npz", "parquet"):
        load = getattr(user_data, f"load_{name}")
        yield Entry(name, "user", load, _first_line(load))


CATALOGUE = {entry.name: entry for entry in (*_synthetic_entries(), *_real_entries(), *_user_entries())}


def list_datasets(kind: str | None = None) -> list[str]:
    """Return the names of all data sets.

    Parameters
    ----------
    kind : {"synthetic", "real", "user"}, optional
        Only those of one kind.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from kpca_lab.datasets import list_datasets
    >>> list_datasets("user")
    ['csv', 'npy', 'npz', 'parquet']
    """
    kinds = ("synthetic", "real", "user")
    if kind is not None and kind not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}, not {kind!r}")
    return [entry.name for entry in CATALOGUE.values() if kind in (None, entry.kind)]


def entry_of(name: str) -> Entry:
    """Return the catalogue entry called `name`, or raise a ValueError that suggests one."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    raise ValueError(unknown("data set", name, list(CATALOGUE)))


def dataset_options(name: str) -> dict[str, Any]:
    """Return the loader options of a data set with their defaults.

    Parameters
    ----------
    name : str
        One of `list_datasets`.

    Returns
    -------
    dict
        Defaults by option; ``inspect.Parameter.empty`` where an option must be given.
    """
    parameters = inspect.signature(entry_of(name).load).parameters.values()
    own = {parameter.name: parameter.default for parameter in parameters}
    return own | _COMMON_OPTIONS


_COMMON_OPTIONS = {
    "scaling": None,
    "dtype": "float64",
    "n_train": None,
    "n_test": None,
    "subset_seed": 0,
}


def load_dataset(name: str, **options: Any) -> Dataset:
    """Load a data set by name, fetching and verifying its files if they are not there yet.

    Every data set knows the options listed here; `dataset_options` lists the further ones of
    each, such as ``realisation`` of the IDA benchmarks, ``n`` and ``seed`` of the generators and
    ``path`` of the user's own data.

    Parameters
    ----------
    name : str
        One of `list_datasets`.
    scaling : {None, "standard", "minmax", "center", "unit"}
        Scaling by the statistics of the training part; ``"unit"`` maps the range of pixels to
        [0, 1]. By default the values are as published.
    dtype : {"float64", "float32", "uint8"}
        Type of `X`. ``"uint8"`` leaves the pixels of MNIST and other byte images on disk,
        memory-mapped and read-only; arithmetic on it wraps around. All of MNIST takes 376 MB
        in float64.
    n_train, n_test : int, optional
        Keep a random subset of that many training or test rows, in their original order. For
        generators ``n_test`` is the number of test points drawn.
    subset_seed : int
        Number of the random subset.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the name or an option is not known.
    DatasetUnavailableError
        If no source has the files; the message says what was tried and what to do.

    Examples
    --------
    >>> from kpca_lab.datasets import load_dataset
    >>> load_dataset("three_clusters", seed=1)
    Dataset('three_clusters', X=(90, 2), source='generator')
    """
    entry = entry_of(name)
    known = dataset_options(name)
    for option in options:
        if option not in known:
            raise ValueError(unknown(f"option of {name}:", option, list(known)))
    own = inspect.signature(entry.load).parameters
    common = {
        option: options.pop(option, default)
        for option, default in _COMMON_OPTIONS.items()
        if option not in own
    }
    for option, parameter in own.items():
        if parameter.default is inspect.Parameter.empty and option not in options:
            raise ValueError(f"{name} needs the option {option}=")
    _check_common(name, common)
    loaded = entry.load(**options)
    return _finish(loaded, options, common)


def _check_common(name: str, common: dict[str, Any]) -> None:
    if common["scaling"] not in (None, *SCALINGS):
        raise ValueError(
            f"{name}: scaling must be None or one of {', '.join(SCALINGS)}, not {common['scaling']!r}"
        )
    if common["dtype"] not in DTYPES:
        raise ValueError(f"{name}: dtype must be one of {', '.join(DTYPES)}, not {common['dtype']!r}")


def _finish(loaded: Dataset, options: dict[str, Any], common: dict[str, Any]) -> Dataset:
    """Apply the common options: subset first, so that little is converted; then type; scale."""
    X, y = _subset(loaded, "X", loaded.X, loaded.y, common.get("n_train"), common)
    X_test, y_test = _subset(loaded, "X_test", loaded.X_test, loaded.y_test, common.get("n_test"), common)
    if common["dtype"] == "uint8":
        if X.dtype != np.uint8 or common["scaling"] is not None:
            raise ValueError(f"{loaded.name}: dtype 'uint8' is only for unscaled images stored as bytes")
        X, X_test = np.asarray(X), None if X_test is None else np.asarray(X_test)
    else:
        X = _own_copy(X, common["dtype"])
        X_test = None if X_test is None else _own_copy(X_test, common["dtype"])
        if common["scaling"] is not None:
            shift, width = fit_scaling(X, common["scaling"], loaded.pixel_range)
            X = apply_scaling(X, shift, width)
            X_test = None if X_test is None else apply_scaling(X_test, shift, width)
    changed = {option: value for option, value in common.items() if value != _COMMON_OPTIONS[option]}
    parameters = dict(loaded.provenance.parameters) | options | changed
    return replace(
        loaded,
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        provenance=replace(loaded.provenance, parameters=parameters),
        pixel_range={None: loaded.pixel_range, "unit": (0.0, 1.0)}.get(common["scaling"]),
    )


def _own_copy(X: np.ndarray, dtype: str) -> np.ndarray:
    """Make an array in memory that the caller may change, with rows contiguous."""
    if X.base is None and X.flags.writeable and X.flags.c_contiguous and X.dtype == dtype:
        return X
    own = _room(X.shape, np.dtype(dtype))
    np.copyto(own, X, casting="same_kind")
    return own


def _room(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an uninitialised array whose memory is there at once if it is large.

    NumPy asks Linux for huge pages, and Linux may first spend more than a second on making
    them; ordinary pages mapped in one go take a fraction of that, always.
    """
    size = math.prod(shape) * dtype.itemsize
    if size < LARGE or not hasattr(mmap, "MAP_POPULATE"):
        return np.empty(shape, dtype)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
    except OSError:
        return np.empty(shape, dtype)
    return np.frombuffer(pages, dtype).reshape(shape)


def _subset(
    loaded: Dataset,
    part: str,
    X: Any,
    y: np.ndarray | None,
    size: int | None,
    common: dict[str, Any],
) -> tuple[Any, np.ndarray | None]:
    if size is None:
        return X, y
    available = 0 if X is None else len(X)
    if isinstance(size, bool) or int(size) != size or not 1 <= size <= available:
        raise ValueError(f"{loaded.name}: cannot take {size!r} of the {available} rows of {part}")
    rng = derive_rng(loaded.name, common["subset_seed"], f"subset of {part}")
    rows = np.sort(rng.choice(available, size=int(size), replace=False))
    return X[rows], None if y is None else y[rows]
