"""Which splits recur in another tree, row by row."""

from itertools import permutations

import numpy as np


def recurs(tree, path, node, other, other_path, same):
    """Follow every row of a node through the other tree; `path[row]` are its nodes."""
    branches = tree.branches(node).tolist()
    rows = {branch: [r for r, nodes in enumerate(path) if branch in nodes] for branch in branches}
    for candidate in np.flatnonzero(other.feature == tree.feature[node]).tolist():
        theirs = other.branches(candidate).tolist()
        longer, shorter = (theirs, branches) if len(theirs) >= len(branches) else (branches, theirs)
        for order in permutations(longer, len(shorter)):
            pairs = zip(shorter, order, strict=True)
            matched = [(a, b) if longer is theirs else (b, a) for a, b in pairs]
            shares = [
                sum(b in other_path[r] for r in rows[a]) / max(len(rows[a]), 1) for a, b in matched
            ]
            if sum(shares) / len(branches) >= same:
                return True
    return False
