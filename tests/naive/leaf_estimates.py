"""Leaf estimates, node by node along a path, and over a list of all prunings."""

from itertools import product
from math import exp, lgamma, sqrt

import numpy as np

from sureleaf.tree import Tree


def shrink(tree: Tree, node: int, strength: float) -> np.ndarray:
    """Go up to the root first, then add the rows of each node on the way back."""
    n_classes = tree.class_counts.shape[1]
    if node < 0:
        return np.full(n_classes, 1 / n_classes)
    counts = tree.class_counts[node]
    above = shrink(tree, int(tree.parent[node]), strength)
    return (counts + strength * above) / (counts.sum() + strength)


def prunings(tree: Tree, node: int) -> list[frozenset[int]]:
    """Return the leaves of every pruning of the subtree of a node."""
    leaf_sets = [frozenset([node])]
    branches = tree.branches(node).tolist()
    if branches:
        below = product(*(prunings(tree, branch) for branch in branches))
        leaf_sets.extend(frozenset().union(*parts) for parts in below)
    return leaf_sets


def evidence(counts: np.ndarray, added: float) -> float:
    """Return the probability of these classes in this order, for probabilities from the prior."""
    total = len(counts) * added
    log = lgamma(total) - lgamma(total + counts.sum())
    return exp(log + sum(lgamma(k + added) - lgamma(added) for k in counts))


def average(tree: Tree, leaf: int, added: float) -> np.ndarray:
    """Return the mean over all prunings of the probabilities in the leaf that holds these rows."""
    path = [leaf]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    total_weight, total = 0.0, 0.0
    for ends in prunings(tree, 0):
        weight = 1.0
        kept = set(ends)
        for end in ends:
            node = end
            while node > 0:
                node = int(tree.parent[node])
                kept.add(node)
        for node in kept:
            counts = tree.class_counts[node]
            odds = sqrt(max(counts.sum() * tree.n_columns, 1.0))
            if node not in ends:
                weight *= 1 / (1 + odds)
                continue
            weight *= evidence(counts, added)
            if not tree.is_leaf[node]:
                weight *= odds / (1 + odds)
        (end,) = [node for node in path if node in ends]
        counts = tree.class_counts[end]
        total_weight += weight
        total = total + weight * (counts + added) / (counts.sum() + len(counts) * added)
    return total / total_weight
