"""What is said about a name that does not exist."""

import difflib
from collections.abc import Iterable

__all__ = ["unknown"]


def unknown(what: str, given: object, valid: Iterable) -> str:
    """The message about a name that does not exist, with the nearest one that does.

    Examples
    --------
    >>> unknown("method", "subst", ["subset", "full"])
    "unknown method 'subst'; did you mean 'subset'? valid choices: subset, full"
    """
    names = [str(name) for name in valid]
    close = difflib.get_close_matches(str(given), names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} {given!r}; {hint}valid choices: {', '.join(names)}"
