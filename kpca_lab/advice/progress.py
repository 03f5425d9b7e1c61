"""What a search is doing and how much time is left, on standard error."""

import sys

from kpca_lab.advice.budget import Budget

__all__ = ["Progress"]

# Where lines stay, as in a log, they come no more often than this.
SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """One line that changes on a terminal, some lines elsewhere.

    Parameters
    ----------
    budget : Budget
    verbose : int
        Nothing is shown for 0.
    """

    def __init__(self, budget: Budget, verbose: int) -> None:
        self._budget, self._verbose = budget, verbose
        self._told = -SECONDS_BETWEEN_LINES
        self._changes = verbose and sys.stderr.isatty()

    def tell(self, text: str) -> None:
        """Say what comes next."""
        if not self._verbose:
            return
        line = f"{max(self._budget.left(), 0.0):4.0f} s left: {text}"
        if self._changes:
            print(f"\r{line:78.78}", end="", file=sys.stderr, flush=True)
        elif self._budget.spent - self._told >= SECONDS_BETWEEN_LINES:
            self._told = self._budget.spent
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear the line."""
        if self._changes:
            print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)
