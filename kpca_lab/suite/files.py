"""Files that are written whole or not at all, and read without surprise."""

import io
import json
import os
import secrets
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_for_spreadsheets", "read_json", "read_table", "set_aside", "write_atomically"]


def read_json(path: Path, keys: Iterable[str] = ()) -> dict:
    """The object in a JSON file; an empty one if there is no such file.

    A file without an object, or without one of the keys, is damaged: it is set aside.

    Parameters
    ----------
    path : Path
    keys : iterable of str
        What the object must have.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        set_aside(path, str(error))
        return {}
    missing = [key for key in keys if not isinstance(found, dict) or key not in found]
    if missing or not isinstance(found, dict):
        set_aside(path, f"it has no {missing[0]}" if missing else "it has no object")
        return {}
    return found


def read_table(path: Path, columns: Iterable[str], types: Mapping[str, type | str]) -> "pd.DataFrame | None":
    """The table in a CSV file that ``make reproduce-tables`` derives from records; None if there is none.

    A file that is cut, or no table with these columns, is damaged: it is set aside.

    Parameters
    ----------
    path : Path
    columns : iterable of str
    types : mapping
        Of columns; an empty cell is an empty text where it says `str`.
    """
    import pandas as pd

    missing = {name: ["", "nan"] for name in columns if types.get(name) is not str}
    try:
        text = path.read_text(encoding="utf-8")
        table = pd.read_csv(io.StringIO(text), dtype=types, keep_default_na=False, na_values=missing)
        table = table[list(columns)]
        if text.endswith("\n"):
            return table
        why = "it is cut"
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError) as error:
        why = str(error).partition("\n")[0]
    set_aside(path, f"{why}; make reproduce-tables writes it again")
    return None


def set_aside(path: Path, why: str) -> None:
    """Rename a damaged file to ``<name>.damaged``, and say so in one line on standard error."""
    aside = path.with_name(f"{path.name}.damaged")
    try:
        os.replace(path, aside)
    except FileNotFoundError:  # another process was faster
        return
    except OSError as error:
        print(f"damaged: {path} ({why}); it cannot be set aside: {error}", file=sys.stderr, flush=True)
        return
    print(f"damaged: {path} ({why}); kept as {aside.name}", file=sys.stderr, flush=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: to the disk under another name, then by a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:100]}-{secrets.token_hex(6)}.tmp")
    # Created with the permissions that the user's umask leaves.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk does not name what it has no room for
        raise


def csv_for_spreadsheets(table: "pd.DataFrame") -> str:
    """A table as CSV in which no text is taken for a formula.

    Spreadsheets run cells that begin with ``=``, ``+``, ``-`` or ``@``. Texts that do, and are no numbers,
    get an apostrophe before them.

    Examples
    --------
    >>> import pandas as pd
    >>> print(csv_for_spreadsheets(pd.DataFrame({"a": ["=1+1", "-2.5", "x"], "b": [-1, 0, 1]})), end="")
    a,b
    '=1+1,-1
    -2.5,0
    x,1
    """
    # Numbers are left as they are: nullable ones would change their type.
    safe = table.copy()
    for name in table.columns.difference(table.select_dtypes("number").columns):
        safe[name] = table[name].map(_inert)
    return safe.rename(columns=_inert).to_csv(index=False, lineterminator="\n")


def _inert(cell):
    if not isinstance(cell, str) or not cell.lstrip().startswith(("=", "+", "-", "@")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
