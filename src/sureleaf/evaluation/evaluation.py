"""`Evaluation`: the frozen result of evaluating a classifier."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import FloatArray, IntArray, LabelArray, check_level
from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.evaluation import store, valid_intervals
from sureleaf.evaluation.boundary_variance import Boundary, boundary_of
from sureleaf.evaluation.designs import Design
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.labelled_table import positive_class
from sureleaf.evaluation.measures import (
    CalibrationCurve,
    CalibrationLine,
    ConfusionMatrix,
    NetBenefit,
    Roc,
    calibration_curve,
    calibration_line,
    net_benefit,
    roc,
)
from sureleaf.evaluation.measures.named import NAMED, Measure, Scored, find_measure
from sureleaf.evaluation.measures.rates import count_pairs
from sureleaf.evaluation.valid_intervals import needs_larger_parts
from sureleaf.formatting import TextDisplay, listed, percent

EVERY = slice(None)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Out-of-fold predictions: one entry per row and split that tested it.

    `split` is the split whose model made the prediction; the columns of `probabilities` are in the
    order of `classes`.
    """

    row: IntArray
    split: IntArray
    truth: LabelArray
    prediction: LabelArray
    probabilities: FloatArray | None
    classes: LabelArray

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        extra = "" if self.probabilities is None else f", probabilities of {len(self.classes)}"
        return f"Predictions({len(self)} of unseen rows{extra})"

    def _columns(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in ("row", "split", "truth", "prediction")}
        if self.probabilities is not None:
            for code, label in enumerate(self.classes.tolist()):
                columns[f"probability {label}"] = self.probabilities[:, code]
        return columns

    def to_pandas(self) -> Any:
        """Return a pandas data frame."""
        return optional_library("pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a polars data frame."""
        return optional_library("polars").DataFrame(self._columns())


@dataclass(frozen=True)
class SplitFacts:
    """Facts about one split, besides its predictions.

    `n_train` is the number of different training rows before their classes are balanced, and
    `failure` the error that stopped the split.
    """

    repeat: int
    fold: int
    n_train: int
    n_test: int
    failure: str | None = None


SUMMARY_MEASURES = (
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "f_measure",
    "auc",
    "nce",
    "quadratic_loss",
    "cost",
    "decided_cost",
)


@dataclass(frozen=True)
class EvaluationSummary(TextDisplay):
    """The main measures of an evaluation, and warnings about them.

    The warnings are facts that the measures do not show: missed classes, failed splits, infinite
    losses. With costs there is the class that is cheapest as the decision for all rows.
    """

    title: str
    estimates: dict[str, Estimate]
    majority: float  # accuracy of the baseline, which always predicts the most frequent class
    warnings: tuple[str, ...]
    cheapest: tuple[Any, float] | None = None  # the class, and its cost per row

    def __str__(self) -> str:
        lines = [self.title, ""]
        width = max(len(name) for name in self.estimates)
        for name, estimate in self.estimates.items():
            lines.append(f"  {name.ljust(width)}  {estimate}")
            if name == "accuracy":
                lines.append(f"  {'baseline'.ljust(width)}  {self.majority:.4f}")
        if self.cheapest is not None:
            label, least = self.cheapest
            lines.append(f"  Always deciding for {label!r} costs {least:.4f} per row.")
        lines.extend(f"  ! {warning}" for warning in self.warnings)
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Evaluation(TextDisplay):
    """A classifier evaluated by a design: every out-of-fold prediction, and estimates from them.

    Any measure can be computed later without refitting. `sureleaf.evaluate` returns it.

    Truth, weights and groups are those of the rows of the table; row, split, prediction and
    probabilities are in the order of the splits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluation = evaluate(GaussianNB(), X, y, random_state=0)
    >>> evaluation
    Evaluation(GaussianNB() by KFold, 150 rows, 3 classes, 10 splits)
    >>> print(evaluation.confusion())
    actual |  0   1   2 | sum
    0      | 50   0   0 |  50
    1      |  0  47   3 |  50
    2      |  0   4  46 |  50
    sum    | 50  51  49 | 150
    """

    estimator: str
    design: Design
    seed: int  # with the design, it reproduces the splits
    classes: LabelArray
    positive_code: int
    truth: IntArray  # class code of every row
    weights: FloatArray | None
    groups: IntArray | None
    cost_matrix: FloatArray | None
    splits: tuple[SplitFacts, ...]
    row: IntArray
    split: IntArray
    prediction: IntArray  # class codes
    probabilities: FloatArray | None

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"Evaluation({self.estimator} by {type(self.design).__name__}, {len(self.truth)} rows, "
            f"{len(self.classes)} classes, {len(self.splits)} splits{failed})"
        )

    @property
    def positive(self) -> Any:
        """The positive class."""
        return self.classes.tolist()[self.positive_code]

    @property
    def failures(self) -> dict[int, str]:
        """Split number -> the error that stopped it."""
        return {i: facts.failure for i, facts in enumerate(self.splits) if facts.failure}

    @cached_property
    def worked(self) -> tuple[int, ...]:
        """Numbers of the splits that worked; only these have predictions."""
        return tuple(i for i, facts in enumerate(self.splits) if not facts.failure)

    @property
    def predictions(self) -> Predictions:
        """Out-of-fold predictions as labels: row, split, truth, prediction, probabilities."""
        return Predictions(
            self.row,
            self.split,
            self.classes[self.truth[self.row]],
            self.classes[self.prediction],
            self.probabilities,
            self.classes,
        )

    @property
    def rows_id(self) -> str:
        """Fingerprint of the labels of the rows: equal for two evaluations of one table.

        It uses the labels only, because the same rows with other columns can be compared in pairs.
        Two different tables with equal labels in the same order cannot be distinguished. Paired
        tests of such tables stay valid, since independent rows are valid pairs, too; but they
        compare two tables, for which `independent=True` is meant.
        """
        digest = hashlib.sha256(json.dumps([str(label) for label in self.classes]).encode())
        digest.update(self.truth.astype("<i8").tobytes())
        return digest.hexdigest()

    @property
    def splits_id(self) -> str:
        """Fingerprint of rows and splits: if equal, splits can be compared in pairs."""
        plan = json.dumps([self.design.to_dict(), self.seed], sort_keys=True)
        digest = hashlib.sha256((self.rows_id + plan).encode())
        if self.groups is not None:
            digest.update(self.groups.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def boundary(self) -> Boundary | None:
        """How far the decision boundary moves from table to table; None if nothing is known."""
        return boundary_of(self)

    @property
    def test_to_train(self) -> float:
        """Mean over splits of the number of test rows by `SplitFacts.n_train`."""
        own = [self.splits[i] for i in self.worked]
        return float(np.mean([facts.n_test / facts.n_train for facts in own]))

    def scored(self, cells: IntArray | slice = EVERY) -> Scored:
        """Return the predictions, or those at these indices, in the form that measures take."""
        row = self.row[cells]
        return Scored(
            self.truth[row],
            self.prediction[cells],
            None if self.probabilities is None else self.probabilities[cells],
            None if self.weights is None else self.weights[row],
            self.cost_matrix,
            len(self.classes),
            self.positive_code,
        )

    def slice_of(self, split: int) -> slice:
        """Return where the predictions of one split are: those of a slice are not copied."""
        return slice(*np.searchsorted(self.split, [split, split + 1]).tolist())

    def find(self, measure: str | Measure) -> Measure:
        """Return the measure, if the evaluation has what it needs."""
        chosen = find_measure(measure)
        if chosen.needs_probabilities and self.probabilities is None:
            raise InvalidArgumentError(
                f"{chosen.name} needs probabilities, and {self.estimator} has no predict_proba. "
                "Use a measure of predictions, for example accuracy, or wrap the estimator in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        chosen.check_cost(self.cost_matrix)
        return chosen

    def split_values(self, measure: str | Measure) -> FloatArray:
        """Return the measure on the test rows of each split that worked; NaN where undefined."""
        chosen = self.find(measure)
        return np.array([chosen.of_split(self.scored(self.slice_of(i))) for i in self.worked])

    def row_values(self, measure: str | Measure) -> tuple[IntArray, FloatArray]:
        """Return the rows that were tested, and the mean value of the measure for each.

        Only for measures that are means over rows: accuracy, error, losses and cost.
        """
        chosen = self.find(measure)
        if chosen.row_values is None:
            raise InvalidArgumentError(
                f"{chosen.name} is not a mean over rows. Use accuracy, error, a loss or cost."
            )
        values = chosen.row_values(self.scored())
        times = np.bincount(self.row, minlength=len(self.truth))
        sums = np.bincount(self.row, values, minlength=len(self.truth))
        rows = np.flatnonzero(times)
        return rows, sums[rows] / times[rows]

    def estimate(
        self, measure: str | Measure, *, level: float = 0.95, of: str | None = None
    ) -> Estimate:
        """Return a measure with an interval that is valid for the design.

        With many splits, means over rows (accuracy, losses) and areas are averaged over splits.
        Ratios of counts (precision, recall, F, kappa, Matthews) are computed from the counts of all
        splits together, because a mean of ratios of few rows is biased.

        Parameters
        ----------
        measure : str or Measure
            A name such as ``"accuracy"`` or ``"auc"``. ``"cost"`` is the mean cost per row of the
            predictions, ``"decided_cost"`` that of the decisions with the least expected cost.
        of : {"model", "algorithm"}, optional
            Whether the interval is for the fitted model(s), or for the algorithm, trained on
            other rows of the same population. By default the model for a hold-out, the algorithm
            for every other design. A hold-out has no interval for the algorithm, repeated
            hold-outs and bootstraps have none for one model.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sureleaf import evaluate
        >>> from sureleaf.designs import Holdout
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> evaluation = evaluate(GaussianNB(), X, y, design=Holdout(), random_state=1)
        >>> print(evaluation.estimate("accuracy"))
        0.9579 (95 % interval 0.9187 to 0.9816; Clopper-Pearson, this model)
        """
        return valid_intervals.estimate(self, self.find(measure), level=level, of=of)

    def confusion(self) -> ConfusionMatrix:
        """Return the confusion matrix of all out-of-fold predictions, weighted if rows are."""
        rows = self.scored()
        counts = count_pairs(rows.truth, rows.prediction, rows.n_classes, rows.weights)
        return ConfusionMatrix(self.classes, counts)

    def cost(self) -> float:
        """Return the total cost of all out-of-fold predictions, weighted if rows are."""
        rows = self.scored()
        mass = len(rows) if rows.weights is None else float(rows.weights.sum())
        return self.find("cost").value(rows) * mass

    def _of_class(
        self, name: str, positive: object
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray | None]:
        """Return whether each prediction is of a row of this class, its probability and weight."""
        rows = self.scored()
        if rows.probabilities is None:
            raise InvalidArgumentError(
                f"{name} needs probabilities, and {self.estimator} has no predict_proba."
            )
        code = self.positive_code if positive is None else positive_class(positive, self.classes)
        return rows.truth == code, rows.probabilities[:, code], rows.weights

    def roc(self, *, positive: object = None) -> Roc:
        """Return the ROC curve of all out-of-fold predictions for one class."""
        is_positive, score, weights = self._of_class("roc", positive)
        return roc(is_positive, score, sample_weight=weights)

    def calibration(
        self, *, positive: object = None, n_bins: int = 10, level: float = 0.95
    ) -> CalibrationCurve:
        """Return the calibration curve of one class, with consistency bands."""
        truth, score, weights = self._of_class("calibration", positive)
        repeats = len(score) / np.count_nonzero(np.bincount(self.row))
        return calibration_curve(
            truth, score, n_bins=n_bins, level=level, sample_weight=weights, repeats=repeats
        )

    def calibration_line(self, *, positive: object = None, level: float = 0.95) -> CalibrationLine:
        """Return intercept and slope of calibration of one class, for the models fitted.

        Predictions of one row (or group) by several models do not narrow the intervals.
        """
        truth, score, weights = self._of_class("calibration_line", positive)
        units = self.row if self.groups is None else self.groups[self.row]
        return calibration_line(truth, score, level=level, sample_weight=weights, groups=units)

    def net_benefit(
        self, thresholds: ArrayLike | None = None, *, positive: object = None
    ) -> NetBenefit:
        """Return the decision curve of all out-of-fold predictions for one class."""
        is_positive, score, weights = self._of_class("net_benefit", positive)
        return net_benefit(is_positive, score, thresholds, sample_weight=weights)

    def summary(self, *, level: float = 0.95) -> EvaluationSummary:
        """Return the main measures with their intervals, and warnings; printed as text."""
        return _summarise(self, level=level)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the evaluation to a file that `Evaluation.load` reads (format: `store`)."""
        store.save_evaluation(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Evaluation":
        """Read an evaluation that `save` wrote."""
        return store.load_evaluation(path)


def _summarise(evaluation: Evaluation, *, level: float) -> EvaluationSummary:
    """Return the summary of an evaluation."""
    check_level(level)
    estimates, warnings = {}, []
    left_out = () if len(evaluation.classes) == 2 else ("precision", "recall", "f_measure")
    single_rows = []
    for measure in (NAMED[name] for name in SUMMARY_MEASURES if name not in left_out):
        has_cost = evaluation.cost_matrix is not None or not measure.needs_cost
        if not has_cost or (measure.needs_probabilities and evaluation.probabilities is None):
            continue
        if needs_larger_parts(evaluation, measure):
            single_rows.append(measure.name)
            continue
        try:
            estimates[measure.name] = evaluation.estimate(measure, level=level)
        except InvalidArgumentError as problem:
            warnings.append(f"{measure.name}: {problem}")
    if single_rows:
        warnings.append(
            f"{listed(single_rows)} are not defined for a test part of one row (leave-one-out). "
            "For them, evaluate with folds."
        )
    confusion = evaluation.confusion()
    majority = float(np.max(confusion.actual) / confusion.total)
    cheapest, cost = _cheapest(evaluation), estimates.get("decided_cost")
    if cheapest is None:
        warnings += _accuracy_warnings(confusion, majority, estimates.get("accuracy"))
    elif cost is not None and cost.value >= cheapest[1] - 1e-12:
        warnings.append(
            f"Cost {cost.value:.4f} is no lower than that of always deciding for {cheapest[0]!r} "
            f"({cheapest[1]:.4f})."
        )
    warnings += _class_warnings(confusion)
    warnings += _value_warnings(evaluation, estimates)
    options = evaluation.design.to_dict()
    design = options.pop("design")
    title = (
        f"{evaluation.estimator} on {len(evaluation.truth)} rows of {len(evaluation.classes)} "
        f"classes, positive class {evaluation.positive!r}, by {design}"
        f"({', '.join(f'{key}={value}' for key, value in options.items())}), seed {evaluation.seed}"
    )
    return EvaluationSummary(title, estimates, majority, tuple(warnings), cheapest)


def _cheapest(evaluation: Evaluation) -> tuple[Any, float] | None:
    """Return the class that is cheapest as the decision for all rows, and its cost per row."""
    if evaluation.cost_matrix is None:
        return None
    costs = evaluation.cost_matrix[evaluation.truth]
    means = np.average(costs, axis=0, weights=evaluation.weights)
    return evaluation.classes.tolist()[int(np.argmin(means))], float(means.min())


def _accuracy_warnings(
    confusion: ConfusionMatrix, majority: float, estimate: Estimate | None
) -> Iterator[str]:
    """Warn about a high accuracy that only reflects the most frequent class.

    The accuracy is the estimate that the summary states, if there is one: of bootstrap
    samples, it is not the share of the correct predictions.
    """
    labels = confusion.labels.tolist()
    share = float(np.trace(confusion.counts) / confusion.total)
    accuracy = share if estimate is None else estimate.value
    if accuracy <= majority + 1e-12:
        yield (
            f"Accuracy {percent(accuracy)} is no higher than the baseline, which always predicts "
            f"{labels[int(np.argmax(confusion.actual))]!r} ({percent(majority)})."
        )
    elif np.count_nonzero(confusion.predicted) == 1 and len(labels) > 1:
        yield f"Every prediction is {labels[int(np.argmax(confusion.predicted))]!r}."


def _class_warnings(confusion: ConfusionMatrix) -> Iterator[str]:
    labels, correct = confusion.labels.tolist(), np.diag(confusion.counts)
    for label, n_correct, rows in zip(labels, correct, confusion.actual, strict=True):
        if rows > 0 and n_correct == 0:
            yield f"Class {label!r}: none of its {rows:g} rows was predicted correctly."
        elif rows > 0 and n_correct < rows / 2 and rows < confusion.total / 2:
            wrong = f"{rows - n_correct:g} of its {rows:g} rows"
            yield f"Class {label!r}: {wrong} were predicted wrongly."


def _value_warnings(evaluation: Evaluation, estimates: dict[str, Estimate]) -> Iterator[str]:
    for i, why in evaluation.failures.items():
        split = evaluation.splits[i]
        yield f"Split {i} (repeat {split.repeat}, fold {split.fold}) failed and is not used: {why}"
    if "nce" in estimates and math.isinf(estimates["nce"].value):
        yield (
            "nce is infinite: a class that occurred had probability 0. The measure "
            "nce(floor=0.001) counts smaller probabilities as 0.001."
        )
    if evaluation.probabilities is None:
        yield "The estimator has no predict_proba: no AUC, losses or calibration."
    counts = np.bincount(evaluation.truth, minlength=len(evaluation.classes))
    for label in evaluation.classes[counts == 1].tolist():
        yield (f"Class {label!r} has only one row, so no model was both trained and tested on it.")
