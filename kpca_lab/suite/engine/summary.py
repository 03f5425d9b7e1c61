"""What a run came to: in lines for people, and item by item in ``summary.json`` for the report."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kpca_lab.datasets.catalogue import CATALOGUE
from kpca_lab.suite.engine.environment import read_environment
from kpca_lab.suite.engine.plan import Plan
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.files import read_json, set_aside, write_atomically
from kpca_lab.suite.measure.timing import duration

__all__ = ["Failure", "Summary", "read_summary", "write_summary"]


@dataclass(frozen=True)
class Failure:
    """A job that did not succeed, or a part of one."""

    job: str
    status: str
    error: str


@dataclass
class Summary:
    """What a run came to.

    Attributes
    ----------
    computed, failed, kept : int
        Jobs computed now (by this process or another at the same time), how many of them failed, wholly or
        in part, and jobs done before.
    renewed : set of str
        The experiments that jobs were computed of.
    failures : list of Failure
    skipped : dict
        By data set or package that cannot be had: the experiments that lack it and the command that gets it.
    seconds : float
    """

    computed: int = 0
    failed: int = 0
    kept: int = 0
    renewed: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    skipped: dict[str, tuple[list[str], str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 unless something failed; missing data is no failure."""
        return 1 if self.failures else 0

    def text(self) -> str:
        """The summary in lines."""
        sound = self.computed - self.failed
        parts = [f"{sound} {'job' if sound == 1 else 'jobs'} computed"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        lines = [f"{', '.join([*parts, f'{self.kept} done before'])}, in {duration(self.seconds)}"]
        lines += self._skipped_lines()
        if self.failures:
            lines.append(f"{len(self.failures)} {'failure' if len(self.failures) == 1 else 'failures'}:")
            lines.extend(f"  {entry.status}: {entry.job}: {entry.error}" for entry in self.failures)
        return "\n".join(lines)

    def _skipped_lines(self):
        """A line for each source of data, or package, that is missing."""
        sources: dict[str, list[str]] = {}
        for missing in sorted(self.skipped):
            entry = CATALOGUE.get(missing)
            source = entry.file_sets[0] if entry is not None and entry.file_sets else missing
            sources.setdefault(source, []).append(missing)
        lines = []
        for source, names in sources.items():
            what = names[0] if len(names) == 1 else f"{source} ({len(names)} data sets)"
            items = sorted({item for name in names for item in self.skipped[name][0]})
            command = self.skipped[names[0]][1]
            lines.append(f"skipped, without {what}: {_few(items)}; to get it: {command}")
        return lines


def _few(items):
    """Names of experiments; how many of each paper if they are many."""
    if len(items) <= 4:
        return ", ".join(items)
    papers = Counter(item.partition("/")[0] for item in items)
    return ", ".join(f"{count} of {paper}" for paper, count in papers.items())


def read_summary(root: Path) -> dict:
    """What ``summary.json`` tells; nothing where there is none, or a damaged one, which is set aside.

    Parameters
    ----------
    root : Path
        Results of the profile.

    Returns
    -------
    dict
        ``seconds`` in all; ``experiments``, by name; ``skipped``, by what is missing: a list of experiments,
        and the command that fetches it.
    """
    found = read_json(_path(root), ("seconds", "experiments", "skipped"))
    if found and not _is_summary(**found):
        set_aside(_path(root), "it is no summary of experiments")
        found = {}
    return found or {"seconds": None, "experiments": {}, "skipped": {}}


def _path(root):
    return root / "summary.json"


def _is_summary(seconds, experiments, skipped, **others):
    try:
        return (
            seconds >= 0
            and all(entry.keys() >= {"jobs", "seconds"} for entry in experiments.values())
            and all(isinstance(entry, list) and len(entry) == 2 for entry in skipped.values())
        )
    except (TypeError, AttributeError):
        return False


def write_summary(store: Store, plans: list[Plan], summary: Summary) -> None:
    """Keep in ``summary.json`` what each experiment took and what was skipped for want of data.

    Parameters
    ----------
    store : Store
    plans : list of Plan
        What was run.
    summary : Summary
        What it came to.
    """
    known, environment = read_summary(store.root), read_environment(store.root)
    experiments, skipped = known["experiments"], known["skipped"]
    for plan in plans:
        entry = experiments.setdefault(plan.name, {"seconds": None})
        entry |= {"jobs": len(plan.jobs), "command": plan.settings.command}
        identity = hashlib.sha256(" ".join(sorted(plan.jobs)).encode()).hexdigest()[:16]
        # A run that was stopped has left jobs behind without telling it here.
        renewed = plan.name in summary.renewed or entry.get("identity") != identity
        seconds = store.seconds(plan.name, plan.jobs)
        if renewed and seconds is not None:
            told = {key: environment.get(key) for key in ("date", "commit", "modified")}
            entry |= {"identity": identity, "seconds": seconds, **told}
    names = {plan.name for plan in plans}
    for dataset in list(skipped):
        skipped[dataset][0] = [name for name in skipped[dataset][0] if name not in names]
    for dataset, (missing, command) in summary.skipped.items():
        skipped[dataset] = [sorted({*skipped.get(dataset, [[]])[0], *missing}), command]
    content = {
        "seconds": sum(entry["seconds"] or 0.0 for entry in experiments.values()),
        "experiments": experiments,
        "skipped": {dataset: entry for dataset, entry in skipped.items() if entry[0]},
    }
    write_atomically(_path(store.root), (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
