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

The same folds tell how strongly the leaves of the chosen tree should be shrunk towards the nodes
above them: hardly at all where classes are separated, strongly where they are mixed.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.folds import enough_folds
from sureleaf.levels.decisions import CostRule, predicted_class
from sureleaf.model.node_levels import node_ties, posterior_confidence
from sureleaf.probability import LeafEstimate, sized_estimate
from sureleaf.tree import TrainingRows, Tree, count_nodes, cut, thread_map
from sureleaf.tree.pruning import sums_along
from sureleaf.tree.structure import row_sums

__all__ = [
    "SizeCurve",
    "SizeSelection",
    "choose_penalty",
    "family_alphas",
    "fold_sums",
    "merge_unsure_leaves",
    "n_tested_parts",
    "penalty_candidates",
    "penalty_for_size",
    "select_size",
    "unit_of_costs",
]

FloatArray = NDArray[np.float64]

LOG_LOSS_SHARE = 0.4
"""Weight of the relative log loss beside the error rate."""

N_FOLDS = 5
"""At most so many folds choose the size: ten choose no better, and take twice the time."""

STRENGTHS = (1.0, 3.0, 10.0)
"""How many rows the node above a leaf may count for in the probabilities of the leaf. More than 10
would help little, and move large leaves away from their own rows."""

ENTROPY_SHARE = 0.3
"""The family is pruned by training errors plus this share of the entropy, in nats."""


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """What each size of the family is worth by cross-validation, from the largest to the root.

    Parameters
    ----------
    alphas : ndarray
        Penalty per leaf that leads to each size, ascending.
    n_leaves : ndarray of int
        Leaves of the tree of all rows at this penalty.
    error : ndarray
        Error rate of the fold trees on their test rows; the mean cost if there are costs.
    log_loss : ndarray
        Mean negative log probability of the true class.
    standard_error : ndarray
        Of `error`, over the test rows.
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


@dataclass(frozen=True, eq=False)
class SizeSelection:
    """The chosen size.

    Parameters
    ----------
    alpha : float
        The chosen penalty per leaf.
    curve : SizeCurve
        What the choice was made from.
    strength : float
        The one of `STRENGTHS` with the least log loss at that size.
    """

    alpha: float
    curve: SizeCurve
    strength: float


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
        return np.asarray(_kernel.cost_complexity_alphas(tree.kernel, np.ascontiguousarray(paid)))
    shares = counts / np.maximum(totals, 1e-300)[:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -row_sums(np.where(shares > 0, shares * np.log(shares), 0.0))
    cost = (totals - counts.max(axis=1) + ENTROPY_SHARE * totals * entropy) / totals[0]
    alphas: FloatArray = _kernel.cost_complexity_alphas(tree.kernel, np.ascontiguousarray(cost))
    return alphas


def unit_of_costs(tree: Tree, rule: CostRule | None) -> FloatArray:
    """Return factors of costs and squared costs so that wrong decisions cost 1 per row on average.

    So a loss with costs is comparable with an error rate, and a margin means as much.
    """
    mean = 1.0
    if rule is not None:
        shares = tree.class_counts[0] / tree.class_counts[0].sum()
        mean = float(shares @ rule.regret.sum(axis=1)) / (len(rule) - 1)
    factor = 1.0 / mean if mean > 0 else 1.0
    return np.array([factor, factor**2, 1.0, 1.0])


def select_size(
    tree: Tree,
    rows: TrainingRows,
    fold_of: NDArray[np.int64],
    grow_part: Callable[[TrainingRows], Tree],
    estimate: LeafEstimate,
    *,
    margin: float,
    rule: CostRule | None = None,
    n_at_once: int = 1,
) -> SizeSelection:
    """Choose the size of a tree by cross-validation.

    Parameters
    ----------
    tree : Tree
        Grown on all rows, not pruned.
    rows : TrainingRows
        The rows.
    fold_of : ndarray of int
        The fold that tests each row, -1 for none. More than `N_FOLDS` folds are put together. In
        large tables not all are tested, see `enough_folds`.
    grow_part : callable
        Grows a tree on weighted rows as `tree` was grown.
    estimate : LeafEstimate
        How leaves turn counts into probabilities.
    margin : float
        How much worse than the best the tree may be, in error rate.
    rule : CostRule, optional
        The costs, if errors have different costs.
    n_at_once : int
        Trees grown at a time.

    Returns
    -------
    SizeSelection
    """
    node_alphas = np.maximum(family_alphas(tree, rule), 0.0)
    candidates = penalty_candidates(tree, node_alphas)
    n_leaves = sums_along(tree, node_alphas, candidates, np.ones((tree.n_nodes, 1)))[:, 0]
    unit = unit_of_costs(tree, rule)
    rows.sort(n_at_once)

    def test_fold(part: tuple[TrainingRows, TrainingRows]) -> FloatArray:
        train, test = part
        grown = grow_part(train)
        counts = count_nodes(grown, test)
        sums = _sums_of_counts(grown, counts[np.newaxis], candidates, estimate, rule) * unit
        return np.hstack([sums, _losses_by_strength(grown, counts, candidates, rule)])

    with thread_map(n_at_once) as run:
        parts = list(run(test_fold, _fold_parts(rows, _part_of(fold_of))))
    total = sum(parts, np.zeros((len(candidates), 4 + len(STRENGTHS))))
    curve = _curve(candidates, np.rint(n_leaves).astype(np.int64), total)
    chosen = curve.smallest_within(margin)
    strength = STRENGTHS[int(total[chosen, 4:].argmin())]
    return SizeSelection(float(candidates[chosen]), curve, strength)


def n_tested_parts(fold_of: NDArray[np.int64]) -> int:
    """Return how many trees `select_size` grows, at least 1."""
    return max(1, len(enough_folds(_part_of(fold_of))))


def _part_of(fold_of: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(fold_of < 0, -1, fold_of % N_FOLDS)


def penalty_candidates(tree: Tree, node_alphas: FloatArray) -> FloatArray:
    """Return one penalty per size of the family, given the penalties at which nodes are cut.

    As in CART, the geometric means of neighbours. The last one cuts every tree to its root: the
    root of a fold's tree may be cut later than that of the tree of all rows.
    """
    alphas = np.unique(np.concatenate(([0.0], np.maximum(node_alphas[~tree.is_leaf], 0.0))))
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.finfo(float).max)


def choose_penalty(candidates: FloatArray, sums: FloatArray, margin: float) -> float:
    """Return the penalty of the smallest tree within the margin, given `fold_sums` of folds.

    With costs, the sums must be in the unit of `unit_of_costs`.
    """
    curve = _curve(candidates, np.zeros(len(candidates), dtype=np.int64), sums)
    return float(candidates[_smallest_within(curve.loss, margin)])


def _fold_parts(
    rows: TrainingRows, fold_of: NDArray[np.int64]
) -> Iterator[tuple[TrainingRows, TrainingRows]]:
    """For each fold the rows that train and the rows that test."""
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    for fold in enough_folds(fold_of):
        is_test = fold_of == fold
        train = rows.with_weights(np.where(is_test, 0.0, weights))
        test = rows.with_weights(np.where(is_test, weights, 0.0))
        if train.total_weight and test.total_weight:
            yield train, test


def fold_sums(
    tree: Tree,
    tests: Sequence[TrainingRows],
    candidates: FloatArray,
    estimate: LeafEstimate,
    rule: CostRule | None = None,
) -> list[FloatArray]:
    """For each test and penalty: cost, squared cost, log loss and weight of the rows, summed.

    All nodes are counted once; a node counts for the penalties at which it is a leaf.
    """
    counts = np.array([count_nodes(tree, test) for test in tests])
    sums = _sums_of_counts(tree, counts, candidates, estimate, rule)
    return np.split(sums, len(tests), axis=1)


def _sums_of_counts(
    tree: Tree,
    counts: FloatArray,
    candidates: FloatArray,
    estimate: LeafEstimate,
    rule: CostRule | None,
) -> FloatArray:
    """`fold_sums`, given the class counts of the nodes for each test, four columns per test."""
    probabilities = estimate(tree, tree.class_counts)
    regret = 1.0 - np.eye(tree.n_classes) if rule is None else rule.regret
    row_costs = regret[:, predicted_class(probabilities, rule)]  # per class and node
    log_loss = _log_losses(tree, probabilities, rule).T
    per_row = np.array([row_costs, row_costs**2, log_loss, np.ones_like(log_loss)])
    # Axes: test, value, class, node. The classes are summed up.
    per_node = (counts.transpose(0, 2, 1)[:, np.newaxis] * per_row).sum(axis=2)
    per_node = per_node.reshape(-1, tree.n_nodes)
    return sums_along(tree, family_alphas(tree, rule), candidates, per_node.T)


def _log_losses(tree: Tree, probabilities: FloatArray, rule: CostRule | None) -> FloatArray:
    """Per node and class, the log loss of a row; with costs, of a row weighted by its class."""
    class_weights = np.ones(tree.n_classes)
    if rule is not None:
        class_weights = rule.class_weights(tree.class_counts[0])
        probabilities = probabilities * class_weights
        probabilities /= np.maximum(row_sums(probabilities), 1e-300)[:, np.newaxis]
    losses: FloatArray = -class_weights * np.log(np.clip(probabilities, 1e-15, 1.0))
    return losses


def _losses_by_strength(
    tree: Tree, counts: FloatArray, candidates: FloatArray, rule: CostRule | None
) -> FloatArray:
    """For each penalty and strength, the log loss of the rows with these counts, summed."""
    estimates = (sized_estimate(rule, strength) for strength in STRENGTHS)
    losses = (_log_losses(tree, each(tree, tree.class_counts), rule) for each in estimates)
    per_node = np.column_stack([row_sums(counts * each) for each in losses])
    return sums_along(tree, family_alphas(tree, rule), candidates, per_node)


def penalty_for_size(tree: Tree, node_alphas: FloatArray, most_leaves: int) -> float:
    """Return the least penalty per leaf at which the tree has at most so many leaves."""
    own = np.maximum(node_alphas, 0.0)
    candidates = np.unique(np.concatenate(([0.0], own[~tree.is_leaf])))
    n_leaves = sums_along(tree, own, candidates, np.ones((tree.n_nodes, 1)))[:, 0]
    return float(candidates[np.flatnonzero(n_leaves < most_leaves + 0.5)[0]])


def _curve(alphas: FloatArray, n_leaves: NDArray[np.int64], sums: FloatArray) -> SizeCurve:
    weight = np.maximum(sums[:, 3], 1e-300)
    error, log_loss = sums[:, 0] / weight, sums[:, 2] / weight
    variance = np.maximum(sums[:, 1] / weight - error**2, 0.0)
    return SizeCurve(alphas, n_leaves, error, log_loss, np.sqrt(variance / weight))


def _loss(error: FloatArray, log_loss: FloatArray) -> FloatArray:
    root = log_loss[-1] if len(log_loss) and log_loss[-1] > 0 else 1.0
    loss: FloatArray = error + LOG_LOSS_SHARE * log_loss / root
    return loss


def _smallest_within(loss: FloatArray, margin: float) -> int:
    """Index of the smallest tree whose loss is within the margin of the best."""
    return int(np.flatnonzero(loss <= loss.min() + margin + 1e-12)[-1])


# ---- leaves that cannot reach a confidence -------------------------------------------------------


def merge_unsure_leaves(
    tree: Tree,
    probabilities: FloatArray,
    *,
    min_confidence: float,
    margin: float,
    rule: CostRule | None = None,
) -> Tree:
    """Merge leaves below a confidence, while that costs no more than the margin.

    A leaf below it is merged into the nearest node above that reaches it, together with all other
    leaves of that node. What a merge costs is the rise of the expected errors, by the given
    probabilities. The cheapest merge is made first; all merges together cost at most the margin,
    as a share of the rows. A leaf stays if no node above it reaches the confidence, or if
    its merge would cost too much.

    Parameters
    ----------
    tree : Tree
        Pruned.
    probabilities : ndarray of shape (n_nodes, n_classes)
        Class probabilities of all nodes. They are less extreme than the frequencies of the rows
        that grew the tree. The confidence is the posterior one of a node that is known by a
        quarter of its rows.
    min_confidence : float
        The confidence that leaves should have.
    margin : float
        The share of the rows that may be expected to become errors; with costs, that much of the
        mean cost of a wrong decision.
    rule : CostRule, optional
        The costs, if errors have different costs.

    Returns
    -------
    Tree
    """
    totals = row_sums(tree.class_counts)
    own = probabilities[np.arange(tree.n_nodes), predicted_class(probabilities, rule)]
    ties = node_ties(tree.class_counts, probabilities, rule)
    is_sure = posterior_confidence(own, _KNOWN_SHARE * totals, ties) >= min_confidence
    regret = 1.0 - np.eye(tree.n_classes) if rule is None else rule.regret
    errors = unit_of_costs(tree, rule)[0] * totals * (probabilities @ regret).min(axis=1)
    sure_above = _nearest_above(tree, is_sure)
    targets = np.unique(sure_above[tree.is_leaf & ~is_sure])
    errors_below = _sums_of_leaves(tree, errors)
    budget = margin * totals[0]
    queue = [(errors[node] - errors_below[node], node) for node in targets[targets >= 0].tolist()]
    heapq.heapify(queue)
    is_merged = np.zeros(tree.n_nodes, dtype=bool)
    is_target = np.zeros(tree.n_nodes, dtype=bool)
    is_target[targets[targets >= 0]] = True
    while queue:
        cost, node = heapq.heappop(queue)
        if cost != errors[node] - errors_below[node] or _is_below(tree, node, is_merged):
            continue  # its cost has changed and it is in the queue again, or it is merged already
        if cost > budget + _ROUNDING * totals[0]:
            break
        budget -= max(cost, 0.0)
        is_merged[node] = True
        while node >= 0:
            errors_below[node] += cost
            if is_target[node] and not is_merged[node]:
                heapq.heappush(queue, (errors[node] - errors_below[node], node))
            node = int(tree.parent[node])
    return cut(tree, is_merged)


_ROUNDING = 1e-12

_KNOWN_SHARE = 0.25
"""A node that was drawn around the rows that grew it knows its accuracy on unseen rows about as
well as this share of them would: cross-fitted levels of ten data sets have strengths of 0.1 to 0.7
of the rows of a leaf, and an accuracy below the probability."""


def _nearest_above(tree: Tree, is_chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the nearest chosen node above each node; -1 if there is none."""
    nearest = np.full(tree.n_nodes, -1, dtype=np.int64)
    for node in range(1, tree.n_nodes):  # parents have lower numbers
        above = tree.parent[node]
        nearest[node] = above if is_chosen[above] else nearest[above]
    return nearest


def _sums_of_leaves(tree: Tree, values: FloatArray) -> FloatArray:
    """Return for each node the sum over the leaves below it."""
    sums = np.where(tree.is_leaf, values, 0.0)
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[tree.parent[node]] += sums[node]
    return sums


def _is_below(tree: Tree, node: int, is_chosen: NDArray[np.bool_]) -> bool:
    while node >= 0:
        if is_chosen[node]:
            return True
        node = int(tree.parent[node])
    return False
