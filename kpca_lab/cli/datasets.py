"""``kpca-lab datasets``: the command line of :mod:`kpca_lab.datasets`."""

from kpca_lab.datasets.__main__ import main

__all__ = ["main"]
