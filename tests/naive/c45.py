"""C4.5 as plainly as it can be written, rule by rule as in docs/c45.md: the kernel's naive twin.

Speed does not matter here, being readable beside the rules does. The parts: `tree` (rows, nodes,
prediction), `splits` (the choice of a split), `pessimistic` (pruning).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.naive.pessimistic import prune
from tests.naive.splits import Rules, c45_split, purest_split
from tests.naive.tree import Node, Split, Table, at_least, divide, greater, predict_proba, table

__all__ = ["Node", "Rules", "Split", "Table", "collapse", "fit", "grow", "predict_proba", "table"]


def fit(data: Table, rules: Rules | None = None) -> Node:
    """Grow, collapse and prune: all of C4.5."""
    rules = rules or Rules()
    rows = np.arange(len(data.labels))
    tree = grow(data, rows, data.weights, rules)
    if rules.collapse:
        tree = collapse(tree)
    if rules.pruning == "pessimistic":
        tree = prune(tree, data, rows, data.weights, rules.confidence_factor)
    return tree


def grow(data: Table, rows: np.ndarray, weights: np.ndarray, rules: Rules, depth: int = 0) -> Node:
    """Rules 1 and 7."""
    leaf = Node(data.counts(rows, weights))
    if depth == rules.max_depth or greater(2 * rules.min_samples_leaf, leaf.n):
        return leaf
    if at_least(0.0, leaf.errors):  # all rows are of one class
        return leaf
    choose = c45_split if rules.criterion == "gain_ratio" else purest_split
    split = choose(data, rows, weights, rules)
    if split is None:
        return leaf
    shares, parts = divide(split, data, rows, weights)
    children = [grow(data, *part, rules, depth + 1) for part in parts]
    return replace(leaf, split=split, children=children, branch_shares=shares)


def collapse(node: Node) -> Node:
    """Rule 8, top-down: a leaf wherever a subtree lowers the training errors by less than 1e-3."""
    if not node.children:
        return node
    if sum(leaf.errors for leaf in node.leaves) >= node.errors - 1e-3:
        return Node(node.class_counts)
    return replace(node, children=[collapse(child) for child in node.children])
