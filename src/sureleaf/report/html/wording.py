"""Numbers as the page writes them."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = [
    "count",
    "measure_name",
    "number",
    "p_value",
    "percent",
    "points",
    "signed_points",
    "upper_first",
    "why_flagged",
]


NOTHING = "\u2013"
_SPACE = "\u00a0"
_MINUS = "\u2212"
_ROUNDING = 1e-9  # a sum of shares may miss 1 by so much
_MEASURES = {"auc": "AUC", "nce": "log loss (NCE)", "f_measure": "F measure"}


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share in per cent; never 100 or 0 for what is only near.

    Examples
    --------
    >>> percent(0.8422).replace("\u00a0", " "), percent(0.99999).replace("\u00a0", " ")
    ('84.2 %', '> 99.9 %')
    >>> percent(1.0).replace("\u00a0", " "), percent(None)
    ('100 %', '–')
    """
    if value is None:
        return NOTHING
    if min(abs(value), abs(value - 1)) < _ROUNDING:
        return f"{100 * value:.0f}{_SPACE}%"
    text = f"{100 * value:.{digits}f}"
    step = 10.0**-digits
    if float(text) >= 100 and value < 1:
        return f">{_SPACE}{100 - step:.{digits}f}{_SPACE}%"
    if float(text) == 0 and value > 0:
        return f"<{_SPACE}{step:.{digits}f}{_SPACE}%"
    return f"{text}{_SPACE}%"


def points(value: float | None, digits: int = 1) -> str:
    """Write a share in per cent without the sign, for an end of an interval.

    Examples
    --------
    >>> points(0.7412)
    '74.1'
    """
    return NOTHING if value is None else f"{100 * value:.{digits}f}"


def signed_points(value: float | None, digits: int = 1) -> str:
    """Write a difference of shares in hundredths, with its sign.

    Examples
    --------
    >>> signed_points(-0.0123), signed_points(0.02), signed_points(0.0)
    ('−1.2', '+2.0', '0.0')
    """
    if value is None:
        return NOTHING
    text = f"{abs(100 * value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else _MINUS}{text}"


def count(value: float | None) -> str:
    """Write a number of rows: whole ones plainly, parts of rows with two digits.

    Examples
    --------
    >>> count(1234.0), count(15.2678), count(0.0), count(None)
    ('1,234', '15.27', '0', '–')
    """
    if value is None:
        return NOTHING
    if abs(value - round(value)) < 5e-3:
        return f"{round(value):,}"
    return f"{value:,.2f}"


def number(value: float | None) -> str:
    """Write a measure with four significant digits or so.

    Examples
    --------
    >>> number(0.58389), number(1.0), number(12345.6), number(None)
    ('0.584', '1', '12,346', '–')
    """
    if value is None:
        return NOTHING
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 1e-3 else f"{value:.2g}"


def measure_name(name: str) -> str:
    """Write the name of a measure for people.

    Examples
    --------
    >>> measure_name("auc"), measure_name("balanced_accuracy")
    ('AUC', 'balanced accuracy')
    """
    return _MEASURES.get(name, name.replace("_", " "))


def p_value(value: float | None) -> str:
    """Write a p-value; a tiny one as a bound.

    Examples
    --------
    >>> p_value(0.00001), p_value(0.0421), p_value(None)
    ('< 0.001', '0.042', '–')
    """
    if value is None or math.isnan(value):
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def upper_first(text: str) -> str:
    """Begin a sentence; what follows the first letter may be a name and stays.

    Examples
    --------
    >>> upper_first("merge with X")
    'Merge with X'
    """
    return text[:1].upper() + text[1:]


def why_flagged(one: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say what a flagged leaf lacks; ``script/trust.js`` says the same.

    Examples
    --------
    >>> leaf = {"n": 9.0, "confidence": 0.836, "utility": 0.7}
    >>> why_flagged(leaf, {"confidence": 0.95, "utility": None}).replace("\u00a0", " ")
    'confidence 83.6 % is below the 95 % asked for'
    >>> why_flagged(leaf, {"confidence": None, "utility": None})
    'right less often than a coin'
    """
    if one["n"] <= 0:
        return "no rows to judge it by"
    reasons = [
        f"{name} {percent(one[name])} is below the {_asked(wanted[name])} asked for"
        for name in ("confidence", "utility")
        if wanted[name] is not None and one[name] is not None and one[name] < wanted[name]
    ]
    return " and ".join(reasons) or "right less often than a coin"


def _asked(share: float) -> str:
    return f"{100 * share:.6g}{_SPACE}%"
