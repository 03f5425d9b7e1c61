"""
Digits: one subspace per class
==============================

A :class:`~kpca_lab.SubspaceClassifier` fits one kernel PCA per class and gives a sample to the
class whose subspace it is nearest to. With a tenth of the samples as basis, SubsetKPCA keeps nearly
all of the accuracy of full kernel PCA.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kpca_lab import FullKPCA, ReducedKPCA, SubsetKPCA, SubspaceClassifier

try:  # handwritten digits of the postal service, where they can be had; else scikit-learn's small ones
    from kpca_lab.datasets import load_dataset

    usps = load_dataset("usps")
    train, labels, test, truth = usps.X[:3000], usps.y[:3000], usps.X_test, usps.y_test
    gamma, shape = 10**-2.0, (16, 16)
except Exception:
    digits = load_digits()
    train, test, labels, truth = train_test_split(digits.data / 16, digits.target, random_state=0)
    gamma, shape = 0.1, (8, 8)

shares = [0.05, 0.1, 0.2, 0.4]
methods = {"SubsetKPCA": SubsetKPCA, "ReducedKPCA": ReducedKPCA}
errors = {name: [] for name in methods}
for share in shares:
    for name, method in methods.items():
        base = method(30, gamma=gamma, n_basis=share, center=False, random_state=0)
        model = SubspaceClassifier(base).fit(train, labels)
        errors[name].append(np.mean(model.predict(test) != truth))
full = SubspaceClassifier(FullKPCA(30, gamma=gamma, center=False)).fit(train, labels)
predicted = full.predict(test)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in errors.items():
    ax.plot(shares, 100 * np.array(values), "o-", label=name)
ax.axhline(100 * np.mean(predicted != truth), color="0.3", linestyle="--", label="all samples")
ax.set(xlabel="basis, share of each class", ylabel="test error in %", ylim=0)
ax.legend(frameon=False)
plt.show()

# %%
# Some of the digits that full kernel PCA gets wrong:

wrong = np.flatnonzero(predicted != truth)[:10]
fig, axes = plt.subplots(1, len(wrong), figsize=(11, 1.7), layout="constrained")
for ax, number in zip(np.atleast_1d(axes), wrong):
    ax.imshow(test[number].reshape(shape), cmap="gray_r")
    ax.set_title(f"{truth[number]:.0f}, not {predicted[number]:.0f}", fontsize=9)
    ax.axis("off")
plt.show()
