"""``kpca-lab reproduce``: regenerate the papers' tables and figures, and the report.

What computes, judges and draws is imported where it is used: where nothing has changed, none of it is needed.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from kpca_lab.choices import unknown
from kpca_lab.cli.faults import end_with_a_line
from kpca_lab.cli.unchanged import is_unchanged, remember
from kpca_lab.suite.config.settings import PROFILES
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.places import NEEDS_CLONE, experiments_folder

__all__ = ["main"]

FROM_FILES = ("report", "article")  # commands that compute nothing
EXAMPLES = """\
run computes what is not done yet; tables and figures compute what they need and write files under
results/PROFILE; report writes the page and article the replication report (HTML, and PDF where LaTeX is
installed) from what is there; all does everything.

examples:
  kpca-lab reproduce tables --profile smoke
  kpca-lab reproduce figures --profile quick --only PAPER/figure1
  kpca-lab reproduce all --profile paper --workers 2
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.

    Returns
    -------
    int
    """
    chosen = _parser().parse_args(arguments)
    words = f"{chosen.command} {' '.join(sorted(chosen.only or []))}"
    root = Path(chosen.results_dir) / chosen.profile
    with end_with_a_line():
        if chosen.command not in FROM_FILES and experiments_folder() is None:
            raise ConfigError(NEEDS_CLONE)
        if not chosen.force and is_unchanged(root, words):
            print(f"nothing has changed since: {root} is complete", file=sys.stderr)
            if chosen.command == "tables":
                _print_tables(root, chosen.only or [])
            return 0
        code, complete = _run(chosen)
        if complete and code == 0:
            remember(root, words)
        return code


def _parser():
    parser = argparse.ArgumentParser(
        prog="kpca-lab reproduce",
        description="Regenerate the papers' tables and figures, and the report.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("run", "tables", "figures", *FROM_FILES, "all"))
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    parser.add_argument(
        "--only",
        action="extend",
        type=lambda text: [word for word in text.replace(",", " ").split() if word],
        metavar="PAPER[/ITEM]",
        help="separated by commas, or given more than once",
    )
    parser.add_argument("--force", action="store_true", help="compute again what is done")
    parser.add_argument("--results-dir", default="results")
    parser.add_argument("--workers", type=int, help="worker processes; as many as cores by default")
    return parser


def _run(chosen):
    from kpca_lab.suite.engine.store import Store

    store = Store(chosen.results_dir, chosen.profile)
    code, complete = 0, True
    if chosen.command not in FROM_FILES:
        code, complete = _experiments(chosen, store)
    if chosen.command in ("tables", "figures", "all"):
        code = max(code, _judge(store, chosen.only or [], tables=chosen.command != "figures"))
    if chosen.command == "tables":
        _print_tables(store.root, chosen.only or [])
    if chosen.command in ("figures", "all"):
        code = max(code, _figures(store, chosen.only))
    if chosen.command in (*FROM_FILES, "all"):
        code = max(code, _pages(chosen.command, store.root))
    return code, complete


def _pages(command, root):
    """Write the report page, the article, or both, from what is there."""
    from kpca_lab.suite.render.article import write_article
    from kpca_lab.suite.render.report import write_report

    try:
        if command != "article":
            print(f"report: {write_report(root)}")
        if command != "report":
            path, problem = write_article(root)
            print(f"article: {path}{'' if problem else ' and article.pdf'}")
            if problem:
                print(f"no article.pdf: {problem}", file=sys.stderr)
    except FileNotFoundError as error:
        raise ConfigError(str(error)) from None
    return 0


def _experiments(chosen, store):
    from kpca_lab.suite.config.experiments import compose_experiments
    from kpca_lab.suite.engine.plan import make_plan
    from kpca_lab.suite.engine.runner import run
    from kpca_lab.suite.engine.summary import write_summary

    items = _items(chosen)
    settings = compose_experiments(items, chosen.profile, chosen.results_dir)
    settings = [
        replace(entry, force=chosen.force, workers=chosen.workers or entry.workers) for entry in settings
    ]
    plans, failed = [], 0
    for entry in settings:
        try:
            plans.append(make_plan(entry))
        except Exception as error:  # what is wrong with one paper must not cost the others
            print(f"failed: {entry.experiment}: {type(error).__name__}: {error}", file=sys.stderr)
            failed = 1
    summary = run(plans)
    print(summary.text(), file=sys.stderr)
    write_summary(store, plans, summary)
    return max(failed, summary.exit_code), not summary.skipped


def _items(chosen):
    """The experiments that a command needs: those called figure..., or all others for tables.

    What is named exactly is computed in any case.
    """
    from kpca_lab.suite.config.experiments import experiment_items

    items = experiment_items()
    papers = list(dict.fromkeys(item.partition("/")[0] for item in items))
    for wanted in chosen.only or []:
        if wanted not in (*papers, *items):
            raise ConfigError(unknown("item", wanted, [*papers, *items]))
    found = items
    if chosen.only:
        found = [item for item in items if any(_belongs(item, wanted) for wanted in chosen.only)]
    if chosen.command in ("tables", "figures"):
        figures = chosen.command == "figures"
        found = [item for item in found if _is_figure(item) == figures or item in (chosen.only or [])]
    return found


def _belongs(item, wanted):
    return item == wanted or item.startswith(f"{wanted}/")


def _is_figure(item):
    return item.split("/")[1].startswith("figure")


def _judge(store, only, *, tables):
    """Write scoreboard and claims from all records there are, and the tables."""
    from kpca_lab.suite.judge.profile import judge_profile
    from kpca_lab.suite.render.tables import write_tables

    judged = judge_profile(store.root)
    print(f"scoreboard: {store.root / 'scoreboard.csv'}\nclaims: {store.root / 'claims.csv'}")
    if tables:
        scoreboard, records = judged.scoreboard, judged.records
        if only:
            scoreboard = scoreboard[_named(scoreboard["paper"] + "/" + scoreboard["table"], only)]
            records = records[_named(records["experiment"], only)]
        written = write_tables(store.root, scoreboard, records)
        print(f"tables: {len(written)} files in {store.root / 'tables'}")
    for what, problem in judged.problems.items():
        print(f"failed: {what}: {problem}", file=sys.stderr)
    return 1 if judged.problems else 0


def _named(items, only):
    return [any(_belongs(item, wanted) for wanted in only) for item in items]


def _print_tables(root, only):
    """Show the tables that were asked for by name: ours beside published."""
    for item in only:
        path = root / "tables" / f"{item}.md"
        if path.is_file():
            print(f"\n{path.read_text(encoding='utf-8').rstrip()}")


def _figures(store, only):
    from kpca_lab.suite.engine.summary import read_summary
    from kpca_lab.suite.papers import load_experiments
    from kpca_lab.suite.render.figures import write_figures

    makers = load_experiments().figure_makers
    wanted = [entry for entry in only or [] if any(_belongs(item, entry) for item in makers)]
    if only and not wanted:
        print("figures: none is registered for these items")
        return 0
    done = write_figures(store.root, wanted or None)
    print(f"figures: {len(done.written)} files in {store.root / 'figures'}")
    skipped = read_summary(store.root)["skipped"]
    for item, reason in done.skipped.items():
        for missing, (lacking, command) in skipped.items():
            if item in lacking:
                reason = f"without {missing}; to get it: {command}"
        print(f"skipped: {item}: {reason}", file=sys.stderr)
    for item, error in done.failed.items():
        print(f"failed: {item}: {error}", file=sys.stderr)
    return 1 if done.failed else 0
