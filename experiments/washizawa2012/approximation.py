"""Washizawa 2012, Figures 3 to 5: approximation against basis size and time."""

from dataclasses import replace

from experiments.common.stated import stated
from kpca_lab.methods.base import check_size
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome, grid_jobs, with_labels
from kpca_lab.suite.measure.evaluate import evaluate
from kpca_lab.suite.measure.samples import load_samples

PAPER = "washizawa2012"
ROUNDING = 1e-10


def _with_shares(rows, job):
    """Rows that say which share of the samples the basis is."""
    n = len(load_samples(job).train)
    shares = {check_size("n_basis", share, n): share for share in job.settings["n_basis"]}
    return [with_labels(entry, {"basis": shares[entry["m"]]} if entry["m"] else {}) for entry in rows]


@experiment.run(f"{PAPER}/figure3")
def curves_run(job: Job) -> Outcome:
    """All methods, selectors and basis sizes of one split; the basis of all samples is the same for all."""
    selectors, shares = job.settings["selectors"], job.settings["n_basis"]

    def rows_of(**changes):
        return evaluate(replace(job, settings={**job.settings, **changes})).rows

    rows = rows_of(n_basis=[share for share in shares if share != 1.0])
    if 1.0 in shares:
        whole = rows_of(n_basis=[1.0], selectors={"random": selectors["random"]})
        rows += [{**entry, "selector": name} for name in selectors for entry in whole]
    return Outcome(_with_shares(rows, job))


@experiment.figure(f"{PAPER}/figure3")
def figure3(records, arrays):
    """Squared distance, normalised empirical error and validation error over the basis size."""
    from kpca_lab.suite.render import style
    from kpca_lab.suite.render.plots import curves

    distances = records["metric"] == "distance_squared"
    # With all samples the distance is zero but for rounding, which has no place on a logarithmic axis.
    shown = records[
        (distances & (records["value"] > ROUNDING)) | (~distances & (records["method"] != "nystrom"))
    ]
    metrics = ["distance_squared", "normalized_empirical_error", "validation_error"]
    figure = curves(shown, metrics, x="basis", band="se", log={"distance_squared": "y"})
    for ax in figure.axes:
        ax.set_xlim(records["basis"].min() - 0.05, records["basis"].max() + 0.05)
    note = (
        f"Bands: one standard error of the mean over {records['split'].nunique()} divisions. "
        "Nys is left out of (c) to (f): its errors are far above, as in the paper."
    )
    return style.with_note(figure, note)


@experiment.cells(f"{PAPER}/figure3")
def figure3_cells(records, settings):
    """The number of divisions."""
    divisions = records.groupby("dataset")["split"].nunique().min()
    return stated("Section 6.3", {"divisions into training and validation": divisions})


@experiment.run(f"{PAPER}/figure4")
def time_run(job: Job) -> Outcome:
    """The time of every method and basis size."""
    return Outcome(_with_shares(evaluate(job).rows, job))


@experiment.figure(f"{PAPER}/figure4")
def figure4(records, arrays):
    """Time to construct the operators over the basis size, full KPCA as a line."""
    from kpca_lab.suite.render.plots import time_over_basis

    return time_over_basis(records, x="basis", by=("method",), log="y")


@experiment.jobs(f"{PAPER}/figure5")
def tradeoff_jobs(config) -> list[Job]:
    """Two jobs for each split: KHA-SMD, which takes long, and the others.

    ``parameters`` gives, for each data set, the number of splits, the basis sizes, the passes of KHA-SMD and,
    where not all samples are wanted, their number.
    """
    jobs = []
    for name in config.datasets:
        own = config.parameters[name]
        one = replace(
            config,
            datasets={name: config.datasets[name]},
            n_basis=own["n_basis"],
            n_train=own.get("n_train", config.n_train),
            seeds=config.seeds[: own["n_trials"]],
            parameters={},
        )
        for part in ({"hebbian"}, config.methods.keys() - {"hebbian"}):
            methods = {key: config.methods[key] for key in config.methods if key in part}
            passes = {"passes": own["passes"]} if "hebbian" in part else {}
            for job in grid_jobs(replace(one, methods=methods)):
                jobs.append(replace(job, settings={**job.settings, **passes}))
    return jobs


@experiment.run(f"{PAPER}/figure5")
def tradeoff_run(job: Job) -> Outcome:
    """Time and distance of every method: over the basis size, for KHA-SMD over the passes."""
    if "passes" not in job.settings:
        rows = evaluate(job).rows
        return Outcome([with_labels(entry, {"size": entry["m"]} if entry["m"] else {}) for entry in rows])
    rows = []
    hebbian = job.settings["methods"]["hebbian"]
    for passes in job.settings["passes"]:
        method = {**hebbian, "params": {**hebbian["params"], "max_iter": passes}}
        found = evaluate(replace(job, settings={**job.settings, "methods": {"hebbian": method}})).rows
        rows += [with_labels(entry, {"size": passes}) for entry in found]
    return Outcome(rows)


@experiment.figure(f"{PAPER}/figure5")
def figure5(records, arrays):
    """Squared distance from full KPCA against time, full KPCA as the vertical line."""
    from kpca_lab.suite.render import style
    from kpca_lab.suite.render.plots import tradeoff

    figure = tradeoff(records, "runtime", "distance_squared", along="size", vertical="full")
    return style.with_note(figure, "Medians over the divisions; in a few of them KHA-SMD diverges.")
