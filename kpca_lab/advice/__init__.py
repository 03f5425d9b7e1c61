"""What to use for given rows: which width, which method, how many basis samples, and what that costs.

:func:`suggest` is all that callers need. It reads a sample (:mod:`~kpca_lab.advice.table`), chooses the width
(:mod:`~kpca_lab.advice.width`), races candidates (:mod:`~kpca_lab.advice.candidates`,
:mod:`~kpca_lab.advice.race`) within a budget (:mod:`~kpca_lab.advice.budget`), checks the winner on all rows
(:mod:`~kpca_lab.advice.check`), and returns a :class:`Suggestion`.
"""

from kpca_lab.advice.search import suggest
from kpca_lab.advice.suggestion import Suggestion

__all__ = ["Suggestion", "suggest"]
