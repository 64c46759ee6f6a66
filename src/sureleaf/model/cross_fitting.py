"""The levels of a tree, from top to bottom: how the confidence of a leaf is computed.

All rows grow the tree. What its leaves are worth on unseen rows is told by other trees:

(a) Trees grown without one fold predict the rows of that fold: `fold_trees`, `predict_out_of_fold`.
(b) Their leaves show what such leaves are worth. A logistic regression with a ridge says how
    accurate a leaf is, given its purity and size: `accuracy_by_features`. A beta-binomial
    distribution around it says how much such leaves differ: `leaf_strength`.
(c) How probable is the class of a leaf for its own rows, according to the trees that did not see
    them? That is half of its accuracy: `accuracy_by_own_rows`, `mixed_accuracy`. (With unequal
    costs, this step is left out.)
(d) All leaves are shifted so that their mean is the accuracy of the tree: `tree_accuracy`,
    `shift_to_mean`.
(e) The accuracy of a leaf has a beta distribution with this mean, known by so many rows:
    `node_strength`. Utility is the mean; confidence is the probability that the accuracy is above
    a tie, `posterior_confidence`; the interval lies between two quantiles, `accuracy_limits`.
    `node_levels.levels_of_accuracy` puts them together.

One assignment of rows to folds is a matter of luck. So steps (a) to (d) are repeated in *rounds*,
each with folds of its own, and averaged, until the luck of the folds moves no confidence by more
than a small standard error: `cross_fit_levels`. The formulas of (b) to (d) are in
`leaf_calibration`, those of (e) in `node_levels`. docs/levels-computed.md tells the same with the
constants and what each is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    fit_leaf_calibration,
    fit_shared_rows,
    leaf_features,
    leaf_strength,
    mixed_accuracy,
    node_strength,
    shift_to_mean,
    tree_accuracy,
)
from sureleaf.model.node_levels import (
    error_ties,
    other_shares,
    posterior_confidence,
    tie_prior,
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

_FEW_ROWS = 2000
"""Handing a tree of at most so many rows to another thread takes longer than growing it."""

_MOST_ROWS_OF_PAIRS = 1000
"""Tables of at most so many rows choose the penalty of a fold by trees that have not seen it. In
larger tables, what these trees lack in rows matters more than what other trees have seen."""


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
    folds (`_sums_on_other_folds`): a penalty that has seen the rows states an accuracy that is too
    high. In a small table, the trees that choose have not seen the rows, either, which costs up to
    ten trees more. Rows of one of the `groups` stay together where a tree is pruned by rows of its
    own.
    """
    # Trees grow side by side; only cores that are left over share the work on one tree.
    own_threads = max(1, n_threads // max(1, len(folds)))
    settings = replace(settings, n_threads=own_threads, keep_order=True)
    parts.rows.sort(n_threads)
    n_at_once = 1 if len(parts.fold_of) <= _FEW_ROWS else n_threads

    def grow_without(fold: int) -> Tree | None:
        train = parts.without([fold])
        if not train.total_weight:
            return None
        if settings.penalties is None:
            return build(train, settings, groups=groups)
        return grow_unpruned(train, settings)  # a penalty will be chosen for it

    with thread_map(n_at_once) as run:
        work = run(grow_without, folds)
        grown = list(track(work, total=len(folds), what="Cross-fitting"))
    trees = {fold: tree for fold, tree in zip(folds, grown, strict=True) if tree is not None}
    if settings.penalties is not None:
        rule, penalties = PenaltyRule(settings), settings.penalties
        for fold, sums in _sums_on_other_folds(parts, trees, rule, penalties).items():
            if sums:
                penalty = rule.choose(penalties, np.sum(sums, axis=0))
                trees[fold] = rule.cut(trees[fold], penalty)
            trees[fold] = merge_if_wanted(trees[fold], settings)
    for repruning in settings.reprunings:
        trees = {
            fold: repruning.of_fold_tree(tree, parts.without([fold]))
            for fold, tree in trees.items()
        }
    return trees


def _sums_on_other_folds(
    parts: FoldRows, trees: dict[int, Tree], rule: PenaltyRule, penalties: FloatArray
) -> dict[int, list[FloatArray]]:
    """For each fold, how well each penalty does for other trees on other folds.

    The tree of another fold has seen this one, which favours penalties that suit it: if both share
    a pattern by chance, each speaks for the pattern in the other, and the stated accuracy is too
    high. So in small tables, trees are grown that have seen neither of two folds. Folds are put
    together to `N_FOLDS` groups, so that there are few pairs, and the tree of a pair of groups
    serves the choice for either.
    """
    folds = list(trees)
    if np.count_nonzero(parts.weights) > _MOST_ROWS_OF_PAIRS or len(folds) <= 2:
        own = {
            fold: rule.fold_sums(tree, [parts.within([fold])], penalties)[0]
            for fold, tree in trees.items()
        }
        return {fold: [own[other] for other in folds if other != fold] for fold in folds}
    together = [folds[start::N_FOLDS] for start in range(min(N_FOLDS, len(folds)))]
    sums: list[list[FloatArray]] = [[] for _ in together]
    for one, other in combinations(range(len(together)), 2):
        train = parts.without(together[one] + together[other])
        if train.total_weight:
            tree = grow_unpruned(train, rule.settings)
            tests = [parts.within(together[one]), parts.within(together[other])]
            of_one, of_other = rule.fold_sums(tree, tests, penalties)
            sums[one].append(of_other)
            sums[other].append(of_one)
    return {fold: sums[index % N_FOLDS] for index, fold in enumerate(folds)}


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
    if not found:
        none, nowhere = np.empty(0), np.empty(0, np.intp)
        no_counts = np.empty((0, parts.rows.n_classes))
        leaves = FoldLeaves(np.empty((0, 0)), nowhere, no_counts, no_counts, none)
        return OutOfFold(nowhere, none, none, nowhere, nowhere, leaves)
    of_trees = [each.leaves for each in found]
    shares = np.concatenate([leaves.shares for leaves in of_trees])
    first = np.cumsum([0, *(len(leaves.shares) for leaves in of_trees[:-1])])
    return OutOfFold(
        np.concatenate([each.rows for each in found]),
        np.concatenate([each.weights for each in found]),
        np.concatenate([each.correct for each in found]),
        np.concatenate([each.decided for each in found]),
        np.concatenate([each.leaf + start for each, start in zip(found, first, strict=True)]),
        FoldLeaves(
            np.concatenate([leaves.features for leaves in of_trees]),
            np.concatenate([leaves.predicted for leaves in of_trees]),
            np.concatenate([leaves.grown for leaves in of_trees]),
            np.concatenate([leaves.tested for leaves in of_trees]),
            shares / shares.sum(),
        ),
    )


def _predict_fold(
    parts: FoldRows,
    index: NDArray[np.intp],
    tree: Tree,
    estimate: LeafEstimate,
    rule: CostRule | None,
) -> OutOfFold:
    """Predict rows by a tree that was grown without them.

    Shares are not normalised yet; `predict_out_of_fold` makes them sum to 1.
    """
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


# ---- one round: the steps (b) to (d) -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RoundEstimate:
    """What one round of folds knows.

    - `accuracy`, shape (n_nodes,): accuracy of every node on unseen rows.
    - `strength`: how well this is known.
    - `shared_rows`: rows with the table's other classes that are added to the errors of a leaf.
    """

    accuracy: FloatArray
    strength: LeafStrength
    shared_rows: float


def round_estimate(model: TreeModel, rows: TrainingRows, out_of_fold: OutOfFold) -> RoundEstimate:
    """Return the accuracy of every node by one round of folds, steps (b) to (d)."""
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
    curve_of_folds, curve = accuracy_by_features(model, leaves, correct, total)
    strength = leaf_strength(correct, total, curve_of_folds, row_sums(leaves.grown))
    shared_rows = 1.0
    if tree.n_classes > 2:
        shared_rows = fit_shared_rows(
            without_class(leaves.grown, leaves.predicted),
            scale * without_class(leaves.tested, leaves.predicted),
            other_shares(tree.class_counts[[0] * len(leaves.predicted)], leaves.predicted),
        )
    # (c), which is left out at unequal costs: there each decision has a curve of its own
    accuracy = curve
    if model.rule is None:
        own = accuracy_by_own_rows(model, rows, out_of_fold, curve_of_folds)
        accuracy = mixed_accuracy(curve, own)
    # (d)
    shares = np.where(tree.is_leaf, row_sums(tree.class_counts), 0.0)
    shares /= shares.sum()
    most = 1.0
    # A tree of one leaf is right as often as its class occurs, whatever its fold trees reach.
    if tree.n_nodes == 1:
        most = float(tree.class_counts[0, model.predicted_classes[0]] / tree.class_counts[0].sum())
    target = tree_accuracy(
        out_of_fold.accuracy,
        mean_of_folds=float(leaves.shares @ curve_of_folds),
        mean_of_tree=float(shares @ curve),
        n_rows=total.sum(),
        most=most,
    )
    return RoundEstimate(shift_to_mean(accuracy, shares, target), strength, shared_rows)


def accuracy_by_features(
    model: TreeModel, leaves: FoldLeaves, correct: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the accuracy that the curve gives the leaves of the fold trees, and all nodes.

    It is ``expit(constant + slopes @ features)``, fitted to the leaves of the fold trees.

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
        has_leaf, has_node = by_leaf == decision, by_node == decision
        if total[has_leaf].any():
            curve = fit_leaf_calibration(
                leaves.features[has_leaf], correct[has_leaf], total[has_leaf]
            )
            of_leaves[has_leaf] = curve(leaves.features[has_leaf])
            of_nodes[has_node] = curve(features[has_node])
    return of_leaves, of_nodes


def accuracy_by_own_rows(
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


# ---- all rounds: their mean, and what the luck of the folds moves --------------------------------


def _mean_of_rounds(model: TreeModel, estimates: Sequence[RoundEstimate]) -> Evidence:
    """Average accuracies and variances over rounds; their spread gives the error by luck.

    The error is that of the jackknife: how much the confidence varies if one round is left out.
    """
    tree, n = model.tree, model.node_rows
    n_rounds, error = len(estimates), None
    accuracies = np.array([each.accuracy for each in estimates])
    parts = np.array([(each.strength.per_row, each.strength.per_leaf) for each in estimates])
    shared_rows = float(np.exp(np.mean([np.log(each.shared_rows) for each in estimates])))
    if n_rounds > 1:
        sums, sums_of_parts = accuracies.sum(axis=0), parts.sum(axis=0)
        ties = error_ties(tree.class_counts, model.predicted_classes, shared_rows, model.rule)
        prior = tie_prior(tree.n_nodes, model.rule)
        confidences = []
        for accuracy, own in zip(accuracies, parts, strict=True):
            others = (sums - accuracy) / (n_rounds - 1)
            of_leaf = LeafStrength(*((sums_of_parts - own) / (n_rounds - 1)).tolist())
            strength = node_strength(tree, n, others, of_leaf)
            confidences.append(posterior_confidence(others, strength, ties, prior))
        error = np.sqrt((n_rounds - 1) * np.var(confidences, axis=0))
    accuracy = accuracies.mean(axis=0)
    return Evidence(
        "cross_fit",
        accuracy,
        node_strength(tree, n, accuracy, LeafStrength(*parts.mean(axis=0).tolist())),
        confidence_error=error,
        n_rounds=n_rounds,
        shared_rows=shared_rows,
    )
