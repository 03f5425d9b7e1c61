"""
What the methods see: contour curves
====================================

The norm of the projection on four components, drawn over the plane, for every method. Kernel PCA of
all samples is the reference; those with a basis get the same 40 of the 600 samples, the others as
many points as they choose. Where the curves follow the data as those of full kernel PCA do, the
approximation is good. :class:`~kpca_lab.SubsetKPCA` has the best components that its basis allows.
"""

import matplotlib.pyplot as plt
import numpy as np

import kpca_lab
from kpca_lab.kernels import make_kernel
from kpca_lab.metrics import residual_outside_scores

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, 600)
X = np.column_stack([x, 0.5 * x**2 + 0.3 * rng.standard_normal(600)])
basis = rng.choice(len(X), 40, replace=False)

common = {"n_components": 4, "gamma": 0.3}
models = {
    "full": kpca_lab.FullKPCA(**common),
    "subset": kpca_lab.SubsetKPCA(**common, basis=basis),
    "improved": kpca_lab.ImprovedKPCA(**common, basis=basis),
    "reduced": kpca_lab.ReducedKPCA(**common, basis=basis),
    "Nyström": kpca_lab.NystromKPCA(**common, basis=basis),
    "Cholesky": kpca_lab.CholeskyKPCA(**common, n_basis=40),
    "sketched": kpca_lab.EmpiricalMapKPCA(**common, sketch_size=40, random_state=0),
    "random features": kpca_lab.RandomFeatureKPCA(**common, n_random_features=40, random_state=0),
    "incremental": kpca_lab.IncrementalKPCA(**common, n_preimages=10, compression="select"),
    "Hebbian": kpca_lab.HebbianKPCA(**common, max_iter=20, tol=0, random_state=0),
    "Tipping": kpca_lab.TippingKPCA(**common, n_basis=40),
    "elastic net": kpca_lab.ElasticNetKPCA(**common, l1=0.05),
    "AKPCA": kpca_lab.AKPCA(**common),
    "APCA": kpca_lab.APCA(n_components=2),
}

# %%
# The number above a panel is the mean squared error in feature space of the best reconstruction from
# the four scores, which does not depend on how a method scales them. The last panel is linear: it has
# two components, and no curve can bend.

kernel = make_kernel("rbf", gamma=0.3, n_features=2)
across, up = np.meshgrid(np.linspace(-4, 4, 60), np.linspace(-1.5, 6, 60))
plane = np.column_stack([across.ravel(), up.ravel()])
fig, axes = plt.subplots(3, 5, figsize=(12, 7), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    scores = model.fit(X).transform(X)
    norms = np.linalg.norm(model.transform(plane), axis=1).reshape(across.shape)
    ax.scatter(*X.T, s=2, color="0.8")
    ax.contour(across, up, norms, levels=7, cmap="viridis", linewidths=1)
    ax.set_title(f"{name}: {residual_outside_scores(scores, X, kernel):.3f}", fontsize=10)
for ax in axes.flat[len(models) :]:
    ax.axis("off")
plt.show()
