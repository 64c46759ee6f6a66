"""Splits of a node beside no split: Figures 1 and 2 of Zhang (2024)."""

import numpy as np
import pytest

from sureleaf import InvalidArgumentError, levels
from sureleaf.levels.competing_splits import (
    CandidateSplit,
    best_splits,
    checked_split,
    crossings,
    split_levels,
    split_text,
    unsplit_p_max,
)

WHOLE = CandidateSplit((1.0,), (0.7,))
A, B = CandidateSplit((0.9, 0.1), (0.75, 0.75)), CandidateSplit((0.2, 0.8), (0.75, 0.6875))


def test_the_splits_of_figure_1_are_of_a_node_with_a_p_max_of_70_percent():
    assert unsplit_p_max([A, B]) == pytest.approx([0.7])
    assert unsplit_p_max([A]) == pytest.approx([0.7, 0.75])  # .75 if it changed no prediction
    assert unsplit_p_max([CandidateSplit((0.5, 0.5), (0.6, 0.6))]) == pytest.approx([0.5, 0.6])


def test_splits_with_rounded_numbers_are_of_one_node():
    humidity = CandidateSplit((0.5, 0.5), (0.5714, 0.8571))
    outlook = CandidateSplit((0.2857, 0.3571, 0.3572), (1.0, 0.6, 0.6))
    assert unsplit_p_max([humidity, outlook])[0] == pytest.approx(9 / 14, abs=1e-4)


def test_splits_of_different_nodes_are_refused():
    with pytest.raises(InvalidArgumentError, match="of one node"):
        unsplit_p_max([A, CandidateSplit((0.5, 0.5), (0.9, 0.95))])
    many = CandidateSplit((1 / 13,) * 13, (0.7,) * 13)
    with pytest.raises(InvalidArgumentError, match="more than 12 nodes"):
        unsplit_p_max([many])


N = np.arange(1.0, 302.0)


@pytest.mark.parametrize("level", ["confidence", "utility"])
def test_the_best_split_has_the_highest_level_at_every_number_of_rows(level):
    found = best_splits(N, split_levels(level, N, [WHOLE, A, B]))
    for n in range(1, 302):
        values = [
            getattr(levels.tree_levels(n, split.shares, split.p_max), level)
            for split in (WHOLE, A, B)
        ]
        index = [split for rows, split in found if rows <= n][-1]
        assert values[index] >= max(values) - 1e-9


def test_a_split_that_leads_at_single_numbers_of_rows_is_left_out():
    n = np.arange(1.0, 8.0)
    values = np.array([[2, 2, 2, 2, 2, 2, 2], [1, 3, 1, 3, 1, 3, 3]])
    assert best_splits(n, values) == [(1, 0), (6, 1)]


def test_a_crossing_is_where_one_level_passes_the_other_for_good():
    for level in ("confidence", "utility"):
        values = split_levels(level, N, [WHOLE, A, B])
        assert crossings(N, values)
        for rows, above, below in crossings(N, values):
            ahead = values[above] - values[below]
            assert (ahead[rows - 1 :] > -1e-9).all()
            assert ahead[rows - 1] > 0 >= ahead[rows - 2]
    flat = np.ones((2, 5))
    assert crossings(np.arange(1.0, 6.0), flat) == []
    assert crossings(np.arange(1.0, 6.0), np.array([[2, 2, 2, 1, 1], [1, 1, 1, 1, 1]])) == []


def test_the_text_of_a_split_has_its_rows_or_else_its_shares():
    assert split_text(np.array([5.0, 9.0]), np.array([0.6, 1.0])) == "5:0.6,9:1"
    assert split_text(np.array([1.5, 4.5]), np.array([0.6, 0.7])) == "0.25:0.6,0.75:0.7"


def test_a_split_has_one_p_max_per_share():
    with pytest.raises(InvalidArgumentError, match="one p_max per share"):
        checked_split([0.5, 0.5], [0.7])
    with pytest.raises(InvalidArgumentError, match="add up to 1"):
        checked_split([0.5, 0.6], [0.7, 0.7])
    with pytest.raises(InvalidArgumentError, match="p_max"):
        checked_split([0.5, 0.5], [0.7, 0.4])
