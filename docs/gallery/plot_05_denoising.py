"""
Denoising images by pre-images
==============================

Noisy digits are projected on components that clean digits span, and the pre-image of the projection
is the denoised digit. Linear PCA with as many components keeps more of the noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from kpca_lab import SubsetKPCA
from kpca_lab.preimage import denoise

try:
    from kpca_lab.datasets import load_dataset

    mnist = load_dataset("mnist")
    train, clean, shape = mnist.X[:6000] / 255, mnist.X_test[:200] / 255, (28, 28)
    gamma, r, n_basis, sigma = 10**-2.3, 120, 500, 0.35
except Exception:
    images = load_digits().data / 16
    train, clean, shape = images[:1500], images[1500:1700], (8, 8)
    gamma, r, n_basis, sigma = 0.1, 40, 300, 0.25

rng = np.random.default_rng(0)
noisy = clean + sigma * rng.standard_normal(clean.shape)
subset = SubsetKPCA(r, gamma=gamma, n_basis=n_basis, selector="kmeans", random_state=0).fit(train)
restored = denoise(subset.operator_, noisy)
linear = PCA(r, random_state=0).fit(train)


def distance(images):
    """Mean squared error per pixel."""
    return np.mean((images - clean) ** 2)


rows = {"clean": clean, "noisy": noisy, "linear": linear.inverse_transform(linear.transform(noisy))}
rows["kernel"] = restored
fig, axes = plt.subplots(4, 10, figsize=(10, 4.6), layout="constrained")
for line, (name, images) in zip(axes, rows.items()):
    for ax, image in zip(line, images):
        ax.imshow(image.reshape(shape), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(f"{name}\n{distance(images):.3f}" if name != "clean" else name)
fig.suptitle("Digits, and their mean squared error per pixel")
plt.show()
