"""
In a pipeline with GridSearchCV
===============================

SubsetKPCA is a transformer like any other: here its basis size, rank and width are chosen together
with the classifier that follows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from kpca_lab import SubsetKPCA

X, y = make_moons(1500, noise=0.25, random_state=0)
pipeline = Pipeline([("kpca", SubsetKPCA(random_state=0)), ("classify", LogisticRegression(C=10))])
grid = {"kpca__n_components": [2, 5, 10, 20], "kpca__n_basis": [20, 80], "kpca__gamma": [0.1, 1.0, 10.0]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print(search.best_params_)

# %%
# The mean accuracy of every choice, and the boundary of the best one.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
results = search.cv_results_
for gamma in grid["kpca__gamma"]:
    for m, line in zip(grid["kpca__n_basis"], ("--", "-")):
        chosen = (results["param_kpca__gamma"] == gamma) & (results["param_kpca__n_basis"] == m)
        label = f"gamma {gamma:g}, {m} basis samples"
        left.plot(grid["kpca__n_components"], results["mean_test_score"][chosen], f"o{line}", label=label)
left.set(xlabel="components", ylabel="accuracy, cross-validated")
left.legend(frameon=False, fontsize=8)

across, up = np.meshgrid(np.linspace(-2, 3, 150), np.linspace(-1.5, 2, 150))
inside = search.predict_proba(np.column_stack([across.ravel(), up.ravel()]))[:, 1]
right.contourf(across, up, inside.reshape(across.shape), levels=11, cmap="RdBu", alpha=0.7)
right.scatter(*X.T, c=y, s=9, cmap="RdBu", edgecolor="white", linewidth=0.3)
right.set(xticks=[], yticks=[], title="Probability of the second class")
plt.show()
