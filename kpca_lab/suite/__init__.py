"""Runs of the experiments, their records, tables, figures and report."""
