"""Pictures of samples: image mosaics, scatter plots, projection components, coefficients."""

import math

import numpy as np

from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import method_label
from kpca_lab.suite.render.plots.contours import RASTER_FROM

ORDER_MAP = "viridis"


@style.styled
def image_grid(groups, *, per_row=10, columns=2, vmin=None, vmax=None, cmap="gray", width=style.TEXT_WIDTH):
    """Mosaics of images under their titles, such as original, noisy and denoised digits.

    Parameters
    ----------
    groups : dict
        Title to images of shape (n, height, width).
    per_row : int, default=10
        Images beside each other in a mosaic.
    columns : int, default=2
        Mosaics beside each other.
    vmin, vmax : float, optional
        What is black and white; by default the extremes of the first group, so that groups can be compared.
    cmap : str, default="gray"
    width : float
        Of the figure, in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    mosaics = {title: mosaic(images, per_row) for title, images in groups.items()}
    first = np.asarray(next(iter(groups.values())))
    vmin = np.min(first) if vmin is None else vmin
    vmax = np.max(first) if vmax is None else vmax
    columns = min(columns, len(mosaics))
    rows = math.ceil(len(mosaics) / columns)
    shape = next(iter(mosaics.values())).shape
    lines = max(title.count("\n") for title in mosaics)
    fig = style.new_figure(width, rows * (width / columns * shape[0] / shape[1] + 0.25 + 0.13 * lines))
    axes = fig.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, (title, picture) in zip(axes.flat, mosaics.items(), strict=False):
        ax.imshow(picture, cmap=cmap, vmin=vmin, vmax=vmax, interpolation="nearest")
        ax.set_title(title)
    return fig


def mosaic(images, per_row) -> np.ma.MaskedArray:
    """The images side by side, ``per_row`` in a row, with a masked pixel between them."""
    images = np.asarray(images, dtype=float)
    n, height, width = images.shape
    per_row = min(per_row, n)
    rows = math.ceil(n / per_row)
    canvas = np.full((rows * (height + 1) - 1, per_row * (width + 1) - 1), np.nan)
    for number, image in enumerate(images):
        top, left = (number // per_row) * (height + 1), (number % per_row) * (width + 1)
        canvas[top : top + height, left : left + width] = image
    return np.ma.masked_invalid(canvas)


@style.styled
def scatter(
    points, *, groups=None, order=None, xlabel="", ylabel="", zlabel="", title="", width=style.COLUMN_WIDTH
):
    """Points in the plane or in space, told apart by group (colour and marker) or coloured by an order."""
    points = np.asarray(points, dtype=float)
    fig = style.new_figure(width, 0.8 * width)
    ax = fig.add_subplot(projection="3d" if points.shape[1] == 3 else None)
    options = {"s": 9, "linewidths": 0.5, "rasterized": len(points) > RASTER_FROM}
    if groups is not None:
        for place, value in enumerate(np.unique(groups)):
            chosen, look = points[np.asarray(groups) == value], style.plain_line(place)
            look.pop("linestyle")
            ax.scatter(*chosen.T, label=str(value), alpha=0.8, **look, **options)
        ax.legend(markerscale=1.3, handletextpad=0.2)
    else:
        ax.scatter(*points.T, c=order, cmap=ORDER_MAP, **options)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if points.shape[1] == 3:
        ax.set_zlabel(zlabel)
    return fig


def aligned_correlations(first, second) -> tuple[np.ndarray, np.ndarray]:
    """The second components with the signs of the first, and the correlation of each pair (then >= 0)."""
    first, second = np.asarray(first, dtype=float), np.array(second, dtype=float)
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    norms = np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
    products = np.sum(a * b, axis=0)
    correlation = np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
    return second * np.where(correlation < 0, -1.0, 1.0), np.abs(correlation)


@style.styled
def projection_components(
    first, second, *, order=None, labels=("full", "incremental"), n_components=10, xlabel="Sample", blocks=2
):
    """Projections onto the first components by two methods side by side, with their correlations.

    Parameters
    ----------
    first, second : arrays of shape (n_samples, k)
        Signs of the second are turned to agree with the first.
    order : array of shape (n_samples,), optional
        The place of each sample on its manifold, for horizontal axis and colour; its number by default.
    labels : pair of str
        Names of the methods.
    n_components : int, default=10
    xlabel : str
        What ``order`` is.
    blocks : int, default=2
        Blocks of components beside each other.

    Returns
    -------
    matplotlib.figure.Figure
    """
    count = min(n_components, np.shape(first)[1], np.shape(second)[1])
    second, correlation = aligned_correlations(np.asarray(first)[:, :count], np.asarray(second)[:, :count])
    first = np.asarray(first)[:, :count]
    order = np.arange(len(first)) if order is None else np.asarray(order)
    blocks = min(blocks, count)
    rows = math.ceil(count / blocks)
    fig = style.new_figure(style.TEXT_WIDTH, 0.92 * rows + 0.5)
    axes = fig.subplots(rows, 2 * blocks, squeeze=False, sharex=True)
    for ax in axes.flat:
        ax.set_visible(False)
    for number in range(count):
        row, block = number % rows, number // rows
        pair = axes[row, 2 * block : 2 * block + 2]
        for ax, values, label in zip(pair, (first, second), labels, strict=True):
            ax.set_visible(True)
            ax.scatter(
                order,
                values[:, number],
                c=order,
                cmap=ORDER_MAP,
                s=2,
                linewidths=0,
                rasterized=len(order) > 500,
            )
            ax.locator_params(axis="y", nbins=3)
            if row == 0:
                ax.set_title(method_label(label))
            if row == rows - 1 or number == count - 1:
                ax.set_xlabel(xlabel)
                ax.tick_params(labelbottom=True)
        pair[0].set_ylabel(f"Component {number + 1}", fontsize=7)
        low, high = min(ax.get_ylim()[0] for ax in pair), max(ax.get_ylim()[1] for ax in pair)
        for ax in pair:
            ax.set_ylim(low, high + 0.28 * (high - low))  # room for the correlation
        pair[1].tick_params(labelleft=False)
        pair[1].text(
            0.98, 0.97, f"corr. {_correlation_text(correlation[number])}", transform=pair[1].transAxes,
            ha="right", va="top", fontsize=6.5,
        )  # fmt: skip
    fig.align_ylabels(axes)
    return fig


def _correlation_text(value) -> str:
    """Four digits, but never 1.0000 for a correlation below one."""
    return "> 0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"


@style.styled
def coefficient_stems(coefficients, *, xlabel="Sample", zero=0.0, n_components=None, share_y=False):
    """Expansion coefficients as stems: a column for each method, a row for each component.

    Parameters
    ----------
    coefficients : dict
        Method to an array of shape (n_components, n_samples).
    xlabel : str
    zero : float, default=0.0
        Coefficients beyond it in absolute value count as non-zero; their number is printed in the panel.
    n_components : int, optional
        All by default.
    share_y : bool, default=False
        Whether the methods have one scale.

    Returns
    -------
    matplotlib.figure.Figure
    """
    arrays = {name: np.atleast_2d(values)[:n_components] for name, values in coefficients.items()}
    rows = max(len(values) for values in arrays.values())
    fig = style.new_figure(style.TEXT_WIDTH, 1.15 * rows + 0.45)
    axes = fig.subplots(rows, len(arrays), squeeze=False, sharex=True, sharey="row" if share_y else "none")
    for column, (name, values) in enumerate(arrays.items()):
        look = style.method_style(name)
        for row, ax in enumerate(axes[:, column]):
            if row >= len(values):
                ax.set_visible(False)
                continue
            used = np.flatnonzero(np.abs(values[row]) > zero)
            ax.axhline(0, color="#5F5F5F", linewidth=0.5)
            ax.vlines(used, 0, values[row][used], color=look.color, linewidth=0.6)
            if len(used) <= 100:
                ax.plot(used, values[row][used], look.marker, color=look.color, ms=2.2, mew=0.4)
            ax.text(
                0.99, 0.98, f"{len(used)} of {values.shape[1]} non-zero", transform=ax.transAxes, ha="right",
                va="top", fontsize=6.5,
            )  # fmt: skip
            ax.grid(axis="x", visible=False)
            if row == 0:
                ax.set_title(method_label(name))
            if column == 0:
                ax.set_ylabel(f"Component {row + 1}:\ncoefficient")
        axes[-1, column].set_xlabel(xlabel)
    for ax in (axes[:, 0] if share_y else axes).flat:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.22 * (high - low))  # room for the number
    fig.align_ylabels(axes[:, 0])
    return fig
