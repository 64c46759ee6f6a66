"""How often a leaf is right about rows it has not seen, learnt from rows that were held out.

Every held-out row fell into a leaf of a tree that had not seen it, and was a hit or a miss. What
that leaf looked like while it grew (its share of the predicted class, shrunk weakly and strongly
along the path to the root) tells how often such leaves hit: a logistic curve of two terms.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit, logit

from sureleaf.tree import Tree

__all__ = [
    "CalibrationCurve",
    "anchor",
    "fit_curve",
    "leaf_features",
    "leaf_strength",
    "shrink_to_parent",
]


FloatArray = NDArray[np.float64]

_STRENGTHS = (1.0, 30.0)
"""Rows that a node borrows from its parent: hardly any, and many. The curve weighs the two."""

_SURE = 1e-4
"""Shares are kept this far from 0 and 1 before the logarithm."""


def shrink_to_parent(
    tree: Tree, counts: FloatArray, strength: float, *, leave_out: float = 0.0
) -> FloatArray:
    """Class shares of every node, to which its parent's shares add so many rows.

    With ``leave_out=1`` each share is what the other rows say about a row of that class that is
    in the node itself: it is left out in the node and in all nodes above.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> shrink_to_parent(model.tree_, model.tree_.class_counts, 2.0)
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]])
    """
    totals = np.maximum(counts.sum(axis=1, keepdims=True) - leave_out, 0.0)
    counts = np.maximum(counts - leave_out, 0.0)
    shares = np.empty(counts.shape)
    shares[0] = (counts[0] + 1.0 / counts.shape[1]) / (totals[0] + 1.0)
    depth = tree.node_depth
    order = np.argsort(depth, kind="stable")
    for nodes in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]:
        above = shares[tree.parent[nodes]]
        shares[nodes] = (counts[nodes] + strength * above) / (totals[nodes] + strength)
    return shares


def leaf_features(tree: Tree, predicted: NDArray[np.intp]) -> FloatArray:
    """Log odds of the predicted class in every node, by the growing rows, shrunk in two ways.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> leaf_features(model.tree_, np.array([0, 0, 1])).round(2)
    array([[0.  , 0.  ],
           [1.61, 0.13],
           [1.61, 0.13]])
    """
    nodes = np.arange(tree.n_nodes)
    shares = [
        shrink_to_parent(tree, tree.class_counts, strength)[nodes, predicted]
        for strength in _STRENGTHS
    ]
    looks: FloatArray = logit(np.clip(np.column_stack(shares), _SURE, 1.0 - _SURE))
    return looks


@dataclass(frozen=True)
class CalibrationCurve:
    """The probability of a hit by the looks of a leaf: a logistic curve.

    Parameters
    ----------
    constant : float
        Log odds where all looks are 0.
    slopes : tuple of float
        Change of the log odds with each look.

    Examples
    --------
    >>> CalibrationCurve(0.0, (1.0, 0.0))(np.array([[0.0, 5.0]]))
    array([0.5])
    """

    constant: float
    slopes: tuple[float, ...]

    def __call__(self, looks: FloatArray) -> FloatArray:
        """Probability of a hit, one for each line of looks."""
        chance: FloatArray = expit(self.constant + looks @ np.array(self.slopes))
        return chance


def fit_curve(looks: FloatArray, hits: FloatArray, weights: FloatArray) -> CalibrationCurve:
    """Fit the curve to held-out rows, with a unit ridge on the slopes of standardised looks.

    Examples
    --------
    >>> looks = np.array([[-1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    >>> curve = fit_curve(looks, np.array([0.0, 1.0, 1.0, 1.0]), np.ones(4))
    >>> bool(np.diff(curve(looks[[0, 2]]))[0] > 0)
    True
    """
    from scipy.optimize import minimize  # a tenth of a second, which a fit need not wait for

    total = weights.sum()
    rate = float(np.clip((weights * hits).sum(), 0.5, max(total - 0.5, 0.5))) / max(total, 1.0)
    middle = weights @ looks / total
    spread = np.sqrt(weights @ (looks - middle) ** 2 / total)
    spread = np.where(spread > 1e-9, spread, np.inf)
    scaled = np.column_stack([np.ones(len(looks)), (looks - middle) / spread])
    if hits.min() == hits.max():  # nothing to tell apart; the curve is flat
        return CalibrationCurve(float(logit(rate)), (0.0,) * looks.shape[1])

    def loss(terms: FloatArray) -> tuple[float, FloatArray]:
        odds = scaled @ terms
        misfit = weights @ (np.logaddexp(0.0, odds) - hits * odds)
        slope = scaled.T @ (weights * (expit(odds) - hits))
        slope[1:] += terms[1:]
        return float(misfit + 0.5 * terms[1:] @ terms[1:]), slope

    start = np.concatenate([[logit(rate)], np.zeros(looks.shape[1])])
    bounds = [(None, None), *[(0.0, None)] * looks.shape[1]]  # purer leaves do not hit less
    terms = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = terms[1:] / spread
    return CalibrationCurve(float(terms[0] - slopes @ middle), tuple(slopes.tolist()))


def anchor(rates: FloatArray, shares: FloatArray, target: float) -> float:
    """Shift of the log odds that makes the share-weighted mean of rates the target.

    Examples
    --------
    >>> shift = anchor(np.array([0.6, 0.8]), np.array([0.5, 0.5]), 0.75)
    >>> float(expit(logit(np.array([0.6, 0.8])) + shift).mean().round(9))
    0.75
    """
    odds = logit(np.clip(rates, 1e-9, 1.0 - 1e-9))
    low, high = -60.0, 60.0
    for _ in range(64):
        middle = (low + high) / 2
        if shares @ expit(odds + middle) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def leaf_strength(
    leaves: NDArray[np.intp], hits: FloatArray, rates: FloatArray, rows: FloatArray
) -> float:
    """How many rows one row of a leaf is worth when its hit rate is known as well as it is.

    The hits of held-out rows in one leaf are more alike than the curve's rate explains. They are
    taken as beta-binomial with strength ``c * (rows + 1)``, c a power of two from 1/64 to 1 (no
    leaf is known better than its own rows could tell), all as probable before the hits are
    seen. The result has the mean of 1 / c after that, since variances go with it.

    Parameters
    ----------
    leaves : ndarray of int, shape (n_held_out,)
        A number for the leaf of each held-out row.
    hits, rates, rows : ndarray of shape (n_held_out,)
        Whether it was a hit, the curve's rate, and the growing rows of its leaf.

    Returns
    -------
    float

    Examples
    --------
    >>> alike = np.repeat([1.0, 0.0, 1.0, 0.0], 5)
    >>> leaf_strength(np.repeat(range(4), 5), alike, np.full(20, 0.5), np.full(20, 7.0)) < 0.1
    True
    """
    _, place = np.unique(leaves, return_inverse=True)
    total = np.bincount(place).astype(float)
    hit = np.bincount(place, hits)
    rate = np.clip(np.bincount(place, rates) / total, 1e-6, 1 - 1e-6)
    grown = np.bincount(place, rows) / total
    candidates = 2.0 ** np.arange(-6, 1)

    def likelihood(c: float) -> float:
        a, b = c * (grown + 1.0) * rate, c * (grown + 1.0) * (1.0 - rate)
        return float((betaln(a + hit, b + total - hit) - betaln(a, b)).sum())

    found = np.array([likelihood(c) for c in candidates])
    chance = np.exp(found - found.max())
    return float(chance.sum() / (chance @ (1.0 / candidates)))
