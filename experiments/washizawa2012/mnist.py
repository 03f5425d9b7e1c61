"""Washizawa 2012, Figure 6: empirical error against time on MNIST."""

from dataclasses import replace

import numpy as np

from experiments.common.stated import stated
from experiments.washizawa2012.over_samples import errors_over_samples, used_samples
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.jobs import Job, Outcome, grid_jobs, with_labels
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import only_value
from kpca_lab.suite.measure.evaluate import evaluate
from kpca_lab.suite.measure.samples import load_samples
from kpca_lab.suite.measure.workbench import Workbench

PAPER = "washizawa2012"


# Methods whose operators are written over all samples, so that one pass over the kernel matrix serves all.
OVER_ALL_SAMPLES = ("nystrom", "cholesky")


@experiment.jobs(f"{PAPER}/figure6")
def mnist_jobs(config) -> list[Job]:
    """Two jobs for each trial: operators over a basis, and operators over all samples.

    The latter take longer, so they have their own sizes, ``parameters.n_basis_over_all``, and no repeats.
    """
    over_all = {name: entry for name, entry in config.methods.items() if name in OVER_ALL_SAMPLES}
    over_basis = {name: entry for name, entry in config.methods.items() if name not in OVER_ALL_SAMPLES}
    sizes = config.parameters["n_basis_over_all"]
    return [
        *grid_jobs(replace(config, methods=over_basis, parameters={})),
        *grid_jobs(replace(config, methods=over_all, n_basis=sizes, parameters={}, repeats=1)),
    ]


@experiment.run(f"{PAPER}/figure6")
def mnist_run(job: Job) -> Outcome:
    """Time and empirical error of every method and basis size."""
    if job.settings["methods"].keys().isdisjoint(OVER_ALL_SAMPLES):
        rows = evaluate(job).rows
    else:
        rows = _over_all_samples(job)
    n = len(load_samples(job).train)
    return Outcome([with_labels(entry, {"n": n}) for entry in rows])


def _over_all_samples(job):
    bench = Workbench(job)
    X, r = bench.samples.train, bench.ranks[0]
    places = list(bench.places())
    fits = [fit for place in places for fit in bench.fit(place)]
    errors = errors_over_samples(X, [(fit.model.operator_, used_samples(fit.model)) for fit in fits])
    rows = []
    for place, fit, error in zip(places, fits, errors, strict=True):
        rows.append(bench.row(place, "runtime", fit.seconds, r=r, seconds=fit.seconds))
        rows.append(bench.row(place, "empirical_error", error, r=r, seconds=fit.seconds))
    return rows


@experiment.figure(f"{PAPER}/figure6")
def figure6(records, arrays):
    """Empirical error against time, a point for each basis size; the printed pairs as crosses."""
    from kpca_lab.suite.render import style
    from kpca_lab.suite.render.labels import method_label
    from kpca_lab.suite.render.plots import tradeoff

    errors = records[records["metric"] == "empirical_error"]
    outside = errors[errors["method"] == "nystrom"]["value"]
    shown = records[records["method"] != "nystrom"]
    # in units that need no powers of ten on the axis
    is_error = shown["metric"] == "empirical_error"
    shown = shown.assign(value=shown["value"].mask(is_error, 1e5 * shown["value"]))
    label = r"$E_\mathrm{emp}$ [$10^{-5}$]"
    figure = tradeoff(shown, "runtime", "empirical_error", panels=None, annotate=True, ylabel=label)
    _draw_printed(figure.axes[0])
    for line in figure.axes[0].lines:
        if line.get_label().startswith(method_label("reduced")):
            line.set_linestyle("none")  # its times differ by less than they scatter
    if len(outside):
        style.with_note(
            figure, f"The errors of Nys are far outside of the range: from {outside.min():.2g} on."
        )
    return figure


def _draw_printed(ax):
    """The errors and times that the text gives, on the machine of the paper, as crosses with its names."""
    from kpca_lab.suite.render import style
    from kpca_lab.suite.render.labels import method_label

    published = load_published(PAPER).set_index("column")["value"]
    for method, name in (("subset", "SubKPCA"), ("cholesky", "ICD")):
        place = published[f"MNIST time of {name}"], 1e5 * published[f"MNIST training error of {name}"]
        ax.plot(*place, "x", color=style.method_style(method).color, markersize=6)
        ax.annotate(
            f"{method_label(method)},\nprinted", place, xytext=(0, 5), textcoords="offset points", fontsize=6,
            ha="center", va="bottom", color=style.method_style(method).color,
        )  # fmt: skip
    ax.set_xlim(right=2 * published["MNIST time of ICD"])


@experiment.cells(f"{PAPER}/figure6")
def figure6_cells(records, settings):
    """The printed errors on our curves: the text does not say at which size they were reached; settings."""
    records = records[records["metric"] == "empirical_error"]
    n, cells = records["n"].min(), []
    published = load_published(PAPER).set_index("column")["value"]
    for method, name in (("subset", "SubKPCA"), ("cholesky", "ICD")):
        column = f"MNIST training error of {name}"
        curve = records[records["method"] == method].groupby("m")["value"].agg(["mean", "std", "size"])
        if curve.empty:
            continue
        m = (curve["mean"] - published[column]).abs().idxmin()
        found = curve.loc[m]
        listed = ", ".join(f"{value:.4g} at {size}" for size, value in curve["mean"].items())
        crossing = _size_at(curve["mean"], published[column])
        note = (
            f"the text does not say m; computed at m = {m}, the nearest of {len(curve)}; our curve: {listed}"
        )
        if np.isfinite(crossing):
            note = f"by interpolation, our curve has the printed error at m = {crossing:.0f}; {note}"
        about = {"ours_sd": found["std"], "trials": int(found["size"]), "readings": len(curve)}
        if n < 60000:
            about |= {"comparable": False}
            note = f"only {n:.0f} samples; {note}"
        cells.append(Cell("text", "Section 6.5", column, found["mean"], note=note, **about))
    power = np.log10(only_value(records, "gamma"))
    used = {"power of ten for c, Figure 6": power, "components, Figure 6": records["r"].max()}
    return cells + stated("Section 6.5", used)


def _size_at(curve, error):
    """The size at which a falling curve has an error, between the sizes of the curve; NaN outside of it."""
    falling = curve.sort_values()
    if not falling.iloc[0] <= error <= falling.iloc[-1]:
        return np.nan
    sizes = np.log(falling.index.to_numpy(dtype=float))
    return float(np.exp(np.interp(error, falling.to_numpy(), sizes)))
