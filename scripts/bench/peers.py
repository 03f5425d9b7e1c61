"""Ways to components of kernel PCA with a Gaussian kernel: ours, and those that people would use instead.

Each is a function of the width ``gamma``, the rank ``r`` and the size ``m`` of a basis that returns an object
with ``fit_transform``, and with ``fit`` but for the last two; exact methods do not look at ``m``.
"""

import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kpca_lab import FullKPCA, SubsetKPCA

KERNLAB = """
suppressMessages(library(kernlab))
words <- commandArgs(trailingOnly = TRUE)
X <- matrix(readBin(words[1], "double", 1e9), ncol = as.integer(words[2]))
width <- list(sigma = as.numeric(words[3]))
seconds <- system.time(model <- kpca(X, kernel = "rbfdot", kpar = width, features = as.integer(words[4])))
writeBin(as.vector(rotated(model)), words[5])
cat(seconds[["elapsed"]])
"""


def subset(gamma, r, m, selector="random"):
    """SubsetKPCA."""
    return SubsetKPCA(r, gamma=gamma, n_basis=m, selector=selector, random_state=0)


def full(gamma, r, m):
    """FullKPCA."""
    return FullKPCA(r, gamma=gamma)


def kernel_pca(gamma, r, m, solver):
    """scikit-learn's KernelPCA."""
    return KernelPCA(r, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0)


def nystroem(gamma, r, m):
    """scikit-learn's Nystroem and PCA."""
    return make_pipeline(Nystroem(gamma=gamma, n_components=m, random_state=0), PCA(r, random_state=0))


def random_features(gamma, r, m):
    """scikit-learn's RBFSampler and PCA."""
    return make_pipeline(RBFSampler(gamma=gamma, n_components=m, random_state=0), PCA(r, random_state=0))


def nystrompca(gamma, r, m):
    """The package nystrompca, which evaluates the kernel pair by pair in Python."""
    with mpl.rc_context():  # its import changes how figures look
        from nystrompca import NystromKPCA

    model = NystromKPCA(n_components=r, m_subset=m, kernel="rbf", sigma=gamma**-0.5, seed=0)
    model.scaler = FunctionTransformer()  # it would standardise the columns, and so change the kernel
    return model


class Kernlab:
    """R's kernlab; ``seconds_`` are those that R measured itself, without its start."""

    def __init__(self, gamma, r, m):
        self.gamma, self.r = gamma, r
        self.program = shutil.which("Rscript")
        if self.program is None:
            raise FileNotFoundError("Rscript is not installed")

    def fit_transform(self, X):
        """Scores of the samples."""
        with tempfile.TemporaryDirectory() as folder:
            given, scores = Path(folder) / "X.bin", Path(folder) / "scores.bin"
            given.write_bytes(X.astype(float).tobytes(order="F"))
            words = [str(given), str(X.shape[1]), repr(float(self.gamma)), str(self.r), str(scores)]
            done = subprocess.run(
                [self.program, "-e", KERNLAB, *words],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode:
                raise RuntimeError((done.stderr.strip().splitlines() or ["Rscript failed"])[-1])
            self.seconds_ = float(done.stdout.split()[-1])
            return np.fromfile(scores).reshape(-1, len(X)).T


WAYS = {
    "FullKPCA": full,
    "SubsetKPCA": subset,
    "SubsetKPCA, K-means": partial(subset, selector="kmeans"),
    "scikit-learn KernelPCA, dense": partial(kernel_pca, solver="dense"),
    "scikit-learn KernelPCA, arpack": partial(kernel_pca, solver="arpack"),
    "scikit-learn KernelPCA, randomized": partial(kernel_pca, solver="randomized"),
    "scikit-learn Nystroem + PCA": nystroem,
    "scikit-learn RBFSampler + PCA": random_features,
    "nystrompca": nystrompca,
    "R kernlab": Kernlab,
}
OURS = ("FullKPCA", "SubsetKPCA", "SubsetKPCA, K-means")
EXACT = tuple(name for name in WAYS if "KernelPCA" in name or name in ("FullKPCA", "R kernlab"))
