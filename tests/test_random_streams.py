"""Draws depend on seed and key alone."""

import numpy as np
import pytest

from sureleaf.errors import InvalidTypeError
from sureleaf.random_streams import (
    FIXED_SEED,
    draw_seed,
    draw_with_replacement,
    read_seed,
    seed_for,
    shuffled,
)


def test_a_shuffle_holds_every_row_once_and_keys_give_different_ones() -> None:
    first, second = shuffled(50, 1, 0, 0), shuffled(50, 1, 0, 1)
    assert sorted(first) == list(range(50))
    assert first.tolist() != second.tolist()


def test_draws_are_uniform() -> None:
    counts = np.bincount(draw_with_replacement(10, 100_000, 3, 0), minlength=10)
    # chi-square with 9 degrees of freedom: 33.7 is its .9999 quantile
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 33.7


def test_the_streams_are_the_ones_of_the_first_release() -> None:
    assert shuffled(6, 0, 0, 0).tolist() == [3, 2, 4, 1, 5, 0]
    assert seed_for(0, 2, 0) == seed_for(0, 2, 0) < 2**31


def test_every_kind_of_random_state_gives_a_seed() -> None:
    assert read_seed(5) == 5
    assert read_seed(np.random.default_rng(0)) == read_seed(np.random.default_rng(0))
    assert read_seed(np.random.RandomState(0)) == read_seed(np.random.RandomState(0))
    assert read_seed(None) == draw_seed(None) == FIXED_SEED
    for wrong in ("seed", -1, 1.5):
        with pytest.raises(InvalidTypeError, match="random_state must be"):
            read_seed(wrong)
