"""Sizes that no data set of a run can have, found before anything is computed."""

from kpca_lab.datasets.row_counts import most_rows
from kpca_lab.datasets.splits import rows_held_out
from kpca_lab.suite.config.settings import Settings
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.jobs import dataset_of

__all__ = ["most_samples", "refuse_impossible_sizes"]


def refuse_impossible_sizes(settings: Settings) -> None:
    """Refuse basis sizes and numbers of components above the samples of every data set of a run.

    Raises
    ------
    ConfigError
    """
    wanted = {"n_basis": settings.n_basis, "n_components": settings.n_components or []}
    largest = {
        key: max((value for value in values if isinstance(value, int)), default=0)
        for key, values in wanted.items()
    }
    # Few are never too many: then nothing needs to be counted.
    if max(largest.values()) <= 10:
        return
    most = {
        name: most_samples(dataset_of(settings, name, settings.seeds[0])[0]) for name in settings.datasets
    }
    if None in most.values():
        return
    for key, value in largest.items():
        if value > max(most.values()):
            found = ", ".join(f"{name} has {count} training samples" for name, count in most.items())
            raise ConfigError(f"{key}={value} is more than any data set of this run can have: {found}")


def most_samples(dataset: dict) -> int | None:
    """How many training samples there are at most, without reading large files; None if that is not known.

    Parameters
    ----------
    dataset : dict
        As in a :class:`kpca_lab.suite.jobs.Job`.
    """
    rows = most_rows(dataset["name"], dataset["options"])
    if rows is None or dataset["split"]["kind"] != "random":
        return rows
    share = dataset["split"]["held_out"]
    if share is None:
        held_out = rows_held_out(dataset["name"], rows)
    else:
        held_out = round(share * rows) if share < 1 else int(share)
    return rows - held_out if held_out < rows else rows
