"""The size of the tree: the smallest one that is not worse than the best by more than a margin.

One large tree is grown and pruned by its weakest links, which gives a nested family of trees from
the large one to its root. For every fold a tree is grown without the fold, pruned in the same way
and tested on the fold. Each size gets a *loss* per row, and the smallest size whose loss is within
the margin of the best is taken.

The loss is the error rate (or the mean cost, if errors have different costs) plus a share of the
log loss, relative to that of the root. The log loss sees what the error rate does not: leaves that
predict the same class with different probabilities. It keeps a tree from being cut to its root
where classes are rare. With costs, it is the log loss of rows weighted by the cost of their class,
in which the threshold of a decision between two classes is one half.

In a small table one assignment of rows to folds is a matter of luck. So there are *rounds*, each
with folds of its own, until no size is within a standard error of being chosen or not.

With a largest number of leaves there is a second family, in which the splits of largest decrease
are made first. The best size of either that has no more leaves is taken.

The same folds tell how strongly the leaves of the chosen tree should be shrunk towards the nodes
above them: hardly at all where classes are separated, strongly where they are mixed.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.folds import enough_folds
from sureleaf.levels.decisions import CostRule, mean_error_cost, predicted_class
from sureleaf.model.node_levels import levels_of_counts
from sureleaf.probability import LeafEstimate, sized_probabilities
from sureleaf.tree import TrainingRows, Tree, count_nodes, cut, thread_map
from sureleaf.tree.growing import split_rows
from sureleaf.tree.pruning import sums_along, weakest_links
from sureleaf.tree.structure import node_impurity, row_sums

NodeAlphas = Callable[[Tree], FloatArray]
"""From a tree to the penalty per leaf at which each inner node is cut: a nested family of trees."""

MARGIN = 0.01
"""How much accuracy may be given up for a smaller tree, if nothing else is said."""

LOG_LOSS_SHARE = 0.4
"""Weight of the relative log loss beside the error rate."""

N_FOLDS = 5
"""At most so many folds choose the size: ten choose no better, and take twice the time."""

SHRINKAGES = (1.0, 3.0, 10.0)
"""How many rows the node above a leaf may count for in the probabilities of the leaf. More than 10
would help little, and move large leaves away from their own rows. The last one is that by which
sizes are compared."""

_LOG_LOSSES = [4, 5, 2]
"""The columns of sums over test rows that hold the log losses at `SHRINKAGES`."""

ENTROPY_SHARE = 0.3
"""The family is pruned by training errors plus this share of the entropy, in nats."""

CHECKED_ROUNDS = (5, 7, 10, 14, 20)
"""Numbers of rounds after which it is checked whether the choice is stable; there are at most as
many as the last one."""

_MANY_NODES = 50_000
"""The probabilities of a tree of at most so many nodes are computed at all strengths at once, which
is faster; one after the other, they need a third of the memory. Not with costs, where the last bit
of a matrix product depends on its shape."""

_SMALL_TABLE = 2000
"""A table of fewer rows has as many rounds as the choice needs."""

_TWO_ROUNDS = 20_000
"""A table of at most so many rows has two rounds, so a fit takes at most twelve trees; a larger one
has one."""


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """What each size of the family is worth by cross-validation, from the largest to the root.

    - `alphas`: penalty per leaf that leads to each size, ascending.
    - `n_leaves`: leaves of the tree of all rows at this penalty.
    - `error`: error rate of the fold trees on their test rows; the mean cost if there are costs.
    - `log_loss`: mean negative log probability of the true class.
    - `standard_error`: of `error`, over the test rows.
    """

    alphas: FloatArray
    n_leaves: NDArray[np.int64]
    error: FloatArray
    log_loss: FloatArray
    standard_error: FloatArray

    @property
    def loss(self) -> FloatArray:
        """The quantity that sizes are compared by."""
        return _loss(self.error, self.log_loss)

    def smallest_within(self, margin: float) -> int:
        """Index of the smallest tree whose loss is within the margin of the best."""
        return _smallest_within(self.loss, margin)


@dataclass(frozen=True)
class WantedSize:
    """How much worse than the best, in error rate, the tree may be, and its most leaves."""

    margin: float
    max_leaves: int | None = None

    def with_same_rounds(self) -> "WantedSize":
        """Return the size whose stability says how many rounds of folds this one needs.

        With a limit alone it is the default size: so the default tree, and one that is limited to
        as many leaves, are judged by the same folds.
        """
        is_limit_alone = self.max_leaves is not None and self.margin == 0
        return WantedSize(MARGIN) if is_limit_alone else self


@dataclass(frozen=True, eq=False)
class SizeSelection:
    """The chosen size.

    `family` is the name of the family that the tree is of, `alpha` the chosen penalty per leaf, one
    of `penalties` of that family. `curve` has all sizes of the first family, without a limit.
    `strength` is the one of `SHRINKAGES` with the least log loss at that size. `n_rounds` rounds of
    folds have chosen.
    """

    family: str
    alpha: float
    penalties: FloatArray
    curve: SizeCurve
    strength: float
    n_rounds: int


# ---- nested families of trees --------------------------------------------------------------------


def family_alphas(tree: Tree, rule: CostRule | None = None) -> FloatArray:
    """Return the penalty per leaf at which each inner node is cut; infinity for leaves.

    A node costs its training errors plus a share of its entropy, per row of the tree. Errors alone
    would cut splits between leaves of one class, entropy alone would keep splits that change no
    decision. With costs, a node costs the regret of its cheapest decision.
    """
    counts = tree.class_counts
    totals = row_sums(counts)
    if rule is not None:
        paid = (counts @ rule.regret).min(axis=1) / totals[0]
        return weakest_links(tree, paid)
    shares = counts / np.maximum(totals, 1e-300)[:, np.newaxis]
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -row_sums(np.multiply(shares, logs, out=logs))
    cost = (totals - counts.max(axis=1) + ENTROPY_SHARE * totals * entropy) / totals[0]
    return weakest_links(tree, cost)


def best_first_alphas(
    tree: Tree, criterion: str, most_leaves: int, rule: CostRule | None = None
) -> FloatArray:
    """Return penalties that cut the splits of least decrease first; infinity for leaves.

    Splits are made in the order of their decrease of impurity, by the rows that they split. One
    that makes n leaves of the tree is cut at 1 / n; those after the first one that exceeds the
    largest number of leaves are cut at 0.
    """
    if rule is not None:
        weights = rule.class_weights(tree.class_counts[0])
        tree = replace(tree, class_counts=tree.class_counts * weights)
    remaining = row_sums(tree.class_counts) * node_impurity(tree, criterion)
    decrease = remaining.copy()
    np.subtract.at(decrease, tree.parent[1:], remaining[1:])
    alphas = np.where(tree.is_leaf, np.inf, 0.0)
    n_leaves, queue = 1, [(-decrease[0], 0)] if tree.n_nodes > 1 else []
    while queue and n_leaves <= most_leaves:
        node = heapq.heappop(queue)[1]
        branches = tree.branches(node)
        n_leaves += len(branches) - 1
        alphas[node] = 1.0 / n_leaves
        for branch in branches.tolist():
            if not tree.is_leaf[branch]:
                heapq.heappush(queue, (-decrease[branch], branch))
    return alphas


def unit_of_costs(tree: Tree, rule: CostRule | None) -> FloatArray:
    """Return factors of costs and squared costs so that wrong decisions cost 1 per row on average.

    So a loss with costs is comparable with an error rate, and a margin means as much.
    """
    mean = 1.0
    if rule is not None:
        mean = mean_error_cost(rule.regret, tree.class_counts[0])
    factor = 1.0 / mean if mean > 0 else 1.0
    return np.array([factor, factor**2, 1.0, 1.0])


def penalty_candidates(tree: Tree, node_alphas: FloatArray) -> FloatArray:
    """Return one penalty per size of the family, given the penalties at which nodes are cut.

    As in CART, the geometric means of neighbours. The last one cuts every tree to its root: the
    root of a fold's tree may be cut later than that of the tree of all rows.
    """
    alphas = np.unique(np.concatenate(([0.0], np.maximum(node_alphas[~tree.is_leaf], 0.0))))
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.finfo(float).max)


# ---- the choice ----------------------------------------------------------------------------------


def n_rounds_at_most(n_rows: int) -> int:
    """Return the largest number of rounds of folds that choose the size."""
    if n_rows < _SMALL_TABLE:
        return CHECKED_ROUNDS[-1]
    return 2 if n_rows <= _TWO_ROUNDS else 1


def select_sizes(
    tree: Tree,
    rows: TrainingRows,
    rounds: Iterable[NDArray[np.int64]],
    grow_part: Callable[[TrainingRows], Tree],
    families: Mapping[str, NodeAlphas],
    wanted: Sequence[WantedSize],
    *,
    rule: CostRule | None = None,
    n_at_once: int = 1,
) -> list[SizeSelection]:
    """Choose sizes of a tree by cross-validation; each depends on the rounds that it needs alone.

    `tree` was grown on all rows and not pruned; `grow_part` grows a tree on weighted rows in the
    same way. `rounds` gives for each round the fold that tests each row, -1 for none. More than
    `N_FOLDS` folds are put together; in large tables not all are tested, see `enough_folds`. No
    further round is asked for when all choices are stable. A size without a limit is of the first
    of the nested `families`.
    """
    sized = [_SizedFamily.of_tree(tree, *family) for family in families.items()]
    strengths = (SHRINKAGES[-1], *SHRINKAGES[:-1])
    unit = np.append(unit_of_costs(tree, rule), np.ones(len(strengths) - 1))
    rows.sort(n_at_once)

    def test_fold(part: tuple[TrainingRows, TrainingRows]) -> list[FloatArray]:
        train, test = part
        grown = grow_part(train)
        per_node = _node_sums(grown, count_nodes(grown, test)[np.newaxis], strengths, rule)
        return [family.sums(grown, per_node * unit) for family in sized]

    chosen: dict[WantedSize, SizeSelection] = {}
    by_round: list[list[FloatArray]] = [[] for _ in sized]
    with thread_map(n_at_once) as run:
        for fold_of in rounds:
            parts = list(run(test_fold, _fold_parts(rows, _part_of(fold_of))))
            for index, family in enumerate(sized):
                nothing = np.zeros((len(family.penalties), len(unit)))
                by_round[index].append(sum((part[index] for part in parts), nothing))
            if len(by_round[0]) in CHECKED_ROUNDS:
                sums = [np.array(each) for each in by_round]
                for size in set(wanted) - set(chosen):
                    judged = size.with_same_rounds()
                    pairs = zip(_families_for(judged, sized), sums, strict=False)
                    if all(family.is_stable(each, judged) for family, each in pairs):
                        chosen[size] = _select(sized, sums, size)
                if len(chosen) == len(set(wanted)):
                    break
    sums = [np.array(each) for each in by_round]
    return [chosen.get(size) or _select(sized, sums, size) for size in wanted]


@dataclass(frozen=True, eq=False)
class _SizedFamily:
    """The sizes of a nested family of trees, from the largest to the root.

    `penalties` ascend; `n_leaves` are those of the tree of all rows at each.
    """

    name: str
    node_alphas: NodeAlphas
    penalties: FloatArray
    n_leaves: NDArray[np.int64]

    @classmethod
    def of_tree(cls, tree: Tree, name: str, node_alphas: NodeAlphas) -> "_SizedFamily":
        """List the sizes of a tree."""
        own = np.maximum(node_alphas(tree), 0.0)
        penalties = penalty_candidates(tree, own)
        n_leaves = sums_along(tree, own, penalties, np.ones((tree.n_nodes, 1)))[:, 0]
        return cls(name, node_alphas, penalties, np.rint(n_leaves).astype(np.int64))

    def sums(self, tree: Tree, per_node: FloatArray) -> FloatArray:
        """Sum values of the nodes of another tree over its leaves at each penalty."""
        return sums_along(tree, self.node_alphas(tree), self.penalties, per_node)

    def first(self, size: WantedSize) -> int:
        """Return the index of the largest tree that is allowed."""
        return 0 if size.max_leaves is None else int(np.argmax(self.n_leaves <= size.max_leaves))

    def choice(self, sums: FloatArray, size: WantedSize) -> int:
        """Return the index of the chosen size, given sums of all rounds."""
        first = self.first(size)
        return first + _smallest_within(_mean_loss(sums)[first:], size.margin)

    def is_stable(self, sums: FloatArray, size: WantedSize) -> bool:
        """Whether no size is within a standard error of being chosen, or of not being chosen.

        The standard error is that of a mean over rounds, given the sums of each: it shows the luck
        of the folds alone. Without a margin nothing is lost by either of two sizes that are about
        equally good, so the fewest rounds are enough.
        """
        if size.margin == 0:
            return True
        first = self.first(size)
        by_round = np.array([_mean_loss(each)[first:] for each in sums])
        mean = _mean_loss(sums.sum(axis=0))[first:]
        chosen, best = _smallest_within(mean, size.margin), int(mean.argmin())

        def error(one: int) -> FloatArray:
            differences = by_round - by_round[:, [one]]
            return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(sums)))

        is_within = mean + size.margin - mean[chosen] >= error(chosen)
        is_beyond = mean - size.margin - mean[best] >= error(best)
        return bool(np.delete(is_within, chosen).all() and is_beyond[chosen + 1 :].all())


def _families_for(size: WantedSize, families: Sequence[_SizedFamily]) -> Sequence[_SizedFamily]:
    """Return the families of which a size may be: without a limit the first alone."""
    return families[:1] if size.max_leaves is None else families


def _select(
    families: Sequence[_SizedFamily], sums: Sequence[FloatArray], size: WantedSize
) -> SizeSelection:
    """Choose a size, given the sums of each family and round.

    A tree of a further family must have less loss and less error: it is grown by entropy or the
    like, and would otherwise often be chosen for its log loss alone, at the price of accuracy.
    """
    totals = [each.sum(axis=0) for each in sums]
    best, chosen = 0, families[0].choice(totals[0], size)
    for index in range(1, len(_families_for(size, families))):
        other = families[index].choice(totals[index], size)
        if (
            _mean_loss(totals[index])[other] < _mean_loss(totals[best])[chosen]
            and totals[index][other, 0] < totals[best][chosen, 0]
        ):
            best, chosen = index, other
    family, n_rounds = families[best], len(sums[0])
    return SizeSelection(
        family.name,
        float(family.penalties[chosen]),
        family.penalties[family.first(size) :],
        _curve(families[0].penalties, families[0].n_leaves, totals[0] / n_rounds),
        SHRINKAGES[int(totals[best][chosen, _LOG_LOSSES].argmin())],
        n_rounds,
    )


def n_tested_parts(fold_of: NDArray[np.int64]) -> int:
    """Return how many trees a round of `select_sizes` grows, at least 1."""
    return max(1, len(enough_folds(_part_of(fold_of))))


def _part_of(fold_of: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(fold_of < 0, -1, fold_of % N_FOLDS)


def choose_penalty(candidates: FloatArray, sums: FloatArray, margin: float) -> float:
    """Return the penalty of the smallest tree within the margin, given `fold_sums` of folds."""
    return float(candidates[_smallest_within(_mean_loss(sums), margin)])


def _fold_parts(
    rows: TrainingRows, fold_of: NDArray[np.int64]
) -> Iterator[tuple[TrainingRows, TrainingRows]]:
    """For each fold the rows that train and the rows that test."""
    for fold in enough_folds(fold_of):
        train, test = split_rows(rows, fold_of == fold)
        if train.total_weight and test.total_weight:
            yield train, test


def fold_sums(
    tree: Tree,
    tests: Sequence[TrainingRows],
    node_alphas: FloatArray,
    candidates: FloatArray,
    rule: CostRule | None = None,
) -> list[FloatArray]:
    """For each test and penalty: cost, squared cost, log loss and weight of the rows, summed.

    All nodes are counted once; a node counts for the penalties at which it is a leaf. Costs are in
    the unit of `unit_of_costs`.
    """
    counts = np.array([count_nodes(tree, test) for test in tests])
    per_node = _node_sums(tree, counts, SHRINKAGES[-1:], rule)
    sums = sums_along(tree, node_alphas, candidates, per_node)
    return [each * unit_of_costs(tree, rule) for each in np.split(sums, len(tests), axis=1)]


def _node_sums(
    tree: Tree, counts: FloatArray, strengths: Sequence[float], rule: CostRule | None
) -> FloatArray:
    """Return cost, squared cost, log loss and weight of each node as a leaf, per test.

    `counts` are the class counts of the nodes for each test. Probabilities of the first strength
    decide; the log losses of the others follow.
    """
    regret = 1.0 - np.eye(tree.n_classes) if rule is None else rule.regret
    by_class = np.ascontiguousarray(counts.transpose(0, 2, 1))
    is_large = rule is None and tree.n_nodes > _MANY_NODES
    n_at_once = 1 if is_large else len(strengths)
    log_losses: list[FloatArray] = []
    costs: list[FloatArray] = []
    for start in range(0, len(strengths), n_at_once):
        probabilities = sized_probabilities(tree, rule, strengths[start : start + n_at_once])
        if not costs:
            row_costs = regret[:, predicted_class(probabilities[0], rule)]  # per class and node
            costs = [(by_class * each).sum(axis=1) for each in (row_costs, row_costs**2)]
        losses = _log_losses(tree, probabilities, rule)
        log_losses += [(by_class * loss).sum(axis=1) for loss in losses]
    weight = by_class.sum(axis=1)
    # Axes: test, value, node.
    per_node = np.stack([*costs, log_losses[0], weight, *log_losses[1:]], axis=1)
    return per_node.reshape(-1, tree.n_nodes).T


def _log_losses(tree: Tree, probabilities: FloatArray, rule: CostRule | None) -> FloatArray:
    """Per strength, class and node, the log loss of a row; with costs, weighted by its class."""
    by_class = np.ascontiguousarray(probabilities.transpose(0, 2, 1))
    if rule is None:
        return -np.log(np.clip(by_class, 1e-15, 1.0))
    weights = rule.class_weights(tree.class_counts[0])[:, np.newaxis]
    by_class = by_class * weights
    by_class /= np.maximum(by_class.sum(axis=1, keepdims=True), 1e-300)
    return -weights * np.log(np.clip(by_class, 1e-15, 1.0))


def _curve(alphas: FloatArray, n_leaves: NDArray[np.int64], sums: FloatArray) -> SizeCurve:
    weight = np.maximum(sums[:, 3], 1e-300)
    error, log_loss = sums[:, 0] / weight, sums[:, 2] / weight
    variance = np.maximum(sums[:, 1] / weight - error**2, 0.0)
    return SizeCurve(alphas, n_leaves, error, log_loss, np.sqrt(variance / weight))


def _mean_loss(sums: FloatArray) -> FloatArray:
    """Return the loss at each penalty, given sums of cost, squared cost, log loss and weight."""
    weight = np.maximum(sums[:, 3], 1e-300)
    return _loss(sums[:, 0] / weight, sums[:, 2] / weight)


def _loss(error: FloatArray, log_loss: FloatArray) -> FloatArray:
    root = log_loss[-1] if len(log_loss) and log_loss[-1] > 0 else 1.0
    return error + LOG_LOSS_SHARE * log_loss / root


def _smallest_within(loss: FloatArray, margin: float) -> int:
    """Index of the smallest tree whose loss is within the margin of the best."""
    return int(np.flatnonzero(loss <= loss.min() + margin + 1e-12)[-1])


# ---- leaves that cannot reach a confidence -------------------------------------------------------


def merge_unsure_leaves(
    tree: Tree, estimate: LeafEstimate, *, min_confidence: float, rule: CostRule | None = None
) -> Tree:
    """Return the largest part of the tree whose leaves all reach a confidence, or its root alone.

    The confidence is the one of the theory, by the rows that grew the tree: (9), with the blend
    (20) as the estimate of p_max.
    """
    while True:
        probabilities = estimate(tree, tree.class_counts)
        smaller = cut(tree, _unsure_below(tree, probabilities, min_confidence, rule))
        if smaller.n_nodes == tree.n_nodes:
            return tree
        tree = smaller  # an estimate may look at the nodes below, which are gone now


def _unsure_below(
    tree: Tree, probabilities: FloatArray, min_confidence: float, rule: CostRule | None
) -> NDArray[np.bool_]:
    """Nodes to cut at: from some node below them, no part of the tree has only sure leaves."""
    n = row_sums(tree.class_counts)
    levels = levels_of_counts(
        tree.class_counts, n, probabilities, rule, method="blend", n_tree=float(n[0])
    )
    is_sure = levels.confidence >= min_confidence
    splits_well = ~tree.is_leaf  # until a branch of it turns out to have no part of sure leaves
    for node in range(tree.n_nodes - 1, 0, -1):  # parents have lower numbers
        if not (is_sure[node] or splits_well[node]):
            splits_well[tree.parent[node]] = False
    return ~tree.is_leaf & ~splits_well
