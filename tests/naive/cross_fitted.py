"""Out-of-fold predictions, row by row and fold by fold, and the accuracy of leaves."""

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


def features(tree: Tree, node: int, label: int) -> list[float]:
    return [
        odds(min(max(shrunk(tree, node, label, strength), 1e-4), 1 - 1e-4))
        for strength in (1.0, 30.0)
    ]


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


def correct_and_features(rows, fold_of, build, predictions):
    """For each row: is the tree without its fold correct, by which leaf, and what does it name?"""
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    found = {}
    for row in range(len(rows.labels)):
        if fold_of[row] < 0 or weights[row] == 0:
            continue
        tree = build(rows.with_weights(np.where(fold_of == fold_of[row], 0.0, weights)))
        leaf = leaf_of(tree, rows.table, row)
        label = int(np.argmax(predictions(tree)[leaf]))
        found[row] = (float(label == rows.labels[row]), features(tree, leaf, label), leaf, label)
    return found


def curve_over_leaves(tree, predicted, curve):
    """Mean accuracy by the curve over the leaves of a tree, weighted by their growing rows."""
    total = mean = 0.0
    for leaf in tree.leaf_ids.tolist():
        n = float(tree.class_counts[leaf].sum())
        mean += n * curve(np.array([features(tree, leaf, int(predicted[leaf]))]))[0]
        total += n
    return mean / total


def tree_shift(rows, fold_of, build, predictions, tree, curve):
    """What the leaves of the tree have over those of the trees of the folds, by the curve."""
    of_folds = tested = 0.0
    for fold in sorted(set(fold_of.tolist()) - {-1}):
        part = build(rows.with_weights((fold_of != fold).astype(float)))
        n = float((fold_of == fold).sum())
        of_folds += n * curve_over_leaves(part, predictions(part).argmax(axis=1), curve)
        tested += n
    return curve_over_leaves(tree, predictions(tree).argmax(axis=1), curve) - of_folds / tested


def leaf_accuracy(tree, rows, predicted, found, curve, target):
    """Accuracy of the leaves: of the curve and the leaf's own rows that fold trees predict as its
    class, averaged with the probability that these trees give the class for all rows of the leaf,
    and shifted to the target.

    The part of this probability is a half, and more in leaves of few rows."""
    leaf_of_row = route(tree, rows.table).heaviest()
    rates, sizes = {}, {}
    for leaf in tree.leaf_ids.tolist():
        own = [told for row, told in found.items() if leaf_of_row[row] == leaf]
        base = curve(np.array([features(tree, leaf, int(predicted[leaf]))]))[0]
        agreeing = [told[0] for told in own if told[3] == predicted[leaf]]
        rates[leaf] = (sum(agreeing) + 400 * base) / (len(agreeing) + 400)
        of_class = []
        for _, of_fold_tree, _, label in own:
            is_correct = curve(np.array([of_fold_tree]))[0]
            others = (1 - is_correct) / (rows.n_classes - 1)
            of_class.append(is_correct if label == predicted[leaf] else others)
        if own:
            part = 0.5 + 0.5 * 15 / (len(own) + 15)
            rates[leaf] = (1 - part) * rates[leaf] + part * np.mean(of_class)
        sizes[leaf] = tree.class_counts[leaf].sum()
    total = sum(sizes.values())

    def miss(shift: float) -> float:
        stated = sum(sizes[leaf] * chance(odds(rates[leaf]) + shift) for leaf in rates) / total
        return stated - target

    shift = brentq(miss, -30, 30, xtol=1e-13)
    return {leaf: chance(odds(rate) + shift) for leaf, rate in rates.items()}
