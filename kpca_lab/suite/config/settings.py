"""Settings: a run ready to be cut into jobs."""

from dataclasses import dataclass

__all__ = ["PROFILES", "Settings"]

PROFILES = ("smoke", "quick", "paper")
# Overrides that the rows of a run show in columns of their own, or in the parameters of a method.
SHOWN = ("dataset", "datasets", "method", "selector", "metric", "center", "seed", "n_trials")
SHOWN += ("n_basis", "n_components", "dataset.options.path")


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
