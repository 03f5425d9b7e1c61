"""Figures of the comparison for Marukatat 2016: errors over q with the bounds, against time and memory."""

import numpy as np

from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import dataset_label, method_label
from kpca_lab.suite.render.plots.curves import finish, grid, scales, tidy_log_ticks
from kpca_lab.suite.render.plots.prepare import usable

LABELS = {"gaussian": "random projection", "count": "count sketch"}
BOUND = {"color": "#5F5F5F", "linewidth": 1.0}
COUNT = "#B8860B"  # count sketches, so that their bands differ from those of random projections
SIZE = "Sketch size $q$ or basis size $m$"


def _rows(records):
    rows = usable(records)
    return rows.assign(sketch=rows["sketch"].fillna("") if "sketch" in rows else "")


def _series(rows):
    """The series of a figure in order: (method, sketch), label, style."""
    found = []
    for method in ("empirical_map", "sketched_pca", "nystrom", "subset"):
        for sketch in ("gaussian", "count", ""):
            if not ((rows["method"] == method) & (rows["sketch"] == sketch)).any():
                continue
            look = style.line("empirical_map" if method == "sketched_pca" else method)
            name = method_label(method) if method != "sketched_pca" else "Algorithm 1"
            if sketch == "count":
                look |= {"linestyle": ":", "fillstyle": "none", "color": COUNT}
            found.append((method, sketch, f"{name}, {LABELS[sketch]}" if sketch else name, look))
    return found


def _of(rows, method, sketch):
    return rows[(rows["method"] == method) & (rows["sketch"] == sketch)]


def _plot(ax, rows, metric, label, look, band=True):
    table = rows[rows["metric"] == metric].groupby("m")["value"].agg(["mean", "min", "max"])
    if table.empty:
        return
    ax.plot(table.index, table["mean"], label=label, **look)
    # the range: a mean less its deviation may be negative, which has no place on a logarithmic axis
    if band and (table["max"] > table["min"]).any():
        ax.fill_between(table.index, table["min"], table["max"], color=look["color"], alpha=0.15, linewidth=0)


def _panels(rows, draw, xlabel, ylabel, note=None):
    """A figure with a panel for each data set, filled by ``draw(ax, rows of it)``."""
    datasets = list(dict.fromkeys(rows["dataset"]))
    fig, axes = grid(len(datasets), columns=2)
    for ax, dataset in zip(axes.flat, datasets):
        own = rows[rows["dataset"] == dataset]
        scales(ax, "xy")
        draw(ax, own)
        ax.set_title(f"{dataset_label(dataset)}, $n$ = {own['n'].dropna().iloc[0]:.0f}")
        ax.set_xlabel(xlabel)
        if ax in axes[:, 0]:
            ax.set_ylabel(ylabel)
        tidy_log_ticks(ax)
    finish(fig, axes, len(datasets), note)
    return fig


def over_size(rows, metric, ylabel, r=None, bounds=(), xlabel=SIZE):
    """A metric over q or m, with bounds: pairs of a metric and a legend entry."""
    chosen = rows if r is None else rows[rows["r"].isna() | (rows["r"] == r)]
    chosen = chosen[chosen["metric"].isin([metric, *dict(bounds)])]
    series = _series(chosen[chosen["metric"] == metric])

    def draw(ax, own):
        for method, sketch, label, look in series:
            _plot(ax, _of(own, method, sketch), metric, label, look)
        for (name, text), dashes in zip(bounds, ((0, (4, 2)), (0, (1, 1)))):
            for sketch, marker in (("gaussian", "+"), ("count", "x")):
                look = BOUND | {"linestyle": dashes, "marker": marker}
                _plot(ax, own[own["sketch"] == sketch], name, f"{text}, {LABELS[sketch]}", look, band=False)
        if metric == "subspace_distance":  # at most one: scatter near it is not blown up
            low, high = ax.get_ylim()
            ax.set_ylim(min(low, 0.1), max(high, 1.15))

    return _panels(chosen, draw, xlabel, ylabel, "Bands: range over the trials")


def against(rows, cost, xlabel, r):
    """Eigenvalue error against a cost, one line for each method, the exact method as a vertical line."""
    series = _series(rows)

    def draw(ax, own):
        exact = own[(own["method"] == "full") & (own["metric"] == cost)]["value"].median()
        if np.isfinite(exact):
            ax.axvline(exact, color="black", linestyle=":", linewidth=1, label="exact, all eigenpairs")
        for method, sketch, label, look in series:
            part = _of(own, method, sketch)
            x = part[part["metric"] == cost].groupby("m")["value"].median()
            y = part[(part["metric"] == "eigenvalue_error") & (part["r"] == r)].groupby("m")["value"].mean()
            both = x.index.intersection(y.index)
            ax.plot(x[both], y[both], label=label, **look)

    return _panels(rows, draw, xlabel, f"Relative eigenvalue error, $r$ = {r}")


def _common(rows, name, xlabel):
    r = int(rows["r"].dropna().max())
    bounds = [
        ("spectral_bound", r"$\|E\|_2$, Eq. (3)"),
        ("entry_bound", r"$n\,\max|\epsilon_{ij}|$, Eq. (3)"),
    ]
    return r, {
        f"{name}_eigenvalue_error": over_size(
            rows, "eigenvalue_error", f"Relative eigenvalue error, $r$ = {r}", r, xlabel=xlabel
        ),
        f"{name}_eigenvalue_bounds": over_size(
            rows, "dot_matrix_error", r"$\max_i|\lambda_i-\tilde\lambda_i|\,/\,\lambda_1$", r, bounds,
            xlabel="Sketch size $q$",
        ),
        f"{name}_subspace_distance": over_size(
            rows, "subspace_distance", f"Subspace distance, $r$ = {r}", r,
            [("subspace_bound", r"$4\|F_{21}\|_2/\Delta$, Eq. (5)")], xlabel=xlabel,
        ),
        f"{name}_first_axis": over_size(
            rows, "subspace_distance", "Distance of the first axis", 1,
            [("subspace_bound", r"$4\|F_{21}\|_2/\Delta$, Eq. (5)")], xlabel=xlabel,
        ),
        f"{name}_dot_products": over_size(
            rows, "dot_product_error", "Error of dot products", None,
            [("dot_product_bound", "Eq. (8)")], xlabel="Sketch size $q$",
        ),
    }  # fmt: skip


@experiment.figure("marukatat2016/kernel")
@style.styled
def kernel_figures(records, arrays):
    """Errors of kernel matrices over q, against time and against memory."""
    rows = _rows(records)
    r, figures = _common(rows, "kernel", SIZE)
    figures["kernel_error_time"] = against(rows, "runtime", "Time [s]", r)
    figures["kernel_error_memory"] = against(rows, "peak_memory", "Peak memory [MB]", r)
    return figures


@experiment.figure("marukatat2016/covariance")
@style.styled
def covariance_figures(records, arrays):
    """Errors of covariance matrices over q."""
    return _common(_rows(records), "covariance", "Sketch size $q$")[1]
