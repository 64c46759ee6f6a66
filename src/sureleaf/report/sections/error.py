"""Section 6: how often it will be wrong, and what more rows would do."""

from typing import Any

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import BootstrapError, LearningCurve
from sureleaf.evaluation.intervals import wilson
from sureleaf.report.results import ReportResults
from sureleaf.report.values import estimate_of, number, numbers

__all__ = ["error_section", "rows_text"]


AHEAD = (1, 1.5, 2, 3, 5, 10)
"""How many times the rows there are the curve is drawn ahead."""


def error_section(found: ReportResults) -> dict[str, Any]:
    """Return the section of honest errors.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10))
    >>> error = report.to_dict()["error"]
    >>> error["bootstrap"]["training"], error["curve"]["sizes"][0]
    (0.0, 10)
    """
    bootstrap = found.bootstrap
    return {
        "cross_validation": estimate_of(found.judged, "error", level=found.asked.level),
        "bootstrap": (None if isinstance(bootstrap, str) else _bootstrap(bootstrap, found)),
        "bootstrap_note": bootstrap if isinstance(bootstrap, str) else None,
        "curve": None if isinstance(found.curve, str) else _curve(found.curve, found),
        "curve_note": found.curve if isinstance(found.curve, str) else None,
    }


def _bootstrap(found: BootstrapError, gathered: ReportResults) -> dict[str, Any]:
    level, value = gathered.asked.level, found.e632_plus
    error = found.standard_errors["e632_plus"]
    n = gathered.n_rows
    # Wilson with as many rows as have this standard error: stays between 0 and 1.
    rows = min(value * (1 - value) / error**2, n) if error > 0 else n
    low, high = wilson(min(value * rows, rows), rows, level=level)
    return {
        "n_bootstraps": found.n_bootstraps,
        "training": found.training,
        "plain": found.plain,
        "leave_one_out": found.leave_one_out,
        "e632": found.e632,
        "e632_plus": value,
        "no_information": found.no_information,
        "relative_overfitting": found.relative_overfitting,
        "standard_errors": {name: number(x) for name, x in found.standard_errors.items()},
        "low": low,
        "high": high,
        "level": level,
        "method": "from the standard error over the bootstraps, kept between 0 and 1 by Wilson's "
        "formula",
    }


def _curve(curve: LearningCurve, found: ReportResults) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "measure": curve.measure.name,
        "sizes": curve.sizes.tolist(),
        "values": numbers(curve.means),
        "low": numbers([e.low for e in curve.estimates]),
        "high": numbers([e.high for e in curve.estimates]),
        "level": curve.level,
        "repeats": len(curve.values),
        "law": None,
        "ahead": None,
        "more_rows": None,
        "gain_of_doubling": None,
    }
    n = found.n_rows
    try:
        law = curve.power_law
        sizes = np.unique(np.rint(np.array(AHEAD) * n).astype(np.int64))
        values, low, high = curve.predict(sizes)
        gain = curve.gain(n, 2 * n)
    except InvalidArgumentError as problem:
        return shown | {"text": f"The curve cannot be carried on: {problem}"}
    shown["law"] = {"limit": law.limit, "height": law.height, "rate": law.rate}
    shown["ahead"] = {
        "sizes": sizes.tolist(),
        "values": numbers(values),
        "low": numbers(low),
        "high": numbers(high),
    }
    shown["gain_of_doubling"] = {
        "value": gain.value,
        "low": gain.low,
        "high": gain.high,
        "level": gain.level,
        "method": gain.method,
    }
    target = float(law(n)) + found.asked.margin
    if target < 1:
        reach = curve.rows_for(target)
        shown["more_rows"] = {
            "target": target,
            "rows": number(reach.rows),
            "low": number(reach.low),
            "high": number(reach.high),
        }
    return shown | {"text": rows_text(shown, n, found.asked.margin)}


def rows_text(curve: dict[str, Any], n: int, margin: float) -> str:
    """Say whether more rows would help, from the curve's own numbers.

    Parameters
    ----------
    curve : dict
        With gain_of_doubling and more_rows, as the document has them.
    n : int
        Rows there are.
    margin : float
        A gain of accuracy that is worth having.

    Examples
    --------
    >>> gain = {"value": 0.02, "low": 0.012, "high": 0.03}
    >>> more = {"target": 0.81, "rows": 1500, "low": 1200, "high": 2500}
    >>> print(rows_text({"gain_of_doubling": gain, "more_rows": more}, 1000, 0.01))
    More rows of the same kind would help: with twice as many (2,000) it would be right about 2.0
    times more in 100 (from 1.2 to 3.0). To gain 1 in 100 takes about 500 more rows (from 200 to
    1,500).
    """
    gain, more = curve["gain_of_doubling"], curve["more_rows"]
    low, value, high = (max(gain[key], 0.0) for key in ("low", "value", "high"))
    digits = 1 if margin >= 0.005 else 2
    span = f"from {100 * low:.{digits}f} to {100 * high:.{digits}f}"
    twice = f"twice as many ({2 * n:,})"
    if high < margin:
        return (
            f"More rows of the same kind would hardly help: with {twice} it would be right at most "
            f"{100 * high:.{digits}f} times more in 100. Other columns might help."
        )
    if low < margin / 2:
        return (
            f"Whether more rows of the same kind would help is open: with {twice} it may be right "
            f"{span} times more in 100."
        )
    text = (
        f"More rows of the same kind would help: with {twice} it would be right about "
        f"{100 * value:.{digits}f} times more in 100 ({span})."
    )
    if more and more["rows"] is not None and more["rows"] > n:
        least = max((more["low"] or n) - n, 0)
        most = "without end" if more["high"] is None else f"{more['high'] - n:,.0f}"
        text += (
            f" To gain {100 * margin:.2g} in 100 takes about {more['rows'] - n:,.0f} more rows "
            f"(from {least:,.0f} to {most})."
        )
    return text
