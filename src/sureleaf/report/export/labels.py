"""Class labels as values that other languages have, too."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_texts", "plain_labels"]


def plain_labels(classes: NDArray[Any]) -> list[Any]:
    """Give labels as Python's own text, numbers, bools, dates and times.

    Examples
    --------
    >>> plain_labels(np.array(["2024-02-29"], dtype="datetime64[ns]"))
    [datetime.datetime(2024, 2, 29, 0, 0)]
    """
    if classes.dtype.kind in "mM" and np.datetime_data(classes.dtype)[0] in ("ns", "ps", "fs"):
        classes = classes.astype(f"{classes.dtype.kind}8[us]")
    return list(classes.tolist())


def label_texts(classes: NDArray[Any]) -> list[str]:
    """Give labels as text; ISO 8601 for dates and times.

    Examples
    --------
    >>> label_texts(np.array([True, False])), label_texts(np.array([1.0, 2.0]))
    (['True', 'False'], ['1', '2'])
    """
    return [
        label.isoformat()
        if hasattr(label, "isoformat")
        else f"{label:.0f}"
        if isinstance(label, float) and label == round(label) and abs(label) < 2**53
        else str(label)
        for label in plain_labels(classes)
    ]
