"""What a composed configuration means: the profile merged in, data sets and kernels filled in."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from kpca_lab.choices import unknown
from kpca_lab.suite.config.checks import check
from kpca_lab.suite.config.overrides import GROUPS, listed, load_option, parse_override
from kpca_lab.suite.config.schema import DatasetConf
from kpca_lab.suite.config.settings import PROFILES, Settings
from kpca_lab.suite.errors import ConfigError

__all__ = ["config_folders", "plain_settings", "settings_of"]

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


def settings_of(composed: DictConfig) -> Settings:
    """What a configuration that ``hydra.main`` composed means; see :class:`Settings`."""
    hydra = HydraConfig.get()
    given = [parse_override(text) for text in hydra.overrides.task]
    return plain_settings(composed, given, config_folders(hydra))


def plain_settings(composed: DictConfig, given: list[Override], folders: list[Path]) -> Settings:
    """What a composed configuration means.

    Parameters
    ----------
    composed : DictConfig
        Without its node ``hydra``.
    given : list of Override
        The user's overrides, which come before those of the profile.
    folders : list of Path
        Where YAML files are.

    Returns
    -------
    Settings

    Raises
    ------
    ConfigError
        With the valid choices.
    """
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
    for dataset in datasets.values():
        if dataset["options"].get("path") is not None:
            dataset["options"]["path"] = os.path.expanduser(dataset["options"]["path"])
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
        experiment=experiment or f"custom/{_own_name(datasets)}",
        datasets=datasets,
        kernels={name: _kernels(plain["kernel"], dataset["kernel"]) for name, dataset in datasets.items()},
        n_basis=listed(plain["n_basis"]),
        n_components=None if plain["n_components"] is None else listed(plain["n_components"]),
        seeds=list(range(seed, seed + n_trials)),
        changes=changes,
        command=_command([override.input_line for override in given]),
    )
    check(settings, seed, n_trials)
    return settings


def _own_name(datasets):
    """The name of a run of one's own: its data sets, or the file where the data are the user's."""
    names = []
    for name, dataset in datasets.items():
        path = dataset["options"].get("path")
        if path is None or path == "???":
            names.append(name.replace("/", "_"))
        else:
            # Files of the same name in other folders are other data.
            digest = hashlib.sha256(str(Path(path).resolve()).encode()).hexdigest()[:6]
            names.append(f"{re.sub(r'[^A-Za-z0-9_.-]', '_', Path(path).stem)}-{digest}")
    return "+".join(names)


def _keep_chosen(plain, override):
    """Of methods, selectors or measures that the user chooses, leave out those that an experiment adds."""
    group = f"{override.key_or_group}s"
    if group in ("methods", "selectors", "metrics") and not override.is_delete():
        chosen = [str(name) for name in listed(override.value())]
        if set(chosen) <= plain[group].keys():
            plain[group] = {name: plain[group][name] for name in chosen}


def _command(overrides):
    words = [f"'{word}'" if set(word) & set("[]{}() ,'$") else word for word in overrides]
    return " ".join(["kpca-lab run", *words])


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
    changes = chosen if isinstance(chosen, Mapping) else {name: {} for name in listed(chosen)}
    datasets = {}
    for name, change in changes.items():
        base = OmegaConf.merge(OmegaConf.structured(DatasetConf), load_option(folders, "dataset", name))
        try:
            datasets[name] = OmegaConf.to_container(OmegaConf.merge(base, change or {}), resolve=True)
        except OmegaConfBaseException as error:
            raise ConfigError(f"datasets.{name}: {error}") from error
    return datasets


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
    return [{**kernel, "gamma": gamma} for gamma in listed(kernel["gamma"])]


def config_folders(hydra: DictConfig) -> list[Path]:
    """The folders that Hydra searches for YAML files."""
    sources = [source for source in hydra.runtime.config_sources if source.provider != "schema"]
    return [Path(source.path) for source in sources if source.schema == "file"]
