"""The leaderboard: every method on every data set, measured alone, and what can be said of it with intervals.

``field`` reads ``conf/leaderboard.yaml`` and finds out who takes part. ``contest`` runs the jobs through the
engine, so that a run that was stopped goes on, and does not try what is known to take too long. ``results``
makes one table of all records, ``aggregates`` has interquartile means, performance profiles, pairs and
Pareto fronts, ``plots``, ``page`` and ``words`` show them.
"""
