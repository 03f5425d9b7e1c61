"""The identity of a job: a hash of what determines its values, and of nothing else."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from kpca_lab.suite.engine.code_identity import code_version
from kpca_lab.suite.engine.data_identity import data_version
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.jobs import Job, plain_value

__all__ = ["identified", "job_id"]

# What runs the jobs of experiments without code of their own; named, not imported, for plans do not need it.
EVALUATE = "kpca_lab.suite.measure.evaluate.evaluate"


def job_id(job: Job) -> str:
    """The identity of a job: 16 hexadecimal digits.

    It is made of the job's settings, the files and options of its data, and the code that reads and
    evaluates them.
    """
    run = experiment.runners.get(job.experiment)
    spec = asdict(job) | {"settings": identified(job.settings)}
    parts = (
        json.dumps(spec, sort_keys=True, default=plain_value),
        data_version(job.dataset),
        code_version(EVALUATE if run is None else f"{run.__module__}.{run.__qualname__}"),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def identified(settings: Any) -> Any:
    """Plain settings in which the import paths under the key ``target`` stand as the code they lead to.

    Examples
    --------
    >>> from kpca_lab.suite.engine.identity import identified
    >>> moved = {"target": "kpca_lab.methods.subset.SubsetKPCA", "params": {}}
    >>> identified(moved) == identified({"target": "kpca_lab.SubsetKPCA", "params": {}})
    True
    """
    if isinstance(settings, dict):
        return {
            key: (isinstance(value, str) and key == "target" and code_version(value)) or identified(value)
            for key, value in settings.items()
        }
    if isinstance(settings, list | tuple):
        return [identified(value) for value in settings]
    return settings
