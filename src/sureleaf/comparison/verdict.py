"""From an interval to a verdict and a sentence.

The margin divides the possible true differences into three ranges: the first classifier is better
by more than the margin, the two differ by at most the margin, the first is worse by more than the
margin. The verdict names the range that contains the whole interval. So a verdict can be wrong
only if the interval misses the true difference: at level .95, in at most 5 % of comparisons. An
interval of level L inside the margin is equivalent to two one-sided tests at (1 - L) / 2 each; for
two one-sided tests at .05 use level=0.90.

References
----------
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach
for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and
Biopharmaceutics 15, 657-680.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtridf

from sureleaf.arguments import FloatArray
from sureleaf.evaluation.intervals import SplitVariance
from sureleaf.evaluation.measures.named import NAMED, Measure
from sureleaf.formatting import upper_first
from sureleaf.levels.intervals import normal_reach
from sureleaf.levels.search import halved


@dataclass(frozen=True)
class DifferenceTest:
    """A difference, its interval, and the p-value of "there is no difference"."""

    difference: float  # the first minus the second
    low: float
    high: float
    p_value: float  # two-sided
    statistic: float
    standard_error: float  # the one that the statistic uses
    method: str
    level: float
    assumption: str  # what has to be true for the interval to have its level
    over_splits: SplitVariance | None = None  # if repeats can reduce the variance
    method_counts_rows: bool = False  # whether the method says how many rows there are

    def __repr__(self) -> str:
        return (
            f"difference {self.difference:.4f} ({self.low:.4f} to {self.high:.4f} "
            f"at level {self.level:g}), p = {self.p_value:.4g}\n"
            f"  by {self.method}; {self.assumption}"
        )


Verdict = Literal["better", "worse", "equivalent", "undecided"]


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(DifferenceTest):
    """Which of two classifiers is better, by how much, and with what uncertainty.

    The difference is the measure of the first minus that of the second; the test and its interval
    follow from the design and the measure.

    Attributes
    ----------
    verdict : {"better", "worse", "equivalent", "undecided"}
        The verdict on the first; "better" and "worse" mean by more than the margin.
    rows_needed : int or None
        Rows that the table must have in total for a power of 80 %. With a margin: to reach the
        verdict, if the observed difference (or ``detect``, if it was given) is the true one;
        None on the margin itself. Without: to find a true difference of ``detect``. None if the
        verdict is "undecided" although the table has so many rows.
    repeats_needed : int or None
        Repeats of the same design that would reach the same on the present rows; None if no
        number of repeats does, because repeats do not add rows.
    question : str
        "model" (these two fitted models) or "algorithm" (how they were fitted).
    n_rows, table_rows : int
        Rows used: test rows for models, all rows for algorithms; and rows of the table. Of both
        tables if independent.
    has_enough_rows : bool
        Whether the table has the rows that were planned for; more are not known to decide.

    Examples
    --------
    >>> from sureleaf.comparison import mcnemar
    >>> test = mcnemar(30, 10, 400)
    >>> verdict_of(test.low, test.high, test.p_value, level=0.95)
    'better'
    """

    verdict: Verdict
    rows_needed: int | None
    repeats_needed: int | None
    measure: str
    question: str
    values: tuple[float, float]
    n_rows: int
    table_rows: int
    margin: float
    detect: float
    sentence: str
    has_enough_rows: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, without the variance that only planning needs."""
        plain = {name: value for name, value in vars(self).items() if name != "over_splits"}
        return plain | {"values": list(self.values)}

    def __repr__(self) -> str:
        return (
            f"Comparison({self.verdict}: {self.measure} {self.difference:+.4f} "
            f"({self.low:+.4f} to {self.high:+.4f}), p = {self.p_value:.3g}, {self.method}, "
            f"rows_needed={self.rows_needed})"
        )

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.sentence)}</p>"


def conclude(
    test: DifferenceTest,
    measure: Measure,
    *,
    question: str,
    values: tuple[float, float],
    n_rows: tuple[int, int],
    margin: float,
    detect: float | None,
) -> Comparison:
    """Return a test with its verdict and the rows needed; the sentence is still empty.

    ``detect`` is None for the observed difference, which needs a margin. ``n_rows`` are the rows of
    the test, and those of the table.
    """
    rows, table_rows = n_rows
    ends, better = (test.low, test.high, test.p_value), measure.greater_is_better
    verdict = verdict_of(*ends, level=test.level, margin=margin, higher_is_better=better)
    rows_needed = rows_until(test, table_rows, margin=margin, detect=detect)
    has_enough_rows = rows_needed is not None and rows_needed <= table_rows
    return Comparison(
        **vars(test),
        verdict=verdict,
        # Fewer rows than these would not decide what these leave open.
        rows_needed=None if verdict == "undecided" and has_enough_rows else rows_needed,
        repeats_needed=None,
        measure=measure.name,
        question=question,
        values=values,
        n_rows=rows,
        table_rows=table_rows,
        margin=margin,
        detect=test.difference if detect is None else detect,
        sentence="",
        has_enough_rows=has_enough_rows,
    )


def verdict_of(
    low: float,
    high: float,
    p_value: float,
    *,
    level: float,
    margin: float = 0.0,
    higher_is_better: bool = True,
) -> Verdict:
    """Return the range of true differences that contains the whole interval, if one does.

    "better" and "worse" also need p ≤ 1 - level, so that the p-value and the verdict never
    contradict each other for tests that are not the exact inverse of the interval.
    """
    if not higher_is_better:
        low, high = -high, -low
    significant = p_value <= 1 - level + 1e-12
    if low > margin and significant:
        return "better"
    if high < -margin and significant:
        return "worse"
    if margin > 0 and -margin <= low and high <= margin:
        return "equivalent"
    return "undecided"


def rows_until(
    test: DifferenceTest, n_rows: int, *, margin: float = 0.0, detect: float | None = None
) -> int | None:
    """Return the total rows at which a verdict is reached with a power of 80 %.

    Without a margin, ``detect`` is the true difference that is to be found. With a margin it is the
    true difference at which the verdict is to be reached, by default the observed one: "equivalent"
    inside the margin, "better" or "worse" outside. On the margin itself no number of rows is
    enough, and the result is None. The width of the interval falls with the square root of the
    rows.
    """
    half_width = (test.high - test.low) / 2
    if margin <= 0:
        target = 0.0 if detect is None else detecting_half_width(detect, test.level)
    else:
        target = deciding_half_width(test.difference if detect is None else detect, margin, test)
    if target <= 0:
        return None
    needed = n_rows * (half_width / target) ** 2
    return math.ceil(needed) if needed < _MOST_ROWS else None


PLANNED_POWER = 0.8

_MOST_ROWS = 2**53
"""More rows than these are no answer."""


def deciding_half_width(difference: float, margin: float, test: DifferenceTest) -> float:
    """Return the half-width with which a verdict about a margin has a power of 80 %; 0 if none.

    An estimate with the standard error s is normal, and its interval reaches q s to both sides, q
    being that of the test. "equivalent" needs both ends inside the margin. "better" or "worse"
    needs one end beyond it. A quantile of Student's t says that the width is known from few splits
    only, now and when the rows are there.
    """
    q = (test.high - test.low) / 2 / test.standard_error if test.standard_error > 0 else 0.0
    normal = normal_reach(test.level)
    q = max(q, normal)
    near, far = abs(abs(difference) - margin), margin + abs(difference)
    if near == 0:
        return 0.0
    degrees = float(stdtridf((1 + test.level) / 2, q)) if q > normal + 1e-6 else math.inf
    ratios = _error_ratios(degrees)

    def power(error: float) -> float:
        inside, width = ratios[:, None] / error, q * ratios
        reached = ndtr(near * inside - width)
        if abs(difference) < margin:
            reached = np.maximum(reached + ndtr(far * inside - width) - 1, 0)
        return float(reached.mean())

    low, high = near / (100 * q), near / q  # standard errors with a power above .8, and below
    return q * float(halved(lambda error: power(float(error)) >= PLANNED_POWER, low, high, 60)[0])


def _error_ratios(degrees: float) -> FloatArray:
    """Return equally probable ratios of an estimated standard error to the true one."""
    if math.isinf(degrees):
        return np.ones(1)
    middles = (np.arange(20) + 0.5) / 20
    return np.asarray(np.sqrt(2 * gammaincinv(degrees / 2, middles) / degrees))


def detecting_half_width(detect: float, level: float) -> float:
    """Return the half-width of the interval of a test that finds ``detect`` with 80 % power."""
    z = normal_reach(level)
    return detect * z / (z + float(ndtri(PLANNED_POWER)))


def sentence(comparison: Comparison, first: str, second: str, *, detect_origin: str = "") -> str:
    """Return the result of a comparison in words; `detect_origin` says what an unnamed `detect` is.

    Rates are given in percent and their differences in percentage points, other measures as they
    are.
    """
    if first == second:
        first, second = f"the first {first}", f"the second {second}"
    text = f"{_claim(comparison, first, second)}: {_numbers(comparison)}."
    if comparison.verdict == "undecided":
        text = f"{text} {_next_step(comparison, detect_origin)}".rstrip()
    return f"{upper_first(text)} This holds if {comparison.assumption}."


def _numbers(comparison: Comparison) -> str:
    scale, unit, points = _scale(comparison)
    half_width = scale * (comparison.high - comparison.low) / 2
    digits = 4  # else as many as give an interval of this half-width two digits
    if 0 < half_width < math.inf:
        digits = min(max(1 - math.floor(math.log10(half_width) + 1e-9), 1), 6)
    one, other = (f"{scale * value:.{digits}f}{unit}" for value in comparison.values)
    size = f"{scale * abs(comparison.difference):.{digits}f}{points}"
    direction = "higher" if comparison.difference >= 0 else "lower"
    difference = f"{size} {direction}" if comparison.difference else "no difference"
    low, high = (f"{scale * end:+.{digits}f}" for end in (comparison.low, comparison.high))
    rows = "" if comparison.method_counts_rows else f" on {comparison.n_rows:,} rows"
    return (
        f"{comparison.measure} {one} against {other}, {difference} ({100 * comparison.level:g} % "
        f"interval of the difference {low} to {high}; p = {comparison.p_value:.3g}; "
        f"{comparison.method}{rows})"
    )


def _scale(comparison: Comparison) -> tuple[float, str, str]:
    """Return the factor, the unit of values and the unit of differences."""
    measure = NAMED.get(comparison.measure)
    is_rate = measure is not None and measure.counted is not None
    return (100.0, " %", " percentage points") if is_rate else (1.0, "", "")


def _amount(comparison: Comparison, difference: float) -> str:
    scale, _, points = _scale(comparison)
    amount = f"{scale * difference:.3g}"
    return f"{amount}{points.removesuffix('s') if amount == '1' else points}"


def _claim(comparison: Comparison, first: str, second: str) -> str:
    margin = _amount(comparison, comparison.margin)
    by = f" by more than {margin}" if comparison.margin > 0 else ""
    return {
        "better": f"{first} is better than {second}{by}",
        "worse": f"{first} is worse than {second}{by}",
        "equivalent": f"{first} and {second} are equivalent within {margin}",
        "undecided": f"It is undecided whether {first} or {second} is better{by}",
    }[comparison.verdict]


def _next_step(comparison: Comparison, detect_origin: str) -> str:
    margin, power = comparison.margin, f"with a power of {100 * PLANNED_POWER:g} %"
    planned = _amount(comparison, abs(comparison.detect))
    if comparison.rows_needed is None and not comparison.has_enough_rows:
        where = "The difference lies on the margin, so no number of rows is likely to decide."
        return where if margin > 0 else ""
    if margin == 0:
        goal = f"finding a true difference of {planned}"
        goal += f" ({detect_origin}) {power}" if detect_origin else f" {power}"
        if comparison.has_enough_rows:
            return f"There are enough rows for {goal}; the true difference is probably smaller."
        return f"{_rows_and_repeats(comparison)} are needed for {goal}."
    if comparison.has_enough_rows:  # for a difference that the caller gave
        return (
            f"There are enough rows if the true difference were {planned}; it seems to be closer "
            "to the margin."
        )
    is_narrow = (comparison.high - comparison.low) / 2 <= margin
    text = (
        "The interval is narrower than the margin and contains it, so the true difference seems to "
        "be close to the margin. "
        if is_narrow and abs(abs(comparison.difference) - margin) <= margin / 2
        else ""
    )
    measure = NAMED.get(comparison.measure)
    is_gain = (comparison.difference > 0) == (measure is None or measure.greater_is_better)
    outside = "better" if is_gain else "worse"
    verdict = "equivalent" if abs(comparison.detect) < margin else outside
    origin = "observed" if comparison.detect == comparison.difference else "given"
    return (
        f'{text}{_rows_and_repeats(comparison)} are needed to decide "{verdict}" {power}, '
        f"if the {origin} difference is the true one."
    )


def _rows_and_repeats(comparison: Comparison) -> str:
    assert comparison.rows_needed is not None
    n_more = comparison.rows_needed - comparison.table_rows
    text = f"About {comparison.rows_needed:,} rows in all ({n_more:,} more)"
    if comparison.repeats_needed is not None:
        text += f", or {comparison.repeats_needed:,} repeats of the design on the present rows,"
    return text
