"""The rule by which a number of ours is judged against a printed one.

Verdicts, the first that applies:

==================  ==========================================================================================
``exact``           ours rounds to the printed digits
``consistent``      ``|difference|`` <= 2 standard errors of the difference of the two means
``close``           ``|difference|`` <= 2 % of the printed number
``off``             none of these
``not_comparable``  a hardware time, a rough statement, a figure not legible, data or code that cannot be
                    had: the note says why
``not_run``         we have no figure
==================  ==========================================================================================

A standard error is a standard deviation divided by the root of what it is over: trials, divisions, images.
Whole numbers that nothing random enters on our side are exact or off. What kind of number it is decides
what the verdict is worth (:mod:`kpca_lab.suite.judge.published`): only results are evidence for a paper.
"""

import math

__all__ = ["AGREE", "CLOSE", "VERDICTS", "verdict"]

VERDICTS = ("exact", "consistent", "close", "off", "not_comparable", "not_run")
AGREE = VERDICTS[:3]
CLOSE = 0.02  # of the printed number
_SLACK = 1 + 1e-9  # the printed decimal fractions are not exact in binary


def verdict(
    published: float,
    decimals: int,
    ours: float,
    *,
    published_sd: float = math.nan,
    published_trials: int = 0,
    ours_sd: float = math.nan,
    trials: int = 0,
    selection_sd: float = math.nan,
) -> str:
    """Verdict on one pair of figures that can be compared (the first four of the module's table).

    Parameters
    ----------
    published, ours : float
    decimals : int
        Printed digits after the point.
    published_sd, ours_sd : float, default=nan
        Standard deviations over the trials; NaN where there is none. For a single printed trial, ours is
        taken for both sides.
    published_trials, trials : int, default=0
        What the figures are means over: trials, divisions, images; 0 where unknown.
    selection_sd : float, default=nan
        Standard deviation that comes from choosing parameters by validation. Either side has chosen by
        divisions of its own, so its variance counts twice.

    Examples
    --------
    >>> verdict(4.78, 2, 4.7833)
    'exact'
    >>> verdict(1.0025, 4, 1.0030, published_sd=0.0019, published_trials=10, ours_sd=0.0031, trials=10)
    'consistent'
    >>> verdict(193, 0, 190)
    'off'
    """
    difference = abs(ours - published)
    if difference <= 0.5 * 10.0**-decimals * _SLACK:
        return "exact"
    if published_trials == 1 and not math.isfinite(published_sd):
        published_sd = ours_sd
    variance = 0.0
    for sd, count in ((published_sd, published_trials), (ours_sd, trials), (selection_sd, 0.5)):
        if count and math.isfinite(sd):
            variance += sd**2 / count
    measured = (
        published_trials >= 1 and trials >= 2 and math.isfinite(published_sd) and math.isfinite(ours_sd)
    )
    random = measured or math.isfinite(selection_sd)
    if random and difference <= 2 * math.sqrt(variance) * _SLACK:
        return "consistent"
    if decimals == 0 and not (math.isfinite(ours_sd) and ours_sd > 0):
        return "off"
    return "close" if difference <= CLOSE * abs(published) * _SLACK else "off"
