"""Audit a fitted model: compare its predictions with labelled rows, per leaf or per bin."""

import json
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any, NotRequired, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import check_choice, check_count, check_level, read_labels
from sureleaf.auditing.model_output import ModelOutput, model_output
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.auditing.unseen_levels import probability_bins, unseen_levels
from sureleaf.errors import InvalidArgumentError, TrainingRowsWarning
from sureleaf.evaluation import Estimate
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.node_levels import levels_of_counts
from sureleaf.probability import predicted_class

__all__ = ["Audit", "AuditRecord", "AuditedBins", "AuditedLeaves", "AuditedTrees", "audit"]

FloatArray = NDArray[np.float64]

SCHEMA = "sureleaf-audit/1"

# ---- results -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AuditedLeaves(ColumnTable):
    """One row per leaf: what the model predicts there, and what the rows show.

    Parameters
    ----------
    tree : ndarray of int, or None
        Index of the tree in a forest; None for a single tree.
    leaf : ndarray of int
        Number of the leaf in its tree, as `apply` returns it.
    rule : ndarray of str, or None
        The tests on the path to the leaf; None for forests.
    n : ndarray of float64
        Rows in the leaf.
    counts : ndarray of float64, shape (n_leaves, n_classes)
        These rows by class.
    prediction : ndarray
        The class that the model predicts.
    stated : ndarray of float64
        The probability that the model predicts for this class.
    probability, low, high : ndarray of float64
        The proportion of this class among the rows, and the interval of its probability.
    agrees : ndarray of bool
        Whether `stated` is inside the interval.
    confidence : ndarray of float64
        Probability that the predicted class is the most probable class of the leaf.
    utility : ndarray of float64
        Probability that the next row of the leaf is predicted correctly.
    rows_needed : ndarray of float64
        Total number of rows in the leaf that reaches the wanted levels; NaN if no number does.
    flagged : ndarray of bool
        Leaves below the wanted levels, without rows, or with another class more frequent.
    """

    tree: NDArray[np.intp] | None
    leaf: NDArray[np.intp]
    rule: NDArray[np.object_] | None
    n: FloatArray
    counts: FloatArray
    prediction: NDArray[Any]
    stated: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedBins(ColumnTable):
    """One row per bin: rows with the same prediction and similar predicted probabilities.

    Parameters
    ----------
    prediction : ndarray
        The class that the model predicts.
    stated_from, stated_to, stated : ndarray of float64
        Smallest, largest and mean probability that the model predicts for this class.
    n : ndarray of float64
        Rows in the bin.
    counts, probability, low, high, agrees, confidence, utility, rows_needed, flagged : ndarray
        As in `AuditedLeaves`.
    """

    prediction: NDArray[Any]
    stated_from: FloatArray
    stated_to: FloatArray
    stated: FloatArray
    n: FloatArray
    counts: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedTrees(ColumnTable):
    """One row per tree of a forest or bag.

    Parameters
    ----------
    tree : ndarray of int
        Its index.
    leaves : ndarray of int
        Number of leaves.
    empty, flagged, outside : ndarray of int
        Number of leaves without rows, of flagged leaves, and of leaves whose predicted
        probability is outside the interval.
    stated : ndarray of float64
        Mean probability that the tree predicts for its predicted classes.
    confidence, utility : ndarray of float64
        Levels of the tree: the means over its leaves, weighted by their rows.
    """

    tree: NDArray[np.intp]
    leaves: NDArray[np.intp]
    empty: NDArray[np.intp]
    flagged: NDArray[np.intp]
    outside: NDArray[np.intp]
    stated: FloatArray
    confidence: FloatArray
    utility: FloatArray


class WantedRecord(TypedDict):
    """The wanted levels of an audit in JSON."""

    level: float
    confidence: float | None
    utility: float | None


class EstimateRecord(TypedDict):
    """A value with its interval in JSON."""

    value: float
    low: float
    high: float
    level: float
    method: str


class GroupRecord(TypedDict):
    """What a leaf and a bin have in common in JSON; attributes as in `AuditedLeaves`."""

    n: float
    counts: list[float]
    prediction: Any
    stated: float
    probability: float | None
    low: float
    high: float
    agrees: bool
    confidence: float
    utility: float
    rows_needed: int | None
    flagged: bool


class LeafRecord(GroupRecord):
    """A leaf of an audit in JSON; `tree` is null for a single tree."""

    tree: NotRequired[int | None]
    leaf: int
    rule: NotRequired[str | None]


class BinRecord(GroupRecord):
    """A bin of an audit in JSON."""

    stated_from: float
    stated_to: float


class TreeRecord(TypedDict):
    """A tree of a forest in JSON; attributes as in `AuditedTrees`."""

    tree: int
    leaves: int
    empty: int
    flagged: int
    outside: int
    stated: float
    confidence: float
    utility: float


Leaves = list[LeafRecord]
Trees = list[TreeRecord]


class AuditRecord(TypedDict):
    """An audit in JSON; `leaves`, `trees` and `bins` have one object per row of their table."""

    schema: str
    model: str
    rows: str
    n_rows: int
    classes: list[Any]
    level: float
    wanted: WantedRecord
    accuracy: EstimateRecord
    stated: float
    confidence: float
    utility: float
    leaves: Leaves | None
    trees: Trees | None
    bins: list[BinRecord]


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The result of `audit`.

    Parameters
    ----------
    model : str
        The model's class.
    rows : {"unseen", "training"}
        Whether the model was trained on the rows.
    n_rows : int
        Number of rows.
    classes : ndarray
        The model's classes, in the order of `counts`.
    level : float
        Level of the intervals.
    accuracy : Estimate
        Proportion of rows that are predicted correctly, with the interval of Clopper and Pearson.
    stated : float
        Mean probability of the predicted classes: the accuracy that the model expects.
    confidence, utility : float
        Means over the leaves of a single tree, or over the bins of another model, weighted by
        rows: the probability that the predicted class is the most probable one, and that the
        prediction is correct.
    leaves : AuditedLeaves or None
        The leaves of a tree, or of all trees of a forest or bag; None for other models.
    trees : AuditedTrees or None
        The trees of a forest or bag.
    bins : AuditedBins
        Rows by prediction and predicted probability.
    wanted_confidence, wanted_utility : float or None
        Leaves and bins below these levels are flagged.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> result = audit(model, [[i / 10] for i in range(50)], ["no"] * 25 + ["yes"] * 25)
    >>> round(result.utility, 3), result.leaves.rule.tolist()
    (0.98, ['x0 <= 2.5', 'x0 > 2.5'])
    """

    model: str
    rows: str
    n_rows: int
    classes: NDArray[Any]
    level: float
    accuracy: Estimate
    stated: float
    confidence: float
    utility: float
    leaves: AuditedLeaves | None
    trees: AuditedTrees | None
    bins: AuditedBins
    wanted_confidence: float | None = None
    wanted_utility: float | None = None

    @property
    def table(self) -> AuditedLeaves | AuditedBins:
        """The leaves of a single tree, the bins of any other model."""
        return self.bins if self.leaves is None or self.trees is not None else self.leaves

    @property
    def n_outside(self) -> int:
        """Number of rows of `table` whose predicted probability is outside the interval."""
        return int((~self.table.agrees).sum())

    def notes(self) -> list[str]:
        """Return remarks on the rows and on probabilities that do not agree with them."""
        notes = []
        if self.rows == "training":
            notes.append(
                "The model was trained on these rows, so accuracy and levels are too optimistic. "
                "Audit it with unseen rows."
            )
        n_with_rows = int((self.table.n > 0).sum())
        if n_with_rows:
            kind = "leaves" if self.table is self.leaves else "bins"
            expected = (1 - self.level) * n_with_rows
            notes.append(
                f"In {self.n_outside} of {n_with_rows} {kind} with rows, the predicted "
                f"probability is outside its {100 * self.level:g} % interval; by chance "
                f"alone at most {expected:.1f} are expected."
            )
        return notes

    def to_pandas(self) -> Any:
        """Return `table` as a pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Return `table` as a polars data frame."""
        return self.table.to_polars()

    def to_dict(self) -> AuditRecord:
        """Return the audit as plain values: numbers, text, lists and None.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from sureleaf import audit
        >>> model = DecisionTreeClassifier().fit([[1], [2]], ["no", "yes"])
        >>> audit(model, [[1], [3]], ["no", "yes"]).to_dict()["leaves"][0]["rule"]
        'x0 <= 1.5'
        """
        return {
            "schema": SCHEMA,
            "model": self.model,
            "rows": self.rows,
            "n_rows": self.n_rows,
            "classes": self.classes.tolist(),
            "level": self.level,
            "wanted": {
                "level": self.level,
                "confidence": self.wanted_confidence,
                "utility": self.wanted_utility,
            },
            "accuracy": cast(EstimateRecord, vars(self.accuracy)),
            "stated": self.stated,
            "confidence": self.confidence,
            "utility": self.utility,
            "leaves": None if self.leaves is None else cast(Leaves, self.leaves.records()),
            "trees": None if self.trees is None else cast(Trees, self.trees.records()),
            "bins": cast(list[BinRecord], self.bins.records()),
        }

    def to_json(self) -> str:
        """Return the audit as JSON text; NaN becomes null."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, default=str)

    def _summary(self) -> str:
        low, high = self.accuracy.low, self.accuracy.high
        return (
            f"{self.model} on {self.n_rows:,} {self.rows} rows: accuracy "
            f"{100 * self.accuracy.value:.1f} % ({100 * self.level:g} % interval {100 * low:.1f} "
            f"to {100 * high:.1f}), mean predicted probability {100 * self.stated:.1f} %, "
            f"confidence {self.confidence:.3f}, utility {self.utility:.3f}"
        )

    def __repr__(self) -> str:
        return "\n".join([self._summary(), repr(self.table), *self.notes()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return f"<p>{escape(self._summary())}</p>{self.table._repr_html_()}{notes}"


# ---- the audit -----------------------------------------------------------------------------------

_FEW_ROWS = 20
"""Fewer rows may fill the leaves like the training rows by chance."""


@dataclass(frozen=True)
class _Request:
    """Options of an audit that apply to every leaf or bin."""

    rows: str
    level: float
    confidence: float | None
    utility: float | None


def audit(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    rows: str = "unseen",
    level: float = 0.95,
    confidence: float | None = 0.95,
    utility: float | None = None,
    n_bins: int = 10,
    classes: ArrayLike | None = None,
) -> Audit:
    """Compare the predictions of a fitted model with labelled rows, per leaf or per bin.

    Parameters
    ----------
    model : fitted classifier
        Trees, forests, extra-trees and bagged trees of scikit-learn and of this library, alone, in
        a Pipeline or in a parameter search, are audited per leaf. LightGBM, XGBoost and all other
        models with `predict_proba` are audited per bin of predicted probabilities, because the
        leaves of boosters hold scores.
    X : array, sparse matrix, pandas, polars or Arrow table
        Rows. If the model has column names, columns are matched by name and others ignored.
    y : array_like
        Their labels.
    rows : {"unseen", "training"}
        Whether the model was trained on the rows. Levels from training rows are those of the
        theory for leaves that do not depend on the rows. They are too optimistic, and a warning
        says so.
    level : float
        Level of the intervals.
    confidence, utility : float or None
        Wanted levels, for `rows_needed` and `flagged`.
    n_bins : int
        Approximate number of bins of predicted probabilities.
    classes : array_like, optional
        Labels in the order of the model's probabilities, for boosters, which do not store them;
        0, 1, ... by default.

    Returns
    -------
    Audit
        `leaves`, `trees`, `bins` and totals. It prints as a table and has `to_pandas()`,
        `to_polars()`, `to_dict()` and `to_json()`.

    Raises
    ------
    InvalidTypeError
        If the model is not a classifier with probabilities.
    InvalidArgumentError
        If the model is not fitted, columns are missing, or y has unknown labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], y[::2])
    >>> result = audit(model, X[1::2], y[1::2])
    >>> result.leaves.counts.tolist()
    [[25.0, 0.0, 0.0], [0.0, 24.0, 3.0], [0.0, 1.0, 22.0]]
    >>> result.leaves.stated.round(3).tolist()
    [1.0, 0.96, 0.96]
    >>> round(result.utility, 3), result.leaves.agrees.tolist()
    (0.947, [True, True, True])
    """
    check_choice("rows", rows, ("unseen", "training"))
    request = _Request(
        rows,
        check_level(level),
        _check_proportion("confidence", confidence),
        _check_proportion("utility", utility),
    )
    check_count("n_bins", n_bins)
    output = model_output(model, X, classes)
    codes = _class_codes(y, output)
    if rows == "training":
        warnings.warn(
            "levels from training rows are too optimistic, because the model was fitted to these "
            "labels. Audit it with unseen rows.",
            TrainingRowsWarning,
            stacklevel=2,
        )
    leaves = _audit_leaves(output.trees, codes, output.classes, request) if output.trees else None
    if rows == "unseen" and leaves is not None and len(output.trees) == 1:
        _warn_of_training_rows(output.trees[0], leaves)
    bins = _audit_bins(output, codes, n_bins, request)
    n_correct = float((output.predicted == codes).sum())
    table = bins if leaves is None or len(output.trees) > 1 else leaves
    shares = table.n / table.n.sum()
    low, high = clopper_pearson(n_correct, len(codes), level=level)
    return Audit(
        model=output.name,
        rows=rows,
        n_rows=len(codes),
        classes=output.classes,
        level=request.level,
        accuracy=Estimate(n_correct / len(codes), low, high, level, "Clopper-Pearson"),
        stated=float(output.stated.mean()),
        confidence=float(shares @ table.confidence),
        utility=float(shares @ table.utility),
        leaves=leaves,
        trees=None if leaves is None or leaves.tree is None else _audit_trees(leaves, leaves.tree),
        bins=bins,
        wanted_confidence=request.confidence,
        wanted_utility=request.utility,
    )


def _check_proportion(name: str, value: float | None) -> float | None:
    if value is not None and not 0 <= value <= 1:
        raise InvalidArgumentError(f"{name} must be from 0 to 1, or None; got {value!r}.")
    return value


def _class_codes(y: ArrayLike, output: ModelOutput) -> NDArray[np.int64]:
    """Return the index of each label in the classes of the model."""
    labels = read_labels("y", y)
    if len(labels) != len(output.predicted):
        raise InvalidArgumentError(
            f"X and y must have the same number of rows; got {len(output.predicted)} and "
            f"{len(labels)}."
        )
    if not len(labels):
        raise InvalidArgumentError("X and y must have at least one row; got none.")
    code_of = {label: code for code, label in enumerate(output.classes.tolist())}
    codes = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if codes.min() < 0:
        row = int(np.argmin(codes))
        raise InvalidArgumentError(
            f"y must have labels of the model, {output.classes.tolist()[:12]}; got "
            f"{labels.tolist()[row]!r} in row {row}. Leave such rows out, spell the labels as the "
            "model does, or use classes= (--classes) to tell what its classes are called."
        )
    return codes


class _LevelColumns(TypedDict):
    """The columns that leaves and bins have in common."""

    n: FloatArray
    counts: FloatArray
    stated: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


def _level_columns(
    counts: FloatArray,
    predicted: NDArray[np.intp],
    stated: FloatArray,
    request: _Request,
    tree: NDArray[np.intp] | None = None,
) -> _LevelColumns:
    n = counts.sum(axis=1)
    if request.rows == "unseen":
        unseen = unseen_levels(counts, predicted, tree)
        low, high = unseen.interval(request.level)
        rows_needed = unseen.rows_needed(request.confidence, request.utility)
        probability, below = unseen.probability, unseen.below
        confidence, utility = unseen.confidence, unseen.utility
    else:
        theory = levels_of_counts(counts, n, np.eye(counts.shape[1])[predicted])
        low, high = theory.interval(request.level)
        rows_needed = theory.rows_needed(np.arange(len(n)), request.confidence, request.utility)
        probability, below = theory.probability, theory.below
        confidence, utility = theory.confidence, theory.utility
    flagged = below | (n <= 0)
    if request.confidence is not None:
        flagged |= confidence < request.confidence
    if request.utility is not None:
        flagged |= utility < request.utility
    rounding = 1e-9
    return {
        "n": n,
        "counts": counts,
        "stated": stated,
        "probability": probability,
        "low": low,
        "high": high,
        "agrees": (stated >= low - rounding) & (stated <= high + rounding),
        "confidence": confidence,
        "utility": utility,
        "rows_needed": rows_needed,
        "flagged": flagged,
    }


def _audit_leaves(
    trees: list[TreeLeaves], codes: NDArray[np.int64], classes: NDArray[Any], request: _Request
) -> AuditedLeaves:
    """Audit the leaves of all trees at once: leaves with equal counts share the computation."""
    counts = np.concatenate([tree.class_counts(codes, len(classes)) for tree in trees])
    probabilities = np.concatenate([tree.probabilities for tree in trees])
    predicted = np.concatenate(
        [
            predicted_class(tree.probabilities) if tree.predicted is None else tree.predicted
            for tree in trees
        ]
    )
    stated = probabilities[np.arange(len(predicted)), predicted]
    tree_index = np.repeat(np.arange(len(trees)), [len(tree.leaf) for tree in trees])
    return AuditedLeaves(
        tree=tree_index if len(trees) > 1 else None,
        leaf=np.concatenate([tree.leaf for tree in trees]),
        rule=trees[0].rule if len(trees) == 1 else None,
        prediction=classes[predicted],
        **_level_columns(counts, predicted, stated, request, tree_index),
    )


def _audit_bins(
    output: ModelOutput, codes: NDArray[np.int64], n_bins: int, request: _Request
) -> AuditedBins:
    bins = probability_bins(output.predicted, output.stated, n_bins)
    counts = bins.class_counts(codes, len(output.classes))
    return AuditedBins(
        prediction=output.classes[bins.predicted],
        stated_from=bins.stated_from,
        stated_to=bins.stated_to,
        **_level_columns(counts, bins.predicted, bins.stated, request),
    )


def _audit_trees(leaves: AuditedLeaves, tree: NDArray[np.intp]) -> AuditedTrees:
    n_rows = np.bincount(tree, leaves.n)

    def mean(values: FloatArray) -> FloatArray:
        return np.bincount(tree, leaves.n * values) / n_rows

    def count(condition: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.bincount(tree, condition).astype(np.intp)

    return AuditedTrees(
        tree=np.arange(len(n_rows)),
        leaves=np.bincount(tree),
        empty=count(leaves.n <= 0),
        flagged=count(leaves.flagged),
        outside=count(~leaves.agrees),
        stated=mean(leaves.stated),
        confidence=mean(leaves.confidence),
        utility=mean(leaves.utility),
    )


def _warn_of_training_rows(tree: TreeLeaves, leaves: AuditedLeaves) -> None:
    """Warn if every leaf has the same rows and class proportions as in training."""
    if len(tree.leaf) < 2 or not leaves.n.all() or leaves.n.sum() < _FEW_ROWS:
        return
    proportions = leaves.counts / leaves.n[:, np.newaxis]
    if np.allclose(leaves.n, tree.n_training) and np.allclose(proportions, tree.probabilities):
        warnings.warn(
            "every leaf has as many rows of each class as in training: these look like the "
            "training rows, whose levels are too optimistic. If they are, pass rows='training'; "
            "better, audit with unseen rows.",
            TrainingRowsWarning,
            stacklevel=3,
        )
