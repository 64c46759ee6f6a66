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
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.folds import ENOUGH_TESTED, enough_folds, fold_numbers
from sureleaf.levels.decisions import CostRule, predicted_class
from sureleaf.model.fitting import PenaltyRule, TreeSettings, build, grow_unpruned, merge_if_wanted
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
from sureleaf.model.size_selection import N_FOLDS
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import LeafEstimate
from sureleaf.progress import track
from sureleaf.random_streams import ROUND, seed_for, shuffled
from sureleaf.tree import TrainingRows, Tree, mixture, route, thread_map
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
) -> TreeModel:
    """Return the model with levels from so many rounds that the luck of the folds hardly shows.

    At most 40 rounds of 10 trees are grown (with the default `cv`), and of 20 trees where a table
    of at most 1,000 rows has chosen the size of its tree by cross-validation. There are fewer
    rounds from 2,500 rows on, and one from 50,000 rows on. Arguments are those of `cross_fit`.
    """
    # Folds that the caller gives are the same in every round.
    given = not isinstance(settings.cv, int | np.integer)
    cost = len(rows.labels) * max(1.0, len(model.classes) / 4)
    n_rounds = 1 if given else max(1, min(MAX_ROUNDS, int(_ROW_BUDGET / max(cost, 1.0))))
    shown = False if n_rounds == 1 else None  # one round shows a bar of its own
    estimates: list[RoundEstimate] = []
    for number in track(range(n_rounds), total=n_rounds, what="Cross-fitting", shown=shown):
        out_of_fold = cross_fit(rows, settings, groups=groups, n_threads=n_threads, number=number)
        estimates.append(round_estimate(model, rows, out_of_fold))
        if len(estimates) in _CHECKED_ROUNDS:
            errors = _mean_of_rounds(model, estimates).confidence_error
            if errors is not None and errors[model.tree.leaf_ids].max() <= MAX_ERROR:
                break
    return model.with_evidence(_mean_of_rounds(model, estimates))


def levels_of_rounds(
    model: TreeModel, rows: TrainingRows, rounds: Sequence["OutOfFold"]
) -> TreeModel:
    """Return the same model with evidence from these rounds of out-of-fold predictions."""
    estimates = [round_estimate(model, rows, each) for each in rounds]
    return model.with_evidence(_mean_of_rounds(model, estimates))


# ---- (a) fold trees predict the rows that they did not see ---------------------------------------


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Rows and the fold that tests each, -1 for none; all folds share the encoded columns."""

    rows: TrainingRows
    fold_of: NDArray[np.int64]

    @property
    def weights(self) -> FloatArray:
        """The weight of each row."""
        return self.rows.row_weights

    def every_fold(self) -> list[int]:
        """Return the folds that test rows."""
        folds: list[int] = np.unique(self.fold_of[self.tested()]).tolist()
        return folds

    def tested(self, folds: Sequence[int] | None = None) -> NDArray[np.bool_]:
        """Whether a row is tested by one of these folds, or by any."""
        in_fold = self.fold_of >= 0 if folds is None else np.isin(self.fold_of, folds)
        return in_fold & (self.weights > 0)

    def without(self, folds: Sequence[int]) -> TrainingRows:
        """Return the rows with weight 0 in these folds."""
        return self.rows.with_weights(np.where(np.isin(self.fold_of, folds), 0.0, self.weights))

    def within(self, folds: Sequence[int]) -> TrainingRows:
        """Return the rows with weight 0 outside these folds."""
        return self.rows.with_weights(np.where(np.isin(self.fold_of, folds), self.weights, 0.0))


@dataclass(frozen=True, eq=False)
class FoldLeaves:
    """The leaves of all fold trees: what is known of each, and what became of it.

    - `features`, shape (n_leaves, n_features): their `leaf_features`.
    - `predicted`: index of the class that each leaf predicts.
    - `grown`, `tested`, shape (n_leaves, n_classes): rows by class that grew the leaf, and that it
      was tested on.
    - `shares`: share of each leaf in the rows that grew its tree, times the share of the tested
      rows that its tree predicts; they sum to 1.
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

    - `rows`, `weights`: the rows that are tested, by number, and what each of them weighs.
    - `correct`: 1 if the row is predicted correctly, 0 if not.
    - `decided`: index of the class that each row was predicted as.
    - `leaf`: which of the leaves predicted it, of several the heaviest.
    - `leaves`: the leaves of the trees that predicted.
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


def cross_fit(
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
    number: int = 0,
) -> OutOfFold:
    """Assign rows to folds and predict each fold by a tree grown on the others.

    `settings` are those that the fit resolved. Rows of one of the `groups` stay in one fold. The
    result does not depend on `n_threads`. Round 0, by `number`, has the folds that the fit used.
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
    parts: FoldRows, trees: dict[int, Tree], estimate: LeafEstimate, *, rule: CostRule | None = None
) -> OutOfFold:
    """Predict the rows of each fold by the tree that was grown without it; `trees` are by fold.

    In large tables only a few folds are tested, and of each at most 100,000 random rows.
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
    parts = [each.leaves for each in found]
    shares = np.concatenate([part.shares for part in parts])
    first = np.cumsum([0, *(len(part.shares) for part in parts[:-1])])
    leaf = [each.leaf + start for each, start in zip(found, first, strict=True)]
    return OutOfFold(
        np.concatenate([each.rows for each in found]),
        np.concatenate([each.weights for each in found]),
        np.concatenate([each.correct for each in found]),
        np.concatenate([each.decided for each in found]),
        np.concatenate(leaf),
        FoldLeaves(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.predicted for part in parts]),
            np.concatenate([part.grown for part in parts]),
            np.concatenate([part.tested for part in parts]),
            shares / shares.sum(),
        ),
    )


# ---- (b) to (d): the accuracy of every node, by one round of folds -------------------------------


@dataclass(frozen=True, eq=False)
class RoundEstimate:
    """What one round of folds knows.

    - `accuracy`, shape (n_nodes,): accuracy of every node on unseen rows.
    - `strength`: how well this is known.
    - `concentration`: rows by which the errors of a leaf are like those of the table.
    """

    accuracy: FloatArray
    strength: LeafStrength
    concentration: float


def round_estimate(
    model: TreeModel, rows: TrainingRows, out_of_fold: OutOfFold, *, class_share: float = 0.5
) -> RoundEstimate:
    """Return the accuracy of every node by one round of folds, steps (b) to (d).

    `class_share` is the part of a leaf's accuracy that is the probability of its class for its own
    rows.
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
    most = 1.0
    # A tree of one leaf is right as often as its class occurs, whatever its fold trees reach.
    if tree.n_nodes == 1:
        most = float(tree.class_counts[0, model.predicted_classes[0]] / tree.class_counts[0].sum())
    of_folds, of_tree = float(leaves.shares @ curve_of_folds), float(shares @ curve)
    target = tree_accuracy(out_of_fold.accuracy, of_folds, of_tree, total.sum(), most=most)
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
    by_leaf, by_node = leaves.predicted, model.predicted_classes
    features = leaf_features(model.tree, by_node, model.tree.class_counts[0].sum())
    if model.rule is None:  # one curve
        by_leaf, by_node = np.zeros_like(by_leaf), np.zeros_like(by_node)
    mean = correct.sum() / total.sum()
    of_leaves, of_nodes = np.full(len(by_leaf), mean), np.full(len(by_node), mean)
    for decision in np.unique(by_node).tolist():
        of_fold, of_tree = by_leaf == decision, by_node == decision
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
    ``(1 - p) / (K - 1)``, because the K - 1 other classes share the rest equally. A small leaf that
    was drawn around the classes of its rows is seen through: trees without these rows name another
    class there. `leaf_accuracy` has p of each leaf of the fold trees.
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
    out_of_fold: float,
    curve_of_folds: float,
    curve_of_tree: float,
    n_rows: float,
    *,
    most: float = 1.0,
) -> float:
    """Return the accuracy of the tree: that of the fold trees, plus how its leaves differ.

    It is ``out_of_fold + curve_of_tree - curve_of_folds``: the out-of-fold accuracy, and the means
    of the curve over the leaves. The folds tell how such trees do on average. But greedy trees of
    an exclusive or find it in one sample and miss it in the next, and the leaves of a tree show
    which it is. That the fold trees had fewer rows shows in their leaves, too. The result is not
    above `most`, and stays half a row away from 0 and 1, because no number of correct predictions
    proves that none is wrong.

    Examples
    --------
    >>> round(tree_accuracy(0.75, curve_of_folds=0.75, curve_of_tree=0.77, n_rows=100.0), 3)
    0.77
    """
    margin = 0.5 / (n_rows + 1.0)
    accuracy = min(out_of_fold + (curve_of_tree - curve_of_folds), most)
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
    return np.maximum(1.0 / (of_leaf + of_tree) - 1.0, _LEAST_STRENGTH)


_LEAST_STRENGTH = 0.05
"""A beta distribution of fewer rows is numerically two points."""


# ---- trees without a fold, pruned as the tree of all rows is pruned ------------------------------


def fold_trees(
    parts: FoldRows,
    folds: Sequence[int],
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> dict[int, Tree]:
    """Grow a tree without each of these folds; folds without which no rows are left have none.

    A penalty that the fit chose by cross-validation is chosen again for each fold, from the other
    folds: a penalty that has seen the rows states an accuracy that is too high. In a small table,
    the trees that choose have not seen the rows, either, which costs up to ten trees more: see
    `_sums_of_pairs`. Rows of one of the `groups` stay together where a tree is pruned by rows of
    its own.
    """
    # Trees grow side by side; only cores that are left over share the work on one tree.
    own_threads = max(1, n_threads // max(1, len(folds)))
    settings = replace(settings, n_threads=own_threads, keep_order=True)
    parts.rows.sort(n_threads)
    n_at_once = 1 if len(parts.fold_of) <= _FEW_ROWS else n_threads
    grow_without = partial(_grow_without, parts, settings, groups)
    with thread_map(n_at_once) as run:
        work = run(grow_without, [[fold] for fold in folds])
        grown = list(track(work, total=len(folds), what="Cross-fitting"))
    trees = {fold: tree for fold, tree in zip(folds, grown, strict=True) if tree is not None}
    if settings.penalties is not None:
        trees = _cut_by_nested_choice(parts, trees, settings, settings.penalties)
    for repruning in settings.reprunings:
        trees = {
            fold: repruning.of_fold_tree(tree, parts.without([fold]))
            for fold, tree in trees.items()
        }
    return trees


_FEW_ROWS = 2000
"""Handing a tree of at most so many rows to another thread takes longer than growing it."""


def _grow_without(
    parts: FoldRows, settings: TreeSettings, groups: NDArray[Any] | None, folds: Sequence[int]
) -> Tree | None:
    """Grow a tree without these folds, pruned unless a penalty will be chosen for it."""
    train = parts.without(folds)
    if not train.total_weight:
        return None
    if settings.penalties is None:
        return build(train, settings, groups=groups)
    return grow_unpruned(train, settings)


def _cut_by_nested_choice(
    parts: FoldRows, trees: dict[int, Tree], settings: TreeSettings, penalties: FloatArray
) -> dict[int, Tree]:
    """Cut each tree by the penalty that is best for other trees on other folds."""
    rule, folds = PenaltyRule(settings), list(trees)
    if np.count_nonzero(parts.weights) <= _MOST_ROWS_OF_PAIRS and len(folds) > 2:
        sums = _sums_of_pairs(parts, folds, settings, rule, penalties)
    else:
        own = {
            fold: rule.fold_sums(tree, [parts.within([fold])], penalties)[0]
            for fold, tree in trees.items()
        }
        sums = {fold: [own[other] for other in folds if other != fold] for fold in folds}
    chosen = {}
    for fold, tree in trees.items():
        if sums[fold]:
            tree = rule.cut(tree, rule.choose(penalties, np.sum(sums[fold], axis=0)))
        chosen[fold] = merge_if_wanted(tree, settings)
    return chosen


_MOST_ROWS_OF_PAIRS = 1000
"""Tables of at most so many rows choose the penalty of a fold by trees that have not seen it. In
larger tables, what these trees lack in rows matters more than what other trees have seen."""


def _sums_of_pairs(
    parts: FoldRows,
    folds: Sequence[int],
    settings: TreeSettings,
    rule: PenaltyRule,
    penalties: FloatArray,
) -> dict[int, list[FloatArray]]:
    """For each fold, how trees that were grown without it do on other folds.

    The tree of another fold has seen this one, which favours penalties that suit it: if both share
    a pattern by chance, each speaks for the pattern in the other, and in small tables the stated
    accuracy is too high.

    Folds are put together to `N_FOLDS` groups, so that there are few pairs. A tree that is grown
    without two groups serves the choice for either.
    """
    together = [list(folds[start::N_FOLDS]) for start in range(min(N_FOLDS, len(folds)))]
    sums: list[list[FloatArray]] = [[] for _ in together]
    for one, other in combinations(range(len(together)), 2):
        tree = _grow_without(parts, settings, None, together[one] + together[other])
        if tree is not None:
            tests = [parts.within(together[one]), parts.within(together[other])]
            of_one, of_other = rule.fold_sums(tree, tests, penalties)
            sums[one].append(of_other)
            sums[other].append(of_one)
    return {fold: sums[index % N_FOLDS] for index, fold in enumerate(folds)}
