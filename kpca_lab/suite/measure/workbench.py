"""The shared work of a job: its data and kernel, bases, fits, and full kernel PCA to compare with."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kpca_lab.classify import residuals_by_rank
from kpca_lab.datasets import derive_rng, derive_seed
from kpca_lab.kernel_table import use_table
from kpca_lab.kernels import Kernel, make_kernel
from kpca_lab.methods.base import check_size
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.operator import FeatureOperator
from kpca_lab.suite.errors import NotApplicableError
from kpca_lab.suite.jobs import Job, row
from kpca_lab.suite.measure.samples import Samples, kernel_parameters, kernel_text, load_samples
from kpca_lab.suite.measure.timing import timed
from kpca_lab.suite.targets import import_target, parameters_of
from kpca_lab.widths import resolve_gamma

__all__ = ["Fit", "Place", "Workbench", "truncated"]

KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")
# Size of the basis that bounds the error of full kernel PCA from below.
FLOOR_BASIS = 1000


@dataclass(frozen=True)
class Place:
    """What one estimator is fitted with: a method, and a selector and basis size where it takes them."""

    method: str
    selector: str = ""
    m: int | None = None


@dataclass(eq=False)
class Fit:
    """A fitted estimator, the ranks it serves, and the seconds to choose its basis and fit it."""

    place: Place
    model: object
    seconds: float
    ranks: list
    errors: dict = field(default_factory=dict)

    @property
    def operator(self) -> FeatureOperator:
        """The operator of the fitted estimator."""
        if not hasattr(self.model, "operator_"):
            raise NotApplicableError(
                f"{self.place.method} ends in no operator in feature space; residual_outside_scores compares "
                "any method"
            )
        return self.model.operator_

    def mean_residual(self, r: int | None, part: str, X: np.ndarray) -> float:
        """Mean residual of ``X`` for rank ``r``, found for all ranks at once."""
        if part not in self.errors:
            ranks = [self.operator.rank if rank is None else rank for rank in self.ranks]
            means = residuals_by_rank(self.operator, X, ranks).mean(axis=0)
            self.errors[part] = dict(zip(self.ranks, means.tolist()))
        return self.errors[part][r]


class Workbench:
    """The shared work of a job.

    Attributes
    ----------
    job : Job
    samples : Samples
    kernel : dict
        Parameters of the kernel, as estimators take them.
    """

    def __init__(self, job: Job):
        self.job = job
        self.settings = job.settings
        self._references = {}
        self._bases = {}

    @cached_property
    def samples(self) -> Samples:
        """The data of the job."""
        return load_samples(self.job)

    @cached_property
    def kernel(self) -> dict:
        """Parameters of the kernel, as estimators take them."""
        return kernel_parameters(self.job.kernel, self.samples)

    def shared_kernel_values(self) -> AbstractContextManager:
        """A context in which kernel values between training samples are computed once."""
        return use_table(None if self.measures_time else self.samples.kernel_table)

    @property
    def ranks(self) -> list:
        """Numbers of components wanted, None for as many as there are."""
        return self.settings["n_components"]

    def places(self) -> Iterator[Place]:
        """Every combination of method, selector and basis size that makes a difference."""
        n = len(self.samples.train)
        too_many = [r for r in self.ranks if r is not None and r > n]
        if too_many:
            raise ValueError(f"n_components={too_many[0]} is more than the number of samples, {n}")
        for name, method in self.settings["methods"].items():
            takes = parameters_of(method["target"])
            size = method["size_parameter"] or ("n_basis" if "n_basis" in takes else None)
            if size is None or size in method["params"]:
                yield Place(name)
                continue
            sizes = dict.fromkeys(check_size("n_basis", share, n) for share in self.settings["n_basis"])
            selectors = self.settings["selectors"] if "basis" in takes else [""]
            for selector in selectors:
                for m in sizes:
                    yield Place(name, selector, m)

    def row(self, place: Place, metric: str, value, **columns) -> dict:
        """A row of this job."""
        method = self.settings["methods"][place.method]
        params = method["params"]
        own = {**self.kernel, **{key: params[key] for key in KERNEL_PARAMETERS if key in params}}
        # A method without a kernel to choose works in the space of the samples.
        if own["kernel"] == "linear" or not {"kernel", "gamma"} & set(parameters_of(method["target"])):
            own = {"kernel": "linear"}
        rest = {key: value for key, value in params.items() if key not in KERNEL_PARAMETERS}
        if self.settings.get("center") is not None:
            rest = {"center": self.settings["center"], **rest}
        return row(
            self.job,
            metric,
            value,
            method=place.method,
            selector=place.selector,
            m=place.m,
            kernel=kernel_text(own),
            parameters={**self.settings.get("parameters", {}), **rest},
            **columns,
        )

    def estimator(self, place: Place, r: int | None, **given):
        """The estimator of a place, not fitted."""
        method = self.settings["methods"][place.method]
        takes = parameters_of(method["target"])
        wanted = {
            "n_components": r,
            "random_state": derive_seed(self.job.dataset["name"], self.job.seed, "estimator"),
            **self.kernel,
            **({} if self.settings.get("center") is None else {"center": self.settings["center"]}),
            **({} if place.m is None else {method["size_parameter"] or "n_basis": place.m}),
            **method["params"],
            **given,
        }
        known = {key: value for key, value in wanted.items() if key in takes}
        return import_target(method["target"])(**known)

    def fit(self, place: Place) -> Iterator[Fit]:
        """Fit the estimator of a place: once for all ranks if it can be, else for each."""
        nested = self.settings["methods"][place.method]["nested"]
        by_rank = place.selector and self.settings["selectors"][place.selector]["uses_components"]
        if nested and not by_rank and len(self.ranks) > 1:
            largest = None if None in self.ranks else max(self.ranks)
            yield self._fit(place, largest, self.ranks)
        else:
            for r in self.ranks:
                yield self._fit(place, r, [r])

    def _fit(self, place, r, ranks):
        given, selection_seconds = {}, 0.0
        if place.selector:
            center = bool(getattr(self.estimator(place, r), "center", True))
            given["basis"], selection_seconds = self.basis(place.selector, place.m, r, center)
        shared = self._shared_reference(place, r, given)
        if shared is not None:
            return Fit(place, *shared, ranks)
        model, seconds = timed(
            lambda: self.estimator(place, r, **given).fit(self.samples.train), self.settings.get("repeats", 1)
        )
        return Fit(place, model, selection_seconds + seconds, ranks)

    def _shared_reference(self, place, r, given):
        """The reference itself, if that is what the place asks for and its time is not wanted."""
        if self.measures_time or given:
            return None
        estimator = self.estimator(place, r)
        if type(estimator) is not FullKPCA:
            return None
        reference = self._full(estimator)
        same = {**estimator.get_params(), "random_state": reference.random_state} == reference.get_params()
        return self._reference_model(estimator) if same else None

    @property
    def measures_time(self) -> bool:
        """Whether work must not be shared, because its time is wanted."""
        return self.settings.get("timing", False) or "runtime" in self.settings["metrics"]

    def basis(self, selector: str, m: int, r: int | None, center: bool) -> tuple[np.ndarray, float]:
        """The basis that a selector chooses, and the seconds it took; the same for every method."""
        chosen = self.settings["selectors"][selector]
        largest = m
        if chosen["nested"] and not self.measures_time:
            n = len(self.samples.train)
            largest = max(check_size("n_basis", share, n) for share in self.settings["n_basis"])
        key = (selector, largest, *((r, center) if chosen["uses_components"] else ()))
        if key not in self._bases:
            X = self.samples.train
            kernel = self.kernel_of(X)
            rng = derive_rng(self.job.dataset["name"], self.job.seed, "basis", selector, largest)
            options = {"kernel": kernel, "n_components": r, "center": center, "rng": rng}
            self._bases[key] = timed(lambda: self.selector(chosen).select(X, largest, **options))
        found, seconds = self._bases[key]
        return found[:m], seconds

    def kernel_of(self, X: np.ndarray) -> Kernel:
        """The kernel of the job for samples."""
        gamma = resolve_gamma(self.kernel.get("gamma"), X)
        return make_kernel(**self.kernel | {"gamma": gamma}, n_features=X.shape[1])

    @staticmethod
    def selector(chosen: dict):
        """The selector that the settings of one describe."""
        return import_target(chosen["target"])(**chosen["params"])

    def reference(self, operator: FeatureOperator) -> Fit:
        """Full kernel PCA in the feature space of an operator, centred if that is."""
        kernel = operator.kernel
        like = FullKPCA(
            kernel=kernel.name,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            center=operator.mean is not None,
        )
        key = (kernel.signature, like.center)
        if key not in self._references:
            self._references[key] = Fit(Place("full"), *self._reference_model(like), self.ranks)
        return self._references[key]

    def floor(self, operator: FeatureOperator, r: int | None) -> float:
        """What the error of full kernel PCA of rank ``r`` is at least, from a random basis.

        It is the floor of :class:`kpca_lab.SubsetKPCA`, which takes no more than a pass over the samples.
        """
        kernel, n = operator.kernel, len(self.samples.train)
        center = operator.mean is not None
        key = ("floor", kernel.signature, center, r)
        if key not in self._references:
            model = SubsetKPCA(
                r,
                kernel=kernel.name,
                gamma=kernel.gamma,
                degree=kernel.degree,
                coef0=kernel.coef0,
                center=center,
                n_basis=min(n, max(FLOOR_BASIS, 2 * (r or 0))),
                random_state=derive_seed(self.job.dataset["name"], self.job.seed, "floor"),
            )
            self._references[key] = model.fit(self.samples.train).error_floor_
        return self._references[key]

    def _full(self, like):
        largest = None if None in self.ranks else max(self.ranks)
        return FullKPCA(
            largest,
            kernel=like.kernel,
            gamma=like.gamma,
            degree=like.degree,
            coef0=like.coef0,
            center=bool(like.center),
        )

    def _reference_model(self, like):
        X = self.samples.train
        signature = make_kernel(
            like.kernel,
            gamma=resolve_gamma(like.gamma, X),
            degree=like.degree,
            coef0=like.coef0,
            n_features=X.shape[1],
        ).signature
        key = ("model", signature, bool(like.center))
        if key not in self._references:
            self._references[key] = timed(lambda: self._full(like).fit(X))
        return self._references[key]


def truncated(operator: FeatureOperator, r: int | None) -> FeatureOperator:
    """An operator of at most ``r`` components."""
    return operator if r is None else operator.truncate(min(r, operator.rank))
