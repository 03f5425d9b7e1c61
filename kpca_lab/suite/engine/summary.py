"""What a profile took, item by item, kept beside its records for the report."""

import hashlib
import json

from kpca_lab.suite.engine.runner import Plan, Summary
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.files import read_json, write_atomically

__all__ = ["write_summary"]


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
    path = store.root / "summary.json"
    known = read_json(path)
    experiments, skipped = known.get("experiments", {}), known.get("skipped", {})
    environment = read_json(store.root / "environment.json")
    for plan in plans:
        entry = experiments.setdefault(plan.name, {"seconds": None})
        entry |= {"jobs": len(plan.jobs), "command": plan.settings.command}
        identity = hashlib.sha256(" ".join(sorted(plan.jobs)).encode()).hexdigest()[:16]
        # A run that was stopped has left jobs behind without telling it here.
        renewed = plan.name in summary.renewed or entry.get("identity") != identity
        seconds = store.seconds(plan.name, plan.jobs)
        if renewed and seconds is not None:
            told = {key: environment[key] for key in ("date", "commit", "modified")}
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
    write_atomically(path, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
