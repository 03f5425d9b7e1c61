"""
A table of 200000 rows: ask which method
========================================

A CSV file, and no idea which method, how many basis samples or which width to take:
:func:`kpca_lab.suggest` lets them race on growing samples of the rows until a budget of time is
spent, and checks on all rows how far the winner can be from full kernel PCA, which would need a
matrix of 320 GB here. On the command line the same is
``kpca-lab suggest readings.csv --target load --budget 15s``.

The table is made up: ten sensors of a machine, which all depend on its load and its temperature.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow
from pyarrow import csv

from kpca_lab import suggest
from kpca_lab.datasets import load_dataset

rng = np.random.default_rng(0)
n = 200_000
load, temperature = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
slopes, shifts = rng.normal(0, 3, (2, 10)), rng.uniform(0, 2 * np.pi, 10)
sensors = np.sin(np.outer(load, slopes[0]) + np.outer(temperature, slopes[1]) + shifts)
sensors += 0.05 * rng.standard_normal(sensors.shape)

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "readings.csv"
columns = {f"sensor {number}": column for number, column in enumerate(sensors.T.round(4))}
csv.write_csv(pyarrow.table(columns | {"load": load.round(3)}), path)

# %%
# What is found is a fitted model and the line that makes it, with the reasons.

data = load_dataset("csv", path=path, target="load")
found = suggest(data.X, n_components=5, gamma="median", budget=15, random_state=0)
print(found.line)
for heading, text in found.facts():
    print(f"{heading:11} {text}")

# %%
# On the left all that was tried and measured: the error on the sample that a candidate was last
# fitted to, over the time that it would take on all rows. On the right what the winner makes of the
# table: the load, which it was not told, runs along the first components.

tried = [row for row in found.rows_tried() if row["error"] is not None]
families = sorted({row["candidate"].split()[0] for row in tried})
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for family in families:
    rows = [row for row in tried if row["candidate"].split()[0] == family]
    left.plot(
        *np.array([(row["predicted_seconds"], row["error"]) for row in rows]).T, "o", alpha=0.7, label=family
    )
winner = tried[0]
left.plot(
    winner["predicted_seconds"], winner["error"], "o", ms=14, mfc="none", color="black", label="suggested"
)
left.set(xscale="log", xlabel="seconds for all rows, predicted", ylabel="mean squared error, on a sample")
left.legend(frameon=False, fontsize=8)

shown = rng.choice(n, 8000, replace=False)
scores = found.estimator.transform(data.X[shown])
points = right.scatter(scores[:, 0], scores[:, 1], c=data.y[shown], s=3, cmap="viridis")
right.set(xlabel="first component", ylabel="second component")
fig.colorbar(points, label="load")
plt.show()
folder.cleanup()
