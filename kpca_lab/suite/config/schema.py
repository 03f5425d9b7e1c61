"""The schema of the configuration: every key, its type and its default."""

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, OmegaConf

from kpca_lab.suite.cores import available_cores

__all__ = ["DatasetConf", "KernelConf", "LimitsConf", "MethodConf", "MetricConf", "RunConf", "SelectorConf"]


@dataclass
class MethodConf:
    """A method: the import path of its estimator, and parameters other than the estimator's defaults.

    ``size_parameter`` is the parameter that ``n_basis`` goes to, ``n_basis`` where the estimator has
    that. ``nested``: whether the first r components of one fit are those of a fit of r components.
    """

    target: str = MISSING
    params: dict[str, Any] = field(default_factory=dict)
    size_parameter: str | None = None
    nested: bool = True


@dataclass
class SelectorConf:
    """A selector: ``nested`` if a smaller basis is the start of a larger one, ``uses_components`` if the
    choice depends on the number of components."""

    target: str = MISSING
    params: dict[str, Any] = field(default_factory=dict)
    nested: bool = False
    uses_components: bool = False


@dataclass
class MetricConf:
    """A measure: the import path of a function of :class:`kpca_lab.suite.measure.evaluate.Evaluation`."""

    target: str = MISSING
    params: dict[str, Any] = field(default_factory=dict)


@dataclass
class KernelConf:
    """A kernel by scikit-learn's names.

    ``gamma`` is a number, a rule of :func:`kpca_lab.widths.resolve_gamma`, or a list of these; ``gamma_rule``
    is ``variance`` or null.
    """

    kernel: str | None = None
    gamma: Any = None
    gamma_rule: str | None = None
    degree: Any = None
    coef0: float | None = None


@dataclass
class SplitConf:
    """How a data set is divided: see :mod:`kpca_lab.datasets.splits`, which knows how much to hold out."""

    kind: str = "none"
    held_out: float | None = None


@dataclass
class DatasetConf:
    """A data set, its loader's options, and the paper's settings for it."""

    name: str = MISSING
    options: dict[str, Any] = field(default_factory=dict)
    kernel: KernelConf = field(default_factory=KernelConf)
    n_components: int | None = None
    scaling: str | None = None
    split: SplitConf = field(default_factory=SplitConf)


@dataclass
class LimitsConf:
    """What one job may take; null is no limit."""

    seconds: float | None = None
    memory_mb: float | None = None


@dataclass
class RunConf:
    """All keys of a run.

    Attributes
    ----------
    experiment : str or None
        ``<paper>/<item>``; null for a run of one's own.
    title : str
        What it shows, in one line.
    titles : dict
        The same for the pictures and tables of an item that has several, by their names.
    dataset, datasets
        One data set, or a list of names, or a mapping of names to changes of their settings.
    methods, selectors, metrics
        By name; filled by the groups method, selector, metric.
    kernel : KernelConf
        What is null is taken from the data set.
    n_basis : int, float or list
        Basis sizes, as numbers of samples or shares of them.
    n_components : int or list, optional
        Numbers of components; the data set's by default.
    center : bool, optional
        For all methods; each method's own default unless given.
    seed, n_trials : int
        Trials are numbered seed, seed + 1, ...: trial t uses split t + 1, or data drawn with seed t.
    redraw : bool
        Whether synthetic data is drawn anew in each trial.
    n_train, n_test : int, optional
        Use only so many rows.
    repeats : int
        How often a fit is timed.
    timing : bool
        One job at a time, with one BLAS thread, because times are measured.
    parameters : dict
        Settings of the experiment's own code.
    limits : LimitsConf
    workers, threads : int, optional
        Processes, and BLAS threads of each.
    force : bool
        Compute again what is done.
    results_dir : str
    profiles : dict
        Per profile, what is merged over the rest.
    """

    experiment: str | None = None
    title: str = ""
    titles: dict[str, str] = field(default_factory=dict)
    profile: str = "quick"
    dataset: DatasetConf = field(default_factory=DatasetConf)
    datasets: Any = None
    methods: dict[str, MethodConf] = field(default_factory=dict)
    selectors: dict[str, SelectorConf] = field(default_factory=dict)
    metrics: dict[str, MetricConf] = field(default_factory=dict)
    kernel: KernelConf = field(default_factory=KernelConf)
    n_basis: Any = 0.1
    n_components: Any = None
    center: bool | None = None
    seed: int = 0
    n_trials: int = 1
    redraw: bool = True
    n_train: int | None = None
    n_test: int | None = None
    repeats: int = 1
    timing: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    limits: LimitsConf = field(default_factory=LimitsConf)
    workers: int | None = None
    threads: int | None = None
    force: bool = False
    results_dir: str = "results"
    profiles: dict[str, Any] = field(default_factory=dict)


ConfigStore.instance().store(name="schema", node=RunConf)
OmegaConf.register_new_resolver("cores", available_cores, replace=True)
