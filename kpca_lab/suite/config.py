"""Configuration: its schema, what a composed one means, and checks that name the valid choices."""

import difflib
import importlib
import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from kpca_lab.datasets import dataset_options, list_datasets
from kpca_lab.datasets.scaling import SCALINGS
from kpca_lab.kernels import KERNELS
from kpca_lab.suite.limits import available_cores

__all__ = ["ConfigError", "Settings", "compose_settings", "experiment_items", "load_target", "settings_of"]

CONF = Path(__file__).resolve().parents[2] / "conf"
PROFILES = ("smoke", "quick", "paper")
SPLIT_KINDS = ("none", "random", "published", "official")
GROUPS = ("dataset", "method", "selector", "kernel", "metric", "profile", "experiment")
# Overrides that do not change what an experiment computes.
NEUTRAL = ("experiment", "profile", "results_dir", "workers", "threads", "force", "limits", "hydra")


class ConfigError(ValueError):
    """A configuration that cannot be run, with the valid choices in its message."""


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
    """A measure: the import path of a function of :class:`kpca_lab.suite.evaluate.Evaluation`."""

    target: str = MISSING
    params: dict[str, Any] = field(default_factory=dict)


@dataclass
class KernelConf:
    """A kernel by scikit-learn's names; ``gamma`` may be a list, ``gamma_rule`` is ``variance`` or null."""

    kernel: str | None = None
    gamma: Any = None
    gamma_rule: str | None = None
    degree: Any = None
    coef0: float | None = None


@dataclass
class SplitConf:
    """How a data set is divided: see :mod:`kpca_lab.datasets.splits`."""

    kind: str = "none"
    n_splits: int = 0
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
    grid: Any = None


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


@dataclass(frozen=True)
class Settings:
    """A run ready to be cut into jobs: plain values, the profile merged in, everything checked.

    The attributes are those of :class:`RunConf`, with ``datasets`` a mapping of names to plain settings,
    ``kernels`` a list for each data set, ``n_basis`` and ``n_components`` lists, ``seeds`` the trials.
    ``canonical`` tells whether the experiment is as its file says, so that its records are the
    experiment's own. ``command`` runs it again.
    """

    experiment: str
    title: str
    profile: str
    datasets: dict[str, dict]
    kernels: dict[str, list[dict]]
    methods: dict[str, dict]
    selectors: dict[str, dict]
    metrics: dict[str, dict]
    n_basis: list
    n_components: list | None
    center: bool | None
    seeds: list[int]
    redraw: bool
    n_train: int | None
    n_test: int | None
    repeats: int
    timing: bool
    parameters: dict
    limits: dict
    workers: int | None
    threads: int | None
    force: bool
    results_dir: str
    canonical: bool
    command: str


def experiment_items(conf: Path = CONF) -> list[str]:
    """Names ``<paper>/<item>`` of all experiments that have a YAML file."""
    folder = Path(conf) / "experiment"
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.yaml"))


def compose_settings(overrides: Iterable[str] = (), *, conf: Path = CONF) -> Settings:
    """Compose a configuration as the command line does, and check it.

    Parameters
    ----------
    overrides : iterable of str
        For example ``["+experiment=washizawa2012/table1", "profile=smoke"]``.
    conf : Path
        The folder of the configuration.

    Returns
    -------
    Settings

    Raises
    ------
    ConfigError
        With the valid choices.
    """
    check_keys(overrides)
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf), version_base="1.3"):
        composed = compose("config", overrides=list(overrides), return_hydra_config=True)
    return settings_of(composed)


def check_keys(overrides: Iterable[str]) -> None:
    """Refuse overrides of keys that do not exist, before Hydra does with less to say."""
    known = [entry.name for entry in fields(RunConf)]
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        key = override.key_or_group.split(".")[0].split("/")[0].split("@")[0]
        if key not in (*known, *GROUPS, "hydra"):
            raise ConfigError(_unknown("key", key, [*known, *GROUPS]))
        check = {"n_basis": _check_n_basis, "n_components": _check_n_components}.get(override.key_or_group)
        if check and not override.is_delete():
            swept = override.is_sweep_override()
            values = list(override.sweep_iterator()) if swept else [override.value()]
            for value in values:
                check(_listed(_plain_value(value)))


def _plain_value(value):
    value = getattr(value, "list", value)
    return [_plain_value(entry) for entry in value] if isinstance(value, list) else value


def settings_of(composed: DictConfig) -> Settings:
    """What a composed configuration means; see :class:`Settings`.

    Parameters
    ----------
    composed : DictConfig
        From ``hydra.main``, or from ``hydra.compose`` with ``return_hydra_config=True``.
    """
    hydra = composed.hydra if "hydra" in composed else HydraConfig.get()
    given = OverridesParser.create().parse_overrides(list(hydra.overrides.task))
    folders = [
        Path(urlparse(source.path).path) if "://" in source.path else Path(source.path)
        for source in hydra.runtime.config_sources
        if source.schema == "file"
    ]
    try:
        config = _with_profile(composed, given)
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=False)
    except OmegaConfBaseException as error:
        raise ConfigError(str(error)) from error
    plain.pop("hydra", None)
    keys = [override.key_or_group for override in given]
    if "dataset" in keys:
        plain["datasets"] = None
    datasets = _datasets(plain, folders)
    center, seed, n_trials = plain["center"], plain.pop("seed"), plain.pop("n_trials")
    experiment = plain["experiment"]
    changed = [key for key in keys if key.split(".")[0] not in NEUTRAL]
    settings = Settings(
        **{
            key: plain[key]
            for key in (entry.name for entry in fields(Settings))
            if key in plain and key not in ("datasets", "n_basis", "n_components", "experiment")
        },
        experiment=experiment or f"custom/{'+'.join(datasets).replace('/', '_')}",
        datasets=datasets,
        kernels={name: _kernels(plain["kernel"], dataset["kernel"]) for name, dataset in datasets.items()},
        n_basis=_listed(plain["n_basis"]),
        n_components=None if plain["n_components"] is None else _listed(plain["n_components"]),
        seeds=list(range(seed, seed + n_trials)),
        canonical=experiment is not None and not changed,
        command=_command([override.input_line for override in given]),
    )
    _check(settings, seed, n_trials, center)
    return settings


def _command(overrides):
    words = [f"'{word}'" if set(word) & set("[]{}() ,'$") else word for word in overrides]
    return " ".join(["python -m experiments.run", *words])


def _with_profile(composed, given):
    """Merge the profile's block, under what the user has given."""
    profile = composed.profile
    if profile not in PROFILES:
        raise ConfigError(_unknown("profile", profile, PROFILES))
    unknown = set(composed.profiles) - set(PROFILES)
    if unknown:
        raise ConfigError(_unknown("profile in profiles:", sorted(unknown)[0], PROFILES))
    block = composed.profiles.get(profile)
    if not block:
        return composed
    config = OmegaConf.merge(composed, block)
    for override in given:
        key = override.key_or_group
        if key not in GROUPS and not override.is_delete():
            OmegaConf.update(config, key, OmegaConf.select(composed, key), merge=False, force_add=True)
    return config


def _datasets(plain, folders):
    own = plain.pop("dataset")
    chosen = plain["datasets"]
    if chosen is None:
        return {own["name"]: own}
    changes = chosen if isinstance(chosen, Mapping) else {name: {} for name in _listed(chosen)}
    datasets = {}
    for name, change in changes.items():
        base = OmegaConf.merge(OmegaConf.structured(DatasetConf), load_option(folders, "dataset", name))
        try:
            datasets[name] = OmegaConf.to_container(OmegaConf.merge(base, change or {}), resolve=True)
        except OmegaConfBaseException as error:
            raise ConfigError(f"datasets.{name}: {error}") from error
    return datasets


def load_option(folders: list[Path], group: str, name: str) -> dict:
    """The YAML file ``<group>/<name>.yaml`` of the first folder that has it."""
    for folder in folders:
        path = folder / group / f"{name}.yaml"
        if path.is_file():
            return yaml.safe_load(path.read_text(encoding="utf-8"))
    known = {
        path.relative_to(folder / group).with_suffix("").as_posix()
        for folder in folders
        for path in (folder / group).rglob("*.yaml")
    }
    raise ConfigError(_unknown(group, name, sorted(known)))


def _kernels(given, own):
    """The kernels of a data set: what is given, the rest from its own settings, one for each gamma."""
    kernel = dict(given)
    if given["kernel"] is None or given["kernel"] == own["kernel"]:
        for key, value in own.items():
            chosen = given["gamma"] is not None or given["gamma_rule"] is not None
            if kernel[key] is None and not (chosen and key in ("gamma", "gamma_rule")):
                kernel[key] = value
    if kernel["kernel"] is None:
        kernel["kernel"] = "rbf"
    return [{**kernel, "gamma": gamma} for gamma in _listed(kernel["gamma"])]


def _listed(value):
    return list(value) if isinstance(value, list | tuple) else [value]


def load_target(path: str):
    """The object at an import path such as ``kpca_lab.SubsetKPCA``."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"target {path!r} cannot be imported: {error}") from error
    except AttributeError:
        public = [entry for entry in dir(importlib.import_module(module)) if not entry.startswith("_")]
        raise ConfigError(_unknown(f"name in {module}:", name, public)) from None


def _check(settings, seed, n_trials, center):
    for name, dataset in settings.datasets.items():
        _check_dataset(name, dataset)
        for kernel in settings.kernels[name]:
            _check_kernel(name, kernel)
    for kind, group in (("method", "methods"), ("selector", "selectors"), ("metric", "metrics")):
        for name, entry in getattr(settings, group).items():
            _check_target(kind, name, entry)
    _check_n_basis(settings.n_basis)
    _check_n_components(settings.n_components or [None])
    for key, value, least in (
        ("seed", seed, 0),
        ("n_trials", n_trials, 1),
        ("repeats", settings.repeats, 1),
        ("n_train", settings.n_train, 1),
        ("n_test", settings.n_test, 1),
        ("workers", settings.workers, 1),
        ("threads", settings.threads, 1),
    ):
        if value is not None and value < least:
            raise ConfigError(f"{key}={value}: must be a whole number from {least}")
    for key, value in settings.limits.items():
        if value is not None and not value > 0:
            raise ConfigError(f"limits.{key}={value}: must be positive, or null for no limit")


def _check_dataset(name, dataset):
    if dataset["name"] not in list_datasets():
        raise ConfigError(_unknown("data set", dataset["name"], list_datasets()))
    known = dataset_options(dataset["name"])
    for option, value in dataset["options"].items():
        if option not in known:
            raise ConfigError(_unknown(f"option of {name}:", option, list(known)))
        if value == "???":
            raise ConfigError(f"{name} needs dataset.options.{option}=...")
        if option == "path" and value is not None and not os.path.exists(value):
            raise ConfigError(f"{name}: there is no file {value}")
    if dataset["scaling"] not in (None, *SCALINGS):
        raise ConfigError(_unknown("scaling", dataset["scaling"], ["null", *SCALINGS]))
    if dataset["split"]["kind"] not in SPLIT_KINDS:
        raise ConfigError(_unknown("split kind", dataset["split"]["kind"], SPLIT_KINDS))


def _check_kernel(name, kernel):
    usable = [known for known in KERNELS if known != "precomputed"]
    if kernel["kernel"] not in usable:
        raise ConfigError(_unknown("kernel", kernel["kernel"], usable))
    if kernel["gamma_rule"] not in (None, "variance"):
        raise ConfigError(_unknown("gamma_rule", kernel["gamma_rule"], ["null", "variance"]))
    gamma = kernel["gamma"]
    if gamma is not None and (isinstance(gamma, bool) or not isinstance(gamma, int | float) or not gamma > 0):
        raise ConfigError(
            f"kernel.gamma={gamma!r} ({name}): must be a positive number, a list of them, or null"
        )


def _check_target(kind, name, entry):
    if entry["target"] == "???":
        raise ConfigError(f"{kind} {name}: its target, the import path of its code, is missing")
    target = load_target(entry["target"])
    if kind == "metric":
        return
    known = [key for key in inspect.signature(target).parameters if key != "self"]
    for parameter in entry["params"]:
        if parameter not in known:
            raise ConfigError(_unknown(f"parameter of {kind} {name}:", parameter, known))
    size = entry.get("size_parameter")
    if size is not None and size not in known:
        raise ConfigError(_unknown(f"size_parameter of method {name}:", size, known))


def _check_n_basis(values):
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not value > 0 or (isinstance(value, float) and value > 1):
            raise ConfigError(
                f"n_basis={value!r}: must be a whole number from 1, a share in (0, 1], or a list of these"
            )


def _check_n_components(values):
    for value in values:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ConfigError(
                f"n_components={value!r}: must be a whole number from 1, a list of these, or null"
            )


def _unknown(what, given, valid):
    close = difflib.get_close_matches(str(given), [str(choice) for choice in valid], n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} {given!r}; {hint}valid choices: {', '.join(map(str, valid))}"
