"""Rows for a width and for a power, against search one by one and exact enumeration."""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

from sureleaf.comparison import mcnemar, rate_interval, rows_for_width, rows_to_detect
from sureleaf.errors import InvalidArgumentError, UnreachableLevelError
from sureleaf.levels.search import smallest_count


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "jeffreys"])
@pytest.mark.parametrize(("half_width", "rate"), [(0.05, 0.5), (0.1, 0.9), (0.08, 0.0)])
def test_rows_for_a_width_are_the_fewest(method: str, half_width: float, rate: float) -> None:
    def width(n: int) -> float:
        interval = rate_interval(rate, n, method=method)
        return (interval.high - interval.low) / 2

    n = rows_for_width(half_width, rate=rate, method=method)
    assert n == next(m for m in range(1, 10_000) if width(m) <= half_width)


def test_rows_of_two_test_sets_are_statsmodels() -> None:
    expected = samplesize_proportions_2indep_onetail(0.02, 0.10, 0.8, alpha=0.05)
    assert abs(rows_to_detect(0.02, rate=0.10, paired=False) - expected) <= 1


def exact_power(n: int, only_first: float, only_second: float) -> float:
    """Power of the mid-p McNemar test: over all counts of discordant rows and winners."""
    discordance = only_first + only_second
    total = 0.0
    for m in range(n + 1):
        weight = binom.pmf(m, n, discordance)
        if weight < 1e-10:
            continue
        wins = np.arange(m + 1)
        smaller = np.minimum(wins, m - wins)
        p_value = binom.cdf(smaller, m, 0.5) + binom.cdf(smaller - 1, m, 0.5)
        total += weight * binom.pmf(wins, m, only_first / discordance)[p_value <= 0.05].sum()
    return total


@pytest.mark.parametrize(("difference", "discordance"), [(0.05, 0.1), (0.1, 0.3), (0.04, 0.05)])
def test_the_rows_give_the_power_that_was_asked_for(difference: float, discordance: float) -> None:
    n = rows_to_detect(difference, rate=0.2, discordance=discordance)
    power = exact_power(n, (discordance + difference) / 2, (discordance - difference) / 2)
    # The test is discrete: its power is known up to the largest mass of the winner's lead,
    # which moves in steps of 2 with variance n (discordance - difference²).
    step = 0.8 / np.sqrt(n * (discordance - difference**2))
    assert abs(power - 0.8) < step


def test_the_enumerated_p_values_are_those_of_mcnemar() -> None:
    for b, c in [(0, 5), (3, 9), (7, 7)]:
        smaller = min(b, c)
        p_value = binom.cdf(smaller, b + c, 0.5) + binom.cdf(smaller - 1, b + c, 0.5)
        assert mcnemar(b, c, 50).p_value == pytest.approx(min(1.0, p_value))


def test_models_that_err_alike_need_fewer_rows() -> None:
    alike = rows_to_detect(0.02, rate=0.1, discordance=0.03)
    unrelated = rows_to_detect(0.02, rate=0.1)
    separate = rows_to_detect(0.02, rate=0.1, paired=False)
    assert alike < unrelated / 3
    assert unrelated == pytest.approx(separate, rel=0.01)


@pytest.mark.parametrize(
    "bad",
    [
        {"difference": 0.0, "rate": 0.1},
        {"difference": 0.5, "rate": 0.6},
        {"difference": 0.02, "rate": 0.1, "power": 80},
        {"difference": 0.02, "rate": 0.1, "discordance": 0.01},
        {"difference": 0.02, "rate": 0.1, "discordance": 0.5},
        {"difference": 0.02, "rate": 0.1, "discordance": 0.1, "paired": False},
    ],
)
def test_questions_without_an_answer_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidArgumentError):
        rows_to_detect(**bad)


@pytest.mark.parametrize("bad", [0.0, 0.5, 2, float("nan")])
def test_a_width_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(InvalidArgumentError, match="half_width"):
        rows_for_width(bad)


def test_what_no_number_of_rows_gives_is_said() -> None:
    with pytest.raises(UnreachableLevelError):
        smallest_count(lambda n: False)


@pytest.mark.parametrize("paired", [True, False])
def test_less_power_never_takes_more_rows(paired: bool) -> None:
    """Below a power of (1 - level)/2 chance alone does it: one row."""
    powers = (0.001, 0.01, 0.025, 0.1, 0.5, 0.9, 0.999999)
    rows = [rows_to_detect(0.02, rate=0.1, paired=paired, power=power) for power in powers]
    assert rows == sorted(rows)
    assert rows[0] == rows[1] == 1


@pytest.mark.parametrize(
    "bad", [{"difference": np.nan, "rate": 0.1}, {"difference": 0.1, "rate": np.nan}]
)
def test_rows_to_find_no_number_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidArgumentError, match="difference must be above 0"):
        rows_to_detect(**bad, paired=False)
