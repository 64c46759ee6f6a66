"""The levels of a tree, from top to bottom: how the confidence of a leaf is computed.

All rows grow the tree. What its leaves are worth on unseen rows is told by other trees:

(a) Trees grown without one fold predict the rows of that fold: `predict_out_of_fold`.
(b) Their leaves are trials of what such leaves are worth. A beta-binomial regression over them says
    how accurate a leaf is, given its purity and size, and how much such leaves differ:
    `fit_leaf_calibration`, `leaf_strength`.
(c) Half of the accuracy of a leaf is how probable its class is for its own rows, according to the
    trees that did not see them: `class_probability`.
(d) All leaves are shifted so that their mean is the accuracy of the tree: `tree_accuracy`.
(e) The accuracy of a leaf has a beta distribution with this mean. Its utility is the mean, its
    confidence the probability that the accuracy is above a tie: `node_levels.levels_of_accuracy`.

One assignment of rows to folds is a matter of luck. So steps (a) to (d) are repeated in *rounds*,
each with folds of its own, and averaged, until the luck of the folds moves no confidence by more
than a small standard error: `cross_fit_levels`. docs/levels-computed.md tells the same with the
constants and what each is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.folds import ENOUGH_TESTED, enough_folds, fold_numbers
from sureleaf.levels.decisions import CostRule, predicted_class
from sureleaf.model.fitting import TreeSettings
from sureleaf.model.fold_trees import FoldRows, fold_trees
from sureleaf.model.leaf_calibration import (
    LeafStrength,
    error_concentration,
    fit_leaf_calibration,
    leaf_features,
    leaf_strength,
    shift_to_mean,
)
from sureleaf.model.node_levels import (
    error_ties,
    other_shares,
    posterior_confidence,
    tie_prior,
    tree_strength,
    without_class,
)
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import LeafEstimate
from sureleaf.progress import track
from sureleaf.random_streams import ROUND, seed_for, shuffled
from sureleaf.tree import TrainingRows, Tree, mixture, route
from sureleaf.tree.structure import row_sums

MAX_ERROR = 0.01
"""Rounds end when the luck of the folds moves no leaf's confidence by a larger standard error."""

MAX_ROUNDS = 40
_ROW_BUDGET = 100_000
"""Rows times rounds; larger tables have fewer rounds, at least one. With more than four classes,
rows cost in proportion to the classes."""

_CHECKED_ROUNDS = (4, 6, 9, 13, 19, 27)
"""Numbers of rounds after which it is checked whether there are enough."""


def cross_fit_levels(
    model: TreeModel,
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> tuple[TreeModel, FloatArray]:
    """Repeat cross-fitting until the levels no longer depend on the luck of the folds.

    At most 40 rounds of 10 trees are grown (with the default `cv`), and of 20 trees where a table
    of at most 1,000 rows has chosen the size of its tree by cross-validation. There are fewer
    rounds from 2,500 rows on, and one from 50,000 rows on.

    Parameters
    ----------
    model : TreeModel
        Fitted on these rows.
    rows, settings, groups, n_threads
        As for `cross_fit`.

    Returns
    -------
    model : TreeModel
        The same model with the accuracy of its nodes as evidence of its levels.
    correct : ndarray of float64, shape (n_rows,)
        The share of the rounds that predict each row correctly; NaN if no fold tests it.
    """
    # Folds that the caller gives are the same in every round.
    given = not isinstance(settings.cv, int | np.integer)
    cost = len(rows.labels) * max(1.0, len(model.classes) / 4)
    n_rounds = 1 if given else max(1, min(MAX_ROUNDS, int(_ROW_BUDGET / max(cost, 1.0))))
    shown = False if n_rounds == 1 else None  # one round shows a bar of its own
    correct: list[FloatArray] = []
    estimates: list[RoundEstimate] = []
    for number in track(range(n_rounds), total=n_rounds, what="Cross-fitting", shown=shown):
        out_of_fold = cross_fit(rows, settings, groups=groups, n_threads=n_threads, number=number)
        correct.append(out_of_fold.correct_of(len(rows.labels)))
        estimates.append(round_estimate(model, rows, out_of_fold))
        if len(estimates) in _CHECKED_ROUNDS:
            errors = _mean_of_rounds(model, estimates).confidence_error
            if errors is not None and errors[model.tree.leaf_ids].max() <= MAX_ERROR:
                break
    return model.with_evidence(_mean_of_rounds(model, estimates)), np.mean(correct, axis=0)


def levels_of_rounds(
    model: TreeModel, rows: TrainingRows, rounds: Sequence["OutOfFold"]
) -> TreeModel:
    """Return the same model with evidence from these rounds of out-of-fold predictions."""
    estimates = [round_estimate(model, rows, each) for each in rounds]
    return model.with_evidence(_mean_of_rounds(model, estimates))


# ---- (a) fold trees predict the rows that they did not see ---------------------------------------


@dataclass(frozen=True, eq=False)
class FoldLeaves:
    """The leaves of all fold trees: what is known of each, and what became of it.

    Parameters
    ----------
    features : ndarray of float64, shape (n_leaves, n_features)
        Their `leaf_features`.
    predicted : ndarray of int, shape (n_leaves,)
        Index of the class that each leaf predicts.
    grown, tested : ndarray of float64, shape (n_leaves, n_classes)
        Rows by class that grew the leaf, and that it was tested on.
    shares : ndarray of float64, shape (n_leaves,)
        Share of each leaf in the rows that grew its tree, times the share of the tested rows that
        its tree predicts: the shares of all leaves sum to 1.
    """

    features: FloatArray
    predicted: NDArray[np.intp]
    grown: FloatArray
    tested: FloatArray
    shares: FloatArray

    @property
    def correct(self) -> FloatArray:
        """Tested rows of the class that each leaf predicts."""
        return self.tested[np.arange(len(self.tested)), self.predicted]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictions of rows by trees that were grown without them.

    Parameters
    ----------
    rows : ndarray of int, shape (n_tested,)
        The rows that are tested.
    weights : ndarray of float64, shape (n_tested,)
        What each of them weighs.
    correct : ndarray of float64, shape (n_tested,)
        1 if the row is predicted correctly, 0 if not.
    decided : ndarray of int, shape (n_tested,)
        Index of the class that each row was predicted as.
    leaf : ndarray of int, shape (n_tested,)
        Which of the leaves predicted it, of several the heaviest.
    leaves : FoldLeaves
        The leaves of the trees that predicted.
    """

    rows: NDArray[np.intp]
    weights: FloatArray
    correct: FloatArray
    decided: NDArray[np.intp]
    leaf: NDArray[np.intp]
    leaves: FoldLeaves

    @property
    def accuracy(self) -> float:
        """Share of correct predictions; NaN if no row is tested."""
        if not len(self.rows):
            return np.nan
        return float(self.weights @ self.correct / self.weights.sum())

    def correct_of(self, n_rows: int) -> FloatArray:
        """Return `correct` of all rows of the table; NaN if a row is not tested."""
        correct = np.full(n_rows, np.nan)
        correct[self.rows] = self.correct
        return correct


def cross_fit(
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
    number: int = 0,
) -> OutOfFold:
    """Assign rows to folds and predict each fold by a tree grown on the others.

    Fold trees are pruned as the tree was: see `sureleaf.model.fold_trees`.

    Parameters
    ----------
    rows : TrainingRows
        The rows that the model was fitted on.
    settings : TreeSettings
        Those that the fit resolved.
    groups : ndarray of shape (n_rows,), optional
        Rows of a group stay in one fold.
    n_threads : int
        Threads; the result does not depend on it.
    number : int
        Number of the round. Round 0 has the folds that the fit used.

    Returns
    -------
    OutOfFold
    """
    seed = settings.seed if number == 0 else seed_for(settings.seed, ROUND, number)
    parts = FoldRows(rows, fold_numbers(rows.labels, settings.cv, seed=seed, groups=groups))
    folds = parts.every_fold()
    if isinstance(settings.cv, int | np.integer):
        # Two, so that a nested choice has another one; folds that the caller gives are all tested.
        enough = enough_folds(parts.fold_of, least=2)
        folds = [fold for fold in folds if fold in enough]
    trees = fold_trees(parts, folds, settings, groups=groups, n_threads=n_threads)
    return predict_out_of_fold(parts, trees, settings.leaf_estimate, rule=settings.rule)


def predict_out_of_fold(
    parts: FoldRows,
    trees: dict[int, Tree],
    estimate: LeafEstimate,
    *,
    rule: CostRule | None = None,
) -> OutOfFold:
    """Predict the rows of each fold by the tree that was grown without it.

    Parameters
    ----------
    parts : FoldRows
        The rows in folds.
    trees : dict
        The trees by the fold that each was grown without.
    estimate : LeafEstimate
        From a tree and its counts to the class probabilities of its nodes.
    rule : CostRule, optional
        The costs that decide, if errors have different costs.

    Returns
    -------
    OutOfFold
        In large tables, of which few folds are tested, of at most 100,000 random rows per fold.

    Examples
    --------
    >>> from sureleaf.probability import Frequency
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[float(i)] for i in range(12)])
    >>> rows = TrainingRows(table, np.repeat([0, 1], 6).astype(np.int32), 2)
    >>> parts = FoldRows(rows, np.arange(12) % 3)
    >>> trees = {fold: grow(parts.without([fold]), GrowthRules()) for fold in range(3)}
    >>> predict_out_of_fold(parts, trees, Frequency()).correct_of(12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    found: list[OutOfFold] = []
    for fold, tree in trees.items():
        index = np.flatnonzero(parts.tested([fold]))
        if len(index) > ENOUGH_TESTED and len(trees) < len(parts.every_fold()):
            index = np.sort(index[shuffled(len(index), 0, int(fold))[:ENOUGH_TESTED]])
        if len(index):
            found.append(_predict_fold(parts, index, tree, estimate, rule))
    return _joined(found, parts.rows.n_classes)


def _predict_fold(
    parts: FoldRows,
    index: NDArray[np.intp],
    tree: Tree,
    estimate: LeafEstimate,
    rule: CostRule | None,
) -> OutOfFold:
    """Predict rows by a tree that was grown without them; shares are those in this tree."""
    labels, n_classes, weights = parts.rows.labels, parts.rows.n_classes, parts.weights
    probabilities = estimate(tree, tree.class_counts)
    test = parts.rows.table[index]
    decided = predicted_class(mixture(tree, test, probabilities), rule)
    routes = route(tree, test)
    line = np.zeros(tree.n_nodes, dtype=np.intp)
    line[tree.leaf_ids] = np.arange(tree.n_leaves)
    row = index[routes.rows()]
    tested: FloatArray = np.bincount(
        line[routes.nodes] * n_classes + labels[row],
        weights[row] * routes.shares,
        tree.n_leaves * n_classes,
    ).astype(float)
    predicted = predicted_class(probabilities, rule)
    grown = tree.class_counts[tree.leaf_ids]
    leaves = FoldLeaves(
        leaf_features(tree, predicted, float(weights.sum()))[tree.leaf_ids],
        predicted[tree.leaf_ids],
        grown,
        tested.reshape(-1, n_classes),
        row_sums(grown) / grown.sum() * weights[index].sum(),
    )
    correct = (decided == labels[index]).astype(float)
    leaf = line[routes.heaviest()]
    return OutOfFold(index, weights[index], correct, decided, leaf, leaves)


def _joined(found: Sequence[OutOfFold], n_classes: int) -> OutOfFold:
    """Put the predictions by several trees together; shares become those in all of them."""
    if not found:
        none, nowhere, no_counts = np.empty(0), np.empty(0, np.intp), np.empty((0, n_classes))
        leaves = FoldLeaves(np.empty((0, 0)), nowhere, no_counts, no_counts, none)
        return OutOfFold(nowhere, none, none, nowhere, nowhere, leaves)
    leaves = _together(FoldLeaves, [each.leaves for each in found])
    first = np.cumsum([0, *(len(each.leaves.shares) for each in found[:-1])])
    joined: OutOfFold = _together(
        OutOfFold,
        [replace(each, leaf=each.leaf + start) for each, start in zip(found, first, strict=True)],
        leaves=replace(leaves, shares=leaves.shares / leaves.shares.sum()),
    )
    return joined


def _together(kind: type[Any], parts: Sequence[Any], **given: Any) -> Any:
    """Concatenate the arrays of parts of a kind, except those that are given."""
    names = [field.name for field in fields(kind) if field.name not in given]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return kind(**arrays, **given)


# ---- (b) to (d): the accuracy of every node, by one round of folds -------------------------------


@dataclass(frozen=True, eq=False)
class RoundEstimate:
    """What one round of folds knows.

    Parameters
    ----------
    accuracy : ndarray of float64, shape (n_nodes,)
        Accuracy of every node on unseen rows.
    strength : LeafStrength
        How well this is known.
    concentration : float
        Rows by which the errors of a leaf are like those of the table: `error_concentration`.
    """

    accuracy: FloatArray
    strength: LeafStrength
    concentration: float


def round_estimate(
    model: TreeModel, rows: TrainingRows, out_of_fold: OutOfFold, *, class_share: float = 0.5
) -> RoundEstimate:
    """Return the accuracy of every node by one round of folds, steps (b) to (d).

    Parameters
    ----------
    model : TreeModel
        The tree, grown on all rows.
    rows : TrainingRows
        The rows.
    out_of_fold : OutOfFold
        Their predictions by fold trees.
    class_share : float
        The part of a leaf's accuracy that is the probability of its class for its own rows.

    Returns
    -------
    RoundEstimate
    """
    tree, leaves = model.tree, out_of_fold.leaves
    if not leaves.tested.any():
        accuracy = np.full(tree.n_nodes, 1.0 / tree.n_classes)
        return RoundEstimate(accuracy, LeafStrength(1.0, 1.0), 1.0)
    # Weights that are not counts of rows tell as much as Kish's effective number of rows.
    weights, scale = out_of_fold.weights, 1.0
    if model.weights != "counts":
        scale = float(weights.sum() / (weights @ weights))
    correct, total = scale * leaves.correct, scale * row_sums(leaves.tested)
    # (b)
    curve_of_folds, curve = _curves(model, leaves, correct, total)
    strength = leaf_strength(correct, total, curve_of_folds, row_sums(leaves.grown))
    # (c)
    accuracy = curve
    if model.rule is None:
        of_class = class_probability(model, rows, out_of_fold, curve_of_folds)
        of_class = np.where(np.isnan(of_class), curve, of_class)
        accuracy = (1.0 - class_share) * curve + class_share * of_class
    # (d)
    shares = np.where(tree.is_leaf, row_sums(tree.class_counts), 0.0)
    shares /= shares.sum()
    of_folds, of_tree = float(leaves.shares @ curve_of_folds), float(shares @ curve)
    target = tree_accuracy(out_of_fold.accuracy, of_folds, of_tree, total.sum())
    accuracy = shift_to_mean(accuracy, shares, target)
    concentration = 1.0
    if tree.n_classes > 2:
        concentration = error_concentration(
            without_class(leaves.grown, leaves.predicted),
            scale * without_class(leaves.tested, leaves.predicted),
            other_shares(tree.class_counts[[0] * len(leaves.predicted)], leaves.predicted),
        )
    return RoundEstimate(accuracy, strength, concentration)


def _curves(
    model: TreeModel, leaves: FoldLeaves, correct: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the accuracy that the regression gives the fold leaves, and the nodes of the tree.

    With unequal costs, rare and frequent classes are decided at different probabilities, and one
    curve for all decisions would state too much for some, too little for others. So each decision
    has a curve of its own; one that no fold tree makes has the mean accuracy.
    """
    predicted = model.predicted_classes
    features = leaf_features(model.tree, predicted, model.tree.class_counts[0].sum())
    if model.rule is None:
        calibration = fit_leaf_calibration(leaves.features, correct, total)
        return calibration(leaves.features), calibration(features)
    mean = correct.sum() / total.sum()
    of_leaves, of_nodes = np.full(len(total), mean), np.full(len(predicted), mean)
    for decision in np.unique(predicted).tolist():
        of_fold, of_tree = leaves.predicted == decision, predicted == decision
        if total[of_fold].any():
            calibration = fit_leaf_calibration(
                leaves.features[of_fold], correct[of_fold], total[of_fold]
            )
            of_leaves[of_fold] = calibration(leaves.features[of_fold])
            of_nodes[of_tree] = calibration(features[of_tree])
    return of_leaves, of_nodes


def class_probability(
    model: TreeModel, rows: TrainingRows, out_of_fold: OutOfFold, leaf_accuracy: FloatArray
) -> FloatArray:
    """Return how probable the class of each node is for its own rows; NaN without such rows.

    It is the mean over the tested rows of the node. A row that was predicted as the class of the
    node, by a fold leaf of accuracy p, counts p; one that was predicted as another class counts
    ``(1 - p) / (K - 1)``, because the K - 1 other classes share the rest equally. A small leaf
    that was drawn around the classes of its rows is seen through: trees without these rows name
    another class there.

    Parameters
    ----------
    model, rows, out_of_fold
        As for `round_estimate`.
    leaf_accuracy : ndarray of float64, shape (n_fold_leaves,)
        The accuracy of the leaves of the fold trees.
    """
    tree, predicted = model.tree, model.predicted_classes
    routes = route(tree, rows.table[out_of_fold.rows])
    row = routes.rows()
    p = leaf_accuracy[out_of_fold.leaf[row]]
    is_named = out_of_fold.decided[row] == predicted[routes.nodes]
    named = np.where(is_named, p, (1.0 - p) / max(tree.n_classes - 1, 1))
    weight = out_of_fold.weights[row] * routes.shares
    total = np.bincount(routes.nodes, weight, tree.n_nodes)
    of_class = np.bincount(routes.nodes, weight * named, tree.n_nodes)
    mean: FloatArray = np.full(tree.n_nodes, np.nan)
    return np.divide(of_class, total, out=mean, where=total > 0)


def tree_accuracy(
    out_of_fold: float, curve_of_folds: float, curve_of_tree: float, n_rows: float
) -> float:
    """Return the accuracy of the tree: that of the fold trees, plus how its leaves differ.

    It is ``out_of_fold + curve_of_tree - curve_of_folds``: the out-of-fold accuracy, and the means
    of the curve over the leaves. The folds tell how such trees do on average. But greedy trees of
    an exclusive or find it in one sample and miss it in the next, and the leaves of a tree show
    which it is. That the fold trees had fewer rows shows in their leaves, too. The result stays
    half a row away from 0 and 1, because no number of correct predictions proves that none is
    wrong.

    Examples
    --------
    >>> round(tree_accuracy(0.75, curve_of_folds=0.75, curve_of_tree=0.77, n_rows=100.0), 3)
    0.77
    """
    margin = 0.5 / (n_rows + 1.0)
    accuracy = out_of_fold + (curve_of_tree - curve_of_folds)
    return float(np.clip(accuracy, margin, 1.0 - margin))


# ---- rounds: the mean, and what the luck of the folds moves --------------------------------------


def _mean_of_rounds(model: TreeModel, estimates: Sequence[RoundEstimate]) -> Evidence:
    """Average accuracies and variances over rounds; their spread gives the error by luck.

    The error is that of the jackknife: how much the confidence varies if one round is left out.
    """
    n_rounds, error = len(estimates), None
    accuracies = np.array([each.accuracy for each in estimates])
    parts = np.array([(each.strength.per_row, each.strength.per_leaf) for each in estimates])
    concentration = float(np.exp(np.mean([np.log(each.concentration) for each in estimates])))
    if n_rounds > 1:
        sums, sums_of_parts = accuracies.sum(axis=0), parts.sum(axis=0)
        ties = error_ties(
            model.tree.class_counts, model.predicted_classes, concentration, model.rule
        )
        prior = tie_prior(model.tree.n_nodes, model.rule)
        confidences = []
        for accuracy, own in zip(accuracies, parts, strict=True):
            others = (sums - accuracy) / (n_rounds - 1)
            strength = node_strength(model, others, (sums_of_parts - own) / (n_rounds - 1))
            confidences.append(posterior_confidence(others, strength, ties, prior))
        error = np.sqrt((n_rounds - 1) * np.var(confidences, axis=0))
    accuracy = accuracies.mean(axis=0)
    return Evidence(
        "cross_fit",
        accuracy,
        node_strength(model, accuracy, parts.mean(axis=0)),
        confidence_error=error,
        n_rounds=n_rounds,
        concentration=concentration,
    )


def node_strength(model: TreeModel, accuracy: FloatArray, parts: FloatArray) -> FloatArray:
    """Return how many rows would tell the accuracy of every node as precisely.

    The variance of an accuracy p is ``p (1 - p) / (strength + 1)``. That of a node is the one of
    such leaves around the curve, given by the two parts of a `LeafStrength`, plus the one of the
    whole tree (`tree_strength`), which moves all its leaves. The only leaf of a tree is the tree
    itself, and does not differ from it as other leaves do.
    """
    n = model.node_rows
    strength_of_tree = tree_strength(float(n[0]))
    if len(n) == 1:
        return np.array([strength_of_tree])
    shares = np.where(model.tree.is_leaf, n, 0.0)
    mean = float(shares @ accuracy / shares.sum())
    # A shift of all log odds moves an accuracy p in proportion to p (1 - p).
    moved = accuracy * (1.0 - accuracy) / (mean * (1.0 - mean))
    of_tree = moved / (strength_of_tree + 1.0)
    of_leaf = 1.0 / (LeafStrength(*parts.tolist())(n) + 1.0)
    strength: FloatArray = np.maximum(1.0 / (of_leaf + of_tree) - 1.0, _LEAST_STRENGTH)
    return strength


_LEAST_STRENGTH = 0.05
"""A beta distribution of fewer rows is numerically two points."""
