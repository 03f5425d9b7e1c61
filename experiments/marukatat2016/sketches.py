"""Marukatat 2016: eigenvalues and subspaces from sketched dot products, with the paper's bounds beside them.

The paper's experiments are not known, so this is the comparison that its abstract claims: Algorithm 1 with
random projection and count sketch over the sketch size q, for kernel matrices (item ``kernel``) and for
covariance matrices (item ``covariance``), against the exact solution, and for kernel matrices against
Nyström's method and SubKPCA with the same number of samples, time and memory measured.

The bounds are about the matrix of dot products: with the empirical kernel map, about K^2. Errors and bounds
of Eq. (3) are divided by its largest eigenvalue.
"""

import tracemalloc

import numpy as np
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh

from kpca_lab.datasets import derive_rng, derive_seed
from kpca_lab.gram import gram_matrix
from kpca_lab.kernels import make_kernel
from kpca_lab.linalg import top_eigenpairs
from kpca_lab.methods.empirical_map import EmpiricalMapKPCA, approximate_covariance_eigenpairs, sketch_matrix
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.nystrom import NystromKPCA
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.measure.samples import kernel_parameters, kernel_text, load_samples
from kpca_lab.suite.measure.timing import timed

ITEMS = ["marukatat2016/kernel", "marukatat2016/covariance"]
SKETCHES = ("gaussian", "count")
SUBSETS = {"nystrom": NystromKPCA, "subset": SubsetKPCA}


@experiment.jobs(*ITEMS)
def jobs(config):
    """One job for each data set and trial; trials differ in sketches and subsets, not in the data."""
    found = []
    for name in config.datasets:
        # all rows: nothing is held out
        dataset = {**dataset_of(config, name, 0)[0], "split": {"kind": "none", "held_out": None}}
        settings = {
            **config.parameters,
            "sizes": config.n_basis,
            "n_components": config.n_components,
            "repeats": config.repeats,
        }
        for seed in config.seeds:
            found.append(Job(config.experiment, dataset, 0, seed, config.kernels[name][0], settings))
    return found


def chosen_rows(job: Job) -> tuple:
    """The samples of a job and all rows used: at most ``max_samples`` of them, the same in every trial."""
    samples = load_samples(job)
    X, most = samples.train, job.settings["max_samples"]
    if len(X) > most:
        drawn = derive_rng(job.dataset["name"], "marukatat2016", "rows").choice(len(X), most, replace=False)
        X = X[np.sort(drawn)]
    return samples, np.ascontiguousarray(X)


def subspace_distance(V, W) -> float:
    """Sine of the largest angle between the spans of two matrices of equally many columns."""
    left, right = (np.linalg.qr(matrix)[0] for matrix in (V, W))
    if right.shape[1] < left.shape[1]:
        return 1.0
    return float(np.linalg.norm(left - right @ (right.T @ left), 2))


def dot_product_bound(q: int, delta: float) -> float:
    """The error that Eq. (8) exceeds with probability ``delta``, for vectors of unit length; nan if q is
    too small for the equation to say anything."""
    wanted = 4 * np.log(4 / delta) / q
    if wanted > 4 / 27:  # the largest value of e^2 - e^3
        return float("nan")
    return float(brentq(lambda e: e**2 - e**3 - wanted, 0.0, 2 / 3))


class Bounds:
    """The right-hand sides of Eqs. (3), (5) and (8) for one sketch.

    Parameters
    ----------
    dots : ndarray of shape (n, n)
        Dot products of the vectors.
    sketched : ndarray of shape (n, q)
        The sketched vectors.
    """

    def __init__(self, dots, sketched):
        self.error = dots - sketched @ sketched.T
        self.n = len(dots)
        self.norm = float(np.abs(eigsh(self.error, k=1, which="LM", v0=np.ones(self.n), tol=1e-4)[0][0]))
        self.entries = self.n * float(np.abs(self.error).max())
        norms = np.sqrt(np.diag(dots))
        relative = np.abs(self.error)
        relative /= norms
        relative /= norms[:, None]
        self.quantile = float(np.quantile(relative, 1 - 1 / self.n, overwrite_input=True))

    def off_diagonal(self, vectors) -> float:
        """Spectral norm of F21 of Eq. (6), for the leading eigenvectors."""
        moved = self.error @ vectors
        return float(np.linalg.norm(moved - vectors @ (vectors.T @ moved), 2))


def measured(values, vectors, found_values, found_vectors, bounds: Bounds | None, r: int, power: float):
    """Metrics of approximate eigenpairs of a matrix of dot products.

    Parameters
    ----------
    values, vectors
        Exact eigenpairs, one more than ``r``.
    found_values, found_vectors
        Approximate ones.
    bounds : Bounds, optional
    r : int
    power : float
        The eigenvalues wanted are these to that power: a half for kernel matrices.

    Returns
    -------
    dict
    """
    found = np.zeros(r)
    found[: len(found_values[:r])] = found_values[:r]
    exact = values[:r]
    distance = subspace_distance(vectors[:, :r], found_vectors[:, :r])
    metrics = {
        "eigenvalue_error": np.mean(np.abs(found**power - exact**power) / exact**power),
        "subspace_distance": distance,
    }
    if bounds is None:
        return metrics
    largest = np.abs(found - exact).max()
    gap = values[r - 1] - values[r]
    bound = 4 / gap * bounds.off_diagonal(vectors[:, :r])
    metrics |= {
        "dot_matrix_error": largest / values[0],
        "spectral_bound": bounds.norm / values[0],
        "entry_bound": bounds.entries / values[0],
        # the iterative norm has four digits
        "eigenvalue_bound_ratio": largest / (bounds.norm * (1 + 1e-4)),
        "gap_condition": 5 * bounds.norm / gap,
    }
    if metrics["gap_condition"] <= 1:
        metrics |= {"subspace_bound": bound, "subspace_bound_ratio": distance / bound}
    return metrics


def peak_memory(fit) -> float:
    """Most memory that a function allocates, in MB."""
    tracemalloc.start()
    try:
        fit()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


class _Rows:
    """Collects the rows of a job."""

    def __init__(self, job, kernel):
        self.job, self.kernel, self.rows = job, kernel, []

    def add(self, metrics, **about):
        for metric, value in metrics.items():
            self.rows.append(row(self.job, metric, value, kernel=self.kernel, **about))


def _costs(job, fit, seconds):
    # Memory does not vary, and to trace it slows a fit down.
    memory = {"peak_memory": peak_memory(fit)} if job.seed == 0 else {}
    return {"runtime": seconds, **memory}


def _dot_products(bounds, sketch, q):
    metrics = {"dot_product_error": bounds.quantile}
    bound = dot_product_bound(q, 1 / bounds.n)
    if sketch == "gaussian" and np.isfinite(bound):
        metrics["dot_product_bound"] = bound
    return metrics


@experiment.run("marukatat2016/kernel")
def kernel_run(job):
    """Kernel matrix: Algorithm 1 on the empirical kernel map, Nyström and SubKPCA."""
    samples, X = chosen_rows(job)
    settings, n = job.settings, len(X)
    parameters = kernel_parameters(job.kernel, samples)
    ranks = settings["n_components"]
    r_max = max(ranks)
    gram = gram_matrix(make_kernel(**parameters, n_features=X.shape[1]).anchored(X), X, center=True)
    eigenvalues, vectors = top_eigenpairs(gram, r_max + 1)
    dots = gram @ gram
    rows = _Rows(job, kernel_text(parameters))

    def full(solver):
        return FullKPCA(r_max, eigen_solver=solver, **parameters).fit(X)

    if job.seed == 0:
        _, seconds = timed(lambda: full("dense"), settings["repeats"])
        about = {"method": "full", "seconds": seconds, "parameters": {"n": n}}
        rows.add(_costs(job, lambda: full("dense"), seconds), **about)
        rows.add({"runtime_partial": timed(lambda: full("auto"), settings["repeats"])[1]}, **about)

    for size in (size for size in settings["sizes"] if size <= n):
        for sketch in SKETCHES:
            state = derive_seed(job.dataset["name"], job.seed, sketch, size)

            def fit(sketch=sketch, size=size, state=state):
                return EmpiricalMapKPCA(
                    r_max, sketch=sketch, sketch_size=size, random_state=state, **parameters
                ).fit(X)

            model, seconds = timed(fit, settings["repeats"])
            # the same sketch as in the fit
            bounds = Bounds(dots, gram @ sketch_matrix(sketch, size, n, model._generator()).T)
            own = {"method": "empirical_map", "m": size, "parameters": {"n": n, "sketch": sketch}}
            rows.add(_costs(job, fit, seconds), seconds=seconds, **own)
            rows.add(_dot_products(bounds, sketch, size), **own)
            for r in ranks:
                found = (model.eigenvalues_**2, model.eigenvectors_)
                rows.add(
                    measured(eigenvalues**2, vectors, *found, bounds, r, 0.5), r=r, seconds=seconds, **own
                )
        for method, estimator in SUBSETS.items():
            state = derive_seed(job.dataset["name"], job.seed, "subset", size)

            def fit(estimator=estimator, size=size, state=state):
                return estimator(r_max, n_basis=size, random_state=state, **parameters).fit(X)

            model, seconds = timed(fit, settings["repeats"])
            own = {"method": method, "selector": "random", "m": size, "parameters": {"n": n}}
            rows.add(_costs(job, fit, seconds), seconds=seconds, **own)
            approximate = model.eigenvectors_ if method == "nystrom" else model.transform(X)
            for r in ranks:
                found = (model.eigenvalues_**2, approximate)
                rows.add(measured(eigenvalues**2, vectors, *found, None, r, 0.5), r=r, seconds=seconds, **own)
    return Outcome(rows.rows)


@experiment.run("marukatat2016/covariance")
def covariance_run(job):
    """Covariance matrix: Algorithm 1 on the samples themselves, and its exact eigendecomposition."""
    _, X = chosen_rows(job)
    X = X - X.mean(axis=0)
    settings, (n, d) = job.settings, X.shape
    ranks = [r for r in settings["n_components"] if r < d]
    r_max = max(ranks)
    (eigenvalues, axes), seconds = timed(lambda: top_eigenpairs(X.T @ X, r_max + 1), settings["repeats"])
    vectors = X @ axes / np.sqrt(eigenvalues)
    dots = X @ X.T
    rows = _Rows(job, "linear")
    rows.add({"runtime": seconds}, method="pca", seconds=seconds, parameters={"n": n, "d": d})
    sizes = sorted({max(r_max, round(size * d)) for size in settings["sizes"]})
    for size in sizes:
        for sketch in SKETCHES:
            state = derive_seed(job.dataset["name"], job.seed, "covariance", sketch, size)

            def fit(sketch=sketch, size=size, state=state):
                return approximate_covariance_eigenpairs(
                    X, sketch=sketch, sketch_size=size, n_components=None, random_state=state
                )

            (values, found_axes), seconds = timed(fit, settings["repeats"])
            rng = np.random.default_rng(np.random.RandomState(state).randint(2**31))
            sketched = X @ sketch_matrix(sketch, size, d, rng).T
            left = np.linalg.svd(sketched, full_matrices=False)[0]
            bounds = Bounds(dots, sketched)
            own = {"method": "sketched_pca", "m": size, "parameters": {"n": n, "d": d, "sketch": sketch}}
            rows.add(_costs(job, fit, seconds), seconds=seconds, **own)
            rows.add(_dot_products(bounds, sketch, size), **own)
            for r in ranks:
                metrics = measured(eigenvalues, vectors, values, left, bounds, r, 1.0)
                metrics["axes_distance"] = subspace_distance(axes[:, :r], found_axes[:, :r])
                rows.add(metrics, r=r, seconds=seconds, **own)
    return Outcome(rows.rows)
