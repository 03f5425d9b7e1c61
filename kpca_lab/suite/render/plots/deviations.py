"""How far every result is from the printed one, as a figure for print."""

from matplotlib.figure import Figure

from kpca_lab.suite.render import style

__all__ = ["deviation_strips"]

# as on the page
COLORS = {"exact": "#0b4f8a", "consistent": "#2a6fab", "close": "#a3cbe8", "off": "#b34700"}
MARKERS = {"exact": "o", "consistent": "s", "close": "^", "off": "X"}


@style.styled
def deviation_strips(found: dict) -> Figure:
    """A strip for each printed table, a point for each result.

    Parameters
    ----------
    found : dict
        From :func:`kpca_lab.suite.render.cells.deviations`.

    Returns
    -------
    Figure
    """
    rows = found["rows"]
    figure = style.new_figure(height=0.8 + 0.17 * len(rows))
    axes = figure.subplots()
    for verdict, color in COLORS.items():
        points = [
            (dot["x"], place + (dot["y"] - 11) / 22)
            for place, row in enumerate(rows)
            for dot in row["dots"]
            if dot["verdict"] == verdict
        ]
        if points:
            x, y = zip(*points)
            axes.scatter(
                x,
                y,
                s=13,
                c=color,
                marker=MARKERS[verdict],
                edgecolors="white",
                linewidths=0.3,
                label=verdict,
            )
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axes.set_xticks([tick["x"] for tick in found["ticks"]], [tick["text"] for tick in found["ticks"]])
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6), xlabel="(ours − published) / published [%]")
    axes.axvline(50, color="#777777", linewidth=0.8, zorder=0.5)
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper right", ncols=len(COLORS), handletextpad=0.1)
    return figure
