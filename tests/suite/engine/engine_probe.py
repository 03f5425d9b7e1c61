"""Estimators that misbehave, for tests of the engine; workers import this module by its name."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from kpca_lab.methods.reduced import ReducedKPCA


class Slow(ReducedKPCA):
    """Takes its time."""

    def fit(self, X, y=None):
        time.sleep(0.15)
        return super().fit(X, y)


class Endless(ReducedKPCA):
    """Never ends."""

    def fit(self, X, y=None):
        time.sleep(1000)


class Failing(ReducedKPCA):
    """Always fails."""

    def fit(self, X, y=None):
        raise ValueError("this method always fails")


class Hungry(ReducedKPCA):
    """Takes ever more memory, and keeps it."""

    def fit(self, X, y=None):
        self.food = []
        for _ in range(200):
            self.food.append(np.ones(2**21))
            time.sleep(0.01)
        return super().fit(X, y)


class Dying(ReducedKPCA):
    """Is killed by the operating system."""

    def fit(self, X, y=None):
        os.kill(os.getpid(), 9)


class Threads(ReducedKPCA):
    """Measures the threads of its process as a number of components."""

    def fit(self, X, y=None):
        import threadpoolctl

        super().fit(X, y)
        found = [entry["num_threads"] for entry in threadpoolctl.threadpool_info()]
        self.eigenvalues_ = np.full(self.n_components_, float(max(found)))
        return self


def first_eigenvalue(evaluation):
    """A measure: the first eigenvalue that the estimator gives."""
    return float(evaluation.model.eigenvalues_[0])


def start_sleeping(path, seconds=100, **options):
    """Start a process that sleeps, and leave its number in a file."""
    process = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"], **options)
    Path(path).write_text(str(process.pid))
    return process


class Starter(ReducedKPCA):
    """Starts a process in a session of its own, leaves it running, and is done, or never ends."""

    def __init__(self, n_components=None, *, path="", endless=False, **others):
        super().__init__(n_components)
        self.path, self.endless = path, endless

    def fit(self, X, y=None):
        start_sleeping(self.path, start_new_session=True)
        if self.endless:
            time.sleep(1000)
        return super().fit(X, y)


class HungryChild(ReducedKPCA):
    """Starts a process that takes much memory, and waits for it."""

    def fit(self, X, y=None):
        code = "import time; food = bytearray(b'x') * (400 * 2**20); time.sleep(60)"
        subprocess.run([sys.executable, "-c", code], check=True)


class DyingParent(ReducedKPCA):
    """Leaves a child that holds all that its process had open, and dies."""

    def fit(self, X, y=None):
        if os.fork() == 0:
            time.sleep(100)
        os.kill(os.getpid(), 9)


class Chatty(ReducedKPCA):
    """Prints far too much, and fails."""

    def fit(self, X, y=None):
        for number in range(20_000):
            print(f"line {number} of many")
        print("the last words", file=sys.stderr)
        raise ValueError("this method always fails")


class Noting(ReducedKPCA):
    """Says the same in every job."""

    def fit(self, X, y=None):
        print("a warning that all jobs give")
        return super().fit(X, y)
