"""Wang & Tanaka 2016: Figures 1 to 4 on sparse kernel PCA, and its error beside that of SubKPCA."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from experiments.common.stated import count_parts, one_job_for_each, sigma, stated
from kpca_lab import ElasticNetKPCA, FullKPCA, SubsetKPCA
from kpca_lab.datasets import load_dataset
from kpca_lab.datasets.seeds import derive_rng
from kpca_lab.datasets.synthetic import CLUSTER_CENTRES
from kpca_lab.kernels import Kernel
from kpca_lab.metrics import empirical_error
from kpca_lab.selectors import get_selector
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.measure.samples import kernel_parameters, kernel_text, load_samples
from kpca_lab.suite.render import plots, style

ITEMS = ("figure1", "figure2", "figure3", "figure4")
# Steps of a pass that are kept for the figures.
MOST_STEPS = 300

experiment.jobs("wang2016/text")(one_job_for_each)
experiment.run("wang2016/text")(count_parts)


@experiment.jobs(*(f"wang2016/{item}" for item in ITEMS))
def jobs(config):
    """One job: KPCA, and sparse KPCA with each setting of the weights."""
    (name,) = config.datasets
    dataset, split = dataset_of(config, name, 0)
    return [Job(config.experiment, dataset, split, 0, config.kernels[name][0], config.parameters)]


@experiment.run(*(f"wang2016/{item}" for item in ITEMS))
def run(job):
    """Components, coefficients and errors of both methods on the same samples."""
    samples = load_samples(job)
    X = samples.train
    kernel = kernel_parameters(job.kernel, samples)
    r = len(job.settings["l1"][0])
    full = FullKPCA(n_components=r, **kernel).fit(X)
    rows, arrays = [], {"coefficients_full": _coefficients(full)}
    common = {"m": len(X), "kernel": kernel_text(kernel)}
    rows += _error_rows(job, "full", full.operator_, samples, common)
    grid = job.settings.get("grid")
    if grid:
        arrays |= {"points": X, **_grid(X, grid)}
        arrays["components_full"] = _on_grid(full, arrays, X, full)
    for number, weights in enumerate(job.settings["l1"]):
        model = ElasticNetKPCA(l1=weights, **kernel, **job.settings["elastic_net"]).fit(X)
        sparse = common | {"m": len(model.support_), "parameters": {"lambda_1": round(sum(weights), 10)}}
        rows += _component_rows(job, model, full, X, weights, sparse)
        rows += _error_rows(job, "elastic_net", model.operator_, samples, sparse)
        arrays[f"weights_{number}"] = np.array(weights)
        arrays[f"coefficients_{number}"] = model.coefficients_.T
        arrays |= {f"{name}_{number}": values for name, values in _course(model.trace_).items()}
        if grid:
            arrays[f"components_{number}"] = _on_grid(model, arrays, X, full)
    kept = {key: value.astype(np.float32) for key, value in arrays.items()}
    return Outcome(rows, kept)


def _coefficients(full):
    """Coefficients of the centred samples in KPCA's unit-length components, a row for each."""
    return (full.eigenvectors_ / np.sqrt(full.eigenvalues_)).T


def _component_rows(job, model, full, X, weights, common):
    correlations = plots.aligned_correlations(full.transform(X), model.transform(X))[1]
    rows = []
    for k, weight in enumerate(weights):
        own = common | {"parameters": common["parameters"] | {"component": k + 1, "weight": weight}}
        used, steps = model.n_nonzero_[k], model.trace_[k].steps
        measured = {
            "sparsity": 1 - used / len(X),
            "n_nonzero": used,
            "component_correlation": correlations[k],
            "admm_passes": len(steps),
            "admm_steps": sum(steps),
        }
        rows += [
            row(job, metric, value, method="elastic_net", r=len(weights), **own)
            for metric, value in measured.items()
        ]
    return rows


def _error_rows(job, method, operator, samples, common):
    """The mean of J[V] on the samples, and on the test images where there are some."""
    parts = {"reconstruction_mse": samples.train, "validation_error": samples.held_out}
    return [
        row(job, metric, empirical_error(operator.truncate(r), part), method=method, r=r, **common)
        for metric, part in parts.items()
        if part is not None
        for r in range(1, operator.rank + 1)
    ]


def _grid(X, size):
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.15 * (high - low).max()
    return {axis: np.linspace(low[k] - margin, high[k] + margin, size) for k, axis in enumerate("xy")}


def _on_grid(model, arrays, X, reference):
    """Components over the plane, with the signs of the reference's."""
    x, y = np.meshgrid(arrays["x"], arrays["y"])
    values = model.transform(np.column_stack([x.ravel(), y.ravel()]))
    products = np.sum(reference.transform(X) * model.transform(X), axis=0)
    return (values * np.where(products < 0, -1.0, 1.0)).T.reshape(-1, *x.shape)


def _course(traces):
    """What ADMM does in the last pass of each component: objective, and residuals over their limits."""
    last = {"objective": [], "primal_residual": [], "dual_residual": []}
    for trace in traces:
        part = slice(sum(trace.steps[:-1]), None)
        last["objective"].append(trace.objective[part])
        for kind in ("primal", "dual"):
            residual = np.asarray(getattr(trace, f"{kind}_residual")[part])
            last[f"{kind}_residual"].append(residual / np.asarray(getattr(trace, f"{kind}_limit")[part]))
    return {name: _padded(values) for name, values in last.items()}


def _padded(series):
    table = np.full((len(series), min(max(map(len, series)), MOST_STEPS)), np.nan)
    for place, values in enumerate(series):
        table[place, : len(values)] = values[: table.shape[1]]
    return table


def _only(arrays):
    (found,) = arrays.values()
    return found


def _courses(found, number=0):
    """The course of ADMM in the last pass; it ends when both residuals are below 1, or at the most steps."""
    panels = {
        "Objective": "objective",
        "Primal residual / its limit": "primal_residual",
        "Dual residual / its limit": "dual_residual",
    }
    series = {
        title: {
            # a residual of zero, at the start, has no place on a logarithmic axis
            f"Component {k + 1}": np.where(values > 0, values, np.nan)
            for k, values in enumerate(found[f"{name}_{number}"].astype(float))
        }
        for title, name in panels.items()
    }
    levels = dict.fromkeys(list(panels)[1:], 1)
    figure = plots.lines(series, xlabel="ADMM step", ylabel="", log="xy", markers=False, levels=levels)
    return style.with_note(figure, _unfinished(found, number))


def _unfinished(found, number=0) -> str:
    """How many components stop at the most steps, with a residual over its limit; "" if none does."""
    kinds = [found[f"{kind}_residual_{number}"].astype(float) for kind in ("primal", "dual")]
    ends = np.array([[row[np.isfinite(row)][-1] for row in table] for table in kinds])
    over = int((ends > 1).any(axis=0).sum())
    most = (
        f"{over} of {ends.shape[1]} components stop at the most steps of ADMM with a residual over its limit"
    )
    return f"{most} (the largest {ends.max():.0f} times)." if over else ""


@experiment.figure("wang2016/figure1")
def figure1(records, arrays):
    """Contours of the components, points with non-zero coefficients in green; the course of ADMM."""
    found = _only(arrays)
    contours = style.with_note(_contours(found, ["full", 0]), _unfinished(found))
    return {"figure1": contours, "figure1_admm": _courses(found)}


@experiment.figure("wang2016/figure2")
def figure2(records, arrays):
    """The same for the parabola with both settings of the weights."""
    found = _only(arrays)
    told = f"First weights: {_unfinished(found) or 'all components end below the limits.'}"
    contours = style.with_note(_contours(found, ["full", 0, 1]), told)
    return {"figure2": contours, "figure2_admm": _courses(found)}


def _contours(found, which):
    panels = []
    for key in which:
        sparse = key != "full"
        own = plots.component_panels(
            found["x"],
            found["y"],
            found[f"components_{key}"],
            method="elastic_net" if sparse else "full",
            points=found["points"],
            coefficients=found[f"coefficients_{key}"] if sparse else None,
        )
        for k, panel in enumerate(own if sparse else []):
            count = int(panel.highlight.sum())
            panel.title = f"SKPCA {k + 1}\n$\\lambda_1$ = {found[f'weights_{key}'][k]:.3g}, {count} points"
        panels += own
    return plots.contours(panels, columns=4, marked="samples with a non-zero coefficient")


@experiment.figure("wang2016/figure3")
def figure3(records, arrays):
    """Coefficients of both methods; the course of ADMM."""
    found = _only(arrays)
    stems = {"full": found["coefficients_full"], "elastic_net": found["coefficients_0"]}
    return {"figure3": plots.coefficient_stems(stems, share_y=True), "figure3_admm": _courses(found)}


@experiment.figure("wang2016/figure4")
def figure4(records, arrays):
    """Errors on the training samples, as in the paper, and on the test images."""
    titles = {"reconstruction_mse": "Training images", "validation_error": "Test images"}
    rows = records.assign(dataset=records.metric.map(titles), metric="mse").dropna(subset="dataset")
    label = "Mean squared error in feature space"
    note = "Three weights are printed; the later components have the third"
    return plots.curves(rows, "mse", x="r", by=("method",), ylabel=label, columns=2, note=note)


@experiment.jobs("wang2016/figure_tradeoff")
def tradeoff_jobs(config):
    """One job for each data set."""
    jobs = []
    for name, chosen in config.datasets.items():
        settings = {
            "weights": config.parameters["weights"],
            "elastic_net": config.parameters["elastic_net"][name],
            "n_components": chosen["n_components"],
            "selectors": list(config.selectors),
            "trials": config.seeds,
        }
        jobs.append(
            Job(config.experiment, *dataset_of(config, name, 0), 0, config.kernels[name][0], settings)
        )
    return jobs


@experiment.run("wang2016/figure_tradeoff")
def tradeoff_run(job):
    """Errors of sparse KPCA for each weight, and of SubKPCA with as many points and with the same points.

    Nothing is centred: centred components need all samples for the mean, however sparse they are.
    """
    samples = load_samples(job)
    X, r = samples.train, job.settings["n_components"]
    kernel = kernel_parameters(job.kernel, samples)
    gram = pairwise_kernels(X, metric=kernel["kernel"], gamma=kernel["gamma"])
    options = {"n_components": r, "kernel": "precomputed", "center": False}
    rows = []

    def record(model, method, **labels):
        error = empirical_error(model, np.arange(len(X)))
        text = kernel_text(kernel)
        rows.append(row(job, "reconstruction_mse", error, method=method, r=r, kernel=text, **labels))

    record(FullKPCA(**options).fit(gram), "full", m=len(X))
    sizes = set()
    for weight in job.settings["weights"]:
        settings = {"l1": [weight] * r, "orthonormalize": True} | job.settings["elastic_net"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # components without coefficients: left out
            model = ElasticNetKPCA(**options, **settings).fit(gram)
        if model.n_nonzero_.min() == 0:
            continue
        labels = {"m": len(model.support_), "parameters": {"lambda_1": weight}}
        record(model, "elastic_net", **labels)
        record(SubsetKPCA(basis=model.support_, **options).fit(gram), "subset", selector="support", **labels)
        sizes.add(len(model.support_))
    for selector in job.settings["selectors"]:
        for trial in job.settings["trials"] if selector != "forward" else [0]:
            for m, chosen in _bases(selector, sizes, X, kernel, r, (job.dataset["name"], trial)).items():
                model = SubsetKPCA(basis=chosen, **options).fit(gram)
                record(model, "subset", selector=selector, m=m, parameters={"trial": trial})
    return Outcome(rows)


def _bases(selector, sizes, X, kernel, r, seed):
    """Basis samples of each size; those that come one by one are found once."""
    nested = selector in ("random", "forward")
    chosen = {}
    for m in sorted(sizes, reverse=True):
        if nested and chosen:
            chosen[m] = next(iter(chosen.values()))[:m]
            continue
        shape = Kernel(kernel["kernel"], gamma=kernel["gamma"])
        own = {"kernel": shape, "n_components": r, "center": False, "rng": derive_rng(*seed, selector)}
        chosen[m] = get_selector(selector).select(X, m, **own)
    return chosen


@experiment.figure("wang2016/figure_tradeoff")
def tradeoff_figure(records, arrays):
    """How far the errors are above KPCA's, over the number of points."""
    rows = records[records.metric == "reconstruction_mse"]
    optimum = rows[rows.method == "full"].groupby("dataset").value.mean()
    excess = rows.assign(metric="excess", value=rows.value / rows.dataset.map(optimum) - 1)
    return plots.curves(
        excess[excess.method != "full"],
        "excess",
        log="xy",
        band=None,
        ylim={"excess": (1e-8, 3)},
        ylabel="Error above KPCA's, relative",
        xlabel="Number of points used",
        note="Values below $10^{-8}$ are not shown.",
    )


@experiment.cells("wang2016/text")
def text_cells(records, settings):
    """Training and test images of MNIST."""
    columns = {"n_samples": "MNIST training images", "n_test": "MNIST test images"}
    counts = records[records.metric.isin(columns) & (records.dataset == "mnist")]
    return [Cell("text", "Section IV-B", columns[entry.metric], entry.value) for entry in counts.itertuples()]


@experiment.cells("wang2016/figure1", "wang2016/figure2", "wang2016/figure3")
def cells(records, settings):
    """The samples and the settings."""
    item = records.experiment.iloc[0].split("/")[1]
    n = int(records[records.method == "full"].m.max())
    own = {"figure1": _clusters, "figure2": _parabola, "figure3": _images}[item](n, sigma(records))
    figure, settings = f"Figure {item[-1]}", settings["parameters"]
    own[f"components, {figure}"] = records[records.method == "full"].r.max()
    first, *again = settings["l1"]
    if len(set(first)) == 1:
        own[f"lambda_1 of all components, {figure}"] = first[0]
        first = []
    for weights, name in ((first, figure), *((other, f"{figure} again") for other in again)):
        own |= {f"lambda_1 of component {k}, {name}": weight for k, weight in enumerate(weights, 1)}
    names = {
        "l2": "lambda",
        "rho": "rho",
        "eps_abs": "epsilon_abs",
        "eps_rel": "epsilon_rel",
        "eps_outer": "epsilon",
        "max_admm_iter": "most ADMM steps",
        "max_iter": "most loops",
    }
    own |= {f"{name}, {figure}": settings["elastic_net"][key] for key, name in names.items()}
    return stated("Section IV-B" if item == "figure3" else "Section IV-A", own)


def _clusters(n, width):
    clusters = len(CLUSTER_CENTRES)
    data = load_dataset("three_clusters", n_per_cluster=n // clusters)
    centres = {
        f"cluster {k}, {axis}": value
        for k, centre in enumerate(CLUSTER_CENTRES, 1)
        for axis, value in zip("xy", centre)
    }
    return centres | {
        "clusters": clusters,
        "points in each of three clusters": n / clusters,
        "standard deviation of the clusters": np.sqrt(np.mean((data.X - CLUSTER_CENTRES[data.y]) ** 2)),
        "sigma^2, Figure 1": width**2,
        "samples of Figure 1": n,
    }


def _parabola(n, width):
    X = load_dataset("parabola", n=n).X
    return {
        "samples of the parabola": n,
        "dimension of the parabola's points": X.shape[1],
        "largest absolute value of x of the parabola": np.abs(X[:, 0]).max(),
        "standard deviation of the noise of the parabola": np.std(X[:, 1] - X[:, 0] ** 2),
        "sigma, Figure 2": width,
    }


def _images(n, width):
    return {"MNIST samples used": n, "sigma, Figure 3": width}
