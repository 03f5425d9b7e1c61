"""
A million rows from disk
========================

The rows lie in a file and are read once, block by block; what is kept is of the size of the basis.
"""

import resource
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from kpca_lab import SubsetKPCA

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.npy"
n, d = 1_000_000, 10
rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
rng = np.random.default_rng(0)
centers = 4 * rng.standard_normal((6, d))
for start in range(0, n, 100_000):
    cluster = rng.integers(0, 6, 100_000)
    rows[start : start + 100_000] = centers[cluster] + rng.standard_normal((100_000, d))
rows.flush()

before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
data = np.load(path, mmap_mode="r")
model = SubsetKPCA(10, gamma="median", n_basis=200, random_state=0).fit(data)
seconds = time.perf_counter() - started
print(f"{n} rows in {seconds:.1f} s; error at most {100 * model.gap_bound_:.1f} % above the best possible")

# %%
# The first two components of some of the rows: the six clusters.

shown = np.sort(rng.choice(n, 20_000, replace=False))
scores = model.transform(data[shown])
fig, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
ax.hexbin(scores[:, 0], scores[:, 1], gridsize=90, bins="log", cmap="magma_r", linewidths=0.1)
ax.set(xlabel="first component", ylabel="second component")
plt.show()
folder.cleanup()
