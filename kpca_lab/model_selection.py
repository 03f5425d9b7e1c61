"""Choosing the width of the kernel, and the number of components, by cross-validation."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length

from kpca_lab.kernel_table import KernelTable, use_table
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.operator import FeatureOperator
from kpca_lab.preimage import inverse_transform, preimage
from kpca_lab.progress_bar import ProgressBar
from kpca_lab.rows import RowSource, as_rows, is_row_source
from kpca_lab.selectors.criterion import check_count
from kpca_lab.widths import resolve_gamma

__all__ = ["CurvePoint", "GammaChoice", "choose_gamma"]

KERNELS = ("rbf", "laplacian", "chi2", "poly")
# Errors are compared, not pre-images: a step of a thousandth of the spread of the points ends the search.
SEARCH = {"tol": 1e-3, "max_iter": 20, "n_restarts": 1}


class CurvePoint(NamedTuple):
    """A width and a number of components with their mean score over the folds and its standard deviation."""

    gamma: float
    n_components: int
    score: float
    spread: float


@dataclass(frozen=True)
class GammaChoice:
    """What :func:`choose_gamma` found.

    Attributes
    ----------
    gamma : float
        The width.
    n_components : int
        The number of components.
    score : float
        Of the choice: the higher the better.
    curve : tuple of CurvePoint
        All that was tried, in the order of widths, then of numbers of components.
    criterion : str
        What the score is.
    n_samples : int
        How many samples it was found on.
    """

    gamma: float
    n_components: int
    score: float
    curve: tuple[CurvePoint, ...]
    criterion: str
    n_samples: int


def choose_gamma(
    X,
    y=None,
    *,
    gammas: Sequence[float] | None = None,
    n_components: int | Sequence[int] = 10,
    kernel: str = "rbf",
    estimator=None,
    cv=5,
    n_basis: int | None = None,
    max_samples: int | None = 2000,
    random_state=0,
    verbose: int = 0,
) -> GammaChoice:
    """Choose the width of a kernel, and of several numbers of components the best, by cross-validation.

    Without labels, samples that were left out are projected on the components of the others, and the score
    is one less the squared error of their pre-images over their squared distance to the mean of the
    others, all in input space. The reconstruction error in feature space would not do: the smaller
    ``gamma``, the more alike all feature vectors, so it always prefers the smallest one. In input space, too,
    the smallest wins where linear PCA is hard to beat: for data near a plane, and always where
    ``n_components`` is not below the number of features, of which a warning tells.

    With labels, ``estimator`` is fitted to the components of the others, and the score is its own on the
    samples left out: accuracy, or R^2 for a numeric target.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or anything that :func:`kpca_lab.rows.as_rows` takes
        Sparse with labels only: pre-images are dense.
    y : array-like of shape (n_samples,), optional
        Labels, or a numeric target.
    gammas : sequence of float, optional
        Widths to try; by default the median rule of :func:`kpca_lab.widths.resolve_gamma` times the
        powers of two from 1/32 to 32 (for the Laplacian kernel, the root of the rule over ``n_features``).
    n_components : int or sequence of int, default=10
        Numbers of components to try.
    kernel : {"rbf", "laplacian", "chi2", "poly"}, default="rbf"
        The kernel whose width is chosen.
    estimator : scikit-learn classifier or regressor, optional
        With labels, what the components are for; 5 nearest neighbours by default.
    cv : int or splitter, default=5
        Number of folds, which are shuffled, and stratified for labels; or an object of
        :mod:`sklearn.model_selection`.
    n_basis : int, optional
        Components are looked for in the span of so many samples of each fold, drawn at random, by
        :class:`~kpca_lab.SubsetKPCA`; by default 200, or four for each component if that is more. With as
        many as there are samples, this is full kernel PCA.
    max_samples : int or None, default=2000
        Of more samples than this, so many are drawn first.
    random_state : int, RandomState or None, default=0
        For these draws and the folds.
    verbose : int, default=0
        Whether to show on standard error how many widths are done.

    Returns
    -------
    GammaChoice
        Of equal scores, the one with fewer components, then with the smaller width.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : The same search with everything computed for each combination.

    Notes
    -----
    Distances are computed once for all widths and folds, and one fit serves all numbers of components;
    ``make bench`` measures the time beside :class:`~sklearn.model_selection.GridSearchCV` over scikit-learn's
    KernelPCA and nearest neighbours. With ``n_basis`` as large as the samples are many, all scores are those
    of the grid search, and so is the choice but for ties. Memory is at most ``16 max_samples^2`` bytes.

    References
    ----------
    .. [1] M. A. Alam, K. Fukumizu, "Hyperparameter selection in kernel principal component analysis",
       Journal of Computer Science 10 (2014).

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.linear_model import LogisticRegression
    >>> from kpca_lab.model_selection import choose_gamma
    >>> X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    >>> found = choose_gamma(X, y, n_components=[1, 2, 4], estimator=LogisticRegression())
    >>> found.n_components, found.score
    (4, 1.0)
    >>> len(found.curve)
    33
    """
    if kernel not in KERNELS:
        raise ValueError(f"kernel={kernel!r} has no width to choose: give one of {list(KERNELS)}.")
    ranks = _check_ranks(n_components)
    size = max(200, 4 * max(ranks)) if n_basis is None else check_count("n_basis", n_basis)
    random = check_random_state(random_state)
    X, y = _drawn(X, y, max_samples, random)
    gammas = _check_gammas(gammas, X, kernel)
    task = _Preimages(X, max(ranks)) if y is None else _Downstream(y, estimator)
    splits = list(task.splitter(cv, random).split(X, y))
    smallest = min(len(train) for train, _ in splits)
    if max(ranks) >= smallest:
        raise ValueError(
            f"n_components={max(ranks)} must be less than the {smallest} samples that a fold leaves: give a "
            "smaller number, or more samples."
        )
    folds = [
        (*split, random.choice(len(split[0]), size=min(len(split[0]), size), replace=False))
        for split in splits
    ]
    curve = []
    table = KernelTable(X) if not sparse.issparse(X) and KernelTable.fits(X.shape[0]) else None
    with use_table(table), ProgressBar(len(gammas), verbose, "choose_gamma", "widths") as progress:
        for gamma in gammas:
            scores = np.array(
                [_fold_scores(X, *fold, gamma=gamma, kernel=kernel, ranks=ranks, task=task) for fold in folds]
            )
            for rank, mean, spread in zip(ranks, scores.mean(axis=0), scores.std(axis=0)):
                curve.append(CurvePoint(gamma, rank, float(mean), float(spread)))
            progress.update()
    best = min(curve, key=lambda point: (-point.score, point.n_components, point.gamma))
    return GammaChoice(best.gamma, best.n_components, best.score, tuple(curve), task.criterion, X.shape[0])


def _fold_scores(X, train, test, basis, *, gamma, kernel, ranks, task) -> list[float]:
    """The scores of one fold, one for each rank, from one fit."""
    options = {"kernel": kernel, "gamma": gamma}
    exact = len(basis) == len(train)
    model = FullKPCA(max(ranks), **options) if exact else SubsetKPCA(max(ranks), basis=basis, **options)
    model.fit(X[train])
    fold = _Fold(
        train, test, model.operator_, *(model.operator_.transform(X[part]) for part in (train, test))
    )
    return task.scores(fold, [min(rank, model.n_components_) for rank in ranks])


@dataclass(frozen=True, eq=False)
class _Fold:
    train: np.ndarray
    test: np.ndarray
    operator: FeatureOperator
    train_components: np.ndarray
    test_components: np.ndarray


class _Preimages:
    """The share of the squared distances to the mean that pre-images recover."""

    criterion = "1 - squared error of pre-images / squared distance to the mean, in input space"

    def __init__(self, X, largest: int):
        if largest >= X.shape[1]:
            warnings.warn(
                f"n_components={largest} is not less than the {X.shape[1]} features: linear PCA then loses "
                "nothing, and the smallest widths come nearest to it. Choose fewer components, or give "
                "labels y.",
                UserWarning,
                stacklevel=3,
            )
        self.X = X

    def splitter(self, cv, random):
        return _splitter(KFold, cv, random)

    def scores(self, fold, ranks) -> list[float]:
        centre = self.X[fold.train].mean(axis=0)
        wanted = self.X[fold.test]
        total = np.sum((wanted - centre) ** 2)
        found, scores = None, []
        for rank in ranks:
            found = self._preimages(fold, rank, found) if rank else centre
            scores.append(float(1 - np.sum((wanted - found) ** 2) / total) if total > 0 else 1.0)
        return scores

    @staticmethod
    def _preimages(fold, rank, start):
        operator, components = fold.operator.truncate(rank), fold.test_components[:, :rank]
        if operator.kernel.name != "rbf":
            return inverse_transform(operator, components)
        return preimage(operator.kernel, operator.synthesize(components), start=start, **SEARCH)


class _Downstream:
    """The score of a classifier or regressor on the components."""

    def __init__(self, y, estimator):
        self.y = y
        self.classifies = type_of_target(y) in ("binary", "multiclass")
        if estimator is None:
            estimator = KNeighborsClassifier() if self.classifies else KNeighborsRegressor()
        if not (hasattr(estimator, "fit") and hasattr(estimator, "score")):
            raise ValueError(f"estimator must be a classifier or regressor, got {estimator!r}.")
        self.estimator = estimator
        self.criterion = f"score of {type(estimator).__name__} on the components"

    def splitter(self, cv, random):
        return _splitter(StratifiedKFold if self.classifies else KFold, cv, random)

    def scores(self, fold, ranks) -> list[float]:
        inside, outside = fold.train_components, fold.test_components
        if not inside.shape[1]:  # all samples are the same to this kernel
            inside, outside = (np.zeros((len(part), 1)) for part in (inside, outside))
            ranks = [1] * len(ranks)
        return [self._score(inside[:, :rank], outside[:, :rank], fold) for rank in ranks]

    def _score(self, inside, outside, fold) -> float:
        fitted = clone(self.estimator).fit(inside, self.y[fold.train])
        return float(fitted.score(outside, self.y[fold.test]))


def _splitter(kind, cv, random):
    if hasattr(cv, "split"):
        return cv
    if isinstance(cv, bool) or not isinstance(cv, Integral) or cv < 2:
        raise ValueError(f"cv must be an integer >= 2 or a splitter, got {cv!r}.")
    return kind(cv, shuffle=True, random_state=random.randint(2**31))


def _drawn(X, y, max_samples: int | None, random):
    """The samples to work on, as an array or sparse matrix, and what belongs to them of ``y``."""
    options = {"accept_sparse": False if y is None else "csr", "dtype": np.float64, "ensure_min_samples": 4}
    X = as_rows(X) if is_row_source(X) else check_array(X, **options)
    if y is not None:
        y = column_or_1d(y)
        check_consistent_length(X, y)
    n, rows = X.shape[0], None
    if max_samples is not None and n > check_count("max_samples", max_samples):
        rows = np.sort(random.choice(n, size=max_samples, replace=False))
    if isinstance(X, RowSource):
        X = check_array(X.take(np.arange(n) if rows is None else rows), **options)
    elif rows is not None:
        X = X[rows]
    return X, y if y is None or rows is None else y[rows]


def _check_ranks(n_components) -> list[int]:
    ranks = [n_components] if isinstance(n_components, Real) else list(n_components)
    if not ranks:
        raise ValueError("n_components is empty: give at least one number.")
    return sorted({check_count("n_components", rank) for rank in ranks})


def _check_gammas(gammas, X, kernel: str) -> list[float]:
    if gammas is None:
        middle = resolve_gamma("median", X)
        if kernel == "laplacian":
            middle = np.sqrt(middle / X.shape[1])
        gammas = middle * 2.0 ** np.arange(-5, 6)
    gammas = [gammas] if isinstance(gammas, Real) else list(gammas)
    if not gammas:
        raise ValueError("gammas is empty: give at least one width.")
    for gamma in gammas:
        if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0 < float(gamma) < np.inf:
            raise ValueError(f"gammas must be finite numbers above 0, got {gamma!r}.")
    return sorted({float(gamma) for gamma in gammas})
