"""The commands, above everything else: what they run lives in the rooms of :mod:`kpca_lab.suite`.

``run``
    One run or a sweep, composed by Hydra; ``sweep`` gathers what the jobs of a sweep gave.
``reproduce``
    The papers' tables, figures and report.
"""
