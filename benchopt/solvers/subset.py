"""The best components in the span of some samples."""

from benchopt import BaseSolver

from kpca_lab import SubsetKPCA


class Solver(BaseSolver):
    """SubsetKPCA, by selector and size of the basis."""

    name = "SubsetKPCA"
    sampling_strategy = "run_once"
    parameters = {"selector": ["random", "kmeans", "rpcholesky", "dsquared"], "n_basis": [50, 200, 800]}

    def skip(self, X, gamma, n_components):
        """A basis larger than the samples has no meaning."""
        return self.n_basis > len(X), "more basis samples than samples"

    def set_objective(self, X, gamma, n_components):
        """Keep the samples."""
        options = {"n_basis": self.n_basis, "selector": self.selector, "random_state": 0}
        self.X, self.model = X, SubsetKPCA(n_components, gamma=gamma, **options)

    def run(self, _):
        """Choose the basis, fit and transform."""
        self.scores = self.model.fit_transform(self.X)

    def get_result(self):
        """The scores."""
        return {"scores": self.scores}
