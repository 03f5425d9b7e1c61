"""Handwritten digits that come with scikit-learn."""

from benchopt import BaseDataset
from sklearn.datasets import load_digits


class Dataset(BaseDataset):
    """1797 images of 8 x 8 pixels."""

    name = "digits"

    def get_data(self):
        """Pixels between 0 and 1."""
        return {"X": load_digits().data / 16}
