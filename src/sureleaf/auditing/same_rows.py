"""Compare two fitted trees on the same rows; trees that have not seen a row predict it."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sureleaf.arguments import IntArray
from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation.designs import Design, Split
from sureleaf.evaluation.evaluator import DEFAULT_DESIGN, evaluate
from sureleaf.formatting import count_of, listed
from sureleaf.model.seen_rows import EqualRows, telling_part
from sureleaf.table import EncodedTable
from sureleaf.tree import TrainingRows, count_nodes


@dataclass(frozen=True)
class _EveryRow(Design):
    """Test every row and train on none, for models that are fitted already."""

    resample: str = "none"
    kind: ClassVar[str] = "holdout"

    def n_splits_of(self, n_units: int) -> int:
        return 1

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        rows = np.arange(len(classes))
        yield Split(rows[:0], rows, 0, 0)


def compare_trees(  # noqa: PLR0913 - one question, named options
    new: TreeClassifier,
    old: TreeClassifier,
    X: Any,
    y: ArrayLike,
    *,
    measure: str = "accuracy",
    margin: float = 0.0,
    level: float = 0.95,
    cost: ArrayLike | None = None,
    positive: object = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    design: Design = DEFAULT_DESIGN,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Test whether a new tree predicts the same rows better than an old one, in pairs.

    A tree that has not seen the rows predicts them as it is; it recognises rows of its fit by their
    fingerprints. For a tree that was grown on them, trees predict that are grown like it on the
    other folds of the design. If neither has seen them, the test is that of two models on one test
    set. A tree that was grown on some of the rows, or on these and others, is an error.
    """
    labels = np.asarray(y)
    trees = {"the new tree": new, "the old tree": old}
    for name, tree in trees.items():
        _check_classes(name, tree, labels)
    relations = {
        name: _relation(name, tree, X, labels, sample_weight) for name, tree in trees.items()
    }
    grew, unknown = (
        [name for name, relation in relations.items() if relation == wanted]
        for wanted in ("grew it", "unknown")
    )
    pair = [
        evaluate(
            clone(tree) if name in grew else FrozenEstimator(tree),
            encoded_rows(tree, X),
            labels,
            design=design if grew else _EveryRow(),
            positive=positive,
            cost=cost,
            groups=groups,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
            random_state=seed,
            name=name,
        )
        for name, tree in trees.items()
    ]
    found = compare(*pair, measure=measure, margin=margin, level=level)
    notes = ""
    if grew:
        notes += (
            f" These rows grew {listed(grew)}, so each row is predicted by a tree that was grown "
            "in the same way without it."
        )
    if unknown:
        notes += (
            f" Whether these rows grew {listed(unknown)} cannot be told by fingerprints; they are "
            "taken to be new to it."
        )
    return replace(found, sentence=found.sentence + notes)


def _check_classes(name: str, tree: TreeClassifier, labels: Any) -> None:
    own, given = set(tree.classes_.tolist()), set(labels.tolist())
    if own != given:
        known, got = (", ".join(sorted(map(str, each))[:8]) for each in (own, given))
        raise InvalidArgumentError(
            f"y must have the classes of {name}, {known}; got {got}. Give rows of all of them."
        )


def encoded_rows(tree: TreeClassifier, X: Any) -> EncodedTable:
    """Return the rows as the tree reads them; it ignores columns that it does not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        warnings.simplefilter("ignore", UserWarning)
        return tree.model_.encode(X)


Relation = Literal["grew it", "new", "unknown"]
"""What rows are to a tree."""


def _relation(
    name: str, tree: TreeClassifier, X: Any, labels: Any, weights: ArrayLike | None
) -> Relation:
    """Say whether the rows grew the tree; an error if only some of them, or other rows too, did."""
    model = tree.recognising_model()
    codes = np.searchsorted(model.classes, labels).astype(np.int32)
    used = None if weights is None else np.asarray(weights, dtype=np.float64)
    rows = TrainingRows(encoded_rows(tree, X), codes, len(model.classes), used)
    parts = model.compare_seen(rows)
    seen, equal = telling_part(parts) if parts else (None, EqualRows())
    if seen is None or not seen.can_tell(equal):
        same_counts = np.array_equal(count_nodes(model.tree, rows), model.tree.class_counts)
        return "grew it" if same_counts else "unknown"
    if seen.is_chance(equal):
        return "new"
    n_grown = round(float(model.tree.class_counts[0].sum()))
    got = ""
    if equal.n_equal < equal.n_compared:
        got = f"{equal.n_equal:,} of {equal.n_compared:,} rows that can be compared"
    elif n_grown > len(labels):
        got = f"{len(labels):,} of its {n_grown:,} rows"
    elif seen is not model.seen:
        got = f"{count_of(len(labels), 'row')}"
    if got:
        raise InvalidArgumentError(
            f"X and y must be rows that {name} has not seen, or exactly those that it was "
            f"grown on; got {got} that it was grown on or updated with. Give rows that are new to "
            "both trees."
        )
    return "grew it"
