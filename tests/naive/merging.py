"""The largest part of a tree whose leaves all reach a confidence, by its definition."""

from sureleaf import levels
from sureleaf.tree import Tree


def sure_leaves(tree: Tree, min_confidence: float) -> list[int]:
    """Return the leaves of that part; the root if no part has only sure leaves."""
    return _part(tree, 0, min_confidence) or [0]


def _part(tree: Tree, node: int, min_confidence: float) -> list[int]:
    """Return the leaves of the largest part below a node; none if there is no part."""
    if not tree.is_leaf[node]:
        parts = [_part(tree, int(child), min_confidence) for child in tree.branches(node)]
        if all(parts):
            return [leaf for part in parts for leaf in part]
    return [node] if _confidence(tree, node) >= min_confidence else []


def _confidence(tree: Tree, node: int) -> float:
    """(9) with the blend, or its form for more classes with one row of each class added."""
    counts, n_tree = tree.class_counts[node], tree.class_counts[0].sum()
    if not counts.sum():
        return 0.0
    if len(counts) == 2:
        p = levels.estimate_p_max(counts.max(), counts.sum())
        return float(levels.node_confidence(n_tree, counts.sum() / n_tree, p))
    return float(levels.class_confidence(counts.sum(), (counts + 1) / (counts + 1).sum()))
