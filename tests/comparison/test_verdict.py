"""The verdict follows from the interval, and can be wrong only when the interval is."""

import pytest

from sureleaf.comparison import mcnemar
from sureleaf.comparison.verdict import decide, rows_until

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
    assert decide(low, high, 0.001, level=0.95, margin=MARGIN) == expected
    mirror = {"better": "worse", "worse": "better"}.get(expected, expected)
    assert decide(-high, -low, 0.001, level=0.95, margin=MARGIN) == mirror
    found = decide(low, high, 0.001, level=0.95, margin=MARGIN, higher_is_better=False)
    assert found == mirror


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert decide(0.0, 0.0, 1.0, level=0.95) == "undecided"
    assert decide(1e-9, 0.5, 0.01, level=0.95) == "better"


def test_a_p_value_above_the_level_keeps_the_verdict_open() -> None:
    assert decide(0.001, 0.1, 0.051, level=0.95) == "undecided"


def test_a_verdict_is_true_whenever_the_interval_holds_the_truth() -> None:
    grid = [i / 1000 for i in range(-30, 31, 2)]
    for low in grid:
        for high in [h for h in grid if h >= low]:
            verdict = decide(low, high, 0.0, level=0.95, margin=MARGIN)
            for truth in (low, (low + high) / 2, high):
                if verdict == "better":
                    assert truth > MARGIN
                elif verdict == "worse":
                    assert truth < -MARGIN
                elif verdict == "equivalent":
                    assert abs(truth) <= MARGIN


def test_rows_until_the_half_width_is_below_the_margin() -> None:
    test = mcnemar(30, 20, 1000)
    n = rows_until(test, 1000, margin=0.005)
    assert n is not None
    scaled = mcnemar(round(30 * n / 1000), round(20 * n / 1000), n)
    # The root law overstates the rows a little: Tango's z² in the width fades with n.
    assert 0.95 * 0.005 < (scaled.high - scaled.low) / 2 < 0.005


def test_rows_do_not_depend_on_the_difference_that_was_seen() -> None:
    even, uneven = mcnemar(50, 50, 2000), mcnemar(60, 40, 2000)
    first, second = (rows_until(test, 2000, detect=0.01) for test in (even, uneven))
    assert first == pytest.approx(second, rel=0.01)


def test_rows_need_a_question() -> None:
    assert rows_until(mcnemar(3, 2, 100), 100) is None
