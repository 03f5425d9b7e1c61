"""What methods, selectors, data sets and measures are called in figures."""

from kpca_lab.suite.render.style import METHODS, SELECTORS, canonical, has_selector

__all__ = ["dataset_label", "method_label", "metric_label", "selector_label"]

_OWN_LABELS = {
    "clafic": "CLAFIC",
    "kha": "KHA",
    "wiener": "WF",
    "median": "Median",
    "bm3d": "BM3D",
    "foe": "FoE",
}

# The data sets as the titles of panels name them.
DATASETS = {
    "artificial2d": "Artificial 2D",
    "concrete": "Concrete",
    "frey": "Frey faces",
    "gaussian50": "Gaussian, 50 dimensions",
    "housing": "Housing",
    "mnist": "MNIST",
    "parabola": "Parabola",
    "swiss_roll_hole": "Swiss roll",
    "teapots": "Teapots",
    "three_clusters": "Three clusters",
    "tic": "TIC",
    "usps": "USPS",
}

METRICS = {
    "empirical_error": r"$E_\mathrm{emp}$",
    "normalized_empirical_error": r"$E_\mathrm{emp}\,/\,E_\mathrm{emp}$(FKp)",
    "validation_error": r"Validation error $E_\mathrm{val}$",
    "distance": "$D$",
    "distance_squared": "$D^2$",
    "distance_per_component": "$D^2/r$",
    "runtime": "Time [s]",
    "seconds": "Time [s]",
    "classification_error": "Classification error",
    "denoising_mse": "Mean squared error",
    "sparsity": "Share of zero coefficients",
    "eigenvalue_error": "Relative eigenvalue error",
    "peak_memory": "Peak memory [MB]",
    "m": "Number of basis samples $m$",
    "basis_share": "Basis size (share of the samples)",
    "basis": "Basis size (share of the samples)",
    "n_basis": "Basis size (share of the samples)",
    "r": "Number of components $r$",
    "n": "Number of samples $n$",
    "q": "Sketch size $q$",
}


def method_label(name, selector=None) -> str:
    """The papers' abbreviation of a method, followed by that of the selector if one is given.

    Examples
    --------
    >>> method_label("subset", "kmeans"), method_label("cholesky"), method_label("FullKPCA")
    ('SubKp (Clus)', 'ICD', 'FKp')
    """
    raw = str(name).strip().lower()
    if raw in _OWN_LABELS:
        label = _OWN_LABELS[raw]
    elif canonical(name) in METHODS:
        label = METHODS[canonical(name)].label
    else:
        label = str(name)
    return f"{label} ({selector_label(selector)})" if has_selector(selector) else label


def selector_label(name) -> str:
    """The papers' abbreviation of a selector."""
    return SELECTORS[name].label if name in SELECTORS else str(name)


def metric_label(name) -> str:
    """The axis label of a metric or of a column of the records."""
    return METRICS.get(name, str(name).replace("_", " ").capitalize())


def dataset_label(name) -> str:
    """The name of a data set in words; what is none, such as the name of a user's own, is left as it is."""
    return DATASETS.get(name, str(name))
