"""Checks of a configuration, before anything is computed; every error names the valid choices."""

import os
import types
import typing

from kpca_lab.choices import unknown
from kpca_lab.datasets import dataset_options, list_datasets
from kpca_lab.datasets.scaling import SCALINGS
from kpca_lab.kernels import KERNELS
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.targets import import_target, parameters_of
from kpca_lab.widths import GAMMA_RULES

__all__ = ["check", "check_n_basis", "check_n_components"]

SPLIT_KINDS = ("none", "random", "published", "official")
# Parameters of estimators that a run sets for all methods, by the key that sets them.
AXES = {"basis": "selector", "selector": "selector", "n_basis": "n_basis"}


def check(settings, seed: int, n_trials: int) -> None:
    """Refuse settings that cannot be run.

    Raises
    ------
    ConfigError
    """
    for name, dataset in settings.datasets.items():
        _check_dataset(name, dataset)
        for kernel in settings.kernels[name]:
            _check_kernel(name, kernel)
    for kind, group in (("method", "methods"), ("selector", "selectors"), ("metric", "metrics")):
        if not getattr(settings, group):
            raise ConfigError(f"no {kind} is chosen: give {kind}=NAME, or {kind}=[NAME,NAME]")
        for name, entry in getattr(settings, group).items():
            _check_target(kind, name, entry)
    check_n_basis(settings.n_basis)
    check_n_components(settings.n_components or [None])
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
        raise ConfigError(unknown("data set", dataset["name"], list_datasets()))
    known = dataset_options(dataset["name"])
    for option, value in dataset["options"].items():
        if option not in known:
            raise ConfigError(unknown(f"option of {name}:", option, list(known)))
        if value == "???":
            raise ConfigError(f"{name} needs dataset.options.{option}=...")
        if option == "path" and value is not None and not os.path.exists(value):
            raise ConfigError(f"{name}: there is no file {value}")
        if isinstance(known[option], int) and not isinstance(value, type(known[option])):
            expected = "true or false" if isinstance(known[option], bool) else "a whole number"
            raise ConfigError(f"dataset.options.{option}={value!r} ({name}): must be {expected}")
    if dataset["scaling"] not in (None, *SCALINGS):
        raise ConfigError(unknown("scaling", dataset["scaling"], ["null", *SCALINGS]))
    if dataset["split"]["kind"] not in SPLIT_KINDS:
        raise ConfigError(unknown("split kind", dataset["split"]["kind"], SPLIT_KINDS))


def _check_kernel(name, kernel):
    usable = [known for known in KERNELS if known != "precomputed"]
    if kernel["kernel"] not in usable:
        raise ConfigError(unknown("kernel", kernel["kernel"], usable))
    if kernel["gamma_rule"] not in (None, "variance"):
        raise ConfigError(unknown("gamma_rule", kernel["gamma_rule"], ["null", "variance"]))
    gamma = kernel["gamma"]
    number = isinstance(gamma, int | float) and not isinstance(gamma, bool) and gamma > 0
    if gamma is not None and gamma not in GAMMA_RULES and not number:
        rules = ", ".join(GAMMA_RULES)
        raise ConfigError(
            f"kernel.gamma={gamma!r} ({name}): must be a positive number, a rule ({rules}), a list of these, "
            "or null"
        )
    degree = kernel["degree"]
    if degree is not None and (
        isinstance(degree, bool) or not isinstance(degree, int | float) or not degree >= 0
    ):
        raise ConfigError(f"kernel.degree={degree!r} ({name}): must be a number from 0, or null")


def _check_target(kind, name, entry):
    if entry["target"] == "???":
        raise ConfigError(f"{kind} {name}: its target, the import path of its code, is missing")
    known = parameters_of(entry["target"])
    if kind == "metric":
        known = known[1:]  # the first is what is measured
    elif kind == "method":
        known = [parameter for parameter in known if parameter not in AXES]
    hints = typing.get_type_hints(import_target(entry["target"]))
    for parameter, value in entry["params"].items():
        if kind == "method" and parameter in AXES:
            raise ConfigError(
                f"methods.{name}.params.{parameter}: is an axis of the run, set it as {AXES[parameter]}="
            )
        if parameter not in known:
            raise ConfigError(unknown(f"parameter of {kind} {name}:", parameter, known))
        if parameter in hints and not _is_a(value, hints[parameter]):
            raise ConfigError(
                f"{kind}s.{name}.params.{parameter}={value!r}: must be {_type_text(hints[parameter])}"
            )
    size = entry.get("size_parameter")
    if size is not None and size not in known:
        raise ConfigError(unknown(f"size_parameter of method {name}:", size, known))


def _is_a(value, hint):
    """Whether a plain value has a type of simple ones; other types are not judged."""
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if not set(choices) <= {bool, int, float, str, types.NoneType}:
        return True
    if isinstance(value, bool):
        return bool in choices
    return isinstance(value, choices) or (float in choices and isinstance(value, int))


def _type_text(hint):
    return getattr(hint, "__name__", str(hint)).replace("None", "null")


def check_n_basis(values: list) -> None:
    """Refuse what is no basis size."""
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not value > 0 or (isinstance(value, float) and value > 1):
            raise ConfigError(
                f"n_basis={value!r}: must be a whole number from 1, a share in (0, 1], or a list of these"
            )


def check_n_components(values: list) -> None:
    """Refuse what is no number of components."""
    for value in values:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ConfigError(
                f"n_components={value!r}: must be a whole number from 1, a list of these, or null"
            )
