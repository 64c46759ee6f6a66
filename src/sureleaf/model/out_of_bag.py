"""What predictions of rows by the trees whose bags do not hold them tell about new rows.

A new row is predicted by all trees, a training row only by the 37 % whose bags do not hold it. So
few trees are less accurate and less sure of themselves. Therefore further trees are grown, until a
row has as many out-of-bag trees as the model has trees. They are counted and dropped.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.decisions import predicted_class
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.progress import track
from sureleaf.tree import TrainingRows, Tree

if TYPE_CHECKING:
    from sureleaf.model.bagged_model import BaggedModel


_ROWS_PER_GROUP = 50
_MAX_GROUPS = 20
_N_PARTS = 10


@dataclass(frozen=True)
class OutOfBagLevels:
    """How sure bagged trees are, by rows that were not in the bags of the trees.

    - `agreement`: mean share of the trees that vote for the class that they predict together.
    - `utility`: share of the rows that are predicted correctly.
    - `low`, `high`: 95 % interval of the utility.
    - `n_rows`: weight of the rows with an out-of-bag prediction; of importance weights, the
      effective number.
    - `n_in_every_bag`: rows without an out-of-bag prediction.
    """

    agreement: float
    utility: float
    low: float
    high: float
    n_rows: float
    n_in_every_bag: int

    def __repr__(self) -> str:
        left = f", {self.n_in_every_bag} more in every bag" if self.n_in_every_bag else ""
        return (
            f"OutOfBagLevels: agreement {self.agreement:.3f}, utility {self.utility:.3f} "
            f"({self.low:.3f} to {self.high:.3f}), {self.n_rows:g} rows{left}"
        )


@dataclass(frozen=True, eq=False)
class AccuracyByProbability:
    """Accuracy of predictions by their probability, in groups; it never falls.

    - `lowest`: the lowest probability of each group but the first, ascending.
    - `correct`, `n`: weight of the correctly predicted rows (or what is expected at least), and of
      all rows, of each group; of importance weights, effective rows.
    """

    lowest: FloatArray
    correct: FloatArray
    n: FloatArray

    @classmethod
    def count(
        cls,
        probability: FloatArray,
        correct: NDArray[np.bool_],
        weights: FloatArray,
        *,
        at_least: float = 0.0,
        effective: bool = False,
    ) -> Self:
        """Group rows by the probability of their prediction, and count the correct ones.

        Groups of equal size are merged where the accuracy of the next one is lower (isotonic
        regression), because the differences between small groups are mostly chance. No group is
        below `at_least`, which is 1 / K for the most probable of K classes: where all are equally
        probable, 1 of K predictions is correct, and the accuracy does not fall from there.
        """
        if not len(probability):
            return cls(np.empty(0), np.zeros(1), np.zeros(1))
        n_groups = int(np.clip(len(probability) // _ROWS_PER_GROUP, 1, _MAX_GROUPS))
        shares = np.arange(1, n_groups) / n_groups
        # Probabilities that occur, so that no group is empty.
        lowest = np.unique(np.quantile(probability, shares, method="lower"))
        lowest = lowest[lowest > probability.min()]
        group = np.searchsorted(lowest, probability, side="right")
        n_correct, n = np.bincount(group, weights * correct), np.bincount(group, weights)
        from scipy.optimize import isotonic_regression  # takes a while to load

        first = isotonic_regression(n_correct / n, weights=n).blocks[:-1]
        squares = np.add.reduceat(np.bincount(group, weights**2), first)
        n_correct, n = np.add.reduceat(n_correct, first), np.add.reduceat(n, first)
        n_correct = np.maximum(n_correct, at_least * n)
        scale = n / squares if effective else np.ones(len(n))
        return cls(lowest[first[1:] - 1], n_correct * scale, n * scale)

    def of(self, probability: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return for each row the accuracy of its group, and its 95 % interval."""
        group = np.searchsorted(self.lowest, probability, side="right")
        rate = np.divide(self.correct, self.n, out=np.full(len(self.n), np.nan), where=self.n > 0)
        low, high = (np.asarray(end) for end in clopper_pearson(self.correct, self.n))
        return rate[group], low[group], high[group]


@dataclass(frozen=True, eq=False)
class OutOfBagEvidence:
    """What out-of-bag predictions tell: levels of the bag, and accuracy by probability."""

    levels: OutOfBagLevels
    accuracy: AccuracyByProbability


def missing_rows() -> InvalidArgumentError:
    """Make the error for out-of-bag results that were not computed while there were rows."""
    return InvalidArgumentError(
        "out-of-bag results need the training rows, and the model no longer holds them. "
        "Ask for oob_proba_ before forget_rows(), saving or pickling, or fit again."
    )


@dataclass(frozen=True, eq=False)
class OutOfBagSums:
    """Sums over the trees whose bags do not hold a row.

    - `values`, `votes`, shape (n_rows, n_classes): probabilities, and how many trees predict each
      class.
    - `n_trees`, shape (n_rows, 1): number of trees.
    - `parts`: values and number of trees of ten parts of the trees.
    - `n_grown`: number of trees of all parts; the model has fewer.
    """

    values: FloatArray
    votes: FloatArray
    n_trees: FloatArray
    parts: tuple[tuple[FloatArray, FloatArray], ...]
    n_grown: int

    def means(self) -> FloatArray:
        """Return the mean probabilities; NaN for rows in every bag."""
        means = np.full(self.values.shape, np.nan)
        np.divide(self.values, self.n_trees, out=means, where=self.n_trees > 0)
        return means


def out_of_bag_sums(
    model: "BaggedModel",
    rows: TrainingRows,
    grow: Callable[[list[int]], list[Tree]],
    *,
    n_threads: int = 1,
) -> OutOfBagSums:
    """Predict each row by trees whose bags do not hold it, on average as many as `model` has.

    The bags are drawn again. `grow` takes the numbers of further trees, and grows these trees.
    """
    n_trees, n_grown = len(model.trees), _n_trees_needed(model, rows)
    values, votes = (np.zeros((len(rows.labels), len(model.classes))) for _ in range(2))
    n_used = np.zeros((len(rows.labels), 1))
    parts = []
    n_parts = min(n_grown, _N_PARTS)
    all_numbers = np.array_split(np.arange(n_grown), n_parts)
    for numbers in track(all_numbers, total=n_parts, what="Predicting out of bag"):
        trees = model.trees[numbers[0] : numbers[-1] + 1]
        further = grow(numbers[numbers >= n_trees].tolist())
        of_bag: Any = {"seed": model.seed, "max_samples": model.max_samples}
        bags = [
            draw_bag(len(rows.labels), rows.weights, tree=number, **of_bag)
            for number in numbers.tolist()
        ]
        part = replace(model, trees=(*trees, *further)).sums(
            rows.kernel,
            is_used=np.equal(bags, 0.0).astype(np.uint8),
            in_detail=True,
            n_threads=n_threads,
        )
        parts.append((part.values, part.n_trees[:, np.newaxis]))
        values += part.values
        votes += part.votes
        n_used += parts[-1][1]
    return OutOfBagSums(values, votes, n_used, tuple(parts), n_grown)


def _n_trees_needed(model: "BaggedModel", rows: TrainingRows) -> int:
    """Return the number of trees of which ``len(model.trees)`` do not hold a row, on average.

    Bags of more draws than rows leave out less than 1 / e of them. There, e times as many trees
    as the model has must do, and predict rows out of bag a little worse than the model does.
    """
    weights = rows.row_weights
    shares = weights / weights.sum()
    left_out = float(shares @ (1.0 - shares) ** _n_draws(model.max_samples, weights.sum()))
    return math.ceil(len(model.trees) / max(left_out, math.exp(-1)))


def out_of_bag_evidence(
    model: "BaggedModel", sums: OutOfBagSums, rows: TrainingRows
) -> tuple[OutOfBagEvidence, FloatArray]:
    """Compare out-of-bag predictions with the classes of the rows.

    Returns the evidence, and the (calibrated) probabilities: NaN for rows in every bag.
    """
    is_importance = model.weights == "importance"
    weights, n_trees = rows.row_weights, sums.n_trees[:, 0]
    used = np.flatnonzero((n_trees > 0) & (weights > 0))
    weights, labels = weights[used], rows.labels[used]
    probabilities = sums.means()
    probabilities[n_trees > 0] = model.calibrated(probabilities[n_trees > 0])
    row, code = np.arange(len(used)), model.decide(probabilities[used])
    correct = code == labels
    total = float(weights.sum())
    n_rows = total**2 / float(weights @ weights) if is_importance and total else total
    utility = agreement = np.nan
    low, high = 0.0, 1.0
    if total:
        utility = float(weights @ correct) / total
        agreement = float(weights @ (sums.votes[used, code] / n_trees[used])) / total
        further = sums.n_grown / len(model.trees) - 1.0
        variance = further * _tree_variance(model, sums, labels, used, weights / total)
        low, high = _interval(utility, n_rows, variance)
    levels = OutOfBagLevels(
        agreement=agreement,
        utility=utility,
        low=low,
        high=high,
        n_rows=n_rows,
        n_in_every_bag=int((n_trees == 0).sum()),
    )
    accuracy = AccuracyByProbability.count(
        probabilities[used][row, code],
        correct,
        weights,
        at_least=1.0 / len(model.classes) if model.rule is None else 0.0,
        effective=is_importance,
    )
    return OutOfBagEvidence(levels, accuracy), probabilities


def _tree_variance(
    model: "BaggedModel",
    sums: OutOfBagSums,
    labels: NDArray[np.int32],
    used: NDArray[np.intp],
    shares: FloatArray,
) -> float:
    """Return the variance of the out-of-bag accuracy between draws of as many trees.

    Jackknife over the parts of the trees: each is left out, and the accuracy changes. That there
    are few rows changes it, too; this part of the sum of squares is known and taken off.
    """
    n_parts = len(sums.parts)
    correct = model.decide(model.calibrated(sums.means()[used])) == labels
    changes, chance = np.zeros(n_parts), 0.0
    for number, (values, n_trees) in enumerate(sums.parts):
        left = np.maximum((sums.n_trees - n_trees)[used], 1.0)
        code = model.decide(model.calibrated((sums.values - values)[used] / left))
        change = shares * ((code == labels) - 1.0 * correct)
        changes[number] = change.sum()
        chance += float(change @ change)
    rest = 1.0 - 1.0 / n_parts
    return rest * max(0.0, n_parts * float(changes.var()) - rest * chance)


def _interval(utility: float, n_rows: float, tree_variance: float) -> tuple[float, float]:
    """Return the 95 % interval of the accuracy of the model on new rows.

    Clopper-Pearson's, for so few rows that the binomial variance is that of the estimate less the
    truth: twice that of the rows, and the variance between trees. Twice, because rows predict one
    another: where the labels of two rows differ by chance, both are predicted wrongly. If all
    correct predictions are owed to such pairs, the variance is that of half as many rows; if none
    are, that of the rows.
    """
    spread = utility * (1.0 - utility)
    n_effective = n_rows / (2.0 + (n_rows * tree_variance / spread if spread > 0 else 0.0))
    low, high = clopper_pearson(min(utility * n_effective, n_effective), n_effective)
    return float(low), float(high)


def draw_bag(
    n_rows: int, weights: FloatArray | None, *, seed: int, tree: int, max_samples: int | float = 1.0
) -> FloatArray:
    """Draw rows with replacement and return how often each was drawn.

    There are as many draws as rows, or as the weights add up to (rounded), times `max_samples`. The
    probability of a row is proportional to its weight, so a weight of k is k rows. Draw number i
    depends only on the seed, the tree and i, so that bags can be drawn in any order and anywhere.

    `max_samples` is the number of draws, or their share of the number of rows.
    """
    key = np.array([seed % 2**64, tree], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key))
    if weights is None:
        drawn = (generator.random(_n_draws(max_samples, n_rows)) * n_rows).astype(np.int64)
    else:
        ends = np.cumsum(weights)
        positions = generator.random(_n_draws(max_samples, ends[-1])) * ends[-1]
        # A product that rounding brings to the end itself belongs to the last row with a weight.
        last = int(np.flatnonzero(weights)[-1])
        drawn = np.minimum(np.searchsorted(ends, positions, side="right"), last)
    return np.bincount(drawn, minlength=n_rows).astype(np.float64)


def _n_draws(max_samples: int | float, n_rows: float) -> int:
    is_number = isinstance(max_samples, int | np.integer)
    return int(max_samples) if is_number else max(1, round(max_samples * n_rows))


# ---- calibration by out-of-bag rows, with scikit-learn's calibrators -----------------------------


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that returns its table, so that scikit-learn can calibrate any probabilities."""

    def fit(self, X: FloatArray, y: NDArray[np.int32]) -> Self:
        self.classes_ = np.arange(X.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        return X

    def predict(self, X: FloatArray) -> NDArray[np.intp]:
        return predicted_class(X)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map from mean to calibrated probabilities per class, or only for the second of two.

    - `method`: what the maps are.
    - `maps`: for "sigmoid" the two numbers a and b of ``1 / (1 + exp(a p + b))``. For "isotonic" an
      array of shape (2, n_points): probabilities and their calibrated values, with straight lines
      in between. Empty if there is only one class.
    """

    method: str
    maps: tuple[FloatArray, ...]

    def __call__(self, probabilities: FloatArray) -> FloatArray:
        """Calibrate probabilities, one row of classes per row; they sum to 1."""
        if not self.maps:
            return probabilities
        n_classes = probabilities.shape[1]
        if n_classes == 2:
            second = self._mapped(self.maps[0], probabilities[:, 1])
            return np.column_stack([1.0 - second, second])
        mapped = np.column_stack(
            [self._mapped(line, p) for line, p in zip(self.maps, probabilities.T, strict=True)]
        )
        total = mapped.sum(axis=1, keepdims=True)
        even = np.full(mapped.shape, 1.0 / n_classes)
        return np.asarray(np.divide(mapped, total, out=even, where=total > 0))

    def _mapped(self, line: FloatArray, probabilities: FloatArray) -> FloatArray:
        if self.method == "sigmoid":
            a, b = line
            return np.asarray(expit(-(a * probabilities + b)))
        return np.asarray(np.interp(probabilities, line[0], line[1]))


def _maps(calibrator: Any) -> tuple[FloatArray, ...]:
    """Take the numbers out of scikit-learn's calibrators; a model keeps nothing else of them."""
    (calibrated,) = calibrator.calibrated_classifiers_
    return tuple(
        np.array([one.a_, one.b_], dtype=np.float64)
        if calibrator.method == "sigmoid"
        else np.array([one.X_thresholds_, one.y_thresholds_], dtype=np.float64)
        for one in calibrated.calibrators
    )


def fit_calibration(
    probabilities: FloatArray,
    labels: NDArray[np.int32],
    weights: FloatArray | None,
    *,
    method: str,
    classes: NDArray[Any],
) -> Calibration:
    """Fit a calibrator on probabilities of rows that did not shape them.

    Rows whose probabilities are NaN are left out. `method` is "sigmoid" (Platt) or "isotonic";
    where there are more than two classes, each is calibrated against the others. `classes` are for
    messages.
    """
    from sklearn.calibration import CalibratedClassifierCV  # loads linear models
    from sklearn.frozen import FrozenEstimator

    used = ~np.isnan(probabilities).any(axis=1)
    if weights is not None:
        used &= weights > 0
    counts = np.bincount(labels[used], minlength=probabilities.shape[1])
    if probabilities.shape[1] < 2:
        return Calibration(method, ())
    if not counts.all():
        missing = np.asarray(classes).tolist()[int(counts.argmin())]
        raise InvalidArgumentError(
            f"calibration needs out-of-bag rows of every class; class {missing!r} has none. Use "
            "more trees or calibration=None."
        )
    given, truth = probabilities[used], labels[used]
    everything = np.arange(len(truth))
    calibrator = CalibratedClassifierCV(
        FrozenEstimator(_Given().fit(given, truth)),
        method=method,
        cv=[(everything, everything)],
        ensemble=False,
    )
    with warnings.catch_warnings():
        # There is nothing to fit but the calibration itself, and that does use the weights.
        warnings.filterwarnings("ignore", message="Since FrozenEstimator does not appear")
        calibrator.fit(given, truth, None if weights is None else weights[used])
    return Calibration(method, _maps(calibrator))
