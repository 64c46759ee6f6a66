"""AUC differences and the paired bootstrap, against enumeration and each other."""

import numpy as np
import pytest

from sureleaf.comparison import auc_difference, bootstrap_difference, paired_t
from sureleaf.errors import InvalidArgumentError
from tests.naive.delong import delong_by_pairs


def scores(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    shared = rng.normal(size=n) + positive
    return positive, shared + rng.normal(size=n), np.round(shared + rng.normal(size=n), 1)


def test_delong_is_the_variance_over_all_pairs() -> None:
    positive, first, second = scores(60, 0)
    areas, covariance = delong_by_pairs(positive, np.vstack([first, second]))
    test = auc_difference(positive, first, second)
    assert test.difference == pytest.approx(areas[0] - areas[1])
    contrast = np.array([1, -1])
    assert test.standard_error == pytest.approx(np.sqrt(contrast @ covariance @ contrast))


def test_two_perfect_rankings_keep_an_interval() -> None:
    positive = np.repeat([True, False], 20)
    ranking = np.arange(40)[::-1]
    test = auc_difference(positive, ranking, ranking * 2.0)
    assert test.low < 0 < test.high
    assert test.p_value == 1.0


def test_perfect_against_constant_is_found_though_delong_has_no_variance() -> None:
    positive = np.repeat([True, False], 30)
    test = auc_difference(positive, positive.astype(float), np.ones(60))
    assert test.difference == 0.5
    assert 0 < test.low < test.high <= 1
    assert 0 < test.p_value < 0.001


def test_the_bootstrap_agrees_with_delong() -> None:
    positive, first, second = scores(400, 7)

    def statistic(rows: np.ndarray) -> float:
        return auc_difference(positive[rows], first[rows], second[rows]).difference

    boot = bootstrap_difference(statistic, 400, n_resamples=400)
    exact = auc_difference(positive, first, second)
    # A standard error from B resamples has itself a relative error of 1/√(2B).
    assert boot.standard_error == pytest.approx(exact.standard_error, rel=4 / np.sqrt(800))


def test_the_bootstrap_of_a_mean_is_the_paired_t() -> None:
    gap = np.random.default_rng(3).normal(0.3, 1, size=80)
    boot = bootstrap_difference(lambda rows: float(gap[rows].mean()), 80)
    exact = paired_t(gap)
    tolerance = 4 / np.sqrt(2 * 2000)  # relative error of a deviation from 2,000 resamples
    assert boot.difference == pytest.approx(exact.difference)
    assert boot.standard_error == pytest.approx(exact.standard_error, rel=tolerance)
    assert boot.statistic == pytest.approx(exact.statistic, rel=tolerance)


def test_resamples_without_a_value_are_left_aside() -> None:
    rare = np.arange(30) < 2

    def statistic(rows: np.ndarray) -> float:
        hits = rare[rows]
        return float(hits.mean()) if hits.any() else float("nan")

    test = bootstrap_difference(statistic, 30)
    assert np.isfinite([test.low, test.high, test.p_value]).all()


def test_groups_are_drawn_whole() -> None:
    rng = np.random.default_rng(5)
    gap = np.repeat(rng.normal(size=40), 10)  # ten copies of forty rows
    groups = np.repeat(np.arange(40), 10)

    def statistic(rows: np.ndarray) -> float:
        return float(gap[rows].mean())

    alone = bootstrap_difference(statistic, 400)
    whole = bootstrap_difference(statistic, 400, groups=groups)
    assert whole.standard_error / alone.standard_error == pytest.approx(np.sqrt(10), rel=0.1)
    assert "groups" in whole.method


def test_a_bootstrap_needs_rows_and_groups_that_fit() -> None:
    with pytest.raises(InvalidArgumentError, match="at least two"):
        bootstrap_difference(lambda rows: 0.0, 1)
    with pytest.raises(InvalidArgumentError, match="group of each"):
        bootstrap_difference(lambda rows: 0.0, 3, groups=[1, 2])


def test_models_that_never_differ_have_p_1() -> None:
    test = bootstrap_difference(lambda rows: 0.0, 30)
    assert (test.low, test.high, test.p_value) == (0.0, 0.0, 1.0)


def test_the_resamples_are_those_of_the_seed() -> None:
    gap = np.random.default_rng(6).normal(size=50)

    def ends(seed: int) -> tuple[float, float]:
        test = bootstrap_difference(
            lambda rows: float(gap[rows].mean()), 50, n_resamples=50, random_state=seed
        )
        return test.low, test.high

    assert ends(1) == ends(1) != ends(2)
