"""Washizawa 2012, Section 6.5: MNIST digits denoised by pre-images, Tables 7 and 8 and Figure 7.

The basis is the centroids of K-means. For each noise, the kernel width and the number of components are those
of the printed grids with the least error, found on some of the test images by a search from coarse to
fine; the errors are then those of all test images.
"""

import json
from functools import cache, lru_cache

import numpy as np
import pandas as pd
import scipy.linalg
from scipy import ndimage

from experiments.common.shared import shared
from experiments.common.stated import stated
from kpca_lab import ReducedKPCA, SubsetKPCA
from kpca_lab.datasets import derive_rng, load_dataset
from kpca_lab.preimage import preimage
from kpca_lab.selectors import KMeansSelector
from kpca_lab.suite.errors import MissingPackageError
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.judge.records import only_value
from kpca_lab.suite.measure.samples import kernel_text
from kpca_lab.suite.render.plots import image_grid

TABLES = ("washizawa2012/table7", "washizawa2012/table8")
FIGURE = "washizawa2012/figure7"
WHITE = 255.0
UNIT = 1e5  # of the printed squared errors
LABELS = {"subset": "SubKp ({m})", "reduced": "RKp ({m})", "wiener": "WF", "median": "Median", "bm3d": "BM3D"}
PRINTED = {f"{name} ({m})" for name in ("SubKp", "RKp") for m in (100, 500, 1000)} | {"WF", "Median", "BM3D"}
# The printed figures fit images that go on periodically (or stand in a mosaic); the others are recorded too.
OTHER_BORDERS = ("constant", "reflect", "nearest", "mirror")
# How many readings were tried: centroids or the samples nearest to them; ways to go on beyond the border.
READINGS = {"subset": 2, "reduced": 2, "median": 7}
BM3D_IMAGES = 200  # a third of a second each
# A step below this share of the spread of the centroids changes an error by less than the printed digits.
PREIMAGE = {"tol": 1e-4, "max_iter": 50, "n_restarts": 1}


@experiment.jobs(*TABLES)
def table_jobs(config):
    """A job for each method and number of basis points, and one for each filter."""
    settings = _settings(config)
    # Neighbours differ in m: then two processes do not wait for the same centroids.
    sizes = sorted(config.n_basis, reverse=True)
    cases = [{"method": method, "m": m} for method in config.methods for m in sizes]
    cases += [{"filters": [name]} for name in config.parameters["filters"]]
    return [
        Job(config.experiment, _dataset(config), 0, config.seeds[0], None, {**settings, **case})
        for case in cases
    ]


@experiment.jobs(FIGURE)
def figure_jobs(config):
    """One job for all the pictures."""
    (m,) = config.n_basis
    settings = {**_settings(config), "m": m, "methods": list(config.methods)}
    return [Job(config.experiment, _dataset(config), 0, config.seeds[0], None, settings)]


def _dataset(config):
    (name,) = config.datasets
    return dataset_of(config, name, 0)[0]


def _settings(config):
    keys = ("noise", "levels", "log10_gammas", "rank_step", "n_search", "n_images", "kmeans_passes")
    return {key: config.parameters[key] for key in keys if key in config.parameters}


@experiment.run(*TABLES)
def denoise_all(job: Job) -> Outcome:
    """Errors of one method or filter at all levels of noise."""
    settings, rows = job.settings, []
    if "filters" in settings:
        for name in settings["filters"]:
            for level in settings["levels"]:
                for method, errors in _filtered(job, name, level).items():
                    rows += _rows(job, errors, level, method=method)
        return Outcome(rows)
    method, m = settings["method"], settings["m"]
    found = _search(job, method, m)
    clean = _test_images(job.dataset)
    for level, log10_gamma, r in zip(settings["levels"], found["log10_gammas"], found["ranks"]):
        operator = _operator(job.dataset, method, m, job.seed, settings["kmeans_passes"], float(log10_gamma))
        noisy = add_noise(clean, settings["noise"], level, job.seed)
        errors = squared_errors(_denoised(operator, int(r), noisy), clean)
        kernel = kernel_text({"kernel": "rbf", "gamma": 10 ** float(log10_gamma)})
        rows += _rows(
            job, errors, level, method=method, selector="kmeans_centroids", m=m, r=int(r), kernel=kernel
        )
    return Outcome(rows)


@experiment.run(FIGURE)
def denoise_first(job: Job) -> Outcome:
    """The first test images, noisy and denoised with the parameters found for Table 7."""
    settings, (level,) = job.settings, job.settings["levels"]
    clean = _test_images(job.dataset)[: settings["n_images"]]
    noisy = add_noise(_test_images(job.dataset), settings["noise"], level, job.seed)[: settings["n_images"]]
    arrays, rows = {"original": _as_bytes(clean), "noisy": _as_bytes(noisy)}, []
    rows += _rows(job, squared_errors(noisy, clean), level, method="none")
    for method in settings["methods"]:
        found = _search(job, method, settings["m"])
        log10_gamma, r = float(found["log10_gammas"][0]), int(found["ranks"][0])
        passes = settings["kmeans_passes"]
        operator = _operator(job.dataset, method, settings["m"], job.seed, passes, log10_gamma)
        images = _denoised(operator, r, noisy)
        arrays[method] = _as_bytes(images)
        kernel = kernel_text({"kernel": "rbf", "gamma": 10**log10_gamma})
        columns = {
            "method": method,
            "selector": "kmeans_centroids",
            "m": settings["m"],
            "r": r,
            "kernel": kernel,
        }
        rows += _rows(job, squared_errors(images, clean), level, **columns)
    return Outcome(rows, arrays)


def _rows(job, errors, level, **columns):
    settings = {"level": level, "noise": job.settings["noise"], "images": len(errors)}
    sd = errors.std(ddof=1) if len(errors) > 1 else np.nan
    return [
        row(job, metric, value, parameters=settings, **columns)
        for metric, value in (("denoising_mse", errors.mean()), ("denoising_sd", sd))
    ]


def add_noise(images, noise, level, seed):
    """Images in [0, 1] with noise: Gaussian of deviation ``level / 255``, or flips of that probability."""
    rng = derive_rng("mnist", seed, "noise", noise, level)
    if noise == "gaussian":
        return images + rng.standard_normal(images.shape) * (level / WHITE)
    if noise != "salt_and_pepper":
        raise ValueError(f"noise is gaussian or salt_and_pepper, not {noise!r}")
    draw, noisy = rng.random(images.shape), images.copy()
    noisy[draw < level / 2] = 1.0
    noisy[draw >= 1 - level / 2] = 0.0
    return noisy


def squared_errors(images, clean):
    """Squared error of each image on the scale 0 to 255, in units of 1e5, values beyond the scale cut off."""
    difference = np.clip(images, 0.0, 1.0) - clean
    return np.einsum("ij,ij->i", difference, difference) * (WHITE**2 / UNIT)


def _as_bytes(images):
    return np.rint(WHITE * np.clip(images, 0, 1)).astype(np.uint8).reshape(-1, 28, 28)


def _test_images(dataset):
    options = {**dataset["options"], "n_train": 1}
    return load_dataset(dataset["name"], scaling="unit", **options).X_test


def _train_images(dataset):
    return load_dataset(dataset["name"], scaling="unit", **{**dataset["options"], "n_test": 1}).X


def _filtered(job, name, level):
    """Errors by name of the filter; the median filter has one for each way to go beyond the border."""
    noise, clean = job.settings["noise"], _test_images(job.dataset)
    noisy = add_noise(clean, noise, level, job.seed)
    if name == "wiener":
        correlation = shared(image_correlation, _train_only(job.dataset))["correlation"]
        variance = (level / WHITE) ** 2 if noise == "gaussian" else np.mean((noisy - clean) ** 2)
        return {"wiener": squared_errors(wiener(noisy, correlation, variance), clean)}
    pictures = noisy.reshape(-1, 28, 28)
    if name == "median":
        modes = {"median": "wrap"} | {f"median_{mode}": mode for mode in OTHER_BORDERS}
        found = {
            key: ndimage.median_filter(pictures, size=(1, 3, 3), mode=mode) for key, mode in modes.items()
        }
        return {key: squared_errors(images.reshape(clean.shape), clean) for key, images in found.items()}
    if name == "bm3d":
        try:
            import bm3d
        except ModuleNotFoundError:
            raise MissingPackageError("bm3d") from None
        clean = clean[:BM3D_IMAGES]
        images = np.stack([bm3d.bm3d(image, level / WHITE) for image in pictures[:BM3D_IMAGES]])
        return {"bm3d": squared_errors(images.reshape(clean.shape), clean)}
    raise ValueError(f"there is no filter {name!r}: choose from wiener, median, bm3d")


def _train_only(dataset):
    options = {key: value for key, value in dataset["options"].items() if key != "n_test"}
    return {**dataset, "options": options}


def image_correlation(dataset):
    """Mean product of every two pixels over the training images, not centred."""
    X = _train_images(dataset)
    return {"correlation": X.T @ X / len(X)}


def wiener(noisy, correlation, variance):
    """The linear filter with the least mean squared error, ``R (R + variance I)^-1``."""
    regular = correlation + variance * np.eye(len(correlation))
    return noisy @ scipy.linalg.solve(regular, correlation, assume_a="pos")


def centroids(dataset, m, seed, passes):
    """Centroids of K-means of all training images in every pass, started from images chosen at random.

    A careful start (k-means++) of 1000 centroids takes longer than all the passes.
    """
    selector = KMeansSelector(centroids=True, init="random", max_iter=passes, largest_pass=np.inf)
    rng = derive_rng("mnist", seed, "centroids", m)
    return {"centroids": selector.select(_train_images(dataset), m, rng=rng)}


@lru_cache(maxsize=1)
def _kept_images(dataset):
    return _train_images(json.loads(dataset))


@lru_cache(maxsize=20)  # as many as the coarse widths and those around the best, for the next level of noise
def _fitted(dataset, method, m, seed, passes, log10_gamma):
    basis = shared(centroids, json.loads(dataset), m=m, seed=seed, passes=passes)["centroids"]
    options = {"gamma": 10.0**log10_gamma, "basis": basis, "center": True}
    if method == "reduced":
        return ReducedKPCA(**options).fit(basis).operator_
    return SubsetKPCA(outside_basis="include", **options).fit(_kept_images(dataset)).operator_


def _operator(dataset, method, m, seed, passes, log10_gamma):
    """The operator with all its components."""
    return _fitted(json.dumps(_train_only(dataset)), method, m, seed, passes, log10_gamma)


def _denoised(operator, r, noisy, components=None):
    """Pre-images of the projections on the first ``r`` components, each search started at the noisy image."""
    components = operator.transform(noisy) if components is None else components
    r = min(r, operator.rank)
    found = np.empty_like(noisy)
    for start in range(0, len(noisy), 1000):
        rows = slice(start, start + 1000)
        vectors = operator.truncate(r).synthesize(components[rows, :r])
        found[rows] = preimage(operator.kernel, vectors, start=noisy[rows], **PREIMAGE)
    return found


def _search(job, method, m):
    settings = job.settings
    keys = ("noise", "log10_gammas", "rank_step", "n_search")
    options = {key: settings[key] for key in keys}
    passes, n_basis = settings["kmeans_passes"], m
    found = [
        shared(
            best_parameters,
            job.dataset,
            method=method,
            m=n_basis,
            seed=job.seed,
            passes=passes,
            level=level,
            **options,
        )
        for level in settings["levels"]
    ]
    return {key: np.array([entry[key] for entry in found]) for key in ("log10_gammas", "ranks")}


def best_parameters(dataset, method, m, seed, passes, level, noise, log10_gammas, rank_step, n_search):
    """Kernel width and number of components with the least error, on the first ``n_search`` test images.

    Both grids are searched from coarse to fine: every so many widths and about ten numbers of components on a
    quarter of those images, then around the best on all of them, with less and less distance, until
    neighbours of the grids are compared.
    """
    clean = _test_images(dataset)
    noisy = add_noise(clean, noise, level, seed)[:n_search]
    ranks = np.arange(rank_step, m + 1, rank_step)

    @cache
    def projected(g):
        operator = _operator(dataset, method, m, seed, passes, log10_gammas[g])
        return operator, operator.transform(noisy)

    @cache
    def error(place, n_images):
        operator, components = projected(place[0])
        r = int(ranks[place[1]])
        images = _denoised(operator, r, noisy[:n_images], components[:n_images])
        return squared_errors(images, clean[:n_images]).mean()

    width_step = max(1, len(log10_gammas) // 8)
    rank_places = np.unique(np.rint(np.geomspace(1, len(ranks), 10)).astype(int)) - 1
    grid = [(g, int(r)) for g in range(0, len(log10_gammas), width_step) for r in rank_places]
    best = min(grid, key=lambda place: error(place, max(1, n_search // 4)))
    rank_distance = max(1, best[1] // 3)
    while True:
        around = [
            (best[0] + i * width_step, best[1] + j * rank_distance) for i in (-1, 0, 1) for j in (-1, 0, 1)
        ]
        around = [(g, r) for g, r in around if 0 <= g < len(log10_gammas) and 0 <= r < len(ranks)]
        new = min(around, key=lambda place: error(place, n_search))
        if new != best:
            best = new
        elif width_step == rank_distance == 1:
            break
        else:
            width_step, rank_distance = max(1, width_step // 2), max(1, rank_distance // 2)
    return {
        "log10_gammas": np.array(log10_gammas[best[0]]),
        "ranks": np.array(ranks[best[1]]),
        "error": np.array(error(best, n_search)),
    }


@experiment.cells(*TABLES)
def cells(records: pd.DataFrame, settings: dict) -> list[Cell]:
    """Mean and standard deviation over the test images, for each printed method and level of noise."""
    table = records.experiment.iloc[0].partition("/")[2]
    found = []
    for (method, m, level), group in records.groupby(["method", "m", "level"], dropna=False):
        label = LABELS.get(method, "").format(m=m)
        if label not in PRINTED:
            continue
        values, r = group.set_index("metric").value, group.r.iloc[0]
        note = "" if pd.isna(r) else f"{group.kernel.iloc[0]}, r = {r}"
        if method == "bm3d":
            note = f"the bm3d package on the first {group.images.iloc[0]} images"
        found.append(
            Cell(
                table,
                label,
                f"sigma = {level:g}" if table == "table7" else f"p = {level:.2f}",
                values["denoising_mse"],
                ours_sd=values["denoising_sd"],
                trials=int(group.images.iloc[0]),
                note=note,
                readings=READINGS.get(method, 1),
            )
        )
    if table == "table8":
        return found
    found += _not_run({cell.row for cell in found}, sorted(records.level.unique()))
    powers, step = (settings["parameters"][name] for name in ("log10_gammas", "rank_step"))
    used = {
        "largest pixel value": WHITE,
        "least r, denoising": step,
        "second r, denoising": 2 * step,
        "third r, denoising": 3 * step,
        "least power of ten for c, denoising": powers[0],
        "second power of ten for c, denoising": powers[1],
        "largest power of ten for c, denoising": powers[-1],
    }
    return found + stated("Section 6.5", used)


def _not_run(rows, levels):
    reason = "only in the paper profile, with the package bm3d"
    columns = [] if "BM3D" in rows else [f"sigma = {level:g}" for level in levels]
    return [Cell("table7", "BM3D", column, np.nan, note=reason) for column in columns]


@experiment.cells(FIGURE)
def figure_cells(records: pd.DataFrame, settings: dict) -> list[Cell]:
    """The number of images and the noise."""
    names = {"images": "images of Figure 7", "level": "sigma of Figure 7"}
    return stated("Section 6.5", {text: only_value(records, name) for name, text in names.items()})


@experiment.figure(FIGURE)
def figure(records, arrays):
    """Four mosaics: original, noisy, SubKPCA, reduced KPCA."""
    (images,) = arrays.values()
    errors = records[records.metric == "denoising_mse"].set_index("method")
    level = only_value(records, "level")
    titles = {
        "original": "Original",
        "noisy": rf"Noisy, Gaussian, $\sigma = {level:g}$",
        "subset": "Denoised by SubKPCA",
        "reduced": "Denoised by KPCA of the basis",
    }
    groups = {}
    for name, title in titles.items():
        if name in images:
            if name in errors.index:
                found = errors.loc[name]
                power = np.log10(found.gamma)
                title += f"\n$m = {int(found.m)}$, $r = {int(found.r)}$, $c = 10^{{{power:.1f}}}$"
            groups[title] = images[name]
    return image_grid(groups, vmin=0, vmax=WHITE)
