"""Recurrence of splits and predictions on fresh samples, and the rival of the root."""

import json
import tracemalloc

import numpy as np
import pytest

import sureleaf
from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.json_text import from_json, to_json
from sureleaf.model import rival as rivals
from sureleaf.model.stability import SAME, Rival, Stability, fresh_share, recurrence_in
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


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_recurrence_is_that_of_rows_followed_one_by_one(split):
    X, y = table(120, 1)
    X2, y2 = table(120, 2)
    settings = {"pruning": None, "max_leaves": 6, "categorical_split": split, "random_state": 0}
    one = TreeClassifier(**settings).fit(X, y)
    other = TreeClassifier(**settings).fit(X2, y2)
    found = recurrence_in(
        one.tree_,
        one.apply(X),
        one.model_.predicted_classes,
        other.tree_,
        other.apply(X),
        other.model_.predicted_classes,
    )
    paths = [
        [set(np.flatnonzero(line)) for line in each.decision_path(X).toarray()]
        for each in (one, other)
    ]
    for node in np.flatnonzero(~one.tree_.is_leaf):
        assert found.splits[node] == recurs(one.tree_, paths[0], node, other.tree_, paths[1], SAME)
    assert (found.rows == (one.predict(X) == other.predict(X))).all()
    itself = recurrence_in(
        *(one.tree_, one.apply(X), one.model_.predicted_classes) * 2,
    )
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
    found = recurrence_in(
        one.tree_,
        one.apply(shown[0]),
        one.model_.predicted_classes,
        other.tree_,
        other.apply(X),
        other.model_.predicted_classes,
    )
    paths = [
        [set(np.flatnonzero(line)) for line in model.decision_path(rows).toarray()]
        for model, rows in ((one, shown[0]), (other, X))
    ]
    assert found.splits[0] == recurs(one.tree_, paths[0], 0, other.tree_, paths[1], SAME)


def test_the_rows_of_a_branch_may_be_copied_without_changing_what_its_tree_predicts(monkeypatch):
    X, y = table(300, 4)
    settings = {"categorical_split": "multiway", "max_leaves": 6, "random_state": 0}
    shared = TreeClassifier(**settings).fit(X, y).splits().rival
    monkeypatch.setattr(rivals, "_FEW_BRANCHES", 1)
    assert TreeClassifier(**settings).fit(X, y).splits().rival == shared


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


def test_expected_shares_rise_with_what_was_found_and_stay_within_0_and_1():
    for n in (0, 1, 8, 80):
        shares = fresh_share(n, 0.75, -0.4, 2.5)
        assert (np.diff(shares) > 0).all()
        assert 0 < shares[0] <= shares[-1] < 1


def test_a_clear_split_returns_and_splits_of_noise_do_not(model):
    splits = model.splits()
    assert splits.recurrence[0] > 0.8
    assert splits.n[0] == 300
    assert splits.test[0].startswith("x0 <=")
    assert "splits would probably return" in splits.summary or "only split" in splits.summary
    noise = TreeClassifier(random_state=0, pruning=None, max_leaves=8)
    X, y = table(200, 3)
    rng = np.random.default_rng(0)
    found = noise.fit(X, rng.permutation(y)).splits()
    assert found.recurrence.mean() < 0.3
    assert np.median(found.recurrence) < 0.3


def test_leaves_say_how_often_their_rows_keep_their_class(model):
    leaves = model.leaves()
    assert ((leaves.recurrence > 0) & (leaves.recurrence < 1)).all()
    assert leaves.recurrence.max() > 0.8
    assert model.splits().summary in leaves.notes()


def test_stability_survives_saving_and_falls_with_what_it_is_about(model, tmp_path):
    model.save(tmp_path / "tree.sureleaf")
    for copy in (sureleaf.load(tmp_path / "tree.sureleaf"), from_json(to_json(model))):
        assert (copy.splits().recurrence == model.splits().recurrence).all()
        assert copy.splits().rival == model.splits().rival
        assert (copy.leaves().recurrence == model.leaves().recurrence).all()
    for changed in (model.certify(*table(50, 9)),):
        assert changed.splits().summary == model.splits().summary
    honest = TreeClassifier(levels_from="honest", random_state=0).fit(*table(100, 4))
    with pytest.raises(InvalidArgumentError, match="levels_from='cross_fit'"):
        honest.splits()
    assert np.isnan(honest.leaves().recurrence).all()


def test_a_damaged_stability_is_refused(model):
    written = json.loads(to_json(model))
    for change in ({"splits": [2.0]}, {"n_trees": "x"}, {"predictions": None}):
        damaged = json.loads(json.dumps(written))
        damaged["levels"]["stability"] |= change
        with pytest.raises(InvalidArgumentError):
            from_json(json.dumps(damaged))


def test_the_rival_of_the_root_is_another_column_with_a_paired_difference(model):
    rival = model.splits().rival
    assert rival.column != model.tree_.feature[0]
    assert rival.low <= rival.difference <= rival.high
    assert rival.verdict == ("worse" if rival.high < 0 else "undecided")
    X, y = table(300, 0)
    twin = TreeClassifier(random_state=0).fit([[*row, row[0] + 1e-9] for row in X], y)
    copy = twin.splits().rival  # the same column twice, but 300 rows cannot show that it is as good
    assert copy.column == 4
    assert copy.verdict == "undecided"
    assert abs(copy.difference) < 0.02


def test_trees_of_a_sample_are_compared_in_large_tables(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 2))
    X = np.column_stack([X[:, :1], X[:, :1], X[:, 1:]])  # the rival is the root's column again
    y = X[:, 0] + rng.normal(size=900) > 0
    monkeypatch.setattr(rivals, "_MOST_GROWING_ROWS", 300)
    grown = []
    build = rivals.build
    monkeypatch.setattr(
        rivals, "build", lambda rows, settings: grown.append(rows) or build(rows, settings)
    )
    copy = TreeClassifier(max_leaves=4, random_state=0, n_jobs=1).fit(X, y).splits().rival
    assert (copy.low, copy.difference, copy.high) == pytest.approx((-copy.high, 0.0, copy.high))
    assert 0 < max(rows.total_weight for rows in grown) <= 300


def test_the_verdict_of_a_rival_says_what_its_interval_holds():
    assert Rival(0, "a <= 1", 0.002, -0.011, 0.015).sentence() == (
        "a <= 1 at the root would be as good: "
        "accuracy +0.2 percentage points (\N{MINUS SIGN}1.1 to +1.5)."
    )
    assert Rival(0, "a <= 1", 0.02, 0.01, 0.03).verdict == "better"
    assert Rival(0, "a <= 1", -0.02, -0.03, -0.01).verdict == "worse"
    assert Rival(0, "a <= 1", -0.027, -0.062, 0.008).sentence() == (
        "a <= 1 at the root is not shown to be worse: "
        "accuracy \N{MINUS SIGN}2.7 percentage points (\N{MINUS SIGN}6.2 to +0.8)."
    )


@pytest.mark.parametrize("cv", [2, 3])
def test_trees_without_splits_or_halves_say_so(cv):
    X, y = [[0.0]] * 30, [0, 1, 1] * 10
    tree = TreeClassifier(random_state=0, cv=cv).fit(X, y)
    if cv == 2:  # two folds have no halves of their own
        with pytest.raises(InvalidArgumentError, match="three folds"):
            tree.splits()
    else:
        assert tree.splits().summary == "The tree has no split."
        assert tree.splits().rival is None


def test_half_of_the_samples_is_what_probably_means():
    stability = Stability(np.array([0.6, 0.5, np.nan]), np.array([np.nan, np.nan, 0.9]), 4)
    assert stability.sentence() == "On a fresh sample, 1 of its 2 splits would probably return."
