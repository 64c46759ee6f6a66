"""Tables 9 and 16 to 19, Example 2: how far the estimators are off."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sureleaf import levels
from sureleaf.report.reproduce.judgement import Cell, Computed, Part, judge
from sureleaf.report.reproduce.zhang2024.as_printed import (
    binomial_probabilities,
    confidence_without_ties,
    utility_of,
)
from sureleaf.report.reproduce.zhang2024.printed import printed, printed_table

__all__ = ["bias", "biases_near_one_half", "example", "squared_error", "table"]

FloatArray = NDArray[np.float64]

WITHOUT_TIES = "levels without the tie term of (5): a tie counts as a failure"
OF = {16: "p_max", 17: "p_max", 18: "confidence", 19: "utility"}


def _p_max(n: int, p: FloatArray) -> FloatArray:
    return p


def _confidence(n: int, p: FloatArray) -> FloatArray:
    return np.asarray(levels.confidence(n, p), dtype=np.float64)


def _utility(n: int, p: FloatArray) -> FloatArray:
    return np.asarray(levels.utility(n, p), dtype=np.float64)


def _utility_without_ties(n: int, p: FloatArray) -> FloatArray:
    won = confidence_without_ties(n, p)
    return p * won + (1 - p) * (1 - won)


DEFINED: dict[str, Callable[[int, FloatArray], FloatArray]] = {
    "p_max": _p_max,
    "confidence": _confidence,
    "utility": _utility,
}
"""Name of an estimand -> its value at (n, p_max)."""

AS_PRINTED: dict[str, Callable[[int, FloatArray], FloatArray]] = {
    "confidence": confidence_without_ties,
    "utility": _utility_without_ties,
}
"""The same without ties."""


@cache
def _errors(n: int, p_max: float, method: str, of: str, ties: bool) -> FloatArray:
    """Return the error of the estimate for each count y = 0 to n."""
    level = (DEFINED if ties else AS_PRINTED)[of]
    estimates = np.asarray(
        levels.estimate_p_max(np.arange(n + 1), n, method=method), dtype=np.float64
    )
    errors: FloatArray = level(n, estimates) - level(n, np.array([p_max]))
    return errors


def _mean(n: int, p_max: float, values: FloatArray) -> Computed:
    """Return the exact mean over Y ~ Bin(n, p_max), and what a simulation's mean strays by."""
    weights = binomial_probabilities(n, p_max)
    mean = float(weights @ values)
    variance = float(weights @ (values - mean) ** 2)
    return Computed(mean, float(np.sqrt(variance / printed()["simulated_samples"])))


def bias(n: int, p_max: float, method: str, of: str, *, ties: bool = True) -> Computed:
    """Return the exact bias of an estimator and the standard error of a simulated one.

    Examples
    --------
    >>> bias(20, 0.7, "mle", "confidence").value.__round__(4)
    -0.0528
    >>> bias(20, 0.7, "mle", "confidence", ties=False).value.__round__(4)  # printed: -.0610
    -0.0629
    """
    return _mean(n, p_max, _errors(n, p_max, method, of, ties))


def squared_error(n: int, p_max: float, method: str) -> Computed:
    """Return the exact MSE of an estimate of p_max; its standard error has fourth moments.

    Examples
    --------
    >>> squared_error(5, 0.6, "mle").value.__round__(4)
    0.0275
    """
    return _mean(n, p_max, _errors(n, p_max, method, "p_max", True) ** 2)


def table(number: int) -> Part:
    """Return one of Tables 16 to 19, judged.

    Examples
    --------
    >>> table(17)
    Part('table 17': 120 cells, 113 agrees, 0 other computation, 7 misprint)
    """
    content, of = printed_table(number), OF[number]
    places = [(method, p) for method in content["methods"] for p in content["p_max"]]
    cells = []
    for n, figures in content["rows"].items():
        for (method, p), figure in zip(places, figures, strict=True):
            if number == 17:
                defined, other = squared_error(int(n), p, method), None
            else:
                defined, other = _both(int(n), p, method, of)
            cells.append(judge(f"n = {n}", f"{method} .{p * 10:.0f}", figure, 4, defined, other))
    return Part(
        f"table {number}",
        content["what"],
        "exact sum over y",
        WITHOUT_TIES if of in AS_PRINTED else "",
        tuple(cells),
    ).with_exchanges_noted()


def biases_near_one_half() -> Part:
    """Return Table 9, judged.

    Examples
    --------
    >>> biases_near_one_half()
    Part('table 9': 56 cells, 53 agrees, 3 other computation, 0 misprint)
    """
    content = printed_table(9)
    cells = [
        judge(f"n = {n}", f"{of} {method}", figure, 4, *_both(int(n), content["p_max"], method, of))
        for n, figures in content["rows"].items()
        for (of, method), figure in zip(content["columns"], figures, strict=True)
    ]
    return Part("table 9", content["what"], "exact sum over y", WITHOUT_TIES, tuple(cells))


def _both(n: int, p: float, method: str, of: str) -> tuple[Computed, Computed | None]:
    other = bias(n, p, method, of, ties=False) if of in AS_PRINTED else None
    return bias(n, p, method, of), other


def example() -> Part:
    """Return Example 2's estimates from 5 of 7 rows, judged.

    Examples
    --------
    >>> from sureleaf.report.reproduce import Verdict
    >>> example().of(Verdict.MISPRINT)
    [Cell(mle, p_max: printed .7134, defined .7143, misprint)]
    """
    content = printed()["example_2"]
    y, n = content["y"], content["n"]
    cells: list[Cell] = []
    for method, figures in content["estimates"].items():
        p = float(levels.estimate_p_max(y, n, method=method))
        others = map(Computed, _plugged_in(n, round(p, 2))) if method == "blend" else (None,) * 3
        cells += [
            judge(method, of, figure, 4, Computed(value), other)
            for of, figure, value, other in zip(
                DEFINED, figures, _plugged_in(n, p), others, strict=True
            )
        ]
    return Part(
        "example 2",
        f"estimates from {y} of {n} rows",
        "(14), (2), (21), each put into (5), (6)",
        "(21) rounded to two decimals: .70 for .7007, and put into (5), (6)",
        tuple(cells),
    )


def _plugged_in(n: int, p_max: float) -> tuple[float, float, float]:
    """Return the estimate and the levels that it gives."""
    confidence = float(levels.confidence(n, p_max))
    return p_max, confidence, utility_of(confidence, p_max)
