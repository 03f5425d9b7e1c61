"""Washizawa 2012, Section 6.4: USPS digits by subspaces of their classes, Tables 3 to 6.

Tables 3 and 4: mean validation error over the divisions into 6562 and 729 images, at the kernel width and the
number of components where that mean is least; random basis and K-means centroids. Tables 5 and 6: test error
of classifiers of all 7291 images with those parameters, over as many draws of the basis.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.common.shared import shared, shared_all
from experiments.common.stated import stated
from experiments.washizawa2012.class_subspaces import METHODS, count_errors, count_linear_errors
from experiments.washizawa2012.sizes import CHOSEN_START
from kpca_lab.datasets import derive_rng, load_dataset
from kpca_lab.suite.hooks import Cell, experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.measure.samples import kernel_text, load_samples
from kpca_lab.suite.targets import import_target

VALIDATION = ("washizawa2012/table3", "washizawa2012/table4")
TEST = ("washizawa2012/table5", "washizawa2012/table6")
LABELS = {"subset": "SubKp", "reduced": "RKp", "pca": "CLAFIC"}
STARTS_TRIED = 4  # of K-means
BOOTSTRAPS = 1000  # resamplings of the divisions, to see how the choice of the parameters scatters
GRID_PLACES = {"least": 0, "second": 1, "largest": -1}  # the values of a grid that are printed


@experiment.jobs(*VALIDATION)
def validation_jobs(config):
    """A job for each division, and a last one that finds the best parameters over all of them."""
    (name,) = config.datasets
    jobs = []
    for seed in config.seeds:
        dataset, split = dataset_of(config, name, seed)
        jobs.append(Job(config.experiment, dataset, split, seed, None, {"grid": _grid(config)}))
    whole = {"grid": _grid(config), "splits": [job.split for job in jobs]}
    return [*jobs, Job(config.experiment, dataset, 0, config.seeds[0], None, whole)]


@experiment.jobs(*TEST)
def test_jobs(config):
    """A job for each draw of the basis."""
    (name,) = config.datasets
    settings = {"grid": _grid(config), "splits": [dataset_of(config, name, seed)[1] for seed in config.seeds]}
    return [
        Job(config.experiment, dataset_of(config, name, seed)[0], 0, seed, None, settings)
        for seed in config.seeds
    ]


def _grid(config):
    ((name, chosen),) = config.selectors.items()
    return {
        "selector": {"name": name, "target": chosen["target"], "params": chosen["params"]},
        "shares": config.n_basis,
        "log10_gammas": config.parameters["log10_gammas"],
        "ranks": config.n_components,
    }


@experiment.run(*VALIDATION)
def validate(job: Job) -> Outcome:
    """Validation errors of one division (the least of each method), or of all at the best parameters."""
    grid, rows, arrays = job.settings["grid"], [], {}
    if "splits" not in job.settings:
        errors = Errors(job.dataset, [job.split], grid)
        for case in errors.cases():
            rows.append(errors.row(job, case, "least_error_of_split", errors.rates(case).min()))
        return Outcome(rows)
    errors = Errors(job.dataset, job.settings["splits"], grid)
    for case in errors.cases():
        best = errors.best(case)
        for split, value in zip(job.settings["splits"], errors.rates(case)[:, *best]):
            found = errors.row(job, case, "classification_error", value, best)
            rows.append({**found, "split": split})
        name = "_".join([case[0], "centered" if case[1] else "plain", f"{case[2]:g}"])
        arrays[name] = errors.rates(case).mean(axis=0)
    arrays |= {"log10_gammas": np.array(grid["log10_gammas"]), "ranks": np.array(grid["ranks"])}
    return Outcome(rows, arrays)


@experiment.run(*TEST)
def test(job: Job) -> Outcome:
    """Test errors of one draw of the basis, with the parameters that validation gives."""
    errors = Errors(job.dataset, job.settings["splits"], job.settings["grid"])
    rows = []
    for share in errors.shares:
        cases = [case for case in errors.cases() if case[0] in METHODS and case[2] == share]
        best = {case: errors.best(case) for case in cases}
        everything = share == 1
        # Without a draw of the basis the choice of the parameters is all that scatters: see by how much.
        others = {case: errors.bootstrap(case) for case in cases if everything}
        places = {*best.values(), *(place for found in others.values() for place in found)}
        gammas = sorted({errors.gammas[g] for g, _ in places})
        ranks = sorted({errors.ranks[r] for _, r in places})
        found = shared(
            test_counts,
            job.dataset,
            seed=0 if everything else job.seed,
            selector="" if everything else errors.selector,
            share=share,
            log10_gammas=gammas,
            ranks=ranks,
        )
        where = {
            place: (gammas.index(errors.gammas[place[0]]), ranks.index(errors.ranks[place[1]]))
            for place in places
        }
        for case in cases:
            rates = found["counts"][METHODS.index(case[0]), int(case[1])] / found["n_new"]
            own = {"m": found["m"], "best": best[case]}
            rows.append(errors.row(job, case, "classification_error", rates[where[best[case]]], **own))
            for place, part in others[case].items() if everything and job.seed == 0 else []:
                about = {"m": found["m"], "best": place, "share": part, "n_new": int(found["n_new"])}
                rows.append(errors.row(job, case, "selected_error", rates[where[place]], **about))
    return Outcome(rows)


class Errors:
    """Validation errors of some divisions: for each case (method, centred, share of basis) over the grid."""

    def __init__(self, dataset, splits, grid):
        self.selector, self.shares = grid["selector"], grid["shares"]
        self.gammas, self.ranks = grid["log10_gammas"], grid["ranks"]
        common = {"log10_gammas": self.gammas, "ranks": self.ranks}
        self._parts = {}
        for share in self.shares:
            selector = "" if share == 1 else self.selector
            many = [{"split": split, "selector": selector, "share": share, **common} for split in splits]
            self._parts[share] = shared_all(validation_counts, dataset, many)

    def cases(self):
        """All cases, method by method as in the tables."""
        return [
            (method, centred, share)
            for method in (*METHODS, "pca")
            for centred in (False, True)
            for share in self.shares
        ]

    def rates(self, case):
        """Error rates of shape (divisions, widths, ranks); there is one width for PCA."""
        method, centred, share = case
        key, first = ("linear", ()) if method == "pca" else ("counts", (METHODS.index(method),))
        found = [part[key][(*first, int(centred))] / part["n_new"] for part in self._parts[share]]
        rates = np.stack(found)
        return rates[:, None] if method == "pca" else rates

    def best(self, case):
        """Places of the width and the rank with the least mean; the middle of them if there are several."""
        return _least(self.rates(case).mean(axis=0))

    def bootstrap(self, case):
        """Such places over resampled divisions, each with the share of the resamplings it is the best in."""
        rates = self.rates(case)
        rng = derive_rng("usps", *map(str, case), "bootstrap of the divisions")
        weights = rng.multinomial(len(rates), np.full(len(rates), 1 / len(rates)), size=BOOTSTRAPS) / len(
            rates
        )
        places = [_least(means) for means in np.tensordot(weights, rates, axes=1)]
        return {place: places.count(place) / BOOTSTRAPS for place in sorted(set(places))}

    def row(self, job, case, metric, value, best=None, m=None, **about):
        """A row of the records."""
        method, centred, share = case
        kernel = {"kernel": "linear" if method == "pca" else "rbf"}
        if method != "pca" and best is not None:
            kernel["gamma"] = 10 ** self.gammas[best[0]]
        return row(
            job,
            metric,
            value,
            method=method,
            selector=self.selector["name"],
            m=self._parts[share][0]["m"] if m is None else m,
            r=None if best is None else self.ranks[best[1]],
            kernel=kernel_text(kernel),
            parameters={"centered": centred, "basis": share, **about},
        )


def _least(means):
    least = np.argwhere(means <= means.min() + 1e-12)
    return tuple(int(place) for place in least[len(least) // 2])


def validation_counts(dataset, split, selector, share, log10_gammas, ranks):
    """Misclassified validation images of one division; see `_counts`."""
    samples = load_samples(Job("", dataset, split))
    return _counts(
        samples.train,
        samples.labels,
        samples.held_out,
        samples.held_out_labels,
        _draw(selector, share, dataset["name"], "validation", split),
        log10_gammas,
        ranks,
        linear=True,
    )


def test_counts(dataset, seed, selector, share, log10_gammas, ranks):
    """Misclassified test images, with all training images; see `_counts`."""
    data = load_dataset(dataset["name"], **dataset["options"])
    draw = _draw(selector, share, dataset["name"], "test", seed)
    return _counts(data.X, data.y, data.X_test, data.y_test, draw, log10_gammas, ranks, linear=False)


def _draw(selector, share, *trial):
    """A function that chooses the basis of a class, sample numbers or points; None for all samples."""
    if share == 1:
        return None

    def draw(number, X):
        n_basis = max(1, round(share * len(X)))
        if selector["name"] == "random":  # a smaller basis is the start of a larger one
            return derive_rng(*trial, "random", number, None).permutation(len(X))[:n_basis]
        rng = derive_rng(*trial, selector["name"], number, share)
        return import_target(selector["target"])(**selector["params"]).select(X, n_basis, rng=rng)

    return draw


def _counts(X, labels, new, new_labels, draw, log10_gammas, ranks, *, linear):
    """Misclassified images.

    Returns
    -------
    dict
        ``counts`` of shape (method, centred, width, rank), ``linear``, if wanted, of shape (centred, rank),
        ``m``: basis points of all classes together, ``n_new``: number of images.
    """
    X, new = np.asarray(X, dtype=np.float64), np.asarray(new, dtype=np.float64)
    classes = np.unique(labels)
    train = [X[labels == name] for name in classes]
    bases, outside = train, False
    if draw is not None:
        chosen = [draw(number, part) for number, part in enumerate(train)]
        outside = chosen[0].ndim == 2  # the centroids of K-means are no samples
        bases = chosen if outside else [part[numbers] for part, numbers in zip(train, chosen)]
    places = np.where(np.isin(new_labels, classes), np.searchsorted(classes, new_labels), -1)
    gammas = 10.0 ** np.array(log10_gammas)
    kernel_bases = [None] * len(train) if draw is None else bases
    return {
        "counts": count_errors(train, new, places, kernel_bases, gammas, ranks, include=outside),
        **({"linear": count_linear_errors(bases, new, places, ranks)} if linear else {}),
        "m": np.array(sum(map(len, bases))),
        "n_new": np.array(len(new)),
    }


@experiment.cells(*VALIDATION, *TEST)
def cells(records: pd.DataFrame, settings: dict) -> list[Cell]:
    """Mean and standard deviation in percent, for each printed method and share of the basis."""
    rows = records[records.metric == "classification_error"]
    table = rows.experiment.iloc[0].partition("/")[2]
    found = []
    for (method, centred, share), group in rows.groupby(["method", "centered", "basis"]):
        label = LABELS[method]
        if table == "table4" and method == "pca":
            if centred:
                continue  # the text has no such row
            label = "PCA"
        started = share < 1 and table in ("table4", "table6")
        chosen, selection = group.iloc[0], Selection.of(records, method, centred, share)
        notes = [f"{chosen.kernel}, r = {chosen.r}", CHOSEN_START if started else "", selection.text]
        found.append(
            Cell(
                table,
                f"{label} ({'c' if centred else 'nc'})",
                f"{100 * share:g} %",
                100 * group.value.mean(),
                ours_sd=100 * group.value.std(ddof=1),
                trials=len(group),
                note="; ".join(filter(None, notes)),
                readings=STARTS_TRIED if started else 1,
                selection_sd=100 * selection.sd,
            )
        )
    if table == "table3":
        grid = settings["parameters"]["log10_gammas"], settings["n_components"]
        used = {"USPS divisions": rows.split.nunique()}
        for name, values in zip(("power of ten for c", "r"), grid):
            used |= {f"{place} {name}, USPS": values[k] for place, k in GRID_PLACES.items()}
        found += stated("Section 6.4", used)
    return found


@dataclass(frozen=True)
class Selection:
    """How the test error of a case would differ, had the validation been on other divisions."""

    sd: float = float("nan")
    text: str = ""

    @classmethod
    def of(cls, records, method, centred, share):
        """From the records of the bootstrap, where there are any."""
        chosen = (records.method == method) & (records.centered == centred) & (records.basis == share)
        rows = records[chosen & (records.metric == "selected_error")]
        if rows.empty:
            return cls()
        shares = rows.groupby("value").share.sum().sort_values(ascending=False)
        n = rows.n_new.iloc[0]
        listed = ", ".join(f"{value * n:.0f} errors in {100 * part:.0f} %" for value, part in shares.items())
        mean = np.average(shares.index, weights=shares)
        variance = np.average((shares.index - mean) ** 2, weights=shares)
        return cls(float(np.sqrt(variance)), f"with other divisions (bootstrap): {listed}")
