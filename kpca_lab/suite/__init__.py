"""Runs of the experiments, their records, and what is made of them: tables, figures, scoreboard, report.

How a run flows, from the command to the page:

1. Hydra composes a configuration from ``conf/`` and the command line. ``schema`` has its keys and types,
   ``config`` merges the profile and gives plain ``Settings``, ``checks`` refuses what cannot be run and names
   the valid choices. ``hydra_plugins/kpca_lab_pool.py`` does this for a whole sweep at once.
2. ``runner.make_plan`` cuts the settings into jobs. A ``jobs.Job`` is one data set, split and kernel, with
   all methods, selectors, basis sizes, ranks and measures wanted on them. An experiment may make its own jobs
   and run them its own way: ``experiments/<paper>.py`` registers functions with ``registry.experiment``.
3. ``versions.job_id`` is the identity of a job: the hash of its text, of the data (by the hashes of the
   files, without loading them) and of the code that it runs. ``store`` knows which jobs are done, from a file
   per job or from the committed records; only the others go on. ``force`` computes all of them again.
4. ``runner.run`` hands jobs to worker processes (``pool``, ``worker``), as many as there are cores, each with
   one BLAS thread; experiments that measure time get one worker. Each job is claimed by a lock of the
   operating system, so several processes can share a sweep, and a claim ends with its process. A worker over
   its limit of time or memory is killed, one that dies is replaced.
5. In the worker ``execute`` calls the experiment's own function or ``evaluate.evaluate``, which shares the
   work: one basis per selector and size, one full-KPCA reference, one fit for all ranks. ``samples`` loads,
   divides and scales the data; ``measures`` are the metrics. A method that fails gives a row with its error.
6. The rows come back and are written to ``results/<profile>/jobs/<experiment>/<id>.json`` by a rename, so
   that ``kill -9`` at any moment loses only the jobs that were running. When an experiment is complete, its
   rows are sorted into ``records/<paper>/<item>.csv``; arrays for figures are in
   ``arrays/<paper>/<item>/<id>.npz``. Runs of one's own, and experiments with other axes, go to ``custom/``
   and do not touch these.
7. ``scoreboard``, ``claims``, ``tables``, ``figures`` and ``report`` read the records and write the rest of
   ``results/<profile>``. ``experiments/reproduce.py`` calls them.

To add a method: a Python file with an estimator, and ``conf/method/<name>.yaml`` with its import path as
``target``. Its signature tells what it takes (``n_basis``, ``basis``, ``n_components``, ``kernel``, ...).
Measures, selectors and data sets are added in the same way; an experiment is
``conf/experiment/<paper>/<item>.yaml``.
"""
