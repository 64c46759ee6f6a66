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

from sureleaf.comparison.difference import DifferenceTest
from sureleaf.evaluation.measures.named import Measure

__all__ = ["Comparison", "Verdict", "conclude", "decide", "rows_until", "width_that_finds"]

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
