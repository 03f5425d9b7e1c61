"""Figures of the leaderboard."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, PercentFormatter

from kpca_lab.suite.leaderboard.aggregates import ERROR, TIME
from kpca_lab.suite.leaderboard.words import label
from kpca_lab.suite.render import style
from kpca_lab.suite.render.labels import dataset_label
from kpca_lab.suite.render.plots.curves import grid, tidy_log_ticks

__all__ = ["aggregate_figure", "fronts_figure", "profiles_figure"]

# On logarithmic axes what is nearer to the best than this stands at the edge.
LEAST = 1e-5
MOST_LINES = 8


def _look(entrant):
    method, _, selector = entrant.partition("/")
    return style.line(method, selector or None)


@style.styled
def aggregate_figure(summary: pd.DataFrame, profile: pd.DataFrame, shown: list[str], title: str) -> Figure:
    """Profiles of a few entrants, and the error of all against their time.

    Parameters
    ----------
    summary, profile : DataFrame
        From :mod:`~kpca_lab.suite.leaderboard.aggregates`.
    shown : list of str
        The entrants whose profiles are drawn, and who stand out on the right.
    title : str
    """
    fig = style.new_figure(style.TEXT_WIDTH, 3.3)
    left, right = fig.subplots(1, 2, width_ratios=(1, 1.25))
    _draw_profiles(left, profile, shown)
    _draw_summary(right, summary, shown)
    _explain(fig, shown)
    fig.suptitle(title, fontsize=8)
    return fig


def _explain(fig, entrants, *, lines=True):
    """One legend for all panels, below them."""
    looks = [_look(entrant) | ({} if lines else {"linestyle": ""}) for entrant in entrants]
    handles = [Line2D([], [], markersize=4, label=label(name), **look) for name, look in zip(entrants, looks)]
    fig.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=6, handlelength=3)


def _draw_profiles(ax, profile, shown):
    for place, entrant in enumerate(shown):
        own, look = profile[profile["entrant"] == entrant], _look(entrant)
        step = max(len(own) // 8, 1)
        marks = (place * step // len(shown), step)  # lines that lie on each other show different marks
        ax.plot(own["excess"], own["share"], markevery=marks, markersize=3, **look)
        ax.fill_between(own["excess"], own["low"], own["high"], color=look["color"], alpha=0.15, linewidth=0)
    seen = profile[profile["entrant"].isin(shown)]
    rising = seen.loc[seen["share"] < seen.groupby("entrant")["share"].transform("max"), "excess"]
    ax.set_xscale("log")
    ax.set_xlim(profile["excess"].min(), 2 * rising.max() if len(rising) else profile["excess"].max())
    ax.set_ylim(0, 1.02)
    ax.xaxis.set_major_formatter(FuncFormatter(_percent))
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    ax.set_xlabel("Error above the least, at most")
    ax.set_ylabel("Share of the runs")


def _percent(value, _position=None):
    return f"{100 * value:g} %"


def _draw_summary(ax, summary, shown):
    points = summary[np.isfinite(summary["excess"]) & np.isfinite(summary["time"])]
    for entrant, row in points.iterrows():
        look = _look(entrant)
        named = entrant in shown
        y = max(row["excess"], LEAST)
        high = row["excess_high"] if np.isfinite(row["excess_high"]) else y
        bars = {
            "yerr": [[max(y - max(row["excess_low"], LEAST), 0)], [max(high - y, 0)]],
            "xerr": [[row["time"] - row["time_low"]], [max(min(row["time_high"], 1e9) - row["time"], 0)]],
        }
        ax.errorbar(
            row["time"], y, **bars, color=look["color"], marker=look["marker"], markersize=2.5 + 1.5 * named,
            fillstyle=look.get("fillstyle", "full"), markerfacecoloralt="white", alpha=1 if named else 0.35,
            elinewidth=0.6, linestyle="",
        )  # fmt: skip
    front = points[points["front"]].sort_values("time")
    ax.plot(front["time"], front["excess"].clip(lower=LEAST), color="#999999", linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(_percent))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:g}"))
    ax.margins(x=0.12)
    ax.set_xlabel("Time of the fit, relative to subset / random")
    ax.set_ylabel("Error above the least")


@style.styled
def profiles_figure(by_size: dict[int, pd.DataFrame], shown: dict[int, list[str]]) -> Figure:
    """Performance profiles, a panel for each size of the basis."""
    fig, axes = grid(len(by_size), columns=3, panel_height=2.4)
    for ax, (size, profile) in zip(axes.flat, by_size.items()):
        _draw_profiles(ax, profile, shown[size])
        ax.set_title(f"$m$ = {size}")
    for ax in list(axes.flat)[len(by_size) :]:
        ax.remove()
    _explain(fig, dict.fromkeys(entrant for entrants in shown.values() for entrant in entrants))
    return fig


@style.styled
def fronts_figure(points: pd.DataFrame) -> Figure:
    """Error against time on each data set, with the front; those on a front are named."""
    names = sorted(points["dataset"].unique())
    times = points[points["front_time"]].groupby("entrant")[TIME].median()
    named = list(times.sort_values().index)
    fig, axes = grid(len(names), columns=3, panel_height=1.9)
    for ax, name in zip(axes.flat, names):
        own = points[points["dataset"] == name]
        for entrant, rows in own.groupby("entrant"):
            look = _look(entrant)
            ax.plot(
                rows[TIME], rows[ERROR], color=look["color"], marker=look["marker"], markersize=2.5,
                fillstyle=look.get("fillstyle", "full"), markerfacecoloralt="white", linestyle="",
                alpha=0.8 if entrant in named else 0.25,
            )  # fmt: skip
        front = own[own["front_time"]].sort_values(TIME)
        ax.step(front[TIME], front[ERROR], where="post", color="#444444", linewidth=0.8)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(dataset_label(name))
        ax.set_xlabel("Time of the fit [s]")
        if ax in axes[:, 0]:
            ax.set_ylabel("Error outside the scores")
        tidy_log_ticks(ax)
    for ax in list(axes.flat)[len(names) :]:
        ax.remove()
    _explain(fig, named, lines=False)
    return fig
