"""scikit-learn's Nystroem features of random samples, and PCA of them."""

from benchopt import BaseSolver
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline


class Solver(BaseSolver):
    """Nystroem + PCA."""

    name = "sklearn Nystroem and PCA"
    sampling_strategy = "run_once"
    parameters = {"n_basis": [50, 200, 800]}

    def skip(self, X, gamma, n_components):
        """A basis larger than the samples has no meaning."""
        return self.n_basis > len(X), "more basis samples than samples"

    def set_objective(self, X, gamma, n_components):
        """Keep the samples."""
        features = Nystroem(gamma=gamma, n_components=self.n_basis, random_state=0)
        self.X, self.model = X, make_pipeline(features, PCA(n_components, random_state=0))

    def run(self, _):
        """Fit and transform."""
        self.scores = self.model.fit_transform(self.X)

    def get_result(self):
        """The scores."""
        return {"scores": self.scores}
