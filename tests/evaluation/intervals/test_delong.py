"""DeLong's variance against its definition by pairs, and the interval where it degenerates."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import (
    delong_covariance,
    delong_interval,
    delong_one_vs_rest,
    newcombe_auc,
)
from tests.naive.delong import delong_by_pairs


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    positive = generator.random(60) < 0.4
    table = positive + generator.normal(size=(3, 60))
    return positive, np.round(table, 1)  # rounded: there are ties


def test_the_covariance_is_the_one_of_all_pairs(scores) -> None:
    positive, table = scores
    areas, covariance = delong_covariance(positive, table)
    expected_areas, expected = delong_by_pairs(positive, table)
    np.testing.assert_allclose(areas, expected_areas, rtol=1e-12)
    np.testing.assert_allclose(covariance, expected, rtol=1e-10)
    assert areas[0] == pytest.approx(roc_auc_score(positive, table[0]))


def test_the_interval_is_symmetric_on_the_logit_scale(scores) -> None:
    positive, table = scores
    found = delong_interval(positive, table[0])
    _, covariance = delong_by_pairs(positive, table[:1])
    half = 1.959964 * np.sqrt(covariance[0, 0]) / (found.value * (1 - found.value))
    assert found.high == pytest.approx(expit(logit(found.value) + half), rel=1e-6)
    assert found.low == pytest.approx(expit(logit(found.value) - half), rel=1e-6)


@pytest.mark.parametrize("n", [2, 5, 50, 1000])
def test_a_perfect_ranking_is_not_certain(n: int) -> None:
    positive = np.repeat([0, 1], n)
    found = delong_interval(positive, positive)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0 < found.low < 1 - 1 / (2 * n)
    worst = delong_interval(positive, 1 - positive)
    assert (worst.value, worst.low) == (0.0, 0.0)
    assert worst.high == pytest.approx(1 - found.low, abs=1e-9)


def test_constant_scores_are_a_coin_with_an_interval() -> None:
    found = delong_interval([0, 0, 1, 1, 1], np.ones(5))
    assert found.value == 0.5
    assert found.low < 0.5 < found.high


def test_newcombes_ends_solve_his_equation() -> None:
    low, high = newcombe_auc(0.8, 20, 30)
    for a in (low, high):
        shape = 1 + 24 * (1 - a) / (2 - a) + 24 * a / (1 + a)
        assert abs(0.8 - a) == pytest.approx(1.959964 * np.sqrt(a * (1 - a) * shape / 600))


def test_one_class_has_no_ranking() -> None:
    with pytest.raises(InvalidArgumentError, match="rows of both classes; got 3 positive and 0"):
        delong_interval([1, 1, 1], [0.1, 0.2, 0.3])


def test_one_against_the_rest_is_delongs_for_two_classes(scores) -> None:
    positive, table = scores
    p = expit(table[0])
    found = delong_one_vs_rest(positive.astype(int), np.column_stack([1 - p, p]))
    expected = delong_interval(positive, p)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


def test_one_against_the_rest_has_the_variance_of_the_jackknife() -> None:
    generator = np.random.default_rng(4)
    codes = generator.integers(0, 3, 300)
    table = generator.dirichlet([1, 1, 1], 300)
    table[np.arange(300), codes] += 0.5
    table /= table.sum(axis=1, keepdims=True)

    def area(rows: np.ndarray) -> float:
        return float(roc_auc_score(codes[rows], table[rows], multi_class="ovr"))

    found = delong_one_vs_rest(codes, table)
    assert found.value == pytest.approx(area(np.arange(300)))
    left_out = np.array([area(np.delete(np.arange(300), i)) for i in range(300)])
    jackknife = 299 * left_out.var()
    half = (logit(found.high) - logit(found.low)) / 2
    variance = (half / 1.959964 * found.value * (1 - found.value)) ** 2
    # both are consistent; they differ in terms of order 1/n
    assert variance == pytest.approx(jackknife, rel=0.05)


def test_one_against_the_rest_needs_two_rows_of_each_class() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got \[1, 2, 0\] rows"):
        delong_one_vs_rest([0, 1, 1], np.full((3, 3), 1 / 3))


def test_a_perfect_ranking_of_many_classes_is_not_certain() -> None:
    codes = np.repeat([0, 1, 2], [4, 5, 6])
    found = delong_one_vs_rest(codes, np.eye(3)[codes])
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(newcombe_auc(1.0, 4, 11).low)
