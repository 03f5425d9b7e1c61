"""A curved surface in noise."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Sines of a few hidden variables."""

    name = "simulated"
    parameters = {"n_samples": [2000, 10000], "n_features": [10]}

    def get_data(self):
        """Draw the samples."""
        rng = np.random.default_rng(0)
        hidden = rng.uniform(-1, 1, (self.n_samples, 3))
        turns = rng.normal(0, 2, (3, self.n_features))
        noise = 0.1 * rng.standard_normal((self.n_samples, self.n_features))
        return {"X": np.sin(hidden @ turns + rng.uniform(0, 6, self.n_features)) + noise}
