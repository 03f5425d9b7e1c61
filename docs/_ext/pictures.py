"""Figures that the pages draw from committed records while the site is built."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd


def gap_figure(record: Path, into: Path) -> None:
    """Error, floor and full kernel PCA over the size of the basis, a panel for each data set."""
    records = pd.read_csv(record)
    names = list(records.dataset.unique())
    fig, axes = plt.subplots(1, len(names), figsize=(11, 3.6), layout="constrained")
    for ax, name in zip(axes, names):
        rows = records[records.dataset == name]
        best = rows.full.iloc[0]
        ax.fill_between(rows.m, rows.floor / best, rows.error / best, alpha=0.15, color="C0")
        ax.plot(rows.m, rows.error / best, "o-", color="C0", markersize=4, label="SubsetKPCA: error_")
        ax.plot(rows.m, rows.floor / best, "s-", color="C2", markersize=4, label="error_floor_")
        sharper = rows.error / (1 + rows.estimate) / best
        ax.plot(rows.m, sharper, "^:", color="C1", markersize=4, label="floor by estimate_gap")
        ax.axhline(1, color="0.3", linestyle="--", linewidth=1, label="full kernel PCA")
        ax.set(xscale="log", title=f"{name}, {rows.n.iloc[0]} rows", xlabel="basis samples")
        ax.set_xticks(rows.m, rows.m)
        ax.minorticks_off()
    axes[0].set_ylabel("error / error of full kernel PCA")
    axes[0].legend(frameon=False, fontsize=8, loc="lower right")
    fig.savefig(into, dpi=130)
    plt.close(fig)
