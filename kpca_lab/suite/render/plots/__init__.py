"""Functions that draw: from records, or from arrays, to a matplotlib figure."""

from kpca_lab.suite.render.plots.contours import ContourPanel, component_panels, contours
from kpca_lab.suite.render.plots.curves import (
    curves,
    fitted_exponent,
    growth,
    sketch_error,
    time_over_basis,
    tradeoff,
)
from kpca_lab.suite.render.plots.lines import drift, lines, spectrum
from kpca_lab.suite.render.plots.pictures import (
    aligned_correlations,
    coefficient_stems,
    image_grid,
    projection_components,
    scatter,
)

__all__ = [
    "ContourPanel",
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
]
