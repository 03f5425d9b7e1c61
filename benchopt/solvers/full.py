"""Kernel PCA of all samples: the least error that there is."""

from benchopt import BaseSolver

from kpca_lab import FullKPCA

LARGEST = 12_000


class Solver(BaseSolver):
    """FullKPCA."""

    name = "FullKPCA"
    sampling_strategy = "run_once"

    def skip(self, X, gamma, n_components):
        """Leave out what takes minutes."""
        return len(X) > LARGEST, f"the kernel matrix of more than {LARGEST} samples takes minutes"

    def set_objective(self, X, gamma, n_components):
        """Keep the samples."""
        self.X, self.model = X, FullKPCA(n_components, gamma=gamma)

    def run(self, _):
        """Fit and transform."""
        self.scores = self.model.fit_transform(self.X)

    def get_result(self):
        """The scores."""
        return {"scores": self.scores}
