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
from typing import Literal

from scipy.special import ndtri

from sureleaf.evaluation.measures.named import NAMED, Measure

__all__ = [
    "Comparison",
    "DifferenceTest",
    "Verdict",
    "conclude",
    "decide",
    "detecting_half_width",
    "rows_until",
    "sentence",
]


@dataclass(frozen=True)
class DifferenceTest:
    """A difference, its interval, and the p-value of "there is no difference".

    Attributes
    ----------
    difference : float
        The first minus the second.
    low, high : float
        Ends of the two-sided interval.
    p_value : float
        Two-sided, of the hypothesis that the true difference is 0.
    statistic : float
        The test statistic.
    standard_error : float
        Standard error of the difference that the statistic uses.
    method : str
        Name of the test and of the interval.
    level : float
        Level of the interval.
    assumption : str
        What has to be true for the interval to have its level.

    Examples
    --------
    >>> from sureleaf.comparison import compare_rates
    >>> compare_rates(0.15, 30, 0.25, 5000)
    difference -0.1000 (-0.2283 to 0.0283 at level 0.95), p = 0.1267
      by z, unpooled; the two sets of rows are independent and both rates are far from 0 and 1
    """

    difference: float
    low: float
    high: float
    p_value: float
    statistic: float
    standard_error: float
    method: str
    level: float
    assumption: str

    def __repr__(self) -> str:
        return (
            f"difference {self.difference:.4f} ({self.low:.4f} to {self.high:.4f} "
            f"at level {self.level:g}), p = {self.p_value:.4g}\n"
            f"  by {self.method}; {self.assumption}"
        )


Verdict = Literal["better", "worse", "equivalent", "undecided"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Which of two classifiers is better, by how much, and with what uncertainty.

    Attributes
    ----------
    difference : float
        The measure of the first minus that of the second.
    low, high : float
        Interval of the true difference at ``level``.
    p_value : float
        Two-sided p-value of "there is no difference".
    method : str
        The test and the interval, which follow from the design and the measure.
    verdict : {"better", "worse", "equivalent", "undecided"}
        The verdict on the first; "better" and "worse" mean by more than the margin.
    rows_needed : int or None
        Total number of rows (not additional rows). With a margin: until the half-width of the
        interval is below it. Without: until a true difference of ``detect`` is found with a power
        of 80 %.
    repeats_needed : int or None
        Repeats of the same design that would reach the same on the present rows; None if no
        number of repeats does, because repeats do not add rows.
    measure, question : str
        The measure; "model" (these two fitted models) or "algorithm" (how they were fitted).
    values : tuple of float
        The measure of the first and of the second.
    n_rows : int
        Rows used: test rows for models, all rows for algorithms, of both if independent.
    level, margin, detect : float
        As given to `compare`.
    assumption : str
        What has to be true for the interval to have its level.
    sentence : str
        The result in words.

    Examples
    --------
    >>> from sureleaf.comparison import mcnemar
    >>> test = mcnemar(30, 10, 400)
    >>> decide(test.low, test.high, test.p_value, level=0.95)
    'better'
    """

    difference: float
    low: float
    high: float
    p_value: float
    method: str
    verdict: Verdict
    rows_needed: int | None
    repeats_needed: int | None
    measure: str
    question: str
    values: tuple[float, float]
    n_rows: int
    level: float
    margin: float
    detect: float
    assumption: str
    sentence: str

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
    n_rows: int,
    margin: float,
    detect: float,
) -> Comparison:
    """Return a test with its verdict and the rows needed; the sentence is still empty.

    Examples
    --------
    >>> from sureleaf.comparison import mcnemar
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> found = conclude(mcnemar(30, 10, 400), NAMED["accuracy"], question="model",
    ...                  values=(0.9, 0.85), n_rows=400, margin=0.0, detect=0.01)
    >>> found.verdict, found.n_rows
    ('better', 400)
    """
    return Comparison(
        difference=test.difference,
        low=test.low,
        high=test.high,
        p_value=test.p_value,
        method=test.method,
        verdict=decide(
            test.low,
            test.high,
            test.p_value,
            level=test.level,
            margin=margin,
            higher_is_better=measure.greater_is_better,
        ),
        rows_needed=rows_until(test, n_rows, margin=margin, detect=detect),
        repeats_needed=None,
        measure=measure.name,
        question=question,
        values=values,
        n_rows=n_rows,
        level=test.level,
        margin=margin,
        detect=detect,
        assumption=test.assumption,
        sentence="",
    )


def decide(
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

    Examples
    --------
    >>> decide(-0.004, 0.006, 0.7, level=0.95, margin=0.01)
    'equivalent'
    >>> decide(-0.004, 0.006, 0.7, level=0.95)
    'undecided'
    >>> decide(0.02, 0.05, 0.001, level=0.95, margin=0.01, higher_is_better=False)
    'worse'
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
    test: DifferenceTest, n_rows: int, *, margin: float = 0.0, detect: float = 0.0
) -> int | None:
    """Return the total rows until the half-width is below the margin, or ``detect`` is found.

    ``detect`` is found with a power of 80 %. Both follow from the width of the interval, which
    falls with the square root of the rows; the observed difference is not used.

    Examples
    --------
    >>> from sureleaf.comparison import mcnemar
    >>> test = mcnemar(30, 20, 1000)
    >>> rows_until(test, 1000, margin=0.01), rows_until(test, 1000, detect=0.01)
    (2046, 4179)
    """
    target = margin if margin > 0 else detecting_half_width(detect, test.level)
    if target <= 0:
        return None
    return math.ceil(n_rows * ((test.high - test.low) / 2 / target) ** 2)


def detecting_half_width(detect: float, level: float) -> float:
    """Return the half-width of the interval of a test that finds ``detect`` with 80 % power."""
    z = float(ndtri((1 + level) / 2))
    return detect * z / (z + float(ndtri(0.8)))


def sentence(comparison: Comparison, first: str, second: str) -> str:
    """Return the result of a comparison in words.

    Rates are given in percent and their differences in percentage points, other measures as they
    are.

    Parameters
    ----------
    comparison : Comparison
        Everything but its sentence.
    first, second : str
        Names of the two classifiers.

    Examples
    --------
    >>> comparison = Comparison(
    ...     0.02, 0.01, 0.03, 0.001, "McNemar", "better", 900, None, "accuracy", "model",
    ...     (0.92, 0.90), 1000, 0.95, 0.0, 0.01, "the rows are independent", "")
    >>> print(sentence(comparison, "tree", "rule"))
    Tree is better than rule: accuracy 92.0 % against 90.0 %, 2.0 percentage points higher (95 %
    interval of the difference +1.0 to +3.0; p = 0.001; McNemar on 1,000 rows). This holds if the
    rows are independent.
    """
    if first == second:
        first, second = f"the first {first}", f"the second {second}"
    text = f"{_claim(comparison, first, second)}: {_numbers(comparison)}."
    if comparison.verdict == "undecided":
        text = f"{text} {_next_step(comparison)}".rstrip()
    return f"{text[0].upper()}{text[1:]} This holds if {comparison.assumption}."


def _numbers(comparison: Comparison) -> str:
    scale, unit, points = _scale(comparison)
    half_width = scale * (comparison.high - comparison.low) / 2
    digits = _digits(half_width)
    one, other = (f"{scale * value:.{digits}f}{unit}" for value in comparison.values)
    size = f"{scale * abs(comparison.difference):.{digits}f}{points}"
    direction = "higher" if comparison.difference >= 0 else "lower"
    difference = f"{size} {direction}" if comparison.difference else "no difference"
    low, high = (f"{scale * end:+.{digits}f}" for end in (comparison.low, comparison.high))
    return (
        f"{comparison.measure} {one} against {other}, {difference} ({100 * comparison.level:g} % "
        f"interval of the difference {low} to {high}; p = {comparison.p_value:.3g}; "
        f"{comparison.method} on {comparison.n_rows:,} rows)"
    )


def _scale(comparison: Comparison) -> tuple[float, str, str]:
    """Return the factor, the unit of values and the unit of differences."""
    measure = NAMED.get(comparison.measure)
    if measure is not None and measure.counted is not None:
        return 100.0, " %", " percentage points"
    return 1.0, "", ""


def _digits(half_width: float) -> int:
    """Return the decimals with which an interval of this half-width has two digits."""
    if not 0 < half_width < math.inf:
        return 4
    return min(max(1 - math.floor(math.log10(half_width) + 1e-9), 1), 6)


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


def _next_step(comparison: Comparison) -> str:
    if comparison.rows_needed is None:
        return ""
    n_more = comparison.rows_needed - comparison.n_rows
    kind = "test rows" if comparison.question == "model" else "rows"
    if comparison.margin > 0:
        goal = f"an interval of ± {_amount(comparison, comparison.margin)}"
    else:
        detect = _amount(comparison, comparison.detect)
        goal = f"finding a true difference of {detect} with a power of 80 %"
    if n_more <= 0:
        near = "seems to be close to the margin" if comparison.margin > 0 else "is probably smaller"
        return f"There are enough rows for {goal}; the true difference {near}."
    text = f"About {comparison.rows_needed:,} {kind} ({n_more:,} more) are needed for {goal}"
    if comparison.repeats_needed is not None:
        text += f", or {comparison.repeats_needed:,} repeats of the design on the present rows"
    return text + "."
