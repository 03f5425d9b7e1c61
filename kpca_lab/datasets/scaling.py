"""Scaling fitted on one part of the data and applied to others."""

from typing import Any

import numpy as np

__all__ = ["SCALINGS", "apply_scaling", "fit_scaling", "scale"]

SCALINGS = ("standard", "minmax", "center", "unit")


def scale(
    X: np.ndarray,
    *others: np.ndarray,
    scaling: str | None,
    pixel_range: tuple[float, float] | None = None,
) -> Any:
    """Scale `X` by its own statistics, and `others` by the statistics of `X`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The training part.
    *others : ndarray or None
        Test or validation parts; None is passed through.
    scaling : {None, "standard", "minmax", "center", "unit"}
        Zero mean and unit variance; range [0, 1]; zero mean, each column by itself; or, for
        pixels, the whole possible range to [0, 1]. Constant columns are only shifted.
    pixel_range : (float, float), optional
        Smallest and largest possible value, needed by ``"unit"``.

    Returns
    -------
    tuple of ndarray or None
        The scaled `X`, then the others, in float64 unless they were float32.
    """
    if scaling is None:
        return (X, *others)
    shift, width = fit_scaling(X, scaling, pixel_range)
    return tuple(
        None if part is None else apply_scaling(_as_float(part).copy(), shift, width) for part in (X, *others)
    )


def fit_scaling(
    X: np.ndarray, scaling: str | None, pixel_range: tuple[float, float] | None = None
) -> tuple[Any, Any]:
    """Return shift and width, so that ``(X - shift) / width`` is scaled; see `scale`."""
    if scaling == "unit":
        if pixel_range is None:
            raise ValueError("scaling 'unit' is for pixels, whose range is known beforehand")
        return pixel_range[0], pixel_range[1] - pixel_range[0]
    X = _as_float(X)
    if scaling == "standard":
        shift, width = X.mean(axis=0), X.std(axis=0)
    elif scaling == "minmax":
        shift = X.min(axis=0)
        width = X.max(axis=0) - shift
    elif scaling == "center":
        return X.mean(axis=0), 1.0
    else:
        raise ValueError(f"scaling must be None or one of {', '.join(SCALINGS)}, not {scaling!r}")
    # Rounding leaves a constant column with a tiny spread; dividing by that would blow it up.
    return shift, np.where(width <= 1e-12 * np.abs(shift), 1.0, width).astype(X.dtype)


def apply_scaling(X: np.ndarray, shift: Any, width: Any) -> np.ndarray:
    """Scale an array of floating-point numbers in place, and return it."""
    if np.any(shift):
        X -= shift
    X /= width
    return X


def _as_float(X: np.ndarray) -> np.ndarray:
    return X if X.dtype in (np.float32, np.float64) else np.asarray(X, dtype=np.float64)
