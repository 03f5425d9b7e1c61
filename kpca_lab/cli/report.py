"""``kpca-lab report``: the page of what was computed, as ``kpca-lab reproduce report``."""

from kpca_lab.cli import reproduce

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Write ``results/<profile>/report/index.html`` and return the exit code."""
    return reproduce.main(["report", *(arguments or [])])
