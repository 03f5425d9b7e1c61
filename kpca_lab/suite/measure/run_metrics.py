"""The measures of the suite: functions of an :class:`~kpca_lab.suite.measure.evaluate.Evaluation`."""

import tracemalloc

import numpy as np

from kpca_lab.classify import SubspaceClassifier
from kpca_lab.datasets import derive_rng
from kpca_lab.kernel_table import use_table
from kpca_lab.methods.improved import ImprovedKPCA
from kpca_lab.methods.reduced import ReducedKPCA
from kpca_lab.methods.tipping import TippingKPCA
from kpca_lab.metrics import error_ratio, operator_distance
from kpca_lab.preimage import denoise
from kpca_lab.suite.errors import NotApplicableError


def empirical_error(evaluation) -> float:
    """Mean squared reconstruction error of the training samples."""
    return evaluation.error("train")


def normalized_empirical_error(evaluation) -> float:
    """Empirical error divided by that of full kernel PCA of the same rank; 1 where both are rounding."""
    return _ratio(evaluation, evaluation.reference_error())


def gap(evaluation, *, most_samples: int = 2000) -> float:
    """How far the empirical error is above that of full kernel PCA of the same rank, as a share of it.

    Parameters
    ----------
    evaluation : Evaluation
    most_samples : int
        Up to so many training samples full kernel PCA is computed. From more, a floor of its error stands
        for it (see :meth:`kpca_lab.suite.measure.evaluate.Workbench.floor`), so that the gap told is an upper
        bound.
    """
    exact = len(evaluation.samples.train) <= most_samples
    best = evaluation.reference_error() if exact else evaluation.floor()
    return max(_ratio(evaluation, best) - 1.0, 0.0)


def _ratio(evaluation, best):
    ratio = error_ratio(evaluation.error("train"), best, evaluation.noise())
    if ratio == float("inf"):
        raise NotApplicableError("full kernel PCA of this rank may have no error: there is no ratio to it")
    return ratio


def validation_error(evaluation) -> float:
    """Mean squared reconstruction error of the held-out samples."""
    return evaluation.error("held_out")


def distance(evaluation) -> float:
    """Frobenius distance D to full kernel PCA of the same rank."""
    return operator_distance(evaluation.operator, evaluation.reference).d


def distance_squared(evaluation) -> float:
    """D^2."""
    return operator_distance(evaluation.operator, evaluation.reference).d2


def distance_per_component(evaluation) -> float:
    """D^2 / r."""
    return operator_distance(evaluation.operator, evaluation.reference).d2_per_component


def runtime(evaluation) -> float:
    """Seconds to choose the basis and fit."""
    return evaluation.fit.seconds


def classification_error(evaluation) -> float:
    """Share of held-out samples that the subspace classifier gets wrong."""
    samples = evaluation.samples
    if samples.labels is None or samples.held_out_labels is None:
        raise ValueError(f"{samples.dataset.name} has no labels for held-out rows")
    share = {}
    if evaluation.fit.place.m is not None:
        size = evaluation.bench.settings["methods"][evaluation.fit.place.method]["size_parameter"]
        # A class has its share of the basis.
        share[size or "n_basis"] = evaluation.fit.place.m / len(samples.train)
    if evaluation.fit.place.selector:
        chosen = evaluation.bench.settings["selectors"][evaluation.fit.place.selector]
        share["selector"] = evaluation.bench.selector(chosen)
    model = SubspaceClassifier(evaluation.unfitted(**share)).fit(samples.train, samples.labels)
    return float(np.mean(model.predict(evaluation.held_out) != samples.held_out_labels))


def denoising_mse(
    evaluation, *, sigma: float = 0.5, relative: bool = True, n_samples: int | None = 100
) -> float:
    """Mean squared error per feature of noisy held-out samples after projection and pre-image.

    Parameters
    ----------
    evaluation : Evaluation
    sigma : float
        Standard deviation of the Gaussian noise.
    relative : bool
        Whether that is a multiple of the standard deviation of all entries.
    n_samples : int, optional
        How many held-out samples to use.
    """
    clean = evaluation.samples.held_out
    clean = evaluation.samples.train if clean is None else clean
    clean = clean[:n_samples]
    job = evaluation.bench.job
    rng = derive_rng(job.dataset["name"], job.seed, "noise")
    width = sigma * (evaluation.samples.variance**0.5 if relative else 1.0)
    noisy = clean + width * rng.standard_normal(clean.shape)
    return float(np.mean((denoise(evaluation.operator, noisy) - clean) ** 2))


def sparsity(evaluation) -> float:
    """Share of zeros among the coefficients over all training samples."""
    coefficients = evaluation.operator.analysis.coefficients
    n, r = len(evaluation.samples.train), max(evaluation.operator.rank, 1)
    # An operator that names a sample twice has more coefficients than that.
    return 1.0 - np.count_nonzero(coefficients) / max(n * r, coefficients.size)


def eigenvalue_error(evaluation) -> float:
    """Mean relative error of the eigenvalues, on the scale of the kernel matrix of all samples."""
    model, n = evaluation.model, len(evaluation.samples.train)
    scale = 1.0
    if isinstance(model, ReducedKPCA | ImprovedKPCA):
        scale = n / len(model.basis_)
    elif isinstance(model, TippingKPCA):
        scale = n
    exact = evaluation.reference_fit.model.eigenvalues_[: evaluation.operator.rank]
    found = np.zeros(len(exact))
    own = scale * np.asarray(model.eigenvalues_)[: len(exact)]
    found[: len(own)] = own
    return float(np.mean(np.abs(found - exact) / exact))


def peak_memory(evaluation) -> float:
    """Most memory that a fit allocates at any time, in MB, measured in a fit of its own."""
    given = {}
    if evaluation.fit.place.selector:
        given["basis"] = evaluation.model.basis_indices_
        given["basis"] = evaluation.model.basis_ if given["basis"] is None else given["basis"]
    model = evaluation.unfitted(**given)
    with use_table(None):
        tracemalloc.start()
        try:
            model.fit(evaluation.samples.train)
            return tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()
