"""scikit-learn's kernel PCA."""

from benchopt import BaseSolver
from sklearn.decomposition import KernelPCA

LARGEST = 12_000


class Solver(BaseSolver):
    """KernelPCA."""

    name = "sklearn KernelPCA"
    sampling_strategy = "run_once"
    parameters = {"eigen_solver": ["arpack", "randomized"]}

    def skip(self, X, gamma, n_components):
        """Leave out what takes minutes."""
        return len(X) > LARGEST, f"the kernel matrix of more than {LARGEST} samples takes minutes"

    def set_objective(self, X, gamma, n_components):
        """Keep the samples."""
        options = {"eigen_solver": self.eigen_solver, "random_state": 0}
        self.X, self.model = X, KernelPCA(n_components, kernel="rbf", gamma=gamma, **options)

    def run(self, _):
        """Fit and transform."""
        self.scores = self.model.fit_transform(self.X)

    def get_result(self):
        """The scores."""
        return {"scores": self.scores}
