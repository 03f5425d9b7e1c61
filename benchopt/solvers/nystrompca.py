"""Nyström kernel PCA of the package nystrompca (Hallgren 2021)."""

from benchopt import BaseSolver
from nystrompca import NystromKPCA

MOST_KERNEL_VALUES = 2_000_000


class Solver(BaseSolver):
    """NystromKPCA of nystrompca, which computes kernel values one by one."""

    name = "nystrompca"
    requirements = ["pip::nystrompca"]
    sampling_strategy = "run_once"
    parameters = {"n_basis": [50, 200, 800]}

    def skip(self, X, gamma, n_components):
        """Leave out what takes minutes, and what has no meaning."""
        if self.n_basis > len(X):
            return True, "more basis samples than samples"
        return len(
            X
        ) * self.n_basis > MOST_KERNEL_VALUES, f"more than {MOST_KERNEL_VALUES} kernel values take minutes"

    def set_objective(self, X, gamma, n_components):
        """Its kernel is ``exp(-d^2 / sigma^2)``."""
        options = {"kernel": "rbf", "sigma": gamma**-0.5, "scale": False, "seed": 0}
        self.X, self.model = X, NystromKPCA(n_components=n_components, m_subset=self.n_basis, **options)

    def run(self, _):
        """Fit and transform."""
        self.scores = self.model.fit_transform(self.X)

    def get_result(self):
        """The scores."""
        return {"scores": self.scores}
