"""The table encoder, row by row in plain Python."""

import datetime
import math
from typing import Any

EPOCH = datetime.datetime(1970, 1, 1)


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def kind_of(values: list[Any]) -> str:
    present = [value for value in values if not is_missing(value)]
    if any(isinstance(value, str | bool) for value in present):
        return "categorical"
    if any(isinstance(value, datetime.date) for value in present):
        return "date"
    return "numeric"


def number_of(value: Any) -> float:
    if is_missing(value):
        return math.nan
    if isinstance(value, datetime.datetime):
        return float((value - EPOCH) // datetime.timedelta(microseconds=1))
    if isinstance(value, datetime.date):
        return float((value - EPOCH.date()).days)
    return float(value)


def categories_of(values: list[Any]) -> list[Any]:
    categories: list[Any] = []
    for value in values:
        if not is_missing(value) and value not in categories:
            categories.append(value)
    return sorted(categories)


def code_of(value: Any, categories: list[Any]) -> int:
    if is_missing(value):
        return -1
    for code, category in enumerate(categories):
        if category == value:
            return code
    return -2


def encode_column(values: list[Any]) -> tuple[str, list[Any], list[float]]:
    """Return the kind, the categories, and the numbers or codes of a column."""
    kind = kind_of(values)
    if kind == "categorical":
        categories = categories_of(values)
        return kind, categories, [code_of(value, categories) for value in values]
    return kind, [], [number_of(value) for value in values]
