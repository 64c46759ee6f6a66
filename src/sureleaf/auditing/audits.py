"""Audit a fitted model: compare its predictions with labelled rows, per leaf or per bin."""

import json
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, NotRequired, TypedDict, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    check_choice,
    check_count,
    check_groups,
    check_level,
    check_weights,
    read_labels,
)
from sureleaf.auditing.model_output import ModelOutput, model_output
from sureleaf.auditing.remarks import looks_like_training, rows_of_the_fit, seems_swapped
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.auditing.unseen_levels import probability_bins, unseen_levels
from sureleaf.auditing.where import (
    AuditedRows,
    Subgroups,
    Where,
    find_segments,
    subgroup_table,
)
from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError, TrainingRowsWarning
from sureleaf.evaluation import Estimate, Evaluation, Holdout
from sureleaf.evaluation.evaluation import SplitFacts
from sureleaf.evaluation.labelled_table import positive_class
from sureleaf.evaluation.measures import calibration_line
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.formatting import percent
from sureleaf.levels.decisions import CostRule, predicted_class
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.node_levels import levels_of_counts
from sureleaf.scale import Roles, SourceColumns, is_source, open_source, plan_columns

__all__ = [
    "Audit",
    "AuditRecord",
    "AuditedBins",
    "AuditedLeaves",
    "AuditedMeasures",
    "AuditedTrees",
    "audit",
]

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
        Probability that the predicted class is the most probable class of the leaf; of a tree with
        costs, that its decision is the cheapest one.
    utility : ndarray of float64
        Probability that the next row of the leaf is predicted correctly.
    rows_needed : ndarray of float64
        Total number of rows in the leaf that reaches the wanted levels; NaN if no number does.
    flagged : ndarray of bool
        Leaves below the wanted levels, without rows, or with another class more frequent.
    effective : ndarray of float64, or None
        Rows with weights or in groups: as many independent rows of equal weight tell as much.
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
    effective: FloatArray | None = None


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
    effective : ndarray or None
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
    effective: FloatArray | None = None


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


@dataclass(frozen=True, eq=False, repr=False)
class AuditedMeasures(ColumnTable):
    """One row per measure of the whole model on these rows.

    Parameters
    ----------
    measure : ndarray of str
        accuracy, auc, nce (log loss), quadratic_loss (Brier score, summed over the classes),
        calibration_intercept, calibration_slope, and cost if costs were given.
    value, low, high : ndarray of float64
        The value and its interval; NaN where the measure is not defined.
    method : ndarray of str
        How the interval was computed, or why there is none.
    """

    measure: NDArray[np.object_]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    method: NDArray[np.object_]


class MeasureRecord(TypedDict):
    """A measure of an audit in JSON; null where it is not defined."""

    measure: str
    value: float | None
    low: float | None
    high: float | None
    method: str


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
    effective: NotRequired[float]


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
    effective_rows: float | None
    accuracy: EstimateRecord
    stated: float
    confidence: float
    utility: float
    measures: list[MeasureRecord]
    remarks: list[str]
    looks_seen: bool
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
    remarks : tuple of str
        What does not fit: rows that look like training rows, classes that seem swapped.
    looks_seen : bool
        Whether rows that were given as unseen look like training rows.
    effective_rows : float or None
        Of rows with weights or in groups: as many independent rows of equal weight tell as much.
    audited : AuditedRows
        The rows, for `where`, `by` and `compare`.

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
    audited: AuditedRows
    wanted_confidence: float | None = None
    wanted_utility: float | None = None
    remarks: tuple[str, ...] = ()
    looks_seen: bool = False
    effective_rows: float | None = None

    @property
    def rows_in_words(self) -> str:
        """The kind of the rows: "unseen rows", "training rows", or "rows" if that is in doubt."""
        return "rows" if self.looks_seen else f"{self.rows} rows"

    @cached_property
    def measures(self) -> AuditedMeasures:
        """Accuracy, AUC, log loss, Brier score, calibration intercept and slope, and cost."""
        return _measures(self.evaluation, self.audited, self.accuracy)

    @property
    def evaluation(self) -> Evaluation:
        """The predictions for the rows as an evaluation of this model, for every other measure."""
        return _evaluation(self.model, self.audited)

    def where(
        self,
        of: str = "calibration",
        *,
        positive: object = None,
        level: float | None = None,
        random_state: int = 0,
    ) -> Where:
        """Find segments of the rows in which the model is wrong.

        All segments of one or two conditions on the columns of X, with at least 2 % of the rows,
        are looked at. P-values and intervals are corrected for that: in rows for which the
        probabilities of the model are true, any segment is found with a probability of at most 5 %
        (1 - level).

        Parameters
        ----------
        of : {"calibration", "accuracy", "cost"}
            Where stated probabilities are off, where accuracy is lower than elsewhere, or where
            costs are higher (needs ``audit(..., cost=)``).
        positive : label, optional
            The class whose probability is compared; by default that of the audit.
        level : float, optional
            By default that of the audit.
        random_state : int
            Seed of the simulated rows that p-values come from.

        Returns
        -------
        Where
            `found`, `open` and `detectable`; it prints as sentences.

        Examples
        --------
        >>> from sklearn.dummy import DummyClassifier
        >>> from sureleaf import audit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(1000, 2))
        >>> model = DummyClassifier().fit(X, [False, True] * 500)
        >>> y = rng.uniform(size=1000) < np.where(X[:, 1] > 0.8, 0.2, 0.5)
        >>> found = audit(model, X, y).where().found
        >>> found.rule.tolist(), found.stated.tolist()
        (['x1 > 0.796'], [0.5])
        """
        return find_segments(
            self.audited,
            of,
            positive=positive,
            level=self.level if level is None else level,
            seed=random_state,
        )

    def by(
        self,
        *columns: str,
        of: str = "calibration",
        positive: object = None,
        level: float | None = None,
    ) -> Subgroups:
        """Compare the model with the rows of each value, or range, of named columns.

        Parameters
        ----------
        *columns : str
            Columns of X. A column of numbers with more than eight values is divided into four
            ranges of about equal size.
        of, positive, level
            As for `where`. P-values are corrected for the number of subgroups (Holm), and the
            intervals hold for all of them at once.

        Returns
        -------
        Subgroups

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sureleaf import audit
        >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
        >>> result = audit(model, [[1], [2], [3], [4]] * 5, ["no", "no", "yes", "no"] * 5)
        >>> result.by("x0").found.tolist()
        [False, False, False, True]
        """
        chosen = self.level if level is None else level
        return subgroup_table(self.audited, columns, of, positive=positive, level=chosen)

    def compare(
        self, other: "Audit", *, measure: str = "accuracy", margin: float = 0.0
    ) -> Comparison:
        """Compare this model with another one that was audited on the same rows.

        Parameters
        ----------
        other : Audit
            Of the other model, with the same rows, weights, groups and costs.
        measure : str
            As for `sureleaf.compare`.
        margin : float
            The largest difference that does not matter.

        Returns
        -------
        Comparison
            Difference, interval, p-value and verdict of a test for paired rows.
        """
        return compare(
            self.evaluation, other.evaluation, measure=measure, margin=margin, level=self.level
        )

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
        notes += self.remarks
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
            "effective_rows": self.effective_rows,
            "accuracy": cast(EstimateRecord, vars(self.accuracy)),
            "stated": self.stated,
            "confidence": self.confidence,
            "utility": self.utility,
            "measures": cast(list[MeasureRecord], self.measures.records()),
            "remarks": list(self.remarks),
            "looks_seen": self.looks_seen,
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
            f"{self.model} on {self.n_rows:,} {self.rows_in_words}: accuracy "
            f"{percent(self.accuracy.value)} ({100 * self.level:g} % interval {100 * low:.1f} "
            f"to {100 * high:.1f}), mean predicted probability {percent(self.stated)}, "
            f"confidence {self.confidence:.3f}, utility {self.utility:.3f}"
        )

    def __repr__(self) -> str:
        return "\n".join([self._summary(), repr(self.measures), repr(self.table), *self.notes()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        tables = self.measures._repr_html_() + self.table._repr_html_()
        return f"<p>{escape(self._summary())}</p>{tables}{notes}"


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
    y: ArrayLike | str,
    *,
    rows: str = "unseen",
    level: float = 0.95,
    confidence: float | None = 0.95,
    utility: float | None = None,
    n_bins: int = 10,
    classes: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | str | None = None,
    groups: ArrayLike | str | None = None,
    positive: object = None,
) -> Audit:
    """Compare the predictions of a fitted model with labelled rows, per leaf or per bin.

    Parameters
    ----------
    model : fitted classifier
        Trees, forests, extra-trees and bagged trees of scikit-learn and of this library, alone, in
        a Pipeline or in a parameter search, are audited per leaf. LightGBM, XGBoost and all other
        models with `predict_proba` are audited per bin of predicted probabilities, because the
        leaves of boosters hold scores.
    X : array, sparse matrix, pandas, polars or Arrow table, or a source of batches
        Rows. If the model has column names, columns are matched by name and others ignored. A
        folder, a file or another source of batches (docs/scale.md) is read batch by batch; y,
        sample_weight and groups are then names of columns, and `where` needs a table in memory.
    y : array_like or str
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
    cost : array_like of shape (n_classes, n_classes), optional
        ``cost[actual][predicted]``, classes in sorted order, for the mean cost per row; by default
        the costs by which a model of this library decides.
    sample_weight : array_like, optional
        How important each row is. Intervals and levels use the effective rows, (Σw)² / Σw².
    groups : array_like, optional
        The group of each row, if rows of a group are not independent, such as all rows of a person.
        Intervals and levels then count groups.
    positive : label, optional
        The class that calibration, and with it `where` and `by`, is about; by default the second
        of two classes, and with more classes the predicted one.

    Returns
    -------
    Audit
        `leaves`, `trees`, `bins`, `measures` and totals. It prints as a table and has `where()`,
        `by()`, `compare()`, `to_pandas()`, `to_polars()`, `to_dict()` and `to_json()`.

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
    if is_source(X) and isinstance(y, str):
        X, output, codes, sample_weight, groups, n_unlabelled = _read_batches(
            model, X, y, sample_weight, groups, classes
        )
    else:
        output, n_unlabelled = model_output(model, X, classes), 0
        codes = _class_codes(y, output)
    if cost is None and output.costs is not None:
        cost = output.costs.cost
    audited = _audited_rows(X, output, codes, cost, sample_weight, groups)
    if positive is not None:
        positive_class(positive, output.classes)
    audited = replace(audited, n_unlabelled=n_unlabelled, positive=positive)
    if rows == "training":
        warnings.warn(
            "levels from training rows are too optimistic, because the model was fitted to these "
            "labels. Audit it with unseen rows.",
            TrainingRowsWarning,
            stacklevel=2,
        )
    leaves = _audit_leaves(output, audited, request) if output.trees else None
    remarks, looks_seen = _remarks(output, audited, leaves, rows, model, named=classes is not None)
    bins = _audit_bins(output, audited, n_bins, request)
    accuracy = _estimate(_evaluation(output.name, audited), "accuracy", request.level)
    table = bins if leaves is None or len(output.trees) > 1 else leaves
    shares = table.n / table.n.sum()
    has_units = audited.weights is not None or audited.groups is not None
    return Audit(
        model=output.name,
        rows=rows,
        n_rows=len(codes),
        classes=output.classes,
        level=request.level,
        accuracy=accuracy,
        stated=float(np.average(output.stated, weights=audited.weights)),
        confidence=float(shares @ table.confidence),
        utility=float(shares @ table.utility),
        leaves=leaves,
        trees=None if leaves is None or leaves.tree is None else _audit_trees(leaves, leaves.tree),
        bins=bins,
        audited=audited,
        wanted_confidence=request.confidence,
        wanted_utility=request.utility,
        remarks=tuple(remarks),
        looks_seen=looks_seen,
        effective_rows=_effective_rows(audited) if has_units else None,
    )


def _read_batches(
    model: Any, X: Any, y: str, sample_weight: Any, groups: Any, classes: ArrayLike | None
) -> tuple[SourceColumns, ModelOutput, NDArray[np.int64], Any, Any, int]:
    """Predict a table batch by batch; what the model says about each row stays in memory."""
    for name, given in (("sample_weight", sample_weight), ("groups", groups)):
        if given is not None and not isinstance(given, str):
            raise InvalidArgumentError(
                f"{name} must be the name of a column if the table is read in batches; got "
                f"{type(given).__name__}."
            )
    source = open_source(X)
    roles = Roles(y, sample_weight, groups, source.drop, source.skips_unlabelled)
    columns = SourceColumns(source, plan_columns(source.parts, roles))
    outputs, codes, weights, group_labels = [], [], [], []
    n_unlabelled = 0
    for batch in columns.batches():
        n_unlabelled += batch.n_unlabelled
        if not batch.features.num_rows:
            continue
        outputs.append(model_output(model, batch.features, classes))
        codes.append(_class_codes(batch.labels, outputs[-1]))
        weights.append(batch.weights)
        if groups is not None:
            group_labels.append(np.asarray(batch.groups.to_numpy()))
    if not outputs:
        raise InvalidArgumentError(f"{source.name} must have at least one row; got none.")
    return (
        columns,
        ModelOutput.join(outputs),
        np.concatenate(codes),
        None if sample_weight is None else np.concatenate([w for w in weights if w is not None]),
        None if groups is None else np.concatenate(group_labels),
        n_unlabelled,
    )


def _audited_rows(
    X: Any,
    output: ModelOutput,
    codes: NDArray[np.int64],
    cost: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> AuditedRows:
    """Check costs, weights and groups, and keep them with the rows."""
    n_classes = len(output.classes)
    matrix = None if cost is None else check_cost(cost, n_classes)
    if matrix is not None and matrix.shape != (n_classes, n_classes):
        raise InvalidArgumentError(
            f"cost must be one matrix cost[actual][predicted] of shape ({n_classes}, {n_classes}); "
            f"got shape {matrix.shape}."
        )
    if matrix is not None:  # from sorted classes to the order of the model
        position = np.argsort(_sorted_order(output.classes))
        matrix = matrix[np.ix_(position, position)]
    weights = check_weights(sample_weight, len(codes), ones_as_none=True)
    labels = check_groups(groups, len(codes))
    return AuditedRows(
        X,
        output.classes,
        codes,
        output.predicted,
        output.probabilities,
        None if weights is None else weights / weights.mean(),
        None if labels is None else np.unique(labels, return_inverse=True)[1].astype(np.int64),
        matrix,
    )


def _sorted_order(classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices that sort the classes."""
    labels = classes.tolist()
    return np.array(sorted(range(len(labels)), key=lambda code: labels[code]), dtype=np.intp)


def _effective_rows(audited: AuditedRows) -> float:
    one = np.ones((len(audited.codes), 1))
    return float(_effective_of(sp.csr_array(one), audited)[0])


def _effective_of(shares: sp.csr_array, audited: AuditedRows) -> FloatArray:
    """Return (ΣW)² / ΣW² of the units of each leaf or bin: rows, or groups with all their rows.

    Rows of a group count as one observation, as if they were all equal.
    """
    weights = np.ones(len(audited.codes)) if audited.weights is None else audited.weights
    weighted = shares.multiply(weights[:, np.newaxis]).tocsr()
    if audited.groups is None:
        squares = np.asarray(shares.multiply(weights[:, np.newaxis] ** 2).sum(axis=0)).ravel()
    else:
        n_rows = len(weights)
        to_groups = sp.csr_array((np.ones(n_rows), (audited.groups, np.arange(n_rows))))
        squares = np.asarray((to_groups @ weighted).power(2).sum(axis=0)).ravel()
    total = np.asarray(weighted.sum(axis=0)).ravel()
    effective = np.zeros(len(total))
    np.divide(total**2, squares, out=effective, where=squares > 0)
    return effective


def _evaluation(name: str, audited: AuditedRows) -> Evaluation:
    """Return the predictions as an evaluation with one test set, classes in sorted order."""
    order = _sorted_order(audited.classes)
    position = np.argsort(order)
    n_rows = len(audited.codes)
    cost = audited.cost
    return Evaluation(
        estimator=name,
        design=Holdout(),
        seed=0,
        classes=audited.classes[order],
        positive_code=len(order) - 1
        if audited.positive is None
        else int(position[positive_class(audited.positive, audited.classes)]),
        truth=position[audited.codes],
        weights=audited.weights,
        groups=audited.groups,
        cost_matrix=None if cost is None else cost[np.ix_(order, order)],
        splits=(SplitFacts(0, 0, None, 0, n_rows),),
        row=np.arange(n_rows),
        split=np.zeros(n_rows, dtype=np.int64),
        prediction=position[audited.predicted],
        probabilities=audited.probabilities[:, order],
    )


def _estimate(evaluation: Evaluation, measure: str, level: float) -> Estimate:
    value = evaluation.estimate(measure, level=level)
    return replace(value, method=value.method.replace(", this model", ""))


def _measures(evaluation: Evaluation, audited: AuditedRows, accuracy: Estimate) -> AuditedMeasures:
    """Estimate every measure of the model, with the interval that is valid for these rows."""
    estimates = {"accuracy": accuracy}
    if len(audited.classes) > 1:
        estimates["auc"] = _estimate(evaluation, "auc", accuracy.level)
    costs = [] if audited.cost is None else ["cost"]
    for measure in ("nce", "quadratic_loss", *costs):
        estimates[measure] = _estimate(evaluation, measure, accuracy.level)
    errors, event = audited.errors("calibration")
    line = calibration_line(
        errors.observed,
        errors.stated,
        level=accuracy.level,
        sample_weight=audited.weights,
        groups=audited.groups,
    )
    for name, one in zip(("calibration_intercept", "calibration_slope"), line, strict=True):
        is_known = np.isfinite(one.value)
        method = f"{one.method}; of the probability of {event}" if is_known else one.method
        estimates[name] = replace(one, method=method)
    return AuditedMeasures(
        measure=np.array(list(estimates), dtype=object),
        value=np.array([one.value for one in estimates.values()]),
        low=np.array([one.low for one in estimates.values()]),
        high=np.array([one.high for one in estimates.values()]),
        method=np.array([one.method for one in estimates.values()], dtype=object),
    )


def _remarks(
    output: ModelOutput,
    audited: AuditedRows,
    leaves: AuditedLeaves | None,
    rows: str,
    model: Any,
    *,
    named: bool,
) -> tuple[list[str], bool]:
    """Return what does not fit, and whether unseen rows look like training rows."""
    swapped = seems_swapped(audited, named=named)
    if swapped is not None:
        return [swapped], False
    if rows == "training":
        return [], False
    text = rows_of_the_fit(model, audited)
    if text is None and leaves is not None and len(output.trees) == 1:
        text = _same_leaves(output.trees[0], leaves)
    if text is None:
        text = looks_like_training(audited, output.trees)
    if text is None:
        return [], False
    advice = "If they are its training rows, pass rows='training'."
    warnings.warn(f"{text} {advice}", TrainingRowsWarning, stacklevel=3)
    return [text], True


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
    costs: CostRule | None,
    tree: NDArray[np.intp] | None = None,
    effective: FloatArray | None = None,
) -> _LevelColumns:
    """Return the levels of leaves or bins; those of weighted rows count effective rows."""
    n = counts.sum(axis=1)
    known = counts
    if effective is not None:
        known = counts * np.divide(effective, n, out=np.zeros(len(n)), where=n > 0)[:, np.newaxis]
    if request.rows == "unseen":
        unseen = unseen_levels(known, predicted, tree, costs)
        low, high = unseen.interval(request.level)
        rows_needed = unseen.rows_needed(request.confidence, request.utility)
        probability, below = unseen.probability, unseen.below
        confidence, utility = unseen.confidence, unseen.utility
    else:
        theory = levels_of_counts(known, known.sum(axis=1), np.eye(counts.shape[1])[predicted])
        low, high = theory.interval(request.level)
        rows_needed = theory.rows_needed(np.arange(len(n)), request.confidence, request.utility)
        probability, below = theory.probability, theory.below
        confidence, utility = theory.confidence, theory.utility
    flagged = below | (n <= 0)
    if request.confidence is not None:
        flagged |= confidence < request.confidence
    if request.utility is not None:
        flagged |= utility < request.utility
    # What allows for one more error may exceed the rows of a leaf that reaches the levels.
    rows_needed = np.where(flagged, rows_needed, np.fmin(rows_needed, n))
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


def _audit_leaves(output: ModelOutput, audited: AuditedRows, request: _Request) -> AuditedLeaves:
    """Audit the leaves of all trees at once: leaves with equal counts share the computation."""
    trees, classes = output.trees, output.classes
    counts = np.concatenate(
        [tree.class_counts(audited.codes, len(classes), audited.weights) for tree in trees]
    )
    effective = None
    if audited.weights is not None or audited.groups is not None:
        effective = np.concatenate([_effective_of(tree.shares, audited) for tree in trees])
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
        effective=effective,
        **_level_columns(counts, predicted, stated, request, output.costs, tree_index, effective),
    )


def _audit_bins(
    output: ModelOutput, audited: AuditedRows, n_bins: int, request: _Request
) -> AuditedBins:
    bins = probability_bins(output.predicted, output.stated, n_bins, audited.weights)
    counts = bins.class_counts(audited.codes, len(output.classes), audited.weights)
    effective = None
    if audited.weights is not None or audited.groups is not None:
        n_rows = len(audited.codes)
        inside = sp.csr_array((np.ones(n_rows), (np.arange(n_rows), bins.bin_of_row)))
        effective = _effective_of(inside, audited)
    return AuditedBins(
        prediction=output.classes[bins.predicted],
        stated_from=bins.stated_from,
        stated_to=bins.stated_to,
        effective=effective,
        **_level_columns(
            counts, bins.predicted, bins.stated, request, output.costs, effective=effective
        ),
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


def _same_leaves(tree: TreeLeaves, leaves: AuditedLeaves) -> str | None:
    """Return a remark if every leaf has the same rows and class proportions as in training."""
    if len(tree.leaf) < 2 or not leaves.n.all() or leaves.n.sum() < _FEW_ROWS:
        return None
    proportions = leaves.counts / leaves.n[:, np.newaxis]
    if not np.allclose(leaves.n, tree.n_training) or not np.allclose(
        proportions, tree.probabilities
    ):
        return None
    return (
        "Every leaf has as many rows of each class as in training: these look like the training "
        "rows, whose levels are too optimistic. Audit the model with unseen rows."
    )
