"""Faults of settings, files and the machine: told in one line, without a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kpca_lab.datasets.locations import LocationError
from kpca_lab.suite.errors import ConfigError

__all__ = ["FAULTS", "end_with_a_line"]

FAULTS = (ConfigError, LocationError, OSError)


@contextmanager
def end_with_a_line() -> Iterator[None]:
    """End the process with exit code 1 and a line at a fault."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has seen enough: no fault
        raise
    except FAULTS as error:
        sys.exit(f"error: {error}")
