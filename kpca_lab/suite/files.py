"""Files that are written whole or not at all, and read without surprise."""

import json
import os
import tempfile
from pathlib import Path

__all__ = ["read_json", "write_atomically"]


def read_json(path: Path) -> dict:
    """The object in a JSON file; an empty one if there is no such file, or none in it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, by a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
