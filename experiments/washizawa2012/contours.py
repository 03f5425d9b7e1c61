"""Washizawa 2012, Figures 1 and 2: contour curves of the projections of a plane."""

import numpy as np

from experiments.common.stated import stated
from experiments.washizawa2012.over_samples import used_samples
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome
from kpca_lab.suite.measure.evaluate import Evaluation
from kpca_lab.suite.measure.workbench import Workbench
from kpca_lab.suite.targets import import_target

PAPER = "washizawa2012"
STAND_IN = "Samples: a blunt parabola with normal tails, fitted to Table 1; the paper gives none."


@experiment.run(f"{PAPER}/figure1", f"{PAPER}/figure2")
def contour_run(job: Job) -> Outcome:
    """Fit each method once; keep its measures, and its projection norms over the plane."""
    bench = Workbench(job)
    X = bench.samples.train
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.08 * (high - low)
    x, y = np.linspace(low - margin, high + margin, job.settings["parameters"]["grid"]).T
    plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    rows, arrays = [], {"x": x, "y": y, "points": X.astype(np.float32)}
    for place in bench.places():
        for fit in bench.fit(place):
            name = place.method
            norms = fit.operator.projection_norm(plane).reshape(len(y), len(x))
            arrays[f"norm_{name}"] = norms.astype(np.float32)
            numbers = used_samples(fit.model)
            if numbers is not None:
                arrays[f"basis_{name}"] = np.asarray(numbers)
            if fit.operator.kernel.name == "linear":
                continue  # another feature space: its error is not to be compared
            evaluation = Evaluation(bench, fit, fit.ranks[0])
            for metric, entry in job.settings["metrics"].items():
                value = import_target(entry["target"])(evaluation, **entry["params"])
                rows.append(bench.row(place, metric, value, r=fit.ranks[0], seconds=fit.seconds))
    return Outcome(rows, arrays)


def _contour_figure(records, arrays, titles, columns):
    from kpca_lab.suite.render import style
    from kpca_lab.suite.render.plots import ContourPanel, contours

    job = records["job"].iloc[0]
    kept = arrays[job]
    values = records[records["job"] == job].pivot_table(index="method", columns="metric", values="value")
    panels = []
    for method, title in titles.items():
        if f"norm_{method}" not in kept:
            continue
        measures = {}
        if method in values.index:
            measures = {"empirical_error": values.loc[method, "empirical_error"]}
            if method != "full":  # all distances are from it
                rank = records.loc[records["method"] == method, "r"].max()
                measures["distance_per_component"] = values.loc[method, "distance_squared"] / rank
        panels.append(
            ContourPanel(
                kept["x"],
                kept["y"],
                kept[f"norm_{method}"],
                title,
                points=kept["points"],
                highlight=kept.get(f"basis_{method}"),
                measures=measures,
            )
        )
    figure = contours(panels, columns=columns)
    return style.with_note(figure, STAND_IN)


@experiment.cells(f"{PAPER}/figure1")
def figure1_cells(records, settings):
    """The size of the basis, and the numbers of components."""
    used = {
        "components of PCA in the example": settings["methods"]["pca"]["params"]["n_components"],
        "components of KPCA in the example": records["r"].max(),
        "basis size of the example": records["m"].max(),
    }
    return stated("Section 1", used)


@experiment.figure(f"{PAPER}/figure1")
def figure1(records, arrays):
    """Contour curves of PCA, full KPCA, KPCA of a subset, and SubKPCA with the same subset."""
    titles = {
        "pca": "PCA",
        "full": "KPCA of all samples",
        "reduced": "KPCA of the basis samples",
        "subset": "SubKPCA, same basis",
    }
    return _contour_figure(records, arrays, titles, columns=4)


@experiment.figure(f"{PAPER}/figure2")
def figure2(records, arrays):
    """Contour curves of the eight methods, with their errors and distances."""
    from kpca_lab.suite.render.labels import method_label

    order = ("subset", "full", "reduced", "improved", "tipping", "nystrom", "cholesky", "hebbian")
    return _contour_figure(records, arrays, {name: method_label(name) for name in order}, columns=4)
