"""Plots of fitted models, as display objects in scikit-learn's manner.

Each class holds the numbers that it shows; ``from_estimator`` takes them from an estimator and plots them,
``plot`` plots them again, on given axes too. Matplotlib is imported when something is plotted.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kpca_lab.extras import require

__all__ = ["ComponentsDisplay", "ExplainedVarianceDisplay", "GapDisplay"]


def _axes(ax):
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    _, ax = require("matplotlib.pyplot", "plot").subplots(layout="constrained")
    return ax


class ComponentsDisplay:
    """Samples in the plane of two components.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, 2)
        The two components of each sample.
    y : ndarray of shape (n_samples,), optional
        Labels, which become colours with a legend, or numbers, which become colours with a scale.
    names : tuple of str, default=("component 1", "component 2")
        What is written at the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kpca_lab import SubsetKPCA
    >>> from kpca_lab.displays import ComponentsDisplay
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = SubsetKPCA(n_components=3, gamma=2.0, n_basis=50, random_state=0).fit(X)
    >>> ComponentsDisplay.from_estimator(model, X, y).scores.shape
    (200, 2)
    """

    def __init__(self, scores, *, y=None, names: tuple[str, str] = ("component 1", "component 2")):
        self.scores = scores
        self.y = y
        self.names = names

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, components: tuple[int, int] = (0, 1), ax=None, **kwargs):
        """Project samples by a fitted transformer and plot two of their components.

        Parameters
        ----------
        estimator : fitted transformer
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels or numbers to colour the samples by.
        components : tuple of int, default=(0, 1)
            Numbers of the two components, from zero.
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.scatter``.

        Returns
        -------
        ComponentsDisplay
        """
        check_is_fitted(estimator)
        scores = estimator.transform(X)
        first, second = components
        if not {first, second} <= set(range(scores.shape[1])):
            raise ValueError(
                f"components={components!r} must be two of the {scores.shape[1]} that the model has, "
                "numbered from 0."
            )
        if y is not None:
            y = column_or_1d(y)
            check_consistent_length(scores, y)
        ratio = getattr(estimator, "explained_variance_ratio_", None)
        names = [
            f"component {number + 1}" + ("" if ratio is None else f" ({ratio[number]:.1%} of the variance)")
            for number in components
        ]
        return cls(scores[:, [first, second]], y=y, names=(names[0], names[1])).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Plot the samples.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.scatter``.

        Returns
        -------
        ComponentsDisplay
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        options = {"s": 12, "alpha": 0.8, "linewidths": 0, **kwargs}
        if self.y is None:
            self.ax_.scatter(*self.scores.T, **options)
        elif _is_continuous(self.y):
            points = self.ax_.scatter(*self.scores.T, c=self.y, **options)
            self.figure_.colorbar(points, ax=self.ax_)
        else:
            labels = np.unique(self.y)
            colours = require("matplotlib", "plot").colormaps["tab10" if len(labels) <= 10 else "tab20"]
            for number, label in enumerate(labels):
                colour = colours(number % colours.N)
                self.ax_.scatter(*self.scores[self.y == label].T, color=colour, label=str(label), **options)
            beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
            self.ax_.legend(markerscale=1.5, ncols=1 if len(labels) <= 10 else 2, **beside)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        return self


def _is_continuous(y: np.ndarray) -> bool:
    return np.issubdtype(y.dtype, np.number) and len(np.unique(y)) > 20


class ExplainedVarianceDisplay:
    """The share of the variance that each component explains, and all up to it together.

    Parameters
    ----------
    explained_variance_ratio : ndarray of shape (n_components,)
        Shares of the variance, as an estimator has them after ``fit``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from kpca_lab import FullKPCA
    >>> from kpca_lab.displays import ExplainedVarianceDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> display = ExplainedVarianceDisplay.from_estimator(FullKPCA(n_components=5).fit(X))
    >>> display.ax_.get_xlabel()
    'component'
    """

    def __init__(self, explained_variance_ratio):
        self.explained_variance_ratio = explained_variance_ratio

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **kwargs):
        """Plot what the components of a fitted estimator explain.

        Parameters
        ----------
        estimator : fitted estimator with ``explained_variance_ratio_``
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.bar``.

        Returns
        -------
        ExplainedVarianceDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "explained_variance_ratio_"):
            raise ValueError(f"{type(estimator).__name__} does not tell its explained_variance_ratio_.")
        return cls(estimator.explained_variance_ratio_).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Plot a bar for each component and a line for their sums.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.bar``.

        Returns
        -------
        ExplainedVarianceDisplay
        """
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        numbers = np.arange(1, len(self.explained_variance_ratio) + 1)
        self.ax_.bar(numbers, self.explained_variance_ratio, **{"label": "each", "color": "C0", **kwargs})
        together = np.cumsum(self.explained_variance_ratio)
        marker = "o" if len(numbers) <= 50 else ""
        self.ax_.plot(numbers, together, color="C1", marker=marker, markersize=4, label="together")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set(xlabel="component", ylabel="share of the variance", ylim=(0, 1))
        self.ax_.legend()
        return self


class GapDisplay:
    """The error against the size of the basis, with the floor that no method goes below.

    The error of full kernel PCA of the same kernel, centring and number of components lies between the
    largest floor and the smallest error: the shaded band.

    Parameters
    ----------
    n_basis : array-like of shape (n_sizes,)
        Sizes of the basis.
    error : array-like of shape (n_sizes,)
        Mean squared reconstruction error of the training samples for each size.
    error_floor : array-like of shape (n_sizes,)
        Lower bound of each fit on what full kernel PCA could reach.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    gap : ndarray of shape (n_sizes,)
        ``error / max(error_floor) - 1``: how far each error can be above that of full kernel PCA.

    Examples
    --------
    >>> from kpca_lab.displays import GapDisplay
    >>> display = GapDisplay([10, 20, 40], [0.5, 0.42, 0.404], [0.2, 0.35, 0.4]).plot()
    >>> display.gap.round(3).tolist()
    [0.25, 0.05, 0.01]
    """

    def __init__(self, n_basis, error, error_floor):
        order = np.argsort(n_basis, kind="stable")
        self.n_basis = np.asarray(n_basis)[order]
        self.error = np.asarray(error, dtype=np.float64)[order]
        self.error_floor = np.asarray(error_floor, dtype=np.float64)[order]

    @property
    def gap(self) -> np.ndarray:
        """How far each error can be above that of full kernel PCA, as a share of it."""
        floor = self.error_floor.max()
        return self.error / floor - 1 if floor > 0 else np.full(len(self.error), np.inf)

    @classmethod
    def from_estimator(cls, estimator, X, *, n_basis: Sequence[int], ax=None, **kwargs):
        """Fit an estimator with several basis sizes and plot its errors.

        Parameters
        ----------
        estimator : SubsetKPCA
            Or another estimator with ``n_basis`` that tells ``error_`` and ``error_floor_``; a copy of it is
            fitted for each size.
        X : array-like of shape (n_samples, n_features)
        n_basis : sequence of int
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.plot`` of the errors.

        Returns
        -------
        GapDisplay
        """
        models = [clone(estimator).set_params(n_basis=size).fit(X) for size in n_basis]
        return cls.from_fitted(models, ax=ax, **kwargs)

    @classmethod
    def from_fitted(cls, estimators: Sequence, *, ax=None, **kwargs):
        """Plot the errors of fitted estimators that differ in the basis alone.

        Parameters
        ----------
        estimators : sequence of fitted SubsetKPCA
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.plot`` of the errors.

        Returns
        -------
        GapDisplay
        """
        for estimator in estimators:
            check_is_fitted(estimator)
            if getattr(estimator, "error_floor_", None) is None:
                raise ValueError(f"{type(estimator).__name__} does not tell its error_floor_.")
        sizes, errors, floors = zip(
            *((model.basis_.shape[0], model.error_, model.error_floor_) for model in estimators)
        )
        return cls(sizes, errors, floors).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs):
        """Plot errors and floors on logarithmic axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        **kwargs
            For ``Axes.plot`` of the errors.

        Returns
        -------
        GapDisplay
        """
        self.ax_ = ax = _axes(ax)
        self.figure_ = ax.figure
        ax.plot(self.n_basis, self.error, **{"color": "C0", "marker": "o", "label": "error", **kwargs})
        ax.plot(self.n_basis, self.error_floor, color="C1", marker="v", linestyle="--", label="floor")
        ax.axhspan(
            self.error_floor.max(),
            self.error.min(),
            color="C2",
            alpha=0.3,
            linewidth=2,  # seen also where the two meet
            label="full kernel PCA",
        )
        ax.set(xscale="log", xlabel="basis size", ylabel="mean squared error in feature space")
        if self.error_floor.min() > 0:
            ax.set_yscale("log")
        ax.set_xticks(self.n_basis, labels=[str(size) for size in self.n_basis])
        ax.set_xticks([], minor=True)
        ax.legend()
        return self
