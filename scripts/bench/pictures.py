"""Figures of the bench, in the style of the project."""

import pandas as pd
from matplotlib.figure import Figure

from kpca_lab.suite.render import style

LEAST = 1e-5  # smaller shares are drawn as this one
SHORT = {
    "FullKPCA": "FullKPCA",
    "SubsetKPCA": "SubsetKPCA, random basis",
    "SubsetKPCA, from disk": "SubsetKPCA, from disk",
    "SubsetKPCA, K-means": "SubsetKPCA, K-means",
    "scikit-learn KernelPCA, dense": "KernelPCA, dense",
    "scikit-learn KernelPCA, arpack": "KernelPCA, arpack",
    "scikit-learn KernelPCA, randomized": "KernelPCA, randomized",
    "scikit-learn Nystroem + PCA": "Nystroem + PCA",
    "scikit-learn RBFSampler + PCA": "RBFSampler + PCA",
    "nystrompca": "nystrompca",
}


def _line(way: str) -> dict:
    """Our methods as everywhere in the project; the peers in colours of no method."""
    own = {
        "FullKPCA": style.line("full"),
        "SubsetKPCA": style.line("subset", "random"),
        "SubsetKPCA, K-means": style.line("subset", "kmeans"),
        "SubsetKPCA, from disk": style.line("subset", "random") | {"marker": "s"},
    }
    peers = [name for name in SHORT if name not in own]
    return own[way] if way in own else style.plain_line(peers.index(way))


@style.styled
def growth(table: pd.DataFrame) -> Figure:
    """Time and peak memory over the number of samples."""
    figure = style.new_figure(style.TEXT_WIDTH, 3.2)
    axes = figure.subplots(1, 2)
    done = table[table["note"].fillna("") == ""]
    for way in [name for name in SHORT if name in set(done["method"])]:
        own = done[done["method"] == way].sort_values("n")
        for ax, value in zip(axes, ("seconds", "mebibytes")):
            ax.plot(
                own["n"],
                own[value].clip(lower=0.1 if value == "mebibytes" else None),
                label=SHORT[way],
                **_line(way),
            )
    for ax, label in zip(axes, ("Seconds of fit", "Peak memory of fit above the data, MiB")):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("Samples n")
        ax.set_ylabel(label)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    shape = table.iloc[0]
    return style.with_note(
        figure, f"generated samples, d = {shape['d']}, r = {shape['r']}, basis of m = {shape['m']}"
    )


@style.styled
def frontier(points: pd.DataFrame) -> Figure:
    """Error against time, one panel per data set."""
    names = list(points["data"].unique())
    figure = style.new_figure(style.TEXT_WIDTH, 3.2)
    axes = figure.subplots(1, len(names), squeeze=False)[0]
    done = points[points["note"].fillna("") == ""]
    for ax, name in zip(axes, names):
        for way in [way for way in SHORT if way in set(done["method"])]:
            own = done[(done["data"] == name) & (done["method"] == way)].sort_values("m")
            if len(own):
                excess = (own["error"] - 1).clip(lower=LEAST)
                ax.plot(own["seconds"], excess, label=SHORT[way], **_line(way))
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(name)
        ax.set_xlabel("Seconds of fit and transform")
    axes[0].set_ylabel("Error above that of full KPCA, share")
    handles = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    sizes = sorted(m for m in points["m"].unique() if m)
    bases = ", ".join(map(str, sizes))
    return style.with_note(
        figure, f"points of a line: bases of {bases}; at the bottom what is below {LEAST:g}"
    )
