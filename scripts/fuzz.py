"""Random cases for every estimator: each must end in a sound result or in an error that says what to do.

    python scripts/fuzz.py --cases 5000 --seed 0

A case is data of some kind and scale, an estimator, a kernel with parameters, a centring and sizes; its
number and the seed reproduce it (``--only 1234``). Counts of the outcomes are printed, and the exit status is
1 if one of them is neither a result nor a ValueError, TypeError or MemoryError with a message of some length.
"""

import argparse
import sys
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

import kpca_lab
from kpca_lab import FullKPCA
from kpca_lab.kernel_checks import NotPositiveWarning
from kpca_lab.linalg import rank_tolerance
from kpca_lab.metrics import empirical_error, normalized_empirical_error

ESTIMATORS = (
    "AKPCA", "APCA", "CholeskyKPCA", "ElasticNetKPCA", "EmpiricalMapKPCA", "FullKPCA", "HebbianKPCA",
    "ImprovedKPCA", "IncrementalKPCA", "NystromKPCA", "ReducedKPCA", "SubsetKPCA", "TippingKPCA",
)  # fmt: skip
KERNELS = (
    "rbf", "rbf", "rbf", "laplacian", "linear", "poly", "sigmoid", "cosine", "chi2", "additive_chi2",
    "precomputed", "callable",
)  # fmt: skip
GAMMAS = (*[None, "scale", "median"] * 4, 0, 1e-300, 1e-150, 1e-30, 1e-9, 1e-3, 0.5, 10.0, 1e6, 1e12, 1e18)
SCALES = (1e-300, 1e-160, 1e-100, 1e-30, 1e-8, *[1.0] * 12, 1e8, 1e30, 1e100, 1e155, 1e300)
KINDS = (
    "plain", "plain", "outlier", "duplicates", "constant column", "all equal", "mixed columns", "subnormal",
    "clusters", "offset", "integers", "zeros",
)  # fmt: skip
TYPES = (
    "float64", "float64", "float32", "float16", "longdouble", "bool", "object", "int", "frame",
    "nullable", "nullable with gaps", "read-only", "fortran", "list", "csr",
)  # fmt: skip
CENTRINGS = (True, False, "mean", "basis", "projected")
EXPECTED = (ValueError, TypeError, MemoryError)
SHORTEST_MESSAGE = 25


@dataclass(frozen=True)
class Case:
    """One case: data as the user has them, and an estimator that is not fitted."""

    X: object
    model: object
    words: str


def make_case(seed: int, number: int) -> Case:
    """The case of this number."""
    rng = np.random.default_rng([seed, number])
    kind, container = rng.choice(KINDS), rng.choice(TYPES)
    X = _in_container(_values(kind, rng), container, rng)
    name, kernel = rng.choice(ESTIMATORS), rng.choice(KERNELS)
    settings = _settings(str(kernel), rng)
    model = getattr(kpca_lab, str(name))()
    known = model.get_params()
    model.set_params(**{key: value for key, value in settings.items() if key in known})
    if settings["kernel"] == "precomputed" and "kernel" in known:
        X = _gram(X)
    return Case(X, model, f"{name} on {kind} {container} data: {model}")


def _values(kind: str, rng) -> np.ndarray:
    n, d = int(rng.choice([1, 2, 3, 8, 20, 40])), int(rng.choice([1, 2, 3, 6]))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X = np.abs(X)
    if kind == "outlier":
        X[rng.integers(n), rng.integers(d)] = 10.0 ** rng.integers(3, 16)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif kind == "constant column":
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -1e6])
    elif kind == "all equal":
        X[:] = rng.choice([0.0, 0.1, 1e8])
    elif kind == "mixed columns":
        X *= 10.0 ** rng.integers(-12, 12, d)
    elif kind == "subnormal":
        X[:, rng.integers(d)] *= 1e-310
    elif kind == "clusters":
        X = 400.0 * rng.integers(0, 2, (n, 1)) + 3e-5 * X
    elif kind == "offset":
        X += 10.0 ** rng.integers(2, 9)
    elif kind == "integers":
        X = np.round(3 * X)
    elif kind == "zeros":
        X[rng.random(X.shape) < 0.6] = 0.0
    with np.errstate(over="ignore"):
        return np.nan_to_num(X * rng.choice(SCALES))


def _in_container(X: np.ndarray, container: str, rng):
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        if container in ("float32", "float16", "longdouble", "bool", "object"):
            return X.astype(container)
        if container == "int":
            return np.clip(X, -1e9, 1e9).astype(np.int64)
    if container == "list":
        return X.tolist()
    if container == "csr":
        return sparse.csr_matrix(X)
    if container == "fortran":
        return np.asfortranarray(X)
    if container == "read-only":
        X.flags.writeable = False
    if container == "frame":
        return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    if container.startswith("nullable"):
        frame = pd.DataFrame(X).astype("Float64")
        if container.endswith("gaps"):
            frame.iloc[rng.integers(len(frame)), 0] = pd.NA
        return frame
    return X


def _settings(kernel: str, rng) -> dict:
    gamma = GAMMAS[rng.integers(len(GAMMAS))]
    return {
        "kernel": _rational if kernel == "callable" else kernel,
        "gamma": None if kernel == "callable" else gamma,
        "degree": int(rng.integers(1, 5)) if rng.random() < 0.9 else float(rng.choice([0, 0.5, 1.5])),
        "coef0": float(rng.choice([0.0, 1.0, 1.0, -1.0, 1e6])),
        "n_components": [None, 1, 2, 3, 50, 0.9][rng.integers(6)],
        "n_basis": [1, 3, 0.3, 1.0][rng.integers(4)],
        "sketch_size": [1, 3, 0.3, 1.0][rng.integers(4)],
        "center": CENTRINGS[rng.choice(5, p=[0.5, 0.4, 0.04, 0.03, 0.03])],
        "compression": [None, "select", "preimages"][rng.integers(3)],
        "orthonormalize": bool(rng.random() < 0.5),
        "refine": bool(rng.random() < 0.5),
        "random_state": 0,
    }


def _rational(x, y) -> float:
    x, y = (v.toarray().ravel() if sparse.issparse(v) else v for v in (x, y))
    with np.errstate(all="ignore"):
        return float(1.0 / (1.0 + np.sum((x - y) ** 2)))


def _gram(X):
    """A kernel matrix of the data, where there is one."""
    try:
        values = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        with np.errstate(all="ignore"):
            return np.nan_to_num(pairwise_kernels(np.nan_to_num(values), metric="rbf"))
    except (TypeError, ValueError):
        return X


def outcome(case: Case) -> str:
    """How a case ends: "result", "refused: ..." or "BAD: ..."."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in (ConvergenceWarning, NotPositiveWarning, UserWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            case.model.fit(case.X)
        except EXPECTED as error:
            short = len(str(error)) < SHORTEST_MESSAGE
            return f"BAD: short message {error}" if short else f"refused: {type(error).__name__}"
        except Exception as error:
            return f"BAD: {type(error).__name__} in fit{_place(error)}: {error}"
        try:
            return _judge(case.model, case.X)
        except ValueError as error:
            if "do not fit into float32" in str(error):
                return "refused: components too large for the type of the samples"
            return f"BAD: ValueError after fit{_place(error)}: {error}"
        except Exception as error:
            return f"BAD: {type(error).__name__} after fit{_place(error)}: {error}"


def _place(error: Exception) -> str:
    """The innermost line of this package that an error came through."""
    lines = [line for line in traceback.extract_tb(error.__traceback__) if "kpca_lab" in line.filename]
    return f" ({Path(lines[-1].filename).name}:{lines[-1].lineno})" if lines else ""


def _judge(model, X) -> str:
    components = model.transform(X)
    if not np.isfinite(components).all():
        return "BAD: components that are not finite"
    samples = np.arange(len(X)) if getattr(model, "kernel", None) == "precomputed" else X
    error = empirical_error(model, samples)
    if not np.isfinite(error):
        return "BAD: error that is not finite"
    if not (np.isfinite(model.explained_variance_ratio_).all() and np.isfinite(model.total_variance_)):
        return "BAD: explained variance that is not finite"
    again = type(model)(**model.get_params()).fit_transform(X)
    scale = max(np.abs(components).max(initial=0.0), np.sqrt(model.total_variance_))
    if again.shape != components.shape or np.abs(again - components).max(initial=0.0) > 1e-5 * scale:
        return "BAD: fit_transform unlike transform"
    return _compare_with_full(model, X, samples, error)


def _compare_with_full(model, X, samples, error) -> str:
    kernel = model.operator_.kernel
    given = {"kernel": model.kernel} if hasattr(model, "kernel") else {"kernel": "linear"}
    if isinstance(given["kernel"], str):
        given |= {"gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
    if not model.n_components_:
        return "result without components"
    centred = model.operator_.mean is not None
    if centred and model.operator_.points.shape[0] < 2:
        return "result"
    try:
        full = FullKPCA(model.n_components_, center=centred, **given).fit(X)
    except ValueError:
        return "result"  # one sample has no centred full KPCA
    optimum, total = empirical_error(full, samples), full.total_variance_
    n = full.operator_.points.shape[0]
    noise = (100 * rank_tolerance(n) + 1e-9) * total + _negative_part(kernel, full.operator_.points, centred)
    if error < optimum - noise:
        return f"BAD: error {error / total:.6g} of the variance, below the optimum {optimum / total:.6g}"
    if not normalized_empirical_error(model, full, samples) >= 1 - 1e-4 and optimum > 1e-4 * total:
        return "BAD: ratio below one"
    return "result"


def _negative_part(kernel, samples, centred: bool) -> float:
    """The sum of the negative eigenvalues over n: what an error can be below the optimum, where one warns."""
    gram = kernel.core(samples, samples) if centred else kernel(samples, samples)
    if centred:
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, None]
    eigenvalues = np.linalg.eigvalsh((gram + gram.T) / 2)
    return float(-np.minimum(eigenvalues, 0.0).sum()) / len(gram)


def run(seed: int, numbers) -> Counter:
    """Count the outcomes of the cases of these numbers, and print the bad ones."""
    counts: Counter = Counter()
    for number in numbers:
        case = make_case(seed, number)
        end = outcome(case)
        counts[end.split(":")[0] if not end.startswith("BAD") else "BAD"] += 1
        if end.startswith("refused"):
            counts[end] += 1
        if end.startswith("BAD"):
            print(f"case {number}: {end}\n    {' '.join(case.words.split())}")
    return counts


def main() -> int:
    """Run the cases asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one case")
    options = parser.parse_args()
    numbers = range(options.cases) if options.only is None else [options.only]
    counts = run(options.seed, numbers)
    for end, count in sorted(counts.items()):
        print(f"{count:7d}  {end}")
    return 1 if counts["BAD"] else 0


if __name__ == "__main__":
    sys.exit(main())
