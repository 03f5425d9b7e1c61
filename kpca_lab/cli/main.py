"""The command ``kpca-lab``: one word for each module of :mod:`kpca_lab.cli`, imported when it is asked for.

A new command is a module with ``main(arguments) -> int or None`` and one entry in :data:`COMMANDS`.
"""

import os
import sys
from dataclasses import dataclass
from importlib import import_module

from kpca_lab.choices import unknown

__all__ = ["COMMANDS", "Command", "main"]


@dataclass(frozen=True)
class Command:
    """A command: its module, the extra of kpca-lab that it needs, one line about it, and an example."""

    module: str
    extra: str
    summary: str
    example: str


COMMANDS = {
    "run": Command(
        "kpca_lab.cli.run",
        "suite",
        "one run or a sweep: a data set, methods, selectors, metrics",
        "kpca-lab run dataset=artificial2d 'method=[full,subset,nystrom]' n_basis=0.1",
    ),
    "reproduce": Command(
        "kpca_lab.cli.reproduce",
        "suite",
        "the papers' tables and figures, in a clone of the project",
        "kpca-lab reproduce tables --profile smoke",
    ),
    "report": Command(
        "kpca_lab.cli.report",
        "suite",
        "one page of all that was computed",
        "kpca-lab report --profile quick",
    ),
    "leaderboard": Command(
        "kpca_lab.cli.leaderboard",
        "suite",
        "all methods on all data sets, measured alone, with intervals",
        "kpca-lab leaderboard --profile quick",
    ),
    "suggest": Command(
        "kpca_lab.cli.suggest",
        "data",
        "which method, basis size and width to use for a table, within a budget of time",
        "kpca-lab suggest mine.csv --components 20 --budget 60s",
    ),
    "fit": Command(
        "kpca_lab.cli.fit",
        "data",
        "SubsetKPCA of a file that may be larger than memory: components of its rows",
        "kpca-lab fit mine.parquet --components 10 --basis 500 --scores scores.npy",
    ),
    "plan": Command(
        "kpca_lab.cli.plan",
        "dist",
        "time, memory and traffic of such a fit, on one machine or a cluster, before it is begun",
        "kpca-lab plan --rows 1e9 --features 1000 --basis 2000 --workers 100",
    ),
    "datasets": Command(
        "kpca_lab.cli.datasets",
        "data",
        "list, fetch and verify data sets",
        "kpca-lab datasets fetch usps",
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Hand over to the command that is named first, and return its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.

    Returns
    -------
    int
        2 for a wrong command line or a missing extra.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if words[0] == "--version":
        from kpca_lab import __version__

        print(f"kpca-lab {__version__}")
        return 0
    if words[0] in ("-sc", "--shell-completion"):
        return _complete(words)
    name, *rest = words
    if name not in COMMANDS:
        print(f"error: {unknown('command', name, COMMANDS)}", file=sys.stderr)
        return 2
    try:
        code = _run(name, rest)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _run(name, arguments):
    command = COMMANDS[name]
    try:
        return import_module(command.module).main(arguments) or 0
    except ModuleNotFoundError as error:  # also of what a command imports where it uses it
        if (error.name or "").partition(".")[0] == "kpca_lab":
            raise
        print(
            f"error: kpca-lab {name} needs the package {error.name}: pip install 'kpca-lab[{command.extra}]'",
            file=sys.stderr,
        )
        return 2


def _complete(words):
    """Complete commands here, and what follows ``run`` by Hydra, which knows nothing of commands."""
    if words[1:] and words[1].startswith("query="):
        program, _, rest = os.environ.get("COMP_LINE", "").partition(" ")
        name, chosen, rest = rest.lstrip().partition(" ")
        if not chosen:
            print("\n".join(COMMANDS))
            return 0
        if name != "run":
            return 0
        os.environ["COMP_LINE"] = f"{program} {rest}"
    return _run("run", words)


def _help():
    width = max(map(len, COMMANDS)) + 2
    lines = ["usage: kpca-lab COMMAND ...", "", "Approximations of kernel PCA.", "", "commands:"]
    lines += [f"  {name:{width}}{command.summary}" for name, command in COMMANDS.items()]
    lines += ["", "examples:", *(f"  {command.example}" for command in COMMANDS.values())]
    lines += ["", "kpca-lab COMMAND --help tells more."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
