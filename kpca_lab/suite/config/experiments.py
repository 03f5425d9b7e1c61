"""The papers' experiments as their files say, composed once and kept beside the results."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from kpca_lab.suite.config.settings import Settings
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.places import conf_folder

__all__ = ["compose_experiments", "experiment_items"]


def experiment_items() -> list[str]:
    """Names ``<paper>/<item>`` of all experiments that have a YAML file."""
    folder = conf_folder() / "experiment"
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.yaml"))


def compose_experiments(items: Iterable[str], profile: str, results_dir: str = "results") -> list[Settings]:
    """Settings of experiments as their files say.

    Composing takes Hydra a good part of a second each, so what was composed is kept beside the results
    and used again as long as no file of the configuration has changed.

    Parameters
    ----------
    items : iterable of str
        Such as ``"<paper>/table1"``.
    profile : str
    results_dir : str

    Returns
    -------
    list of Settings
    """
    items = list(items)
    path = Path(results_dir) / profile / "jobs" / "settings.json"
    version = _conf_version()
    kept = {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["version"] == version:
            kept = {item: Settings(**entry) for item, entry in stored["items"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    missing = [item for item in items if item not in kept]
    own = [f"profile={profile}", *([] if results_dir == "results" else [f"results_dir={results_dir}"])]
    if missing:
        kept |= zip(missing, _compose([f"+experiment={item}", *own] for item in missing))
        content = {"version": version, "items": {item: asdict(entry) for item, entry in kept.items()}}
        write_atomically(path, json.dumps(content).encode())
    return [kept[item] for item in items]


def _compose(many):
    from kpca_lab.suite.config.composing import compose_many  # Hydra is slow to import

    return compose_many(many)


def _conf_version():
    digest = hashlib.sha256()
    code = sorted(Path(__file__).parent.glob("*.py"))
    for path in [*code, *sorted(conf_folder().rglob("*.yaml"))]:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
