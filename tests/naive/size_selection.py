"""The cross-validated loss of every size of a tree, pruned and predicted one size at a time."""

import numpy as np

from sureleaf.model.size_selection import family_alphas
from sureleaf.tree import cut, mixture


def curve(tree, rows, fold_of, grow_part, estimate, rule=None):
    """Penalties, leaves, error (or cost) and log loss of the family, from large to the root."""

    def pruned(tree, alpha):
        return cut(tree, np.maximum(family_alphas(tree, rule), 0.0) <= alpha)

    alphas = np.maximum(family_alphas(tree, rule)[~tree.is_leaf], 0.0)
    alphas = np.unique(np.concatenate(([0.0], alphas)))
    candidates = [*np.sqrt(alphas[:-1] * alphas[1:]), np.finfo(float).max]

    def grow_at(alpha):
        return lambda part: pruned(grow_part(part), alpha)

    tests = [losses(rows, fold_of, grow_at(alpha), estimate, rule) for alpha in candidates]
    error, log_loss = np.array(tests).T
    sizes = [pruned(tree, alpha).n_leaves for alpha in candidates]
    return np.array(candidates), np.array(sizes), error, log_loss


def losses(rows, fold_of, grow, estimate, rule=None):
    """Error (or cost) and log loss of trees that grow on the other folds."""
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    costs = 1.0 - np.eye(rows.n_classes)
    if rule is not None:  # wrong decisions cost 1 per row on average
        shares = np.bincount(rows.labels, weights, rows.n_classes) / weights.sum()
        costs = rule.regret / (shares @ rule.regret.sum(axis=1) / (rows.n_classes - 1))
    paid = lost = total = 0.0
    for fold in np.unique(fold_of[fold_of >= 0]):
        is_test = fold_of == fold
        small = grow(rows.with_weights(np.where(is_test, 0.0, weights)))
        p = mixture(small, rows.table, estimate(small, small.class_counts))
        heavy = np.ones(rows.n_classes)
        if rule is not None:  # rows count by the mean cost of errors on their class
            counts = small.class_counts[0]
            heavy = rule.regret.sum(axis=1)
            heavy = heavy * counts.sum() / (counts @ heavy)
        q = p * heavy / (p @ heavy)[:, np.newaxis]
        for row in np.flatnonzero(is_test & (weights > 0)):
            decision = int((p[row] @ costs).argmin())
            paid += weights[row] * costs[rows.labels[row], decision]
            label = rows.labels[row]
            lost -= weights[row] * heavy[label] * np.log(max(q[row, label], 1e-15))
            total += weights[row]
    return paid / total, lost / total
