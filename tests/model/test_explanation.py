"""Explanations: a way that is suggested leads to its leaf, and keeps to what can change."""

import json
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sureleaf
from sureleaf import InvalidArgumentError, TreeClassifier
from sureleaf.model.explanation import _number_between
from sureleaf.model.leaf_table import kind_of_confidence

SIZES = ["s", "m", "l", "xl"]
TREES: dict[str, dict[str, Any]] = {
    "default": {},
    "unpruned": {"pruning": None, "max_depth": 6, "min_samples_leaf": 5},
    "fraction": {"pruning": None, "max_depth": 5, "missing": "fraction", "min_samples_leaf": 8},
    "multiway": {"pruning": None, "max_depth": 4, "categorical_split": "multiway"},
    "monotone": {"monotone": {"income": 1, "age": -1}, "pruning": None, "max_depth": 5},
    "cost": {"cost": [[0, 1], [3, 0]]},
    "stop": {"unseen": "stop", "pruning": None, "max_depth": 5},
}


def table(seed: int, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows with numbers, categories, an order, dates and missing values."""
    rng = np.random.default_rng(seed)
    income, age = rng.integers(10, 90, n).astype(float), rng.random(n).round(2)
    colour = rng.integers(0, 4, n)
    size = rng.integers(0, 4, n)
    days = rng.integers(0, 300, n)
    score = income / 30 - 2 * age + 1.5 * (colour == 1) + 0.5 * size + days / 200
    y = np.where(score + rng.normal(0, 0.5, n) > 2.6, "yes", "no")
    frame = pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, income),
            "age": age,
            "colour": pd.Series(np.array(["red", "green", "blue", "pink"])[colour]).mask(
                rng.random(n) < 0.1
            ),
            "size": pd.Categorical(np.array(SIZES)[size], SIZES, ordered=True),
            "since": [date(2024, 1, 1) + timedelta(days=int(d)) for d in days],
        }
    )
    frame["since"] = pd.to_datetime(frame["since"])
    return frame, y


def fitted(kind: str) -> TreeClassifier:
    options = {"levels_from": "training", "random_state": 0} | TREES[kind]
    return TreeClassifier(**options).fit(*table(0, 600))


def changed(row: pd.DataFrame, found: sureleaf.model.explanation.Explanation) -> pd.DataFrame:
    """Return the row as a person would change it."""
    other = row.copy()
    for change in found.way.changes:
        new = pd.Timestamp(change.new) if change.column == "since" else change.new
        if change.column == "size":
            other["size"] = pd.Categorical([new], SIZES, ordered=True)
        else:
            other[change.column] = [new]
    return other


@pytest.mark.parametrize("kind", TREES)
def test_a_suggested_row_is_in_the_leaf_and_gets_its_decision(kind: str) -> None:
    tree = fitted(kind)
    leaves = tree.leaves()
    rows, _ = table(1, 60)
    predicted, ends = tree.predict(rows), tree.apply(rows)
    n_ways = 0
    for k in range(len(rows)):
        row = rows.iloc[[k]]
        found = tree.explain(row)
        assert (found.prediction, found.leaf) == (predicted[k], ends[k])
        if found.way is None:
            continue
        n_ways += 1
        other = changed(row, found)
        assert tree.apply(other).tolist() == [found.way.leaf]
        assert tree.leaf_shares(other).toarray().max() == 1.0
        assert tree.predict(other).tolist() == [found.way.prediction]
        assert found.way.prediction != found.prediction
        line = leaves.leaf.tolist().index(found.way.leaf)
        assert not leaves.flagged[line]
    assert n_ways > 20


@pytest.mark.parametrize("kind", ["unpruned", "fraction", "monotone"])
def test_no_way_has_fewer_changes(kind: str) -> None:
    """Every set of fewer columns, with every value that the tests distinguish, decides the same."""
    tree = fitted(kind)
    rows, _ = table(2, 25)
    trusted = tree.leaves()
    kept = set(trusted.leaf[~trusted.flagged].tolist())
    values: dict[str, list[Any]] = {
        "income": [float(v) for v in range(5, 95)],
        "age": [v / 100 for v in range(-1, 102)],
        "colour": ["red", "green", "blue", "pink"],
        "size": SIZES,
        "since": list(pd.date_range("2023-12-31", "2024-11-01")),
    }
    for k in range(len(rows)):
        row = rows.iloc[[k]]
        found = tree.explain(row)
        if found.way is not None and len(found.way.changes) == 1:
            continue
        for column, tried in values.items():  # no single change leads to a trusted other decision
            many = pd.concat([row] * len(tried), ignore_index=True)
            is_size = column == "size"
            many[column] = pd.Categorical(tried, SIZES, ordered=True) if is_size else tried
            ends, decided = tree.apply(many), tree.predict(many)
            whole = tree.leaf_shares(many).toarray().max(axis=1) == 1.0
            for end, decision, is_whole in zip(ends, decided, whole, strict=True):
                assert not (is_whole and end in kept and decision != found.prediction)


def test_fixed_columns_and_directions_are_respected() -> None:
    tree = fitted("unpruned")
    rows, _ = table(3, 60)
    seen = {"fixed": 0, "up": 0, "down": 0}
    for k in range(len(rows)):
        row = rows.iloc[[k]]
        found = tree.explain(row, fixed=["since", "colour"], only_up="income", only_down=["age"])
        for change in () if found.way is None else found.way.changes:
            assert change.column not in ("since", "colour")
            if change.column == "income":
                assert change.new > change.old
                seen["up"] += 1
            elif change.column == "age":
                assert change.new < change.old
                seen["down"] += 1
        seen["fixed"] += found.way is not None
    assert min(seen.values()) > 0
    nothing = tree.explain(rows.iloc[[0]], fixed=list(rows.columns))
    assert nothing.way is None
    assert "while income, age, colour, size and since may not change so" in nothing.reason


def test_a_column_that_may_only_rise_and_only_fall_is_fixed() -> None:
    tree = TreeClassifier(levels_from="training").fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    assert tree.explain([3]).way is not None
    assert tree.explain([3], only_up=[0]).way is not None
    assert tree.explain([3], only_down=["x0"]).way is None
    assert tree.explain([3], only_up=[0], only_down=["x0"]).way is None


def test_nothing_is_suggested_through_a_flagged_leaf() -> None:
    X = [[i] for i in range(30)]
    y = [0] * 26 + [1, 1, 0, 1]
    tree = TreeClassifier(
        levels_from="training", pruning=None, max_depth=1, min_samples_leaf=4
    ).fit(X, y)
    assert tree.leaves().flagged.tolist() == [False, True]
    found = tree.explain([3])
    assert found.way is None
    assert found.reason == "Leaves that decide otherwise are flagged, so nothing is suggested."
    trusting = tree.explain([3], confidence=0.5)
    assert trusting.way is not None
    assert "do not rely on it" in str(tree.explain([29]))


def test_a_stump_has_no_other_decision() -> None:
    tree = TreeClassifier(levels_from="training", max_depth=0).fit([[1], [2], [3]], [0, 0, 1])
    found = tree.explain([1])
    assert found.reason == "No leaf of the tree decides otherwise."
    assert found.steps == ()


def test_the_path_is_said_with_the_values_of_the_row() -> None:
    rows = pd.DataFrame({"duration": range(40), "colour": ["red", "blue"] * 20})
    tree = TreeClassifier(levels_from="training").fit(rows, ["no"] * 20 + ["yes"] * 20)
    for row in (
        {"duration": 30, "colour": "red"},
        pd.Series({"duration": 30, "colour": "red"}),
        rows.iloc[[30]],
        [30, "red"],
    ):
        found = tree.explain(row)
        assert found.steps == ("duration > 19 (it is 30)",)
        assert [str(one) for one in found.way.changes] == ["duration 19 instead of 30"]
        assert json.loads(json.dumps(found.to_dict()))["way"]["changes"][0]["new"] == 19
    assert tree.explain({"duration": None, "colour": "red"}).n in (20, 40)


def test_an_explanation_says_which_confidence_it_prints() -> None:
    tree = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    for model in (tree, tree.with_training_levels()):
        source = model.model_.evidence.source
        assert str(model.explain([30])).endswith(kind_of_confidence(source))


def test_all_categories_that_would_do_are_named() -> None:
    letters = [letter for letter in "abcd" for _ in range(20)]
    y = ["no" if letter in "ab" else "yes" for letter in letters]
    tree = TreeClassifier(levels_from="training").fit(pd.DataFrame({"kind": letters}), y)
    change = tree.explain({"kind": "a"}).way.changes[0]
    assert str(change) == "kind c or d instead of a"
    unseen = tree.explain({"kind": "z"})
    assert unseen.share < 1
    assert "in several leaves" in str(unseen)


def test_numbers_have_as_few_decimals_as_the_tests_allow() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        low, high = np.sort(rng.normal(0, 10.0 ** rng.integers(-3, 4), 2)).tolist()
        near = float(rng.choice([round(low) - 1.5, round(high) + 2.25, np.nan]))
        found = _number_between(low, high, near)
        assert low < found <= high
        if near > high:  # nothing nearer has so few decimals
            decimals = max(len(repr(found).partition(".")[2].rstrip("0")), 2)
            assert found + 10.0**-decimals > high - 1e-12
    assert _number_between(3.0, 3.0, 1.0) is None
    assert _number_between(1.0, np.nextafter(1.0, 2.0), 0.0) == np.nextafter(1.0, 2.0)
    assert _number_between(5.0, np.inf, 2.0) == 6.0


def test_what_cannot_be_explained_is_named() -> None:
    tree = fitted("default")
    rows, _ = table(1, 3)
    with pytest.raises(InvalidArgumentError, match="one row; got 3"):
        tree.explain(rows)
    with pytest.raises(InvalidArgumentError, match="fixed must name columns of the tree"):
        tree.explain(rows.iloc[[0]], fixed=["agee"])
    with pytest.raises(InvalidArgumentError, match="have an order; got 'colour'"):
        tree.explain(rows.iloc[[0]], only_up=["colour"])
