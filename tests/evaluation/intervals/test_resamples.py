"""Means over splits: corrected resampled t and nested cross-validation, against their formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import NestedFold, corrected_resampled, nested_cv

LECTURE = (
    np.array([1200, 1219, 1103, 1213, 1258, 1325, 1295])
    - np.array([1247, 1098, 1185, 1087, 1377, 1363, 1121])
) / 2000


def test_without_correction_it_is_the_one_sample_t_test() -> None:
    found = corrected_resampled(LECTURE)
    expected = stats.ttest_1samp(LECTURE, 0)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_the_lectures_seven_folds_have_six_degrees_of_freedom() -> None:
    found = corrected_resampled(LECTURE)
    assert found.degrees == 6
    assert LECTURE.std(ddof=1) == pytest.approx(0.05871, abs=5e-6)
    assert (found.low, found.high) == pytest.approx((-0.0447, 0.0639), abs=5e-5)


def test_the_correction_adds_test_over_train_to_one_over_j() -> None:
    plain, corrected = (
        corrected_resampled(LECTURE),
        corrected_resampled(LECTURE, test_to_train=1 / 6),
    )
    ratio = (corrected.standard_error / plain.standard_error) ** 2
    assert ratio == pytest.approx((1 / 7 + 1 / 6) / (1 / 7))


@pytest.mark.parametrize(("values", "p_value"), [([0, 0, 0], 1.0), ([0.1, 0.1], 0.0)])
def test_constant_figures_are_decided_without_dividing_by_zero(values, p_value) -> None:
    assert corrected_resampled(values, test_to_train=0.1).p_value == p_value


@pytest.mark.parametrize("values", [[0.5], [], [0.1, np.nan], [0.1, np.inf]])
def test_one_split_or_a_missing_figure_is_refused(values) -> None:
    with pytest.raises(InvalidArgumentError, match="values must"):
        corrected_resampled(values)


def _folds(generator: np.random.Generator, k: int, rows: int) -> list[NestedFold]:
    return [
        NestedFold(generator.random(rows), generator.random(rows * (k - 1))) for _ in range(2 * k)
    ]


def test_nested_cross_validation_follows_its_algorithm() -> None:
    folds = _folds(np.random.default_rng(1), 5, 12)
    found = nested_cv(folds, n_splits=5)
    a = [(np.mean(f.inner) - np.mean(f.outer)) ** 2 for f in folds]
    b = [np.var(f.outer, ddof=1) / 12 for f in folds]
    inner = np.mean([f.inner.mean() for f in folds])
    outer = np.mean([f.outer.mean() for f in folds])
    naive = np.std(np.concatenate([f.outer for f in folds]), ddof=1) / np.sqrt(60)
    error = np.sqrt(max(0.8 * (np.mean(a) - np.mean(b)), 0))
    error = min(max(error, naive), np.sqrt(5) * naive)
    assert found.value == pytest.approx(inner - 1.6 * (inner - outer))
    assert found.standard_error == pytest.approx(error)
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, len(folds) - 1) * error)


@pytest.mark.parametrize(("k", "rows"), [(2, 5), (5, 1)])
def test_nested_cross_validation_refuses_what_it_cannot_measure(k: int, rows: int) -> None:
    with pytest.raises(InvalidArgumentError, match="Nested cross-validation needs"):
        nested_cv(_folds(np.random.default_rng(0), k, rows), n_splits=k)


def test_repeats_leave_the_interval_of_one_round_as_it_is() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, 50)
    ratio = 1 / 9
    once, often = (
        corrected_resampled(some, test_to_train=ratio, one_round=True)
        for some in (values[:10], values)
    )
    assert once == corrected_resampled(values[:10], test_to_train=ratio)  # ten folds are one round
    spread = values.var(ddof=1)
    assert often.standard_error == pytest.approx(math.sqrt((1 / 10 + ratio) * spread))
    assert often.degrees == once.degrees == 9
    thirds = corrected_resampled(values, test_to_train=0.5, one_round=True)
    assert thirds.standard_error == pytest.approx(math.sqrt((1 / 3 + 1 / 2) * spread))
    assert thirds.degrees == 9
