"""
Digits: one subspace per class
==============================

A :class:`~kpca_lab.SubspaceClassifier` fits one kernel PCA per class and gives a sample to the
class whose subspace it is nearest to. Each class gets a share of its samples as basis. A basis chosen
by K-means is worth more than a random one, and components that are fitted to all samples of a class
(SubsetKPCA) more than those of the basis alone (ReducedKPCA). Lines are means over three seeds.
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
    gamma, shape = 10**-2.4, (16, 16)
except Exception:
    digits = load_digits()
    train, test, labels, truth = train_test_split(digits.data / 16, digits.target, random_state=0)
    gamma, shape = 0.1, (8, 8)


def test_error(base):
    """The share of test samples that go to a wrong class."""
    return np.mean(SubspaceClassifier(base).fit(train, labels).predict(test) != truth)


shares = [0.1, 0.2, 0.4]
methods = {
    "ReducedKPCA, random basis": (ReducedKPCA, "random"),
    "SubsetKPCA, random basis": (SubsetKPCA, "random"),
    "SubsetKPCA, basis by K-means": (SubsetKPCA, "kmeans"),
}
errors = {name: [] for name in methods}
for name, (method, selector) in methods.items():
    for share in shares:
        bases = [
            method(10, gamma=gamma, n_basis=share, selector=selector, center=False, random_state=seed)
            for seed in range(3)
        ]
        errors[name].append(np.mean([test_error(base) for base in bases]))
full = SubspaceClassifier(FullKPCA(10, gamma=gamma, center=False)).fit(train, labels)
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
