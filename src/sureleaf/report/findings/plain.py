"""Numbers as JSON has them: what does not exist is null, never NaN."""

import math
from typing import Any

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation, Measure

__all__ = ["estimate_of", "number", "numbers", "percent", "plain_estimate", "points"]


def number(value: Any) -> float | None:
    """Return a finite number, or None.

    Examples
    --------
    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    found = float(value)
    return found if math.isfinite(found) else None


def numbers(values: Any) -> list[float | None]:
    """Return a list of finite numbers, None where they are not.

    Examples
    --------
    >>> numbers([1, float("inf")])
    [1.0, None]
    """
    return [number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def plain_estimate(found: Estimate) -> dict[str, Any] | None:
    """Return an estimate as plain values; None where the figure itself does not exist.

    Examples
    --------
    >>> plain_estimate(Estimate(0.8, 0.7, 0.9, 0.95, "Wilson"))["low"]
    0.7
    """
    if not math.isfinite(found.value):
        return None
    return {
        "value": found.value,
        "low": number(found.low),
        "high": number(found.high),
        "level": found.level,
        "method": found.method,
    }


def estimate_of(
    judged: Evaluation, measure: str | Measure, *, level: float
) -> dict[str, Any] | None:
    """Return a measure of an evaluation as plain values, None where it is not defined.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> estimate_of(judged, "recall", level=0.95)["level"]
    0.95
    """
    try:
        return plain_estimate(judged.estimate(measure, level=level))
    except InvalidArgumentError:
        return None


def percent(share: float, digits: int = 0) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.714), percent(0.0714, 1)
    ('71 %', '7.1 %')
    """
    return f"{100 * share:.{digits}f} %"


def points(difference: float) -> str:
    """Write a difference of shares in points of a hundred.

    Examples
    --------
    >>> points(0.0123), points(0.01)
    ('1.2 points', '1.0 points')
    """
    return f"{100 * difference:.1f} points"
