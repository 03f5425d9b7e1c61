"""
How many basis samples? Ask the gap
===================================

After a fit, ``error_`` is the error on all samples and ``error_floor_`` a bound below which no
kernel PCA of the same kernel, centring and rank can go. Where the two meet, more basis samples buy
nothing.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from kpca_lab import FullKPCA, SubsetKPCA
from kpca_lab.metrics import empirical_error

X = load_digits().data / 16
sizes = [25, 50, 100, 200, 400, 800, 1600]
fits = [SubsetKPCA(10, gamma=0.02, n_basis=m, random_state=0).fit(X) for m in sizes]
best = empirical_error(FullKPCA(10, gamma=0.02).fit(X), X)

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
floors = [model.error_floor_ for model in fits]
errors = [model.error_ for model in fits]
ax.fill_between(sizes, floors, errors, alpha=0.15, label="where the best possible error must be")
ax.plot(sizes, errors, "o-", label="SubsetKPCA: error_")
ax.plot(sizes, floors, "s-", label="error_floor_")
ax.axhline(best, color="0.3", linestyle="--", label="full kernel PCA (not needed for the bounds)")
ax.set(xscale="log", xlabel="basis samples", ylabel="mean squared error in feature space")
ax.set_xticks(sizes, sizes)
ax.legend(frameon=False)
plt.show()

# %%
# Instead of trying sizes, say what is good enough: the basis grows until the gap is below ``tol``.

model = SubsetKPCA(10, gamma=0.02, tol=0.05, random_state=0).fit(X)
print(f"{len(model.basis_)} of {len(X)} samples; error {model.error_:.4f}, full kernel PCA {best:.4f}")
