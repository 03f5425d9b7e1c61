"""One fit or transform in a process of its own: prints seconds and peak memory above the data as JSON."""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from scripts.bench import samples
from scripts.bench.peers import WAYS


def run(way: str, n: int, d: int, gamma: float, r: int, m: int, work: str = "fit") -> dict:
    """Measure one way on generated samples.

    Parameters
    ----------
    way : str
        A name of :data:`scripts.bench.peers.WAYS`.
    n, d, gamma, r, m
        Size of the samples, width, rank and size of the basis.
    work : {"fit", "transform", "fit from disk"}
    """
    model = WAYS[way](gamma, r, m)
    if work == "fit from disk":
        with tempfile.TemporaryDirectory() as folder:
            X = _on_disk(Path(folder) / "X.dat", n, d)
            found = _measure(model.fit, X)
        found["mebibytes"] -= X.nbytes / 2**20  # pages of the file that were read count as memory too
        return found
    X = samples.pictures(n, d)
    if work == "transform":
        model.fit(X)
        model.transform(X[:10])
        return _measure(model.transform, X)
    WAYS[way](gamma, min(r, 10), min(m, 100)).fit(X[:500].copy())  # what is allocated once
    return _measure(model.fit, X)


def _measure(work, X) -> dict:
    before = _reset_peak()
    start = time.perf_counter()
    result = work(X)
    seconds = time.perf_counter() - start
    output = result.nbytes / 2**20 if isinstance(result, np.ndarray) else 0.0
    return {"seconds": seconds, "mebibytes": _peak_memory() - before, "output_mebibytes": output}


def _on_disk(path: Path, n: int, d: int) -> np.ndarray:
    """Samples in a file, which is written in pieces and opened anew."""
    piece = samples.pictures(min(n, 100_000), d).astype(np.float32)
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for start in range(0, n, len(piece)):
            rows = piece[rng.permutation(len(piece))[: n - start]]
            file.write(rows.tobytes())
    return np.memmap(path, np.float32, "r", shape=(n, d))


def _reset_peak() -> float:
    """Begin to measure the high-water mark anew; the memory in use, in MiB (NaN where there is no /proc)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return _peak_memory()


def _peak_memory() -> float:
    """High-water mark of this process in MiB since it was last reset (Linux)."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return int(status.split("VmHWM:")[1].split()[0]) / 2**10


if __name__ == "__main__":
    print(json.dumps(run(**json.loads(sys.argv[1]))))
