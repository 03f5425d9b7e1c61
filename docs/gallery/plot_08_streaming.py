"""
Streams, and streams that drift
===============================

``SubsetKPCA.partial_fit`` sums up a stream over a fixed basis; :class:`~kpca_lab.IncrementalKPCA`
moves its points with the data. While the distribution stays, both do well; when it moves away from
where the basis was chosen, only the second follows.
"""

import matplotlib.pyplot as plt
import numpy as np

from kpca_lab import IncrementalKPCA, SubsetKPCA

rng = np.random.default_rng(0)


def chunk(step):
    """A cluster that stands still for ten steps and then moves to the right."""
    center = np.array([max(0, step - 10) * 0.35, 0.0])
    return center + rng.standard_normal((60, 2)) * [0.6, 1.2]


fixed = SubsetKPCA(8, gamma=0.3, n_basis=40, random_state=0)
moving = IncrementalKPCA(8, gamma=0.3, compression="select", n_preimages=5)
errors = {"SubsetKPCA, basis of the first chunk": [], "IncrementalKPCA, at most 45 points": []}
for step in range(25):
    rows = chunk(step)
    if step:
        for model, values in zip((fixed, moving), errors.values()):
            values.append(np.mean(model.operator_.residual(rows)))
    fixed.partial_fit(rows)
    moving.partial_fit(rows)

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, values in errors.items():
    ax.plot(range(1, 25), values, "o-", markersize=3, label=name)
ax.axvline(10, color="0.6", linestyle=":")
ax.annotate("drift begins", (10, ax.get_ylim()[1] * 0.9), xytext=(4, 0), textcoords="offset points")
ax.set(xlabel="chunk", ylabel="error of the next chunk", ylim=0)
ax.legend(frameon=False)
plt.show()
