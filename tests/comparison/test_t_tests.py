"""Student's t, its correction for shared rows, and the 5x2cv F."""

import math

import numpy as np
import pytest
from scipy import stats

from sureleaf.comparison import five_by_two_f, one_sample_t, paired_t
from sureleaf.comparison.t_tests import CORRELATED, difference_of_mean
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import corrected_resampled

FIRST = [1200, 1219, 1103, 1213, 1258, 1325, 1295]
SECOND = [1247, 1098, 1185, 1087, 1377, 1363, 1121]
LECTURE = [(a - b) / 2000 for a, b in zip(FIRST, SECOND, strict=True)]


def test_the_lecture_example_has_six_degrees_of_freedom() -> None:
    test = paired_t(LECTURE)
    assert round(test.difference, 5) == 0.00964
    assert round(np.std(LECTURE, ddof=1), 5) == 0.05871
    assert (round(test.low, 4), round(test.high, 4)) == (-0.0447, 0.0639)


def test_plain_t_is_scipys() -> None:
    expected = stats.ttest_rel(FIRST, SECOND)
    test = paired_t(np.subtract(FIRST, SECOND))
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((interval.low, interval.high))


def test_one_sample_t_is_scipys() -> None:
    values = [5.1, 4.9, 5.6, 5.8, 5.3]
    expected = stats.ttest_1samp(values, 5.0)
    test = one_sample_t(values, 5.0, level=0.9)
    assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    interval = expected.confidence_interval(0.9)
    assert (test.low + 5, test.high + 5) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("ratio", [1 / 9, 0.5])
def test_the_correction_widens_by_nadeau_and_bengios_factor(ratio: float) -> None:
    plain, corrected = paired_t(LECTURE), paired_t(LECTURE, corrected=ratio)
    widening = math.sqrt((1 / 7 + ratio) / (1 / 7))
    assert corrected.high - corrected.low == pytest.approx((plain.high - plain.low) * widening)
    assert corrected.statistic == pytest.approx(plain.statistic / widening)


def test_corrected_true_is_one_cross_validation() -> None:
    assert paired_t(LECTURE, corrected=True) == paired_t(LECTURE, corrected=1 / 6)


def test_the_plain_test_says_what_is_wrong_with_it_over_folds() -> None:
    assert "share training rows" in repr(paired_t(LECTURE))


def test_differences_that_never_differ_from_zero_are_no_evidence() -> None:
    test = paired_t([0.0, 0.0, 0.0])
    assert (test.low, test.high, test.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("bad", [[], [0.1], [0.1, math.nan], [[0.1, 0.2]], [0.1, 0.1, 0.1]])
def test_differences_that_cannot_be_judged_are_refused(bad: list[float]) -> None:
    with pytest.raises(InvalidArgumentError):
        paired_t(bad)


@pytest.mark.parametrize("bad", [0.0, -0.1, math.nan, math.inf])
def test_a_ratio_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(InvalidArgumentError, match="n_test / n_train"):
        paired_t(LECTURE, corrected=bad)


def test_a_level_in_percent_is_refused_with_the_right_one() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got 95\. Did you mean 0\.95\?"):
        paired_t(LECTURE, level=95)


def test_five_by_two_is_alpaydins_ratio() -> None:
    pairs = np.random.default_rng(1).normal(0.02, 0.02, size=(5, 2))
    mean = pairs.mean(axis=1, keepdims=True)
    variances = ((pairs - mean) ** 2).sum(axis=1)
    expected = (pairs**2).sum() / (2 * variances.sum())
    test = five_by_two_f(pairs)
    assert test.statistic == pytest.approx(expected)
    assert test.p_value == pytest.approx(stats.f.sf(expected, 10, 5))


def test_the_five_by_two_interval_ends_where_the_test_stops_rejecting() -> None:
    pairs = np.random.default_rng(2).normal(0.02, 0.02, size=(5, 2))
    test = five_by_two_f(pairs)
    for end in (test.low, test.high):
        assert five_by_two_f(pairs - end).p_value == pytest.approx(0.05)


def test_repeats_that_differ_more_than_their_folds_keep_an_interval() -> None:
    pairs = np.array([[0.5, 0.501], [-0.5, -0.501], [0.4, 0.401], [-0.4, -0.401], [0.3, 0.3]])
    test = five_by_two_f(pairs)
    assert test.low < test.difference < test.high


def test_five_by_two_wants_five_repeats_of_two_folds() -> None:
    with pytest.raises(InvalidArgumentError, match=r"shape \(5, 2\)"):
        five_by_two_f(np.zeros(10))


def test_differences_that_are_all_alike_have_an_infinite_statistic() -> None:
    assert difference_of_mean(corrected_resampled(np.full(3, 0.25)), "t", "").statistic == math.inf
    assert difference_of_mean(corrected_resampled(np.zeros(3)), "t", "").statistic == 0.0


def test_the_corrected_test_names_its_assumption() -> None:
    assert paired_t([0.1, 0.2, 0.3], corrected=0.5).assumption == CORRELATED
