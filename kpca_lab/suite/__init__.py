"""Runs of the experiments, their records, and what is made of them: tables, figures, scoreboard, report.

Data flow one way, through five rooms; each imports only those before it:

``config``
    Hydra composes a configuration from ``conf/`` and the command line (``composing``). ``schema`` has its
    keys and types, ``meaning`` merges the profile and gives plain ``Settings``, ``checks`` refuses what
    cannot be run.
``measure``
    What happens inside a job. ``evaluate`` shares the work: one basis per selector and size, one full-KPCA
    reference, one fit for all ranks. ``samples`` loads, divides and scales the data; ``run_metrics`` are the
    metrics. A method that fails gives a row with its error.
``engine``
    ``plan.make_plan`` cuts settings into jobs: one data set, split and kernel each, with all methods,
    selectors, basis sizes, ranks and metrics wanted on them. ``identity.job_id`` is the hash of a job's
    settings, of its data and of the code that it runs; ``store`` knows which jobs are done, and only the
    others go to worker processes (``pool``, ``worker``, ``execute``), as many as there are cores. A job is
    claimed by a lock of the operating system, so several processes can share a sweep; its rows are written by
    a rename, so that ``kill -9`` loses only the jobs that were running. When an experiment is complete, its
    rows are sorted into ``records/<paper>/<item>.csv.gz``; arrays for figures are in
    ``arrays/<paper>/<item>/<id>.npz``. Runs of one's own go to ``custom/``.
``judge``
    Published cells beside ours with a verdict by a fixed rule, and the papers' claims.
``render``
    Tables, figures and the report page.
``leaderboard``
    All methods on all data sets, through the same rooms.

Beside the rooms: ``jobs`` (what a job and a row are), ``papers`` (the papers, found by their folders),
``hooks`` (what an experiment may register), ``targets`` (code that settings name), ``places``, ``files``,
``cores``, ``errors``.

:func:`load_results` gives all records as a data frame.
"""

from importlib import import_module

__all__ = ["load_results"]


def __getattr__(name: str):
    # A worker imports this package, and needs no data frames.
    if name == "load_results":
        return import_module("kpca_lab.suite.load").load_results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
