"""Over- and under-sampling of the training part, and of that only."""

import numpy as np

from sureleaf.evaluation.arguments import Integers
from sureleaf.evaluation.draw import RESAMPLE, draw_with_replacement, shuffled

__all__ = ["balance"]


def balance(train: Integers, classes: Integers, how: str, seed: int, number: int) -> Integers:
    """Return training rows in which the classes that occur are equally frequent.

    ``"over"`` keeps every row and draws more of the rarer classes with replacement up to the
    largest; ``"under"`` keeps as many rows of each class as the smallest has; ``"none"`` changes
    nothing.

    Examples
    --------
    >>> classes = np.array([0, 0, 0, 1])
    >>> balance(np.arange(4), classes, "over", seed=0, number=0).tolist()
    [0, 1, 2, 3, 3, 3]
    """
    if how == "none":
        return train
    own = classes[train]
    present, counts = np.unique(own, return_counts=True)
    target = int(counts.max() if how == "over" else counts.min())
    parts = []
    for code, count in zip(present.tolist(), counts.tolist(), strict=True):
        rows = train[own == code]
        if how == "over":
            more = draw_with_replacement(count, target - count, seed, RESAMPLE, number, code)
            parts.append(np.concatenate([rows, rows[more]]))
        else:
            parts.append(rows[shuffled(count, seed, RESAMPLE, number, code)[:target]])
    return np.sort(np.concatenate(parts))
