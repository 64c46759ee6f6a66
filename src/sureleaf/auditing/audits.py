"""Audit a fitted model: compare its predictions with labelled rows, per leaf or per bin."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, ClassVar, Final, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    FloatArray,
    check_choice,
    check_count,
    check_level,
    check_number,
    row_weights,
)
from sureleaf.auditing.audited_rows import (
    AuditedRows,
    audit_rows,
    looks_like_training,
    seems_swapped,
)
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.auditing.unseen_levels import probability_bins, unseen_levels
from sureleaf.auditing.where import Subgroups, Where, find_segments, subgroup_table
from sureleaf.comparison import Comparison, compare
from sureleaf.errors import TrainingRowsWarning
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.labelled_table import positive_class
from sureleaf.evaluation.measures import calibration_line
from sureleaf.formatting import interval, level_percent, measure_value, percent
from sureleaf.model.column_table import ColumnTable, json_value
from sureleaf.model.leaf_table import kind_of_confidence, rows_of_theory
from sureleaf.model.node_levels import levels_of_counts

Newness = Literal["compared", "stated", "unknown", "seen", "training"]

SCHEMA = "sureleaf-audit/1"

# ---- results -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuditedGroups(ColumnTable):
    """Leaves or bins: what the model says about each of them, and what the rows show.

    `n` are rows, `counts` these by class; `prediction` is the class that the model predicts, or at
    costs decides for, and `stated` its probability by the model, in a bin the mean. `probability`,
    `low` and `high` are the proportion of this class and the interval of its probability; the model
    `agrees` if the interval holds `stated`. `confidence` is the probability that the class is the
    most probable one of the group, or that the decision is the cheapest one; `utility` that the
    next row is predicted correctly, or what the decision is expected to save per row
    (docs/costs.md). With costs, `cost` is the mean cost per row; NaN without rows. `rows_needed`
    is the total number of rows that reaches the wanted levels; NaN if no number does. Groups are
    `flagged` below the wanted levels, without rows, or if another class is more frequent or
    another decision cheaper. `effective`: as many independent rows of equal weight tell as much as
    these rows, which have weights or are in groups.
    """

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
    cost: FloatArray | None
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]
    effective: FloatArray | None = None

    noun: ClassVar[tuple[str, str]] = ("group", "groups")
    first: ClassVar[tuple[str, ...]] = ()

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns by name; those that name the group come first."""
        every = super().columns()
        return {name: every[name] for name in self.first if name in every} | every


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuditedLeaves(AuditedGroups):
    """One row per leaf: what the model predicts there, and what the rows show; see `AuditedGroups`.

    `tree` is the index in a forest, None for a single tree; `leaf` is its number in its tree, as
    `apply` returns it; `rule` has the tests on the path to it, None for forests.
    """

    tree: NDArray[np.intp] | None
    leaf: NDArray[np.intp]
    rule: NDArray[np.object_] | None

    noun = ("leaf", "leaves")
    first = ("tree", "leaf", "rule")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuditedBins(AuditedGroups):
    """One row per bin: rows with the same prediction and similar predicted probabilities.

    `stated_from` and `stated_to` are the smallest and largest probability that the model predicts
    for the predicted class; see `AuditedGroups` for the others.
    """

    stated_from: FloatArray
    stated_to: FloatArray

    noun = ("bin", "bins")
    first = ("prediction", "stated_from", "stated_to", "stated")


@dataclass(frozen=True, eq=False, repr=False)
class AuditedTrees(ColumnTable):
    """One row per tree of a forest or bag.

    Numbers of leaves: all, without rows (`empty`), flagged, and with a predicted probability
    outside the interval. The others are means over the leaves, weighted by their rows.
    """

    tree: NDArray[np.intp]
    leaves: NDArray[np.intp]
    empty: NDArray[np.intp]
    flagged: NDArray[np.intp]
    outside: NDArray[np.intp]
    stated: FloatArray
    confidence: FloatArray
    utility: FloatArray
    cost: FloatArray | None


@dataclass(frozen=True, eq=False, repr=False)
class AuditedMeasures(ColumnTable):
    """One row per measure of the whole model on these rows; NaN where it is not defined.

    Cost, with costs; accuracy, auc, nce (log loss), quadratic_loss (Brier score, summed over the
    classes), calibration_intercept and calibration_slope. `method` says how the interval was
    computed, or why there is none.
    """

    measure: NDArray[np.object_]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    method: NDArray[np.object_]


@dataclass(frozen=True)
class Baseline:
    """The constant prediction that an audited model must beat, and the model compared with it.

    The most frequent class and its accuracy; with costs, the cheapest constant and its mean cost.
    """

    label: Any
    value: float
    comparison: Comparison


NEWNESS_WORDS: Final[dict[str, str]] = {
    "stated": "That the model has not seen these rows is the user's word.",
    "unknown": "Whether the model has seen these rows is not known; if it has, all figures are too "
    "good. If they are new to it, say so: rows='unseen' (--rows unseen).",
}


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The result of `audit`.

    Parameters
    ----------
    model : str
        The model's class.
    n_rows : int
    classes : ndarray
        The model's classes, in the order of `counts`.
    level : float
        Level of the intervals.
    accuracy : Estimate
        With the interval of Clopper and Pearson.
    stated : float
        Mean probability of the predicted classes: the accuracy that the model expects.
    confidence, utility : float
        Means over the rows of `table`.
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
    newness : {"compared", "stated", "unknown", "seen", "training"}
        Why the rows are called unseen, or not: the model has compared them with the rows of its
        fit; it is the user's word; nobody says so; they look like training rows; they are.
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
    newness: Newness = "unknown"
    effective_rows: float | None = None

    @property
    def rows(self) -> Literal["unseen", "training", "seen", "unknown"]:
        """The kind of the rows: "unseen" only if the model can tell, or by the user's word."""
        if self.newness == "compared" or self.newness == "stated":
            return "unseen"
        return self.newness

    @property
    def looks_seen(self) -> bool:
        """Whether rows that were not given as training rows look like such."""
        return self.newness == "seen"

    @property
    def rows_in_words(self) -> str:
        """The kind of the rows: "unseen rows", "training rows", or "rows" if that is in doubt."""
        return "rows" if self.is_in_doubt else f"{self.rows} rows"

    @property
    def is_in_doubt(self) -> bool:
        """Whether the rows may be training rows, although nobody says so."""
        return self.newness in ("seen", "unknown")

    @property
    def newness_in_words(self) -> str | None:
        """Who says that the rows are unseen; None if the model does, or nobody needs to."""
        return NEWNESS_WORDS.get(self.newness)

    @property
    def at_costs(self) -> bool:
        """Whether the audit goes by cost: costs were given, or the model was fitted with costs."""
        return self.audited.cost is not None

    @property
    def measure(self) -> str:
        """The measure that the audit leads with: "cost" with costs, else "accuracy"."""
        return "cost" if self.at_costs else "accuracy"

    @cached_property
    def cost(self) -> Estimate | None:
        """Mean cost per row, with its interval; None without costs."""
        return self.evaluation.estimate("cost", level=self.level) if self.at_costs else None

    @property
    def stated_cost(self) -> float | None:
        """Mean cost per row that the model's probabilities state for its decisions."""
        if not self.at_costs:
            return None
        return float(np.average(self.audited.expected_costs, weights=self.audited.weights))

    @cached_property
    def baseline(self) -> Baseline:
        """The best constant prediction for these rows, and the model compared with it."""
        rows = self.audited
        if rows.cost is None:
            code = int(np.argmax(rows.class_shares))
        else:
            code = int(np.argmin(rows.class_shares @ rows.cost))
        comparison = compare(
            self.evaluation, rows.always(code).evaluation, measure=self.measure, level=self.level
        )
        return Baseline(self.classes.tolist()[code], comparison.values[1], comparison)

    @cached_property
    def measures(self) -> AuditedMeasures:
        """Cost, accuracy, AUC, log loss, Brier score, calibration intercept and slope."""
        estimates = {} if self.cost is None else {"cost": self.cost}
        estimates["accuracy"] = self.accuracy
        auc = ["auc"] if len(self.classes) > 1 else []
        for measure in (*auc, "nce", "quadratic_loss"):
            estimates[measure] = self.evaluation.estimate(measure, level=self.level)
        errors, event = self.audited.errors("calibration")
        line = calibration_line(
            errors.observed,
            errors.stated,
            level=self.level,
            sample_weight=self.audited.weights,
            groups=self.audited.groups,
        )
        for name, one in (
            ("calibration_intercept", line.intercept),
            ("calibration_slope", line.slope),
        ):
            is_known = np.isfinite(one.value)
            method = f"{one.method}; of the probability of {event}" if is_known else one.method
            estimates[name] = replace(one, method=method)
        every = estimates.values()
        return AuditedMeasures(
            measure=np.array(list(estimates), dtype=object),
            value=np.array([one.value for one in every]),
            low=np.array([one.low for one in every]),
            high=np.array([one.high for one in every]),
            method=np.array([one.method for one in every], dtype=object),
        )

    @property
    def evaluation(self) -> Evaluation:
        """The predictions for the rows as an evaluation of this model, for every other measure."""
        return self.audited.evaluation

    def where(self, of: str = "calibration", *, random_state: int = 0) -> Where:
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
        return find_segments(self.audited, of, level=self.level, seed=random_state)

    def by(self, *columns: str, of: str = "calibration") -> Subgroups:
        """Compare the model with the rows of each value, or range, of named columns.

        Parameters
        ----------
        *columns : str
            Columns of X. A column of numbers with more than eight values is divided into four
            ranges of about equal size.
        of
            As for `where`. P-values are corrected for the number of subgroups (Holm), and the
            intervals hold for all of them at once.

        Returns
        -------
        Subgroups
            Of a single tree, its `inside` compares the subgroups inside each leaf.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sureleaf import audit
        >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
        >>> result = audit(model, [[1], [2], [3], [4]] * 5, ["no", "no", "yes", "no"] * 5)
        >>> result.by("x0").found.tolist()
        [False, False, False, True]
        """
        return subgroup_table(self.audited, columns, of, level=self.level)

    def compare(
        self, other: "Audit", *, measure: str | None = None, margin: float = 0.0
    ) -> Comparison:
        """Compare this model with another one that was audited on the same rows.

        Parameters
        ----------
        other : Audit
            Of the other model, with the same rows, weights and groups.
        measure : str, optional
            As for `sureleaf.compare`; by default the cost if either audit has costs, else the
            accuracy.
        margin : float
            The largest difference that does not matter.

        Returns
        -------
        Comparison
            Difference, interval, p-value and verdict of a test for paired rows. Both models are
            judged at the same costs: those of this audit, or else those of the other one.
        """
        pair = [self.evaluation, other.evaluation]
        own, others = (one.cost_matrix for one in pair)
        cost = own if own is not None else others
        if measure is None:
            measure = "accuracy" if cost is None else "cost"
        pair = [replace(one, cost_matrix=cost) for one in pair]
        found = compare(*pair, measure=measure, margin=margin, level=self.level)
        are_same = own is not None and others is not None and np.array_equal(own, others)
        if measure != "cost" or are_same:
            return found
        whose = "second" if own is None else "first"
        note = f" Both are judged at the costs of the {whose}."
        return replace(found, sentence=found.sentence + note)

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
        notes: list[str] = []
        if self.rows == "training":
            notes.append(
                "The model was trained on these rows, so every figure here is too good. Audit it "
                "with rows that it was not trained on."
            )
        outside = self.outside_note
        kind = kind_of_confidence("training" if self.rows == "training" else "held_out")
        return [*notes, *self.remarks, *([] if outside is None else [outside]), kind]

    @property
    def outside_note(self) -> str | None:
        """How many predicted probabilities are outside their intervals; None without rows."""
        n_with_rows = int((self.table.n > 0).sum())
        if not n_with_rows:
            return None
        expected = (1 - self.level) * n_with_rows
        return (
            f"In {self.n_outside} of {n_with_rows} {self.table.noun[1]} with rows, the predicted "
            f"probability is outside its {level_percent(self.level)} interval; by chance alone at "
            f"most {expected:.1f} are expected."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values: numbers, text, lists and None."""
        tables = {"leaves": self.leaves, "trees": self.trees, "bins": self.bins}
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
            "measure": self.measure,
            "accuracy": json_value(vars(self.accuracy)),
            "cost": self.cost
            and json_value(
                vars(self.cost)
                | {
                    "matrix": self.audited.cost,
                    "of_model": self.audited.cost_of_model,
                    "stated": self.stated_cost,
                }
            ),
            "stated": self.stated,
            "confidence": self.confidence,
            "utility": self.utility,
            "measures": self.measures.records(),
            "remarks": list(self.remarks),
            "looks_seen": self.looks_seen,
            "newness": self.newness,
        } | {name: None if one is None else one.records() for name, one in tables.items()}

    def to_json(self) -> str:
        """Return the audit as JSON text; NaN becomes null."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, default=str)

    def _summary(self) -> str:
        width = f"{level_percent(self.level)} interval"
        if self.cost is not None:
            ends = f"{measure_value(self.cost.low)} to {measure_value(self.cost.high)}"
            figures = (
                f"cost per row {measure_value(self.cost.value)} ({width} {ends}), "
                f"confidence {self.confidence:.3f}"
            )
        else:
            figures = (
                f"accuracy {percent(self.accuracy.value)} ({width} "
                f"{interval(self.accuracy.low, self.accuracy.high)}), mean predicted probability "
                f"{percent(self.stated)}, confidence {self.confidence:.3f}, utility "
                f"{self.utility:.3f}"
            )
        return f"{self.model} on {self.n_rows:,} {self.rows_in_words}: {figures}"

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

    is_training: bool
    level: float
    confidence: float | None
    utility: float | None


def audit(
    model: Any,
    X: Any,
    y: ArrayLike | str,
    *,
    rows: str | None = None,
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
        ``cost[actual][predicted]``, classes in sorted order; by default the costs that a model of
        this library was fitted with. With costs, the audit goes by cost: what the model's decisions
        cost per row, and whether each of them is the cheapest one. The decisions stay the model's.
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
        `by()`, `compare()`, `to_dict()` and `to_json()`; every table has `to_pandas()` and
        `to_polars()`.

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
    check_choice("rows", rows, ("unseen", "training", None))
    for name, wanted in (("confidence", confidence), ("utility", utility)):
        if wanted is not None:
            check_number(name, wanted, low=0, high=1)
    is_training = rows == "training"
    request = _Request(is_training, check_level(level), confidence, utility)
    check_count("n_bins", n_bins)
    audited = audit_rows(
        model, X, y, classes=classes, cost=cost, sample_weight=sample_weight, groups=groups
    )
    if positive is not None:
        positive_class(positive, audited.classes)
        audited = replace(audited, positive=positive)
    if is_training:
        warnings.warn(
            "levels from training rows are too optimistic, because the model was fitted to these "
            "labels. Audit it with unseen rows.",
            TrainingRowsWarning,
            stacklevel=2,
        )
    leaves = _audit_leaves(audited, request) if audited.trees else None
    remark, newness = _remark(audited, leaves, rows, named=classes is not None)
    bins = _audit_bins(audited, n_bins, request)
    table: AuditedGroups = bins
    if leaves is not None and leaves.tree is None:
        table = leaves
    else:  # the leaves of each row are not needed any more
        audited = replace(audited, trees=[])
    shares = table.n / table.n.sum()
    effective = audited.effective(sp.csr_array(np.ones((len(audited.codes), 1))))
    return Audit(
        model=audited.name,
        n_rows=len(audited.codes),
        classes=audited.classes,
        level=request.level,
        accuracy=audited.evaluation.estimate("accuracy", level=request.level),
        stated=float(np.average(audited.stated, weights=audited.weights)),
        confidence=float(shares @ table.confidence),
        utility=float(shares @ table.utility),
        leaves=leaves,
        trees=None if leaves is None or leaves.tree is None else _audit_trees(leaves, leaves.tree),
        bins=bins,
        audited=audited,
        wanted_confidence=request.confidence,
        wanted_utility=request.utility,
        remarks=() if remark is None else (remark,),
        newness=newness,
        effective_rows=None if effective is None else float(effective[0]),
    )


def _remark(
    audited: AuditedRows,
    leaves: AuditedLeaves | None,
    rows: str | None,
    *,
    named: bool,
) -> tuple[str | None, Newness]:
    """Return what does not fit, and why the rows are called unseen, or not."""
    newness: Newness = "unknown" if rows is None else "stated"
    if rows == "training":
        newness = "training"
    elif audited.compared is not None and audited.compared.are_new:
        newness = "compared"
    swapped = seems_swapped(audited, named=named)
    if swapped is not None or rows == "training":
        return swapped, newness
    text = None if audited.compared is None else audited.compared.remark
    if text is None and leaves is not None and leaves.tree is None:
        text = _same_leaves(audited.trees[0], leaves)
    if text is None:
        text = looks_like_training(audited)
    if text is None:
        return None, newness
    advice = "If they are its training rows, pass rows='training'."
    warnings.warn(f"{text} {advice}", TrainingRowsWarning, stacklevel=3)
    return text, "seen"


def _audit_groups(
    audited: AuditedRows,
    request: _Request,
    shares: Sequence[sp.csr_array],
    predicted: NDArray[np.intp],
    stated: FloatArray,
    tree: NDArray[np.intp] | None = None,
) -> dict[str, Any]:
    """Return the columns of `AuditedGroups`; levels of weighted rows count effective rows.

    `shares` are those of each row in the leaves of each tree, or in the bins.
    """
    counts = np.concatenate([audited.counts(each) for each in shares])
    n, known, effective = counts.sum(axis=1), counts, None
    if of_shares := [one for each in shares if (one := audited.effective(each)) is not None]:
        effective = np.concatenate(of_shares)
        known = counts * np.divide(effective, n, out=np.zeros(len(n)), where=n > 0)[:, np.newaxis]
    levels: Any
    if not request.is_training:
        levels = unseen_levels(known, predicted, tree, audited.rule)
        rows_needed = levels.rows_needed(request.confidence, request.utility)
    else:
        one_class = np.eye(counts.shape[1])[predicted]
        levels = levels_of_counts(known, known.sum(axis=1), one_class, audited.rule)
        rows_needed = rows_of_theory(levels, np.arange(len(n)), request.confidence, request.utility)
    low, high = levels.interval(request.level)
    flagged = levels.below | (n <= 0)
    if request.confidence is not None:
        flagged |= levels.confidence < request.confidence
    if request.utility is not None:
        flagged |= levels.utility < request.utility
    cost = None
    if audited.cost is not None:
        total = (counts * audited.cost[:, predicted].T).sum(axis=1)
        cost = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    rounding = 1e-9
    return {
        "n": n,
        "counts": counts,
        "prediction": audited.classes[predicted],
        "stated": stated,
        "probability": levels.probability,
        "low": low,
        "high": high,
        "agrees": (stated >= low - rounding) & (stated <= high + rounding),
        "confidence": levels.confidence,
        "utility": levels.utility,
        "cost": cost,
        # What allows for one more error may exceed the rows of a leaf that reaches the levels.
        "rows_needed": np.where(flagged, rows_needed, np.fmin(rows_needed, n)),
        "flagged": flagged,
        "effective": effective,
    }


def _audit_leaves(audited: AuditedRows, request: _Request) -> AuditedLeaves:
    """Audit the leaves of all trees at once: leaves with equal counts share the computation."""
    trees = audited.trees
    probabilities = np.concatenate([tree.probabilities for tree in trees])
    predicted = np.concatenate([tree.predicted for tree in trees])
    stated = probabilities[np.arange(len(predicted)), predicted]
    index = np.repeat(np.arange(len(trees)), [len(tree.leaf) for tree in trees])
    shares = [tree.shares for tree in trees]
    return AuditedLeaves(
        tree=index if len(trees) > 1 else None,
        leaf=np.concatenate([tree.leaf for tree in trees]),
        rule=trees[0].rule if len(trees) == 1 else None,
        **_audit_groups(audited, request, shares, predicted, stated, index),
    )


def _audit_bins(audited: AuditedRows, n_bins: int, request: _Request) -> AuditedBins:
    """Audit rows by predicted class and probability; weights count in the mean of a bin alone."""
    stated, n_rows = audited.stated, len(audited.codes)
    bin_of_row, predicted = probability_bins(audited.predicted, stated, n_bins)
    inside = sp.csr_array((np.ones(n_rows), bin_of_row, np.arange(n_rows + 1)))
    order = np.lexsort((stated, bin_of_row))
    ends = np.searchsorted(bin_of_row[order], np.arange(len(predicted) + 1))
    low, high = stated[order[ends[:-1]]], stated[order[ends[1:] - 1]]
    weights = row_weights(audited.weights, n_rows)
    total, sums = np.bincount(bin_of_row, weights), np.bincount(bin_of_row, weights * stated)
    mean = np.divide(sums, total, out=low.copy(), where=total > 0)
    return AuditedBins(
        stated_from=low,
        stated_to=high,
        **_audit_groups(audited, request, [inside], predicted, np.clip(mean, low, high)),
    )


def _audit_trees(leaves: AuditedLeaves, tree: NDArray[np.intp]) -> AuditedTrees:
    n_rows = np.bincount(tree, leaves.n)

    def mean(values: FloatArray) -> FloatArray:
        return np.bincount(tree, leaves.n * values) / n_rows

    def count(condition: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.bincount(tree[condition], minlength=len(n_rows))

    return AuditedTrees(
        tree=np.arange(len(n_rows)),
        leaves=np.bincount(tree),
        empty=count(leaves.n <= 0),
        flagged=count(leaves.flagged),
        outside=count(~leaves.agrees),
        stated=mean(leaves.stated),
        confidence=mean(leaves.confidence),
        utility=mean(leaves.utility),
        cost=None if leaves.cost is None else mean(np.nan_to_num(leaves.cost)),
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
