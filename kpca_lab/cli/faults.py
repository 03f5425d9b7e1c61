"""Faults of settings, files and the machine: told in one line, without a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kpca_lab.datasets.locations import LocationError
from kpca_lab.suite.errors import ConfigError

__all__ = ["end_with_a_line"]


@contextmanager
def end_with_a_line() -> Iterator[None]:
    """End the process with a line and exit code 2 at a fault, 130 at Ctrl-C; jobs that failed are 1."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has seen enough: no fault
        raise
    except (ConfigError, LocationError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
