"""The papers' data sets, fetched and verified by kpca_lab."""

from benchopt import BaseDataset

from kpca_lab.datasets import load_dataset


class Dataset(BaseDataset):
    """Rows of a published data set, standardised where its columns have different units."""

    name = "published"
    requirements = ["pip::kpca-lab[suite]"]
    parameters = {"source, scaling": [("usps", None), ("concrete", "standard"), ("tic", "standard")]}

    def get_data(self):
        """Fetch the files if they are not in the cache."""
        return {"X": load_dataset(self.source, scaling=self.scaling).X}
