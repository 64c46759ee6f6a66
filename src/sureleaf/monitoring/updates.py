"""New rows counted in a fitted tree: the same leaves, more evidence.

Counts add. New rows did not grow the tree, so they are honest evidence about its leaves, and the
levels use them as such. What cross-fitting knows about a leaf is a Dirichlet distribution of its
class probabilities: the accuracy on unseen rows for the class that it predicts, the rest shared
among the other classes, worth as many rows as the accuracy is known by. New rows are multinomial
counts, so what is known then is the Dirichlet distribution with these counts added. The new
accuracy is its mean for the class that the leaf predicts now. This also holds for a leaf whose
class the new rows have changed: the distribution of what is known does not depend on which class is
asked about, and a decision that looks at the rows does not change it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators import TreeClassifier
from sureleaf.model.certificate import HeldOut
from sureleaf.model.seen_rows import seen_rows
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.tree import TrainingRows
from sureleaf.tree.routing import LeafCounts, add_to_parents, count_ends


def update(tree: TreeClassifier, X: Any, y: Any, sample_weight: Any = None) -> TreeClassifier:
    """Return the same tree with the class counts of new rows added.

    No test of the tree changes. Probabilities, the classes and decisions of the leaves, and all
    levels are those of all rows. ``sureleaf.diff(tree, updated)`` says what that changes.

    Parameters
    ----------
    tree : TreeClassifier
        A fitted tree. It is not changed.
    X, y, sample_weight
        New rows, as in ``fit``, with classes that the tree knows. They must have taken no part in
        its fit and in no earlier update: the tree recognises most rows that it has seen.

    Returns
    -------
    TreeClassifier
        It holds no rows, as after ``load``. The new rows certify it, if they have no weights:
        ``updated.certificate()``.

    Raises
    ------
    InvalidArgumentError
        If the tree has seen these rows, or must keep an order that new counts may break
        (``monotone``).

    Examples
    --------
    >>> import sureleaf
    >>> tree = sureleaf.TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> updated = sureleaf.update(tree, [[i - 0.5] for i in range(40)], [0] * 20 + [1] * 20)
    >>> updated.leaf_counts_.counts.tolist()
    [[40.0, 0.0], [0.0, 40.0]]
    """
    check_tree("tree", tree)
    if tree.monotone is not None:
        raise InvalidArgumentError(
            "tree must be one whose probabilities have no fixed order; got one with "
            f"monotone={tree.monotone!r}, which new counts may break. Fit it again on all rows."
        )
    model = tree.complete_model()
    weights = class_weighted(tree, y, sample_weight)
    rows = model.read_rows(X, y, weights, estimator="update")
    return TreeClassifier.around(updated_model(model, rows), tree)


def check_tree(name: str, tree: object) -> None:
    """Raise an error if this is not a single tree."""
    if not isinstance(tree, TreeClassifier):
        raise InvalidTypeError(
            f"{name} must be a fitted TreeClassifier; got a {type(tree).__name__}. Bagged trees "
            "have no leaves in common whose rows could be counted."
        )


def class_weighted(tree: TreeClassifier, y: Any, sample_weight: Any) -> Any:
    """Return the weights of rows with those of their classes."""
    if tree.class_weight is None:
        return sample_weight
    if not isinstance(tree.class_weight, Mapping):
        raise InvalidArgumentError(
            f"tree must have class weights that are given; got class_weight={tree.class_weight!r}, "
            "which follows from the rows of its fit. Fit it with a dict of weights, or with "
            "cost=, which weighs no rows."
        )
    weights = compute_sample_weight(dict(tree.class_weight), np.asarray(y))
    return weights if sample_weight is None else weights * np.asarray(sample_weight)


def updated_model(model: TreeModel, rows: TrainingRows) -> TreeModel:
    """Return a model with new rows counted, which it recognises from then on."""
    if not rows.total_weight > 0:
        raise InvalidArgumentError("X must have rows of positive weight; got none.")
    part = model.refuse_seen(rows)
    held_out = _held_out(
        model,
        rows,
        n_compared=0 if part is None else part[1].n_compared,
        n_equal=0 if part is None else part[1].n_equal,
        stated_new=part is None or not part[0].can_tell(part[1]),
    )
    known = seen_rows(rows)
    seen_later = model.seen_later if known is None else (*model.seen_later, known)
    return with_counts(replace(model, held_out=held_out, seen_later=seen_later), rows)


def with_counts(model: TreeModel, rows: TrainingRows) -> TreeModel:
    """Return a model with the counts and the evidence of rows that did not grow it."""
    counts, leaf_counts, effective = _count(model, rows)
    updated = replace(
        model,
        tree=replace(model.tree, class_counts=model.tree.class_counts + counts),
        leaf_counts=model.leaf_counts + leaf_counts,
    )
    return updated.with_evidence(_evidence(model, updated, effective))


def _count(model: TreeModel, rows: TrainingRows) -> tuple[FloatArray, LeafCounts, FloatArray]:
    """Count rows as predictions route them: in all nodes, in the leaves, and effective counts."""
    tree = model.tree
    ends, squares = count_ends(model.route(rows.table), rows)
    leaves, counts = tree.leaf_ids, add_to_parents(tree, ends)
    effective = counts
    if model.weights == "importance":
        total = counts.sum(axis=1)
        squares_of_nodes = add_to_parents(tree, squares[:, np.newaxis])[:, 0]
        share = np.divide(total, squares_of_nodes, out=np.zeros(len(total)), where=total > 0)
        effective = counts * share[:, np.newaxis]
    return counts, LeafCounts(leaves, ends[leaves], squares[leaves]), effective


def _held_out(model: TreeModel, rows: TrainingRows, **newness: Any) -> HeldOut:
    """Return the rows that can certify the updated tree: those of all updates, and honest ones.

    They have a part in the class that each leaf predicts, which the certificate allows for. Rows
    that were set aside by `certify` are left out: a certificate may have been read from them.
    """
    counts = model.end_counts(rows.table, rows.labels)
    problem = "" if rows.weights is None else "the rows of an update have weights."
    known = model.held_out
    if known is None or known.named_before:
        own = float(model.tree.class_counts[0].sum()) - model.evidence.n_updated
        n_grown = round(own) if known is None else known.n_grown
        return HeldOut(n_grown, counts, named_before=False, problem=problem, **newness)
    return replace(
        known,
        counts=known.counts + counts,
        problem=known.problem or problem,
        n_compared=known.n_compared + newness["n_compared"],
        n_equal=known.n_equal + newness["n_equal"],
        stated_new=known.stated_new or newness["stated_new"],
    )


def _evidence(model: TreeModel, updated: TreeModel, effective: FloatArray) -> Evidence:
    """Return the evidence of an updated model; honest and training levels follow from counts."""
    before = model.evidence
    n_updated = before.n_updated + float(effective[0].sum())
    if before.accuracy is None or before.strength is None:
        return replace(before, n_updated=n_updated)
    shares = model.node_levels().spread(before.accuracy, 1.0 - before.accuracy)
    now = updated.predicted_classes
    is_same = np.array_equal(now, model.predicted_classes)
    return replace(
        before,
        accuracy=posterior_accuracy(shares, before.strength, effective)[np.arange(len(now)), now],
        strength=before.strength + effective.sum(axis=1),
        confidence_error=None,
        stability=before.stability if is_same else None,
        n_updated=n_updated,
    )


def posterior_accuracy(shares: FloatArray, strength: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the probability of each class in each node, given what was known and new counts.

    What was known is a Dirichlet distribution with these shares as its mean, worth so many rows;
    counts are added to it.
    """
    total = strength + counts.sum(axis=1)
    return np.asarray((shares * strength[:, np.newaxis] + counts) / total[:, np.newaxis])
