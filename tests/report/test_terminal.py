import math

from sureleaf.report.terminal import interval_bar, sparkline


def test_the_highest_and_lowest_value_have_the_highest_and_lowest_block() -> None:
    assert sparkline([3.0, 1.0, 2.0])[0] == "█"
    assert sparkline([3.0, 1.0, 2.0])[1] == "▁"


def test_values_that_are_none_are_blank() -> None:
    assert sparkline([1.0, math.nan, 2.0])[1] == " "
    assert sparkline([math.inf]) == " "
    assert sparkline([]) == ""


def test_equal_values_are_level() -> None:
    assert len(set(sparkline([0.5, 0.5, 0.5]))) == 1


def test_a_bar_has_the_width_asked_for_and_its_value_inside() -> None:
    bar = interval_bar(-5.0, 0.9, 5.0, scale=(0.0, 1.0), width=20)
    assert len(bar) == 20
    assert bar[0] == "├"
    assert bar[-1] == "┤"
    assert bar.index("●") == 17


def test_what_has_no_interval_has_no_bar() -> None:
    assert interval_bar(0.0, 0.5, math.inf, scale=(0.0, 1.0), width=5) == " " * 5
    assert interval_bar(0.0, 0.5, 1.0, scale=(1.0, 1.0), width=5) == " " * 5
