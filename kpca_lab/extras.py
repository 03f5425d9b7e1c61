"""Packages that only some parts of kpca_lab need, imported where they are used."""

from importlib import import_module
from types import ModuleType

__all__ = ["require"]


def require(module: str, extra: str) -> ModuleType:
    """Import an optional package, or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module, such as ``"pandas"``.
    extra : str
        The extra of kpca-lab that brings it, such as ``"data"``.

    Returns
    -------
    module

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message is one line with the command that installs it.

    Examples
    --------
    >>> from kpca_lab.extras import require
    >>> require("json", "data").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the package {error.name} is needed here: pip install 'kpca-lab[{extra}]'", name=error.name
        ) from None
