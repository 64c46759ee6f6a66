"""Diff: what changes from one tree to another, in rules, decisions and accuracy."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import sureleaf
from sureleaf import InvalidArgumentError, InvalidTypeError, TreeClassifier
from sureleaf.comparison import mcnemar
from tests.naive.tree_diff import count_changes


def table(seed: int, n: int) -> tuple[list[list[Any]], np.ndarray]:
    rng = np.random.default_rng(seed)
    age, colour, income = rng.random(n).round(2), rng.integers(0, 3, n), rng.random(n).round(2)
    y = (age + 0.5 * (colour == 1) + 0.4 * income + rng.normal(0, 0.3, n) > 0.9).astype(int)
    names = ["red", "green", "blue"]
    rows = [
        [None if rng.random() < 0.1 else float(a), names[int(c)], float(i)]
        for a, c, i in zip(age, colour, income, strict=True)
    ]
    return rows, y


def grown(seed: int, n: int = 250, **options: Any) -> TreeClassifier:
    parameters = {"levels_from": "training", "random_state": 0} | options
    return TreeClassifier(**parameters).fit(*table(seed, n))


def numbers(cut: int, n: int = 40) -> TreeClassifier:
    return TreeClassifier(levels_from="training").fit(
        [[i] for i in range(n)], [0] * cut + [1] * (n - cut)
    )


KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "unpruned": {"pruning": None, "max_depth": 4},
    "cost": {"cost": [[0, 1], [4, 0]]},
    "fraction": {"missing": "fraction", "categorical_split": "multiway", "max_leaves": 9},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_and_itself_are_the_same(kind: str) -> None:
    tree = grown(0, **KINDS[kind])
    X, y = table(5, 100)
    for found in (sureleaf.diff(tree, tree), sureleaf.diff(tree, tree, X, y)):
        assert found.identical
        assert found.rules == ()
        assert found.changed == 0
        assert "The two trees are the same" in str(found)
        assert len(found.sentences()) == 1
    assert found.comparison.difference == 0


def test_trees_that_decide_every_row_alike_need_no_more_rows_to_compare_them() -> None:
    old = numbers(20)
    new = sureleaf.update(old, [[-i - 1] for i in range(5)], [0] * 5)
    found = sureleaf.diff(old, new, [[i + 0.5] for i in range(40)], [0] * 20 + [1] * 20)
    assert (found.changed, found.rules) == (0, ())
    assert not any("undecided" in one for one in found.sentences())


@pytest.mark.parametrize("kind", KINDS)
def test_two_trees_equal_a_naive_count(kind: str) -> None:
    old, new = grown(0, **KINDS[kind]), grown(1, **KINDS[kind])
    X, y = table(5, 150)
    found = sureleaf.diff(old, new, X, y)
    naive = count_changes(old, new, X, y.tolist())
    assert found.changed == pytest.approx(naive["share"])
    lines = found.flows.records()
    for name, counts in (("n", naive["pairs"]), ("n_changed", naive["changed"])):
        got = {(line["old_leaf"], line["new_leaf"]): line[name] for line in lines}
        assert got == dict(counts)
    assert found.flows.old_correct.sum() == naive["right"][0]
    assert found.flows.new_correct.sum() == naive["right"][1]
    assert found.flows.share.sum() == pytest.approx(1)
    if kind != "cost":
        expected = mcnemar(*_discordant(old, new, X, y), len(y))
        assert found.comparison.difference == pytest.approx(expected.difference)
        assert found.comparison.p_value == pytest.approx(expected.p_value)
    else:
        assert found.comparison.measure == "cost"


def _discordant(old: Any, new: Any, X: Any, y: Any) -> tuple[int, int]:
    one, other = new.predict(X) == y, old.predict(X) == y
    return int((one & ~other).sum()), int((other & ~one).sum())


def test_rules_that_change_are_said_in_words() -> None:
    moved = sureleaf.diff(numbers(20), numbers(22))
    assert [one.kind for one in moved.rules] == ["moved"]
    assert "the threshold moves: x0 <= 21 in place of x0 <= 19" in str(moved)
    stump = TreeClassifier(levels_from="training", max_depth=0).fit([[0], [1], [2]], [0, 0, 1])
    added, removed = sureleaf.diff(stump, numbers(20)), sureleaf.diff(numbers(20), stump)
    assert [one.kind for one in added.rules] == ["added"]
    assert "a leaf (0) is divided by x0 <= 19" in str(added)
    assert [one.kind for one in removed.rules] == ["removed"]
    assert "the split by x0 <= 19 is gone: one leaf (0)" in str(removed)
    y, tree = [1] * 20 + [0] * 20, TreeClassifier(levels_from="training")
    by_first = clone(tree).fit([[i, 0] for i in range(40)], y)
    by_second = clone(tree).fit([[0, 39 - i] for i in range(40)], y)
    replaced = sureleaf.diff(by_first, by_second)
    assert [each.kind for each in replaced.rules] == ["replaced"]
    assert "The new tree also asks for x1." in str(replaced)
    assert "The new tree no longer asks for x0." in str(replaced)


def test_groups_of_categories_are_matched_by_what_they_have_in_common() -> None:
    def tree(high: str) -> TreeClassifier:
        letters = [letter for letter in "abcdef" for _ in range(20)]
        y = [int(letter in high) for letter in letters]
        return TreeClassifier(levels_from="training").fit([[one] for one in letters], y)

    found = sureleaf.diff(tree("ab"), tree("abc"), [["c"], ["a"], ["f"], ["d"]])
    assert [one.kind for one in found.rules] == ["regrouped"]
    assert found.changed == 0.25
    turned = sureleaf.diff(tree("ab"), tree("cdef"))
    assert "decision" in {one.kind for one in turned.rules}


def test_without_rows_an_update_still_knows_how_many_decisions_change() -> None:
    old = numbers(20)
    new = sureleaf.update(old, [[-i - 1] for i in range(30)], [1] * 30)
    found = sureleaf.diff(old, new)
    assert found.same_tests
    assert not found.identical
    assert found.changed == pytest.approx(50 / 70)
    assert found.leaves.changed.tolist() == [True, False]
    assert [one.kind for one in found.rules] == ["decision"]
    assert "the decision is 1 in place of 0" in str(found)


def test_flags_that_come_and_go_are_named() -> None:
    old = TreeClassifier(levels_from="training").fit([[0]] * 5 + [[1]] * 5, [0] * 4 + [1] * 6)
    assert old.leaves().flagged.any()
    new = sureleaf.update(old, [[0]] * 60 + [[1]] * 60, [0] * 60 + [1] * 60)
    text = str(sureleaf.diff(old, new))
    assert "was flagged, and is not any more" in text
    assert "is flagged now, and was not" in str(sureleaf.diff(new, old))


def test_costs_decide_and_compare() -> None:
    old, new = grown(0, 400), grown(1, 400)
    X, y = table(5, 200)
    found = sureleaf.diff(old, new, X, y, cost=[[0, 1], [6, 0]])
    costs = np.array([[0, 1], [6, 0]])
    paid = [costs[y, one.with_cost(costs).predict(X)].mean() for one in (new, old)]  # 0 and 1
    assert found.comparison.measure == "cost"
    assert found.comparison.values == pytest.approx(tuple(paid))


def test_what_cannot_be_compared_is_named() -> None:
    tree = numbers(20)
    bag: Any = sureleaf.BaggedTreesClassifier(n_estimators=2).fit(
        [[0], [1], [2], [3]], [0, 0, 1, 1]
    )
    with pytest.raises(InvalidTypeError, match="new must be a fitted TreeClassifier"):
        sureleaf.diff(tree, bag)
    for labels in (["a", "b"], ["0", "1"]):
        texts = TreeClassifier().fit([[0], [1]] * 5, labels * 5)
        with pytest.raises(InvalidArgumentError, match=r"same classes.*'"):
            sureleaf.diff(tree, texts)
    with pytest.raises(InvalidArgumentError, match="y without X"):
        sureleaf.diff(tree, tree, y=[0, 1])
    with pytest.raises(InvalidArgumentError, match="must have rows"):
        sureleaf.diff(tree, tree, np.empty((0, 1)))
    with pytest.raises(InvalidArgumentError, match="same number of rows"):
        sureleaf.diff(tree, tree, [[1], [2]], [0])
