"""What trees say about rows that they did not see, and what that tells about new rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.levels.intervals import wilson
from sureleaf.model.column_table import ColumnTable

__all__ = ["BagRowLevels", "BagSums", "HitRates", "OutOfBagLevels", "draw_bag"]


_ROWS_A_GROUP = 50
_MOST_GROUPS = 20


@dataclass(frozen=True, eq=False)
class BagSums:
    """Sums over the trees that were asked about a row, a line a row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_classes)
        Their probabilities.
    squares, votes : ndarray of shape (n_rows, n_classes)
        Squares of the probabilities, and how many trees predict each class.
    imputed : ndarray of shape (n_rows,)
        The share of the row that a missing or unseen value has sent somewhere.
    n_trees : ndarray of shape (n_rows,)
        How many trees were asked.

    Examples
    --------
    >>> said = np.array([[0.8, 0.2], [0.4, 0.6]])  # by two trees, of one row
    >>> none = np.zeros(1)
    >>> votes = np.array([[1.0, 1.0]])
    >>> sums = BagSums(said.sum(0)[None], (said**2).sum(0)[None], votes, none, np.array([2.0]))
    >>> sums.mean(sums.values).round(3).tolist(), sums.spread().round(3).tolist()
    ([[0.6, 0.4]], [[0.2, 0.2]])
    """

    values: NDArray[np.float64]
    squares: NDArray[np.float64]
    votes: NDArray[np.float64]
    imputed: NDArray[np.float64]
    n_trees: NDArray[np.float64]

    def mean(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide by the number of trees; NaN where none was asked."""
        n_trees = self.n_trees.reshape(-1, *[1] * (sums.ndim - 1))
        unknown = np.full(sums.shape, np.nan)
        mean: NDArray[np.float64] = np.divide(sums, n_trees, out=unknown, where=n_trees > 0)
        return mean

    def spread(self) -> NDArray[np.float64]:
        """Give the standard deviation between the trees of each class's probability."""
        variance = self.mean(self.squares) - self.mean(self.values) ** 2
        spread: NDArray[np.float64] = np.sqrt(np.maximum(variance, 0.0))
        return spread


@dataclass(frozen=True)
class OutOfBagLevels:
    """How sure bagged trees are, by rows that the trees asked had not seen.

    Parameters
    ----------
    agreement : float
        Mean share of the trees that vote for what they predict together.
    utility : float
        Share of the rows that are predicted right.
    low, high : float
        95 % interval of the utility (Wilson).
    n_rows : float
        Weight of the rows that were judged; of importance weights, the effective number.
    n_in_every_bag : int
        Rows that no tree could judge.

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
class HitRates:
    """How often predictions were right, by how probable they were held: groups of equal size.

    Parameters
    ----------
    lowest : ndarray
        The lowest probability of each group but the first, ascending.
    hits, n : ndarray
        Weight of the rows predicted right, and of all rows, of each group; of importance weights,
        effective rows.

    Examples
    --------
    >>> rates = HitRates(np.array([0.8]), np.array([60.0, 95.0]), np.array([100.0, 100.0]))
    >>> rates.of(np.array([0.7, 0.9]))[0].tolist()
    [0.6, 0.95]
    """

    lowest: NDArray[np.float64]
    hits: NDArray[np.float64]
    n: NDArray[np.float64]

    @classmethod
    def count(
        cls,
        stated: NDArray[np.float64],
        hit: NDArray[np.bool_],
        weights: NDArray[np.float64],
        *,
        effective: bool = False,
    ) -> Self:
        """Group rows by what was stated and count the hits; as effective rows, if so wanted.

        Examples
        --------
        >>> rates = HitRates.count(np.array([0.6, 0.9]), np.array([False, True]), np.ones(2))
        >>> rates.hits.tolist(), rates.n.tolist()
        ([1.0], [2.0])
        """
        n_groups = int(np.clip(len(stated) // _ROWS_A_GROUP, 1, _MOST_GROUPS))
        shares = np.arange(1, n_groups) / n_groups
        lowest = np.unique(np.quantile(stated, shares)) if n_groups > 1 else np.empty(0)
        lowest = lowest[lowest > stated.min()] if len(lowest) else lowest
        group = np.searchsorted(lowest, stated, side="right")
        size = len(lowest) + 1
        hits, n = np.bincount(group, weights * hit, size), np.bincount(group, weights, size)
        if effective:
            squares = np.bincount(group, weights**2, size)
            scale = np.divide(n, squares, out=np.ones(size), where=squares > 0)
            hits, n = hits * scale, n * scale
        return cls(lowest, hits.astype(float), n.astype(float))

    def of(self, stated: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Give for each row the hit rate of its group, and its 95 % interval."""
        group = np.searchsorted(self.lowest, stated, side="right")
        rate = np.divide(self.hits, self.n, out=np.full(len(self.n), np.nan), where=self.n > 0)
        low, high = (np.asarray(end) for end in wilson(self.hits, self.n))
        return rate[group], low[group], high[group]


@dataclass(frozen=True, eq=False, repr=False)
class BagRowLevels(ColumnTable):
    """What bagged trees say about each row, and how far to believe it.

    Parameters
    ----------
    prediction : ndarray
        The predicted class.
    probability : ndarray
        Its probability, as in ``predict_proba``.
    agreement : ndarray
        The share of the trees that vote for it.
    utility : ndarray
        How often out-of-bag rows with a prediction as probable as this were predicted right.
    low, high : ndarray
        95 % interval of the utility (Wilson).
    spread : ndarray
        Standard deviation of the trees' probabilities for it.
    imputed_share : ndarray
        How much of the row was sent somewhere by a missing or unseen value, mean over the trees.

    Examples
    --------
    >>> from sureleaf import BaggedTreesClassifier
    >>> X, y = [[place] for place in range(200)], [0] * 100 + [1] * 100
    >>> model = BaggedTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict_levels([[10], [190]]).prediction.tolist()
    [0, 1]
    """

    prediction: NDArray[Any]
    probability: NDArray[np.float64]
    agreement: NDArray[np.float64]
    utility: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    spread: NDArray[np.float64]
    imputed_share: NDArray[np.float64]


# Which rows does each tree of several see? Drawn by a generator keyed by seed, tree and draw.


def draw_bag(
    n_rows: int, weights: NDArray[np.float64] | None, *, seed: int, tree: int
) -> NDArray[np.float64]:
    """Draw rows with replacement and say how often each was drawn.

    There are as many draws as rows, or as the weights add up to (rounded); a row's chance is
    proportional to its weight, so a weight of k is k rows. Draw number i depends on nothing but
    the seed, the tree and i, so that trees can be drawn in any order and anywhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    weights : ndarray of shape (n_rows,), or None
        Their weights, None for all 1.
    seed, tree : int
        The key of the generator.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        Whole numbers; 0 for rows that the tree does not see.

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
        drawn = (generator.random(n_rows) * n_rows).astype(np.int64)
    else:
        ends = np.cumsum(weights)
        places = generator.random(max(1, round(ends[-1]))) * ends[-1]
        # A product that rounding brings to the end itself belongs to the last row with a weight.
        last = int(np.flatnonzero(weights)[-1])
        drawn = np.minimum(np.searchsorted(ends, places, side="right"), last)
    return np.bincount(drawn, minlength=n_rows).astype(np.float64)
