"""Wang & Tanaka 2016, Section IV-A: how the sparsity depends on rho, the weight of the constraint of ADMM."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kpca_lab import ElasticNetKPCA
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, Outcome, dataset_of, row
from kpca_lab.suite.measure.samples import kernel_parameters, kernel_text, load_samples

ITEM = "wang2016/rho"


@experiment.jobs(ITEM)
def jobs(config):
    """One job for each value of rho."""
    (name,) = config.datasets
    dataset, split = dataset_of(config, name, 0)
    rest = {key: value for key, value in config.parameters.items() if key != "rhos"}
    return [
        Job(config.experiment, dataset, split, 0, config.kernels[name][0], rest | {"rho": rho})
        for rho in config.parameters["rhos"]
    ]


@experiment.run(ITEM)
def run(job):
    """Share of zeros and steps of ADMM for each component."""
    samples, settings = load_samples(job), job.settings
    X, kernel, rho = samples.train, kernel_parameters(job.kernel, samples), settings["rho"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # components without coefficients: all zeros
        model = ElasticNetKPCA(l1=settings["l1"], rho=rho, **kernel, **settings["elastic_net"]).fit(X)
    rows = []
    for k, used in enumerate(model.n_nonzero_):
        steps = model.trace_[k].steps
        about = {"method": "elastic_net", "m": len(model.support_), "r": len(settings["l1"])}
        about |= {"kernel": kernel_text(kernel), "parameters": {"rho": rho, "component": k + 1}}
        ended = float(np.mean([count >= settings["elastic_net"]["max_admm_iter"] for count in steps]))
        values = {"sparsity": 1 - used / len(X), "admm_steps": sum(steps), "share_at_limit": ended}
        rows += [row(job, metric, value, **about) for metric, value in values.items()]
    return Outcome(rows)
