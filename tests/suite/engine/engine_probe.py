"""Estimators that misbehave, for tests of the engine; workers import this module by its name."""

import os
import time

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
