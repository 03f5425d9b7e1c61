"""Loaders of the papers' real data sets, apart from Yale Face Database B."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from kpca_lab.datasets import parsers
from kpca_lab.datasets.dataset import Dataset, Provenance
from kpca_lab.datasets.fetch import obtain
from kpca_lab.datasets.parsed_cache import load_or_parse
from kpca_lab.datasets.registry import FILE_SETS, FileSet

__all__ = [
    "IDA_BENCHMARKS",
    "load_concrete",
    "load_frey",
    "load_housing",
    "load_ida",
    "load_mnist",
    "load_teapots",
    "load_tic",
    "load_usps",
    "read_ida",
]

# Number of realisations of each benchmark.
IDA_BENCHMARKS = {
    "banana": 100,
    "breast_cancer": 100,
    "diabetis": 100,
    "flare_solar": 100,
    "german": 100,
    "heart": 100,
    "image": 20,
    "ringnorm": 100,
    "splice": 20,
    "thyroid": 100,
    "titanic": 100,
    "twonorm": 100,
    "waveform": 100,
}

CONCRETE_NAMES = (
    "cement",
    "blast_furnace_slag",
    "fly_ash",
    "water",
    "superplasticizer",
    "coarse_aggregate",
    "fine_aggregate",
    "age",
    "compressive_strength",
)

HOUSING_NAMES = (
    *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B"),
    *("LSTAT", "MEDV"),
)

# 43 facts about the postcode area, then contribution (P) and number (A) of 21 kinds of policies.
_TIC_AREA = (
    *("MOSTYPE", "MAANTHUI", "MGEMOMV", "MGEMLEEF", "MOSHOOFD", "MGODRK", "MGODPR", "MGODOV"),
    *("MGODGE", "MRELGE", "MRELSA", "MRELOV", "MFALLEEN", "MFGEKIND", "MFWEKIND", "MOPLHOOG"),
    *("MOPLMIDD", "MOPLLAAG", "MBERHOOG", "MBERZELF", "MBERBOER", "MBERMIDD", "MBERARBG"),
    *("MBERARBO", "MSKA", "MSKB1", "MSKB2", "MSKC", "MSKD", "MHHUUR", "MHKOOP", "MAUT1", "MAUT2"),
    *("MAUT0", "MZFONDS", "MZPART", "MINKM30", "MINK3045", "MINK4575", "MINK7512", "MINK123M"),
    *("MINKGEM", "MKOOPKLA"),
)
_TIC_POLICIES = (
    *("WAPART", "WABEDR", "WALAND", "PERSAUT", "BESAUT", "MOTSCO", "VRAAUT", "AANHANG", "TRACTOR"),
    *("WERKT", "BROM", "LEVEN", "PERSONG", "GEZONG", "WAOREG", "BRAND", "ZEILPL", "PLEZIER"),
    *("FIETS", "INBOED", "BYSTAND"),
)
TIC_NAMES = (
    *_TIC_AREA,
    *("P" + policy for policy in _TIC_POLICIES),
    *("A" + policy for policy in _TIC_POLICIES),
    "CARAVAN",
)


def _gather(
    file_set: str | FileSet, key: str, version: int, parse: Callable[[list[Path]], dict[str, np.ndarray]]
) -> tuple[dict[str, np.ndarray], Provenance]:
    """Fetch a file set and return its parsed arrays and provenance; `parse` gets the paths."""
    if isinstance(file_set, str):
        file_set = FILE_SETS[file_set]
    found = obtain(file_set, dataset=key)
    records = tuple(record for _, record in found)
    arrays = load_or_parse(key, version, records, lambda: parse([path for path, _ in found]))
    notes = sorted({record.note for record in records if record.note})
    return arrays, Provenance("real", records, file_set.terms, note="; ".join(notes))


def _pixel_names(n_pixels: int) -> tuple[str, ...]:
    return tuple(f"pixel{number}" for number in range(n_pixels))


def _with_target_last(
    name: str, table: np.ndarray, names: tuple[str, ...], include_target: bool, provenance: Provenance
) -> Dataset:
    if include_target:
        return Dataset(name, table, feature_names=names, provenance=provenance)
    return Dataset(
        name,
        table[:, :-1],
        np.asarray(table[:, -1]),
        feature_names=names[:-1],
        provenance=provenance,
    )


def load_concrete(include_target: bool = True, allow_rounded: bool = True) -> Dataset:
    """Concrete compressive strength (UCI): 1030 samples.

    Parameters
    ----------
    include_target : bool
        Keep the strength as the ninth column of `X`, as Washizawa's count of dimensions needs;
        `y` is then None. Otherwise `X` has eight columns and `y` is the strength.
    allow_rounded : bool
        Accept, with a warning, the rounded values if only they can be had.
    """

    def parse(paths: list[Path]) -> dict[str, np.ndarray]:
        if paths[0].name == "Concrete_Data.xls":
            return {"table": parsers.read_concrete(paths[0])}
        return {"table": parsers.read_concrete_rounded(paths[0])}

    arrays, provenance = _gather("concrete", "concrete", 1, parse)
    if provenance.note and not allow_rounded:
        raise ValueError(
            f"concrete: only {provenance.note} could be had, and allow_rounded is False; "
            "'python -m kpca_lab.datasets fetch concrete' looks again"
        )
    return _with_target_last("concrete", arrays["table"], CONCRETE_NAMES, include_target, provenance)


def load_housing(include_target: bool = True) -> Dataset:
    """Boston housing (UCI): 506 samples.

    Parameters
    ----------
    include_target : bool
        Keep the median value MEDV as the 14th column of `X`, as Washizawa's count of dimensions
        needs; `y` is then None. Otherwise `X` has 13 columns and `y` is MEDV.
    """

    def parse(paths: list[Path]) -> dict[str, np.ndarray]:
        delimiter = "," if paths[0].suffix == ".csv" else None
        return {"table": parsers.read_table(paths[0], 14, delimiter)}

    arrays, provenance = _gather("housing", "housing", 1, parse)
    return _with_target_last("housing", arrays["table"], HOUSING_NAMES, include_target, provenance)


def load_tic(include_target: bool = False, parts: str = "all") -> Dataset:
    """Insurance company benchmark, COIL 2000 (UCI): 9822 samples, 85 inputs.

    Parameters
    ----------
    include_target : bool
        Keep the caravan policy as the 86th column of `X`; `y` is then None. Washizawa's count
        of 85 dimensions leaves it out.
    parts : {"all", "official", "train"}
        All 9822 rows as one set; the 5822 training rows, and the 4000 of the evaluation as test part;
        or the training rows alone, which a package index is enough for.
    """
    if parts not in ("all", "official", "train"):
        raise ValueError(f"parts must be 'all', 'official' or 'train', not {parts!r}")
    file_set = FILE_SETS["tic"]
    if parts == "train":
        file_set = replace(file_set, files=file_set.files[:1])

    def parse(paths: list[Path]) -> dict[str, np.ndarray]:
        if len(paths) == 1:
            return {"table": parsers.read_table(paths[0], 86)}
        evaluation = np.hstack([parsers.read_table(paths[1], 85), parsers.read_table(paths[2], 1)])
        return {"table": np.vstack([parsers.read_table(paths[0], 86), evaluation])}

    arrays, provenance = _gather(file_set, "tic", 1, parse)
    table = arrays["table"]
    names = TIC_NAMES if include_target else TIC_NAMES[:-1]
    X = table if include_target else table[:, :-1]
    y = None if include_target else table[:, -1].astype(np.int64)
    n_train = len(table) if parts == "all" else 5822
    has_test = parts == "official"
    return Dataset(
        "tic",
        X[:n_train],
        None if y is None else y[:n_train],
        X[n_train:] if has_test else None,
        y[n_train:] if has_test and y is not None else None,
        feature_names=names,
        provenance=provenance,
    )


def load_usps() -> Dataset:
    """USPS digits: 7291 training and 2007 test images of 16 x 16 pixels in [-1, 1]."""

    def parse(paths: list[Path]) -> dict[str, np.ndarray]:
        train, test = (parsers.read_table(path, 257) for path in paths)
        return {"train": train, "test": test}

    arrays, provenance = _gather("usps", "usps", 1, parse)
    return Dataset(
        "usps",
        arrays["train"][:, 1:],
        arrays["train"][:, 0].astype(np.int64),
        arrays["test"][:, 1:],
        arrays["test"][:, 0].astype(np.int64),
        feature_names=_pixel_names(256),
        provenance=provenance,
        image_shape=(16, 16),
        pixel_range=(-1.0, 1.0),
    )


def load_mnist() -> Dataset:
    """MNIST digits: 60000 training and 10000 test images of 28 x 28 pixels, 0 to 255."""

    def parse(paths: list[Path]) -> dict[str, np.ndarray]:
        names = ("train_images", "train_labels", "test_images", "test_labels")
        return {name: parsers.read_idx(path) for name, path in zip(names, paths)}

    arrays, provenance = _gather("mnist", "mnist", 1, parse)
    return Dataset(
        "mnist",
        arrays["train_images"].reshape(-1, 784),
        arrays["train_labels"].astype(np.int64),
        arrays["test_images"].reshape(-1, 784),
        arrays["test_labels"].astype(np.int64),
        feature_names=_pixel_names(784),
        provenance=provenance,
        image_shape=(28, 28),
        pixel_range=(0.0, 255.0),
    )


def read_ida(benchmark: str) -> tuple[dict[str, np.ndarray], Provenance]:
    """Return patterns, labels and zero-based index arrays of a Raetsch benchmark, and provenance.

    Parameters
    ----------
    benchmark : str
        One of `IDA_BENCHMARKS`.

    Returns
    -------
    arrays : dict
        ``x``, ``t``, ``train`` and ``test``; the last two have one row a realisation.
    provenance : Provenance
    """
    return _gather("ida", f"ida/{benchmark}", 1, lambda paths: parsers.read_benchmark(paths[0], benchmark))


def load_ida(benchmark: str, realisation: int = 1) -> Dataset:
    """One realisation of a Raetsch (IDA) benchmark, with its own training and test part.

    Parameters
    ----------
    realisation : int
        From 1 to 100, or to 20 for image and splice. Some realisations repeat others, and the
        rows of some benchmarks repeat within one: both are as published.
    """
    last = IDA_BENCHMARKS[benchmark]
    if isinstance(realisation, bool) or realisation not in range(1, last + 1):
        raise ValueError(
            f"ida/{benchmark}: realisation must be a whole number from 1 to {last}, not {realisation!r}"
        )
    arrays, provenance = read_ida(benchmark)
    train, test = arrays["train"][realisation - 1], arrays["test"][realisation - 1]
    x, t = arrays["x"], arrays["t"]
    return Dataset(
        f"ida/{benchmark}",
        x[train],
        t[train],
        x[test],
        t[test],
        feature_names=tuple(f"x{number}" for number in range(x.shape[1])),
        provenance=provenance,
    )


def load_frey() -> Dataset:
    """Frey faces: 1965 frames of a film, 28 x 20 pixels, 0 to 255."""
    arrays, provenance = _gather(
        "frey", "frey", 1, lambda paths: {"frames": parsers.read_matlab(paths[0], "ff")[0].T}
    )
    return Dataset(
        "frey",
        arrays["frames"],
        feature_names=_pixel_names(560),
        provenance=provenance,
        image_shape=(28, 20),
        pixel_range=(0.0, 255.0),
    )


def load_teapots() -> Dataset:
    """Rotating teapot: 100 frames of a full turn, 76 x 101 pixels in three colours, 0 to 255."""

    def parse(paths: list[Path]) -> dict[str, np.ndarray]:
        frames = parsers.read_matlab(paths[0], "teapots")[0].T
        # Stored with the row of the picture running fastest; kept with the colour fastest.
        pictures = frames.reshape(-1, 3, 101, 76).transpose(0, 3, 2, 1)
        return {"frames": pictures.reshape(len(frames), -1)}

    arrays, provenance = _gather("teapots", "teapots", 1, parse)
    note = "100 frames of a full turn; Chin and Suter (2006) used a film of 400"
    return Dataset(
        "teapots",
        arrays["frames"],
        feature_names=_pixel_names(76 * 101 * 3),
        provenance=Provenance("real", provenance.files, provenance.terms, note),
        image_shape=(76, 101, 3),
        pixel_range=(0.0, 255.0),
    )
