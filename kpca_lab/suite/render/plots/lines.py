"""Lines given as arrays: spectra, drift over updates, convergence."""

import numpy as np

from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import method_label
from kpca_lab.suite.render.plots.curves import finish, grid, scales, tidy_log_ticks


def _look(name, place) -> tuple[str, dict]:
    """Legend entry and style of a line named by a method, by (method, selector), or by any text."""
    key = name if isinstance(name, tuple) else (name,)
    if style.canonical(key[0]) in style.METHODS:
        return method_label(*key), style.line(*key)
    return str(name), style.plain_line(place)


@style.styled
def lines(panels, *, xlabel, ylabel, log="", markers=None, joined=True, bounds=None, levels=None, columns=3):
    """Lines given as arrays, in one or several panels.

    Parameters
    ----------
    panels : dict
        Name of a line to its y values or to (x, y); or title of a panel to such a dict. A name that is a
        method, or a pair (method, selector), has the method's colour.
    xlabel, ylabel : str
        ``ylabel`` may be a dict, a label for each panel.
    log : {"", "x", "y", "xy"}, default=""
    markers : bool, optional
        Whether points are marked; by default where a line has at most 40 of them.
    joined : bool, default=True
        Whether points are joined; without, what was not measured between them is not suggested.
    bounds : dict, optional
        Lines drawn grey and dashed without markers, in every panel: label to (x, y).
    levels : dict, optional
        Title of a panel to the height of a thin grey line across it.
    columns : int, default=3

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not isinstance(next(iter(panels.values())), dict):
        panels = {"": panels}
    fig, axes = grid(len(panels), columns=columns)
    for ax, (title, series) in zip(axes.flat, panels.items(), strict=False):
        scales(ax, log)
        for place, (name, values) in enumerate(series.items()):
            x, y = values if isinstance(values, tuple) else (np.arange(1, len(values) + 1), values)
            label, options = _look(name, place)
            if not (len(y) <= 40 if markers is None else markers):
                options = options | {"marker": None}
            if not joined:
                options = options | {"linestyle": "none"}
            ax.plot(x, y, label=label, **options)
        for label, (x, y) in (bounds or {}).items():
            ax.plot(x, y, color="#5F5F5F", linestyle=(0, (4, 2)), linewidth=1, label=label)
        if title in (levels or {}):
            ax.axhline(levels[title], color="#5F5F5F", linewidth=0.8)
        ax.set_xlabel(xlabel)
        if isinstance(ylabel, dict):
            ax.set_ylabel(ylabel[title])
        elif ax in axes[:, 0]:
            ax.set_ylabel(ylabel)
        ax.set_title(title)
    limits = [limit for ax in axes.flat[: len(panels)] for limit in ax.get_xlim()]
    for ax in axes.flat[: len(panels)]:
        ax.set_xlim(min(limits), max(limits))  # the panels are over the same quantity
        tidy_log_ticks(ax)
    finish(fig, axes, len(panels))
    return fig


def spectrum(spectra, *, normalise=True, log="y", xlabel="Component", ylabel=None, **options):
    """Eigenvalues or singular values in descending order, divided by their largest.

    Parameters
    ----------
    spectra : dict
        Name to the values; names of methods have the method's colour.
    normalise : bool, default=True
    log, xlabel, ylabel, **options
        As in `lines`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    ordered = {name: np.sort(np.asarray(values, dtype=float))[::-1] for name, values in spectra.items()}
    if normalise:
        ordered = {name: values / values[0] for name, values in ordered.items()}
    if "y" in log:
        # zero and negative rounding errors have no place on a logarithmic axis
        ordered = {name: values[values > 0] for name, values in ordered.items()}
    label = ylabel or ("Eigenvalue / largest eigenvalue" if normalise else "Eigenvalue")
    return lines(ordered, xlabel=xlabel, ylabel=label, log=log, **options)


def drift(series, *, xlabel="Number of updates", ylabel="Largest principal angle [°]", **options):
    """A quantity over updates, such as the angle to the batch solution; arguments of `lines`."""
    return lines(series, xlabel=xlabel, ylabel=ylabel, **options)
