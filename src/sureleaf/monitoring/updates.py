"""New rows for a fitted tree: count them in it, or grow a new one.

Counts add. New rows did not grow the tree, so they are honest evidence about its leaves, and the
levels use them as such. What cross-fitting knows about a leaf is a Dirichlet distribution of its
class probabilities: the accuracy on unseen rows for the class that it predicts, the rest shared
among the other classes, worth as many rows as the accuracy is known by. New rows are multinomial
counts, so what is known then is the Dirichlet distribution with these counts added. The new
accuracy is its mean for the class that the leaf predicts now. This also holds for a leaf whose
class the new rows have changed: the distribution of what is known does not depend on which class is
asked about, and a decision that looks at the rows does not change it.

Whether a tree that is grown anew would be better is judged on new rows that neither has seen. They
are divided into folds. For each fold, the kept tree is updated with the new rows of the other
folds, and a tree is grown anew, as the old one was, on the old rows (if they are given) and the
same new rows. Both predict the rows of the fold, which neither has seen. So each new row is a pair,
and the test is the one of two algorithms on the same folds (`sureleaf.compare`): its variance
allows for the luck of the rows that a tree grows on.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from sureleaf.arguments import FloatArray, check_count
from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, UnseenCategoryWarning
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation.designs import KFold
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.folds import fold_numbers
from sureleaf.formatting import TextDisplay, count_of
from sureleaf.model.certificate import HeldOut
from sureleaf.model.column_table import json_value
from sureleaf.model.seen_rows import EqualRows, SeenRows, seen_rows
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.table import EncodedTable, Schema, read_table
from sureleaf.table.frames import without_dictionaries
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
    if not rows.total_weight > 0:
        raise InvalidArgumentError("X must have rows of positive weight; got none.")
    held_out, known = _held_out(model, rows, model.refuse_seen(rows)), seen_rows(rows)
    seen_later = model.seen_later if known is None else (*model.seen_later, known)
    recognising = replace(model, held_out=held_out, seen_later=seen_later)
    return TreeClassifier.around(with_counts(recognising, rows), tree)


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


def with_counts(model: TreeModel, rows: TrainingRows) -> TreeModel:
    """Return a model with the counts and the evidence of rows that did not grow it."""
    tree, leaves = model.tree, model.tree.leaf_ids
    ends, squares = count_ends(model.route(rows.table), rows)  # as predictions route them
    counts = effective = add_to_parents(tree, ends)
    if model.weights == "importance":
        total = counts.sum(axis=1)
        squares_of_nodes = add_to_parents(tree, squares[:, np.newaxis])[:, 0]
        share = np.divide(total, squares_of_nodes, out=np.zeros(len(total)), where=total > 0)
        effective = counts * share[:, np.newaxis]
    updated = replace(
        model,
        tree=replace(tree, class_counts=tree.class_counts + counts),
        leaf_counts=model.leaf_counts + LeafCounts(leaves, ends[leaves], squares[leaves]),
    )
    return updated.with_evidence(_evidence(model, updated, effective))


def _held_out(
    model: TreeModel, rows: TrainingRows, compared: tuple[SeenRows, EqualRows] | None
) -> HeldOut:
    """Return the rows that can certify the updated tree: those of all updates, and honest ones.

    They have a part in the class that each leaf predicts, which the certificate allows for. Rows
    that were set aside by `certify` are left out: a certificate may have been read from them.
    """
    known, n_grown = model.held_out, model.tree.class_counts[0].sum() - model.evidence.n_updated
    seen, equal_rows = compared or (None, EqualRows())
    added = HeldOut(
        round(float(n_grown)) if known is None else known.n_grown,
        model.end_counts(rows.table, rows.labels),
        named_before=False,
        problem="" if rows.weights is None else "the rows of an update have weights.",
        n_compared=equal_rows.n_compared,
        n_equal=equal_rows.n_equal,
        stated_new=seen is None or not seen.can_tell(equal_rows),
    )
    if known is None or known.named_before:
        return added
    return replace(
        known,
        counts=known.counts + added.counts,
        problem=known.problem or added.problem,
        n_compared=known.n_compared + added.n_compared,
        n_equal=known.n_equal + added.n_equal,
        stated_new=known.stated_new or added.stated_new,
    )


def _evidence(model: TreeModel, updated: TreeModel, effective: FloatArray) -> Evidence:
    """Return the evidence of an updated model; honest and training levels follow from counts.

    What was known about a node is worth as many rows as its strength; new counts are added to it.
    """
    before = model.evidence
    n_updated = before.n_updated + float(effective[0].sum())
    if before.accuracy is None or before.strength is None:
        return replace(before, n_updated=n_updated)
    shares = model.node_levels().spread(before.accuracy, 1.0 - before.accuracy)
    strength = before.strength + effective.sum(axis=1)
    known = shares * before.strength[:, np.newaxis] + effective
    now = updated.predicted_classes
    return replace(
        before,
        accuracy=known[np.arange(len(now)), now] / strength,
        strength=strength,
        confidence_error=None,
        stability=before.stability if np.array_equal(now, model.predicted_classes) else None,
        n_updated=n_updated,
    )


# ---- keep, or grow anew --------------------------------------------------------------------------

KEPT, REGROWN = "the updated tree", "a tree that is grown anew"


@dataclass(frozen=True, repr=False)
class Regrowth(TextDisplay):
    """Whether to keep a tree or to grow it anew; it prints as sentences.

    - `verdict`: "keep" if a new tree is worse, or not better by more than the margin; "regrow" if
      it is better by more than the margin; else "undecided", and the tree that has been checked
      may stay.
    - `comparison`: the new tree compared with the updated one, on the new rows.
    - `n_old`, `n_new`: old rows (0 without them) and new rows.
    - `n_folds`: folds of the new rows.
    """

    verdict: Literal["keep", "regrow", "undecided"]
    comparison: Comparison
    n_old: int
    n_new: int
    n_folds: int

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        if self.verdict == "keep":
            return "Keep the tree and its new counts: a tree that is grown anew is not better."
        if self.verdict == "regrow":
            return "Grow it anew: a new tree is better than the updated one."
        return "These rows do not decide it: until more do, the tree that was checked may stay."

    @property
    def design(self) -> str:
        """What was compared, and on which rows."""
        on = f"the {count_of(self.n_old, 'old row')} and the other new rows"
        if not self.n_old:
            on = "the other new rows alone, because the old rows were not given"
        return (
            f"{count_of(self.n_new, 'new row')} in {self.n_folds} folds: each is predicted by the "
            f"tree that was updated with the other folds, and by a tree that was grown on {on}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "verdict": self.verdict,
            "headline": self.headline,
            "design": self.design,
            "n_old": self.n_old,
            "n_new": self.n_new,
            "comparison": json_value(self.comparison.to_dict()),
        }

    def __str__(self) -> str:
        return "\n".join([self.headline, self.design, self.comparison.sentence])

    __repr__ = __str__


def keep_or_regrow(  # noqa: PLR0913 - one question, named options
    tree: TreeClassifier,
    X: Any,
    y: Any,
    *,
    old_X: Any = None,
    old_y: Any = None,
    margin: float = 0.01,
    level: float = 0.95,
    n_folds: int = 10,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Regrowth:
    """Say whether to keep a tree, with its counts updated, or to grow a new one.

    Parameters
    ----------
    tree : TreeClassifier
        The tree before the update.
    X, y
        New rows, which the tree has not seen.
    old_X, old_y : optional
        The rows of its fit, without the new ones. Without them, a new tree grows on new rows only.
    margin : float
        By how much a new tree must be better: accuracy, or mean cost per row if the tree decides
        by costs.
    level : float
        The verdict is wrong with a probability of at most 1 - level.
    n_folds, n_jobs, random_state
        Folds of the new rows, threads of a fit, and the seed of the folds.

    Examples
    --------
    >>> import sureleaf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((600, 2))
    >>> y = X[:, 0] > 0.5
    >>> tree = sureleaf.TreeClassifier().fit(X[:200], y[:200])
    >>> found = keep_or_regrow(tree, X[200:], y[200:], old_X=X[:200], old_y=y[:200])
    >>> found.verdict
    'keep'
    """
    check_tree("tree", tree)
    check_count("n_folds", n_folds, least=2)
    model = tree.complete_model()
    weights = class_weighted(tree, y, None)
    rows = model.read_rows(X, y, weights, estimator="keep_or_regrow")
    model.refuse_seen(rows)
    n_new = len(rows.labels)
    if n_new < 2 * n_folds:
        raise InvalidArgumentError(
            f"X must have at least {2 * n_folds} rows, two per fold; got {n_new}. Wait for more."
        )
    if (old_X is None) != (old_y is None):
        alone = "old_y" if old_X is None else "old_X"
        raise InvalidArgumentError(f"old_X and old_y must be given together; got {alone} alone.")
    if old_X is not None:
        _check_old(model, rows, old_X, old_y)
    table, labels, n_old = _joined_table((X, y), old_X, old_y, model.schema)
    template = clone(tree).set_params(categorical_features="auto", n_jobs=n_jobs)
    if template.random_state is None:
        template.set_params(random_state=random_state)
    fold = fold_numbers(rows.labels, n_folds, seed=random_state)
    kept, regrown = np.empty((2, n_new), dtype=np.int64)
    facts = []
    for k in range(n_folds):
        test, rest = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        updated = with_counts(model, rows.with_weights(rows.row_weights * (fold != k)))
        kept[test] = updated.decide(updated.predict_proba(rows.table[test]))
        grown_on = np.concatenate([np.arange(n_old), n_old + rest])
        new = clone(template).fit(table[grown_on], labels[grown_on])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)  # a category of this fold alone
            regrown[test] = np.searchsorted(model.classes, new.predict(table[n_old + test]))
        # The old rows do not count: the question is about this tree, so they are given, and the
        # luck that the variance allows for is that of the new rows, which the folds divide.
        facts.append(SplitFacts(0, k, len(rest), len(test)))
    order = np.argsort(fold, kind="stable")
    evaluations = [
        Evaluation(
            estimator=name,
            design=KFold(n_folds),
            seed=random_state,
            classes=model.classes,
            positive_code=len(model.classes) - 1,
            truth=rows.labels.astype(np.int64),
            weights=None,
            groups=None,
            cost_matrix=model.cost,
            splits=tuple(facts),
            row=order,
            split=fold[order].astype(np.int64),
            prediction=codes[order],
            probabilities=None,
        )
        for name, codes in ((REGROWN, regrown), (KEPT, kept))
    ]
    measure = "accuracy" if model.cost is None else "cost"
    found = compare(*evaluations, measure=measure, margin=margin, level=level)
    verdicts: dict[str, Literal["keep", "regrow", "undecided"]] = {
        "better": "regrow",
        "worse": "keep",
        "equivalent": "keep",
    }
    return Regrowth(verdicts.get(found.verdict, "undecided"), found, n_old, n_new, n_folds)


def _check_old(model: TreeModel, rows: TrainingRows, old_X: Any, old_y: Any) -> None:
    """Raise an error if the old rows are the new ones, too."""
    known = seen_rows(model.read_rows(old_X, old_y, estimator="keep_or_regrow"))
    if known is not None and not known.is_chance(equal_rows := known.compare(rows)):
        raise InvalidArgumentError(
            "old_X must not have the new rows, because a tree that has grown on a row predicts it "
            f"too well; {equal_rows.n_equal:,} of the {equal_rows.n_compared:,} new rows that can "
            "be compared are in it. Give the rows of the fit alone."
        )


def _joined_table(
    new: tuple[Any, Any], old_X: Any, old_y: Any, schema: Schema
) -> tuple[EncodedTable, NDArray[Any], int]:
    """Return the old and the new rows as one table, their labels, and the number of old rows."""
    joined, labels, n_old = _columns(new[0], schema), np.asarray(new[1]), 0
    if old_X is not None:
        labels = np.concatenate([np.asarray(old_y), labels])
        n_old = len(labels) - len(new[1])
        joined = _join(_columns(old_X, schema), joined)
    kinds = {
        k: list(one.categories) if one.kind == "ordered" else one.kind
        for k, one in enumerate(schema)
    }
    return read_table(joined, categorical_features=kinds, estimator="keep_or_regrow"), labels, n_old


def _columns(X: Any, schema: Schema) -> Any:
    """Return the columns that the tree knows, by name where it knows names."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not schema.named or not isinstance(frame, nw.DataFrame):
        return X
    return frame.select(*schema.names).to_native()


def _join(old: Any, new: Any) -> Any:
    """Put two tables of the same columns one below the other."""
    frames = [nw.from_native(one, eager_only=True, pass_through=True) for one in (old, new)]
    if not all(isinstance(one, nw.DataFrame) for one in frames):
        return [*(list(row) for row in old), *(list(row) for row in new)]
    if all(one.implementation.is_pandas() for one in frames):
        return nw.concat(frames, how="vertical").to_native()  # converts types by itself
    # Columns of two files may differ in their type: whole numbers in one, fractions in another.
    tables = [without_dictionaries(one.to_arrow()) for one in frames]
    return pa.concat_tables(tables, promote_options="permissive")
