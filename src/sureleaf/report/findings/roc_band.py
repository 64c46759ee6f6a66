"""A ROC curve with a pointwise band: at each false positive rate, where the true rate may lie."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureleaf.evaluation.intervals import wilson
from sureleaf.evaluation.measures import roc

__all__ = ["BAND_METHOD", "RocBand", "roc_band"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_POINTS = 400
BAND_METHOD = (
    "pointwise: percentiles of the true positive rate at each false positive rate over bootstraps "
    "of the rows (of groups where there are), and never narrower than Wilson's interval"
)


@dataclass(frozen=True, eq=False)
class RocBand:
    """A thinned ROC curve and its band.

    Attributes
    ----------
    false_positive_rate, true_positive_rate, low, high : ndarray
        At most 400 points, from (0, 0) to (1, 1).
    area : float

    Examples
    --------
    >>> scores, truth = np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])
    >>> found = roc_band(scores, truth, np.arange(4), np.ones(4), draws=50, level=0.95, seed=0)
    >>> found.area, found.low[0], found.high[-1]
    (0.75, 0.0, 1.0)
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    low: Floats
    high: Floats
    area: float


def roc_band(
    scores: Floats,
    positive: NDArray[np.bool_],
    unit: Integers,
    weights: Floats,
    *,
    draws: int,
    level: float,
    seed: int,
) -> RocBand:
    """Compute the curve of scored predictions and the band that their units leave open.

    Parameters
    ----------
    scores, positive, weights : ndarray
        Score, truth and weight of each prediction.
    unit : ndarray of int
        What is drawn again as a whole: the row (which may have been predicted more than once), or
        its group. Units of one class are drawn within their class.
    draws : int
    level : float
    seed : int

    Returns
    -------
    RocBand

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(200) < 0.4
    >>> scores = rng.normal(size=200) + truth
    >>> found = roc_band(scores, truth, np.arange(200), np.ones(200), draws=100, level=0.95, seed=0)
    >>> bool((found.low <= found.true_positive_rate).all())
    True
    """
    curve = roc(positive, scores, sample_weight=weights)
    x, y = _thinned(curve.false_positive_rate, curve.true_positive_rate)
    _, order = np.unique(-scores, return_inverse=True)
    _, units = np.unique(unit, return_inverse=True)
    heights = _drawn_heights(order, positive, units, weights, x, draws=draws, seed=seed)
    tail = (1 - level) / 2
    low, high = np.quantile(heights, [tail, 1 - tail], axis=0) if len(heights) else (y, y)
    mass = np.bincount(units, weights * positive)
    n = float(mass.sum() ** 2 / (mass**2).sum())
    own = np.array([wilson(min(rate, 1.0) * n, n, level=level) for rate in y])
    low, high = np.minimum(low, own[:, 0]), np.maximum(high, own[:, 1])
    low[y == 0], high[y == 1] = 0.0, 1.0
    return RocBand(x, y, np.minimum(low, y), np.maximum(high, y), curve.area)


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Keep points at even steps along the curve, both ends among them."""
    if len(x) <= MOST_POINTS:
        return x, y
    way = x + y
    picks = np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS - 1))
    kept = np.unique(np.concatenate([[0], picks, [len(x) - 1]]).clip(0, len(x) - 1))
    return x[kept], y[kept]


def _drawn_heights(
    order: Integers,
    positive: NDArray[np.bool_],
    units: Integers,
    weights: Floats,
    x: Floats,
    *,
    draws: int,
    seed: int,
) -> Floats:
    """Find true positive rates at the false positive rates x, a line a bootstrap of the units."""
    random = np.random.default_rng(seed)
    n_units, n_scores = int(units.max()) + 1, int(order.max()) + 1
    has_yes = np.bincount(units, positive, minlength=n_units) > 0
    has_no = np.bincount(units, ~positive, minlength=n_units) > 0
    kind = np.where(has_yes & has_no, 2, np.where(has_yes, 1, 0))
    strata = (
        [np.flatnonzero(kind == k) for k in range(3)]
        if not (kind == 2).any()
        else [np.arange(n_units)]
    )
    heights = []
    for _ in range(draws):
        times = np.zeros(n_units)
        for members in strata:
            if len(members):
                drawn = members[random.integers(len(members), size=len(members))]
                times += np.bincount(drawn, minlength=n_units)
        w = weights * times[units]
        yes = np.bincount(order, w * positive, minlength=n_scores)
        no = np.bincount(order, w * ~positive, minlength=n_scores)
        if yes.sum() > 0 and no.sum() > 0:
            rise = np.concatenate([[0.0], np.cumsum(yes) / yes.sum()])
            run = np.concatenate([[0.0], np.cumsum(no) / no.sum()])
            heights.append(np.interp(x, run, rise))
    return np.array(heights)
