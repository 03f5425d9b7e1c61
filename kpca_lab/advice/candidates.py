"""What may be suggested, and what each costs."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.random_features import RandomFeatureKPCA
from kpca_lab.methods.reduced import ReducedKPCA
from kpca_lab.methods.subset import SubsetKPCA

__all__ = ["Candidate", "CostModel", "Task", "candidates_for"]

SIZES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
SELECTORS = ("random", "dsquared", "kmeans", "rpcholesky")
# Beyond these numbers of rows a method is not worth a try: its cost grows with their square or cube.
MOST_ROWS_FULL, MOST_ROWS_FORWARD = 10_000, 3_000
MOST_BASIS_FORWARD = 200
# Numbers that the blocks of a pass hold, whatever the size.
BLOCK_BYTES = 64 * 2**20
# Multiplications in a second, as few as a slow machine does.
SLOW = 2e8
# A large fit does so many times as many as a small one at most.
MUCH_FASTER = 20
# What K-means takes for its passes, in multiplications of a fit, which are faster; rows that it and the
# pivoting selectors choose among.
KMEANS_PASSES, KMEANS_ROWS, PIVOT_ROWS = 80, 20_000, 50_000


@dataclass(frozen=True)
class Task:
    """What all candidates are to do.

    Attributes
    ----------
    n_rows, n_columns : int
    rank : int
        Number of components in the race.
    n_components : int or float
        What the estimator is given: the same, or a share of the variance.
    gamma : float
    kernel : str
    seed : int
    """

    n_rows: int
    n_columns: int
    rank: int
    n_components: int | float
    gamma: float
    kernel: str
    seed: int


@dataclass(frozen=True)
class Candidate:
    """A method, its selector and its size.

    Attributes
    ----------
    method : {"SubsetKPCA", "ReducedKPCA", "RandomFeatureKPCA", "FullKPCA"}
    selector : str or None
        For methods with a basis.
    size : int or None
        Number of basis samples or of random features.
    """

    method: str
    selector: str | None = None
    size: int | None = None

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.method, self.selector, self.size) if part is not None)

    @property
    def needs_rows(self) -> int:
        """How many rows there must be."""
        return self.size or 0 if self.selector is not None else 0

    def arguments(self, task: Task, *, rank: int | None = None) -> dict[str, Any]:
        """The parameters of the estimator, in the order in which they are written."""
        given: dict[str, Any] = {"n_components": task.n_components if rank is None else rank}
        if task.kernel != "rbf":
            given["kernel"] = task.kernel
        given["gamma"] = task.gamma
        if self.method == "RandomFeatureKPCA":
            given |= {"n_random_features": self.size, "orthogonal": task.kernel == "rbf"}
        elif self.selector is not None:
            given |= {"n_basis": self.size, "selector": self.selector}
        return given | {"random_state": task.seed}

    def estimator(self, task: Task, *, rank: int | None = None) -> Any:
        """The estimator, not fitted."""
        kinds = (SubsetKPCA, ReducedKPCA, RandomFeatureKPCA, FullKPCA)
        return {kind.__name__: kind for kind in kinds}[self.method](**self.arguments(task, rank=rank))

    def written(self, task: Task) -> str:
        """The estimator as Python."""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments(task).items())
        return f"{self.method}({arguments})"

    def operations(self, n: int, task: Task) -> float:
        """Multiplications of a fit to ``n`` rows and of their components, roughly."""
        d, m, r = task.n_columns, self.size or n, task.rank
        transform = float(n) * m * (d + 10 + r)
        if self.method == "FullKPCA":
            return transform + float(n) * n * (d + 20 * r)
        if self.method == "RandomFeatureKPCA":
            return transform + float(n) * m * (d + 10 + m) + 5.0 * m**3
        chosen = {
            "random": 0.0,
            "dsquared": float(min(n, PIVOT_ROWS)) * m * (d + 5),
            "kmeans": float(KMEANS_PASSES) * min(n, max(KMEANS_ROWS, 20 * m)) * m * (d + 5),
            "rpcholesky": float(min(n, PIVOT_ROWS)) * m * (d + 10 + m),
            "forward": 2.0 * n * m * (n + m * m),
        }[self.selector or "random"]
        if self.method == "ReducedKPCA":
            return transform + chosen + float(m) ** 2 * (d + 20 * r)
        return transform + chosen + float(n) * m * (d + 10 + m) + 5.0 * m**3

    def n_bytes(self, n: int, task: Task) -> int:
        """Memory of a fit to ``n`` rows beside these, more rather than less."""
        d, m = task.n_columns, self.size or n
        numbers = 9 * m * m
        if self.method == "FullKPCA":
            numbers = 3 * n * n
        elif self.selector == "rpcholesky":
            numbers += min(n, PIVOT_ROWS) * (m + d)
        elif self.selector == "kmeans":
            numbers += 3 * min(n, max(KMEANS_ROWS, 20 * m)) * d
        elif self.selector == "dsquared":
            numbers += min(n, PIVOT_ROWS) * (d + 4)
        elif self.selector == "forward":
            numbers += 3 * n * n
        return BLOCK_BYTES + 8 * (numbers + m * d)


def candidates_for(n_rows: int, rank: int, kernel: str, in_memory: bool) -> list[Candidate]:
    """All that is worth a try, the cheap ones of each method first.

    Parameters
    ----------
    n_rows : int
    rank : int
        Number of components.
    kernel : str
    in_memory : bool
        Whether the rows are; of a file that is read in blocks, only SubsetKPCA can make use.
    """
    fewest = max(2 * rank, min(50, n_rows // 4))
    sizes = [size for size in SIZES if fewest <= size < n_rows] or [min(n_rows, 2 * rank)]
    found = [Candidate("SubsetKPCA", selector, size) for selector in SELECTORS for size in sizes]
    if not in_memory:
        return found
    found += [Candidate("ReducedKPCA", "random", size) for size in sizes if size >= 400]
    if kernel in ("rbf", "laplacian"):
        found += [Candidate("RandomFeatureKPCA", None, size) for size in sizes if size >= 200]
    if n_rows <= MOST_ROWS_FORWARD:
        found += [Candidate("SubsetKPCA", "forward", size) for size in sizes if size <= MOST_BASIS_FORWARD]
    if n_rows <= MOST_ROWS_FULL:
        found.append(Candidate("FullKPCA"))
    return found


class CostModel:
    """Seconds of fits and transforms, from those that were measured and the operations they take.

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._overhead = np.inf
        self._of_candidate: dict[Candidate, float] = {}
        self._of_kind: dict[tuple[str, str | None], float] = {}

    def learn(self, candidate: Candidate, n: int, seconds: float) -> None:
        """Remember what a fit to ``n`` rows and their components took."""
        # What the quickest fit takes is what all take beside their operations.
        self._overhead = min(self._overhead, seconds)
        own = max(seconds - self._overhead, 0.2 * seconds, 1e-6)
        speed = candidate.operations(n, self._task) / own
        self._of_candidate[candidate] = speed
        kind = candidate.method, candidate.selector
        self._of_kind[kind] = max(speed, self._of_kind.get(kind, 0.0))

    def seconds(self, candidate: Candidate, n: int) -> float:
        """What a fit to ``n`` rows and their components will take."""
        speed = self._of_candidate.get(candidate) or self._of_kind.get((candidate.method, candidate.selector))
        if speed is None:
            speed = min(self._of_kind.values(), default=SLOW)
        overhead = self._overhead if self._of_kind else 0.0
        return overhead + candidate.operations(n, self._task) / speed

    def hopeless(self, candidate: Candidate, seconds: float) -> bool:
        """Whether a fit to all rows takes longer than this, were it many times faster than any so far."""
        known = max(self._of_kind.values(), default=np.inf)
        return candidate.operations(self._task.n_rows, self._task) / (MUCH_FASTER * known) > seconds


def is_whole(number: Any) -> bool:
    """Whether this is an integer, and no truth value."""
    return isinstance(number, Integral) and not isinstance(number, bool)
