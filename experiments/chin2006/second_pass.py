"""Chin & Suter 2006, Section 5.2: what the second pass of coefficients gains when vectors are compressed."""

import numpy as np

from kpca_lab.kernels import make_kernel
from kpca_lab.methods.incremental import State
from kpca_lab.methods.reduced_set import iterated_preimages
from kpca_lab.span import Frame
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.measure.samples import kernel_parameters, kernel_text, load_samples

ITEM = "chin2006/second_pass"


@experiment.jobs(ITEM)
def jobs(config):
    """One job for each data set."""
    settings = config.parameters | {"n_components": config.n_components[0]}
    return [
        Job(config.experiment, *dataset_of(config, name, 0), 0, config.kernels[name][0], settings)
        for name in config.datasets
    ]


@experiment.run(ITEM)
def run(job):
    """What is left of each component and of the mean, as a share of its squared length, after either pass.

    The first pass writes a vector over the points found for it and for those before it, the second over all.
    """
    samples, settings = load_samples(job), job.settings
    X, parameters = samples.train, kernel_parameters(job.kernel, samples)
    kernel = make_kernel(**parameters, n_features=X.shape[1]).anchored(X)
    state = State.empty(kernel, X.shape[1]).updated(X, settings["n_components"])
    vectors = np.column_stack([state.basis, state.mean])
    search = {"tol": settings["tol"], "max_iter": settings["max_iter"]}
    found = [
        iterated_preimages(
            kernel, state.points, state.gram, vectors[:, : k + 1], settings["n_preimages"], **search
        )
        for k in range(vectors.shape[1])
    ]
    rows = []
    for k in range(vectors.shape[1]):
        about = {"method": "incremental", "r": settings["n_components"], "kernel": kernel_text(parameters)}
        for metric, points in (("first_pass_error", found[k]), ("second_pass_error", found[-1])):
            left = share_outside(kernel, points, state.expansion(vectors[:, k : k + 1]))
            own = about | {"m": len(points), "parameters": {"vector": k + 1, "n": len(X)}}
            rows.append(row(job, metric, left, **own))
    return Outcome(rows)


def share_outside(kernel, points, vector) -> float:
    """The part of a feature vector outside the span of points, as a share of its squared length."""
    inside = Frame.of(kernel, points, tol=1e-11).vectors.inner(kernel, vector)
    length = vector.inner(kernel, vector).item()
    return float(max(0.0, 1 - np.sum(inside**2) / length))
