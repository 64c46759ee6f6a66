"""The rows of an audit, with what the model says about them and what its errors cost."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import bdtr

from sureleaf.arguments import (
    FloatArray,
    check_choice,
    check_groups,
    check_weights,
    read_labels,
    row_weights,
)
from sureleaf.auditing.foreign_models import ForeignModel
from sureleaf.auditing.model_output import ModelOutput, model_output
from sureleaf.auditing.segments import Errors
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.evaluation.designs import Holdout
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.labelled_table import positive_class
from sureleaf.folds import fold_numbers
from sureleaf.formatting import percent, upper_first
from sureleaf.levels.decisions import CostRule, cost_rule, predicted_class, unequal_rule
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.model.seen_rows import EqualRows, SeenRows, telling_part
from sureleaf.random_streams import shuffled
from sureleaf.scale import Roles, SourceColumns, is_source, open_source, plan_columns
from sureleaf.table import EncodedTable, numeric_matrix, read_table
from sureleaf.tree import TrainingRows

ERRORS = ("calibration", "accuracy", "cost")


@dataclass(frozen=True)
class ComparedRows:
    """Rows of an audit beside those that a model of ours was fitted on, and updated with."""

    parts: tuple[tuple[SeenRows, EqualRows], ...]
    n_rows: int

    def __add__(self, other: "ComparedRows") -> "ComparedRows":
        pairs = zip(self.parts, other.parts, strict=True)
        parts = tuple((seen, EqualRows(*map(add, one, two))) for (seen, one), (_, two) in pairs)
        return ComparedRows(parts, self.n_rows + other.n_rows)

    @property
    def are_new(self) -> bool:
        """Whether rows of the fit would have been recognised, and these are not."""
        seen, equal_rows = telling_part(self.parts)
        return seen.can_tell(equal_rows) and self.remark is None

    @property
    def remark(self) -> str | None:
        """That they equal rows of the fit, if chance cannot explain it."""
        seen, equal_rows = telling_part(self.parts)
        if seen.is_chance(equal_rows):
            return None
        n_compared, n_equal = equal_rows.n_compared, equal_rows.n_equal
        compared = "" if n_compared == self.n_rows else " that can be compared"
        return (
            f"{n_equal:,} of {n_compared:,} rows{compared} are equal to rows that the model was "
            "fitted on, cell by cell: all figures are too good. Audit it with unseen rows."
        )


def _compare_with_fit(
    model: Any, X: Any, codes: NDArray[np.int64], classes: NDArray[Any]
) -> ComparedRows | None:
    """Compare rows with those of the fit; None unless the model keeps fingerprints of them."""
    if not isinstance(model, TreeClassifier | BaggedTreesClassifier):
        return None
    fitted = model.recognising_model()
    code_of = {label: code for code, label in enumerate(fitted.classes.tolist())}
    if fitted.seen is None or set(classes.tolist()) != set(code_of):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)  # the audit has warned already
        table = fitted.encode(X)
    own = np.array([code_of[label] for label in classes.tolist()], dtype=np.int32)
    rows = TrainingRows(table, own[codes], len(own))
    return ComparedRows(fitted.compare_seen(rows), len(codes))


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditedRows(ModelOutput):
    """The rows of an audit, with what the model says about them.

    `X` has all columns that were given. Codes, probabilities and ``cost[actual][predicted]`` are in
    the order of the model's classes. Weights have mean 1. `n_unlabelled` rows were left out when
    the table was read in batches. `positive` is the class that calibration is about; None for the
    second of two classes, and with more classes for the predicted one. `compared` is None unless
    the model keeps fingerprints of the rows of its fit.
    """

    X: Any
    codes: NDArray[np.int64]
    weights: FloatArray | None = None
    groups: NDArray[np.int64] | None = None
    cost: FloatArray | None = None
    cost_of_model: bool = False
    n_unlabelled: int = 0
    positive: Any = None
    compared: ComparedRows | None = None

    @property
    def rule(self) -> CostRule | None:
        """The costs as a rule for decisions; None if all errors cost the same."""
        return unequal_rule(self.cost)

    @property
    def stated(self) -> FloatArray:
        """The probability of the predicted class, for each row."""
        return self.probabilities[np.arange(len(self.predicted)), self.predicted]

    @property
    def most_probable(self) -> NDArray[np.intp]:
        """Index of the predicted class of each row; of decisions by cost, the most probable one."""
        return self.predicted if self.cost is None else predicted_class(self.probabilities)

    @property
    def expected_costs(self) -> FloatArray:
        """The cost that the model's probabilities state for its decision about each row."""
        assert self.cost is not None
        return np.asarray((self.probabilities * self.cost[:, self.predicted].T).sum(axis=1))

    @cached_property
    def evaluation(self) -> Evaluation:
        """The predictions as an evaluation with one test set, classes in sorted order."""
        order = _sorted_order(self.classes)
        position = np.argsort(order)
        n_rows = len(self.codes)
        positive = len(order) - 1
        if self.positive is not None:
            positive = int(position[positive_class(self.positive, self.classes)])
        return Evaluation(
            estimator=self.name,
            design=Holdout(),
            seed=0,
            classes=self.classes[order],
            positive_code=positive,
            truth=position[self.codes],
            weights=self.weights,
            groups=self.groups,
            cost_matrix=None if self.cost is None else self.cost[np.ix_(order, order)],
            splits=(SplitFacts(0, 0, 0, n_rows),),
            row=np.arange(n_rows),
            split=np.zeros(n_rows, dtype=np.int64),
            prediction=position[self.predicted],
            probabilities=self.probabilities[:, order],
        )

    @property
    def class_shares(self) -> FloatArray:
        """The share of the rows in each class, by weight."""
        counts = np.bincount(self.codes, self.weights, len(self.classes))
        return np.asarray(counts / counts.sum())

    def always(self, code: int) -> "AuditedRows":
        """Return the same rows for a model that always predicts one class."""
        return replace(self, predicted=np.full(len(self.codes), code, dtype=np.intp))

    def counts(self, shares: sp.csr_array) -> FloatArray:
        """Count the rows of each class in each leaf or bin, by their shares and weights."""
        n_rows = len(self.codes)
        of_row = self.codes, np.arange(n_rows)
        indicator = sp.csr_array(
            (row_weights(self.weights, n_rows), of_row), shape=(len(self.classes), n_rows)
        )
        return np.ascontiguousarray((indicator @ shares).toarray().T, dtype=np.float64)

    def effective(self, shares: sp.csr_array) -> FloatArray | None:
        """Return how many rows of equal weight tell as much as those of each leaf or bin.

        That is (ΣW)² / ΣW² of the units: rows, or groups with all their rows. Rows of a group count
        as one observation, as if they were all equal. None if each row is one observation.
        """
        if self.weights is None and self.groups is None:
            return None
        n_rows = len(self.codes)
        weights = row_weights(self.weights, n_rows)
        weighted = shares.multiply(weights[:, np.newaxis]).tocsr()
        if self.groups is None:
            squares = np.asarray(shares.multiply(weights[:, np.newaxis] ** 2).sum(axis=0)).ravel()
        else:
            to_groups = sp.csr_array((np.ones(n_rows), (self.groups, np.arange(n_rows))))
            squares = np.asarray((to_groups @ weighted).power(2).sum(axis=0)).ravel()
        total = np.asarray(weighted.sum(axis=0)).ravel()
        effective = np.zeros(len(total))
        np.divide(total**2, squares, out=effective, where=squares > 0)
        return effective

    def table(
        self, *, columns: Sequence[str] | None = None, rows: NDArray[np.intp] | None = None
    ) -> EncodedTable:
        """Return the rows, or some of them, encoded.

        Of a table that was read in batches, only these columns or rows are read again.
        """
        if isinstance(self.X, SourceColumns):
            table = read_table(self.X.read(columns=columns, rows=rows), estimator="audit")
            return EncodedTable(table.schema_with_missing(), table.columns, table.n_rows)
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        table = read_table(X, estimator="audit")
        table = EncodedTable(table.schema_with_missing(), table.columns, table.n_rows)
        return table if rows is None else table[rows]

    def errors(self, of: str) -> tuple[Errors, str]:
        """Return what the model says about an event in each row, and the event in words."""
        check_choice("of", of, ERRORS)
        if of == "calibration":
            return self._calibration()
        if of == "accuracy":
            observed = (self.predicted == self.codes).astype(np.float64)
            return self._beside_their_mean(self.stated, observed, sign=-1), "correct"
        if self.cost is None:
            raise InvalidArgumentError(
                "of='cost' needs costs: audit(..., cost=[[0, 1], [5, 0]]), or --cost \"0,1;5,0\", "
                "as cost[actual][predicted]."
            )
        paid = self.cost[self.codes, self.predicted]
        return self._beside_their_mean(self.expected_costs, paid, sign=1), "cost"

    def _calibration(self) -> tuple[Errors, str]:
        if self.positive is None and len(self.classes) != 2:
            stated, happened = self.stated, self.predicted == self.codes
            event = "the predicted class"
        else:
            last = sorted(self.classes.tolist())[-1]
            named = last if self.positive is None else self.positive
            code = positive_class(named, self.classes)
            stated, happened = self.probabilities[:, code], self.codes == code
            event = str(self.classes.tolist()[code])
        stated = np.clip(stated, 0.0, 1.0)
        observed, variance = happened.astype(np.float64), stated * (1 - stated)
        errors = Errors(stated, observed, variance, weights=self.weights, groups=self.groups)
        return errors, event

    def _beside_their_mean(self, stated: FloatArray, observed: FloatArray, *, sign: int) -> Errors:
        """Return errors of which too many (1) or too few (-1) in some rows are wrong."""
        mean = float(np.average(observed, weights=self.weights))
        variance = float(np.average((observed - mean) ** 2, weights=self.weights))
        every = np.ones(len(observed))
        return Errors(
            stated,
            observed,
            variance * every,
            expected=mean * every,
            sign=sign,
            is_rate=sign < 0,
            weights=self.weights,
            groups=self.groups,
        )


def audit_rows(
    model: Any,
    X: Any,
    y: ArrayLike | str,
    *,
    classes: ArrayLike | None,
    cost: ArrayLike | None,
    sample_weight: ArrayLike | str | None,
    groups: ArrayLike | str | None,
) -> AuditedRows:
    """Predict the rows, in batches if their source is one, and check what is known of them."""
    n_unlabelled = 0
    if is_source(X) and isinstance(y, str):
        X = _columns_of_source(X, y, sample_weight, groups)
        parts, weights_of, groups_of = [], [], []
        for batch in X.batches():
            n_unlabelled += batch.n_unlabelled
            if batch.features.num_rows:
                parts.append(_predict(model, batch.features, batch.labels, classes))
                weights_of.append(batch.weights)
                groups_of.append(batch.groups)
        if not parts:
            raise InvalidArgumentError(f"{X.source.name} must have at least one row; got none.")
        sample_weight = None if sample_weight is None else np.concatenate(weights_of)
        if groups is not None:
            groups = np.concatenate([np.asarray(each.to_numpy()) for each in groups_of])
    else:
        parts = [_predict(model, X, y, classes)]
    outputs, codes_of, compared = zip(*parts, strict=True)
    output, codes = ModelOutput.join(outputs), np.concatenate(codes_of)
    cost_of_model = cost is None and output.costs is not None
    rule = output.costs if cost_of_model else None
    if cost is not None:
        order = _sorted_order(output.classes)
        given = cost_rule(cost, output.classes[order])
        position = np.argsort(order)  # from sorted classes to the order of the model
        rule = CostRule(given.cost[np.ix_(position, position)])
    weights = check_weights(sample_weight, len(codes), ones_as_none=True)
    labels = check_groups(groups, len(codes))
    return AuditedRows(
        **vars(output),
        X=X,
        codes=codes,
        weights=None if weights is None else weights / weights.mean(),
        groups=None if labels is None else np.unique(labels, return_inverse=True)[1],
        cost=None if rule is None else rule.cost,
        cost_of_model=cost_of_model,
        n_unlabelled=n_unlabelled,
        compared=None if compared[0] is None else reduce(add, compared),
    )


def _predict(
    model: Any, X: Any, y: ArrayLike, classes: ArrayLike | None
) -> tuple[ModelOutput, NDArray[np.int64], ComparedRows | None]:
    """Return what the model says about rows, their classes, and whether its fit had them."""
    is_foreign = isinstance(model, ForeignModel)
    output = model.output(X, classes) if is_foreign else model_output(model, X, classes)
    codes = _class_codes(y, output)
    return output, codes, _compare_with_fit(model, X, codes, output.classes)


def _columns_of_source(X: Any, y: str, sample_weight: Any, groups: Any) -> SourceColumns:
    """Open a table that is read in batches; what the model says about each row stays in memory."""
    for name, given in (("sample_weight", sample_weight), ("groups", groups)):
        if given is not None and not isinstance(given, str):
            raise InvalidArgumentError(
                f"{name} must be the name of a column if the table is read in batches; got "
                f"{type(given).__name__}."
            )
    source = open_source(X)
    roles = Roles(y, sample_weight, groups, source.drop, source.skips_unlabelled)
    return SourceColumns(source, plan_columns(source.parts, roles))


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


def _sorted_order(classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices that sort the classes."""
    labels = classes.tolist()
    return np.array(sorted(range(len(labels)), key=lambda code: labels[code]), dtype=np.intp)


MIN_ROWS = 50
MAX_ROWS = 2000
"""Rows on which models are fitted for comparison."""

LEFT_ERRORS = 0.2
"""Training rows are suspected if a model makes at most this share of the cross-fitted errors."""

LEAST_ERRORS = 0.05
_SIGNIFICANCE = 1e-6
MORE_ROWS = 3
"""A model that was trained on this many times the rows may know more than they can teach."""


def looks_like_training(rows: AuditedRows) -> str | None:
    """Return why rows that are called unseen look like training rows; None if they do not.

    A forest and a logistic regression are cross-fitted on the rows. A model that makes less than a
    fifth of the errors of the better one knows the labels of these rows, or has learned from many
    more. Models that are known to have learned from more rows are not suspected.
    """
    n_rows = len(rows.codes)
    wrong = rows.most_probable != rows.codes
    most_frequent = np.bincount(rows.codes).max()
    if n_rows < MIN_ROWS or wrong.mean() > LEFT_ERRORS * (1 - most_frequent / n_rows):
        return None
    if max((float(tree.n_training.sum()) for tree in rows.trees), default=0.0) > MORE_ROWS * n_rows:
        return None
    part = np.sort(shuffled(n_rows, 0, 0)[:MAX_ROWS])
    codes, wrong = rows.codes[part], wrong[part]
    if np.bincount(codes).min(initial=n_rows, where=np.bincount(codes) > 0) < 2:
        return None
    table = rows.table(rows=part)
    forest = BaggedTreesClassifier(n_estimators=30, random_state=0, n_jobs=1).fit(table, codes)
    of_forest = forest.classes_[predicted_class(forest.oob_proba_)] != codes
    of_line = _linear_predictions(table, codes) != codes
    cross_fitted = min(of_forest, of_line, key=lambda errors: errors.sum())
    expected = float(cross_fitted.mean())
    if expected < LEAST_ERRORS or wrong.mean() > LEFT_ERRORS * expected:
        return None
    only_model, only_other = int((wrong & ~cross_fitted).sum()), int((cross_fitted & ~wrong).sum())
    if float(bdtr(only_model, only_model + only_other, 0.5)) > _SIGNIFICANCE:
        return None
    subject = _subject(rows)
    return (
        f"These rows look like training rows: {subject} is right for {percent(1 - wrong.mean())} "
        f"of them, models that were fitted without a row for {percent(1 - expected)}. Unless it "
        "was trained on many other rows, all figures are too good: audit it with unseen rows."
    )


def _subject(rows: AuditedRows) -> str:
    return "the model" if rows.cost is None else "its most probable class"


def logistic_regression() -> Any:
    """Return scikit-learn's logistic regression of what `numeric_matrix` gives.

    The steps are enough for scaled columns, unless classes are separable.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(imputer, StandardScaler(), LogisticRegression(max_iter=1000))


def _linear_predictions(table: EncodedTable, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Predict every row by a logistic regression of the other folds."""
    from sklearn.model_selection import PredefinedSplit, cross_val_predict

    folds = PredefinedSplit(fold_numbers(codes.astype(np.int32), 5, seed=0))
    predictions: NDArray[np.int64] = cross_val_predict(
        logistic_regression(), numeric_matrix(table), codes, cv=folds
    )
    return predictions


def seems_swapped(rows: AuditedRows, *, named: bool) -> str | None:
    """Return a remark if the labels fit far better in another order.

    Far better: the 95 % intervals of both accuracies do not overlap, and the model is worse than
    always predicting the most frequent class. `named` says whether the user gave the classes.
    """
    n, n_classes = len(rows.codes), len(rows.classes)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (rows.codes, rows.most_probable), 1.0)
    _, best = linear_sum_assignment(-counts)
    of_predicted = np.argsort(best)  # the class that each predicted class seems to mean
    if np.array_equal(of_predicted, np.arange(n_classes)):
        return None
    now, then = float(counts.trace()), float(counts[np.arange(n_classes), best].sum())
    baseline = counts.sum(axis=1).max() / n
    if now / n >= baseline or then / n <= baseline:
        return None
    if clopper_pearson(now, n).high >= clopper_pearson(then, n).low:
        return None
    order = [rows.classes.tolist()[code] for code in of_predicted]
    written = ",".join(map(str, order))
    cause = "classes= (--classes)" if named else "the order of the classes"
    return (
        f"{upper_first(cause)} seems wrong: with {written!r} {_subject(rows)} would be "
        f"right for "
        f"{percent(then / n)} of the rows instead of {percent(now / n)}."
    )
