"""C4.5 as plainly as it can be written, rule by rule as in docs/c45.md: the kernel's naive twin.

Speed does not matter here, being readable beside the rules does. The parts: `tree` (rows, nodes,
prediction), `splits` (the choice of a split), `pessimistic` (pruning).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tests.naive.pessimistic import prune
from tests.naive.random_columns import child_key, column_order, root_key
from tests.naive.splits import IMPURITIES, Limits, Rules, c45_split, purest_split
from tests.naive.tree import (
    Node,
    Part,
    Split,
    Table,
    at_least,
    divide,
    greater,
    predict_proba,
    table,
)

__all__ = ["Node", "Rules", "Split", "Table", "collapse", "fit", "grow", "predict_proba", "table"]


def fit(data: Table, rules: Rules | None = None) -> Node:
    """Grow, collapse and prune: all of C4.5."""
    rules = rules or Rules()
    tree = grow(data.whole, rules)
    if rules.collapse:
        tree = collapse(tree)
    if rules.pruning == "pessimistic":
        tree = prune(tree, data.whole, rules.confidence_factor)
    return tree


def grow(
    part: Part,
    rules: Rules,
    depth: int = 0,
    key: int | None = None,
    limits: Limits | None = None,
) -> Node:
    """Rules 1 and 7."""
    if rules.max_leaves is not None and depth == 0:
        return grow_best_first(part, rules)
    key = root_key(rules.seed, rules.tree) if key is None else key
    leaf = Node(part.counts)
    if rules.monotone is not None and limits is None:
        limits = Limits(np.array(rules.monotone), 0 * part.counts, 0 * part.counts + 1)
    best = find_split(part, rules, depth, key, limits)
    if best is None:
        return leaf
    split, _ = best
    shares, parts = divide(split, part)
    below: list[Limits | None] = [None] * len(parts)
    if limits is not None:
        below = [*limits.below(split, [each.counts for each in parts])]
    children = [
        grow(each, rules, depth + 1, child_key(key, branch), below[branch])
        for branch, each in enumerate(parts)
    ]
    return replace(leaf, split=split, children=children, branch_shares=shares)


def find_split(
    part: Part, rules: Rules, depth: int, key: int, limits: Limits | None = None
) -> tuple[Split, float] | None:
    """The best split of a node and its decrease per unit of weight; None for a leaf."""
    node = Node(part.counts)
    if depth == rules.max_depth or greater(2 * rules.min_samples_leaf, node.n):
        return None
    if at_least(0.0, node.errors):  # one class is left
        return None
    choose = c45_split if rules.criterion == "gain_ratio" else purest_split
    features = list(range(len(part.data.categories)))
    n_first = len(features)
    if rules.max_features is not None and rules.max_features < len(features):
        features, n_first = column_order(key, len(features)), rules.max_features
    groups = [sorted(features[:n_first]), *([feature] for feature in features[n_first:])]
    for group in groups:
        more = () if limits is None else (limits,)  # not for gain_ratio
        best = choose(part, rules, group, *more)
        if best is not None:
            return best
    return None


def grow_best_first(part: Part, rules: Rules) -> Node:
    """The split of largest decrease next, as long as there are not too many leaves."""
    unit = 1e-9 * float(IMPURITIES[rules.criterion](part.counts))
    nodes = [GrowingNode(part, 0, root_key(rules.seed, rules.tree))]
    n_leaves = 1
    waiting = [0]
    while waiting:
        for number in waiting:
            node = nodes[number]
            if node.rank is None:
                node.best = find_split(node.part, rules, node.depth, node.key)
                decrease = node.best[1] * node.part.total / unit if node.best else 0
                node.rank = (-round(decrease), number)
        waiting = [number for number in waiting if nodes[number].best is not None]
        if not waiting:
            break
        number = min(waiting, key=lambda number: nodes[number].rank)
        waiting.remove(number)
        node = nodes[number]
        split, _ = node.best
        if n_leaves + split.n_branches - 1 > rules.max_leaves:
            continue
        n_leaves += split.n_branches - 1
        node.split = split
        node.shares, parts = divide(split, node.part)
        for branch, each in enumerate(parts):
            node.children.append(len(nodes))
            waiting.append(len(nodes))
            nodes.append(GrowingNode(each, node.depth + 1, child_key(node.key, branch)))

    def finish(number: int) -> Node:
        node = nodes[number]
        children = [finish(child) for child in node.children]
        return Node(node.part.counts, node.split, children, node.shares)

    return finish(0)


@dataclass
class GrowingNode:
    """A node of a tree that grows best first."""

    part: Part
    depth: int
    key: int
    rank: tuple[int, int] | None = None
    best: tuple[Split, float] | None = None
    split: Split | None = None
    shares: list[float] = field(default_factory=list)
    children: list[int] = field(default_factory=list)


def collapse(node: Node) -> Node:
    """Rule 8, top-down: a leaf wherever a subtree lowers the training errors by less than 1e-3."""
    if not node.children:
        return node
    if sum(leaf.errors for leaf in node.leaves) >= node.errors - 1e-3:
        return Node(node.class_counts)
    return replace(node, children=[collapse(child) for child in node.children])
