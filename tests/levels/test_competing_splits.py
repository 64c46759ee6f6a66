"""Splits of a node beside no split: Figures 1 and 2 of Zhang (2024)."""

import numpy as np
import pytest

from sureleaf import InvalidArgumentError, levels
from sureleaf.levels.competing_splits import (
    Split,
    best_splits,
    checked_split,
    split_level,
    unsplit_p_max,
)

WHOLE = Split((1.0,), (0.7,))
A, B = Split((0.9, 0.1), (0.75, 0.75)), Split((0.2, 0.8), (0.75, 0.6875))


def test_the_splits_of_figure_1_are_of_a_node_with_a_p_max_of_70_percent():
    assert unsplit_p_max([A, B]) == pytest.approx(0.7)
    assert unsplit_p_max([A]) == pytest.approx(0.7)  # .75 only if it changed no prediction
    assert unsplit_p_max([Split((0.5, 0.5), (0.6, 0.6))]) == pytest.approx(0.5)


def test_splits_of_different_nodes_are_refused():
    with pytest.raises(InvalidArgumentError, match="of one node"):
        unsplit_p_max([A, Split((0.5, 0.5), (0.9, 0.95))])
    many = Split((1 / 13,) * 13, (0.7,) * 13)
    with pytest.raises(InvalidArgumentError, match="more than 12 nodes"):
        unsplit_p_max([many])


@pytest.mark.parametrize("level", ["confidence", "utility"])
def test_the_best_split_is_that_of_the_highest_level_at_every_odd_number(level):
    found = best_splits(level, [WHOLE, A, B], n_max=301)
    for n in range(1, 302, 2):
        values = [
            getattr(levels.tree_levels(n, split.shares, split.p_max), level)
            for split in (WHOLE, A, B)
        ]
        index = [one.split for one in found if one.rows <= n][-1]
        assert values[index] >= max(values) - 1e-9


def test_no_split_is_best_with_few_rows_and_the_split_with_many():
    found = best_splits("utility", [WHOLE, A])
    assert found[0] == (1, 0)
    assert found[-1].split == 1
    n = found[-1].rows
    assert split_level("utility", np.array([n]), A) > split_level("utility", np.array([n]), WHOLE)
    before = np.array([n - 2])
    assert split_level("utility", before, A) <= split_level("utility", before, WHOLE)


def test_a_split_has_one_p_max_per_share():
    with pytest.raises(InvalidArgumentError, match="one p_max per share"):
        checked_split([0.5, 0.5], [0.7])
    with pytest.raises(InvalidArgumentError, match="add up to 1"):
        checked_split([0.5, 0.6], [0.7, 0.7])
    with pytest.raises(InvalidArgumentError, match="p_max"):
        checked_split([0.5, 0.5], [0.7, 0.4])
