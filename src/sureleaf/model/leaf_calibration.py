"""How accurate a leaf is on unseen rows, learned from leaves of trees that did not see the rows.

These are the formulas of steps (b) to (d) of `cross_fitting`, each a function of arrays, and how
well their result is known. Constants are default arguments. docs/levels-computed.md has them in one
table, with what happens without each.

Fold trees were grown without the rows that they predict. We know the class counts that grew each
leaf, and how many other rows it predicted correctly. From these leaves follow

- `fit_leaf_calibration`: the mean accuracy of leaves with the same features (`leaf_features`),
- `leaf_strength`: by how much leaves with the same features differ,
- `fit_shared_rows`: how far the errors of a leaf are of one class.

Honest trees need no such curve, because their counts come from rows that did not grow them:
`honest_accuracy` only shrinks these counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import betaln, expit, gammainc, gammaln, logit

from sureleaf import _kernel
from sureleaf.arguments import FloatArray
from sureleaf.tree import Tree
from sureleaf.tree.structure import row_sums

STRENGTHS: FloatArray = np.exp2(np.arange(13.0))
"""Numbers of rows, 1 to 4,096, that are tried where a likelihood tells how many are right. A wider
grid changes nothing."""

_HONEST_STRENGTHS = 2.0 ** np.arange(-1, 10)
"""Rows that an honest node may borrow from its parent; the most likely number is taken."""

_LEAST_STRENGTH = 0.05
"""A beta distribution of fewer rows is numerically two points."""

_SHARE_MARGIN = 1e-4
"""Shares are kept this far from 0 and 1 before the logarithm."""


# ---- (b) how accurate leaves with the same features are, and how much they differ ----------------


def shrink_to_parent(
    tree: Tree, counts: FloatArray, strength: float, *, leave_out: float = 0.0
) -> FloatArray:
    """Return the class shares of every node, each with `strength` rows of its parent's added.

    It is ``p(node) = (k + s p(parent)) / (n + s)`` for k of n rows and the strength s. The root has
    one row with equal shares of all classes added.

    With ``leave_out=1`` the share of a class is what the other rows say about a row of that class
    in the node: one such row is left out of the node and of all nodes above it.
    """
    totals = np.maximum(row_sums(counts) - leave_out, 0.0)
    counts = np.maximum(counts - leave_out, 0.0)
    root = (counts[0] + 1.0 / counts.shape[1]) / (totals[0] + 1.0)
    return _kernel.shrink_to_parent(tree.kernel, counts, totals, root, strength)


def leaf_features(
    tree: Tree,
    predicted: NDArray[np.intp],
    n_rows: float,
    *,
    strengths: tuple[float, ...] = (1.0, 30.0),
) -> FloatArray:
    """Return what is known of the accuracy of every node: purity and size.

    The features of a node are ``logit(share)`` of its predicted class, once with 1 and once with 30
    rows of its parent's shares added (`strengths`), and ``-1 / (n + 1)``: of two leaves that are
    equally pure, the larger one is more accurate on unseen rows.

    The node has `n_rows` times its share of the tree's: a fold tree has fewer rows, and is not to
    seem less accurate for that.
    """
    nodes = np.arange(tree.n_nodes)
    shares = [
        shrink_to_parent(tree, tree.class_counts, strength)[nodes, predicted]
        for strength in strengths
    ]
    purity = logit(np.clip(shares, _SHARE_MARGIN, 1.0 - _SHARE_MARGIN))
    n = row_sums(tree.class_counts)
    size = -1.0 / (n * (n_rows / n[0]) + 1.0)
    return np.column_stack([*purity, size])


@dataclass(frozen=True)
class LeafCalibration:
    """A logistic curve: the accuracy of a leaf on unseen rows, given the leaf's features.

    The log odds are `constant` where all features are 0, and change by `slopes` per unit of each.
    """

    constant: float
    slopes: tuple[float, ...]

    def __call__(self, features: FloatArray) -> FloatArray:
        """Return the accuracy of each leaf, one row of features per leaf."""
        return np.asarray(expit(self.constant + features @ np.array(self.slopes)))


def fit_leaf_calibration(
    features: FloatArray, correct: FloatArray, total: FloatArray, *, ridge: float = 1.0
) -> LeafCalibration:
    """Fit ``logit(accuracy) = constant + slopes @ features`` to the tested rows of leaves.

    `correct` of the `total` tested rows of each leaf are predicted correctly. Slopes are not
    negative, because a purer or a larger leaf is not worse. Half of the `ridge`, times the squared
    slopes of standardised features, is added to the negative log likelihood: the prior of a
    standard normal distribution. It keeps slopes finite where a feature separates the correct rows
    from the wrong ones.
    """
    n_rows = total.sum()
    rate = np.clip(correct.sum(), 0.5, max(n_rows - 0.5, 0.5)) / max(n_rows, 1.0)
    n_features = features.shape[1]
    if correct.sum() in (0.0, n_rows):  # the features distinguish nothing; the curve is flat
        return LeafCalibration(float(logit(rate)), (0.0,) * n_features)
    center = total @ features / n_rows
    scale = np.sqrt(total @ (features - center) ** 2 / n_rows)
    scale = np.where(scale > 1e-9, scale, np.inf)  # a feature that does not vary has no slope
    design = np.column_stack([np.ones(len(features)), (features - center) / scale])
    penalty = np.array([0.0, *[ridge] * n_features])

    def loss(terms: FloatArray) -> tuple[float, FloatArray]:
        odds = design @ terms
        misfit = total @ np.logaddexp(0.0, odds) - correct @ odds + penalty @ terms**2 / 2
        slope = design.T @ (total * expit(odds) - correct) + penalty * terms
        return misfit / n_rows, slope / n_rows

    best = minimize(
        loss,
        np.array([logit(rate), *[0.0] * n_features]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None), *[(0.0, None)] * n_features],
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    slopes = best.x[1:] / scale
    return LeafCalibration(float(best.x[0] - slopes @ center), tuple(slopes.tolist()))


def _posterior(log_likelihoods: FloatArray) -> FloatArray:
    """Return posterior probabilities of equally probable lines; columns are independent data."""
    logs = log_likelihoods.sum(axis=1)
    weights: FloatArray = np.exp(logs - logs.max())
    weights /= weights.sum()
    return weights


@dataclass(frozen=True)
class LeafStrength:
    """How many rows of knowledge about its accuracy a leaf of n growing rows has.

    Its inverse is ``per_row / (n + 1) + per_leaf``: one part decreases with the rows, the other is
    what leaves of any size differ by although their features are the same.
    """

    per_row: float
    per_leaf: float

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the strength of leaves of n rows."""
        return 1.0 / (self.per_row / (n + 1.0) + self.per_leaf)


def leaf_strength(
    correct: FloatArray,
    total: FloatArray,
    accuracy: FloatArray,
    grown: FloatArray,
    *,
    rows_per_row: FloatArray = STRENGTHS[:5],
    strengths: FloatArray = STRENGTHS,
) -> LeafStrength:
    """Estimate how well the curve knows the accuracy of single leaves.

    Tested rows of the same leaf are more often correct, or wrong, together than the curve explains.
    Their number is taken as beta-binomial, ``BetaBinomial(total, s p, s (1 - p))`` with the
    accuracy p of the curve and the strength ``1 / s = per_row / (n + 1) + per_leaf``, where n are
    the rows that grew the leaf. All combinations of the two parts are equally probable beforehand;
    the result has their posterior means, since variances are proportional to them.

    `rows_per_row` are growing rows per row of knowledge: a leaf is not known better than its rows
    could tell. `strengths` are the rows of knowledge that a leaf of any size has at most.
    """
    accuracy = np.clip(accuracy, 1e-6, 1.0 - 1e-6)
    per_row, per_leaf = (part.reshape(-1, 1) for part in np.meshgrid(rows_per_row, 1.0 / strengths))
    strength = 1.0 / (per_row / (grown + 1.0) + per_leaf)
    a, b = strength * accuracy, strength * (1.0 - accuracy)
    weights = _posterior(betaln(a + correct, b + (total - correct)) - betaln(a, b))
    return LeafStrength(float(weights @ per_row[:, 0]), float(weights @ per_leaf[:, 0]))


def fit_shared_rows(
    grown: FloatArray, wrong: FloatArray, shares: FloatArray, *, strengths: FloatArray = STRENGTHS
) -> float:
    """Estimate how many rows, shared by all classes, to add to what a leaf knows of its errors.

    The errors of a leaf among the tested rows (`wrong`) are taken as Dirichlet-multinomial with the
    weights ``grown + m shares``: the classes of the leaf's growing rows that it does not predict,
    and m rows with the `shares` of these classes in the whole table. If one neighbour class makes
    most of the errors of a leaf, m is small. All `strengths` m are equally probable beforehand; the
    result is the posterior mean of their logarithm. The arrays have shape (n_leaves, n_classes),
    with 0 for the class that a leaf predicts.
    """
    wrong_rows, grown_rows = row_sums(wrong), row_sums(grown)
    known = wrong_rows > 0
    logs = []
    for m in strengths:
        weights = np.where(shares[known] > 0, grown[known] + m * shares[known], 1.0)
        total = grown_rows[known] + m
        likelihood = gammaln(weights + wrong[known]) - gammaln(weights)
        logs.append(likelihood.sum() - (gammaln(total + wrong_rows[known]) - gammaln(total)).sum())
    return float(np.exp(_posterior(np.array(logs)[:, np.newaxis]) @ np.log(strengths)))


def largest_error_share(weights: FloatArray) -> FloatArray:
    """Return the expected share of the class that makes most of the errors of each leaf.

    The shares of the classes have a Dirichlet distribution with these weights, which are 0 for the
    class that the leaf predicts. They are gamma variables over their sum, which does not depend on
    them, so the mean of the largest share is the mean of the largest gamma variable, the integral
    of ``1 - product of P(weight, t)`` over t, over that of the sum.

    Examples
    --------
    >>> largest_error_share(np.array([[0.0, 1, 1], [0, 0.01, 0.01], [0, 1e6, 1e6]])).round(3)
    array([0.75 , 0.993, 0.5  ])
    """
    largest = weights.max(axis=1)
    low = np.maximum(largest - 8.0 * np.sqrt(largest + 1.0), 0.0)
    width = largest + 8.0 * np.sqrt(largest + 1.0) + 16.0 - low
    place, step = np.polynomial.legendre.leggauss(48)
    u = (place + 1.0) / 2.0
    t = low[:, np.newaxis] + width[:, np.newaxis] * u**2  # dense where small weights change fast
    below = np.ones_like(t)
    for of_class in weights.T:
        has_weight = of_class > 0
        below[has_weight] *= gammainc(of_class[has_weight, np.newaxis], t[has_weight])
    mean = low + width * ((1.0 - below) @ (u * step))
    return np.asarray(np.minimum(mean / row_sums(weights), 1.0))


# ---- (c) and (d): the leaf's own rows, and the tree ----------------------------------------------


def mixed_accuracy(
    curve: FloatArray, by_own_rows: FloatArray, *, own_share: float = 0.5
) -> FloatArray:
    """Return ``(1 - own_share) curve + own_share by_own_rows``; the curve alone without own rows.

    Both are accuracies of nodes: by their features, and by their own rows, NaN if none was tested.
    """
    by_own_rows = np.where(np.isnan(by_own_rows), curve, by_own_rows)
    return (1.0 - own_share) * curve + own_share * by_own_rows


def tree_accuracy(
    out_of_fold_accuracy: float,
    mean_of_folds: float,
    mean_of_tree: float,
    n_rows: float,
    *,
    most: float = 1.0,
) -> float:
    """Return the accuracy of the tree: that of the fold trees, plus how its leaves differ.

    It is ``out_of_fold_accuracy + mean_of_tree - mean_of_folds``, where the means are those of the
    curve over the leaves. The folds tell how such trees do on average. But greedy trees of an
    exclusive or find it in one sample and miss it in the next, and the leaves of a tree show which
    it is. That the fold trees had fewer rows shows in their leaves, too. Both means are of the
    curve alone: step (c) says nothing about the leaves of the fold trees, and what it says about
    those of the tree would be on one side of the difference only.

    The result is not above `most`, and stays half a row away from 0 and 1, because no number of
    correct predictions proves that none is wrong.

    Examples
    --------
    >>> round(tree_accuracy(0.75, mean_of_folds=0.75, mean_of_tree=0.77, n_rows=100.0), 3)
    0.77
    """
    margin = 0.5 / (n_rows + 1.0)
    accuracy = min(out_of_fold_accuracy + (mean_of_tree - mean_of_folds), most)
    return float(np.clip(accuracy, margin, 1.0 - margin))


def shift_to_mean(accuracy: FloatArray, shares: FloatArray, target: float) -> FloatArray:
    """Return ``expit(logit(p) + c)`` with the one c by which ``shares @ p`` becomes the target."""
    odds = logit(np.clip(accuracy, 1e-9, 1.0 - 1e-9))
    shift = brentq(lambda shift: shares @ expit(odds + shift) - target, -60.0, 60.0, xtol=1e-12)
    return np.asarray(expit(odds + shift))


# ---- how well the accuracy is known --------------------------------------------------------------


def tree_strength(n: float, *, variance: float = 2.0) -> float:
    """Return how many rows the accuracy of a tree of n rows is known by.

    It is ``strength + 1 = n / variance``, with a strength of at least 1. Around the out-of-fold
    accuracy, that of a tree has two binomial variances ``p (1 - p) / n``: one is the sample's, one
    is that the tree differs from the fold trees.
    """
    return max(n / variance - 1.0, 1.0)


def node_strength(
    tree: Tree, n: FloatArray, accuracy: FloatArray, of_leaf: LeafStrength
) -> FloatArray:
    """Return how many rows would tell the accuracy of every node as precisely.

    The strength s has ``1 / (s + 1) = 1 / (s_leaf + 1) + moved / (s_tree + 1)``. That is a sum of
    variances, because an accuracy p that s rows tell has the variance ``p (1 - p) / (s + 1)``. The
    first one is that of such leaves around the curve, `of_leaf` for `n` rows. The second one is
    that of the mean accuracy m of the tree, ``m (1 - m) / (s_tree + 1)`` (`tree_strength`). Where m
    moves, the log odds of all leaves move alike, so that p moves
    ``moved = p (1 - p) / (m (1 - m))`` times as far: its variance is
    ``moved p (1 - p) / (s_tree + 1)``.

    The only leaf of a tree is the tree itself, and does not differ from it as other leaves do.
    """
    s_tree = tree_strength(float(n[0]))
    if len(n) == 1:
        return np.array([s_tree])
    shares = np.where(tree.is_leaf, n, 0.0)
    mean = float(shares @ accuracy / shares.sum())
    moved = accuracy * (1.0 - accuracy) / (mean * (1.0 - mean))
    variance = 1.0 / (of_leaf(n) + 1.0) + moved / (s_tree + 1.0)
    return np.maximum(1.0 / variance - 1.0, _LEAST_STRENGTH)


# ---- honest trees --------------------------------------------------------------------------------


def honest_accuracy(tree: Tree, predicted: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return the accuracy of every node from counts of rows that did not grow the tree.

    It is the share of the predicted class, with some rows of the parent's shares added: as many as
    make each counted row most likely given the others. The second result is the number of rows that
    the accuracy is known by: counted and added.
    """
    leaves, counts = tree.leaf_ids, tree.class_counts

    def log_likelihood(strength: float) -> float:
        others = shrink_to_parent(tree, counts, strength, leave_out=1.0)[leaves]
        return float((counts[leaves] * np.log(np.maximum(others, 1e-12))).sum())

    likelihoods = [log_likelihood(strength) for strength in _HONEST_STRENGTHS]
    added = float(_HONEST_STRENGTHS[int(np.argmax(likelihoods))])
    accuracy = shrink_to_parent(tree, counts, added)[np.arange(tree.n_nodes), predicted]
    strength: FloatArray = counts.sum(axis=1) + added
    strength[0] = counts[0].sum() + 1.0  # the root has no parent, and one row of all classes
    return accuracy, strength


def honest_shared_rows(tree: Tree, predicted: NDArray[np.intp]) -> float:
    """Return the `fit_shared_rows` of counts of rows that did not grow the tree."""
    if tree.n_classes <= 2:
        return 1.0  # there is one other class at most
    leaves = tree.leaf_ids
    wrong, of_table = tree.class_counts[leaves], tree.class_counts[[0] * len(leaves)] + 1.0
    for counts in (wrong, of_table):
        counts[np.arange(len(leaves)), predicted[leaves]] = 0.0
    shares = of_table / row_sums(of_table)[:, np.newaxis]
    return fit_shared_rows(np.zeros_like(wrong), wrong, shares)
