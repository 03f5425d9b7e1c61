"""How far a long computation has come, on standard error."""

import sys
from typing import Any

from kpca_lab.extras import require

__all__ = ["ProgressBar"]


class ProgressBar:
    """A bar if tqdm is there, else a line at each tenth of the way.

    Parameters
    ----------
    total : int or None
        How much there is to do, if that is known.
    verbose : int
        Nothing is shown for 0.
    label : str
        What is done.
    unit : str, default "rows"
        What is counted.
    """

    def __init__(self, total: int | None, verbose: int, label: str, unit: str = "rows") -> None:
        self._total, self._verbose, self._label, self._unit = total, verbose, label, unit
        self._bar: Any = None
        self._done = self._told = 0

    def __enter__(self) -> "ProgressBar":
        if self._verbose:
            try:
                tqdm = require("tqdm", "data").tqdm
            except ModuleNotFoundError:
                return self
            self._bar = tqdm(
                total=self._total,
                desc=self._label,
                unit=f" {self._unit}",
                unit_scale=self._unit == "rows",
                file=sys.stderr,
            )
        return self

    def update(self, count: int = 1) -> None:
        """Count what has been done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self._verbose:
            tenth = (self._total or 0) / 10
            if self._done == self._total or self._done - self._told >= tenth:
                self._told = self._done
                of = "" if self._total is None else f" of {self._total}"
                print(f"{self._label}: {self._done}{of} {self._unit}", file=sys.stderr)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
