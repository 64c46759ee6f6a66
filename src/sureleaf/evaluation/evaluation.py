"""The frozen result of judging a classifier."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import FloatArray, IntArray, LabelArray
from sureleaf.errors import InvalidArgumentError, MissingPackageError
from sureleaf.evaluation import estimates, store
from sureleaf.evaluation.designs import Design
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures import (
    CalibrationCurve,
    ConfusionMatrix,
    Roc,
    calibration_curve,
    roc,
)
from sureleaf.evaluation.measures.calibration import correct_priors
from sureleaf.evaluation.measures.named import Measure, Scored, find_measure
from sureleaf.evaluation.measures.rates import count_pairs
from sureleaf.formatting import TextDisplay

if TYPE_CHECKING:
    from sureleaf.evaluation.summary import Summary

__all__ = ["Evaluation", "Predictions", "SplitFacts", "with_priors"]


# Out-of-sample predictions, one line for each row and split that tested it.


@dataclass(frozen=True, eq=False)
class Predictions:
    """What was predicted for rows that the model had not seen.

    Attributes
    ----------
    row : ndarray of int
        Number of the row in the table that was judged.
    split : ndarray of int
        Number of the split whose model predicted it.
    truth, prediction : ndarray of labels
    probabilities : ndarray of shape (n, m), or None
        In the order of `classes`.
    classes : ndarray of m labels

    Examples
    --------
    >>> import numpy as np
    >>> some = Predictions(np.array([4]), np.array([0]), np.array(["a"]), np.array(["b"]),
    ...                    np.array([[0.4, 0.6]]), np.array(["a", "b"]))
    >>> len(some), list(some.to_pandas().columns)
    (1, ['row', 'split', 'truth', 'prediction', 'probability a', 'probability b'])
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
        return f"Predictions({len(self)} of rows they were not fitted on{extra})"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "row": self.row,
            "split": self.split,
            "truth": self.truth,
            "prediction": self.prediction,
        }
        if self.probabilities is not None:
            for code, label in enumerate(self.classes.tolist()):
                columns[f"probability {label}"] = self.probabilities[:, code]
        return columns

    def to_pandas(self) -> Any:
        """Return a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a polars data frame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingPackageError("to_polars needs polars: pip install polars") from None
        return pl.DataFrame(self._columns())


@dataclass(frozen=True)
class SplitFacts:
    """What is known of one split besides its predictions.

    Attributes
    ----------
    repeat, fold : int
    without : int or None
        The second fold left out by a split of nested cross-validation.
    n_train : int
        Different rows it was trained on.
    n_test : int
    failure : str or None
        Type and message of the error that ended it, if one did.

    Examples
    --------
    >>> SplitFacts(0, 6, None, 90, 10, "ValueError: no").failure
    'ValueError: no'
    """

    repeat: int
    fold: int
    without: int | None
    n_train: int
    n_test: int
    failure: str | None = None


@dataclass(frozen=True, eq=False)
class Evaluation(TextDisplay):
    """A classifier judged by a design: every out-of-sample prediction, and what follows from them.

    Any measure can be computed later without refitting. Made by `sureleaf.evaluate`.

    Attributes
    ----------
    estimator : str
        The estimator as text.
    design : Design
    seed : int
        With the design it gives the same splits again.
    classes : ndarray of labels
    positive_code : int
        Position of the positive class among them.
    truth : ndarray of int
        Class code of every row of the table.
    weights, groups, cost : ndarray or None
    splits : tuple of SplitFacts
    row, split, prediction : ndarray of int
        Row, split and predicted class code of every prediction, in the order of splits.
    probabilities : ndarray of shape (n, m), or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> judged = evaluate(GaussianNB(), X, y, random_state=0)
    >>> judged
    Evaluation(GaussianNB() by KFold, 150 rows, 3 classes, 10 splits)
    >>> print(judged.confusion())
    actual |  0   1   2 | sum
    0      | 50   0   0 |  50
    1      |  0  47   3 |  50
    2      |  0   4  46 |  50
    sum    | 50  51  49 | 150
    """

    estimator: str
    design: Design
    seed: int
    classes: LabelArray
    positive_code: int
    truth: IntArray
    weights: FloatArray | None
    groups: IntArray | None
    cost_matrix: FloatArray | None
    splits: tuple[SplitFacts, ...]
    row: IntArray
    split: IntArray
    prediction: IntArray
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
        """Split number -> the error that ended it."""
        return {i: facts.failure for i, facts in enumerate(self.splits) if facts.failure}

    @cached_property
    def main_splits(self) -> tuple[int, ...]:
        """Numbers of the splits that worked, without the inner ones of nested cross-validation."""
        return tuple(
            i for i, facts in enumerate(self.splits) if facts.without is None and not facts.failure
        )

    @property
    def predictions(self) -> Predictions:
        """Out-of-sample predictions as labels: row, split, truth, prediction, probabilities."""
        cells = np.isin(self.split, self.main_splits)
        table = None if self.probabilities is None else self.probabilities[cells]
        row = self.row[cells]
        return Predictions(
            row,
            self.split[cells],
            self.classes[self.truth[row]],
            self.classes[self.prediction[cells]],
            table,
            self.classes,
        )

    @property
    def rows_id(self) -> str:
        """Fingerprint of the rows' labels: two evaluations of one table have the same.

        Of the labels only, not of the columns: the same rows with other columns, coded otherwise
        or with one more, are what is to be compared in pairs. Two tables that differ but have the
        same labels in the same order (sorted by class, for instance) are not told apart. Tests of
        such pairs stay valid, for rows that have nothing in common are pairs as good as any;
        but what they compare is two tables, which `independent=True` says.
        """
        digest = hashlib.sha256(json.dumps([str(label) for label in self.classes]).encode())
        digest.update(self.truth.astype("<i8").tobytes())
        return digest.hexdigest()

    @property
    def splits_id(self) -> str:
        """Fingerprint of rows and splits: with the same one, splits can be compared in pairs."""
        plan = json.dumps([self.design.to_dict(), self.seed], sort_keys=True)
        digest = hashlib.sha256((self.rows_id + plan).encode())
        if self.groups is not None:
            digest.update(self.groups.astype("<i8").tobytes())
        return digest.hexdigest()

    @property
    def test_to_train(self) -> float:
        """Test rows over (different) training rows, the mean over splits."""
        own = [self.splits[i] for i in self.main_splits]
        return float(np.mean([facts.n_test / facts.n_train for facts in own]))

    def scored(self, cells: IntArray) -> Scored:
        """Return predictions (by their positions) as codes for a measure."""
        row = self.row[cells]
        cost = self.cost_matrix
        return Scored(
            self.truth[row],
            self.prediction[cells],
            None if self.probabilities is None else self.probabilities[cells],
            None if self.weights is None else self.weights[row],
            cost[row] if cost is not None and cost.ndim == 3 else cost,
            len(self.classes),
            self.positive_code,
        )

    def cells_of(self, split: int) -> IntArray:
        """Return the positions of the predictions of one split."""
        return np.arange(*np.searchsorted(self.split, [split, split + 1]))

    def find(self, measure: str | Measure) -> Measure:
        """Return the measure, if the classifier gave what it needs."""
        found = find_measure(measure)
        if found.needs_probabilities and self.probabilities is None:
            raise InvalidArgumentError(
                f"{found.name} needs probabilities, and {self.estimator} has no predict_proba. "
                "Use a measure of predictions, for example accuracy, or wrap the estimator in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        found.check_cost(self.cost_matrix)
        return found

    def split_values(self, measure: str | Measure) -> FloatArray:
        """Return the measure on the test rows of each split that worked (NaN: undefined there).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sureleaf.evaluation import evaluate
        >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
        >>> judged.split_values("accuracy").shape
        (10,)
        """
        found = self.find(measure)
        return np.array([found.of_split(self.scored(self.cells_of(i))) for i in self.main_splits])

    def row_values(self, measure: str | Measure) -> tuple[IntArray, FloatArray]:
        """Return the rows that were tested, and the mean of the measure's value of each.

        Only for measures that are means over rows: accuracy, error, losses and cost.
        """
        found = self.find(measure)
        if found.row_values is None:
            raise InvalidArgumentError(f"{found.name} is no mean over rows.")
        cells = np.flatnonzero(np.isin(self.split, self.main_splits))
        values = found.row_values(self.scored(cells))
        times = np.bincount(self.row[cells], minlength=len(self.truth))
        sums = np.bincount(self.row[cells], values, minlength=len(self.truth))
        rows = np.flatnonzero(times)
        return rows, sums[rows] / times[rows]

    def estimate(
        self,
        measure: str | Measure,
        *,
        level: float = 0.95,
        of: str | None = None,
        method: str | None = None,
    ) -> Estimate:
        """Return a measure with an interval that is valid for the design.

        Of many splits, means over rows (accuracy, losses) and areas are averaged over the splits;
        ratios of counts (precision, recall, F, kappa, Matthews) are those of the counts of all
        splits together, since the mean of ratios of a few rows each is biased.

        Parameters
        ----------
        measure : str or Measure
            A name such as ``"accuracy"`` or ``"auc"``. ``"cost"`` is the mean cost a row of what
            is predicted, ``"decided_cost"`` that of the decisions of least expected cost.
        level : float
        of : {"model", "algorithm"}, optional
            Whether the interval speaks of the model(s) that were fitted, or of the algorithm,
            trained on other rows of the same kind. By default of the model for a hold-out, of the
            algorithm for every other design. A hold-out says nothing of the algorithm, repeated
            hold-outs and bootstraps nothing of one model.
        method : {"wilson", "clopper-pearson", "delong", "bca"}, optional
            Instead of the method chosen, for a model.

        Returns
        -------
        Estimate
            ``value, low, high, level, method``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sureleaf.evaluation import Holdout, evaluate
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> judged = evaluate(GaussianNB(), X, y, design=Holdout(), random_state=1)
        >>> print(judged.estimate("accuracy"))
        0.9579 (95 % interval 0.9191 to 0.9785; Wilson, this model)
        """
        return estimates.estimate(self, self.find(measure), level=level, of=of, method=method)

    def confusion(self) -> ConfusionMatrix:
        """Return the confusion matrix of all out-of-sample predictions, weighted if rows are."""
        rows = self.scored(np.flatnonzero(np.isin(self.split, self.main_splits)))
        counts = count_pairs(rows.truth, rows.prediction, rows.n_classes, rows.weights)
        return ConfusionMatrix(self.classes, counts)

    def cost(self) -> float:
        """Return the total cost of all out-of-sample predictions, weighted if rows are."""
        found = self.find("cost")
        rows = self.scored(np.flatnonzero(np.isin(self.split, self.main_splits)))
        mass = len(rows) if rows.weights is None else float(rows.weights.sum())
        return found.value(rows) * mass

    def _pooled(self, name: str) -> tuple[Scored, FloatArray]:
        rows = self.scored(np.flatnonzero(np.isin(self.split, self.main_splits)))
        if rows.probabilities is None:
            raise InvalidArgumentError(
                f"{name} needs probabilities, and {self.estimator} has no predict_proba."
            )
        return rows, rows.probabilities

    def roc(self, *, positive: object = None) -> Roc:
        """Return the ROC curve of all out-of-sample predictions for one class."""
        rows, table = self._pooled("roc")
        code = self._code(positive)
        return roc(rows.truth == code, table[:, code], sample_weight=rows.weights)

    def calibration(
        self, *, positive: object = None, n_bins: int = 10, level: float = 0.95
    ) -> CalibrationCurve:
        """Return the calibration curve, with consistency bands, of one class's probabilities."""
        rows, table = self._pooled("calibration")
        code = self._code(positive)
        return calibration_curve(
            rows.truth == code,
            table[:, code],
            n_bins=n_bins,
            level=level,
            sample_weight=rows.weights,
            repeats=len(rows) / len(np.unique(self.row[np.isin(self.split, self.main_splits)])),
        )

    def _code(self, positive: object) -> int:
        if positive is None:
            return self.positive_code
        found = [code for code, label in enumerate(self.classes.tolist()) if label == positive]
        if not found:
            raise InvalidArgumentError(
                f"positive must be one of {self.classes.tolist()}; got {positive!r}."
            )
        return found[0]

    def with_priors(self, in_use: ArrayLike | None = None) -> "Evaluation":
        """Return the evaluation as it would be with other shares of the classes.

        Probabilities are corrected by Bayes' rule, predictions are the most probable classes, and
        rows are weighed to the shares of use. Right if only the shares of the classes differ.

        Parameters
        ----------
        in_use : array-like of m positive shares, optional
            In the order of `classes`; by default those of the table, which takes back the
            over- or under-sampling of the design.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sureleaf.evaluation import evaluate
        >>> judged = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), random_state=0)
        >>> rare = judged.with_priors([0.01, 0.99]).confusion()
        >>> round(float(rare.actual[0] / rare.total), 4)
        0.01
        """
        return with_priors(self, in_use)

    def summary(self, *, level: float = 0.95) -> "Summary":
        """Return the main figures with their intervals, and what to beware of; prints as text."""
        from sureleaf.evaluation.summary import summarise

        return summarise(self, level=level)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the evaluation to a file that `Evaluation.load` reads (see `store`)."""
        store.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Evaluation":
        """Read an evaluation that `save` wrote."""
        return store.load(path)


# An evaluation as it would be where the classes are more or less frequent.


def with_priors(evaluation: "Evaluation", in_use: ArrayLike | None) -> "Evaluation":
    """Return the evaluation with probabilities, predictions and weights for other class shares.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> with_priors(judged, [0.5, 0.25, 0.25]).confusion().actual.tolist()
    [75.0, 37.5, 37.5]
    """
    if evaluation.probabilities is None:
        raise InvalidArgumentError(
            f"Priors are corrected in probabilities, and {evaluation.estimator} has no "
            "predict_proba."
        )
    counts = np.bincount(evaluation.truth, evaluation.weights, minlength=len(evaluation.classes))
    shares = counts / counts.sum()
    wanted = shares if in_use is None else np.asarray(in_use, dtype=np.float64)
    if wanted.shape != shares.shape or not (wanted > 0).all():
        raise InvalidArgumentError(
            f"in_use must be positive shares of the classes {evaluation.classes.tolist()}; "
            f"got {wanted.tolist()}."
        )
    balanced = np.full(len(shares), 1 / len(shares))
    trained_on = shares if evaluation.design.resample == "none" else balanced
    table = correct_priors(evaluation.probabilities, trained_on=trained_on, in_use=wanted)
    ratio = wanted / wanted.sum() / shares
    weights = np.ones(len(evaluation.truth)) if evaluation.weights is None else evaluation.weights
    return replace(
        evaluation,
        probabilities=table,
        prediction=table.argmax(axis=1),
        weights=weights * ratio[evaluation.truth],
    )
