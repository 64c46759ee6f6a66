"""From an interval to one word and one sentence.

The margin divides the possible truths into three: the first is better by more than the margin,
the two are within the margin of each other, the first is worse by more than the margin. The
verdict names one of them when the whole interval lies in it. So a verdict can be wrong only when
the interval misses the true difference: at level .95 in at most one of twenty comparisons,
whatever the truth is and however many of the three claims are looked at. An interval of level L
inside the margin is the two one-sided tests (TOST, Schuirmann 1987) at (1 - L)/2 each; for TOST at
.05 ask for level=0.90.
"""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.special import ndtri

from sureleaf.evaluation.measures.named import Measure

__all__ = [
    "Comparison",
    "DifferenceTest",
    "Verdict",
    "conclude",
    "decide",
    "rows_until",
    "sentence",
    "width_that_finds",
]


# What a test of two numbers hands back: the difference, its interval and the p-value.


@dataclass(frozen=True)
class DifferenceTest:
    """A difference, the interval that holds it, and the p-value of "there is none".

    Attributes
    ----------
    difference : float
        The first minus the second.
    low, high : float
        Ends of the two-sided interval.
    p_value : float
        Two-sided, of the hypothesis that the true difference is 0.
    statistic : float
        What was compared with the reference distribution.
    standard_error : float
        Of the difference, as the statistic used it.
    method : str
        Name of the test and of the interval.
    level : float
        How often such an interval holds the true difference.
    assumption : str
        What has to be true for that, in a sentence.

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
    """Which of two classifiers is better, by how much, and how sure that is.

    Attributes
    ----------
    difference : float
        The measure of the first minus that of the second.
    low, high : float
        Interval that holds the true difference at ``level``.
    p_value : float
        Two-sided, of "there is no difference".
    method : str
        The test and the interval, chosen by the design and the question.
    verdict : {"better", "worse", "equivalent", "undecided"}
        What the interval says of the first; "better" and "worse" mean by more than the margin.
    rows_needed : int or None
        Rows in all (not rows more). With a margin: until the interval's half-width is below it.
        Without: until a true difference of ``detect`` is found with a power of 80 %.
    repeats_needed : int or None
        Repeats of the same design that would do the same on the rows there are; None where
        repeats cannot, since they do not add rows.
    measure, question : str
        What was compared; "model" (these two) or "algorithm" (what grew them).
    values : tuple of float
        The measure of the first and of the second.
    n_rows : int
        Rows judged on: test rows for models, all rows for algorithms, of both if independent.
    level, margin, detect : float
        As asked for.
    assumption : str
        What has to be true for the interval to hold.
    sentence : str
        All of it in words.

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
    """Add to a test its verdict and the rows that would decide it; the sentence is still empty.

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
    """Name the one of the three truths that the interval lies in, if it lies in one.

    "better" and "worse" also need p ≤ 1 - level, so that p-value and verdict never contradict
    each other where the two are not exactly inverse.

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
    """Rows in all until the half-width is below the margin, or ``detect`` is found at 80 %.

    Both follow from the width of the interval, which falls with the root of the rows; the
    difference that was observed does not enter.

    Examples
    --------
    >>> from sureleaf.comparison import mcnemar
    >>> test = mcnemar(30, 20, 1000)
    >>> rows_until(test, 1000, margin=0.01), rows_until(test, 1000, detect=0.01)
    (2046, 4179)
    """
    target = margin if margin > 0 else width_that_finds(detect, test.level)
    if target <= 0:
        return None
    return math.ceil(n_rows * ((test.high - test.low) / 2 / target) ** 2)


def width_that_finds(detect: float, level: float) -> float:
    """Half-width of the interval of a test that finds ``detect`` with a power of 80 %.

    Examples
    --------
    >>> round(width_that_finds(0.01, 0.95), 6)
    0.006996
    """
    z = float(ndtri((1 + level) / 2))
    return detect * z / (z + float(ndtri(0.8)))


# A comparison in words: the verdict, the numbers, what they rest on, what would decide it.


def sentence(found: Comparison, first: str, second: str) -> str:
    """Say what a comparison found, in plain words with the numbers.

    Parameters
    ----------
    found : Comparison
        Everything but its sentence.
    first, second : str
        Names of the two.

    Examples
    --------
    >>> found = Comparison(
    ...     0.02, 0.01, 0.03, 0.001, "McNemar", "better", 900, None, "accuracy", "model",
    ...     (0.92, 0.90), 1000, 0.95, 0.0, 0.01, "the rows are independent", "")
    >>> print(sentence(found, "tree", "rule"))
    Tree is better than rule: accuracy 0.9200 against 0.9000, a difference of 0.0200 (0.0100 to
    0.0300 at level 0.95, p = 0.001, by McNemar on 1,000 rows). This holds if the rows are
    independent.
    """
    if first == second:
        first, second = f"the first {first}", f"the second {second}"
    numbers = (
        f"{found.measure} {found.values[0]:.4f} against {found.values[1]:.4f}, a difference of "
        f"{found.difference:.4f} ({found.low:.4f} to {found.high:.4f} at level {found.level:g}, "
        f"p = {found.p_value:.3g}, by {found.method} on {found.n_rows:,} rows)"
    )
    text = f"{_claim(found, first, second)}: {numbers}."
    if found.verdict == "undecided":
        text = f"{text} {_what_would_decide(found)}".rstrip()
    return f"{text[0].upper()}{text[1:]} This holds if {found.assumption}."


def _claim(found: Comparison, first: str, second: str) -> str:
    by = f" by more than {found.margin:g}" if found.margin > 0 else ""
    return {
        "better": f"{first} is better than {second}{by}",
        "worse": f"{first} is worse than {second}{by}",
        "equivalent": f"{first} and {second} are equivalent within {found.margin:g}",
        "undecided": f"Undecided whether {first} or {second} is better{by}",
    }[found.verdict]


def _what_would_decide(found: Comparison) -> str:
    if found.rows_needed is None:
        return ""
    more = found.rows_needed - found.n_rows
    rows = f"about {found.rows_needed:,} {'test ' if found.question == 'model' else ''}rows"
    if found.margin > 0:
        goal = f"an interval that reaches no further than {found.margin:g}"
    else:
        goal = f"finding a true difference of {found.detect:.3g} with a power of 80 %"
    if more <= 0:
        near = "seems to lie near the margin" if found.margin > 0 else "is likely smaller"
        return f"The rows are enough for {goal}; the true difference {near}."
    text = f"For {goal} it takes {rows} ({more:,} more)"
    if found.repeats_needed is not None:
        text += f", or {found.repeats_needed:,} repeats of the design on the rows there are"
    return text + "."
