"""Segments one by one: rows by their rule, sums in a loop."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def rows_of(rule: str, frame: dict[str, Sequence[Any]]) -> list[bool]:
    """Return which rows meet a rule such as ``age > 61 and region = north``."""
    n_rows = len(next(iter(frame.values())))
    if rule == "all rows":
        return [True] * n_rows
    return [
        all(_meets(test, {name: column[i] for name, column in frame.items()}) for test in
            rule.split(" and "))
        for i in range(n_rows)
    ]  # fmt: skip


def _meets(test: str, row: dict[str, Any]) -> bool:
    name, _, rest = test.partition(" ")
    value = row[name]
    is_missing = value is None or value != value
    if rest == "is missing":
        return bool(is_missing)
    sign, _, bound = rest.partition(" ")
    if is_missing:
        return False
    if sign == "=":
        return str(value) == bound
    return bool(value <= float(bound)) if sign == "<=" else bool(value > float(bound))


def distance(inside: Sequence[bool], stated: Sequence[float], observed: Sequence[float]) -> float:
    """Return how far a segment is off, in standard errors."""
    residuals = [o - s for i, s, o in zip(inside, stated, observed, strict=True) if i]
    by_model = sum(s * (1 - s) for i, s in zip(inside, stated, strict=True) if i)
    mean = sum(residuals) / len(residuals)
    by_rows = sum((residual - mean) ** 2 for residual in residuals)
    return abs(sum(residuals)) / float(np.sqrt(max(by_model, by_rows)))
