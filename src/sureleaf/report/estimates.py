"""Estimates as the report's document holds them: what does not exist is null, never NaN."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation, Measure
from sureleaf.report.document_schema import record_of


@dataclass(frozen=True, kw_only=True)
class IntervalEstimate:
    """A value with its interval."""

    value: Annotated[float, "The estimate."]
    low: Annotated[float | None, "Ends of the interval; null if there is no valid interval."]
    high: Annotated[float | None, "Ends of the interval; null if there is no valid interval."]
    level: Annotated[float, "Level of the interval, such as 0.95."]
    method: Annotated[str, "How the interval was computed."]


def finite(value: Any) -> float | None:
    """Return a number as a float, or None if it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def finite_list(values: Any) -> list[float | None]:
    """Return numbers as floats, None for those that are not finite."""
    return [finite(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def interval_estimate(estimate: Estimate) -> IntervalEstimate | None:
    """Return an estimate for the document; None if the value itself is not finite."""
    if not math.isfinite(estimate.value):
        return None
    low, high = finite(estimate.low), finite(estimate.high)
    return record_of(IntervalEstimate, estimate, low=low, high=high)


def estimate_measure(
    evaluation: Evaluation, measure: str | Measure, *, level: float
) -> IntervalEstimate | None:
    """Estimate a measure with its interval over folds; None if the measure is not defined.

    If all folds agree, the interval over folds has no width. Then the interval over rows is used,
    and if that has no width either, the estimate has no interval.
    """
    try:
        estimate = evaluation.estimate(measure, level=level)
        if estimate.low == estimate.high and evaluation.find(measure).counted:
            estimate = evaluation.estimate(measure, level=level, of="model")
    except InvalidArgumentError:
        return None
    matrix = evaluation.cost_matrix
    if matrix is not None and evaluation.find(measure).name == "cost":
        low, high = float(matrix.min()), float(matrix.max())  # no mean cost lies outside
        estimate = replace(estimate, low=max(estimate.low, low), high=min(estimate.high, high))
    if estimate.low == estimate.high:
        method = f"{estimate.method}; all folds agree, so there is no valid interval"
        estimate = replace(estimate, low=math.nan, high=math.nan, method=method)
    return interval_estimate(estimate)
