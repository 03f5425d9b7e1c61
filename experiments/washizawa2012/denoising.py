"""Washizawa 2012, Section 6.5: MNIST digits denoised by pre-images, Tables 7 and 8 and Figure 7.

The basis is the centroids of K-means. For each noise, the kernel width and the number of components are those
of the printed grids with the least error, found on some of the test images by a search from coarse to
fine; the errors are then those of all test images. The same is done with the one width that the text names as
the best (metrics ``..._named_width``): over the whole grid there are two optima, and it is the other one.
"""

import json
from functools import cache, lru_cache

import numpy as np
import pandas as pd

from experiments.common.shared import shared
from experiments.common.stated import stated
from experiments.washizawa2012.noisy_digits import (
    WHITE,
    add_noise,
    filtered,
    squared_errors,
    test_images,
    train_images,
    train_only,
)
from kpca_lab import ReducedKPCA, SubsetKPCA
from kpca_lab.datasets import derive_rng
from kpca_lab.preimage import preimage
from kpca_lab.selectors import KMeansSelector
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.judge.records import only_value
from kpca_lab.suite.measure.samples import kernel_text
from kpca_lab.suite.render.plots import image_grid

TABLES = ("washizawa2012/table7", "washizawa2012/table8")
FIGURE = "washizawa2012/figure7"
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
    keys = ("noise", "levels", "log10_gammas", "named_log10_gamma", "rank_step", "n_search", "n_images")
    keys += ("kmeans_passes",)
    return {key: config.parameters[key] for key in keys if key in config.parameters}


@experiment.run(*TABLES)
def denoise_all(job: Job) -> Outcome:
    """Errors of one method or filter at all levels of noise."""
    settings, rows = job.settings, []
    if "filters" in settings:
        for name in settings["filters"]:
            for level in settings["levels"]:
                for method, errors in filtered(job, name, level).items():
                    rows += _rows(job, errors, level, method=method)
        return Outcome(rows)
    method, m, clean = settings["method"], settings["m"], test_images(job.dataset)
    grids = {"": settings["log10_gammas"], "_named_width": [settings["named_log10_gamma"]]}
    for reading, log10_gammas in grids.items():
        found = _search(job, method, m, log10_gammas)
        for level, log10_gamma, r in zip(settings["levels"], found["log10_gammas"], found["ranks"]):
            passes = settings["kmeans_passes"]
            operator = _operator(job.dataset, method, m, job.seed, passes, float(log10_gamma))
            noisy = add_noise(clean, settings["noise"], level, job.seed)
            errors = squared_errors(_denoised(operator, int(r), noisy), clean)
            about = {"method": method, "selector": "kmeans_centroids", "m": m, "r": int(r)}
            about["kernel"] = kernel_text({"kernel": "rbf", "gamma": 10 ** float(log10_gamma)})
            rows += _rows(job, errors, level, reading, **about)
    return Outcome(rows)


@experiment.run(FIGURE)
def denoise_first(job: Job) -> Outcome:
    """The first test images, noisy and denoised with the parameters found for Table 7."""
    settings, (level,) = job.settings, job.settings["levels"]
    clean = test_images(job.dataset)[: settings["n_images"]]
    noisy = add_noise(test_images(job.dataset), settings["noise"], level, job.seed)[: settings["n_images"]]
    arrays, rows = {"original": _as_bytes(clean), "noisy": _as_bytes(noisy)}, []
    rows += _rows(job, squared_errors(noisy, clean), level, method="none")
    for method in settings["methods"]:
        found = _search(job, method, settings["m"], settings["log10_gammas"])
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


def _rows(job, errors, level, reading="", **columns):
    settings = {"level": level, "noise": job.settings["noise"], "images": len(errors)}
    sd = errors.std(ddof=1) if len(errors) > 1 else np.nan
    return [
        row(job, metric + reading, value, parameters=settings, **columns)
        for metric, value in (("denoising_mse", errors.mean()), ("denoising_sd", sd))
    ]


def _as_bytes(images):
    return np.rint(WHITE * np.clip(images, 0, 1)).astype(np.uint8).reshape(-1, 28, 28)


def centroids(dataset, m, seed, passes):
    """Centroids of K-means of all training images in every pass, started from images chosen at random.

    A careful start (k-means++) of 1000 centroids takes longer than all the passes.
    """
    everything = {"largest_pass": np.inf, "max_samples": None}
    selector = KMeansSelector(centroids=True, init="random", max_iter=passes, **everything)
    rng = derive_rng("mnist", seed, "centroids", m)
    return {"centroids": selector.select(train_images(dataset), m, rng=rng)}


@lru_cache(maxsize=1)
def _kept_images(dataset):
    return train_images(json.loads(dataset))


@lru_cache(maxsize=20)  # as many as the coarse widths and those around the best, for the next level of noise
def _fitted(dataset, method, m, seed, passes, log10_gamma):
    basis = shared(centroids, json.loads(dataset), m=m, seed=seed, passes=passes)["centroids"]
    options = {"gamma": 10.0**log10_gamma, "basis": basis, "center": True}
    if method == "reduced":
        return ReducedKPCA(**options).fit(basis).operator_
    return SubsetKPCA(outside_basis="include", **options).fit(_kept_images(dataset)).operator_


def _operator(dataset, method, m, seed, passes, log10_gamma):
    """The operator with all its components."""
    return _fitted(json.dumps(train_only(dataset)), method, m, seed, passes, log10_gamma)


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


def _search(job, method, m, log10_gammas):
    settings = job.settings
    keys = ("noise", "rank_step", "n_search")
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
            log10_gammas=log10_gammas,
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
    clean = test_images(dataset)
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
