"""Washizawa 2012, Figures 1 to 6: contour curves, approximation against basis size and time."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kpca_lab.kernels import Kernel
from kpca_lab.methods.base import check_size
from kpca_lab.selectors.criterion import check_rank
from kpca_lab.selectors.forward import ForwardSearch
from kpca_lab.suite.checks import load_target
from kpca_lab.suite.evaluate import Evaluation, Workbench, evaluate
from kpca_lab.suite.jobs import Job, Outcome, grid_jobs
from kpca_lab.suite.published import load_published
from kpca_lab.suite.registry import experiment
from kpca_lab.suite.samples import load_samples

PAPER = "washizawa2012"
STAND_IN = "Samples: a calibrated parabola; those of the paper are not specified."


@dataclass(frozen=True)
class StagedForwardSelector:
    """Forward search one by one up to a share of the samples, then several samples in each step.

    Section 4.1.1 allows for both, and large bases take one by one hours.

    Parameters
    ----------
    one_by_one : float
        Share of the samples that are chosen one by one.
    per_step : float
        Share of the samples that each later step adds.
    random_start : bool
        Whether the first sample is drawn at random instead of being the best one.
    """

    one_by_one: float = 0.2
    per_step: float = 0.02
    random_start: bool = False

    def select(self, X, n_basis, *, kernel, n_components=None, center=True, rng=None) -> np.ndarray:
        """Return the numbers of the chosen samples, in the order in which they were chosen."""
        n = len(X)
        search = ForwardSearch(X, kernel, check_rank(n_components), n_basis, center)
        if self.random_start:
            search.add(int(rng.integers(n)))
        search.extend(min(n_basis, max(1, round(self.one_by_one * n))))
        search.extend(n_basis, max(1, round(self.per_step * n)))
        return np.array(search.chosen, dtype=np.intp)


# Figures 1 and 2


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
            numbers = _used_samples(fit.model)
            if numbers is not None:
                arrays[f"basis_{name}"] = np.asarray(numbers)
            if fit.operator.kernel.name == "linear":
                continue  # another feature space: its error is not to be compared
            evaluation = Evaluation(bench, fit, fit.ranks[0])
            for metric, entry in job.settings["metrics"].items():
                value = load_target(entry["target"])(evaluation, **entry["params"])
                rows.append(bench.row(place, metric, value, r=fit.ranks[0], seconds=fit.seconds))
    return Outcome(rows, arrays)


def _used_samples(model):
    """Numbers of the samples that a model is built on, where these are not all."""
    for name in ("basis_indices_", "pivots_"):
        if getattr(model, name, None) is not None:
            return getattr(model, name)
    return None


def _contour_figure(records, arrays, titles, columns):
    from kpca_lab.suite.figures import ContourPanel, contours

    job = records["job"].iloc[0]
    kept = arrays[job]
    values = records[records["job"] == job].pivot_table(index="method", columns="metric", values="value")
    panels = []
    for method, title in titles.items():
        if f"norm_{method}" not in kept:
            continue
        measures = {}
        if method in values.index:
            measures = {name: values.loc[method, name] for name in ("empirical_error", "distance")}
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
    figure.supxlabel(STAND_IN, fontsize=6.5)
    return figure


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
    from kpca_lab.suite.style import method_label

    order = ("subset", "full", "reduced", "improved", "tipping", "nystrom", "cholesky", "hebbian")
    return _contour_figure(records, arrays, {name: method_label(name) for name in order}, columns=4)


# Figures 3 to 5


def _with_settings(rows, settings):
    """Rows with further entries in ``parameters``: ``settings(row)`` gives them."""
    for entry in rows:
        parameters = json.loads(entry["parameters"]) | settings(entry)
        entry["parameters"] = json.dumps(parameters, sort_keys=True)
    return rows


def _with_shares(rows, job):
    """Rows that say which share of the samples the basis is."""
    n = len(load_samples(job).train)
    shares = {check_size("n_basis", share, n): share for share in job.settings["n_basis"]}
    return _with_settings(rows, lambda entry: {} if entry["m"] is None else {"basis": shares[entry["m"]]})


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
    from kpca_lab.suite.figures import curves

    return curves(
        records,
        ["distance_squared", "normalized_empirical_error", "validation_error"],
        x="basis",
        band=None,
        log={"distance_squared": "y"},
        ylim=_limits(records, ["normalized_empirical_error", "validation_error"]),
    )


def _limits(records, metrics):
    """Limits that show all but the Nystrom method, which is far outside, as in the paper."""
    limits = {}
    for metric in metrics:
        rows = records[(records["metric"] == metric) & (records["method"] != "nystrom")]
        means = rows.groupby(["dataset", "method", "selector", "m"])["value"].mean()
        low, high = means.min(), means.max()
        limits[metric] = (low - 0.05 * (high - low), high + 0.05 * (high - low))
    return limits


@experiment.run(f"{PAPER}/figure4")
def time_run(job: Job) -> Outcome:
    """The time of every method and basis size."""
    return Outcome(_with_shares(evaluate(job).rows, job))


@experiment.figure(f"{PAPER}/figure4")
def figure4(records, arrays):
    """Time to construct the operators over the basis size, full KPCA as a line."""
    from kpca_lab.suite.figures import time_over_basis

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
        return Outcome(_with_settings(rows, lambda entry: {"size": entry["m"]} if entry["m"] else {}))
    rows = []
    hebbian = job.settings["methods"]["hebbian"]
    for passes in job.settings["passes"]:
        method = {**hebbian, "params": {**hebbian["params"], "n_passes": passes}}
        found = evaluate(replace(job, settings={**job.settings, "methods": {"hebbian": method}})).rows
        rows += _with_settings(found, lambda entry, passes=passes: {"size": passes})
    return Outcome(rows)


@experiment.figure(f"{PAPER}/figure5")
def figure5(records, arrays):
    """Squared distance from full KPCA against time, full KPCA as the vertical line."""
    from kpca_lab.suite.figures import tradeoff

    return tradeoff(records, "runtime", "distance_squared", along="size", vertical="full")


# Figure 6

# Methods whose operators are written over all samples, so that one pass over the kernel matrix serves all.
OVER_ALL_SAMPLES = ("nystrom", "cholesky")


@experiment.jobs(f"{PAPER}/figure6")
def mnist_jobs(config) -> list[Job]:
    """Two jobs for each trial: operators over a basis, and operators over all samples."""
    jobs = []
    for part in (True, False):
        chosen = {name: entry for name, entry in config.methods.items() if (name in OVER_ALL_SAMPLES) == part}
        if chosen:
            jobs += grid_jobs(replace(config, methods=chosen))
    return jobs


@experiment.run(f"{PAPER}/figure6")
def mnist_run(job: Job) -> Outcome:
    """Time and empirical error of every method and basis size."""
    if job.settings["methods"].keys().isdisjoint(OVER_ALL_SAMPLES):
        rows = evaluate(job).rows
    else:
        rows = _over_all_samples(job)
    n = len(load_samples(job).train)
    return Outcome(_with_settings(rows, lambda entry: {"n": n}))


def _over_all_samples(job):
    bench = Workbench(job)
    X, r = bench.samples.train, bench.ranks[0]
    places = list(bench.places())
    fits = [fit for place in places for fit in bench.fit(place)]
    errors = errors_over_samples(X, [(fit.model.operator_, _used_samples(fit.model)) for fit in fits])
    rows = []
    for place, fit, error in zip(places, fits, errors, strict=True):
        rows.append(bench.row(place, "runtime", fit.seconds, r=r, seconds=fit.seconds))
        rows.append(bench.row(place, "empirical_error", error, r=r, seconds=fit.seconds))
    return rows


def errors_over_samples(X: np.ndarray, operators: list, block: int = 2000) -> list[float]:
    """Empirical errors of centred operators over all samples, in one pass over half of the kernel matrix.

    What `FeatureOperator.residual` computes from a pass of its own for each operator. The constant part of
    the kernel cancels in differences from the mean, so only its core is used.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The samples.
    operators : list of (FeatureOperator, ndarray)
        With the Gaussian kernel, written over ``X``, or over ``X`` and then samples of the given numbers.
    block : int
        Rows and columns of the kernel matrix at a time.

    Returns
    -------
    list of float
    """
    n = len(X)
    kernel = operators[0][0].kernel
    folded = [_folded(operator, numbers, n) for operator, numbers in operators]
    stacked = np.hstack(folded)
    products = _symmetric_product(kernel, X, stacked, block)
    errors, start = [], 0
    for coefficients in folded:
        columns = slice(start, start + coefficients.shape[1])
        start = columns.stop
        vectors, mean = coefficients[:, :-1], coefficients[:, -1]
        along, with_mean = products[:, columns][:, :-1], products[:, columns][:, -1]
        components = along - mean @ along
        squares = mean @ with_mean - 2 * with_mean.mean()
        gram = vectors.T @ along
        scatter = components.T @ components / n
        errors.append(float(squares - 2 * scatter.trace() + np.sum(gram * scatter)))
    return errors


def _folded(operator, numbers, n):
    """Coefficients of the components and of the mean over the samples alone."""
    columns = []
    for vectors in (operator.left, operator.mean):
        coefficients = vectors.coefficients
        if len(coefficients) < n:  # over the basis
            over = np.zeros((n, coefficients.shape[1]))
            over[numbers] = coefficients
        else:  # over the samples, and the basis once more
            over = coefficients[:n].copy()
            if len(coefficients) > n:
                over[numbers] += coefficients[n:]
        columns.append(over)
    return np.hstack(columns)


def _symmetric_product(kernel: Kernel, X, W, block):
    """``core(X, X) @ W``, with each block of the symmetric matrix computed once."""
    product = np.zeros_like(W)
    blocks = [slice(start, min(start + block, len(X))) for start in range(0, len(X), block)]
    for i, rows in enumerate(blocks):
        for columns in blocks[i:]:
            core = kernel.core(X[rows], X[columns])
            if rows == columns:
                np.fill_diagonal(core, 0.0)
            product[rows] += core @ W[columns]
            if rows != columns:
                product[columns] += core.T @ W[rows]
    return product


@experiment.figure(f"{PAPER}/figure6")
def figure6(records, arrays):
    """Empirical error against time, a point for each basis size."""
    from kpca_lab.suite.figures import tradeoff

    return tradeoff(records, "runtime", "empirical_error", panels=None, annotate=True)


@experiment.cells(f"{PAPER}/figure6")
def figure6_cells(records):
    """The printed errors on our curves: the text does not say at which size they were reached."""
    records = records[records["metric"] == "empirical_error"]
    n = records["parameters"].map(lambda text: json.loads(text)["n"])
    comparable = bool((n == 60000).all())
    cells = []
    published = load_published().set_index(["paper", "column"])["value"]
    for method, name in (("subset", "SubKPCA"), ("cholesky", "ICD")):
        column = f"MNIST training error of {name}"
        printed = published[PAPER, column]
        curve = records[records["method"] == method].groupby("m")["value"].agg(["mean", "std", "size"])
        if curve.empty:
            continue
        m = (curve["mean"] - printed).abs().idxmin()
        found = curve.loc[m]
        listed = ", ".join(f"{value:.4g} at {size}" for size, value in curve["mean"].items())
        note = f"at m = {m}, which is nearest; the text does not say m; our curve: {listed}"
        if not comparable:
            note = f"only {n.iloc[0]} samples; {note}"
        cells.append(("text", "Section 6.5", column, found["mean"], found["std"], found["size"], note))
    columns = ["table", "row", "column", "ours", "ours_sd", "trials", "note"]
    return pd.DataFrame(cells, columns=columns).assign(comparable=comparable)
