"""Recurrence of splits and predictions in trees grown on random halves of the rows."""

import json
import tracemalloc

import numpy as np
import pytest

import sureleaf
from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.json_text import from_json, to_json
from sureleaf.levels.intervals import wilson
from sureleaf.model import halves
from sureleaf.model.stability import SAME, recurrence_in
from sureleaf.table import read_table
from sureleaf.tree import TrainingRows
from tests.naive.stability import recurs


def table(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 3))
    town = rng.integers(0, 4, n)
    score = 3.0 * (x[:, 0] > 0.5) + 1.0 * (town > 1) * (x[:, 0] > 0.5) - 1.8
    y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    return [[*line, "abcd"[t]] for line, t in zip(x.tolist(), town, strict=True)], y


@pytest.fixture(scope="module")
def model():
    X, y = table(300, 0)
    fitted = TreeClassifier(random_state=0).fit(X, y)
    fitted.levels()
    return fitted


def compared(one, X, other, other_X):
    """What recurs in the other tree, and the nodes of every row in both trees."""
    found = recurrence_in(
        *(one.tree_, one.apply(X), one.model_.predicted_classes),
        *(other.tree_, other.apply(other_X), other.model_.predicted_classes),
    )
    paths = [
        [set(np.flatnonzero(line)) for line in model.decision_path(rows).toarray()]
        for model, rows in ((one, X), (other, other_X))
    ]
    return found, paths


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_recurrence_is_that_of_rows_followed_one_by_one(split):
    X, y = table(120, 1)
    X2, y2 = table(120, 2)
    settings = {"pruning": None, "max_leaves": 6, "categorical_split": split, "random_state": 0}
    one = TreeClassifier(**settings).fit(X, y)
    other = TreeClassifier(**settings).fit(X2, y2)
    found, paths = compared(one, X, other, X)
    for node in np.flatnonzero(~one.tree_.is_leaf):
        assert found.splits[node] == recurs(one.tree_, paths[0], node, other.tree_, paths[1], SAME)
    assert (found.rows == (one.predict(X) == other.predict(X))).all()
    itself, _ = compared(one, X, one, X)
    assert itself.splits[~one.tree_.is_leaf].all()
    assert itself.rows.all()


@pytest.mark.parametrize("seed", range(4))
def test_splits_of_several_branches_recur_as_rows_followed_one_by_one(seed):
    rng = np.random.default_rng(seed)
    towns = rng.integers(0, 6, (2, 400))
    labels = rng.random((2, 400)) < np.linspace(0.05, 0.95, 6)[towns]
    shown = [[[f"t{town:02}"] for town in line] for line in towns]
    settings = {"pruning": None, "categorical_split": "multiway", "min_samples_leaf": 1}
    one, other = (TreeClassifier(**settings).fit(X, y) for X, y in zip(shown, labels, strict=True))
    # Some rows move to another branch, and some branches are merged.
    moved = np.where(rng.random(400) < 0.1 * seed, rng.integers(0, 6, 400), towns[0])
    X = [[f"t{town:02}"] for town in np.where(moved < seed, 0, moved)]
    found, paths = compared(one, shown[0], other, X)
    assert found.splits[0] == recurs(one.tree_, paths[0], 0, other.tree_, paths[1], SAME)


def test_recurrence_in_trees_of_many_leaves_needs_no_table_of_their_pairs():
    X, y = np.arange(4_000.0)[:, np.newaxis], np.random.default_rng(0).integers(0, 2, 4_000)
    grown = TreeClassifier.c45(
        criterion="gini", pruning=None, min_samples_leaf=1, levels_from="training"
    ).fit(X, y)
    arguments = (grown.tree_, grown.apply(X), grown.model_.predicted_classes)
    assert grown.tree_.n_leaves > 1_500
    tracemalloc.start()
    found = recurrence_in(*arguments, *arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.splits[~grown.tree_.is_leaf].all()
    assert peak < 4 << 20  # the table would have 20 MB


def test_leaves_say_how_often_their_rows_keep_their_class(model):
    leaves = model.leaves()
    assert ((leaves.recurrence > 0) & (leaves.recurrence <= 1)).all()
    assert leaves.recurrence.max() > 0.8
    assert model.splits().summary in leaves.notes()


def test_stability_survives_saving_and_falls_with_what_it_is_about(model, tmp_path):
    model.save(tmp_path / "tree.sureleaf")
    for copy in (sureleaf.load(tmp_path / "tree.sureleaf"), from_json(to_json(model))):
        assert copy.splits().records() == model.splits().records()
        assert copy.splits().summary == model.splits().summary
        assert (copy.leaves().recurrence == model.leaves().recurrence).all()
    for changed in (model.certify(*table(50, 9)),):
        assert changed.splits().summary == model.splits().summary
    honest = TreeClassifier(levels_from="honest", random_state=0).fit(*table(100, 4))
    with pytest.raises(InvalidArgumentError, match="levels_from='cross_fit'"):
        honest.splits()
    assert np.isnan(honest.leaves().recurrence).all()


def test_a_damaged_stability_is_refused(model):
    written = json.loads(to_json(model))
    more = [value and value + 24 for value in written["levels"]["stability"]["returned"]]
    for change in ({"returned": [2.0]}, {"returned": more}, {"n_trees": "x"}, {"kept": None}):
        damaged = json.loads(json.dumps(written))
        damaged["levels"]["stability"] |= change
        with pytest.raises(InvalidArgumentError):
            from_json(json.dumps(damaged))


def test_a_clear_split_returns_and_splits_of_noise_seldom_do(model):
    splits = model.splits()
    assert splits.share[0] > 0.8
    assert splits.n[0] == 300
    assert splits.test[0].startswith("x0 <=")
    X, y = table(200, 3)
    noise = TreeClassifier(random_state=0, pruning=None, max_leaves=8)
    found = noise.fit(X, np.random.default_rng(0).permutation(y)).splits()
    assert np.median(found.share) < 0.4


def test_what_is_said_of_a_split_is_a_count_with_wilsons_interval(model):
    splits = model.splits()
    for split in splits.records():
        assert split["trees"] == 2 * model.leaves().n_rounds
        assert split["share"] == split["returned"] / split["trees"]
        interval = wilson(split["returned"], split["trees"])
        assert (split["low"], split["high"]) == pytest.approx(interval)


def test_halves_are_drawn_without_regard_to_classes_and_keep_groups_whole():
    labels = np.repeat([0, 1], 50).astype(np.int32)
    weights = np.where(np.arange(100) < 10, 0.0, 2.0)
    rows = TrainingRows(read_table(np.zeros((100, 1))), labels, 2, weights)
    drawn = [halves.random_half(rows, 7, number) for number in range(200)]
    for half in drawn:
        assert np.count_nonzero(half) == 45
        assert set(half.tolist()) == {0.0, 2.0}
        assert not half[:10].any()
    # Of 40 rows of class 0 among 90, a half has 20 with the deviation of the hypergeometric.
    of_class = [np.count_nonzero(half[labels == 0]) for half in drawn]
    assert np.std(of_class) == pytest.approx(np.sqrt(45 * 40 / 90 * 50 / 90 * 45 / 89), rel=0.15)
    groups = np.arange(100) // 7
    half = halves.random_half(rows, 7, 0, groups)
    taken = [set((half[10:] > 0)[groups[10:] == group].tolist()) for group in range(1, 15)]
    assert all(len(each) == 1 for each in taken)
    assert sum(True in each for each in taken) == 7


def test_a_majority_by_chance_is_not_said_to_recur_always():
    X, y = np.zeros((60, 1)), np.repeat([0, 1], [31, 29])
    kept = TreeClassifier(random_state=0).fit(X, y).leaves().recurrence
    assert 0.4 < kept[0] < 0.95  # in stratified halves, it would be 1


def test_trees_without_splits_or_halves_say_so():
    tree = TreeClassifier(random_state=0, cv=2).fit([[0.0]] * 30, [0, 1, 1] * 10)
    assert tree.splits().summary == "The tree has no split."
    one_group = TreeClassifier(random_state=0).fit(*table(40, 0), groups=np.zeros(40))
    with pytest.raises(InvalidArgumentError, match="two rows"):
        one_group.splits()
