"""Data sets of the papers, and the user's own: fetched, verified, cached and parsed.

``load_dataset(name)`` is all that most callers need; ``open_rows(path)`` opens a table that is larger than
memory. The environment says where files are kept
and looked for: see :mod:`kpca_lab.datasets.locations`.
"""

from kpca_lab.datasets.catalogue import dataset_options, list_datasets, load_dataset
from kpca_lab.datasets.dataset import Dataset, FileRecord, Provenance
from kpca_lab.datasets.fetch import DatasetUnavailableError
from kpca_lab.datasets.large_files import open_rows
from kpca_lab.datasets.scaling import scale
from kpca_lab.datasets.seeds import derive_rng, derive_seed
from kpca_lab.datasets.splits import Protocol, Split, iter_splits, protocol_of, split
from kpca_lab.datasets.substitutes import DataVariantWarning

__all__ = [
    "DataVariantWarning",
    "Dataset",
    "DatasetUnavailableError",
    "FileRecord",
    "Protocol",
    "Provenance",
    "Split",
    "dataset_options",
    "derive_rng",
    "derive_seed",
    "iter_splits",
    "list_datasets",
    "load_dataset",
    "open_rows",
    "protocol_of",
    "scale",
    "split",
]
