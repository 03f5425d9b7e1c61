"""Who takes part in the leaderboard, and on what: all that ``conf/leaderboard.yaml`` does not leave out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from kpca_lab.choices import unknown
from kpca_lab.datasets import load_dataset
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.config.settings import Settings
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.jobs import Job, dataset_of
from kpca_lab.suite.places import conf_folder
from kpca_lab.suite.targets import parameters_of

__all__ = ["Entrant", "Event", "events", "read_rules"]


@dataclass(frozen=True, order=True)
class Entrant:
    """A method, and a selector where it takes a basis."""

    method: str
    selector: str = ""

    @property
    def name(self) -> str:
        """Method and selector in one word."""
        return f"{self.method}/{self.selector}" if self.selector else self.method


@dataclass(frozen=True)
class Event:
    """A data set: its settings, and which entrants are measured on it with which sizes.

    Attributes
    ----------
    name : str
    settings : Settings
        Of one data set and all methods and selectors.
    sizes : tuple of int
        Sizes of the basis.
    trials : int
    most_rows : int
        Of more, so many are drawn.
    once : tuple of str
        Measures of the first trial only.
    entrants : tuple of Entrant
    """

    name: str
    settings: Settings
    sizes: tuple[int, ...]
    trials: int
    most_rows: int
    once: tuple[str, ...]
    entrants: tuple[Entrant, ...]

    def capped(self) -> "Event":
        """The same with so many rows drawn as it may have, if there are more.

        Raises
        ------
        DatasetUnavailableError
        """
        (chosen,) = self.settings.datasets.values()
        if len(load_dataset(chosen["name"], **chosen["options"]).X) <= self.most_rows:
            return self
        return replace(self, settings=replace(self.settings, n_train=self.most_rows))

    def jobs(self, trial: int) -> Iterator[tuple[Entrant, int | None, Job]]:
        """The jobs of one trial: one for each entrant and size, the smaller sizes first."""
        (name,) = self.settings.datasets
        dataset, split = dataset_of(self.settings, name, trial)
        metrics = {
            measure: entry
            for measure, entry in self.settings.metrics.items()
            if trial == 0 or measure not in self.once
        }
        (kernel,) = self.settings.kernels[name]
        for size in self.sizes:
            for entrant in self.entrants:
                method = self.settings.methods[entrant.method]
                sized = _size_parameter(method) is not None
                if not sized and size != self.sizes[0]:
                    continue
                settings = {
                    "methods": {entrant.method: method},
                    "selectors": {key: self.settings.selectors[key] for key in [entrant.selector] if key},
                    "metrics": metrics,
                    "n_basis": [size],
                    "n_components": [min(self.settings.n_components[0], size)],
                    "center": None,
                    "repeats": 1,
                    "timing": True,
                    "parameters": {},
                }
                job = Job(self.settings.experiment, dataset, split, trial, kernel, settings)
                yield entrant, size if sized else None, job


def _size_parameter(method: dict) -> str | None:
    """The parameter that a method takes its size by, if it has one that is not fixed."""
    size = method["size_parameter"] or ("n_basis" if "n_basis" in parameters_of(method["target"]) else None)
    return None if size in method["params"] else size


def read_rules(profile: str, conf: Path | None = None) -> dict[str, Any]:
    """What ``leaderboard.yaml`` says for a profile.

    Parameters
    ----------
    profile : str
        A key of its ``profiles``.
    conf : Path, optional
        The folder of the configuration.

    Raises
    ------
    ConfigError
        If there is no such profile.
    """
    folder = conf_folder() if conf is None else conf
    rules = yaml.safe_load((folder / "leaderboard.yaml").read_text(encoding="utf-8"))
    profiles = rules.pop("profiles")
    if profile not in profiles:
        raise ConfigError(unknown("profile of the leaderboard", profile, list(profiles)))
    own = dict(profiles[profile])
    datasets = {**rules["datasets"], **own.pop("datasets", {})}
    return {**rules, **own, "datasets": datasets}


def events(
    profile: str, results_dir: str, *, only: list[str] | None = None, conf: Path | None = None
) -> list[Event]:
    """All data sets of the leaderboard, with those who take part.

    Parameters
    ----------
    profile : str
    results_dir : str
        The store is in its folder ``leaderboard``.
    only : list of str, optional
        Names of data sets; all by default.
    conf : Path, optional
        The folder of the configuration.
    """
    folder = conf_folder() if conf is None else conf
    rules = read_rules(profile, folder)
    changes = {name: dict(change or {}) for name, change in rules["datasets"].items()}
    left_out = {name for name, change in rules["datasets"].items() if change is None}
    left_out |= set(rules["without"]["datasets"])
    names = [name for name in _found(folder, "dataset") if name not in left_out]
    names += [name for name in changes if "like" in changes[name] and name not in left_out]
    for name in only or []:
        if name not in names:
            raise ConfigError(unknown("data set of the leaderboard", name, names))
    names = [name for name in names if not only or name in only]
    settings = _compose(rules, {changes.get(name, {}).get("like", name) for name in names}, folder)
    entrants = _entrants(settings, rules)
    return [_event(name, changes.get(name, {}), rules, settings, entrants, results_dir) for name in names]


def _found(folder, group):
    files = (folder / group).rglob("*.yaml")
    return sorted(path.relative_to(folder / group).with_suffix("").as_posix() for path in files)


def _compose(rules, datasets, folder):
    chosen = {
        group: [name for name in _found(folder, group) if name not in rules["without"][f"{group}s"]]
        for group in ("method", "selector")
    }
    chosen["metric"] = [*rules["measures"], *rules["measures_once"]]
    overrides = [f"{group}=[{','.join(names)}]" for group, names in chosen.items()]
    overrides += [f"datasets=[{','.join(sorted(datasets))}]", f"n_components={rules['n_components']}"]
    overrides += [f"kernel.{key}={value}" for key, value in rules["kernel"].items()]
    return compose_settings(overrides, conf=folder)


def _entrants(settings, rules):
    found = []
    for method, entry in settings.methods.items():
        if "basis" not in parameters_of(entry["target"]):
            found.append(Entrant(method))
            continue
        every = method == rules["every_selector"]
        found += [
            Entrant(method, selector)
            for selector in settings.selectors
            if every or selector in rules["selectors"]
        ]
    return tuple(found)


def _event(name, change, rules, settings, entrants, results_dir):
    rules = {**rules, **change}
    like = change.get("like", name)
    chosen = dict(settings.datasets[like])
    chosen["options"] = {**chosen["options"], **change.get("options", {})}
    chosen["scaling"] = change.get("scaling", chosen["scaling"])
    if chosen["split"]["kind"] not in ("official", "published"):
        chosen["split"] = {"kind": "random", "held_out": rules["held_out"]}
    own = replace(
        settings,
        experiment=f"leaderboard/{name.replace('/', '_')}",
        profile="leaderboard",
        results_dir=results_dir,
        datasets={name: chosen},
        kernels={name: settings.kernels[like]},
        timing=True,
        limits={"seconds": float(rules["seconds"]), "memory_mb": float(rules["memory_mb"])},
        changes={},
    )
    sizes = tuple(sorted(rules["n_basis"]))
    once = tuple(rules["measures_once"])
    return Event(name, own, sizes, rules["n_trials"], rules["most_rows"], once, entrants)
