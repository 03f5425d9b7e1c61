"""The evaluation that every plain experiment shares: all methods, basis sizes and ranks of one job.

Work is shared: data, kernel values and, between jobs that differ in the kernel's width, distances; one
basis for each selector and size, one full-KPCA reference for each feature space and centring, one fit for
all ranks where a method's components are nested. Nothing is shared where times are measured.
"""

from functools import cached_property

import numpy as np

from kpca_lab.linalg import rank_tolerance
from kpca_lab.operator import FeatureOperator
from kpca_lab.suite.errors import NotApplicableError, failure
from kpca_lab.suite.jobs import Job, Outcome
from kpca_lab.suite.measure.samples import Samples
from kpca_lab.suite.measure.workbench import Fit, Workbench, truncated
from kpca_lab.suite.targets import import_target

__all__ = ["Evaluation", "evaluate"]


def evaluate(job: Job) -> Outcome:
    """Fit every method of a job and take every measure of it.

    A method that fails gives one row with its error, and the others go on. A measure that a method does not
    have gives a row of the status ``inapplicable``.

    Parameters
    ----------
    job : Job

    Returns
    -------
    Outcome
    """
    bench = Workbench(job)
    metrics = {
        name: (import_target(metric["target"]), metric["params"])
        for name, metric in job.settings["metrics"].items()
    }
    rows = []
    with bench.shared_kernel_values():
        for place in bench.places():
            try:
                for fit in bench.fit(place):
                    for r in fit.ranks:
                        evaluation = Evaluation(bench, fit, r)
                        for name, (measure, params) in metrics.items():
                            found = _value(measure, evaluation, params)
                            rows.append(bench.row(place, name, r=r, seconds=fit.seconds, **found))
            except Exception as error:
                status, text = failure(error)
                rows.append(bench.row(place, "", None, status=status, error=text))
    return Outcome(rows)


def _value(measure, evaluation, params):
    """A measured value, or why there is none."""
    try:
        return {"value": measure(evaluation, **params)}
    except NotApplicableError as error:
        return {"value": None, "status": "inapplicable", "error": str(error)}


class Evaluation:
    """What a measure is given: one fitted method at one rank.

    Attributes
    ----------
    bench : Workbench
    fit : Fit
    r : int or None
        The rank asked for; None for all components found.
    operator : FeatureOperator
        Of at most ``r`` components.
    model : fitted estimator
        Of at least ``r`` components, if the data have so many.
    """

    def __init__(self, bench: Workbench, fit: Fit, r: int | None):
        self.bench, self.fit, self.r = bench, fit, r

    @property
    def model(self):
        """The fitted estimator."""
        return self.fit.model

    @property
    def samples(self) -> Samples:
        """The data."""
        return self.bench.samples

    @cached_property
    def operator(self) -> FeatureOperator:
        """The operator of rank ``r``."""
        return truncated(self.fit.operator, self.r)

    @cached_property
    def reference_fit(self) -> Fit:
        """Full kernel PCA in the same feature space."""
        return self.bench.reference(self.fit.operator)

    @cached_property
    def reference(self) -> FeatureOperator:
        """The operator of full kernel PCA of the same rank."""
        return truncated(self.reference_fit.operator, self.operator.rank if self.r is None else self.r)

    @property
    def held_out(self) -> np.ndarray:
        """Rows that were not trained on."""
        if self.samples.held_out is None:
            raise ValueError(
                f"{self.samples.dataset.name} has no held-out rows here: choose dataset.split.kind=random, "
                "or n_test= for generated data"
            )
        return self.samples.held_out

    def unfitted(self, **given):
        """The same estimator, not fitted."""
        return self.bench.estimator(self.fit.place, self.r, **given)

    def error(self, part: str = "train") -> float:
        """Mean squared reconstruction error of the training or the ``"held_out"`` rows."""
        X = self.samples.train if part == "train" else self.held_out
        return self.fit.mean_residual(self.r, part, X)

    def reference_error(self) -> float:
        """The same for full kernel PCA and the training rows."""
        if self.r is None:
            return float(self.reference.residual(self.samples.train).mean())
        return self.reference_fit.mean_residual(self.r, "train", self.samples.train)

    def floor(self) -> float:
        """What the error of full kernel PCA is at least, for the training rows."""
        return self.bench.floor(self.fit.operator, self.r)

    def noise(self) -> float:
        """What rounding makes of an error of zero, for the training rows."""
        total = float(self.fit.operator.centred_square_norm(self.samples.train).mean())
        return rank_tolerance(len(self.samples.train)) * max(total, 0.0)
