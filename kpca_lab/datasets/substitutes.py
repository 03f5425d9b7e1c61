"""The warning that files with other values than the reference file are used."""

import os
import re
import time
import warnings
from collections.abc import Iterable

from kpca_lab.datasets.dataset import FileRecord
from kpca_lab.datasets.locations import cache_dir

__all__ = ["DataVariantWarning", "warn_of_substitutes"]

# The processes that this one starts belong to the same run, and one of them warns for all.
_RUN = "_KPCA_LAB_RUN"
os.environ.setdefault(_RUN, f"{os.getpid()}-{time.time_ns()}")


class DataVariantWarning(UserWarning):
    """The values loaded differ from those of the reference file."""


def warn_of_substitutes(dataset: str, records: Iterable[FileRecord]) -> None:
    """Warn if a file stands in for another, once for a process and those it starts.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    records : iterable of FileRecord
        Its files; a note tells a substitute.
    """
    notes = sorted({record.note for record in records if record.note})
    if not notes:
        return
    if _another_process_warned(dataset):
        return
    command = f"python -m kpca_lab.datasets fetch {dataset}"
    warnings.warn(
        f"{dataset}: {'; '.join(notes)}; '{command}' looks for the exact file again",
        DataVariantWarning,
        stacklevel=3,
    )


def _another_process_warned(dataset: str) -> bool:
    """Tell whether another process of this run has warned of a data set; note that this one does if not."""
    folder = cache_dir() / ".warned"
    marker = folder / f"{re.sub(r'[^A-Za-z0-9_]', '-', dataset)}-{os.environ.get(_RUN, os.getpid())}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.stat().st_mtime < time.time() - 24 * 3600:
                old.unlink(missing_ok=True)
        with open(marker, "x") as opened:
            opened.write(str(os.getpid()))
    except FileExistsError:
        return marker.read_text() != str(os.getpid())
    except OSError:  # a cache that cannot be written to: rather too many warnings than none
        pass
    return False
