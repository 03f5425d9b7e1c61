"""Ways to choose the basis samples; each serves every method that has a basis."""

from kpca_lab.selectors.random import RandomSelector

SELECTORS = {
    "random": RandomSelector,
}


def get_selector(selector):
    """A selector by name, or the object itself if it has a ``select`` method."""
    if isinstance(selector, str) and selector in SELECTORS:
        return SELECTORS[selector]()
    if hasattr(selector, "select") and not isinstance(selector, type):
        return selector
    raise ValueError(
        f"selector={selector!r} is unknown: choose from {list(SELECTORS)}, or give an object with a "
        "method select(X, n_basis, *, kernel, n_components, center, rng)."
    )


__all__ = ["SELECTORS", "RandomSelector", "get_selector"]
