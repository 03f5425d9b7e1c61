"""Chin & Suter 2006, tables: training times, and Kernel Eigenfaces on the Yale Face Database B."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from experiments.common.stated import sigma, stated
from kpca_lab import FullKPCA, HebbianKPCA, IncrementalKPCA
from kpca_lab.datasets.seeds import derive_rng
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import only_value
from kpca_lab.suite.measure.samples import kernel_text, load_samples
from kpca_lab.suite.measure.timing import Stopwatch
from kpca_lab.suite.render import plots, style
from kpca_lab.suite.render.labels import method_label

TABLE2 = ("chin2006/table2", "chin2006/table2_unit_norm", "chin2006/table2_extended")
PRINTED_SIZES = (520, 1000, 1510, 2020, 2530, 3100)
LABELS = {"full": "KPCA", "incremental": "IKPCA", "hebbian": "KHA"}


@experiment.jobs("chin2006/table1")
def table1_jobs(config):
    """One job for each number of vectors."""
    settings = {key: value for key, value in config.parameters.items() if key != "sizes"}
    settings |= {"n_components": config.n_components[0], "repeats": config.repeats}
    (name,) = config.datasets
    dataset, split = dataset_of(config, name, 0)
    return [
        Job(config.experiment, dataset | {"options": dataset["options"] | {"n": n}}, split, 0, None, settings)
        for n in config.parameters["sizes"]
    ]


@experiment.run("chin2006/table1")
def table1_run(job):
    """Time the three methods; the batch one finds the whole spectrum, as in the paper."""
    X, settings = load_samples(job).train, job.settings
    r, rbf, poly = (settings[key] for key in ("n_components", "rbf", "poly"))
    models = {
        "full": (FullKPCA(n_components=r, eigen_solver="dense", **rbf), rbf),
        "incremental": (IncrementalKPCA(n_components=r, **rbf, **settings["incremental"]), rbf),
        "hebbian": (HebbianKPCA(n_components=r, random_state=0, **poly, **settings["hebbian"]), poly),
    }
    rows = []
    for method, (model, kernel) in models.items():
        for repeat in range(settings["repeats"]):
            with Stopwatch() as watch:
                model.fit(X)
            labels = {"r": r, "kernel": kernel_text(kernel), "parameters": {"n": len(X), "repeat": repeat}}
            for metric, value in (("runtime", watch.seconds), ("cpu_time", watch.cpu_seconds)):
                rows.append(row(job, metric, value, method=method, seconds=watch.seconds, **labels))
    return Outcome(rows)


@experiment.cells("chin2006/table1")
def table1_cells(records, settings):
    """Median times for the printed numbers of vectors, and the degree of KHA's kernel."""
    rows = records[(records.metric == "runtime") & records.n.isin(PRINTED_SIZES)]
    cells = []
    for (n, method), values in rows.groupby(["n", "method"]).value:
        about = {"ours_sd": values.std(), "trials": len(values)}
        cells.append(Cell("table1", f"{n:.0f} vectors", LABELS[method], values.median(), **about))
    cells += _growth_cells(records[records.metric == "runtime"])
    degree = only_value(records[records.method == "hebbian"], "degree")
    return cells + stated("Section 6", {"degree of the kernel of KHA": degree})


def _growth_cells(times):
    """The exponents of growth, with the standard error of each slope as that of a mean over the sizes."""
    cells = []
    for method, own in times.groupby("method"):
        medians = own.groupby("n").value.median()
        if len(medians) < 4:
            continue
        (slope, _), covariance = np.polyfit(np.log(medians.index), np.log(medians), 1, cov=True)
        about = {"ours_sd": np.sqrt(covariance[0, 0] * len(medians)), "trials": len(medians)}
        place = ("Section 6, Table 1", f"growth exponent of {LABELS[method]}")
        cells.append(Cell("text", *place, slope, note="fitted to the medians of our times", **about))
    return cells


@experiment.figure("chin2006/table1")
def table1_figure(records, arrays):
    """Times over the number of vectors with the exponents of their growth."""
    named = records.assign(method=records.method.replace("hebbian", "kha"))  # not the KHA-SMD of others
    # the median of the repeats, from which the claims take the exponents too
    named = named[named.metric == "runtime"].groupby(["method", "n"], as_index=False, sort=False)
    named = named.agg({**dict.fromkeys(("metric", "status"), "first"), "value": "median"})
    figure = plots.growth(named, "runtime", xlabel="Number of vectors $n$")
    (ax,) = figure.axes
    printed = load_published("chin2006").set_index("table").loc["table1"]
    for method, column in LABELS.items():
        own = printed[(printed.column == column) & printed.row.str.endswith("vectors")]
        sizes = own.row.str.split().str[0].astype(int)
        name = "kha" if method == "hebbian" else method
        exponent = plots.fitted_exponent(sizes, own.value)
        label = rf"{method_label(name)}, printed: $\propto n^{{{exponent:.2f}}}$"
        ax.plot(sizes, own.value, "x", color=style.method_style(name).color, markersize=5, label=label)
    ax.get_legend().remove()
    figure.set_size_inches(style.TEXT_WIDTH, 3.4)
    figure.legend(loc="outside right upper", frameon=False)
    return {"table1_growth": figure}


@experiment.jobs(*TABLE2)
def table2_jobs(config):
    """One job for each kernel and split."""
    settings = {key: value for key, value in config.parameters.items() if key != "kernels"}
    settings["n_components"] = config.n_components[0]
    (name,) = config.datasets
    jobs = []
    for seed in config.seeds:
        dataset, split = dataset_of(config, name, seed)
        for kernel in config.parameters["kernels"]:
            jobs.append(Job(config.experiment, dataset, split, seed, kernel, settings))
    return jobs


@experiment.run(*TABLE2)
def table2_run(job):
    """Errors of the nearest neighbours rule on components of growing numbers of images.

    One pass over all images gives incremental KPCA of each smaller number on the way.
    """
    samples, settings = load_samples(job), job.settings
    order = derive_rng(job.dataset["name"], job.split, "order of the images").permutation(len(samples.train))
    faces = Faces(samples.train[order], samples.labels[order], samples.held_out, samples.held_out_labels)
    if settings["unit_norm"]:
        faces = faces.of_unit_length()
    n_all, r = len(order), settings["n_components"]
    shares = [round(size * n_all) if size < 1 else size for size in settings["sizes"]]
    sizes = sorted({n for n in shares if n < n_all} | {n_all})
    rows = []

    def record(model, method, n, seconds):
        errors = faces.errors(model, n, settings["n_neighbors"])
        labels = {"r": r, "kernel": kernel_text(job.kernel), "parameters": {"n": n}, "seconds": seconds}
        labels["m"] = len(model.operator_.points)
        for metric, value in (errors | {"runtime": seconds}).items():
            rows.append(row(job, metric, value, method=method, **labels))

    incremental = IncrementalKPCA(n_components=r, **job.kernel, **settings["incremental"])
    in_all, begin = Stopwatch(), 0
    for n in sizes:
        with Stopwatch() as watch:
            batch = FullKPCA(n_components=r, **job.kernel).fit(faces.train[:n])
        record(batch, "full", n, watch.seconds)
        with in_all:
            while begin < n:
                end = min(begin + settings["incremental"]["batch_size"], n)
                incremental.partial_fit(faces.train[begin:end])
                begin = end
        record(incremental, "incremental", n, in_all.seconds)
    return Outcome(rows)


class Faces:
    """Training and test images with their subjects."""

    def __init__(self, train, subjects, test, test_subjects):
        self.train, self.subjects = train, subjects
        self.test, self.test_subjects = test, test_subjects

    def of_unit_length(self):
        """The images divided by their lengths."""
        scaled = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (self.train, self.test))
        train, test = scaled
        return Faces(train, self.subjects, test, self.test_subjects)

    def errors(self, model, n, n_neighbors):
        """Share and number of wrong test images: neighbours among the first n images, and among all."""
        components, test = model.transform(self.train), model.transform(self.test)
        wrong = {}
        for metric, count in (("classification_error", n), ("classification_error_all_images", None)):
            rule = KNeighborsClassifier(n_neighbors).fit(components[:count], self.subjects[:count])
            wrong[metric] = int(np.sum(rule.predict(test) != self.test_subjects))
        shares = {metric: number / len(test) for metric, number in wrong.items()}
        return shares | {"errors": wrong["classification_error"], "test_images": len(test)}


@experiment.cells("chin2006/table2")
def table2_cells(records, settings):
    """Our figures beside the printed ones, which are of other images: shown, not judged; and the settings."""
    n_all = records.n.max()
    smaller = records.n[records.n < n_all]
    subset = 1000 if (smaller == 1000).any() else smaller.max()
    columns = {"classification_error": "Error rate (%)", "errors": "errors", "test_images": "test images"}
    cells = []
    for printed, n, methods in ((1000, subset, ("full", "incremental")), (5000, n_all, ("incremental",))):
        own = records[(records.n == n) & records.method.isin(methods) & records.metric.isin(columns)]
        for (name, method, metric), values in own.groupby(["kernel_name", "method", "metric"])["value"]:
            kernel = "rbf sigma = 1" if name == "rbf" else "poly d = 2"
            label = f"{LABELS[method]}, {printed}, {kernel}"
            values = values * (100 if metric == "classification_error" else 1)
            note = f"{n:.0f} of {n_all:.0f} training images of the multi-pose part"
            about = {"ours_sd": values.std(), "trials": len(values), "note": note, "comparable": False}
            cells.append(Cell("table2", label, columns[metric], values.mean(), **about))
    return cells + _table2_settings(records, subset, settings)


def _table2_settings(records, subset, settings):
    r, own = records.r.max(), settings["parameters"]["incremental"]
    n, c = own["n_preimages"], own["batch_size"]
    cells = stated(
        "Section 6",
        {
            "height and width of the Yale B images": settings["datasets"]["yaleb"]["options"]["size"][0],
            "r of Kernel Eigenfaces": r,
            "n of Kernel Eigenfaces": n,
            "c of Kernel Eigenfaces": c,
            "rows of L": r,
            "columns of L, beta and Omega": c + 1,
            "rows and columns of M_H and K": c + 1,
            "images in the subset of Set 1": subset,
            "degree of the polynomial kernel of Kernel Eigenfaces": only_value(records, "degree"),
            "sigma of the Gaussian kernel of Kernel Eigenfaces": sigma(records[records.kernel_name == "rbf"]),
            "Kernel Eigenfaces that the images are projected on": r,
            "nearest neighbours": settings["parameters"]["n_neighbors"],
        },
    )
    note = "n (r + 1) + c: n is read as for each component"
    return cells + stated("Section 6", {"rows of beta and Omega": n * (r + 1) + c}, note=note)


@experiment.figure(*TABLE2)
def table2_figure(records, arrays):
    """Error over the number of training images."""
    rows = records[records.metric == "classification_error"]
    titles = rows.kernel_name.map({"rbf": "RBF, $\\sigma$ = 1", "poly": "Polynomial, $d$ = 2"})
    rows = rows.assign(value=100 * rows.value, metric="error_rate", dataset=titles)
    name = f"{rows.experiment.iloc[0].split('/')[1]}_errors"
    fig = plots.curves(
        rows,
        "error_rate",
        x="n",
        by=("method",),
        xlabel="Training images",
        ylabel="Error rate [%]",
        columns=2,
    )
    splits = rows.split.nunique()
    parts = "one random partition" if splits == 1 else f"{splits} random partitions"
    images = "38 subjects, frontal (Extended Yale B)" if "extended" in name else "multi-pose part of Yale B"
    note = f"{images}, {parts}; the complete set of the paper cannot be had"
    return {name: style.with_note(fig, note)}
