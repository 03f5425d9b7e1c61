"""What the report page says about the runs behind a profile: what, when, with which code, what is missing."""

from kpca_lab.suite.engine.records_file import RECORDS_SUFFIX
from kpca_lab.suite.measure.timing import duration
from kpca_lab.suite.render.markdown import natural_order

__all__ = [
    "command_of",
    "computing_time",
    "experiments_of",
    "lacking_items",
    "provenance",
    "skipped_for_want",
]


def experiments_of(profile_dir, found_records, summary) -> list[dict]:
    """The experiments with records: their numbers of jobs and rows, command, time, and what failed."""
    found = []
    told = summary.get("experiments", {})
    for path, records in found_records.items():
        bad = records[records["status"] != "done"]
        failures = bad[["experiment", "dataset", "split", "method", "selector", "status", "error"]]
        fits = records.drop_duplicates(["job", "method", "selector", "m", "seconds"])["seconds"]
        name = f"{path.parent.name}/{path.name.removesuffix(RECORDS_SUFFIX)}"
        own = told.get(name, {})
        command = "" if name.startswith("custom/") else f"kpca-lab run +experiment={name}"
        found.append(
            {
                "name": name,
                "command": own.get("command") or (command and f"{command} profile={profile_dir.name}"),
                "jobs": records["job"].nunique(),
                "rows": len(records),
                "seconds": own.get("seconds") or float(fits.sum()),
                "date": _day_and_time(own.get("date")),
                "commit": _commit(own),
                "failures": failures.drop_duplicates().to_dict("records"),
            }
        )
    return found


def _day_and_time(date) -> str:
    """``2026-01-02T03:04:05+00:00`` as ``2026-01-02 03:04 UTC``."""
    return f"{date[:16].replace('T', ' ')} UTC" if date else ""


def _commit(entry) -> str:
    """The commit that an experiment, or the last run, was computed with."""
    changed = ", with changes" if entry.get("modified") else ""
    return f"{entry['commit'][:12]}{changed}" if entry.get("commit") else ""


def provenance(environment, experiments) -> dict:
    """First and last date, and the commits, of the experiments; of the last run where these are not told."""
    told = [entry for entry in experiments if entry["date"]]
    if not told and environment:
        told = [{"date": _day_and_time(environment.get("date")), "commit": _commit(environment)}]
    dates = sorted(entry["date"] for entry in told)
    return {"dates": [dates[0], dates[-1]] if told else [], "commits": sorted({e["commit"] for e in told})}


def computing_time(summary, experiments) -> str:
    """What the profile took: as the runs say, else the sum of the fits."""
    if isinstance(summary.get("seconds"), int | float):
        return f"{duration(summary['seconds'])} of computing, summed over all jobs"
    fits = sum(entry["seconds"] for entry in experiments)
    return f"{duration(fits)} within the fits" if fits else ""


def skipped_for_want(summary) -> list[dict]:
    """What was left out for want of data or a package: (experiments, command) by what is missing."""
    found = []
    for missing, (experiments, command) in sorted(summary.get("skipped", {}).items()):
        found.append({"missing": missing, "experiments": experiments, "command": command})
    return found


def lacking_items(paper, summary) -> list[str]:
    """The items of a paper that lack data or a package, each with what is missing."""
    lacking = {}
    for missing, (experiments, _) in sorted(summary.get("skipped", {}).items()):
        for name in experiments:
            if name.startswith(f"{paper}/"):
                lacking.setdefault(name.partition("/")[2], []).append(missing)
    return [f"{item} ({', '.join(lacking[item])})" for item in sorted(lacking, key=natural_order)]


def command_of(paper, item, profile, experiments, summary) -> str:
    """What computes and writes a table or figure again."""
    make = {"table": "reproduce-tables", "figure": "reproduce-figures"}[item["kind"]]
    # the summary knows experiments without records too
    known = {*summary.get("experiments", {}), *(entry["name"] for entry in experiments)}
    name = f"{paper}/{item['item']}"
    if name not in known:
        # figure3_concrete and table1_all come from the records of figure3 and table1
        name = max((other for other in known if name.startswith(f"{other}_")), key=len, default=paper)
    return f"make {make} PROFILE={profile} ONLY={name}"
