"""Choosing a width and a number of components by cross-validation, beside scikit-learn's grid search."""

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from kpca_lab.datasets import load_dataset
from kpca_lab.model_selection import choose_gamma
from scripts.bench.clock import side_by_side
from scripts.bench.rows import Row, failed

GROUP = "widths"
OURS, PEER = "choose_gamma", "GridSearchCV, scikit-learn KernelPCA and 5 neighbours"
RANKS = [5, 10, 20, 40]
CV = StratifiedKFold(5, shuffle=True, random_state=0)


def measure(quick: bool) -> list[Row]:
    """The same search by both, with labels."""
    n = 500 if quick else 1500
    data = load_dataset("usps")
    rows = np.random.default_rng(0).permutation(len(data.X))[:n]
    X, y = data.X[rows], data.y[rows]
    gammas = sorted({point.gamma for point in choose_gamma(X[:200], y[:200], cv=3).curve})
    case = f"USPS, n = {n}, d = {X.shape[1]}, {len(gammas)} widths, {len(RANKS)} ranks, 5 folds"
    pipeline = Pipeline([("pca", KernelPCA(kernel="rbf")), ("neighbours", KNeighborsClassifier())])
    grid = {"pca__gamma": gammas, "pca__n_components": RANKS}
    measured = side_by_side(
        {
            OURS: lambda: choose_gamma(X, y, gammas=gammas, n_components=RANKS, cv=CV),
            PEER: lambda: GridSearchCV(pipeline, grid, cv=CV, refit=False).fit(X, y),
        },
        1,
    )
    ours, peer = measured[OURS], measured[PEER]
    if ours.problem or peer.problem:
        return [failed(GROUP, case, PEER, ours.problem or peer.problem, OURS)]
    tried = peer.result.cv_results_
    chosen = {"pca__gamma": ours.result.gamma, "pca__n_components": ours.result.n_components}
    reached = tried["mean_test_score"][tried["params"].index(chosen)]
    return [
        Row(GROUP, case, OURS, PEER, ours.median, peer.median, "s", 1 - reached, 1 - peer.result.best_score_,
            error="share of errors of the grid search at the choice", terms="work", aim="<= 0.1",
            note="components in the span of 200 samples of each fold, judged on all of it")
    ]  # fmt: skip
