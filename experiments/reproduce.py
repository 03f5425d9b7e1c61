"""``python -m experiments.reproduce``: tables, figures and the report; see :mod:`kpca_lab.cli.reproduce`."""

import sys

from kpca_lab.cli.reproduce import main

if __name__ == "__main__":
    sys.exit(main())
