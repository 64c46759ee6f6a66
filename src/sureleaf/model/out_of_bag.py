"""What predictions of rows by the trees whose bags do not hold them tell about new rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.tree import TrainingRows

if TYPE_CHECKING:
    from sureleaf.model.bagged_model import BaggedModel, BagSums

__all__ = [
    "AccuracyByProbability",
    "OutOfBagEvidence",
    "OutOfBagLevels",
    "draw_bag",
    "missing_rows",
    "out_of_bag_evidence",
    "out_of_bag_probabilities",
    "out_of_bag_sums",
]

FloatArray = NDArray[np.float64]

_ROWS_PER_GROUP = 50
_MAX_GROUPS = 20


@dataclass(frozen=True)
class OutOfBagLevels:
    """How sure bagged trees are, by rows that were not in the bags of the trees.

    Parameters
    ----------
    agreement : float
        Mean share of the trees that vote for the class that they predict together.
    utility : float
        Share of the rows that are predicted correctly.
    low, high : float
        95 % interval of the utility (Clopper-Pearson).
    n_rows : float
        Weight of the rows with an out-of-bag prediction; of importance weights, the effective
        number.
    n_in_every_bag : int
        Rows without an out-of-bag prediction.

    Examples
    --------
    >>> OutOfBagLevels(0.9, 0.8, 0.7, 0.87, 100.0, 0)
    OutOfBagLevels: agreement 0.900, utility 0.800 (0.700 to 0.870), 100 rows
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
    """Accuracy of predictions by their probability, in groups of equal size.

    Parameters
    ----------
    lowest : ndarray
        The lowest probability of each group but the first, ascending.
    correct, n : ndarray
        Weight of the correctly predicted rows, and of all rows, of each group; of importance
        weights, effective rows.

    Examples
    --------
    >>> groups = AccuracyByProbability(np.array([0.8]), np.array([60.0, 95.0]), np.full(2, 100.0))
    >>> groups.of(np.array([0.7, 0.9]))[0].tolist()
    [0.6, 0.95]
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
        effective: bool = False,
    ) -> Self:
        """Group rows by the probability of their prediction, and count the correct ones.

        Examples
        --------
        >>> groups = AccuracyByProbability.count(
        ...     np.array([0.6, 0.9]), np.array([False, True]), np.ones(2))
        >>> groups.correct.tolist(), groups.n.tolist()
        ([1.0], [2.0])
        """
        if not len(probability):
            return cls(np.empty(0), np.zeros(1), np.zeros(1))
        n_groups = int(np.clip(len(probability) // _ROWS_PER_GROUP, 1, _MAX_GROUPS))
        shares = np.arange(1, n_groups) / n_groups
        lowest = np.unique(np.quantile(probability, shares)) if n_groups > 1 else np.empty(0)
        lowest = lowest[lowest > probability.min()] if len(lowest) else lowest
        group = np.searchsorted(lowest, probability, side="right")
        size = len(lowest) + 1
        n_correct = np.bincount(group, weights * correct, size)
        n = np.bincount(group, weights, size)
        if effective:
            squares = np.bincount(group, weights**2, size)
            scale = np.divide(n, squares, out=np.ones(size), where=squares > 0)
            n_correct, n = n_correct * scale, n * scale
        return cls(lowest, n_correct.astype(float), n.astype(float))

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


def out_of_bag_sums(model: "BaggedModel", rows: TrainingRows, *, n_threads: int = 1) -> "BagSums":
    """Predict each row by the trees whose bags, which are drawn again, do not hold it."""
    is_used = np.empty((len(model.trees), len(rows.labels)), dtype=np.uint8)
    for number in range(len(model.trees)):
        bag = draw_bag(
            len(rows.labels),
            rows.weights,
            seed=model.seed,
            tree=number,
            max_samples=model.max_samples,
        )
        is_used[number] = bag == 0
    return model.sums(rows.kernel, is_used=is_used, in_detail=True, n_threads=n_threads)


def out_of_bag_probabilities(model: "BaggedModel", sums: "BagSums") -> FloatArray:
    """Return the (calibrated) mean out-of-bag probabilities; NaN for rows in every bag."""
    means = sums.mean(sums.values)
    has_trees = sums.n_trees > 0
    means[has_trees] = model.calibrated(means[has_trees])
    return means


def out_of_bag_evidence(
    model: "BaggedModel", sums: "BagSums", rows: TrainingRows
) -> OutOfBagEvidence:
    """Compare out-of-bag predictions with the classes of the rows.

    Parameters
    ----------
    model : BaggedModel
        The bagged trees.
    sums : BagSums
        Of `out_of_bag_sums`.
    rows : TrainingRows
        The rows.
    """
    is_importance = model.weights == "importance"
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    used = np.flatnonzero((sums.n_trees > 0) & (weights > 0))
    probabilities = out_of_bag_probabilities(model, sums)[used]
    code = model.decide(probabilities)
    row, weights = np.arange(len(used)), weights[used]
    correct = code == rows.labels[used]
    agreement = sums.mean(sums.votes)[used, code]
    total = float(weights.sum())
    n_rows = total**2 / float((weights**2).sum()) if is_importance and total else total
    utility = float((weights * correct).sum()) / total if total else np.nan
    low, high = clopper_pearson(min(utility * n_rows, n_rows) if total else 0.0, n_rows)
    levels = OutOfBagLevels(
        agreement=float((weights * agreement).sum() / total) if total else np.nan,
        utility=utility,
        low=float(low),
        high=float(high),
        n_rows=n_rows,
        n_in_every_bag=int((sums.n_trees == 0).sum()),
    )
    accuracy = AccuracyByProbability.count(
        probabilities[row, code], correct, weights, effective=is_importance
    )
    return OutOfBagEvidence(levels, accuracy)


def draw_bag(
    n_rows: int,
    weights: FloatArray | None,
    *,
    seed: int,
    tree: int,
    max_samples: int | float = 1.0,
) -> FloatArray:
    """Draw rows with replacement and return how often each was drawn.

    There are as many draws as rows, or as the weights add up to (rounded), times `max_samples`.
    The probability of a row is proportional to its weight, so a weight of k is k rows. Draw number
    i depends only on the seed, the tree and i, so that bags can be drawn in any order and anywhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    weights : ndarray of shape (n_rows,), or None
        Their weights, None for all 1.
    seed, tree : int
        The key of the generator.
    max_samples : int or float
        The number of draws, or their share of the number of rows.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        Whole numbers; 0 for rows that are not in the bag.

    Examples
    --------
    >>> bag = draw_bag(1000, None, seed=0, tree=0)
    >>> int(bag.sum()), int((bag == 0).sum())
    (1000, 377)
    >>> draw_bag(4, np.array([0.0, 3.0, 0.0, 1.0]), seed=0, tree=0).tolist()
    [0.0, 4.0, 0.0, 0.0]
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
