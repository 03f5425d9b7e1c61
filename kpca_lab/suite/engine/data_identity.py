"""What determines the data of a job, found without loading it; and how its files come into the cache."""

from pathlib import Path

from kpca_lab.datasets.catalogue import entry_of
from kpca_lab.datasets.fetch import obtain, sha256_of
from kpca_lab.datasets.locations import cache_dir
from kpca_lab.datasets.registry import FILE_SETS
from kpca_lab.suite.engine.code_identity import code_version

__all__ = ["data_version", "fetch_data", "has_substitute"]

DATA_CODE = (
    "kpca_lab.datasets.scale",
    "kpca_lab.datasets.derive_rng",
    "kpca_lab.datasets.split",
)


def data_version(dataset: dict | None) -> str:
    """What determines the data.

    For a real data set the hashes of its files and the code that reads them, for a generator its code, for
    the user's own file its hash. The options are part of the job itself.
    """
    if dataset is None:
        return ""
    entry = entry_of(dataset["name"])
    loader = getattr(entry.load, "args", ()) and entry.kind == "synthetic"
    function = entry.load.args[0] if loader else getattr(entry.load, "func", entry.load)
    parts = [code_version(*DATA_CODE, f"{function.__module__}.{function.__qualname__}")]
    for _, raw in _raw_files(dataset):
        there = _variants_there(raw)
        # Containers of the same values count as the same file.
        used = there[0] if there and there[0].note else raw
        parts.append(used.sha256[0])
    path = dataset["options"].get("path")
    if path is not None:
        parts.extend(_own_files(Path(path)))
    return " ".join(parts)


def _raw_files(dataset):
    """The files of a data set of the papers, each with its file set."""
    names = entry_of(dataset["name"]).file_sets_for(dataset["options"])
    return [(FILE_SETS[name], raw) for name in names for raw in FILE_SETS[name].files]


def _own_files(path):
    if path.is_file():
        return [sha256_of(path)]
    files = sorted(entry for entry in path.rglob("*") if entry.is_file())
    return [f"{entry.relative_to(path)}:{entry.stat().st_size}" for entry in files]


def _variants_there(raw):
    return [variant for variant in raw.variants if (cache_dir() / variant.path).is_file()]


def has_substitute(dataset: dict | None) -> bool:
    """Whether the cache has but a file with other values in place of one of the data set."""
    found = [_variants_there(raw) for _, raw in _raw_files(dataset)] if dataset is not None else []
    return any(there and all(variant.note for variant in there) for there in found)


def fetch_data(dataset: dict) -> None:
    """Bring the files of a data set into the cache, if they are not there, or but with other values.

    Raises
    ------
    DatasetUnavailableError
    """
    for file_set, raw in _raw_files(dataset):
        if all(variant.note for variant in _variants_there(raw)):
            obtain(file_set, dataset=dataset["name"])
