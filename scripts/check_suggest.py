"""Whether what ``kpca_lab.suggest`` suggests is as good as the best: a table for some small data sets.

For each data set the suggestion gets a budget. Then every candidate is fitted to all rows with the same width
and as much time, and the least error that any reaches is compared with that of the suggestion. Data sets that
are not at hand are left out.

    python scripts/check_suggest.py [--budget 10] [--components 10] [--seed 0] [NAME ...]
"""

import argparse
import time
import warnings

import numpy as np

from kpca_lab import suggest
from kpca_lab.advice.budget import TimeUp, time_limit
from kpca_lab.advice.candidates import Task, candidates_for
from kpca_lab.metrics import empirical_error


def own(name, **options):
    """A data set of the registry, each column with zero mean and unit variance."""
    from kpca_lab.datasets import load_dataset

    return load_dataset(name, scaling="standard", **options).X


def skewed(n=10_000, d=5):
    """Lognormal columns: most rows near zero, a few far away."""
    return np.exp(np.random.default_rng(0).standard_normal((n, d)))


def heavy(n=5_000, d=8):
    """Student's t with three degrees of freedom."""
    return np.random.default_rng(0).standard_t(3, (n, d))


def clusters(n=20_000, d=10):
    """Clusters of very different sizes."""
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(n, 0.5 ** np.arange(1, 11) / np.sum(0.5 ** np.arange(1, 11)))
    return np.repeat(rng.standard_normal((10, d)) * 3, sizes, axis=0) + rng.standard_normal((n, d)) * 0.3


DATA = {
    "artificial2d": lambda: own("artificial2d"),
    "concrete": lambda: own("concrete"),
    "housing": lambda: own("housing"),
    "skewed": skewed,
    "heavy": heavy,
    "clusters": clusters,
}


def best_error(X, task, seconds):
    """The least error of all candidates that can be fitted in so many seconds, and whose it is."""
    least, name, slow = np.inf, "none", set()
    for candidate in candidates_for(task.n_rows, task.rank, task.kernel, in_memory=True):
        kind = candidate.method, candidate.selector
        if (
            candidate.method == "RandomFeatureKPCA" or kind in slow
        ):  # no operator, or a smaller one took too long
            continue
        try:
            with time_limit(seconds):
                model = candidate.estimator(task, rank=task.rank).fit(X)
        except TimeUp:
            slow.add(kind)
            continue
        error = empirical_error(model, X)
        if error < least:
            least, name = error, str(candidate)
    return least, name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(DATA), help=", ".join(DATA))
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(f"{'data':14}{'rows':>7}{'suggested':>30}{'spent':>8}{'error':>11}{'best':>11}  by")
    for name in chosen.names:
        try:
            X = np.asarray(DATA[name](), dtype=np.float64)
        except (OSError, RuntimeError, ModuleNotFoundError) as error:
            print(f"{name:14} left out: {str(error).splitlines()[0]}")
            continue
        begun = time.perf_counter()
        found = suggest(
            X, budget=chosen.budget, n_components=chosen.components, random_state=chosen.seed, verbose=0
        )
        spent = time.perf_counter() - begun
        task = Task(*X.shape, chosen.components, chosen.components, found.gamma, "rbf", chosen.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            least, who = best_error(X, task, chosen.budget)
        error = empirical_error(found.estimator, X)
        print(
            f"{name:14}{len(X):7}{found.name:>30}{spent:7.1f}s{error:11.4g}{least:11.4g}  {who}: "
            f"{error / least - 1:+.2%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
