"""The verdict follows from the interval, and can be wrong only when the interval is."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf.comparison import mcnemar
from sureleaf.comparison.verdict import (
    Comparison,
    DifferenceTest,
    conclude,
    rows_until,
    sentence,
    verdict_of,
)
from sureleaf.evaluation.measures.named import NAMED

MARGIN = 0.01


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.02, 0.04, "better"),
        (-0.04, -0.02, "worse"),
        (-0.005, 0.009, "equivalent"),
        (-0.01, 0.01, "equivalent"),
        (0.002, 0.008, "equivalent"),  # surely above 0, and surely not by the margin
        (0.005, 0.02, "undecided"),
        (-0.02, 0.02, "undecided"),
        (-0.02, 0.005, "undecided"),
    ],
)
def test_with_a_margin(low: float, high: float, expected: str) -> None:
    assert verdict_of(low, high, 0.001, level=0.95, margin=MARGIN) == expected
    mirror = {"better": "worse", "worse": "better"}.get(expected, expected)
    assert verdict_of(-high, -low, 0.001, level=0.95, margin=MARGIN) == mirror
    found = verdict_of(low, high, 0.001, level=0.95, margin=MARGIN, higher_is_better=False)
    assert found == mirror


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert verdict_of(0.0, 0.0, 1.0, level=0.95) == "undecided"
    assert verdict_of(1e-9, 0.5, 0.01, level=0.95) == "better"


def test_a_p_value_above_the_level_keeps_the_verdict_open() -> None:
    assert verdict_of(0.001, 0.1, 0.051, level=0.95) == "undecided"


def test_rows_do_not_depend_on_the_difference_that_was_seen() -> None:
    even, uneven = mcnemar(50, 50, 2000), mcnemar(60, 40, 2000)
    first, second = (rows_until(test, 2000, detect=0.01) for test in (even, uneven))
    assert first == pytest.approx(second, rel=0.01)


def test_rows_need_a_question() -> None:
    assert rows_until(mcnemar(3, 2, 100), 100) is None


def test_more_rows_than_a_number_holds_exactly_are_no_answer() -> None:
    assert rows_until(mcnemar(3, 2, 100), 100, detect=1e-9) is None
    assert rows_until(mcnemar(3, 2, 100), 100, detect=1e-6) is not None


def test_a_p_value_of_exactly_the_error_is_significant() -> None:
    assert verdict_of(0.001, 0.1, 0.05, level=0.95) == "better"


def _with_error(difference: float, error: float) -> DifferenceTest:
    reach = 1.959964 * error
    return DifferenceTest(
        difference, difference - reach, difference + reach, 1.0, 0.0, error, "z", 0.95, ""
    )


def concluded(difference: float, error: float = 0.02, **changes: Any) -> Comparison:
    """Return the comparison of accuracies by such a test, on 300 rows without a margin."""
    asked = {"n_rows": (300, 300), "margin": 0.0, "detect": None, **changes}
    test, values = _with_error(difference, error), (0.5 + difference, 0.5)
    return conclude(test, NAMED["accuracy"], question="model", values=values, **asked)


@pytest.mark.parametrize("difference", [0.0, 0.004, -0.007, 0.013, -0.02])
def test_at_the_rows_needed_the_verdict_about_a_margin_is_reached_in_80_of_100_cases(difference):
    margin, n, error = 0.01, 1000, 0.02
    rows = rows_until(_with_error(difference, error), n, margin=margin)
    then = error * math.sqrt(n / rows)
    draws = difference + then * np.random.default_rng(3).normal(size=20_000)
    inside = (np.abs(draws) + 1.959964 * then) <= margin
    outside = np.sign(difference) * draws - 1.959964 * then > margin
    reached = inside if abs(difference) < margin else outside
    assert reached.mean() == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 20_000))


def test_near_the_margin_is_said_only_if_it_is_near_and_the_interval_is_narrow() -> None:
    for difference, error, near in (
        (0.009, 0.001, True),
        (0.0, 0.02, False),
        (0.012, 0.002, True),
        (-0.001, 0.0048, False),  # the interval just reaches the margin
    ):
        comparison = concluded(difference, error, n_rows=(30_000, 30_000), margin=0.01)
        assert comparison.verdict == "undecided"
        text = sentence(comparison, "one", "other")
        assert ("seems to be close to the margin" in text) is near
        assert f"{comparison.rows_needed:,} rows in all" in text


def test_rows_needed_are_rows_of_the_table() -> None:
    comparison = concluded(0.0, n_rows=(100, 300), detect=0.01)
    assert comparison.rows_needed == rows_until(_with_error(0.0, 0.02), 300, detect=0.01)
    assert f"({comparison.rows_needed - 300:,} more)" in sentence(comparison, "one", "other")


@pytest.mark.parametrize(("difference", "word"), [(0.03, "higher"), (-0.03, "lower")])
def test_the_sentence_says_which_is_higher(difference: float, word: str) -> None:
    comparison = concluded(difference)
    assert f" {word} (" in sentence(comparison, "one", "other")


@pytest.mark.parametrize(
    ("measure", "difference", "wanted"),
    [
        ("accuracy", 0.004, "equivalent"),
        ("accuracy", 0.02, "better"),
        ("error", 0.02, "worse"),
        ("error", -0.02, "better"),
        ("a measure of one's own", 0.02, "better"),
    ],
)
def test_the_sentence_names_the_verdict_that_more_rows_would_give(measure, difference, wanted):
    comparison = concluded(difference, margin=0.01)
    text = sentence(replace(comparison, measure=measure), "one", "other")
    assert f'are needed to decide "{wanted}" with' in text


def test_the_sentence_has_no_gap_where_no_number_of_rows_is_known() -> None:
    comparison = concluded(0.0)
    assert comparison.rows_needed is None
    text = sentence(comparison, "one", "other")
    assert "  " not in text
    assert " on 300 rows). This holds if" in text


@given(
    difference=st.floats(-0.2, 0.2),
    below=st.floats(0, 0.3),
    above=st.floats(0, 0.3),
    quantile=st.sampled_from([0.0, 1.5, 1.96, 2.262, 4.3]),
    p_value=st.floats(0, 1),
    margin=st.sampled_from([0.0, 0.01, 0.1]),
    detect=st.one_of(st.none(), st.floats(1e-6, 0.5)),
    n_rows=st.integers(2, 10_000),
    n_train=st.integers(0, 20_000),
    measure=st.sampled_from(["accuracy", "error"]),
)
def test_undecided_rows_never_say_that_as_few_rows_would_decide(
    difference, below, above, quantile, p_value, margin, detect, n_rows, n_train, measure
) -> None:
    """Intervals of any shape, also uneven ones and those of a hold-out."""
    error = (below + above) / 2 / quantile if quantile else 0.0
    test = DifferenceTest(
        difference, difference - below, difference + above, p_value, 0.0, error, "t", 0.95, ""
    )
    comparison = conclude(
        test,
        NAMED[measure],
        question="model",
        values=(0.5 + difference, 0.5),
        n_rows=(n_rows, n_rows + n_train),
        margin=margin,
        detect=detect,
    )
    text = sentence(comparison, "one", "other")
    if comparison.verdict == "undecided":
        needed = comparison.rows_needed
        assert needed is None or needed > n_rows + n_train
        assert ("rows in all" in text) is (needed is not None)
        assert needed is None or f"({needed - n_rows - n_train:,} more)" in text
