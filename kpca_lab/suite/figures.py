"""The figures: the functions that draw them (see :mod:`kpca_lab.suite.plots`), and writing them to files."""

import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from kpca_lab.suite import style
from kpca_lab.suite.plots.contours import ContourPanel, component_panels, contours
from kpca_lab.suite.plots.curves import (
    curves,
    fitted_exponent,
    growth,
    sketch_error,
    time_over_basis,
    tradeoff,
)
from kpca_lab.suite.plots.data import with_parameters
from kpca_lab.suite.plots.lines import drift, lines, spectrum
from kpca_lab.suite.plots.samples import (
    aligned_correlations,
    coefficient_stems,
    image_grid,
    projection_components,
    scatter,
)
from kpca_lab.suite.store import Store

__all__ = [
    "ContourPanel",
    "Written",
    "aligned_correlations",
    "coefficient_stems",
    "component_panels",
    "contours",
    "curves",
    "drift",
    "fitted_exponent",
    "growth",
    "image_grid",
    "lines",
    "projection_components",
    "scatter",
    "sketch_error",
    "spectrum",
    "time_over_basis",
    "tradeoff",
    "with_parameters",
    "write_figures",
]


@dataclass
class Written:
    """What `write_figures` did.

    Attributes
    ----------
    written : list of Path
        The files, two for each figure.
    skipped : dict
        Item to the reason why it has no figure.
    failed : dict
        Item to its error, one line.
    """

    written: list[Path] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def write_figures(profile_dir, only=None, *, makers=None) -> Written:
    """Draw the registered figures from the records of a profile.

    The figure of the item ``<paper>/<name>`` is written to ``figures/<paper>/<name>.png`` and ``.pdf``; where
    the registered function gives a dict of figures, its keys are the names of the files in that folder. An
    item without records is skipped; one that fails is reported, with its traceback on the standard error,
    and the others are drawn all the same.

    Parameters
    ----------
    profile_dir : path
        Such as ``results/quick``.
    only : str or sequence of str, optional
        Items (``"washizawa2012/figure3"``) or papers (``"washizawa2012"``) to draw; all by default.
    makers : dict, optional
        Item to ``function(records, arrays)``, for tests; the registered ones by default.

    Returns
    -------
    Written
    """
    profile_dir = Path(profile_dir)
    if makers is None:
        from kpca_lab.suite.registry import load_experiments

        makers = load_experiments().figure_makers
    result, store = Written(), Store(profile_dir.parent, profile_dir.name)
    for item in _chosen(makers, only):
        records = store.records(item)
        if records.empty:
            result.skipped[item] = "no records: run the experiment first"
            continue
        try:
            drawn = makers[item](records, store.arrays(item))
            for path, figure in _named(item, drawn).items():
                result.written += style.save(figure, profile_dir / "figures" / path)
        except Exception as error:  # whatever goes wrong in one figure must not cost the others
            result.failed[item] = f"{type(error).__name__}: {error}".splitlines()[0]
            print(f"The figure {item} failed:", file=sys.stderr)
            traceback.print_exc()
    return result


def _chosen(makers, only) -> list[str]:
    if only is None:
        return sorted(makers)
    wanted = [only] if isinstance(only, str) else list(only)
    chosen = [item for item in sorted(makers) if any(item == w or item.startswith(f"{w}/") for w in wanted)]
    unknown = [w for w in wanted if not any(item == w or item.startswith(f"{w}/") for item in makers)]
    if unknown:
        raise ValueError(f"There is no figure {unknown}: choose from {sorted(makers)}.")
    return chosen


def _named(item, drawn) -> dict[str, Figure]:
    """Path without suffix to figure."""
    if isinstance(drawn, Figure):
        return {item: drawn}
    if isinstance(drawn, dict) and drawn and all(isinstance(figure, Figure) for figure in drawn.values()):
        paper = item.split("/")[0]
        return {f"{paper}/{name}": figure for name, figure in drawn.items()}
    raise TypeError(f"The function of {item} gave {type(drawn).__name__}, not a Figure or a dict of Figures.")
