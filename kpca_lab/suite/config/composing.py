"""Configuration: what a composed one means."""

import copy
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from kpca_lab.suite.config.checks import (
    ConfigError,
    check,
    check_n_basis,
    check_n_components,
    load_target,
    unknown,
)
from kpca_lab.suite.config.schema import DatasetConf, RunConf
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.places import conf_folder

__all__ = [
    "Composer",
    "ConfigError",
    "Settings",
    "check_keys",
    "compose_experiments",
    "compose_many",
    "compose_settings",
    "experiment_items",
    "load_target",
    "settings_of",
]

CONF = conf_folder()
PROFILES = ("smoke", "quick", "paper")
GROUPS = ("dataset", "method", "selector", "kernel", "metric", "profile", "experiment")
# Overrides that do not change what an experiment computes.
NEUTRAL = (
    "experiment",
    "profile",
    "results_dir",
    "workers",
    "threads",
    "force",
    "limits",
    "hydra",
    "title",
    "titles",
)
# Overrides that the rows of a run show in columns of their own, or in the parameters of a method.
SHOWN = ("dataset", "datasets", "method", "selector", "metric", "center", "seed", "n_trials")
SHOWN += ("n_basis", "n_components")


@dataclass(frozen=True)
class Settings:
    """A run ready to be cut into jobs: plain values, the profile merged in, everything checked.

    The attributes are those of :class:`RunConf`, with ``datasets`` a mapping of names to plain settings,
    ``kernels`` a list for each data set, ``n_basis`` and ``n_components`` lists, ``seeds`` the trials.
    ``changes`` are the user's overrides that change what is computed, by key. ``command`` runs it again.
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
    changes: dict
    command: str

    @property
    def canonical(self) -> bool:
        """Whether this is an experiment as its file says, so that its records are the experiment's own."""
        return not self.experiment.startswith("custom/") and not self.changes

    @property
    def labels(self) -> dict:
        """The changes that rows do not show otherwise: such as the number of training samples."""
        return {
            key.removeprefix("parameters."): value for key, value in self.changes.items() if not _shown(key)
        }


def _shown(key):
    return key in SHOWN or key.split(".")[0] in ("methods", "kernel")


def experiment_items(conf: Path = CONF) -> list[str]:
    """Names ``<paper>/<item>`` of all experiments that have a YAML file."""
    folder = Path(conf) / "experiment"
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.yaml"))


class Composer:
    """Composes configurations that differ mostly in values, many times faster than Hydra does it one by one.

    Parameters
    ----------
    compose : callable
        From a list of overrides to a configuration with its ``hydra`` node. It is called once for
        each choice of groups; values are put in after that, checked by the schema.
    conf : Path
        The folder of the configuration.
    """

    def __init__(self, compose, conf: Path = CONF):
        self._compose, self._conf, self._bases = compose, conf, {}

    def settings(self, overrides: Iterable[str]) -> Settings:
        """Compose one configuration, and check it."""
        check_keys(overrides, conf=self._conf)
        given = [parse_override(text) for text in overrides]
        groups = tuple(override.input_line for override in given if self._chooses_groups(override))
        if groups not in self._bases:
            try:
                composed = self._compose(list(groups))
            except (HydraException, OmegaConfBaseException) as error:
                raise ConfigError(_with_cause(error)) from error
            folders = config_folders(composed.hydra)
            self._bases[groups] = _without_hydra(composed), folders
        base, folders = self._bases[groups]
        config = copy.deepcopy(base)
        for override in given:
            if not self._chooses_groups(override):
                try:
                    OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
                except OmegaConfBaseException as error:
                    hint = f" (to add a key, write +{override.input_line})" if "struct" in str(error) else ""
                    raise ConfigError(f"{override.input_line}: {error}{hint}") from error
        return _settings(config, given, folders)

    def _chooses_groups(self, override: Override) -> bool:
        key = override.key_or_group
        if key == "profile" and load_option([self._conf], key, override.value()) == {key: override.value()}:
            return False  # a profile that is a name and nothing more
        named = key in GROUPS or not set(key).isdisjoint("/@") or key.startswith("hydra")
        return named or override.is_add() or override.is_delete()


def _with_cause(error):
    causes = [str(error)]
    while (error := error.__cause__) is not None:
        causes.append(str(error))
    return "\n".join(dict.fromkeys(causes))


def _without_hydra(composed):
    plain = copy.copy(composed)
    with open_dict(plain):
        plain.pop("hydra", None)
    return plain


@cache
def parse_override(text: str) -> Override:
    """An override of the command line, taken apart."""
    return _parser().parse_override(text)


@cache
def _parser():
    return OverridesParser.create()


def config_folders(hydra: DictConfig) -> list[Path]:
    """The folders that Hydra searches for YAML files."""
    sources = [source for source in hydra.runtime.config_sources if source.provider != "schema"]
    return [Path(source.path) for source in sources if source.schema == "file"]


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
    return compose_many([overrides], conf=conf)[0]


def compose_many(many: Iterable[Iterable[str]], *, conf: Path = CONF) -> list[Settings]:
    """The same for several configurations."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf), version_base="1.3"):
        composer = Composer(lambda texts: compose("config", overrides=texts, return_hydra_config=True), conf)
        return [composer.settings(list(overrides)) for overrides in many]


def compose_experiments(items: Iterable[str], profile: str, results_dir: str = "results") -> list[Settings]:
    """Settings of experiments as their files say.

    Composing takes Hydra a good part of a second each, so what was composed is kept beside the results
    and used again as long as no file of the configuration has changed.

    Parameters
    ----------
    items : iterable of str
        Such as ``"washizawa2012/table1"``.
    profile : str
    results_dir : str

    Returns
    -------
    list of Settings
    """
    items = list(items)
    path = Path(results_dir) / profile / "jobs" / "settings.json"
    version = _conf_version()
    kept = {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["version"] == version:
            kept = {item: Settings(**entry) for item, entry in stored["items"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    missing = [item for item in items if item not in kept]
    own = [f"profile={profile}", *([] if results_dir == "results" else [f"results_dir={results_dir}"])]
    if missing:
        kept |= zip(missing, compose_many([f"+experiment={item}", *own] for item in missing))
        content = {"version": version, "items": {item: asdict(entry) for item, entry in kept.items()}}
        write_atomically(path, json.dumps(content).encode())
    return [kept[item] for item in items]


def _conf_version():
    digest = hashlib.sha256()
    code = sorted(Path(__file__).parent.glob("*.py"))
    for path in [*code, *sorted(CONF.rglob("*.yaml"))]:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check_keys(overrides: Iterable[str], *, conf: Path = CONF) -> None:
    """Refuse overrides of keys and options that do not exist, before Hydra does with less to say.

    Parameters
    ----------
    overrides : iterable of str
        With sweeps, such as ``seed=1,2``, or without.
    conf : Path
        The folder of the configuration. More folders, ``hydra.searchpath``, leave options to Hydra.

    Raises
    ------
    ConfigError
    """
    overrides = list(overrides)
    alone = not any("hydra.searchpath" in text for text in overrides)
    for text in overrides:
        _check_key(text, Path(conf) if alone else None)


@cache
def _check_key(text, conf):
    known = [entry.name for entry in fields(RunConf)]
    override = parse_override(text)
    key = override.key_or_group
    first = re.split("[./@]", key)[0]
    if first not in (*known, *GROUPS, "hydra"):
        raise ConfigError(unknown("key", first, dict.fromkeys([*known, *GROUPS])))
    if override.is_delete():
        return
    values = list(override.sweep_iterator()) if override.is_sweep_override() else [override.value()]
    for value in values:
        if key == "n_basis":
            check_n_basis(_listed(value))
        elif key == "n_components":
            check_n_components(_listed(value))
        elif key in GROUPS and conf is not None:
            for option in _listed(value):
                if not (conf / key / f"{option}.yaml").is_file():
                    raise ConfigError(unknown(key, str(option), _options([conf], key)))


def _options(folders, group):
    return sorted(
        {
            path.relative_to(folder / group).with_suffix("").as_posix()
            for folder in folders
            for path in (folder / group).rglob("*.yaml")
        }
    )


def settings_of(composed: DictConfig) -> Settings:
    """What a configuration that ``hydra.main`` composed means; see :class:`Settings`."""
    hydra = HydraConfig.get()
    given = [parse_override(text) for text in hydra.overrides.task]
    return _settings(composed, given, config_folders(hydra))


def _settings(composed, given, folders):
    try:
        config = _with_profile(composed, given)
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=False)
    except OmegaConfBaseException as error:
        raise ConfigError(str(error)) from error
    keys = [override.key_or_group for override in given]
    if "dataset" in keys:
        plain["datasets"] = None
    for override in given:
        _keep_chosen(plain, override)
    datasets = _datasets(plain, folders)
    seed, n_trials = plain.pop("seed"), plain.pop("n_trials")
    experiment = plain["experiment"]
    changes = {
        override.key_or_group: None if override.is_delete() else override.value()
        for override in given
        if re.split("[./@]", override.key_or_group)[0] not in NEUTRAL
    }
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
        changes=changes,
        command=_command([override.input_line for override in given]),
    )
    check(settings, seed, n_trials)
    return settings


def _keep_chosen(plain, override):
    """Of methods, selectors or measures that the user chooses, leave out those that an experiment adds."""
    group = f"{override.key_or_group}s"
    if group in ("methods", "selectors", "metrics") and not override.is_delete():
        chosen = [str(name) for name in _listed(override.value())]
        if set(chosen) <= plain[group].keys():
            plain[group] = {name: plain[group][name] for name in chosen}


def _command(overrides):
    words = [f"'{word}'" if set(word) & set("[]{}() ,'$") else word for word in overrides]
    return " ".join(["python -m experiments.run", *words])


def _with_profile(composed, given):
    """Merge the profile's block, under what the user has given."""
    profile = composed.profile
    if profile not in PROFILES:
        raise ConfigError(unknown("profile", profile, PROFILES))
    odd = sorted(set(composed.profiles) - set(PROFILES))
    if odd:
        raise ConfigError(unknown("profile in profiles:", odd[0], PROFILES))
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


@cache
def _read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def load_option(folders: list[Path], group: str, name: str) -> dict:
    """The YAML file ``<group>/<name>.yaml`` of the first folder that has it."""
    for folder in folders:
        path = folder / group / f"{name}.yaml"
        if path.is_file():
            return copy.deepcopy(_read(path))
    raise ConfigError(unknown(group, name, _options(folders, group)))


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
