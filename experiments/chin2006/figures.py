"""Chin & Suter 2006, figures: contours, manifold data sets, and the drift and cost of many updates."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from experiments.common.stated import sigma, stated
from kpca_lab import FullKPCA, IncrementalKPCA, SubsetKPCA
from kpca_lab.datasets import load_dataset
from kpca_lab.datasets.seeds import derive_seed
from kpca_lab.selectors import get_selector
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.judge.records import only_value
from kpca_lab.suite.measure.samples import kernel_parameters, kernel_text, load_samples
from kpca_lab.suite.measure.timing import Stopwatch
from kpca_lab.suite.render import plots, style
from kpca_lab.suite.render.plots.pictures import ORDER_MAP, mosaic

NAMES = {"swiss_roll_hole": "Swiss roll", "teapots": "Teapots", "frey": "Frey faces"}
# Windows of updates whose median time is kept, and updates at which angles are measured.
WINDOWS, CHECKPOINTS = 100, 12


@experiment.jobs("chin2006/figure2", "chin2006/figure3", "chin2006/figure4")
def jobs(config):
    """One job for each data set, with the settings of its own."""
    own = set(config.datasets)
    jobs = []
    for name in config.datasets:
        settings = {key: value for key, value in config.parameters.items() if key not in own}
        settings["n_components"] = (config.n_components or [None])[0]
        if config.experiment == "chin2006/figure4":
            chosen = dict(config.parameters[name])
            settings["n_components"] = chosen.pop("n_components")
            settings["incremental"] = chosen | {"batch_size": settings.pop("batch_size")}
        dataset, split = dataset_of(config, name, 0)
        jobs.append(Job(config.experiment, dataset, split, 0, config.kernels[name][0], settings))
    return jobs


def _fit_both(job, X, kernel):
    """Batch and incremental KPCA, the rows of their correlations, and both kinds of components."""
    shown, r = job.settings["shown"], job.settings["n_components"]
    batch = FullKPCA(n_components=shown, **kernel).fit(X)
    incremental = IncrementalKPCA(n_components=r, **kernel, **job.settings["incremental"]).fit(X)
    first, second = batch.transform(X), incremental.transform(X)[:, :shown]
    first = first[:, : second.shape[1]]
    common = {"m": incremental.n_points_, "r": r, "kernel": kernel_text(kernel), "method": "incremental"}
    rows = [
        row(job, "component_correlation", value, parameters={"component": k + 1, "n": len(X)}, **common)
        for k, value in enumerate(plots.aligned_correlations(first, second)[1])
    ]
    return batch, incremental, first, second, rows


@experiment.run("chin2006/figure2")
def figure2_run(job):
    """The first components of both methods over the plane."""
    samples = load_samples(job)
    X, shown = samples.train, job.settings["shown"]
    batch, incremental, first, second, rows = _fit_both(job, X, kernel_parameters(job.kernel, samples))
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    x, y = (np.linspace(low[k], high[k], job.settings["grid"]) for k in range(2))
    plane = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    signs = np.where(np.sum(first * second, axis=0) < 0, -1.0, 1.0)
    grids = {"full": batch.transform(plane), "incremental": incremental.transform(plane)[:, :shown] * signs}
    arrays = {name: values.T.reshape(shown, len(y), len(x)) for name, values in grids.items()}
    arrays |= {"x": x, "y": y, "points": X}
    return Outcome(rows, {key: value.astype(np.float32) for key, value in arrays.items()})


@experiment.figure("chin2006/figure2")
def figure2(records, arrays):
    """Batch above, incremental below."""
    (found,) = arrays.values()
    correlations = records.sort_values("component").value.tolist()
    panels = []
    for method in ("full", "incremental"):
        own = plots.component_panels(
            found["x"], found["y"], found[method], method=method, points=found["points"]
        )
        if method == "incremental":
            for panel, correlation in zip(own, correlations):
                panel.title += ", corr. " + ("> 0.9999" if correlation > 0.9999 else f"{correlation:.4f}")
        panels += own
    return plots.contours(panels, columns=len(found["full"]))


@experiment.cells("chin2006/figure2")
def figure2_cells(records, settings):
    """The number of vectors and their distribution, and the kernel."""
    n = records.n.max()
    X = load_dataset("parabola", n=int(n)).X
    used = {
        "largest absolute value of x in the synthetic problems": np.abs(X[:, 0]).max(),
        "vectors of the synthetic problem of Figure 2": n,
        "dimension of the synthetic problem of Figure 2": X.shape[1],
        "standard deviation of the noise": np.std(X[:, 1] - X[:, 0] ** 2),
        "sigma of the kernel of Figure 2": sigma(records),
    }
    return stated("Section 6", used)


@experiment.run("chin2006/figure3")
def figure3_run(job):
    """Eigenspectrum, its sums, and a few samples to show."""
    samples = load_samples(job)
    X, kernel, name = samples.train, kernel_parameters(job.kernel, samples), job.dataset["name"]
    rows, arrays = [], {}
    readings = {"": X}
    if name in job.settings["also_unscaled"]:
        readings["as generated"] = samples.dataset.X
    for reading, values in readings.items():
        spectrum = FullKPCA(**kernel).fit(values).eigenvalues_
        arrays[f"spectrum {reading}".strip()] = spectrum
        share = np.cumsum(spectrum) / spectrum.sum()
        common = {"method": "full", "m": len(X), "kernel": kernel_text(kernel)}
        common["parameters"] = {"reading": reading} if reading else {}
        for r in (1, 10, 36, 100):
            if r <= len(share):
                rows.append(row(job, "explained_variance", share[r - 1], r=r, **common))
        needed = np.searchsorted(share, 0.95) + 1
        rows.append(row(job, "components_for_95_percent", needed, **common))
    shape = samples.dataset.image_shape
    if shape is None:
        arrays |= {"points": X.astype(np.float32), "order": samples.labels}
    else:
        some = np.linspace(0, len(X) - 1, job.settings["n_images"]).astype(int)
        images = np.asarray(samples.dataset.X[some]).reshape(len(some), *shape)
        arrays["images"] = (images[:, ::2, ::2] if images.ndim == 4 else images).astype(np.uint8)
    return Outcome(rows, arrays)


def _by_dataset(records, arrays):
    """The arrays of each data set, in the order of the paper."""
    jobs = dict(zip(records.dataset, records.job))
    return {name: arrays[jobs[name]] for name in NAMES if name in jobs}


@experiment.figure("chin2006/figure3")
@style.styled
def figure3(records, arrays):
    """Samples of the data sets, and their spectra."""
    found = _by_dataset(records, arrays)
    fig = style.new_figure(style.TEXT_WIDTH, 4.6)
    roll = fig.add_subplot(2, 2, 1, projection="3d")
    if "swiss_roll_hole" in found:
        own = found["swiss_roll_hole"]
        roll.scatter(*own["points"].T, c=own["order"], cmap=ORDER_MAP, s=4, linewidths=0)
        roll.view_init(12, -72)
        roll.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_3$")
        for axis in (roll.xaxis, roll.yaxis, roll.zaxis):
            axis.set_major_locator(MaxNLocator(3))
            axis.labelpad = -8
        roll.tick_params(pad=-3, labelsize=6)
        roll.set_box_aspect(None, zoom=1.1)
    roll.set_title("(a) Perforated Swiss roll, unit variances")
    for place, name in ((2, "teapots"), (3, "frey")):
        ax = fig.add_subplot(2, 2, place)
        ax.set_axis_off()
        ax.set_title(f"({'abc'[place - 1]}) {NAMES[name]}")
        if name in found:
            ax.imshow(_picture(found[name]["images"]), cmap="gray", vmin=0, vmax=255)
    ax = fig.add_subplot(2, 2, 4)
    place = 0
    for name, own in found.items():
        for key, values in own.items():
            if key.startswith("spectrum"):
                look = style.plain_line(place) | {"marker": None}
                label = f"{NAMES[name]}{key.removeprefix('spectrum').replace(' ', ', ', 1)}"
                ax.plot(np.arange(1, len(values) + 1), values / values.sum(), label=label, **look)
                place += 1
    ax.set(xscale="log", yscale="log", xlabel="Component", ylabel="Share of the variance")
    ax.set_ylim(bottom=1e-6)
    ax.set_title("(d) Eigenspectra")
    ax.legend(loc="lower left")
    return fig


def _picture(images, per_row=5):
    """Images side by side, in grey (with gaps between them) or in colour."""
    if images.ndim == 3:
        return mosaic(images, per_row)
    channels = [mosaic(images[..., k], per_row).filled(255) for k in range(images.shape[-1])]
    return np.stack(channels, axis=-1).astype(np.uint8)


@experiment.cells("chin2006/figure3")
def figure3_cells(records, settings):
    """The numbers of samples and the kernels."""
    columns = {
        "swiss_roll_hole": "vectors of the perforated Swiss roll",
        "teapots": "Teapot images",
        "frey": "Frey Face images",
    }
    kernels = {
        "swiss_roll_hole": (sigma, "sigma of the kernel of the Swiss roll"),
        "teapots": (_degree, "degree of the kernel of the Teapot images"),
        "frey": (_degree, "degree of the kernel of the Frey Face images"),
    }
    cells = []
    for name, n in records.groupby("dataset").m.max().items():
        note = "only 100 of the frames can be had" if name == "teapots" and n == 100 else ""
        parameter, column = kernels[name]
        cells += stated("Section 6", {columns[name]: n}, note=note)
        cells += stated("Section 6", {column: parameter(records[records.dataset == name])})
    return cells


def _degree(records):
    return only_value(records, "degree")


@experiment.run("chin2006/figure4")
def figure4_run(job):
    """The components of both methods on the samples."""
    samples = load_samples(job)
    X = samples.train
    *_, first, second, rows = _fit_both(job, X, kernel_parameters(job.kernel, samples))
    order = samples.labels if job.dataset["name"] == "swiss_roll_hole" else np.arange(len(X))
    arrays = {"full": first, "incremental": second, "order": order}
    return Outcome(rows, {key: np.asarray(value, dtype=np.float32) for key, value in arrays.items()})


@experiment.figure("chin2006/figure4")
def figure4(records, arrays):
    """A figure for each data set."""
    drawn = {}
    for name, own in _by_dataset(records, arrays).items():
        label = "Place on the roll" if name == "swiss_roll_hole" else "Frame"
        drawn[f"figure4_{name}"] = plots.projection_components(
            own["full"], own["incremental"], order=own["order"], xlabel=label
        )
    return drawn


@experiment.cells("chin2006/figure4")
def figure4_cells(records, settings):
    """The number of components."""
    return stated("Section 6", {"components shown of the manifold data sets": records.component.max()})


@experiment.jobs("chin2006/figure_drift")
def drift_jobs(config):
    """One job for each run."""
    jobs = []
    for run in config.parameters["runs"]:
        name = run["dataset"]
        settings = {key: value for key, value in config.parameters.items() if key != "runs"} | run
        settings["n_components"] = config.datasets[name]["n_components"]
        dataset, split = dataset_of(config, name, 0)
        # the same samples for all runs on a data set
        updates = max(other["updates"] for other in config.parameters["runs"] if other["dataset"] == name)
        options = dataset["options"] | {"n": updates * config.parameters["batch_size"]}
        jobs.append(
            Job(
                config.experiment, dataset | {"options": options}, split, 0, config.kernels[name][0], settings
            )
        )
    return jobs


@experiment.run("chin2006/figure_drift")
def drift_run(job):
    """Learn chunk by chunk; at times, measure the angles to the batch components."""
    samples, settings = load_samples(job), job.settings
    X, kernel, r = samples.train, kernel_parameters(job.kernel, samples), settings["n_components"]
    size, updates = settings["batch_size"], settings["updates"]
    options = {key: settings[key] for key in ("batch_size", "n_preimages", "compression")}
    model = IncrementalKPCA(n_components=r, **kernel, **options)
    common = {"method": settings["method"], "r": r, "kernel": kernel_text(kernel)}
    checkpoints = set(np.unique(np.geomspace(2, updates, CHECKPOINTS).round().astype(int)).tolist())
    windows = set(np.unique(np.linspace(1, updates, WINDOWS).round().astype(int)).tolist())
    seed = derive_seed(job.dataset["name"], "reference of the drift")
    batch = Batch(X, r, kernel, settings["reference_basis"], seed)
    rows, seconds = [row(job, "reference_angle", batch.error, m=len(batch.basis), **common)], []
    if options["compression"]:
        rows.append(row(job, "n_points_limit", (r + 1) * options["n_preimages"], **common))
    for update in range(1, updates + 1):
        with Stopwatch() as watch:
            model.partial_fit(X[(update - 1) * size : update * size])
        seconds.append(watch.seconds)
        labels = common | {"m": model.n_points_, "parameters": {"update": update}}
        if update in windows:
            rows.append(row(job, "update_seconds", np.median(seconds), **labels))
            rows.append(row(job, "n_points", model.n_points_, **labels))
            seconds = []
        if update in checkpoints:
            angles = principal_angles(model, batch.fit(X[: update * size]))
            for k, angle in enumerate(angles):
                own = common | {"parameters": {"update": update, "angle": k + 1}}
                rows.append(row(job, "principal_angle", angle, m=model.n_points_, **own))
    return Outcome(rows)


class Batch:
    """Batch KPCA of many samples: exact while they are few, then over samples that span almost all of them.

    The basis is chosen by K-means among the first samples; ``error`` is the largest angle in degrees
    between the two ways on these.
    """

    def __init__(self, X, r, kernel, n_basis, seed):
        self.kernel, self.r, self.exact_up_to = kernel, r, 4 * n_basis
        first = X[: self.exact_up_to]
        own = {"kernel": None, "n_components": r, "rng": np.random.default_rng(seed)}
        self.basis = first[get_selector("kmeans").select(first, min(n_basis, len(first)), **own)]
        exact = FullKPCA(n_components=r, **kernel).fit(first)
        self.error = principal_angles(exact, self._over_basis(first)).max()

    def fit(self, X):
        """The components of the samples."""
        if len(X) <= self.exact_up_to:
            return FullKPCA(n_components=self.r, **self.kernel).fit(X)
        return self._over_basis(X)

    def _over_basis(self, X):
        return SubsetKPCA(n_components=self.r, basis=self.basis, **self.kernel).fit(X)


def principal_angles(model, reference):
    """Angles in degrees between the spans of orthonormal components, the smallest first."""
    first, second = model.operator_, reference.operator_
    cosines = np.linalg.svd(first.left.inner(first.kernel, second.left), compute_uv=False)
    return np.degrees(np.arccos(np.minimum(cosines, 1.0)))


@experiment.figure("chin2006/figure_drift")
def drift_figure(records, arrays):
    """Angles over the updates; time of an update and number of points."""
    angles = records[records.metric == "principal_angle"]
    largest = angles.groupby(["dataset", "method", "update"]).value.agg(largest="max", median="median")
    panels = {"Largest angle": {}, "Median angle": {}}
    costs = {"Time of an update [s]": {}, "Points kept": {}}
    for (name, method), own in largest.groupby(level=[0, 1]):
        text = _run_text(name, method)
        update = own.index.get_level_values("update").to_numpy()
        for title, column in zip(panels, ("largest", "median")):
            value = own[column].to_numpy()
            panels[title][text] = (update, np.where(value > 0, value, np.nan))
    for metric, title in (("update_seconds", "Time of an update [s]"), ("n_points", "Points kept")):
        for (name, method), own in records[records.metric == metric].groupby(["dataset", "method"]):
            own = own.sort_values("update")
            costs[title][_run_text(name, method)] = (own["update"].to_numpy(), own.value.to_numpy())
    return {
        "figure_drift": plots.drift(panels, ylabel="Principal angle to batch [°]", log="xy", columns=2),
        "figure_update_cost": plots.lines(
            costs, xlabel="Number of updates", ylabel="", log="xy", markers=True, joined=False, columns=2
        ),
    }


def _run_text(dataset, method):
    kinds = {
        "incremental": "reduced set",
        "incremental_select": "reduced set (selected)",
        "incremental_exact": "all samples kept",
    }
    return f"{NAMES.get(dataset, dataset.capitalize())}, {kinds[method]}"
