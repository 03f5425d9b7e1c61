"""How time and memory are measured."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kpca_lab.memory import available_memory

ROOT = Path(__file__).resolve().parents[2]
MATRICES = 4


@dataclass
class Measured:
    """Seconds of each call, what the last one returned, and what went wrong, if anything."""

    seconds: list[float] = field(default_factory=list)
    result: Any = None
    problem: str = ""

    @property
    def median(self) -> float:
        """Median of the seconds; NaN if it failed."""
        return statistics.median(self.seconds) if self.seconds and not self.problem else float("nan")


def side_by_side(functions: dict[str, Callable], repeats: int) -> dict[str, Measured]:
    """Call the functions in turn, ``repeats`` times; one that fails is not called again."""
    measured = {name: Measured() for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            own = measured[name]
            if own.problem:
                continue
            start = time.perf_counter()
            try:
                own.result = function()
            except Exception as error:  # a peer may fail in any way, and the others go on
                own.problem = problem_text(error)
            own.seconds.append(time.perf_counter() - start)
    return measured


def claim_memory(n: int) -> None:
    """Use as much memory as some matrices of ``n`` by ``n`` need, and free it.

    What a virtual machine must first ask its host for is many times slower at first use, and the function
    that is called first would pay that for all.
    """
    np.ones(min(MATRICES * n**2, (available_memory() or 0) // 16))


def problem_text(error: BaseException) -> str:
    """What went wrong, on one line that fits a cell of a table."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).replace("|", "/")
    return f"not measured: {text[:160]}"


def in_child(timeout: float, **case) -> dict:
    """Run one case of :mod:`scripts.bench.child` in a process of its own.

    Returns
    -------
    dict
        ``seconds`` and ``mebibytes`` (peak resident memory above the data, where the system tells it), or
        ``problem``.
    """
    command = [sys.executable, "-m", "scripts.bench.child", json.dumps(case)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"problem": f"not measured: more than {timeout:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"problem": f"not measured: {last[:160]}"}
    return json.loads(done.stdout.strip().splitlines()[-1])
