"""Which rows does each tree of several see? Drawn by a generator keyed by seed, tree and draw."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_bag"]


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
