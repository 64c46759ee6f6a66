"""Where a model is wrong: results, named columns, comparison, and input that has no answer."""

import json
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sureleaf import InvalidArgumentError, audit
from sureleaf.auditing import Audit
from sureleaf.commands.terminal import show_subgroups
from sureleaf.comparison.multiple_models import holm
from tests.naive.segments import rows_of


def rows(n: int, seed: int, gap: float = 0.35) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "size": rng.normal(size=n),
            "region": rng.choice(["north", "south", "east"], n),
        }
    )
    inside = (frame["age"] > 65) & (frame["region"] == "north")
    p = 1 / (1 + np.exp(-frame["size"])) - np.where(inside, gap, 0)
    return frame, np.where(rng.random(n) < p, "yes", "no")


COST = [[0, 1], [5, 0]]


@pytest.fixture(scope="module")
def model() -> LogisticRegression:
    frame, y = rows(3000, 0, gap=0)
    return LogisticRegression().fit(frame[["size"]], y)


@pytest.fixture(scope="module")
def audited(model: LogisticRegression) -> Audit:
    return audit(model, *rows(1500, 1), cost=COST)


def test_segments_use_columns_that_the_model_does_not_know(audited):
    found = audited.where().found
    assert len(found) >= 1
    frame, y = rows(1500, 1)
    inside = np.array(rows_of(found.rule[0], {name: list(frame[name]) for name in frame}))
    stated = audited.audited.probabilities[:, 1]
    assert "region = north" in found.rule[0]
    assert found.n[0] == inside.sum()
    assert found.share[0] == pytest.approx(inside.mean())
    assert found.stated[0] == pytest.approx(stated[inside].mean())
    assert found.observed[0] == pytest.approx((y[inside] == "yes").mean())
    assert found.elsewhere[0] == pytest.approx((y[~inside] == "yes").mean())
    assert found.low[0] < found.observed[0] < found.high[0] < found.stated[0]


def test_it_prints_as_sentences_and_json_has_the_same(audited):
    where = audited.where()
    first = where.sentences()[1]
    assert f"{where.found.rule[0]}: says " in first
    assert f", {where.found.n[0]} rows, p = 0.007." in first
    record = json.loads(json.dumps(where.to_dict(), allow_nan=False))
    assert record["sentences"] == where.sentences() == repr(where).split("\n")
    assert record["found"][0]["observed"] == where.found.observed[0]
    assert record["detectable"]["offset"] == where.detectable
    assert "<p>" in where._repr_html_()


def test_no_segment_is_a_statement_about_what_would_have_been_found(model):
    where = audit(model, *rows(800, 2, gap=0)).where()
    assert len(where.found) == 0
    points = math.ceil(100 * where.detectable)
    assert where.sentences()[:2] == [
        "No segment found.",
        f"Segments of 10 % of the rows that are off by {points} percentage points or more would "
        "have been found with probability .9.",
    ]


def test_accuracy_and_costs_are_compared_with_the_other_rows(audited):
    frame, y = rows(1500, 1)
    for of in ("accuracy", "cost"):
        found = audited.where(of).found
        assert len(found) >= 1
        inside = np.array(rows_of(found.rule[0], {name: list(frame[name]) for name in frame}))
        predicted = audited.classes[audited.audited.predicted]
        value = (predicted == y).astype(float)
        if of == "cost":
            value = np.array(COST)[(y == "yes").astype(int), (predicted == "yes").astype(int)]
        assert found.observed[0] == pytest.approx(value[inside].mean())
        assert found.elsewhere[0] == pytest.approx(value[~inside].mean())
        sign = 1 if of == "cost" else -1
        assert (sign * found.observed > sign * found.elsewhere).all()


def test_several_classes_are_compared_by_the_predicted_one():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 2))
    y = rng.integers(0, 3, 900)
    model = DummyClassifier(strategy="prior").fit(X, y)
    assert audit(model, X, y).where().event == "the predicted class"
    assert audit(model, X, y, positive=2).where().event == "2"


def test_named_columns_are_tested_by_hand_with_holm(audited):
    table = audited.by("region")
    frame, y = rows(1500, 1)
    assert table.value.tolist() == ["east", "north", "south"]
    raw = []
    for value, n, stated, observed in zip(
        table.value, table.n, table.stated, table.observed, strict=True
    ):
        inside = (frame["region"] == value).to_numpy()
        assert n == inside.sum()
        assert observed == pytest.approx((y[inside] == "yes").mean())
        raw.append(binomtest(int((y[inside] == "yes").sum()), int(n), stated).pvalue)
    # The exact binomial test does not use that probabilities differ, so it has larger p-values.
    assert (table.p_value <= holm(raw) + 0.05).all()
    assert table.found.tolist() == [False, True, False]
    assert audited.by("age").value.tolist()[0].startswith("<= ")
    assert len(audited.by("age", "region", of="accuracy")) == 7
    with pytest.raises(InvalidArgumentError, match="Did you mean 'region'"):
        audited.by("regoin")


def test_input_without_an_answer_is_a_statement(audited, model):
    frame, y = rows(1500, 1)
    few = audit(model, frame[:30], y[:30]).where()
    assert few.sentences() == [
        "No segment is possible: 30 rows are too few; a segment needs 20, and as many rows outside."
    ]
    constant = audit(model, pd.DataFrame({"size": np.zeros(200)}), y[:200]).where()
    assert constant.reason == "no column divides the rows into two large enough parts"
    assert constant.to_dict()["detectable"] is None
    only = audit(model, frame[y == "no"], y[y == "no"])
    assert "the rows are of one class" in only.measures.method[-1]
    assert math.isnan(only.measures.value[1])
    assert only.where().found.observed.max(initial=0) == 0
    with pytest.raises(InvalidArgumentError, match="needs costs"):
        audit(model, frame, y).where("cost")
    with pytest.raises(InvalidArgumentError, match="of must be one of"):
        audited.where("errors")
    with pytest.raises(InvalidArgumentError, match="at least two groups"):
        audit(model, frame, y, groups=np.zeros(1500))


# ---- groups inside a leaf: exact tests, corrected for all leaves ---------------------------------


def rows_of_groups(
    seed: int, n: int, *, gap: float = 0.0, n_groups: int = 2
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows whose class depends on x, and where x > .5 on the group by so much."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.random(n), "g": rng.integers(0, n_groups, n)})
    p = np.where(X.x > 0.5, 0.8 - gap * (X.g == 1), 0.2)
    X["g"] = X.g.map(lambda code: f"group {code}")
    return X, (rng.random(n) < p).astype(int)


def model_of_x() -> DecisionTreeClassifier:
    X = pd.DataFrame({"x": [0.1, 0.2, 0.7, 0.9]})
    return DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])


def inside(X, y, **options):
    return audit(model_of_x(), X, y, **options).by("g").inside


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
    found = inside(*rows_of_groups(0, 2000, gap=0.3))
    assert found.leaf.tolist() == [1, 2]
    assert found.found.tolist() == [False, True]
    assert "Inside 1 of 2 leaves" in found.sentence()
    X, y = rows_of_groups(0, 2000, gap=0.3)
    both = audit(model_of_x(), X.assign(again=X.g), y).by("g", "again").inside
    assert "Inside 1 of 2 leaves" in both.sentence()


def test_the_terminal_names_the_leaf_and_the_group():
    groups = audit(model_of_x(), *rows_of_groups(0, 2000, gap=0.3)).by("g")
    said = [str(one) for one in show_subgroups(groups, 0.95)]
    assert said[-1].startswith("Leaf 2 (x > 0.45), g group ")
    assert said[-1].endswith("(p < 0.001).")


def test_of_many_groups_the_one_that_differs_is_named():
    found = inside(*rows_of_groups(1, 6000, gap=0.3, n_groups=5))
    assert found.found.tolist() == [False, True]
    assert found.group[1] == "group 1"


def test_equal_groups_are_found_to_differ_in_at_most_five_of_a_hundred():
    runs = 200
    n_found = sum(inside(*rows_of_groups(10 + k, 300, n_groups=3)).found.any() for k in range(runs))
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
    X, y = rows_of_groups(0, 100)
    assert inside(X, y, sample_weight=np.arange(1.0, 101)) is None
    assert inside(X, y, groups=np.arange(100) // 2) is None
