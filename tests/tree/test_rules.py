"""Rules are readable text, one line per branch, whatever the names are."""

import numpy as np
import pandas as pd
import pytest

import sureleaf
from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError
from sureleaf.table import Column
from sureleaf.tree import Tree
from sureleaf.tree.rules import check_text_size, leaf_rules

ROWS = [
    ["sunny", 30.0, True],
    ["sunny", 21.0, False],
    ["rain", 20.0, False],
    ["rain", None, True],
    ["fog", 12.0, False],
    ["fog", 31.0, True],
    ["sunny", 29.0, True],
    ["rain", 11.0, None],
]
PLAY = ["no", "yes", "yes", "yes", "yes", "no", "no", "yes"]


def test_a_leaf_shows_its_rows_counts_and_probability():
    model = TreeClassifier.c45(leaf_estimate="frequency").fit([row[:2] for row in ROWS], PLAY)
    assert model.rules().splitlines() == [
        "x1 <= 21: yes   100 % (4.57 rows: yes 4.57)",
        "x1 > 21: no   87.5 % (3.43 rows: no 3, yes 0.43)",
    ]


def test_each_category_has_a_branch_or_categories_are_listed():
    X = pd.DataFrame({"sky": [row[0] for row in ROWS] * 4})
    y = ["yes" if sky == "rain" else "no" for sky in X["sky"]]
    multiway = TreeClassifier.c45(leaf_estimate="laplace").fit(X, y)
    assert multiway.rules().splitlines() == [
        "sky = fog: no   90.0 % (8 rows: no 8)",
        "sky = rain: yes   92.9 % (12 rows: yes 12)",
        "sky = sunny: no   92.9 % (12 rows: no 12)",
    ]
    subset = multiway.set_params(criterion="gini", categorical_split="subset").fit(X, y)
    assert subset.rules().splitlines() == [
        "sky in {fog, sunny}: no   95.5 % (20 rows: no 20)",
        "sky = rain: yes   92.9 % (12 rows: yes 12)",
    ]


def test_a_single_leaf_is_called_all_rows_and_one_row_is_singular():
    only = TreeClassifier.c45(leaf_estimate="frequency").fit([[1.0], [2.0]], ["a", "a"])
    assert only.rules() == "all rows: a   100 % (2 rows: a 2)"
    assert leaf_rules(only.tree_, only.schema_) == {0: "all rows"}
    one = TreeClassifier.c45(criterion="gini", min_samples_leaf=1).fit([[1.0], [2.0]], ["a", "b"])
    assert "(1 row: a 1)" in one.rules()


def test_empty_leaves_show_no_rows_and_predict_like_their_parent():
    X = pd.DataFrame({"a": [0.0] * 21 + [1.0] * 12, "b": list("uvw" * 7) + list("vw" * 6)})
    y = [0] * 21 + [1, 0] * 6
    model = TreeClassifier.c45(pruning=None, leaf_estimate="frequency").fit(X, y)
    assert model.rules().splitlines() == [
        "a <= 0: 0   100 % (21 rows: 0 21)",
        "a > 0",
        "|   b = u: 0   50.0 % (no rows)",
        "|   b = v: 1   100 % (6 rows: 1 6)",
        "|   b = w: 0   100 % (6 rows: 0 6)",
    ]


@pytest.mark.parametrize(
    ("criterion", "day"), [("gain_ratio", "2024-02-29T00:00:00"), ("gini", "2024-02-29T12:00:00")]
)
def test_dates_and_ordered_categories_are_written_as_such(criterion, day):
    days = pd.to_datetime(["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"] * 5)
    sizes = pd.Categorical(["s", "m", "l", "xl"] * 5, ["s", "m", "l", "xl"], ordered=True)
    for column, bound in ((days, day), (sizes, "m")):
        X = pd.DataFrame({"x": column})
        model = TreeClassifier.c45(criterion=criterion).fit(X, [0, 0, 1, 1] * 5)
        tests = leaf_rules(model.tree_, model.schema_)
        assert tests == {1: f"x <= {bound}", 2: f"x > {bound}"}


DIFFICULT_NAMES = [
    "a\nb",
    "",
    " ",
    "x <= 3",
    "|   y",
    "{",
    "\x1b[31m",
    "ß",
    "日本",
    "<b>",
    "tab\t",
    "'",
]


@pytest.mark.parametrize("split", ["multiway", "subset"])
def test_difficult_names_stay_on_their_line(split):
    random = np.random.default_rng(0)
    codes = random.integers(0, len(DIFFICULT_NAMES), 400)
    column = np.array(DIFFICULT_NAMES, dtype=object)[codes]
    labels = np.array(["yes\nno", "", "x: y"], dtype=object)[codes % 3]
    X = pd.DataFrame({"bad\nname": column, " ": codes * 1.0})
    model = TreeClassifier.c45(criterion="gini", categorical_split=split, collapse=False)
    model.fit(X[["bad\nname"]], labels)
    text = model.rules()
    lines = text.splitlines()
    assert len(lines) == model.tree_.n_nodes - 1
    assert all(line.isprintable() for line in lines)
    assert all(repr("bad\nname") in line for line in lines)
    for name in DIFFICULT_NAMES:
        assert (
            name if name.isprintable() and name == name.strip() and name else repr(name)
        ) in text
    assert model.score(X[["bad\nname"]], labels) == 1.0


# ---- missing values ------------------------------------------------------------------------------

NAN = float("nan")


def grown(X, y, **changes):
    settings = {"min_samples_leaf": 1, "pruning": None, "leaf_estimate": "frequency", **changes}
    return TreeClassifier(**settings).fit(X, y)


def rules_of(model):
    return list(leaf_rules(model.tree_, model.schema_).values())


def test_the_branch_of_missing_values_says_so():
    model = grown([[1.0], [2.0], [3.0], [4.0], [NAN]], ["no", "no", "yes", "yes", "yes"])
    assert model.rules().splitlines() == [
        "x0 <= 2: no   100 % (2 rows: no 2)",
        "x0 > 2 or missing: yes   100 % (3 rows: yes 3)",
    ]
    assert rules_of(model) == ["x0 <= 2", "x0 > 2 or missing"]


def test_without_missing_values_in_training_nothing_is_said_about_them():
    model = grown([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    assert model.tree_.missing_branch[0] >= 0
    assert rules_of(model) == ["x0 <= 2", "x0 > 2"]


@pytest.mark.parametrize("kind", ["numeric", "date", "ordered"])
def test_a_test_for_missing_values_is_written_as_such(kind):
    column = {
        "numeric": [1.0, 1.0, NAN, NAN],
        "date": pd.to_datetime(["2024-02-29", "2024-02-29", None, None]),
        "ordered": pd.Categorical(["s", "s", None, None], ["s", "m"], ordered=True),
    }[kind]
    model = grown(pd.DataFrame({"age": column}), [0, 0, 1, 1])
    assert rules_of(model) == ["age is known", "age is missing"]


def test_missing_values_of_categories_have_a_branch_or_go_with_a_group():
    X = pd.DataFrame({"color": ["a", "b", "c", None] * 5})
    y = ["no", "no", "yes", "no"] * 5
    assert rules_of(grown(X, y)) == ["color in {a, b} or missing", "color = c"]
    multiway = ["color = a", "color = b", "color = c", "color is missing"]
    assert rules_of(grown(X, y, categorical_split="multiway")) == multiway
    only = pd.DataFrame({"flag": ["t", None] * 5})
    assert rules_of(grown(only, [0, 1] * 5)) == ["flag = t", "flag is missing"]


def test_fractional_rows_are_not_mentioned():
    model = TreeClassifier.c45(min_samples_leaf=1, pruning=None).fit(
        [[1.0], [2.0], [3.0], [4.0], [NAN]], ["no", "no", "yes", "yes", "yes"]
    )
    assert rules_of(model) == ["x0 <= 2", "x0 > 2"]


def test_of_several_tests_in_one_direction_the_tightest_is_the_rule():
    X = [[float(i)] for i in range(5)]
    model = grown(X, ["a", "b", "c", "d", "e"])
    assert model.tree_.depth >= 3
    assert rules_of(model) == [
        "x0 <= 0",
        "x0 > 0 and x0 <= 1",
        "x0 > 1 and x0 <= 2",
        "x0 > 2 and x0 <= 3",
        "x0 > 3",
    ]
    lines = [line.lstrip("| ").split(":")[0] for line in model.rules().splitlines()]
    assert len(set(lines)) == len(lines) == model.tree_.n_nodes - 1  # each test as it is


def in_words(rule, row):
    """Whether a row satisfies a rule, by reading its words."""
    for test in rule.replace("(", "").replace(")", "").split(" and "):
        with_missing = test.endswith(" or missing")
        name, sign, *rest = test.removesuffix(" or missing").split(" ", 2)
        value = row[name]
        if value is None or value != value:
            passes = with_missing or rest == ["missing"]
        elif sign == "is":
            passes = rest == ["known"]
        elif sign in ("<=", ">"):
            passes = (value <= float(rest[0])) == (sign == "<=")
        else:
            passes = value in rest[0].strip("{}").split(", ")
        if not passes:
            return False
    return True


@pytest.mark.parametrize("split", ["multiway", "subset"])
def test_every_row_satisfies_the_rule_of_its_leaf_only_also_with_missing_values(split):
    random = np.random.default_rng(2)
    n = 400
    X = pd.DataFrame(
        {
            "a": random.normal(size=n),
            "b": random.integers(0, 5, n) * 1.0,
            "c": np.array(list("uvwxy"), dtype=object)[random.integers(0, 5, n)],
            "flag": np.where(random.random(n) < 0.5, "t", None),
        }
    )
    y = (X["a"] * X["b"] > 1) ^ X["c"].isin(["u", "x"]) ^ (random.random(n) < 0.1)
    for name in "abc":
        X.loc[random.random(n) < 0.2, name] = None
    model = grown(X, y, min_samples_leaf=3, categorical_split=split)
    rules = leaf_rules(model.tree_, model.schema_)
    texts = " ".join(rules.values())
    assert "or missing)" in texts
    assert "is missing" in texts
    leaf_of = model.apply(X)
    for row, leaf in zip(X.to_dict("records"), leaf_of.tolist(), strict=True):
        assert [each for each, rule in rules.items() if in_words(rule, row)] == [leaf]


def test_the_branches_of_a_node_mention_only_missing_values_that_arrive():
    model = grown([[1.0], [2.0], [3.0], [NAN]], ["a", "b", "c", "c"])
    assert model.rules().splitlines() == [
        "x0 <= 2",
        "|   x0 <= 1: a   100 % (1 row: a 1)",
        "|   x0 > 1: b   100 % (1 row: b 1)",
        "x0 > 2 or missing: c   100 % (2 rows: c 2)",
    ]
    assert model.tree_.missing_arrives.tolist() == [True, False, False, False, False]


def test_a_tree_so_deep_that_its_text_would_fill_the_memory_is_refused():
    """A chain of tests: inner nodes 0, 2, 4, ..., each with a leaf and the next."""
    n_tests = 5_000
    n_nodes = 2 * n_tests + 1
    is_inner = np.arange(n_nodes) % 2 == 0
    is_inner[-1] = False
    children = np.column_stack([np.arange(1, n_nodes, 2), np.arange(2, n_nodes, 2)])
    tree = Tree(
        feature=np.where(is_inner, 0, -1).astype(np.int32),
        threshold=np.where(is_inner, np.arange(n_nodes, dtype=float), np.nan),
        child_offset=np.concatenate([[0], np.cumsum(2 * is_inner)]),
        children=children.ravel().astype(np.int32),
        branch_share=np.full(2 * n_tests, 0.5),
        category_offset=np.zeros(n_nodes + 1, np.int64),
        category_branch=np.zeros(0, np.int32),
        class_counts=np.ones((n_nodes, 2)),
        n_columns=1,
        missing_branch=np.full(n_nodes, -1, np.int32),
    )
    assert tree.depth == n_tests
    with pytest.raises(InvalidArgumentError, match="Set max_depth, or write the model as JSON"):
        check_text_size(tree)


def test_a_probability_just_below_one_is_not_written_as_one():
    X = np.arange(4000.0)[:, np.newaxis]
    model = TreeClassifier(pruning=None, leaf_estimate="laplace").fit(X, X[:, 0] < 2000)
    assert model.rules().splitlines()[0] == "x0 <= 1999: True   > 99.9 % (2000 rows: True 2000)"


def test_thresholds_have_the_digits_that_part_the_training_rows_and_no_more(tmp_path):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"far": rng.normal(size=600), "near": 1 + 1e-9 * rng.normal(size=600)})
    y = (X["far"] > 0.1) ^ (X["near"] > 1 + 2e-10)
    model = TreeClassifier(pruning=None, levels_from="training").fit(X, y)
    model.save(tmp_path / "tree.sureleaf")
    restored = sureleaf.load(tmp_path / "tree.sureleaf")
    assert restored.rules() == model.rules()
    tree = model.model_.tree
    for node in np.flatnonzero(~tree.is_leaf):
        column = model.model_.schema.columns[tree.feature[node]]
        shown = column.render_bound(tree.threshold[node])
        values = X[column.name]
        assert ((values <= float(shown)) == (values <= tree.threshold[node])).all()
        assert f"{column.name} <= {shown}" in model.rules()
    far = model.model_.schema.columns[0]
    assert far.digits == 6


@pytest.mark.parametrize("digits", [0, 18, "6", 2.5])
def test_digits_that_cannot_be_are_refused(digits):
    with pytest.raises(InvalidArgumentError, match="digits of column 'x' must be 1 to 17"):
        Column("x", "numeric", digits=digits)
