"""``python -m experiments.run``: one run or a sweep; see :mod:`kpca_lab.cli.run`."""

from kpca_lab.cli.run import main

if __name__ == "__main__":
    main()
