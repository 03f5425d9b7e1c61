"""``kpca-lab leaderboard``: every method on every data set, measured alone; what that says, with intervals.

``conf/leaderboard.yaml`` says what is compared. What was computed is kept: a run that was stopped goes on.
Leave the machine alone meanwhile: one job runs at a time, because times are measured.
"""

import argparse
import sys
from pathlib import Path

from kpca_lab.cli.faults import end_with_a_line
from kpca_lab.suite.leaderboard.advised import write_comparison
from kpca_lab.suite.leaderboard.contest import hold
from kpca_lab.suite.leaderboard.field import events, read_rules
from kpca_lab.suite.leaderboard.publish import publish
from kpca_lab.suite.leaderboard.results import results_table
from kpca_lab.suite.leaderboard.words import update_readme

__all__ = ["main"]

# The profile whose results are kept with the project, and told in the README.
KEPT = "full"


def main(arguments: list[str] | None = None) -> int:
    """Run what is not done, and write the tables, figures and page; return the exit code."""
    chosen = _parser().parse_args(arguments)
    # As a store: <root>/leaderboard has the jobs, records and files of the leaderboard.
    root = Path(chosen.results_dir) if chosen.profile == KEPT else Path(chosen.results_dir) / chosen.profile
    folder = root / "leaderboard"
    with end_with_a_line():
        rules = read_rules(chosen.profile)
        field = events(chosen.profile, str(root), only=chosen.only)
        contest = hold(field, force=chosen.force)
    for name, command in contest.missing.items():
        print(f"skipped: {name}; to get it: {command}", file=sys.stderr)
    for refusal in contest.refused:
        print(f"refused: {refusal}", file=sys.stderr)
    for failure in contest.failures:
        print(f"failed: {failure}", file=sys.stderr)
    if not any(attempt.rows for attempt in contest.attempts):
        print("error: nothing was measured", file=sys.stderr)
        return 1
    command = f"make leaderboard PROFILE={chosen.profile}"
    table = results_table(contest.attempts)
    for row in write_comparison(folder, field, table, rules["suggest_seconds"], force=chosen.force):
        print(f"{row['dataset']}: {row['suggested']} is suggested, {row['above_best']:+.2%} from the best")
    said = publish(folder, table, chosen.profile, rules, command)
    if chosen.profile == KEPT and not chosen.only:
        origin = (
            f"From the `{KEPT}` profile of the leaderboard (`{command}`, which also writes this part). "
            "Intervals are over seeds, on these data sets. `results/leaderboard` has every number, and a "
            "page to explore them, `index.html`."
        )
        update_readme(Path("README.md"), f"{folder.as_posix()}/aggregate.png", said, origin)
    print("\n".join(said))
    print(f"leaderboard: {folder / 'index.html'}")
    return 1 if contest.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kpca-lab leaderboard",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--profile", default="quick", help="one of conf/leaderboard.yaml: quick, full")
    parser.add_argument("--only", action="append", metavar="DATASET", help="may be given more than once")
    parser.add_argument("--force", action="store_true", help="compute again what is done")
    parser.add_argument("--results-dir", default="results")
    return parser
