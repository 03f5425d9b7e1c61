"""Errors of configurations, and of jobs in a form that can be stored."""

import traceback
from pathlib import Path

__all__ = ["ConfigError", "MissingPackageError", "NotApplicableError", "failure", "short_traceback"]


class ConfigError(ValueError):
    """A configuration that cannot be run, with the valid choices in its message."""


class NotApplicableError(ValueError):
    """A metric that a method does not have, such as an error in feature space without an operator there."""


class MissingPackageError(ImportError):
    """An optional package that a job needs is not installed: the job is skipped, as with missing data.

    Parameters
    ----------
    package : str
        Its name, which is also that of the extra of kpca_lab that installs it.
    """

    def __init__(self, package: str):
        super().__init__(f"the package {package} is not installed")
        self.package = package
        self.command = f"pip install -e '.[{package}]'"


def failure(error: BaseException) -> tuple[str, str]:
    """Status and text of a job that ended in an error: type, message and the last places in the code."""
    status = "memory" if isinstance(error, MemoryError) else "failed"
    message = " ".join(_text(error).split())
    if len(message) > 500:
        message = message[:500] + "..."
    return status, f"{type(error).__name__}: {message} [{short_traceback(error)}]"


def _text(error):
    try:
        return str(error)
    except Exception:
        return "an error whose text cannot be made"


def short_traceback(error: BaseException, depth: int = 3) -> str:
    """The innermost places, without paths of this machine."""
    frames = traceback.extract_tb(error.__traceback__)[-depth:]
    return " < ".join(
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames)
    )
