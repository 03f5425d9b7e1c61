"""Where and with what a run was made."""

import datetime
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path

import threadpoolctl

from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.files import read_json, write_atomically

__all__ = ["environment", "read_environment", "write_environment"]

PACKAGES = ("kpca-lab", "numpy", "scipy", "scikit-learn", "pandas", "hydra-core", "joblib", "matplotlib")


def environment(workers: int = 1, threads: int = 1) -> dict:
    """Versions, processor, BLAS, threads, commit and date, as plain values.

    Parameters
    ----------
    workers, threads : int
        Processes, and BLAS threads of each, that the run used.

    Returns
    -------
    dict
    """
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": available_cores(),
        "memory_mb": _memory_mb(),
        "workers": workers,
        "threads": threads,
        "blas": _blas(),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _git("rev-parse", "HEAD"),
        "modified": bool(_git("status", "--porcelain", "--untracked-files=no", "--", ":!results")),
    }


def read_environment(folder: Path) -> dict:
    """What ``environment.json`` in the results of a profile tells; nothing where there is none."""
    return read_json(Path(folder) / "environment.json", ("date", "cpu", "cores", "packages"))


def write_environment(folder: Path, workers: int, threads: int) -> None:
    """Write ``environment.json`` into the results of a profile."""
    text = json.dumps(environment(workers, threads), indent=1, sort_keys=True) + "\n"
    write_atomically(Path(folder) / "environment.json", text.encode())


def _cpu():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_mb():
    import psutil

    return round(psutil.virtual_memory().total / 2**20)


def _blas():
    import numpy  # noqa: F401  (so that its BLAS is loaded)

    found = [entry for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"]
    return [
        {key: entry.get(key) for key in ("internal_api", "version", "architecture")}
        for entry in {(e["internal_api"], e["version"]): e for e in found}.values()
    ]


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments):
    root = Path(__file__).resolve().parents[2]
    try:
        answer = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
