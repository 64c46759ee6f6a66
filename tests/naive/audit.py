"""The class counts of the leaves of a scikit-learn tree, row by row."""

import math
from typing import Any


def route(tree: Any, row: list[float]) -> int:
    """Return the leaf of a row, test by test; missing values take the branch of the tree."""
    import numpy as np

    node = 0
    while tree.children_left[node] >= 0:
        value = float(np.float32(row[tree.feature[node]]))
        if math.isnan(value):
            left = bool(tree.missing_go_to_left[node])
        else:
            left = value <= tree.threshold[node]
        node = int(tree.children_left[node] if left else tree.children_right[node])
    return node


def count(tree: Any, X: Any, y: Any, classes: list[Any]) -> dict[int, list[int]]:
    """Return the class counts of every leaf."""
    leaves = [node for node in range(tree.node_count) if tree.children_left[node] < 0]
    counts = {leaf: [0] * len(classes) for leaf in leaves}
    for row, label in zip(X, y, strict=True):
        counts[route(tree, list(row))][classes.index(label)] += 1
    return counts
