"""Means over splits: the corrected resampled t, and the bootstrap, against their formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import (
    bca_limits,
    bootstrap_counts,
    bootstrap_interval,
    bootstrap_mean,
    corrected_resampled,
)

LECTURE = (
    np.array([1200, 1219, 1103, 1213, 1258, 1325, 1295])
    - np.array([1247, 1098, 1185, 1087, 1377, 1363, 1121])
) / 2000


@pytest.mark.parametrize(("values", "p_value"), [([0, 0, 0], 1.0), ([0.1, 0.1], 0.0)])
def test_constant_figures_are_decided_without_dividing_by_zero(values, p_value) -> None:
    assert corrected_resampled(values, test_to_train=0.1).p_value == p_value


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


VALUES = np.random.default_rng(5).exponential(size=80)


def test_the_limits_are_scipys_for_the_same_replicates() -> None:
    expected = stats.bootstrap(
        (VALUES,), np.mean, method="BCa", n_resamples=999, rng=np.random.default_rng(2)
    )
    left_out = [np.delete(VALUES, i).mean() for i in range(len(VALUES))]
    found = bca_limits(VALUES.mean(), expected.bootstrap_distribution, left_out)
    # scipy takes the strict and non-strict share into the bias as we do, and interpolates alike
    np.testing.assert_allclose(found, expected.confidence_interval, rtol=1e-6)


def test_the_general_and_the_quick_way_agree_on_a_mean() -> None:
    # Each limit of 1,000 (2,000) draws has a standard error near s/sqrt(n) * 0.12 (a tail
    # quantile's sqrt(p q / B) / density); five of the sum's are allowed.
    general = bootstrap_interval(
        lambda rows: float(VALUES[rows].mean()), 80, generator=np.random.default_rng(0)
    )
    quick = bootstrap_mean(VALUES, generator=np.random.default_rng(1))
    error = VALUES.std() / np.sqrt(80) * 0.12 * math.sqrt(1.5)
    assert general.value == pytest.approx(quick.value)
    assert abs(general.low - quick.low) < 5 * error
    assert abs(general.high - quick.high) < 5 * error


def test_rows_of_a_group_are_drawn_together() -> None:
    groups = np.repeat(np.arange(10), 8)
    doubled = np.repeat(np.random.default_rng(0).normal(size=10), 8)
    alone = bootstrap_mean(doubled, generator=np.random.default_rng(1))
    together = bootstrap_interval(
        lambda rows: float(doubled[rows].mean()),
        80,
        generator=np.random.default_rng(1),
        groups=groups,
    )
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert "groups" in together.method


def test_whole_weights_are_rows_in_the_value() -> None:
    found = bootstrap_mean(
        [1.0, 2.0, 4.0], generator=np.random.default_rng(0), sample_weight=[1, 0, 3]
    )
    assert found.value == pytest.approx(13 / 4)


def test_an_infinite_loss_has_an_infinite_mean_and_upper_end() -> None:
    found = bootstrap_mean([1.0, math.inf], generator=np.random.default_rng(0))
    assert (found.value, found.low, found.high) == (math.inf, 1.0, math.inf)


def test_constant_rows_have_an_interval_of_no_width() -> None:
    found = bootstrap_mean([2.0, 2.0, 2.0], generator=np.random.default_rng(0))
    assert (found.low, found.value, found.high) == (2.0, 2.0, 2.0)


def test_one_row_or_one_group_cannot_be_resampled() -> None:
    with pytest.raises(InvalidArgumentError, match="at least two rows"):
        bootstrap_mean([1.0], generator=np.random.default_rng(0))
    with pytest.raises(InvalidArgumentError, match="at least two groups"):
        bootstrap_interval(
            lambda rows: 0.0, 3, generator=np.random.default_rng(0), groups=["a", "a", "a"]
        )


def test_drawing_cells_is_drawing_rows() -> None:
    from sureleaf.evaluation.measures.rates import kappa_of

    table = np.array([[30, 8, 2], [5, 20, 5], [1, 4, 25]])
    cells = np.repeat(np.arange(9), table.ravel())

    def of_rows(rows: np.ndarray) -> float:
        return kappa_of(np.bincount(cells[rows], minlength=9).reshape(3, 3).astype(float))

    rows = bootstrap_interval(of_rows, 100, generator=np.random.default_rng(0), n_resamples=2000)
    counts = bootstrap_counts(kappa_of, table, generator=np.random.default_rng(1))
    assert counts.value == pytest.approx(rows.value)
    # limits of 2,000 draws: standard error near .12 / sqrt(2) of the figure's own, near .06
    assert abs(counts.low - rows.low) < 5 * 0.06 * 0.12
    assert abs(counts.high - rows.high) < 5 * 0.06 * 0.12


def test_many_rows_are_joined_into_blocks_that_vary_alike() -> None:
    values = np.random.default_rng(2).exponential(size=60_001)
    found = bootstrap_mean(values, generator=np.random.default_rng(3))
    half = 1.959964 * values.std() / np.sqrt(len(values))
    # each limit of 2,000 draws is uncertain by 5 %, of a half-width that is; four of them
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.value == pytest.approx(half, rel=0.2)
    assert found.value - found.low == pytest.approx(half, rel=0.2)
