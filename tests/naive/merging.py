"""Merging of leaves that cannot reach a confidence, one merge after the other."""

import numpy as np
from scipy.stats import beta

from sureleaf.model.node_levels import node_ties
from sureleaf.tree import Tree, cut


def merge(tree: Tree, probabilities: np.ndarray, *, min_confidence: float, margin: float) -> Tree:
    """Of all merges that are possible, make the cheapest, and start again."""
    n_rows = tree.class_counts[0].sum()
    errors = [
        tree.class_counts[node].sum() * (1 - max(probabilities[node]))
        for node in range(tree.n_nodes)
    ]
    spent = 0.0
    merged: set[int] = set()
    while True:
        leaves = [node for node in range(tree.n_nodes) if _is_leaf_now(tree, node, merged)]
        costs = {}
        for leaf in leaves:
            if _confidence(tree, leaf, probabilities) >= min_confidence:
                continue
            above = int(tree.parent[leaf])
            while above >= 0 and _confidence(tree, above, probabilities) < min_confidence:
                above = int(tree.parent[above])
            if above >= 0:
                below = [node for node in leaves if above in _path(tree, node)]
                costs[above] = errors[above] - sum(errors[node] for node in below)
        affordable = [node for node in costs if spent + costs[node] <= margin * n_rows + 1e-9]
        if not affordable:
            return cut(tree, np.isin(np.arange(tree.n_nodes), list(merged)))
        cheapest = min(affordable, key=lambda node: (round(costs[node], 9), node))
        spent += max(costs[cheapest], 0)
        merged.add(cheapest)


def _path(tree: Tree, node: int) -> list[int]:
    path = []
    while node >= 0:
        path.append(node)
        node = int(tree.parent[node])
    return path


def _is_leaf_now(tree: Tree, node: int, merged: set[int]) -> bool:
    above = set(_path(tree, node)) - {node}
    return not above & merged and (bool(tree.is_leaf[node]) or node in merged)


def _confidence(tree: Tree, node: int, probabilities: np.ndarray) -> float:
    """Probability that the accuracy is above a tie, known by a quarter of the rows."""
    n, p = tree.class_counts[[node]].sum() / 4, probabilities[node].max()
    tie = float(node_ties(tree.class_counts[[node]], probabilities[[node]])[0])
    return float(beta.sf(tie, max(p * n, 1e-9), max((1 - p) * n, 1e-9)))
