"""From records to verdicts: our cells beside the published ones, and the papers' statements as checks.

In: records and ``experiments/<paper>``. Out: ``scoreboard.csv`` and ``claims.csv``. Nothing is computed anew.
"""
