"""
Novelty detection by the residual
=================================

What lies far from the components of normal data is new. The residual, the squared distance in
feature space, ranks samples by that; no labels are needed to fit it. Here the digit 1 is normal and
all other digits are new.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score, roc_curve

from kpca_lab import SubsetKPCA

digits = load_digits()
X, new = digits.data / 16, digits.target != 1
normal = np.flatnonzero(~new)
train, rest = normal[:120], np.setdiff1d(np.arange(len(X)), normal[:120])

model = SubsetKPCA(15, gamma="median", n_basis=60, random_state=0).fit(X[train])
residual = model.operator_.residual(X[rest])
forest = -IsolationForest(random_state=0).fit(X[train]).score_samples(X[rest])

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
bins = np.linspace(0, residual.max(), 40)
left.hist(residual[~new[rest]], bins, density=True, alpha=0.6, label="the digit 1")
left.hist(residual[new[rest]], bins, density=True, alpha=0.6, label="other digits")
left.set(xlabel="residual in feature space", ylabel="density")
left.legend(frameon=False)
for name, score in {"residual of SubsetKPCA": residual, "isolation forest": forest}.items():
    wrong, found, _ = roc_curve(new[rest], score)
    right.plot(wrong, found, label=f"{name}: area {roc_auc_score(new[rest], score):.3f}")
right.set(xlabel="normal samples called new", ylabel="new samples found")
right.legend(frameon=False, loc="lower right")
plt.show()
