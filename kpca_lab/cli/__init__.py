"""The commands, above everything else: what they run lives in the rooms of :mod:`kpca_lab.suite`.

``main``
    The dispatcher behind ``kpca-lab``.
``run``
    One run or a sweep, composed by Hydra; ``sweep`` gathers what the jobs of a sweep gave.
``reproduce``, ``report``
    The papers' tables, figures and report.
``fit``, ``plan``
    SubsetKPCA of a file, and what a fit will take.
``datasets``
    The command line of :mod:`kpca_lab.datasets`.
"""
