"""Where the configuration and the papers' experiments are: in a clone, or in the package alone."""

import os
import sys
from functools import cache
from pathlib import Path

__all__ = ["NEEDS_CLONE", "conf_folder", "experiments_folder", "make_experiments_importable"]

NEEDS_CLONE = (
    "the papers' experiments are not in the installed package: clone the project and install it from there "
    "(pip install -e '.[suite]'), or set KPCA_LAB_ROOT to a clone"
)

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def _clone() -> Path | None:
    """The folder with ``conf`` and ``experiments``: ``KPCA_LAB_ROOT``, or this clone."""
    given = os.environ.get("KPCA_LAB_ROOT")
    root = Path(given).expanduser().resolve() if given else _PACKAGE.parent
    there = (root / "conf" / "config.yaml").is_file() and (root / "experiments").is_dir()
    if given and not there:
        raise FileNotFoundError(f"KPCA_LAB_ROOT={given}: there is no conf/config.yaml and experiments/ in it")
    return root if there else None


def conf_folder() -> Path:
    """The folder of the YAML files: that of the clone, or the copy that the package carries."""
    clone = _clone()
    return _PACKAGE / "conf" if clone is None else clone / "conf"


def experiments_folder() -> Path | None:
    """The folder with one folder per paper; None where the package is installed without a clone."""
    clone = _clone()
    return None if clone is None else clone / "experiments"


def make_experiments_importable() -> None:
    """Let ``import experiments`` find the clone, also for what was started in another folder."""
    clone = _clone()
    if clone is not None and str(clone) not in sys.path:
        sys.path.append(str(clone))
