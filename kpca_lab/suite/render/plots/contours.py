"""Contour curves on two-dimensional data: projection norms and single components."""

import math
from dataclasses import dataclass, field

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D

from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import method_label, metric_label

DATA_COLOR = "#B9B9B9"
HIGHLIGHT_COLOR = "#1B9E3E"
RASTER_FROM = 1500  # points beyond which a cloud is a picture within the PDF, which stays small


@dataclass
class ContourPanel:
    """One panel of `contours`.

    Parameters
    ----------
    x, y : arrays of shape (n_x,), (n_y,)
        The grid.
    values : array of shape (n_y, n_x)
        What the curves show.
    title : str
    points : array of shape (n, 2), optional
        The data.
    highlight : array, optional
        Points to show in green: numbers or a mask of rows of ``points``, or coordinates of shape (m, 2).
    measures : dict, optional
        Numbers for further lines of the title, such as ``{"e_emp": 0.2063, "distance": 0.012}``.
    """

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    title: str = ""
    points: np.ndarray | None = None
    highlight: np.ndarray | None = None
    measures: dict = field(default_factory=dict)

    def highlighted(self) -> np.ndarray:
        """The coordinates of the points to highlight, of shape (m, 2)."""
        if self.highlight is None:
            return np.empty((0, 2))
        chosen = np.asarray(self.highlight)
        return np.asarray(self.points)[chosen] if chosen.ndim == 1 else chosen


def short(value) -> str:
    """A number for a title: four significant digits, 1.2 x 10^-7 where it is tiny or huge."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:#.4g}".rstrip(".")
    mantissa, exponent = f"{value:.2e}".split("e")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$"


@style.styled
def contours(
    panels,
    *,
    columns=4,
    n_levels=9,
    shared_levels=False,
    letters=True,
    marked="basis samples",
    width=style.TEXT_WIDTH,
):
    """Contour curves over the plane, a panel for each method or component.

    Parameters
    ----------
    panels : sequence of ContourPanel
    columns : int, default=4
    n_levels : int, default=9
        The number of curves in a panel.
    shared_levels : bool, default=False
        Whether the curves of all panels are at the same values; they are then explained by a colour bar.
    letters : bool, default=True
        Whether titles start with (a), (b) and so on.
    marked : str, default="basis samples"
        What the legend calls the highlighted points.
    width : float
        Of the figure, in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    panels = list(panels)
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    first = panels[0]
    aspect = np.ptp(first.y) / np.ptp(first.x)
    lines = 1 + max(panel.title.count("\n") + len(panel.measures) for panel in panels)
    panel_width = width / columns
    height = rows * (np.clip(0.86 * panel_width * aspect, 0.5, 4.0) + 0.15 + 0.15 * lines)
    several = any(len(panel.highlighted()) for panel in panels)
    fig = style.new_figure(width, height + 0.35 + 0.22 * several)
    axes = fig.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    everything = np.concatenate([np.ravel(panel.values) for panel in panels]) if shared_levels else None
    for place, (ax, panel) in enumerate(zip(axes.flat, panels, strict=False)):
        shown = panel.values if everything is None else everything
        levels = np.linspace(np.nanmin(shown), np.nanmax(shown), n_levels + 2)[1:-1]
        drawn = _draw_panel(ax, panel, levels)
        letter = f"({chr(97 + place)}) " if letters and 1 < len(panels) <= 26 else ""
        second = "\n".join(f"{metric_label(name)} = {short(v)}" for name, v in panel.measures.items())
        ax.set_title(f"{letter}{panel.title}" + (f"\n{second}" if second else ""), fontsize=7)
    for ax in list(axes.flat)[len(panels) :]:
        ax.remove()
    for ax in fig.axes:
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
        ax.label_outer(remove_inner_ticks=False)
    if several:
        look = {"marker": "o", "linestyle": "none"}
        handles = [
            Line2D([], [], color=DATA_COLOR, markersize=2.2, label="samples", **look),
            Line2D([], [], color=HIGHLIGHT_COLOR, markersize=3.5, label=marked, **look),
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=2)
    if shared_levels and drawn is not None:
        fig.colorbar(drawn, ax=axes, shrink=0.8, pad=0.01)
    return fig


def _draw_panel(ax, panel, levels):
    ax.grid(False)
    if panel.points is not None:
        points = np.asarray(panel.points)
        size = 3.2 if len(points) <= 200 else 1.8
        ax.plot(*points.T, ".", color=DATA_COLOR, ms=size, mew=0, rasterized=len(points) > RASTER_FROM)
    drawn = None
    if levels[-1] > levels[0]:  # a constant has no curves
        # yellow, the end of the scale, would be lost on white
        drawn = ax.contour(
            panel.x, panel.y, panel.values, levels=levels, cmap=_dark_part_of("plasma"), linewidths=0.9
        )
    marked = panel.highlighted()
    if len(marked):
        ax.plot(*marked.T, "o", color=HIGHLIGHT_COLOR, ms=2.8, mew=0.3, mec="white", zorder=3)
    ax.set_xlim(np.min(panel.x), np.max(panel.x))
    ax.set_ylim(np.min(panel.y), np.max(panel.y))
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(True)
    ax.locator_params(nbins=4)
    return drawn


def _dark_part_of(name):
    return ListedColormap(mpl.colormaps[name](np.linspace(0, 0.85, 256)))


def component_panels(x, y, grids, *, method, points=None, coefficients=None, zero=0.0) -> list[ContourPanel]:
    """Panels of the single components of a method, the points with non-zero coefficients highlighted.

    Parameters
    ----------
    x, y : arrays
        The grid.
    grids : array of shape (n_components, n_y, n_x)
        The projection onto each component.
    method : str
        Named in the titles.
    points : array of shape (n, 2), optional
    coefficients : array of shape (n_components, n), optional
        Highlights and counts the points with a coefficient beyond ``zero`` in absolute value.
    zero : float, default=0.0

    Returns
    -------
    list of ContourPanel
    """
    panels = []
    for number, values in enumerate(np.asarray(grids), start=1):
        title, highlight = f"{method_label(method)} {number}", None
        if coefficients is not None:
            highlight = np.abs(np.asarray(coefficients)[number - 1]) > zero
            title += f" ({int(highlight.sum())} of {len(highlight)} non-zero)"
        panels.append(ContourPanel(x, y, values, title, points=points, highlight=highlight))
    return panels
