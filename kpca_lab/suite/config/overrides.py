"""The words of the command line, ``key=value``: taken apart, and checked before Hydra sees them."""

import copy
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override
from hydra.errors import HydraException

from kpca_lab.choices import unknown
from kpca_lab.suite.config.checks import check_n_basis, check_n_components
from kpca_lab.suite.config.schema import KernelConf, LimitsConf, RunConf
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.places import conf_folder

__all__ = ["CONF", "GROUPS", "check_keys", "listed", "load_option", "parse_override"]

CONF = conf_folder()
GROUPS = ("dataset", "method", "selector", "kernel", "metric", "profile", "experiment")
# Keys inside others, by their last word.
NESTED = {
    **{entry.name: f"kernel.{entry.name}" for entry in fields(KernelConf)},
    **{entry.name: f"limits.{entry.name}" for entry in fields(LimitsConf)},
    **{name: f"dataset.{name}" for name in ("name", "options", "scaling", "split")},
    **{name: f"dataset.options.{name}" for name in ("path", "target", "columns", "missing", "categorical")},
    **{name: f"dataset.split.{name}" for name in ("kind", "held_out")},
    "launcher": "hydra/launcher",
    "sweeper": "hydra/sweeper",
}


@cache
def parse_override(text: str) -> Override:
    """An override of the command line, taken apart.

    Raises
    ------
    ConfigError
        If it is none.
    """
    try:
        return _parser().parse_override(text)
    except HydraException as error:
        key, _, value = text.partition("=")
        advice = "check its brackets and quotation marks"
        if not set(value) & set("[]{}()'\"\\"):
            advice = f"put the value into quotation marks inside those of the shell, '{key}=\"{value}\"'"
        raise ConfigError(f"{text} cannot be read ({str(error).splitlines()[0]}): {advice}") from error


@cache
def _parser():
    return OverridesParser.create()


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
    own = [text for text in overrides if text.startswith("hydra/sweeper=")]
    for text in overrides:
        if not own and parse_override(text).is_interval_sweep():
            raise ConfigError(
                f"{text}: an interval is for a sweeper that optimises, hydra/sweeper=NAME; to try all "
                "values, list them (1,2,3) or give range(start,stop,step)"
            )
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
        if first in NESTED:
            raise ConfigError(
                f"unknown key {first!r}; did you mean {NESTED[first]}={text.partition('=')[2]}?"
            )
        raise ConfigError(unknown("key", first, dict.fromkeys([*known, *GROUPS])))
    if first != "hydra" and not set(key) & set("/@"):
        _check_path(key.split("."))
    if override.is_delete():
        return
    if isinstance(override.value(), Glob):
        _check_pattern(text, key, override.value(), conf)
        return
    if not override.is_sweep_override():
        values = [override.value()]
    elif override.is_choice_sweep() or override.is_range_sweep():
        values = list(override.sweep_iterator())
    else:  # an interval, for the sweeper
        return
    for value in values:
        if key == "n_basis":
            check_n_basis(listed(value))
        elif key == "n_components":
            check_n_components(listed(value))
        elif key in GROUPS and conf is not None:
            for option in listed(value):
                if not (conf / key / f"{option}.yaml").is_file():
                    raise ConfigError(unknown(key, str(option), _options([conf], key)))


def _check_path(parts):
    """Refuse names within a key that the schema does not have: nothing would read what Hydra adds."""
    first, *rest = parts
    if rest and first in ("method", "selector", "metric"):
        meant = ".".join([f"{first}s", "NAME", *rest])
        raise ConfigError(
            f"unknown key {'.'.join(parts)!r}; did you mean {meant}, with the name of a {first}?"
        )
    kind = RunConf if first in {entry.name for entry in fields(RunConf)} else None
    for place, part in enumerate(parts):
        if is_dataclass(kind):
            known = {entry.name: entry.type for entry in fields(kind)}
            if part not in known:
                path = parts[:place]
                choices = [".".join([*path, name]) for name in known]
                raise ConfigError(unknown("key", ".".join([*path, part]), choices))
            kind = known[part]
        else:  # a mapping from names to such nodes, or anything
            kind = get_args(kind)[1] if get_origin(kind) is dict else None


def _check_pattern(text, key, pattern, conf):
    """Refuse a pattern of names where there are no names, or none that it fits."""
    if key not in GROUPS:
        raise ConfigError(
            f"{text}: a pattern is for names of {', '.join(GROUPS)}; list the values (1,2,3), or give "
            "range(start,stop,step)"
        )
    if conf is not None:
        options = _options([conf], key)
        if not pattern.filter(options):
            raise ConfigError(f"{text}: fits none of {', '.join(options)}")


def _options(folders, group):
    return sorted(
        {
            path.relative_to(folder / group).with_suffix("").as_posix()
            for folder in folders
            for path in (folder / group).rglob("*.yaml")
        }
    )


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


def listed(value: Any) -> list:
    """A value as a list, if it is none."""
    return list(value) if isinstance(value, list | tuple) else [value]
