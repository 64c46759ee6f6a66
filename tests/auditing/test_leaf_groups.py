"""Groups inside a leaf: exact tests, corrected for all leaves."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from sureleaf import audit
from sureleaf.commands.terminal import show_subgroups


def rows(
    seed: int, n: int, *, gap: float = 0.0, n_groups: int = 2
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows whose class depends on x, and where x > .5 on the group by so much."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.random(n), "g": rng.integers(0, n_groups, n)})
    p = np.where(X.x > 0.5, 0.8 - gap * (X.g == 1), 0.2)
    X["g"] = X.g.map(lambda code: f"group {code}")
    return X, (rng.random(n) < p).astype(int)


def model() -> DecisionTreeClassifier:
    X = pd.DataFrame({"x": [0.1, 0.2, 0.7, 0.9]})
    return DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])


def inside(X, y, **options):
    return audit(model(), X, y, **options).by("g").inside


def test_the_p_value_is_that_of_all_ways_to_draw_the_group():
    X = pd.DataFrame({"x": [0.9] * 10, "g": ["a"] * 4 + ["b"] * 6})
    y = [1, 1, 1, 1, 0, 0, 0, 1, 0, 0]
    ways = [sum(y[k] for k in chosen) for chosen in combinations(range(10), 4)]
    chance = {hits: ways.count(hits) / len(ways) for hits in set(ways)}
    p = sum(one for one in chance.values() if one <= chance[4] + 1e-12)
    found = inside(X, y)
    assert found.p_value.tolist() == pytest.approx([p])
    assert (found.group.tolist(), found.n.tolist(), found.n_group.tolist()) == (["a"], [10], [4])
    assert (found.rate[0], found.elsewhere[0]) == (1.0, pytest.approx(1 / 6))


def test_a_leaf_in_which_a_group_differs_is_found_and_the_other_is_not():
    found = inside(*rows(0, 2000, gap=0.3))
    assert found.leaf.tolist() == [1, 2]
    assert found.found.tolist() == [False, True]
    assert "Inside 1 of 2 leaves" in found.sentence()
    X, y = rows(0, 2000, gap=0.3)
    both = audit(model(), X.assign(again=X.g), y).by("g", "again").inside
    assert "Inside 1 of 2 leaves" in both.sentence()


def test_the_terminal_names_the_leaf_and_the_group():
    groups = audit(model(), *rows(0, 2000, gap=0.3)).by("g")
    said = [str(one) for one in show_subgroups(groups, 0.95)]
    assert said[-1].startswith("Leaf 2 (x > 0.45), g group ")
    assert said[-1].endswith("(p < 0.001).")


def test_leaves_are_counted_once_when_they_are_compared_by_several_columns():
    X, y = rows(0, 2000, gap=0.3)
    found = audit(model(), X.assign(h=X.g), y).by("g", "h").inside
    assert len(found) == 4
    assert "Inside 1 of 2 leaves" in found.sentence()


def test_of_many_groups_the_one_that_differs_is_named():
    found = inside(*rows(1, 6000, gap=0.3, n_groups=5))
    assert found.found.tolist() == [False, True]
    assert found.group[1] == "group 1"


def test_equal_groups_are_found_to_differ_in_at_most_five_of_a_hundred():
    runs = 200
    n_found = sum(inside(*rows(10 + k, 300, n_groups=3)).found.any() for k in range(runs))
    assert n_found / runs <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(("n", "n_group", "n_right"), [(60, 20, 40), (60, 30, 30)])
def test_the_detectable_difference_is_the_smallest_that_is_found(n, n_group, n_right):
    X = pd.DataFrame({"x": [0.9] * n, "g": ["a"] * n_group + ["b"] * (n - n_group)})
    found, missed, said = [], [], set()
    for own in range(n_group + 1):
        y = np.zeros(n, dtype=int)
        y[:own] = 1
        y[n_group : n_group + n_right - own] = 1
        result = inside(X, y)
        difference = abs(own / n_group - (n_right - own) / (n - n_group))
        (found if result.found[0] else missed).append(difference)
        said.add(float(result.detectable[0]))
    assert said == {min(found)}
    assert max(missed) <= min(found)


def test_a_leaf_of_few_rows_could_not_have_shown_anything():
    X = pd.DataFrame({"x": [0.9] * 4, "g": ["a", "a", "b", "b"]})
    assert np.isnan(inside(X, [1, 1, 0, 0]).detectable[0])


def test_a_leaf_with_one_group_is_left_out():
    X = pd.DataFrame({"x": [0.1, 0.2, 0.8, 0.9], "g": ["a", "a", "a", "b"]})
    assert inside(X, [0, 0, 1, 1]).leaf.tolist() == [2]
    alone = inside(X[:2], [0, 0])
    assert len(alone) == 0
    assert "cannot be compared" in alone.sentence()


def test_rows_that_are_not_independent_have_no_test():
    X, y = rows(0, 100)
    assert inside(X, y, sample_weight=np.arange(1.0, 101)) is None
    assert inside(X, y, groups=np.arange(100) // 2) is None
