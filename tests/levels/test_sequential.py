"""Tests by betting and confidence sequences: what they promise, and exact values."""

import numpy as np
import pytest
from scipy.special import betaln

from sureleaf.levels.sequential import (
    capital_limit,
    confidence_sequence,
    log_bets,
    log_capital,
    start_share,
    start_times,
)


@pytest.mark.parametrize("gains", [[0.5, -0.5], [0.9, -0.1], [-1.0, 0.0, 1.0], [0.2, -1.0, 3.0]])
def test_no_stake_gains_on_average_if_the_null_hypothesis_is_true(gains):
    gain = np.array(gains)
    rng = np.random.default_rng(0)
    for shares in rng.dirichlet(np.ones(len(gain)), 500):
        grown = np.exp(log_bets(gain)) @ shares
        if shares @ gain <= 0:
            assert (grown <= 1.0 + 1e-12).all()
        else:
            assert grown.max() > 1.0


def test_all_starts_share_one_alpha():
    assert sum(start_share(k) for k in range(100_000)) <= 1.0
    assert sum(start_share(k) for k in range(100_000)) == pytest.approx(1.0, abs=1e-5)


def test_starts_do_not_depend_on_how_rows_are_divided():
    whole = start_times(0, 5000)
    parts = [start_times(0, 7), start_times(8, 19), start_times(20, 20), start_times(21, 5000)]
    assert [one for part in parts for one in part] == whole == sorted(set(whole))


def test_the_capital_is_the_mean_over_stakes_of_the_product_over_rows():
    bets = log_bets([0.3, -0.7])
    outcomes = np.random.default_rng(1).integers(0, 2, 60)
    slow = np.mean([np.prod([np.exp(one[k]) for k in outcomes]) for one in bets])
    counts = np.bincount(outcomes, minlength=2).astype(float)
    assert np.exp(log_capital(counts, bets)) == pytest.approx(slow)


def test_the_quick_limit_is_above_the_capital():
    for share in (0.01, 0.4, 0.99):
        for n in (1, 50):
            own = np.arange(n + 1.0)
            for sign in (1, -1):
                bets = log_bets([sign * (1 - share), -sign * share])
                capital = log_capital(np.column_stack([own, n - own]), bets)
                limit = capital_limit(own, np.full(n + 1, float(n)), share, rises=sign > 0)
                assert (capital <= limit + 1e-9).all()


def test_limits_are_where_the_mixture_reaches_one_over_alpha():
    own, n, alpha = np.array([0.0, 3.0, 40.0, 50.0]), np.array([10.0, 10.0, 50.0, 50.0]), 0.01
    low, high = confidence_sequence(own, n, alpha)
    for end in (low, high):
        inner = (end > 0) & (end < 1)
        capital = betaln(own + 0.5, n - own + 0.5) - betaln(0.5, 0.5)
        capital -= own * np.log(np.where(inner, end, 0.5))
        capital -= (n - own) * np.log1p(-np.where(inner, end, 0.5))
        assert capital[inner] == pytest.approx(-np.log(alpha))
    assert low[0] == 0.0
    assert high[-1] == 1.0
    assert (low <= own / n).all()
    assert (own / n <= high).all()


def test_limits_hold_at_all_times_at_once():
    """At .2 with 400 streams of 1,000 rows: at most .2 plus four simulation errors."""
    rng = np.random.default_rng(3)
    n = np.arange(1, 1001.0)
    missed = 0
    for _ in range(400):
        own = np.cumsum(rng.random(1000) < 0.3).astype(float)
        low, high = confidence_sequence(own, n, 0.2)
        missed += bool(((low > 0.3) | (high < 0.3)).any())
    assert missed / 400 <= 0.2 + 4 * np.sqrt(0.2 * 0.8 / 400)


def test_outcomes_without_a_loss_or_a_gain_are_refused():
    for gains in ([1.0, 2.0], [-1.0, 0.0]):
        with pytest.raises(ValueError, match="a loss and a gain"):
            log_bets(gains)
