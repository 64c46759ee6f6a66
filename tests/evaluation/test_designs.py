"""Designs: what is split, kept together, balanced, and never depends on order."""

import numpy as np
import pytest

from sureleaf.designs import (
    Bootstrap,
    Design,
    Holdout,
    KFold,
    LeaveOneOut,
    RepeatedHoldout,
    from_dict,
)
from sureleaf.errors import InvalidArgumentError, InvalidTypeError

CLASSES = np.random.default_rng(0).choice(3, 101, p=[0.6, 0.3, 0.1])
GROUPS = np.random.default_rng(1).integers(0, 20, 101)
EVERY = [Holdout(), RepeatedHoldout(3), KFold(5, repeats=2), LeaveOneOut(), Bootstrap(4)]


@pytest.mark.parametrize("design", EVERY)
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_no_row_trains_and_tests_in_one_split(design: Design, groups) -> None:
    splits = list(design.splits(CLASSES, groups=groups, seed=3))
    assert len(splits) == design.n_splits_of(101 if groups is None else 20)
    for split in splits:
        assert len(split.test) > 0
        assert not set(split.train) & set(split.test)
        if groups is not None:
            assert not set(groups[split.train]) & set(groups[split.test])
        assert set(split.train) | set(split.test) == set(range(101))


@pytest.mark.parametrize("design", EVERY)
def test_a_seed_gives_the_same_splits_and_another_seed_others(design: Design) -> None:
    def tests(seed: int) -> list[list[int]]:
        return [split.test.tolist() for split in design.splits(CLASSES, seed=seed)]

    assert tests(1) == tests(1)
    if not isinstance(design, LeaveOneOut):
        assert tests(1) != tests(2)


def test_splits_are_fixed_for_ever() -> None:
    # the raw Philox stream is stable over versions; these rows must never change
    split = next(Holdout().splits(np.array([0, 0, 0, 1, 1, 1]), seed=0))
    assert split.test.tolist() == [2, 3]
    split = next(Bootstrap(1).splits(np.zeros(6, int), seed=0))
    assert split.train.tolist() == [0, 3, 3, 4, 4, 4]


def test_labels_are_split_like_their_codes() -> None:
    codes = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    for design in (Holdout(1 / 3, resample="over"), Bootstrap(1)):
        first, second = (
            next(design.splits(labels)) for labels in (codes, np.array(["no", "yes"])[codes])
        )
        assert (first.train.tolist(), first.test.tolist()) == (
            second.train.tolist(),
            second.test.tolist(),
        )


def test_folds_partition_the_rows_and_keep_the_classes_shares() -> None:
    splits = list(KFold(7, repeats=2).splits(CLASSES, seed=5))
    for repeat in range(2):
        parts = [split.test for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate(parts)) == list(range(101))
        counts = np.array([np.bincount(CLASSES[part], minlength=3) for part in parts])
        assert np.ptp(counts.sum(axis=1)) <= 1
        assert (np.ptp(counts, axis=0) <= 1).all()


def test_a_stratified_hold_out_gives_each_class_its_share() -> None:
    split = next(Holdout(0.3).splits(CLASSES, seed=1))
    assert len(split.test) == 30
    expected = np.bincount(CLASSES) * 30 / 101
    assert (np.abs(np.bincount(CLASSES[split.test], minlength=3) - expected) < 1).all()
    assert len(next(Holdout(0.3, stratified=False).splits(CLASSES)).test) == 30


def test_groups_come_near_the_wanted_shares_of_every_class() -> None:
    classes = np.random.default_rng(2).integers(0, 2, 2000)
    groups = np.random.default_rng(3).integers(0, 200, 2000)
    for split in KFold(5).splits(classes, groups=groups):
        counts = np.bincount(classes[split.test])
        # the greedy deal ends within one group (about 10 rows) of the share
        assert (np.abs(counts - np.bincount(classes) / 5) < 10).all()


def test_every_fold_gets_a_group_even_if_there_are_just_as_many() -> None:
    groups = np.repeat([0, 1, 2], [50, 1, 1])
    assert all(len(split.test) for split in KFold(3).splits(np.zeros(52, int), groups=groups))


def test_a_bootstrap_draws_n_rows_and_about_632_of_them_distinct() -> None:
    n = 500
    shares = []
    for split in Bootstrap(100).splits(np.zeros(n, int), seed=0):
        assert len(split.train) == n
        shares.append(len(np.unique(split.train)) / n)
    expected = 1 - (1 - 1 / n) ** n
    # the number of distinct rows has variance n (e^-1 - 2 e^-2), near .097 n
    assert abs(np.mean(shares) - expected) < 4 * np.sqrt(0.097 / n / 100)


def test_a_stratified_bootstrap_keeps_the_class_counts() -> None:
    for split in Bootstrap(5, stratified=True).splits(CLASSES):
        assert np.bincount(CLASSES[split.train]).tolist() == np.bincount(CLASSES).tolist()


@pytest.mark.parametrize("how", ["over", "under"])
def test_resampling_balances_the_training_part_only(how: str) -> None:
    for plain, split in zip(
        KFold(3).splits(CLASSES), KFold(3, resample=how).splits(CLASSES), strict=True
    ):
        assert split.test.tolist() == plain.test.tolist()
        assert set(split.train) <= set(plain.train)
        counts, before = np.bincount(CLASSES[split.train]), np.bincount(CLASSES[plain.train])
        assert (counts == (before.max() if how == "over" else before.min())).all()
        if how == "over":
            assert set(split.train) == set(plain.train)
        else:
            assert len(set(split.train)) == len(split.train)
        assert split.drawn.tolist() == plain.train.tolist()
        assert split.n_train == plain.n_train == len(plain.train)


def test_time_is_never_turned_round() -> None:
    split = next(Holdout(time_ordered=True).splits(CLASSES))
    assert split.train.tolist() == list(range(67))
    assert split.test.tolist() == list(range(67, 101))
    for split in KFold(4, time_ordered=True).splits(CLASSES):
        assert split.train.max() < split.test.min()
    with pytest.raises(InvalidArgumentError, match="groups cannot be kept whole"):
        next(KFold(4, time_ordered=True).splits(CLASSES, groups=GROUPS))


@pytest.mark.parametrize("design", EVERY)
def test_a_design_survives_being_written_down(design: Design) -> None:
    assert from_dict(design.to_dict()) == design


@pytest.mark.parametrize(
    ("design", "n"), [(KFold(5), 4), (Holdout(), 1), (Bootstrap(1), 1), (LeaveOneOut(), 1)]
)
def test_too_few_rows_are_refused(design: Design, n: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"needs at least .* rows; got {n}"):
        list(design.splits(np.zeros(n, int)))


@pytest.mark.parametrize(
    ("make", "problem", "message"),
    [
        (lambda: KFold(1), InvalidArgumentError, "n_splits must be at least 2; got 1"),
        (lambda: KFold(2.5), InvalidTypeError, "n_splits must be a whole number"),
        (lambda: Holdout(30), InvalidArgumentError, r"test must be .* Did you mean 0.3\?"),
        (lambda: KFold(resample="up"), InvalidArgumentError, "resample must be one of 'none'"),
        (lambda: KFold(stratified="x"), InvalidArgumentError, "stratified must be one of True"),
        (lambda: Holdout(time_ordered="no"), InvalidArgumentError, "time_ordered must be one of"),
        (lambda: LeaveOneOut(stratified=True), InvalidArgumentError, "stratified must be False"),
        (lambda: KFold(repeats=2, time_ordered=True), InvalidArgumentError, "time has one order"),
        (lambda: from_dict({"design": "Fold"}), InvalidArgumentError, "design must be one of"),
        (lambda: from_dict({"design": "KFold", "x": 1}), InvalidArgumentError, "cannot be read"),
    ],
)
def test_options_that_make_no_sense_are_refused(make, problem, message) -> None:
    with pytest.raises(problem, match=message):
        make()
