"""Scores of low rank that lose as little as possible of the samples in feature space."""

import numpy as np
from benchopt import BaseObjective

from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import residual_outside_scores
from kpca_lab.widths import resolve_gamma


class Objective(BaseObjective):
    """The share of the variance in feature space that cannot be had back from the scores."""

    name = "Kernel PCA"
    min_benchopt_version = "1.7"
    parameters = {"n_components": [10]}
    sampling_strategy = "run_once"
    test_config = {"dataset": {"name": "simulated", "n_samples": 60}}

    def set_data(self, X):
        """Fix the width by the median rule, so that all solvers have the same kernel."""
        self.X, self.gamma = X, resolve_gamma("median", X)
        self.kernel = make_kernel("rbf", gamma=self.gamma, n_features=X.shape[1])
        self.total = residual_outside_scores(np.zeros((len(X), 1)), X, self.kernel)

    def get_objective(self):
        """What every solver is told."""
        return {"X": self.X, "gamma": self.gamma, "n_components": self.n_components}

    def evaluate_result(self, scores):
        """Judge the scores of the samples."""
        if scores.shape[0] != len(self.X) or scores.shape[1] > self.n_components:
            raise ValueError(
                f"Expected {len(self.X)} rows of at most {self.n_components} scores, got {scores.shape}."
            )
        error = residual_outside_scores(scores, self.X, self.kernel)
        return {"value": error / self.total, "error": error}

    def get_one_result(self):
        """Scores that are worth nothing."""
        return {"scores": np.zeros((len(self.X), 1))}
