"""Data sets of the papers, and the user's own: fetched, verified, cached and parsed.

``load_dataset(name)`` is all that most callers need. The environment says where files are kept
and looked for: see :mod:`kpca_lab.datasets.locations`.
"""

from .catalogue import dataset_options, list_datasets, load_dataset
from .dataset import Dataset, FileRecord, Provenance
from .fetch import DatasetUnavailableError
from .real import DataVariantWarning
from .scaling import scale
from .seeds import derive_rng, derive_seed
from .splits import Protocol, Split, iter_splits, protocol_of, split

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
    "protocol_of",
    "scale",
    "split",
]
