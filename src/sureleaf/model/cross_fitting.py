"""Out-of-fold predictions of all rows, and the levels of a tree that follow from them.

All rows grow the tree. Further trees, each grown without one fold, predict the rows of that fold:
`predict_out_of_fold`. Two more trees, each grown on half of the folds, show how accuracy increases
with the number of rows; this corrects for the fold trees having fewer rows than the tree itself.
`node_accuracy` turns the out-of-fold predictions into the accuracy of every node.

One assignment of rows to folds is a matter of luck, which moves the levels of small leaves a lot.
So there are several *rounds*, each with folds of its own, and their accuracies are averaged.
`cross_fit_levels` repeats rounds until the luck of the folds moves no confidence by more than a
small standard error, or the budget of rounds is used up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sureleaf.folds import enough_folds, fold_numbers
from sureleaf.levels.decisions import CostRule, predicted_class
from sureleaf.model.fitting import (
    TreeSettings,
    build,
    grow_unpruned,
    merge_if_wanted,
    penalty_rule,
)
from sureleaf.model.leaf_calibration import (
    LeafCalibration,
    LeafStrength,
    fit_leaf_calibration,
    leaf_features,
    leaf_strength,
    shift_to_mean,
)
from sureleaf.model.node_levels import node_ties, posterior_confidence, tie_prior
from sureleaf.model.rival import root_rival
from sureleaf.model.size_selection import N_FOLDS
from sureleaf.model.stability import Stability, recurrence_in, stability_of
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import LeafEstimate
from sureleaf.progress import track
from sureleaf.random_streams import ROUND, seed_for
from sureleaf.table.encoded_table import take_rows
from sureleaf.tree import TrainingRows, Tree, cut, mixture, route, thread_map

__all__ = [
    "OutOfFold",
    "cross_fit",
    "cross_fit_levels",
    "levels_of_rounds",
    "node_accuracy",
    "predict_out_of_fold",
]


FloatArray = NDArray[np.float64]

_CURVE_ROWS = 400.0
"""The calibrated accuracy of a leaf counts as much as so many of its own out-of-fold rows."""

_CLASS_ROWS = 15.0
"""How fast the part of a leaf's accuracy that comes from the class that fold trees name falls with
its rows: from all of it in a leaf without rows to half in a large one. In a small leaf, its own
share of the class is mostly luck, and the fold trees know its region by more rows."""

_TREE_SHIFT = 0.7
"""How much of the difference between what the curve predicts for the leaves of the tree and for
those of the fold trees moves the accuracy of the tree."""

_TREE_VARIANCE = 2.0
"""Variance of the accuracy of a tree around its out-of-fold estimate, as a multiple of the
binomial variance: half of it is the sample's, half is that the tree differs from the fold trees."""

_ROUND_VARIANCES = 3.0
"""The same as a multiple of the variance between rounds, where this is more. A round has the mean
of ten trees, which are alike because they share most rows: so it is more than 1 and less than 10.
"""

MAX_ERROR = 0.01
"""Rounds end when the luck of the folds moves no leaf's confidence by a larger standard error."""

MAX_ROUNDS = 40
_ROW_BUDGET = 100_000
"""Rows times rounds; larger tables have fewer rounds, at least one. With more than four classes,
rows cost in proportion to the classes."""

_ROUNDS_FOR_ROOT = 20
"""Rounds from which on the rival of the root is compared with trees that keep the root: there are
at most 20 trees more than the 240 or more of the levels."""

_MOST_HALVES = 24
"""Trees of halves in which recurrence is looked up: more would take longer than they tell."""

_CHECKED_ROUNDS = (4, 6, 9, 13, 19, 27)
"""Numbers of rounds after which it is checked whether there are enough."""


@dataclass(frozen=True, eq=False)
class FoldLeaves:
    """The leaves of all fold trees, with the shares of growing rows that they hold.

    Parameters
    ----------
    features : ndarray of float64, shape (n_leaves, n_features)
        Their `leaf_features`.
    decided : ndarray of int, shape (n_leaves,)
        Index of the class that each leaf predicts.
    shares : ndarray of float64, shape (n_leaves,)
        Share of each leaf in the rows that grew its tree, times the weight of the rows that its
        tree predicts.
    """

    features: FloatArray
    decided: NDArray[np.intp]
    shares: FloatArray

    @classmethod
    def joined(cls, parts: "Sequence[FoldLeaves]") -> "FoldLeaves":
        """Put the leaves of several trees together."""
        return cls(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.decided for part in parts]),
            np.concatenate([part.shares for part in parts]),
        )

    def mean_accuracy(self, calibration: LeafCalibration) -> float:
        """Return the mean calibrated accuracy of the leaves by their shares; NaN without leaves."""
        total = self.shares.sum()
        return float(self.shares @ calibration(self.features) / total) if total > 0 else np.nan


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictions of rows by trees that were grown without them.

    Parameters
    ----------
    correct : ndarray of float64, shape (n_rows,)
        1 if the row is predicted correctly, 0 if not, NaN if no fold tests it.
    features : ndarray of float64, shape (n_rows, n_features)
        `leaf_features` of the leaf that predicted it.
    leaf : ndarray of int64, shape (n_rows,)
        A number for that leaf, different in every fold; -1 if no fold tests the row.
    leaf_rows : ndarray of float64, shape (n_rows,)
        Growing rows of that leaf.
    accuracy : float
        Share of correct predictions; NaN if no row is tested.
    correction : float
        Expected gain in accuracy from the rows that the fold trees lacked.
    decided : ndarray of int, shape (n_rows,)
        Index of the class that each row was predicted as; -1 if no fold tests it.
    leaves : FoldLeaves
        The leaves of the trees that predicted.
    """

    correct: FloatArray
    features: FloatArray
    leaf: NDArray[np.int64]
    leaf_rows: FloatArray
    accuracy: float
    correction: float
    decided: NDArray[np.intp]
    leaves: FoldLeaves

    def of_decision(self, decision: int, weights: FloatArray) -> "OutOfFold":
        """Return the predictions of one class alone, without a correction."""
        correct = np.where(self.decided == decision, self.correct, np.nan)
        is_so = self.leaves.decided == decision
        return replace(
            self,
            correct=correct,
            accuracy=_accuracy(correct, weights),
            correction=0.0,
            leaves=replace(self.leaves, shares=np.where(is_so, self.leaves.shares, 0.0)),
        )


def cross_fit(
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
    number: int = 0,
    watch: Callable[[Tree, int], None] | None = None,
) -> OutOfFold:
    """Assign rows to folds and predict each fold by a tree grown on the others.

    A penalty that the fit chose by cross-validation is chosen again for each fold, from the other
    folds, and a tree that was pruned on request has fold trees pruned in the same way.

    Parameters
    ----------
    rows : TrainingRows
        The rows that the model was fitted on.
    settings : TreeSettings
        Those that the fit resolved, so that each fold costs one tree.
    groups : ndarray of shape (n_rows,), optional
        Rows of a group stay in one fold.
    n_threads : int
        Threads; the result does not depend on it.
    number : int
        Number of the round. Round 0 has the folds that the fit used.
    watch : callable, optional
        Called with each tree of a half of the rows, and -1 or -2 for the half that it tests.

    Returns
    -------
    OutOfFold
    """
    # Trees grow side by side; only cores that are left over share the work on one tree.
    settings = replace(settings, n_threads=max(1, n_threads // 12), keep_order=True)
    seed = settings.seed if number == 0 else seed_for(settings.seed, ROUND, number)
    fold_of = fold_numbers(rows.labels, settings.cv, seed=seed, groups=groups)
    folds = _tested_folds(fold_of, _weights(rows))
    if isinstance(settings.cv, int | np.integer):
        # Two, so that a nested choice has another one; folds that the caller gives are all tested.
        enough = enough_folds(fold_of, least=2)
        folds = [fold for fold in folds if fold in enough]
    if settings.penalties is None:
        grow_part = _without_choice(settings, groups)
    else:
        grow_part = _with_nested_choice(
            rows, fold_of, folds, settings, settings.penalties, n_threads
        )

    def build_part(part: TrainingRows, fold: int) -> Tree:
        tree = grow_part(part, fold)
        for repruning in settings.reprunings:
            tree = repruning.of_fold_tree(tree, part)
        if watch is not None and fold < 0:
            watch(tree, fold)
        return tree

    return predict_out_of_fold(
        rows,
        fold_of,
        build_part,
        settings.leaf_estimate,
        folds=folds,
        rule=settings.rule,
        n_threads=n_threads,
    )


BuildPart = Callable[[TrainingRows, int], Tree]
"""From weighted rows and the number of the fold that they lack to a tree. -1 and -2 are the halves:
trees that test the first and the second half of the folds."""


def _without_choice(settings: TreeSettings, groups: NDArray[Any] | None) -> BuildPart:
    return lambda part, fold: build(part, settings, groups=groups)


def _with_nested_choice(
    rows: TrainingRows,
    fold_of: NDArray[np.int64],
    folds: Sequence[int],
    settings: TreeSettings,
    penalties: FloatArray,
    n_threads: int,
) -> BuildPart:
    """Return a builder whose penalty per leaf is chosen without the rows that the tree tests.

    In a small table these rows grow none of the trees that choose: see `_sums_of_pairs`.
    """
    rule = penalty_rule(settings)
    assert rule is not None, "only a pruning by penalties has penalties"
    weights = _weights(rows)
    first_half = _first_half(_tested_folds(fold_of, weights))
    rows.sort(n_threads)

    def grow_without(left_out: NDArray[np.bool_]) -> Tree | None:
        train = rows.with_weights(np.where(left_out, 0.0, weights))
        return grow_unpruned(train, settings) if train.total_weight else None

    def test_on(tree: Tree, *parts: NDArray[np.bool_]) -> list[FloatArray]:
        tests = [rows.with_weights(np.where(part, weights, 0.0)) for part in parts]
        return rule.fold_sums(tree, tests, penalties)

    def grow_fold(fold: int) -> tuple[Tree, FloatArray] | None:
        tree = grow_without(fold_of == fold)
        return None if tree is None else (tree, test_on(tree, fold_of == fold)[0])

    with thread_map(_n_at_once(rows, n_threads)) as run:
        grown = dict(zip(folds, run(grow_fold, folds), strict=True))
    sums_of: dict[int, list[FloatArray]] = {}
    if np.count_nonzero(weights) <= _MOST_ROWS_OF_PAIRS and len(folds) > 2:
        sums_of = _sums_of_pairs(fold_of, folds, grow_without, test_on)
    chosen_from = {fold: [other for other in folds if other != fold] for fold in folds}
    chosen_from[-1] = [fold for fold in folds if fold not in first_half]
    chosen_from[-2] = [fold for fold in folds if fold in first_half]
    for part, others in chosen_from.items():
        if part not in sums_of:
            sums_of[part] = [own[1] for fold in others if (own := grown[fold]) is not None]

    def build_part(part: TrainingRows, fold: int) -> Tree:
        own = grown.get(fold)
        tree = grow_unpruned(part, settings) if own is None else own[0]
        if sums_of[fold]:
            penalty = rule.choose(penalties, np.sum(sums_of[fold], axis=0))
            tree = cut(tree, rule.node_alphas(tree) <= penalty)
        return merge_if_wanted(tree, settings)

    return build_part


_MOST_ROWS_OF_PAIRS = 1000
"""Tables of at most so many rows choose the penalty of a fold by trees that have not seen it. In
larger tables, what these trees lack in rows matters more than what other trees have seen."""


def _sums_of_pairs(
    fold_of: NDArray[np.int64],
    folds: Sequence[int],
    grow_without: Callable[[NDArray[np.bool_]], Tree | None],
    test_on: Callable[..., list[FloatArray]],
) -> dict[int, list[FloatArray]]:
    """For each fold, how trees that were grown without it do on other folds.

    The tree of another fold has seen this one, which favours penalties that suit it: if both share
    a pattern by chance, each speaks for the pattern in the other. With 100 rows, this alone makes
    the stated accuracy of the default tree 2 percentage points too high.

    Folds are put together to `N_FOLDS` parts, so that there are few pairs of parts. A tree that is
    grown without two parts serves the choice for either.
    """
    part_of = {fold: index % N_FOLDS for index, fold in enumerate(folds)}
    parts = [
        np.isin(fold_of, [fold for fold in folds if part_of[fold] == part])
        for part in range(min(N_FOLDS, len(folds)))
    ]
    sums: list[list[FloatArray]] = [[] for _ in parts]
    for one, other in combinations(range(len(parts)), 2):
        tree = grow_without(parts[one] | parts[other])
        if tree is not None:
            of_one, of_other = test_on(tree, parts[one], parts[other])
            sums[one].append(of_other)
            sums[other].append(of_one)
    return {fold: sums[part_of[fold]] for fold in folds}


def cross_fit_levels(
    model: TreeModel,
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> tuple[TreeModel, FloatArray]:
    """Repeat cross-fitting until the levels no longer depend on the luck of the folds.

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
    rounds: list[OutOfFold] = []
    estimates: list[_RoundEstimate] = []
    numbers = track(range(n_rounds), total=n_rounds, what="Cross-fitting", shown=_shown(n_rounds))
    halves: dict[tuple[int, int], Tree] = {}
    for number in numbers:
        rounds.append(
            cross_fit(
                rows,
                settings,
                groups=groups,
                n_threads=n_threads,
                number=number,
                watch=partial(_keep_half, halves, number),
            )
        )
        estimates.append(_round_estimate(model, rows, rounds[-1]))
        if len(estimates) in _CHECKED_ROUNDS:
            errors = _mean_of_rounds(model, estimates).confidence_error
            if errors is not None and errors[model.tree.leaf_ids].max() <= MAX_ERROR:
                break
    correct = np.mean([each.correct for each in rounds], axis=0)
    evidence = _mean_of_rounds(model, estimates)
    stability = _stability(model, rows, [halves[key] for key in sorted(halves)[:_MOST_HALVES]])
    if stability is not None and not settings.reprunings:
        fold_of = fold_numbers(rows.labels, settings.cv, seed=settings.seed, groups=groups)
        rival = root_rival(
            model,
            rows,
            replace(settings, keep_order=True, n_threads=n_threads),
            fold_of,
            rounds[0].correct,
            n_folds=len(rounds) - len(rounds) // 4,  # trees: a twelfth of those of the levels
            keeps_root=len(rounds) >= _ROUNDS_FOR_ROOT,
        )
        stability = replace(stability, rival=rival)
    return model.with_evidence(replace(evidence, stability=stability)), correct


def _keep_half(halves: dict[tuple[int, int], Tree], number: int, tree: Tree, half: int) -> None:
    halves[number, half] = tree


def _stability(model: TreeModel, rows: TrainingRows, halves: Sequence[Tree]) -> Stability | None:
    """Return how much of the tree is expected to recur on fresh samples."""
    leaf_of = route(model.tree, rows.table).heaviest()
    recurrences = []
    for half in halves:
        probabilities = model.leaf_estimate(half, half.class_counts)
        recurrences.append(
            recurrence_in(
                model.tree,
                leaf_of,
                model.predicted_classes,
                half,
                route(half, rows.table).heaviest(),
                predicted_class(probabilities, model.rule),
            )
        )
    return stability_of(model.tree, leaf_of, recurrences)


def _shown(n_rounds: int) -> bool | None:
    """One round shows a bar of its own."""
    return False if n_rounds == 1 else None


def levels_of_rounds(
    model: TreeModel, rows: TrainingRows, rounds: Sequence[OutOfFold]
) -> TreeModel:
    """Return the same model with evidence from these rounds of out-of-fold predictions."""
    estimates = [_round_estimate(model, rows, each) for each in rounds]
    return model.with_evidence(_mean_of_rounds(model, estimates))


@dataclass(frozen=True, eq=False)
class _RoundEstimate:
    """What one round knows: accuracy of every node, strength of leaves, accuracy of the tree."""

    accuracy: FloatArray
    strength: LeafStrength
    tree_accuracy: float


def _round_estimate(model: TreeModel, rows: TrainingRows, out_of_fold: OutOfFold) -> _RoundEstimate:
    predicted = model.predicted_classes
    accuracy, strength = node_accuracy(
        model.tree,
        rows,
        predicted,
        out_of_fold,
        weights_are_counts=model.weights == "counts",
    )
    if model.rule is not None:
        # With unequal costs, rare and frequent classes are decided at different probabilities, and
        # one curve for all decisions would state too high ones for some, too low ones for others.
        weights = _weights(rows)
        for decision in np.unique(predicted).tolist():
            part, nodes = out_of_fold.of_decision(decision, weights), predicted == decision
            if not np.isnan(part.accuracy):
                of_nodes = node_accuracy(model.tree, rows, predicted, part, nodes=nodes)[0]
                accuracy = np.where(nodes, of_nodes, accuracy)
    return _RoundEstimate(accuracy, strength, out_of_fold.accuracy)


def _mean_of_rounds(model: TreeModel, estimates: Sequence[_RoundEstimate]) -> Evidence:
    """Average accuracies and variances over rounds; their spread gives the error by luck.

    The error is that of the jackknife: how much the confidence varies if one round is left out.
    """
    accuracies = np.array([each.accuracy for each in estimates])
    parts = np.array(
        [(each.strength.per_row, each.strength.per_leaf, each.tree_accuracy) for each in estimates]
    )
    accuracy, strength = _combined(model, accuracies.mean(axis=0), parts)
    n_rounds, error = len(estimates), None
    tree_strength = _tree_strength(parts[:, 2], float(model.node_rows[0]))
    if n_rounds > 1:
        ties = node_ties(model.tree.class_counts, model.probabilities, model.rule)
        prior = tie_prior(model.tree.n_nodes, model.rule)
        without = np.array(
            [
                posterior_confidence(
                    *_combined(
                        model,
                        (accuracies.sum(axis=0) - accuracies[left_out]) / (n_rounds - 1),
                        np.delete(parts, left_out, axis=0),
                    ),
                    ties,
                    prior,
                )
                for left_out in range(n_rounds)
            ]
        )
        error = np.sqrt((n_rounds - 1) * without.var(axis=0))
    return Evidence(
        "cross_fit",
        accuracy,
        strength,
        confidence_error=error,
        n_rounds=n_rounds,
        tree_strength=tree_strength,
    )


def _combined(
    model: TreeModel, accuracy: FloatArray, parts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return accuracy and strength of the nodes, with the uncertainty of the tree's accuracy.

    `parts` has one line per round: the two parts of the strength, and the accuracy of the tree.
    """
    per_row, per_leaf, tree_accuracy = parts.mean(axis=0)
    n = model.node_rows
    if len(n) == 1:  # the only leaf is the tree, and does not differ from it as other leaves do
        return accuracy, np.array([_tree_strength(parts[:, 2], n[0])])
    variance = 1.0 / (LeafStrength(per_row, per_leaf)(n) + 1.0)
    share = _inner_share(tree_accuracy, n[0])
    multiple = _tree_variance(parts[:, 2], n[0])
    of_tree = multiple / max(n[0], 1.0) * accuracy * (1.0 - accuracy) / (share * (1 - share))
    return accuracy, np.maximum(1.0 / (variance + of_tree) - 1.0, _LEAST_STRENGTH)


def _tree_strength(tree_accuracy: FloatArray, n: float) -> float:
    """Return how many rows the accuracy of a tree of n rows is known by."""
    return max(n / _tree_variance(tree_accuracy, n) - 1.0, 1.0)


def _tree_variance(tree_accuracy: FloatArray, n: float) -> float:
    """Return how many binomial variances the tree's accuracy varies by around its estimate.

    Rounds predict the same rows by other trees. Where their accuracies differ a lot, the tree of
    all rows may differ as much from them: greedy trees of an exclusive or find it in one round
    and miss it in the next.

    Examples
    --------
    >>> _tree_variance(np.array([0.7]), 100.0), _tree_variance(np.array([0.7, 0.7]), 100.0)
    (2.0, 2.0)
    >>> round(_tree_variance(np.array([0.6, 0.8]), 100.0), 2)
    28.57
    """
    if len(tree_accuracy) == 1 or np.isnan(tree_accuracy).any():
        return _TREE_VARIANCE
    share = _inner_share(float(tree_accuracy.mean()), n)
    binomial = share * (1.0 - share) / max(n, 1.0)
    return max(_TREE_VARIANCE, _ROUND_VARIANCES * float(tree_accuracy.var(ddof=1)) / binomial)


def _inner_share(tree_accuracy: float, n: float) -> float:
    """Keep an accuracy half a row away from 0 and 1; a half if it is not known."""
    bound = 0.5 / (n + 1.0)
    return 0.5 if np.isnan(tree_accuracy) else float(np.clip(tree_accuracy, bound, 1.0 - bound))


_LEAST_STRENGTH = 0.05


def predict_out_of_fold(
    rows: TrainingRows,
    fold_of: NDArray[np.int64],
    build: BuildPart,
    estimate: LeafEstimate,
    *,
    folds: Sequence[int] | None = None,
    rule: CostRule | None = None,
    n_threads: int = 1,
) -> OutOfFold:
    """Grow a tree without each fold and predict the rows of that fold.

    Parameters
    ----------
    rows : TrainingRows
        All rows; what is encoded and sorted is shared by all trees.
    fold_of : ndarray of int64, shape (n_rows,)
        The fold that tests each row, -1 for none.
    build : callable
        From weighted rows and the number of the fold that they lack to a tree; -1 and -2 for the
        trees that test the first and the second half of the folds.
    estimate : LeafEstimate
        From a tree and its counts to the class probabilities of its nodes.
    folds : sequence of int, optional
        The folds whose rows are predicted, all by default.
    rule : CostRule, optional
        The costs that decide, if errors have different costs.
    n_threads : int
        Trees grown at a time.

    Returns
    -------
    OutOfFold

    Examples
    --------
    >>> from sureleaf.probability import Frequency
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[float(i)] for i in range(12)])
    >>> rows = TrainingRows(table, np.repeat([0, 1], 6).astype(np.int32), 2)
    >>> out_of_fold = predict_out_of_fold(
    ...     rows, np.arange(12) % 3, lambda part, fold: grow(part, GrowthRules()), Frequency())
    >>> out_of_fold.correct.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    weights = _weights(rows)
    in_a_fold = (fold_of >= 0) & (weights > 0)
    every_fold = _tested_folds(fold_of, weights)
    folds = every_fold if folds is None else folds
    tested = in_a_fold if len(folds) == len(every_fold) else in_a_fold & np.isin(fold_of, folds)
    parts = [in_a_fold & (fold_of == fold) for fold in folds]
    # Halves are whole folds, so that groups stay together; fewer than 3 folds have no halves.
    first_half = np.isin(fold_of, _first_half(every_fold))
    halves = [in_a_fold & first_half, in_a_fold & ~first_half] if len(every_fold) > 2 else []
    rows.sort(n_threads)

    def predict_part(part: NDArray[np.bool_], fold: int) -> _PartPredictions | None:
        train = rows.with_weights(np.where(part, 0.0, weights))
        index = np.flatnonzero(part & tested)
        return _predict_part(rows, train, index, lambda train: build(train, fold), estimate, rule)

    with thread_map(_n_at_once(rows, n_threads)) as run:
        every = [*parts, *halves]
        work = run(predict_part, every, [*folds, *(-1 - k for k in range(len(halves)))])
        predictions = list(track(work, total=len(every), what="Cross-fitting"))
    of_folds = [part for part in predictions[: len(parts)] if part is not None]
    of_halves = [part for part in predictions[len(parts) :] if part is not None]
    joined = _join(rows, of_folds)
    accuracy = _accuracy(joined[0], weights)
    half_accuracy = _accuracy(_join(rows, of_halves)[0], weights)
    lacked = sum((weights[part].sum() / weights.sum()) ** 2 for part in parts)
    share_tested = weights[tested].sum() / weights.sum()
    seen = 1.0 - lacked / share_tested if share_tested else 1.0
    correction = _gain_of_all_rows(accuracy, half_accuracy, float(seen))
    decided = np.full(len(rows.labels), -1, dtype=np.intp)
    for part in of_folds:
        decided[part.index] = part.decided
    leaves = FoldLeaves.joined([part.leaves for part in of_folds] or [_no_leaves()])
    return OutOfFold(*joined, accuracy, correction, decided, leaves)


def _no_leaves() -> FoldLeaves:
    return FoldLeaves(np.empty((0, 0)), np.empty(0, dtype=np.intp), np.empty(0))


def _n_at_once(rows: TrainingRows, n_threads: int) -> int:
    """One for small tables: handing their trees to other threads takes longer than growing them."""
    return 1 if len(rows.labels) <= _FEW_ROWS else n_threads


_FEW_ROWS = 2000


def _weights(rows: TrainingRows) -> FloatArray:
    return np.ones(len(rows.labels)) if rows.weights is None else rows.weights


def _first_half(folds: Sequence[int]) -> list[int]:
    return list(folds[: len(folds) // 2])


def _tested_folds(fold_of: NDArray[np.int64], weights: FloatArray) -> list[int]:
    folds: list[int] = np.unique(fold_of[(fold_of >= 0) & (weights > 0)]).tolist()
    return folds


@dataclass(frozen=True, eq=False)
class _PartPredictions:
    """Predictions of some rows by one tree: see `OutOfFold`."""

    index: NDArray[np.intp]
    correct: FloatArray
    features: FloatArray
    leaf: NDArray[np.int64]
    leaf_rows: FloatArray
    decided: NDArray[np.intp]
    leaves: FoldLeaves


def _predict_part(
    rows: TrainingRows,
    train: TrainingRows,
    index: NDArray[np.intp],
    build: Callable[[TrainingRows], Tree],
    estimate: LeafEstimate,
    rule: CostRule | None,
) -> _PartPredictions | None:
    """Grow a tree on some rows and predict others by it; None if either has no rows."""
    if not train.total_weight or not len(index):
        return None
    tree = build(train)
    probabilities = estimate(tree, tree.class_counts)
    predicted = predicted_class(probabilities, rule)
    features = leaf_features(tree, predicted)
    grown = tree.class_counts.sum(axis=1, keepdims=True)
    test = take_rows(rows.table, index)
    values = mixture(tree, test, np.hstack([probabilities, features, grown]))
    n_classes = rows.n_classes
    decided = predicted_class(values[:, :n_classes], rule)
    correct = decided == rows.labels[index]
    leaf, leaves = route(tree, test).heaviest(), tree.leaf_ids
    shares = grown[leaves, 0] / grown[leaves].sum() * _weights(rows)[index].sum()
    return _PartPredictions(
        index,
        correct.astype(float),
        values[:, n_classes:-1],
        leaf,
        values[:, -1],
        decided,
        FoldLeaves(features[leaves], predicted[leaves], shares),
    )


def _join(
    rows: TrainingRows, parts: Sequence[_PartPredictions]
) -> tuple[FloatArray, FloatArray, NDArray[np.int64], FloatArray]:
    n_rows, n_features = len(rows.labels), parts[0].features.shape[1] if parts else 0
    correct, leaf_rows = np.full(n_rows, np.nan), np.zeros(n_rows)
    features = np.zeros((n_rows, n_features))
    leaf = np.full(n_rows, -1, dtype=np.int64)
    first = 0
    for part in parts:
        correct[part.index], features[part.index] = part.correct, part.features
        leaf_rows[part.index], leaf[part.index] = part.leaf_rows, part.leaf + first
        first += int(part.leaf.max()) + 1
    return correct, features, leaf, leaf_rows


def _accuracy(correct: FloatArray, weights: FloatArray) -> float:
    tested = ~np.isnan(correct)
    total = float(weights[tested].sum())
    return float(weights[tested] @ correct[tested]) / total if total else np.nan


def _gain_of_all_rows(accuracy: float, half_accuracy: float, seen: float) -> float:
    """Extrapolate the accuracy from half the rows, over the share seen, to all rows.

    Accuracy is taken to grow with the logarithm of the number of rows, which fits learning curves
    of trees a little better between 90 and 100 % of the rows than a root or an inverse.
    """
    if np.isnan(accuracy + half_accuracy) or not 0.5 < seen < 1.0:
        return 0.0
    gain = float(np.log(1.0 / seen) / np.log(seen / 0.5))
    return (accuracy - half_accuracy) * gain


def node_accuracy(
    tree: Tree,
    rows: TrainingRows,
    predicted: NDArray[np.intp],
    out_of_fold: OutOfFold,
    *,
    nodes: NDArray[np.bool_] | None = None,
    weights_are_counts: bool = True,
) -> tuple[FloatArray, LeafStrength]:
    """Return the accuracy of every node on unseen rows, and the strength of that knowledge.

    The leaf calibration gives an accuracy by the features of a node. In a leaf, the out-of-fold
    predictions of its own rows as the leaf's class are added: they are many in large leaves, where
    it hardly matters that the leaf was drawn around the classes of its rows. Trees that are right
    about a row, but name another class than the leaf, do not count for the leaf. The result is
    averaged with the probability that the fold trees give the class of the leaf for its rows. Then
    all are shifted so that the mean over the leaves is the accuracy of the tree.

    The accuracy of the tree is that of the fold trees, corrected for the rows that they lacked and
    for how this tree differs from them. Greedy trees of an exclusive or find it in one sample and
    miss it in the next; the leaves of a tree show which it is. So the difference between the
    calibrated accuracy of its leaves and that of the leaves of the fold trees is a control variate:
    what it differs from its expected value, the correction, is added.

    Parameters
    ----------
    tree : Tree
        Grown on all rows.
    rows : TrainingRows
        The rows.
    predicted : ndarray of int, shape (n_nodes,)
        Index of the class that each node predicts.
    out_of_fold : OutOfFold
        Of the same rows.
    nodes : ndarray of bool, shape (n_nodes,), optional
        The nodes whose mean accuracy is that of the predictions; all by default. If given, the
        predictions are of these nodes' class alone, and tell nothing about other classes.
    weights_are_counts : bool
        Whether a row of weight k tells as much as k rows.

    Returns
    -------
    accuracy : ndarray of float64, shape (n_nodes,)
    strength : LeafStrength
        From the rows of a leaf to the number of rows that would tell its accuracy as precisely.
    """
    weights = _weights(rows)
    correct = out_of_fold.correct
    tested = ~np.isnan(correct) & (weights > 0)
    if not tested.any():
        return np.full(tree.n_nodes, 1.0 / rows.n_classes), LeafStrength(1.0, 1.0)
    features = out_of_fold.features[tested]
    calibration = fit_leaf_calibration(features, correct[tested], weights[tested])
    curve = calibration(leaf_features(tree, predicted))
    routes = route(tree, rows.table)
    row = routes.rows()
    weight = np.where(tested, weights, 0.0)[row] * routes.shares
    own = np.bincount(routes.nodes, weight, tree.n_nodes)
    decided = out_of_fold.decided[row]
    agreeing = np.where(decided == predicted[routes.nodes], weight, 0.0)
    agreed = np.bincount(routes.nodes, agreeing, tree.n_nodes)
    right = np.bincount(routes.nodes, agreeing * np.where(tested, correct, 0.0)[row], tree.n_nodes)
    accuracy = (right + _CURVE_ROWS * curve) / (agreed + _CURVE_ROWS)
    if nodes is None:
        named = _probability_of_class(
            predicted[routes.nodes],
            decided,
            calibration(out_of_fold.features)[row],
            rows.n_classes,
        )
        of_class = np.bincount(routes.nodes, weight * named, tree.n_nodes)
        of_class = np.divide(of_class, own, out=accuracy.copy(), where=own > 0)
        accuracy += (of_class - accuracy) * (0.5 + 0.5 * _CLASS_ROWS / (own + _CLASS_ROWS))
    counted = tree.is_leaf if nodes is None else tree.is_leaf & nodes
    if not counted.any():  # nodes above the leaves of another decision
        counted = tree.is_leaf
    leaf_sizes = np.where(counted, tree.class_counts.sum(axis=1), 0.0)
    total = float(weights[tested].sum())
    bound = 0.5 / (total + 1.0)  # no number of correct predictions proves that none is wrong
    shares = leaf_sizes / leaf_sizes.sum()
    of_fold_trees = out_of_fold.leaves.mean_accuracy(calibration)
    difference = float(shares @ curve) - of_fold_trees
    # The rows that the fold trees lacked are expected to make just the correction of a difference.
    unexpected = 0.0 if np.isnan(difference) else difference - out_of_fold.correction
    target = out_of_fold.accuracy + out_of_fold.correction + _TREE_SHIFT * unexpected
    shift = shift_to_mean(accuracy, shares, float(np.clip(target, bound, 1.0 - bound)))
    accuracy = expit(logit(np.clip(accuracy, 1e-9, 1.0 - 1e-9)) + shift)
    strength = leaf_strength(
        out_of_fold.leaf[tested],
        correct[tested],
        calibration(features),
        out_of_fold.leaf_rows[tested],
        weights[tested] if weights_are_counts else _effective_rows(weights[tested]),
    )
    return accuracy, strength


def _effective_rows(weights: FloatArray) -> FloatArray:
    """Scale weights so that they add up to Kish's effective number of rows."""
    scaled: FloatArray = weights * (weights.sum() / (weights @ weights))
    return scaled


def _probability_of_class(
    wanted: NDArray[np.intp], decided: NDArray[np.intp], accuracy: FloatArray, n_classes: int
) -> FloatArray:
    """Return the probability of a class if another, or the same, is predicted with this accuracy.

    The classes that are not predicted share the rest equally.

    Examples
    --------
    >>> _probability_of_class(np.array([0, 0]), np.array([0, 2]), np.array([0.7, 0.7]), 4)
    array([0.7, 0.1])
    """
    return np.where(decided == wanted, accuracy, (1.0 - accuracy) / max(n_classes - 1, 1))
