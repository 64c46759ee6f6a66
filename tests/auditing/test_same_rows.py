"""Two trees on the same rows: each row is predicted by a tree that has not seen it."""

from typing import Any

import numpy as np
import pytest

from sureleaf import InvalidArgumentError, TreeClassifier, compare, evaluate
from sureleaf.auditing.same_rows import compare_trees
from sureleaf.comparison import mcnemar
from sureleaf.designs import KFold


def rows(seed: int, n: int = 300, shift: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    noise = rng.normal(size=n)
    return X, np.where(X[:, 0] + noise > shift, "yes", "no")


def grown(X: Any, y: Any, **options: Any) -> TreeClassifier:
    return TreeClassifier(random_state=0, **options).fit(X, y)


def test_trees_that_have_not_seen_the_rows_are_compared_as_they_are() -> None:
    first = grown(*rows(1))
    second = grown(*rows(2), max_leaves=1)
    X, y = rows(3)
    one, other = (each.predict(X) == y for each in (first, second))
    expected = mcnemar(int((one & ~other).sum()), int((other & ~one).sum()), len(y))
    found = compare_trees(first, second, X, y)
    assert found.question == "model"
    assert (found.low, found.high, found.p_value) == (expected.low, expected.high, expected.p_value)
    assert "grown" not in found.sentence


def test_a_tree_that_was_grown_on_the_rows_is_judged_by_trees_without_the_row() -> None:
    X, y = rows(1)
    new, old = grown(X, y), grown(*rows(2, shift=0.4))
    found = compare_trees(new, old, X, y, seed=4)
    anew = evaluate(TreeClassifier(random_state=0), X, y, design=KFold(10), random_state=4)
    assert found.values[0] == pytest.approx(anew.estimate("accuracy").value)
    assert found.values[1] == pytest.approx((old.predict(X) == y).mean())
    assert found.question == "algorithm"
    assert "These rows grew the new tree, so" in found.sentence
    both = compare_trees(new, grown(X, y, max_leaves=2), X, y, seed=4)
    pair = evaluate(
        TreeClassifier(random_state=0, max_leaves=2), X, y, design=KFold(10), random_state=4
    )
    assert both.low == compare(anew, pair).low
    assert "grew the new tree and the old tree" in both.sentence


def test_rows_of_which_a_tree_has_seen_a_part_are_refused() -> None:
    X, y = rows(1)
    new, old = grown(X, y), grown(*rows(2))
    with pytest.raises(InvalidArgumentError, match=r"150 of its 300 rows that it was grown on"):
        compare_trees(new, old, X[:150], y[:150])
    more, labels = rows(3)
    mixed, of_mixed = np.vstack([X[:100], more]), np.concatenate([y[:100], labels])
    with pytest.raises(InvalidArgumentError, match=r"the new tree has not seen.*can be compared"):
        compare_trees(new, old, mixed, of_mixed)
    with pytest.raises(InvalidArgumentError, match=r"classes of the new tree, no, yes; got yes"):
        compare_trees(new, old, X[y == "yes"], y[y == "yes"])


def test_where_fingerprints_cannot_tell_the_counts_do_or_the_sentence_says_so() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 2)).astype(float)  # every row has a twin
    y = np.where(X[:, 0] + rng.normal(size=200) > 0.5, "yes", "no")
    others, labels = rows(2)
    new, old = grown(X, y), grown(others[:, :2], labels)
    assert "These rows grew the new tree" in compare_trees(new, old, X, y).sentence
    part = compare_trees(new, old, X[:150], y[:150])
    assert "Whether these rows grew the new tree cannot be told" in part.sentence
    assert part.question == "model"


def test_a_difference_between_months_is_not_one_between_trees() -> None:
    """Every class is harder to tell in the new month: no tree is to blame."""
    first, (X, y) = rows(1, 600), rows(2, 600)
    swapped = np.random.default_rng(0).random(600) < 0.15
    y = np.where(swapped, np.where(y == "yes", "no", "yes"), y)
    old, new = grown(*first), grown(X, y)
    by_month = compare(
        evaluate(new, X, y, random_state=0),
        evaluate(old, *first, random_state=0),
        independent=True,
    )
    found = compare_trees(new, old, X, y)
    assert by_month.verdict == "worse"
    assert found.verdict == "undecided"
    assert abs(found.difference) < abs(by_month.difference) / 2
