"""The accuracy of the leaves of a tree by fold trees, row by row."""

import numpy as np
from scipy.optimize import brentq

from sureleaf.tree import Tree, route


def odds(p: float) -> float:
    return float(np.log(p / (1 - p)))


def chance(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def shrunk(tree: Tree, node: int, label: int, strength: float) -> float:
    """The share of a class, with so many rows of the parent's share added; from the root down."""
    counts = tree.class_counts[node]
    if node == 0:
        return (counts[label] + 1 / len(counts)) / (counts.sum() + 1)
    above = shrunk(tree, int(tree.parent[node]), label, strength)
    return (counts[label] + strength * above) / (counts.sum() + strength)


def features(tree: Tree, node: int, label: int, n_rows: float) -> list[float]:
    purity = [
        odds(min(max(shrunk(tree, node, label, strength), 1e-4), 1 - 1e-4))
        for strength in (1.0, 30.0)
    ]
    n = n_rows * tree.class_counts[node].sum() / tree.class_counts[0].sum()
    return [*purity, -1 / (n + 1)]


def leaf_of(tree: Tree, table, row: int) -> int:
    """Of a table without missing values."""
    node = 0
    while not tree.is_leaf[node]:
        value = table.columns[tree.feature[node]][row]
        categories = tree.categories(node)
        if len(categories):
            node = int(tree.branches(node)[categories[int(value)]])
        else:
            node = int(tree.branches(node)[0 if value <= tree.threshold[node] else 1])
    return node


def told_by_folds(parts, trees, predictions):
    """For each row: is the tree without its fold correct, by which features, what does it name?"""
    found = {}
    for row in np.flatnonzero(parts.tested()).tolist():
        tree = trees.get(int(parts.fold_of[row]))
        if tree is not None:
            leaf = leaf_of(tree, parts.rows.table, row)
            label = int(np.argmax(predictions(tree)[leaf]))
            is_correct = float(label == parts.rows.labels[row])
            found[row] = (is_correct, features(tree, leaf, label, len(parts.fold_of)), label)
    return found


def curve_over_leaves(tree, predicted, curve, n_rows):
    """Mean accuracy by the curve over the leaves of a tree, weighted by their growing rows."""
    total = mean = 0.0
    for leaf in tree.leaf_ids.tolist():
        n = float(tree.class_counts[leaf].sum())
        mean += n * curve(np.array([features(tree, leaf, int(predicted[leaf]), n_rows)]))[0]
        total += n
    return mean / total


def leaf_accuracy(tree, parts, trees, predictions, found, curve):
    """Half of the accuracy is the curve's, half how probable the fold trees make the class of the
    leaf for its own rows; all are shifted to the accuracy of the tree."""
    predicted = predictions(tree).argmax(axis=1)
    leaf_of_row = route(tree, parts.rows.table).heaviest()
    rates, sizes, n_rows = {}, {}, len(parts.fold_of)
    for leaf in tree.leaf_ids.tolist():
        base = curve(np.array([features(tree, leaf, int(predicted[leaf]), n_rows)]))[0]
        of_class = []
        for row, (_, of_fold_tree, label) in found.items():
            if leaf_of_row[row] == leaf:
                p = curve(np.array([of_fold_tree]))[0]
                others = (1 - p) / (parts.rows.n_classes - 1)
                of_class.append(p if label == predicted[leaf] else others)
        rates[leaf] = (base + np.mean(of_class)) / 2 if of_class else base
        sizes[leaf] = tree.class_counts[leaf].sum()
    total = sum(sizes.values())
    of_folds = sum(
        np.sum(parts.tested([fold]))
        * curve_over_leaves(each, predictions(each).argmax(axis=1), curve, n_rows)
        for fold, each in trees.items()
    ) / len(found)
    accuracy = np.mean([told[0] for told in found.values()])
    target = accuracy + curve_over_leaves(tree, predicted, curve, n_rows) - of_folds

    def miss(shift: float) -> float:
        stated = sum(sizes[leaf] * chance(odds(rates[leaf]) + shift) for leaf in rates) / total
        return stated - target

    shift = brentq(miss, -30, 30, xtol=1e-13)
    return {leaf: chance(odds(rate) + shift) for leaf, rate in rates.items()}
