"""Code that settings name under the key ``target``, by import path."""

import importlib
import inspect
from functools import cache
from typing import Any

from kpca_lab.choices import unknown
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.places import make_experiments_importable

__all__ = ["import_target", "parameters_of"]


@cache
def import_target(path: str) -> Any:
    """The class or function at an import path such as ``kpca_lab.SubsetKPCA``.

    Raises
    ------
    ConfigError
        If there is none.
    """
    make_experiments_importable()
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"target {path!r} cannot be imported: {error}") from error
    except AttributeError:
        public = [entry for entry in dir(importlib.import_module(module)) if not entry.startswith("_")]
        raise ConfigError(unknown(f"name in {module}:", name, public)) from None


@cache
def parameters_of(path: str) -> tuple[str, ...]:
    """Names of the parameters of the class or function at an import path."""
    return tuple(inspect.signature(import_target(path)).parameters)
