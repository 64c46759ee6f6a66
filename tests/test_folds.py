"""Rows are assigned to folds evenly, by class, with groups kept whole."""

import numpy as np
import pytest

from sureleaf.folds import assign_folds, assign_groups, assign_holdout, enough_folds, group_classes

GENERATOR = np.random.default_rng(0)
CLASSES = GENERATOR.choice(3, 101, p=[0.6, 0.3, 0.1])
GROUPS = np.random.default_rng(1).integers(0, 20, 101)


@pytest.mark.parametrize("n_folds", [2, 7, 101])
def test_sizes_of_folds_and_of_their_classes_differ_by_at_most_one(n_folds: int) -> None:
    folds = assign_folds(CLASSES, n_folds, np.random.default_rng(2).permutation(101))
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for code in range(3):
        assert np.ptp(np.bincount(folds[code == CLASSES], minlength=n_folds)) <= 1


def test_the_order_decides_which_rows_of_a_class_share_a_fold() -> None:
    classes = np.array([0, 1, 0, 1])
    assert assign_folds(classes, 2, np.array([0, 1, 2, 3])).tolist() == [0, 0, 1, 1]
    assert assign_folds(classes, 2, np.array([2, 1, 0, 3])).tolist() == [1, 0, 0, 1]
    unstratified = assign_folds(classes, 2, np.arange(4), stratified=False)
    assert unstratified.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("test", [0.001, 1 / 3, 0.999])
def test_a_holdout_has_a_row_of_each_part_and_the_share_of_each_class(test: float) -> None:
    part = assign_holdout(CLASSES, test, np.random.default_rng(3).permutation(101))
    size = min(max(round(test * 101), 1), 100)
    assert part.sum() == size
    expected = np.bincount(CLASSES) * size / 101
    assert (np.abs(np.bincount(CLASSES, weights=part) - expected) < 1).all()


def test_groups_stay_whole_and_no_part_is_empty() -> None:
    shares = np.full(19, 1 / 19)
    part = assign_groups(CLASSES, GROUPS, shares, np.random.default_rng(4).permutation(20))
    assert len(np.unique(part)) == 19
    for group in range(20):
        assert len(np.unique(part[group == GROUPS])) == 1


def test_the_class_of_a_group_is_its_most_frequent_one_and_the_first_of_a_tie() -> None:
    assert group_classes(np.array([1, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("n_rows", "n_folds", "least", "expected"),
    [
        (100_000, 10, 1, list(range(10))),  # not too large
        (100_010, 10, 1, list(range(10))),
        (200_000, 5, 1, [0, 1, 3]),
        (1_000_000, 5, 1, [0]),
        (1_000_000, 10, 2, [0, 5]),
        (9_000_000, 3, 9, [0, 1, 2]),
    ],
)
def test_large_tables_test_as_many_folds_as_hold_enough_rows(
    n_rows: int, n_folds: int, least: int, expected: list[int]
) -> None:
    fold_of = np.arange(n_rows) % n_folds
    assert enough_folds(fold_of, least=least) == expected
    assert enough_folds(np.append(fold_of, -1), least=least) == expected
