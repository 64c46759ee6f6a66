"""From rows to a fitted model: grow, collapse, choose how much to prune, prune, count.

`fit_model` calls `fit_tree`, where each step is one line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray, check_number
from sureleaf.errors import HiddenCutWarning, InvalidArgumentError, suggestion, warn_caller
from sureleaf.folds import fold_numbers, hold_out
from sureleaf.levels.decisions import CostRule, cost_rule, predicted_class, unequal_rule
from sureleaf.model.certificate import HeldOut
from sureleaf.model.seen_rows import seen_rows
from sureleaf.model.size_selection import (
    MARGIN,
    NodeAlphas,
    SizeCurve,
    WantedSize,
    best_first_alphas,
    choose_penalty,
    family_alphas,
    fold_sums,
    merge_unsure_leaves,
    n_rounds_at_most,
    n_tested_parts,
    penalty_candidates,
    select_sizes,
)
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import ESTIMATES, LeafEstimate, sized_estimate
from sureleaf.random_streams import ROUND, seed_for
from sureleaf.table import Schema
from sureleaf.tree import (
    GrowthRules,
    TrainingRows,
    Tree,
    collapse,
    count_nodes,
    cut,
    grow,
    mixture,
    prune_pessimistic,
    prune_reduced_error,
    with_digits,
)
from sureleaf.tree.growing import split_rows
from sureleaf.tree.pruning import (
    Repruning,
    cost_complexity_alphas,
    decision_costs,
    sums_along,
    utility_alphas,
)
from sureleaf.tree.routing import LeafCounts, leaf_counts_of, recount

# In a smaller table there is one tree in flight per thread; in a larger one, two trees with several
# threads each, which keeps their memory within half of the encoded table.
_SMALL_TABLE = 1_000_000

BY_FOLDS = ("auto", "cost_complexity", "utility")
"""Prunings whose strength is chosen by cross-validation."""


def size_margin(margin: float | None, max_leaves: int | None) -> float:
    """Return the margin that chooses the size; None gives nothing up for less than `max_leaves`."""
    if margin is not None:
        return margin
    return MARGIN if max_leaves is None else 0.0


@dataclass(frozen=True)
class TreeSettings:
    """Everything besides rows that decides a fitted model; other fields as for `TreeClassifier`.

    - `rules`: how splits are chosen.
    - `max_leaves`: for pruning="auto"; other prunings have it in `rules`.
    - `seed`: key of the random assignments of rows (folds, rows held out).
    - `n_threads`: threads that grow one tree.
    - `keep_order`: keep the order of the columns for further trees on the same rows.
    - `family`: for pruning="auto": the nested family that the tree is of, a key of `_families`.
    - `penalty`: the penalty per leaf (by utility: what a leaf must add); None to choose it by
      cross-validation.
    - `penalties`: the penalties among which cross-validation has chosen. Levels choose among them
      again, without the rows that they test: a penalty that had seen these rows would state levels
      that are too high.
    - `reprunings`: how the finished tree was pruned on request.
    - `size_curve`: what the choice of size was made from.
    - `chooses_strength`: whether the cross-validation that chooses the size also chooses the
      strength of `leaf_estimate`.
    - `cost`: checked.
    - `monotone`: as it was given; `for_table` turns it into signs.
    """

    rules: GrowthRules
    collapse: bool = True
    pruning: str | None = "pessimistic"
    confidence_factor: float = 0.25
    margin: float | None = None
    max_leaves: int | None = None
    cv: Any = 10
    seed: int = 0
    n_threads: int = 1
    keep_order: bool = False
    family: str = "weakest_links"
    penalty: float | None = None
    penalties: FloatArray | None = None
    reprunings: tuple[Repruning, ...] = ()
    size_curve: SizeCurve | None = None
    max_features: int | float | str | None = None
    min_confidence: float | None = None
    monotone: Any = None
    leaf_estimate: LeafEstimate = ESTIMATES["auto"]
    chooses_strength: bool = False
    levels_from: str = "cross_fit"
    weights: str = "counts"
    unseen: str = "mixture"
    cost: FloatArray | None = None

    @cached_property
    def rule(self) -> CostRule | None:
        """The costs as a rule of decision; None if all errors cost the same."""
        return unequal_rule(self.cost)

    @property
    def wanted_size(self) -> WantedSize:
        """Which size pruning="auto" chooses."""
        return WantedSize(size_margin(self.margin, self.max_leaves), self.max_leaves)

    def for_table(self, schema: Schema, classes: NDArray[Any]) -> "TreeSettings":
        """Return the settings with what depends on the columns and classes of a table."""
        if self.monotone is None:
            return self
        signs = _monotone_signs(self.monotone, schema, classes.tolist())
        return replace(self, rules=replace(self.rules, monotone=signs), monotone=None)

    @property
    def chooses_penalty(self) -> bool:
        """Whether cross-validation is to choose how strongly the tree is pruned."""
        return self.pruning in BY_FOLDS and self.penalty is None

    @property
    def grows_large_trees(self) -> bool:
        """Whether a tree of nearly all rows is grown before it is pruned, or a fit needs folds."""
        return self.pruning is not None or self.levels_from == "cross_fit"

    @property
    def assigns_rows(self) -> bool:
        """Whether rows are assigned by number, to folds or to be held out, on the way to a tree."""
        is_held_out = self.pruning == "reduced_error" or self.levels_from == "honest"
        return is_held_out or self.chooses_penalty


def fit_model(
    rows: TrainingRows,
    classes: NDArray[Any],
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
) -> tuple[TreeModel, TreeSettings]:
    """Fit a tree to rows; rows of a group stay together where rows are assigned to folds.

    Cross-fitted levels are still missing in the model: `sureleaf.model.cross_fitting` adds them.
    The settings are returned with what cross-validation has chosen, so that each tree of a fold
    costs one tree.
    """
    if settings.cost is not None:
        cost_rule(settings.cost, classes)  # raises unless it fits the classes
    settings = settings.for_table(rows.table.schema, classes)
    tree, resolved, counted = fit_tree(rows, settings, groups=groups)
    if settings.rules.merges_close_values:
        _warn_of_hidden_cuts(rows, resolved, groups)
    model = settings_model(tree, rows, classes, resolved, leaf_counts_of(tree, counted))
    if settings.levels_from == "honest":
        model = replace(model, held_out=_held_out(model, rows, counted, groups))
    if settings.levels_from != "cross_fit":  # whose rows are kept until they are needed
        model = model.with_seen(seen_rows(rows, settings.n_threads))
    schema = rows.table.schema
    if settings.rules.missing == "branch":  # rules of such trees say where missing values go
        schema = rows.table.schema_with_missing()
    return replace(model, schema=with_digits(schema, tree, rows.table.columns)), resolved


_HIDDEN_SHARE, _HIDDEN_ERRORS = 0.01, 3.0
"""C4.5's distance between values is reported if it costs this share of the rows that did not grow
the tree, and so many standard errors: in the rows that did, cuts in noise gain something, too."""


def _warn_of_hidden_cuts(
    rows: TrainingRows, settings: TreeSettings, groups: NDArray[Any] | None
) -> None:
    """Warn if C4.5's tree predicts worse because it does not cut between close values."""
    narrow = rows.narrow_columns(settings.n_threads)
    if not narrow or len(rows.labels) < 2:
        return
    # One fixed draw: whether a user is warned must not depend on random_state=None.
    train, test = split_rows(rows, hold_out(rows.labels, seed=0, groups=groups))
    if not train.total_weight or not test.total_weight:
        return
    tested = test.row_weights
    free = replace(settings, rules=replace(settings.rules, thresholds="midpoint"))
    trees = [build(train, each, groups=groups) for each in (settings, free)]
    is_right = [_is_right(tree, rows, settings) for tree in trees]
    improved = float(tested @ (is_right[1] & ~is_right[0]))
    worsened = float(tested @ (is_right[0] & ~is_right[1]))
    hidden = [j for j in narrow if j in trees[1].feature]
    is_large = improved - worsened >= _HIDDEN_SHARE * tested.sum()
    if hidden and is_large and improved - worsened > _HIDDEN_ERRORS * np.sqrt(improved + worsened):
        names = ", ".join(repr(rows.table.schema.columns[j].name) for j in hidden[:5])
        with_rule, without = (float(tested @ right) / tested.sum() for right in is_right)
        warn_caller(
            f"C4.5 does not cut between values that are closer than 1e-5, and that hides cuts in "
            f"{names}: without this rule, the tree predicts {without:.1%} of rows that did not "
            f"grow it correctly, not {with_rule:.1%}. Give such a column in a smaller unit, or use "
            "TreeClassifier(), which has no such rule.",
            HiddenCutWarning,
        )


def _is_right(tree: Tree, rows: TrainingRows, settings: TreeSettings) -> NDArray[np.bool_]:
    probabilities = settings.leaf_estimate(tree, tree.class_counts)
    predicted = predicted_class(mixture(tree, rows.table, probabilities), settings.rule)
    return np.asarray(predicted == rows.labels)


def _monotone_signs(
    monotone: Any, schema: Schema, classes: list[Any]
) -> tuple[tuple[int, ...], ...] | None:
    """One sign per column and class; None for one class, whose probability is always 1."""
    names = [column.name for column in schema.columns]
    if isinstance(monotone, Mapping):
        unknown = [name for name in monotone if name not in names and not _is_index(name, names)]
        if unknown:
            raise InvalidArgumentError(
                f"monotone must name columns of the table; got {unknown[0]!r}."
                f"{suggestion(str(unknown[0]), list(map(str, names)))}"
            )
        given = [monotone.get(name, monotone.get(i, 0)) for i, name in enumerate(names)]
    else:
        given = list(monotone)
        if len(given) != len(names):
            raise InvalidArgumentError(
                f"monotone must have one entry for each of {len(names)} columns; got {len(given)}. "
                "Or name the columns: monotone={'age': 1}."
            )
    lines = tuple(
        _signs_by_class(name, entry, classes) for name, entry in zip(names, given, strict=True)
    )
    return lines if len(classes) > 1 else None


def _is_index(key: Any, names: list[Any]) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(names)


def _signs_by_class(column: Any, entry: Any, classes: list[Any]) -> tuple[int, ...]:
    by_class = isinstance(entry, Mapping)
    signs = list(entry.values()) if by_class else [entry]
    if any(isinstance(sign, bool) or sign not in (-1, 0, 1) for sign in signs):
        raise InvalidArgumentError(
            f"monotone must be -1, 0 or 1, or such signs by class; got {entry!r} for column "
            f"{column!r}."
        )
    if by_class:
        return tuple(int(entry.get(label, 0)) for label in classes)
    if len(classes) > 2 and entry:
        raise InvalidArgumentError(
            f"monotone must give signs by class for {len(classes)} classes, such as "
            f"{{{column!r}: {{{classes[-1]!r}: {entry!r}}}}}; got {entry!r} for column {column!r}."
        )
    return (-int(entry), int(entry)) if len(classes) == 2 else (0,) * len(classes)


def settings_model(
    tree: Tree,
    rows: TrainingRows,
    classes: NDArray[Any],
    settings: TreeSettings,
    leaf_counts: LeafCounts,
) -> TreeModel:
    """Put a tree and what the settings say about it together as a model."""
    return TreeModel(
        schema=rows.table.schema,
        classes=classes,
        tree=tree,
        leaf_counts=leaf_counts,
        leaf_estimate=settings.leaf_estimate,
        criterion=settings.rules.criterion,
        unseen=settings.unseen,
        weights=settings.weights,
        evidence=Evidence(settings.levels_from),
        cost=settings.cost,
    )


def fit_tree(
    rows: TrainingRows, settings: TreeSettings, *, groups: NDArray[Any] | None = None
) -> tuple[Tree, TreeSettings, TrainingRows]:
    """Grow a tree, choose how much to prune if that is still to be chosen, prune and merge.

    The settings are returned with what cross-validation has chosen, and the rows that the counts of
    the tree are of: an honest one counts other rows than those that grow it.
    """
    growing, counted = _growing_and_counted(rows, settings, groups)
    if settings.pruning == "reduced_error":
        tree = _build_by_reduced_error(growing, settings, groups)
    else:
        keep_order = settings.keep_order or settings.chooses_penalty
        tree = grow_unpruned(growing, replace(settings, keep_order=keep_order))
        if settings.chooses_penalty and settings.pruning == "auto":
            settings = _with_selected_sizes(tree, growing, [settings], groups)[0]
        elif settings.chooses_penalty:
            settings = _with_chosen_penalty(tree, growing, settings, groups)
        if settings.pruning == "pessimistic":
            tree = prune_pessimistic(tree, growing, confidence_factor=settings.confidence_factor)
        elif settings.pruning is not None:
            tree = PenaltyRule(settings).cut(tree, settings.penalty)
    tree = merge_if_wanted(tree, settings)
    return (tree if counted is rows else recount(tree, counted)), settings, counted


def build(
    rows: TrainingRows, settings: TreeSettings, *, groups: NDArray[Any] | None = None
) -> Tree:
    """Return the tree of `fit_tree` alone, counted by all rows."""
    settings = replace(settings, levels_from="training")
    return fit_tree(rows, settings, groups=groups)[0]


def fit_family(
    rows: TrainingRows, settings: TreeSettings, most_leaves: Sequence[int]
) -> list[tuple[Tree, TreeSettings]]:
    """Fit a tree with pruning="auto", and other sizes of it, by one cross-validation.

    Returns what `fit_tree` gives: with these settings, with a margin of 0 and no largest number of
    leaves, and with each of `most_leaves` as the largest number and no margin.
    """
    if settings.pruning != "auto":
        raise InvalidArgumentError(
            f"a family of trees needs pruning='auto'; got {settings.pruning!r}."
        )
    growing, counted = _growing_and_counted(rows, settings, None)
    large = grow_unpruned(growing, replace(settings, keep_order=True))
    every = [
        settings,
        replace(settings, margin=0.0, max_leaves=None),
        *(replace(settings, margin=None, max_leaves=most) for most in most_leaves),
    ]
    fits = []
    for resolved in _with_selected_sizes(large, growing, every, None):
        tree = merge_if_wanted(PenaltyRule(resolved).cut(large, resolved.penalty), resolved)
        fits.append((tree if counted is rows else recount(tree, counted), resolved))
    return fits


def _growing_and_counted(
    rows: TrainingRows, settings: TreeSettings, groups: NDArray[Any] | None
) -> tuple[TrainingRows, TrainingRows]:
    """Rows that grow the tree, and rows that are counted: two halves for an honest tree."""
    if settings.levels_from != "honest":
        return rows, rows
    # Without looking at classes: only then are the two parts independent, which guarantees need.
    has_weight = rows.row_weights > 0
    is_counted = hold_out(has_weight.astype(np.int32), seed=settings.seed, groups=groups, n_parts=2)
    growing, counted = split_rows(rows, is_counted)
    if not growing.total_weight or not counted.total_weight:
        raise InvalidArgumentError(
            "levels_from='honest' needs two rows (or groups) of positive weight, one to grow "
            "the tree and one to count; got 1 sample. Give more, or use levels_from='training'."
        )
    return growing, counted


def _held_out(
    model: TreeModel, rows: TrainingRows, counted: TrainingRows, groups: NDArray[Any] | None
) -> HeldOut:
    """Count the rows that did not grow an honest tree, and say if they allow no guarantee."""
    weights, index, problem = rows.row_weights, np.flatnonzero(counted.row_weights), ""
    if np.any((weights != 1.0) & (weights != 0.0)):
        problem = "the rows of this fit have weights (sample_weight or class_weight)."
    elif groups is not None and len(np.unique(groups)) < len(groups):
        problem = "the rows of this fit come in groups."
    return HeldOut(
        n_grown=int(np.count_nonzero(weights)) - len(index),
        counts=model.end_counts(rows.table[index], rows.labels[index]),
        named_before=False,
        problem=problem,
    )


def trees_at_once(n_rows: int, n_columns: int, n_threads: int) -> int:
    """Return how many trees to grow at the same time on so many threads."""
    is_small = n_rows * max(1, n_columns) < _SMALL_TABLE
    return n_threads if is_small else min(2, n_threads)


def merge_if_wanted(tree: Tree, settings: TreeSettings) -> Tree:
    """Merge leaves below `min_confidence`, if the settings have one."""
    if settings.min_confidence is None:
        return tree
    return merge_unsure_leaves(
        tree, settings.leaf_estimate, min_confidence=settings.min_confidence, rule=settings.rule
    )


def _with_selected_sizes(
    tree: Tree, rows: TrainingRows, every: Sequence[TreeSettings], groups: NDArray[Any] | None
) -> list[TreeSettings]:
    """Choose the size of the tree by each of some settings that differ in the wanted size alone."""
    settings, wanted = every[0], [each.wanted_size for each in every]
    rounds = _fold_rounds(rows, settings, groups)
    first = next(rounds)
    n_at_once = min(trees_at_once(*rows.shape, settings.n_threads), n_tested_parts(first))
    of_part = replace(settings, keep_order=True, n_threads=max(1, settings.n_threads // n_at_once))
    selections = select_sizes(
        tree,
        rows,
        chain([first], rounds),
        lambda part: grow_unpruned(part, of_part),
        _families(settings, max(each.max_leaves or 0 for each in wanted)),
        wanted,
        rule=settings.rule,
        n_at_once=n_at_once,
    )
    resolved = []
    for each, selection in zip(every, selections, strict=True):
        estimate = each.leaf_estimate
        if each.chooses_strength:
            estimate = sized_estimate(each.rule, selection.strength)
        resolved.append(
            replace(
                each,
                leaf_estimate=estimate,
                chooses_strength=False,
                family=selection.family,
                penalty=selection.alpha,
                penalties=selection.penalties,
                size_curve=selection.curve,
            )
        )
    return resolved


def _fold_rounds(
    rows: TrainingRows, settings: TreeSettings, groups: NDArray[Any] | None
) -> Iterator[NDArray[np.int64]]:
    """Yield assignments of the rows to folds; there is one if the caller gives the folds."""
    n_rounds = 1
    if isinstance(settings.cv, int | np.integer):
        n_rounds = n_rounds_at_most(
            len(rows.labels) if rows.weights is None else int(np.count_nonzero(rows.weights))
        )
    for number in range(n_rounds):
        seed = settings.seed if number == 0 else seed_for(settings.seed, ROUND, number)
        yield fold_numbers(rows.labels, settings.cv, seed=seed, groups=groups)


def _families(settings: TreeSettings, most_leaves: int) -> dict[str, NodeAlphas]:
    """Return the nested families of trees among which pruning="auto" chooses.

    The second is only of use to find the best tree of so many leaves, which may be 0 for no limit.
    """
    rule = settings.rule
    families: dict[str, NodeAlphas] = {"weakest_links": lambda tree: family_alphas(tree, rule)}
    if most_leaves:
        criterion = settings.rules.criterion
        families["best_first"] = lambda tree: best_first_alphas(tree, criterion, most_leaves, rule)
    return families


def _with_chosen_penalty(
    tree: Tree, rows: TrainingRows, settings: TreeSettings, groups: NDArray[Any] | None
) -> TreeSettings:
    """Choose the penalty of CART's pruning, or of pruning by utility, by trees of folds."""
    rule = PenaltyRule(settings)
    penalties = penalty_candidates(tree, rule.node_alphas(tree))
    fold_of = fold_numbers(rows.labels, settings.cv, seed=settings.seed, groups=groups)
    sums = np.zeros((len(penalties), 3))
    for fold in np.unique(fold_of[fold_of >= 0]):
        train, test = split_rows(rows, fold_of == fold)
        if train.total_weight:
            sums += rule.fold_sums(grow_unpruned(train, settings), [test], penalties)[0]
    return replace(settings, penalties=penalties, penalty=rule.choose(penalties, sums))


@dataclass(frozen=True)
class PenaltyRule:
    """How the penalty per leaf of a pruning is chosen from tests of the trees of folds.

    For pruning="auto" it gives the smallest tree within the margin, for CART's pruning and that by
    utility the smallest one whose error is close to the least.
    """

    settings: TreeSettings

    def node_alphas(self, tree: Tree) -> FloatArray:
        """Return the penalty at which each inner node of a tree is cut."""
        settings = self.settings
        if settings.pruning == "auto":
            return _families(settings, settings.max_leaves or 0)[settings.family](tree)
        if settings.pruning == "utility":
            return utility_alphas(tree)
        return cost_complexity_alphas(tree, settings.rules.criterion)

    def cut(self, tree: Tree, penalty: float | None) -> Tree:
        """Prune a tree by a penalty, which was given or chosen before."""
        assert penalty is not None
        return cut(tree, self.node_alphas(tree) <= penalty)

    def fold_sums(
        self, tree: Tree, tests: Sequence[TrainingRows], penalties: FloatArray
    ) -> list[FloatArray]:
        """Return sums over each set of test rows, one line per penalty; those of folds add up."""
        alphas, costs = self.node_alphas(tree), self.settings.rule
        if self.settings.pruning == "auto":
            return fold_sums(tree, tests, alphas, penalties, costs)
        found = []
        for test in tests:
            counts = count_nodes(tree, test)
            errors = sums_along(tree, alphas, penalties, decision_costs(tree, counts, costs))
            found.append(np.column_stack([errors, np.full(len(penalties), counts[0].sum())]))
        return found

    def choose(self, penalties: FloatArray, sums: FloatArray) -> float:
        """Return the best of the penalties by their sums over test rows.

        As in CART, errors (with costs: mean costs) within one standard error of the least are
        close. Errors of nested trees on the same rows rise and fall together, so half of one
        distinguishes them, too, in pruning by utility.
        """
        if self.settings.pruning == "auto":
            return choose_penalty(penalties, sums, self.settings.wanted_size.margin)
        tested = float(sums[0, 2])
        if tested == 0:
            return 0.0
        rates, squares = sums[:, 0] / tested, sums[:, 1] / tested
        error = np.sqrt(np.maximum(squares - rates**2, 0.0) / tested)
        best, spread = int(rates.argmin()), 0.5 if self.settings.pruning == "utility" else 1.0
        within = np.flatnonzero(rates <= rates[best] + spread * error[best])
        return float(penalties[within[-1]])


def grow_unpruned(rows: TrainingRows, settings: TreeSettings) -> Tree:
    """Grow a tree, collapsed if the settings say so, but not pruned."""
    rules = settings.rules
    if settings.max_features is not None:
        n_drawn = n_features_drawn(settings.max_features, len(rows.table.columns))
        rules = replace(rules, max_features=n_drawn)
    if 0 < rules.min_samples_leaf < 1:  # a share, rounded up to rows as elsewhere
        least = float(np.ceil(rules.min_samples_leaf * rows.total_weight))
        rules = replace(rules, min_samples_leaf=least)
    per_class, growing = _weights_at_costs(rows, settings), rows
    if per_class is not None:
        growing = rows.with_weights(rows.row_weights * per_class[rows.labels])
        # The least weight is of rows of the lightest class, which could hardly be split off else.
        lightest = float(per_class[per_class > 0].min())
        rules = replace(rules, min_samples_leaf=rules.min_samples_leaf * lightest)
    tree = grow(growing, rules, n_threads=settings.n_threads, keep_order=settings.keep_order)
    if per_class is not None:
        tree = recount(tree, rows)
    return collapse(tree) if settings.collapse else tree


def _weights_at_costs(rows: TrainingRows, settings: TreeSettings) -> FloatArray | None:
    """Return what rows of each class weigh when splits are chosen; None if all weigh the same.

    Weights change the probabilities of two classes in the same direction everywhere, so `monotone`
    columns stay monotone; with more classes they might not, and splits do not see the costs.
    """
    rule = settings.rule
    if rule is None or (settings.rules.monotone is not None and rows.n_classes > 2):
        return None
    own = rows.row_weights
    totals: FloatArray = np.bincount(rows.labels, own, rows.n_classes).astype(float)
    per_class = rule.class_weights(totals)
    return None if np.ptp(per_class) < 1e-12 else per_class


def check_max_features(max_features: object) -> None:
    """Raise an error unless it is a number or share of columns, "sqrt", "log2" or None."""
    if max_features is None or max_features in ("sqrt", "log2"):
        return
    if isinstance(max_features, bool | str):
        raise InvalidArgumentError(
            f"max_features must be an int, a share in (0, 1], 'sqrt', 'log2' or None; got "
            f"{max_features!r}."
        )
    is_whole = isinstance(max_features, int | np.integer)
    check_number("max_features", max_features, low=1 if is_whole else 0, open_low=not is_whole)
    if not is_whole:
        check_number("max_features", max_features, low=0, high=1, open_low=True)


def n_features_drawn(max_features: int | float | str, n_columns: int) -> int:
    """Return the number of columns that are drawn per node, at least 1."""
    if max_features == "sqrt":
        drawn = int(np.sqrt(n_columns))
    elif max_features == "log2":
        drawn = int(np.log2(max(n_columns, 1)))
    elif isinstance(max_features, int | np.integer):
        drawn = int(max_features)
    else:
        drawn = int(float(max_features) * n_columns)
    return min(max(drawn, 1), max(n_columns, 1))


def _build_by_reduced_error(
    rows: TrainingRows, settings: TreeSettings, groups: NDArray[Any] | None
) -> Tree:
    """Grow on two thirds of the rows, prune by the others, then count all rows."""
    if len(rows.labels) < 2:
        return grow_unpruned(rows, settings)
    growing, held_out = split_rows(rows, hold_out(rows.labels, seed=settings.seed, groups=groups))
    tree = prune_reduced_error(grow_unpruned(growing, settings), held_out, settings.rule)
    return recount(tree, rows)
