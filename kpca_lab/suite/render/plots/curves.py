"""Curves over a setting, with bands; two metrics against each other; growth with fitted exponents."""

import math

import matplotlib.ticker as ticker
import numpy as np
import pandas as pd

from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import dataset_label, metric_label
from kpca_lab.suite.render.plots import prepare

SERIES = ("method", "selector")
_SHARES = ("basis", "basis_share", "n_basis")


def _panel_values(records, panels) -> list:
    """What the panels show, in order of appearance; one panel for everything if ``panels`` is None."""
    if panels is None:
        return [None]
    rows = prepare.usable(records)
    return list(dict.fromkeys(prepare.filled(rows, [panels])[panels]))


def _of_panel(records, panels, value) -> pd.DataFrame:
    rows = prepare.usable(records)
    return rows if panels is None else rows[prepare.filled(rows, [panels])[panels] == value]


def grid(n_panels, n_rows=1, *, columns=3, width=None, panel_height=2.1):
    """A figure and a two-dimensional array of its axes; one row of panels wraps after ``columns`` of them."""
    if n_rows == 1:
        n_columns = min(n_panels, columns)
        n_rows = math.ceil(n_panels / n_columns)
    else:
        n_columns = n_panels
    if width is None:
        width = style.COLUMN_WIDTH if n_columns == 1 else style.TEXT_WIDTH
    # the legend below the panels takes about half an inch
    fig = style.new_figure(width, n_rows * panel_height + 0.55)
    axes = fig.subplots(n_rows, n_columns, squeeze=False)
    return fig, axes


def finish(fig, axes, n_used, note=None) -> None:
    """Letter the panels, remove the empty ones, put one legend below them (with a note above it)."""
    flat = list(axes.flat)
    for ax in flat[n_used:]:
        ax.remove()
    if n_used > 1:
        for letter, ax in zip("abcdefghijklmnopqrstuvwxyz", flat[:n_used], strict=False):
            ax.set_title(f"({letter}) {ax.get_title()}".strip())
    entries = {}
    for ax in flat[:n_used]:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        longest = max(len(label) for label in entries)
        per_row = max(1, int(fig.get_figwidth() / (0.45 + 0.05 * longest)))
        rows = math.ceil(len(entries) / per_row)
        if rows > 1 and len(entries) % (rows + 1) == 0:
            rows += 1  # full columns: nine entries in three rows rather than in two
        columns = math.ceil(len(entries) / rows)
        fig.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns, title=note)


def scales(ax, log) -> None:
    """Set logarithmic axes ("", "x", "y" or "xy") with enough labels when a decade or less is shown."""
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")


def tidy_log_ticks(ax) -> None:
    """Label 1, 2, 5 of each decade where a logarithmic axis has less than two decades, else decades only."""
    for axis in (ax.xaxis, ax.yaxis):
        scale, limits = axis.get_scale(), axis.get_view_interval()
        if scale != "log":
            continue
        decades = math.log10(max(limits) / min(limits))
        if decades < 0.2:  # hardly curved: ticks as on a linear axis
            axis.set_major_locator(ticker.MaxNLocator(5))
            axis.set_major_formatter(ticker.FuncFormatter(_short_number))
            axis.set_minor_locator(ticker.NullLocator())
        elif decades < 2:
            # the narrower the range, the more of a decade's steps have to be labelled for two to be inside
            steps = (1, 2, 5) if decades > 0.6 else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
            axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=12))
            axis.set_major_formatter(ticker.FuncFormatter(_short_number))
            axis.set_minor_formatter(ticker.NullFormatter())
        else:
            axis.set_major_locator(ticker.LogLocator(numticks=7))
            axis.set_minor_formatter(ticker.NullFormatter())


def _short_number(value, _position=None) -> str:
    """A tick label: 200, 0.05, or a mantissa and a power of ten."""
    if value == 0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    return rf"${value / 10**exponent:g}\times10^{{{exponent}}}$"


def _draw_band(ax, x, mean, spread, color, log) -> None:
    low = mean - spread
    if "y" in log:
        # a band that reaches below zero ends at a tenth of the mean on a logarithmic axis
        low = np.where(low > 0, low, mean / 10)
    if np.any(spread > 0):
        ax.fill_between(x, low, mean + spread, color=color, alpha=0.15, linewidth=0)


@style.styled
def curves(
    records,
    metrics,
    *,
    x="m",
    panels="dataset",
    by=SERIES,
    band="sd",
    reference=None,
    bounds=None,
    log="",
    ylim=None,
    xlabel=None,
    ylabel=None,
    note=None,
    columns=3,
):
    """Means of metrics over a setting with a band of one standard deviation, a panel for each data set.

    Parameters
    ----------
    records : DataFrame
        Tidy records; means and deviations are over the rows that agree in ``x``, ``panels`` and ``by``.
    metrics : str or list of str
        One row of panels for each.
    x : str, default="m"
        A column or a setting of the column ``parameters``; ``basis`` and ``n_basis`` are in per cent.
    panels : str or None, default="dataset"
        The column that tells panels apart.
    by : sequence of str, default=("method", "selector")
        The columns that tell curves apart.
    band : {"sd", "se", None}, default="sd"
        Standard deviation, standard error of the mean, or no band.
    reference : str, optional
        A method shown as a horizontal line at its mean, such as ``"full"``.
    bounds : dict, optional
        Metrics drawn as grey dashed lines (means over all rows of the panel), with their legend entries.
    log : {"", "x", "y", "xy"} or dict, default=""
        The logarithmic axes; a dict gives them for each metric.
    ylim : dict, optional
        Limits (low, high) of the vertical axis for each metric.
    xlabel, ylabel : str, optional
        Axis labels in place of the project's.
    note : str, optional
        A line above the legend.
    columns : int, default=3
        Panels beside each other when there is one metric.

    Returns
    -------
    matplotlib.figure.Figure
    """
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    values = _panel_values(records, panels)
    fig, axes = grid(len(values), len(metrics), columns=columns)
    flat = list(axes.flat)
    for row, metric in enumerate(metrics):
        scale = log.get(metric, "") if isinstance(log, dict) else log
        for place, value in enumerate(values):
            ax = flat[row * len(values) + place]
            rows = _of_panel(records, panels, value)
            _curves_of_panel(ax, rows, metric, x, by, band, reference, bounds or {}, scale)
            _label_axes(ax, axes, x, metric, xlabel, ylabel, wraps=len(metrics) == 1)
            if panels is not None:
                ax.set_title(dataset_label(value))
            if ylim and metric in ylim:
                ax.set_ylim(*ylim[metric])
            tidy_log_ticks(ax)
    finish(fig, axes, len(metrics) * len(values), note)
    return fig


def _curves_of_panel(ax, rows, metric, x, by, band, reference, bounds, log) -> None:
    scales(ax, log)
    if reference is not None:
        height = prepare.level(rows, reference, metric)
        if np.isfinite(height):
            look = style.method_style(reference)
            ax.axhline(height, color=look.color, linewidth=1, linestyle="--", label=look.label)
        rows = rows[rows["method"].map(style.canonical) != style.canonical(reference)]
    table = prepare.summary(rows, metric, x, by)
    names = prepare.in_order(table[list(by)].drop_duplicates().itertuples(index=False, name=None), by)
    for place, key in enumerate(names):
        part = table[(table[list(by)] == list(key)).all(axis=1)]
        if "y" in log:  # zero, such as the distance of the whole basis, is no place on a logarithmic axis
            part = part[part["mean"] > 0]
        options = prepare.series_line(by, key, place)
        ax.plot(part[x], part["mean"], label=prepare.series_label(by, key), **options)
        if band is not None:
            spread = part["sd"] if band == "sd" else part["sd"] / np.sqrt(part["count"])
            _draw_band(ax, *(a.to_numpy() for a in (part[x], part["mean"], spread)), options["color"], log)
    for place, (name, text) in enumerate(bounds.items()):
        # a bound is a function of x alone: one line for all series
        line = prepare.summary(rows.assign(_all=0), name, x, ["_all"])
        dashes = [(0, (4, 2)), (0, (1, 1)), (0, (4, 1, 1, 1))][place % 3]
        ax.plot(line[x], line["mean"], color="#5F5F5F", linestyle=dashes, linewidth=1, label=text)


def _label_axes(ax, axes, x, metric, xlabel, ylabel, wraps) -> None:
    if wraps or ax in axes[-1]:
        ax.set_xlabel(xlabel or metric_label(x))
    if ax in axes[:, 0]:
        ax.set_ylabel(ylabel or metric_label(metric))
    if x in _SHARES and ax.get_xlim()[1] < 2:
        ax.xaxis.set_major_formatter(ticker.PercentFormatter(xmax=1, decimals=0))


def time_over_basis(records, metric="runtime", *, reference="full", x="m", **options):
    """Calculation time over the size of the basis, full KPCA as a horizontal line; options of `curves`."""
    return curves(records, metric, x=x, reference=reference, **options)


def sketch_error(records, metric, *, x="q", bounds=None, log="xy", **options):
    """An error over the sketch size q with the bounds beside it; options of `curves`."""
    return curves(records, metric, x=x, bounds=bounds, log=log, **options)


@style.styled
def tradeoff(
    records,
    x_metric,
    y_metric,
    *,
    along="m",
    panels="dataset",
    by=SERIES,
    vertical=None,
    horizontal=None,
    log="xy",
    annotate=False,
    xlabel=None,
    ylabel=None,
    columns=3,
):
    """One metric against another, a line through the medians for each value of a setting.

    Serves runtime against squared distance, training error against elapsed time, and sparsity against error.

    Parameters
    ----------
    records : DataFrame
    x_metric, y_metric : str
        ``"seconds"`` stands for the column of the rows of the other metric.
    along : str, default="m"
        The setting along a line.
    panels, by, xlabel, ylabel, columns
        As in `curves`.
    vertical, horizontal : str, optional
        A method shown as a line at its median of ``x_metric`` or ``y_metric``, such as ``"full"``. Its own
        points are left out, since its error is zero or it has but one.
    log : {"", "x", "y", "xy"}, default="xy"
    annotate : bool, default=False
        Write the value of ``along`` at both ends of each line, as a note above the legend says.

    Returns
    -------
    matplotlib.figure.Figure
    """
    values = _panel_values(records, panels)
    fig, axes = grid(len(values), columns=columns)
    flat = list(axes.flat)
    for ax, value in zip(flat, values, strict=False):
        scales(ax, log)
        rows = _of_panel(records, panels, value)
        if vertical is not None and np.isfinite(position := prepare.level(rows, vertical, x_metric)):
            look = style.method_style(vertical)
            ax.axvline(position, color=look.color, linestyle=":", label=look.label)
        if horizontal is not None and np.isfinite(position := prepare.level(rows, horizontal, y_metric)):
            look = style.method_style(horizontal)
            ax.axhline(position, color=look.color, linestyle="--", linewidth=1, label=look.label)
        lines = {style.canonical(name) for name in (vertical, horizontal) if name is not None}
        rows = rows[~rows["method"].map(style.canonical).isin(lines)] if lines else rows
        table = prepare.paired(rows, x_metric, y_metric, along, by)
        for axis in log:
            table = table[table[axis] > 0]
        names = prepare.in_order(table[list(by)].drop_duplicates().itertuples(index=False, name=None), by)
        for place, key in enumerate(names):
            part = table[(table[list(by)] == list(key)).all(axis=1)]
            options = prepare.series_line(by, key, place)
            ax.plot(part["x"], part["y"], label=prepare.series_label(by, key), **options)
            if annotate:
                _annotate_ends(ax, part, along, options["color"])
        ax.set_xlabel(xlabel or metric_label(x_metric))
        if ax in axes[:, 0]:
            ax.set_ylabel(ylabel or metric_label(y_metric))
        if panels is not None:
            ax.set_title(dataset_label(value))
        ax.margins(0.12 if annotate else 0.05)
        tidy_log_ticks(ax)
    finish(fig, axes, len(values), note=f"Numbers at the ends: ${along}$" if annotate else None)
    return fig


def _annotate_ends(ax, part, along, color) -> None:
    # above the line where it starts and below it where it ends, so that neighbours rarely meet
    for place, shift, align in ((0, 4, "bottom"), (len(part) - 1, -4, "top")):
        point = part.iloc[place]
        text = "" if np.isnan(point[along]) else f"{point[along]:g}"
        ax.annotate(
            text, (point["x"], point["y"]), xytext=(0, shift), textcoords="offset points", fontsize=6,
            color=color, ha="center", va=align,
        )  # fmt: skip


def fitted_exponent(x, y) -> float:
    """The exponent b of y = a x^b by least squares of logarithms (nan with fewer than two values of x)."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    keep = (x > 0) & (y > 0)
    if len(np.unique(x[keep])) < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[keep]), np.log(y[keep]), 1)[0])


@style.styled
def growth(
    records, metric="runtime", *, x="n", panels=None, by=("method",), xlabel=None, ylabel=None, columns=3
):
    """Growth of a cost with the number of samples, the fitted exponents in the legend; logarithmic axes.

    Means over the rows that agree in ``x`` and ``by`` are shown as points, the fit as a line through them.
    """
    values = _panel_values(records, panels)
    fig, axes = grid(len(values), columns=columns, panel_height=2.0)
    for ax, value in zip(axes.flat, values, strict=False):
        scales(ax, "xy")
        table = prepare.summary(_of_panel(records, panels, value), metric, x, by)
        names = prepare.in_order(table[list(by)].drop_duplicates().itertuples(index=False, name=None), by)
        for place, key in enumerate(names):
            part = table[(table[list(by)] == list(key)).all(axis=1) & (table["mean"] > 0) & (table[x] > 0)]
            if part.empty:
                continue
            options = prepare.series_line(by, key, place)
            label = prepare.series_label(by, key)
            exponent = fitted_exponent(part[x], part["mean"])
            if np.isfinite(exponent):
                label += rf": $\propto {x}^{{{exponent:.2f}}}$"
                factor = np.exp(np.mean(np.log(part["mean"]) - exponent * np.log(part[x])))
                ax.plot(part[x], factor * part[x] ** exponent, color=options["color"], linewidth=0.8)
            ax.errorbar(
                part[x], part["mean"], yerr=part["sd"], label=label, **(options | {"linestyle": "none"})
            )
        ax.set_xlabel(xlabel or metric_label(x))
        ax.set_ylabel(ylabel or metric_label(metric))
        if panels is not None:
            ax.set_title(dataset_label(value))
        tidy_log_ticks(ax)
        ax.legend(loc="best")
    for ax in list(axes.flat)[len(values) :]:
        ax.remove()
    return fig
