"""Numbers as JSON has them: what does not exist is null, never NaN."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation, Measure

__all__ = [
    "estimate_of",
    "in_hundred",
    "listed",
    "number",
    "numbers",
    "percent",
    "plain_estimate",
    "span",
]


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
        found = judged.estimate(measure, level=level)
        if found.low == found.high and judged.find(measure).counted:
            # All folds agree, and the interval over folds has no width: rows say how sure it is.
            found = judged.estimate(measure, level=level, of="model")
    except InvalidArgumentError:
        return None
    if found.low == found.high:
        method = f"{found.method}; all folds agree, so there is no valid interval"
        found = replace(found, low=math.nan, high=math.nan, method=method)
    return plain_estimate(found)


def percent(share: float, digits: int = 0) -> str:
    """Write a share as a percentage; one that is not 0 is not written as 0.

    Examples
    --------
    >>> percent(0.714), percent(0.0714, 1), percent(0.0002, 1)
    ('71 %', '7.1 %', 'less than 0.1 %')
    """
    text = f"{100 * share:.{digits}f}"
    if share > 0 and float(text) == 0:
        return f"less than {10.0**-digits:g} %"
    return f"{text} %"


def in_hundred(share: float) -> str:
    """Write a share as a count in 100; decimals where a whole number would claim certainty.

    Examples
    --------
    >>> in_hundred(0.714), in_hundred(0.998), in_hundred(1.0)
    ('71', '99.8', '100')
    """
    whole = f"{100 * share:.0f}"
    if whole not in ("0", "100") or share in (0, 1):
        return whole
    one = f"{100 * share:.1f}"
    return one if one not in ("0.0", "100.0") else f"{100 * share:.2g}" if share < 0.5 else "99.9"


def listed(names: list[str]) -> str:
    """Join names by commas and a last "and".

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def span(low: float, high: float) -> str:
    """Write the ends of a difference, in times of 100, each with its sign.

    Examples
    --------
    >>> span(-0.0128, 0.052)
    '\u22121.3 to +5.2'
    """
    return f"{100 * low:+.1f} to {100 * high:+.1f}".replace("-", "\u2212")
