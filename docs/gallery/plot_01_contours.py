"""
What the methods see: contour curves
====================================

The norm of the projection on the components, drawn over the plane. Kernel PCA of all samples is the
reference; the others get 40 of the 600 samples as their basis, or as many points as they choose.
Where the curves follow the data as those of full kernel PCA do, the approximation is good:
:class:`~kpca_lab.SubsetKPCA` comes closest, since its components are the best that the basis
allows.
"""

import matplotlib.pyplot as plt
import numpy as np

from kpca_lab import AKPCA, CholeskyKPCA, FullKPCA, ImprovedKPCA, NystromKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.metrics import empirical_error

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, 600)
X = np.column_stack([x, 0.5 * x**2 + 0.3 * rng.standard_normal(600)])
basis = rng.choice(len(X), 40, replace=False)

models = {
    "full": FullKPCA(4, gamma=0.3),
    "subset": SubsetKPCA(4, gamma=0.3, basis=basis),
    "reduced": ReducedKPCA(4, gamma=0.3, basis=basis),
    "improved": ImprovedKPCA(4, gamma=0.3, basis=basis),
    "Nyström": NystromKPCA(4, gamma=0.3, basis=basis),
    "Cholesky": CholeskyKPCA(4, gamma=0.3, n_basis=40),
    "AKPCA": AKPCA(4, gamma=0.3),
}

# %%
# The curves of one level belong together, so all panels share their levels but for the improved
# KPCA, whose scale differs.

across, up = np.meshgrid(np.linspace(-4, 4, 90), np.linspace(-1.5, 6, 90))
plane = np.column_stack([across.ravel(), up.ravel()])
fig, axes = plt.subplots(2, 4, figsize=(11, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    model.fit(X)
    norms = np.linalg.norm(model.transform(plane), axis=1).reshape(across.shape)
    ax.scatter(*X.T, s=3, color="0.75")
    ax.contour(across, up, norms, levels=7, cmap="viridis", linewidths=1)
    ax.set_title(f"{name}: error {empirical_error(model, X):.3f}", fontsize=10)
axes.flat[-1].axis("off")
fig.suptitle("Norm of the projection on four components")
plt.show()
