"""From records and verdicts to what people read: tables, figures and the report page.

In: records, scoreboard, claims, notes. Out: files under ``results/<profile>``.
"""
