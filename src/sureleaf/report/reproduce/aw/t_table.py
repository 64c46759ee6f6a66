"""Table D: critical values of t, and the levels they belong to; ``table_d.json`` has them."""

import json
from functools import cache
from importlib import resources
from typing import Any

from scipy.special import ndtri, stdtrit

from sureleaf.report.reproduce.judgement import Computed, Part, judge

__all__ = ["critical_values", "levels"]


@cache
def _printed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        resources.files(__package__).joinpath("table_d.json").read_text(encoding="utf-8")
    )
    return found


def critical_values() -> Part:
    """Judge every critical value.

    Examples
    --------
    >>> len(critical_values().cells)
    444
    """
    table = _printed()
    cells = []
    for degrees, figures in table["rows"].items():
        for tail, figure in zip(table["p"], figures, strict=True):
            upper = 1 - float(tail)
            value = ndtri(upper) if degrees == "inf" else stdtrit(float(degrees), upper)
            row = "z*" if degrees == "inf" else f"df = {degrees}"
            decimals = len(figure.partition(".")[2])
            cells.append(judge(row, tail, float(figure), decimals, Computed(float(value))))
    title, other = "critical values of t by upper tail", "cut off instead of rounded"
    return Part("table D", title, "t(1 - p, df)", other, tuple(cells))


def levels() -> Part:
    """Judge the two-sided levels below the table.

    Examples
    --------
    >>> levels().cells[5].defined.value
    0.95
    """
    table = _printed()
    cells = []
    for tail, text in zip(table["p"], table["confidence"], strict=True):
        share = float(text.rstrip("%")) / 100
        value = Computed(round(1 - 2 * float(tail), 12))
        cells.append(judge("confidence level", tail, share, 4, value))
    return Part("table D, levels", "two-sided confidence levels", "1 - 2p", "", tuple(cells))
