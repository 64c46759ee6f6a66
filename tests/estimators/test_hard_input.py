"""Hard input has a defined result or a clear error, and nothing is half-done."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from sureleaf import InvalidArgumentError, InvalidTypeError, SureleafError, TreeClassifier
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow
from tests.naive import c45
from tests.reference.compare import first_difference

pytestmark = pytest.mark.usefixtures("few_rounds")

CRITERIA = ["gain_ratio", "entropy", "gini"]
PLAIN = {"collapse": False, "pruning": None, "levels_from": "training"}


def numbers(n_rows: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 2))
    return X, (X[:, 0] > 0).astype(int)


# ---- tables --------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_constant_and_wholly_missing_columns_never_split(criterion):
    X, y = numbers()
    frame = pd.DataFrame(
        {
            "constant": 7.0,
            "missing": np.nan,
            "none": pd.Series([None] * 40, dtype=object),
            "text": "only",
            "infinite": np.inf,
            "good": X[:, 0],
        }
    )
    model = TreeClassifier.c45(criterion=criterion, **PLAIN).fit(frame, y)
    assert set(model.tree_.feature) == {-1, 5}
    assert model.score(frame, y) == 1.0
    rest = frame.drop(columns="good")
    useless = TreeClassifier.c45(criterion=criterion, leaf_estimate="frequency", **PLAIN).fit(
        rest, y
    )
    assert useless.tree_.n_nodes == 1
    np.testing.assert_allclose(useless.predict_proba(rest)[:, 1], y.mean())


@pytest.mark.parametrize("pruning", [None, "pessimistic", "cost_complexity", "reduced_error"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_class_and_one_row_give_one_leaf(criterion, pruning):
    X, _ = numbers()
    model = TreeClassifier.c45(criterion=criterion, pruning=pruning, random_state=0)
    one_class = model.fit(X, np.full(40, "a"))
    assert one_class.tree_.n_nodes == 1
    np.testing.assert_array_equal(one_class.predict_proba(X), np.ones((40, 1)))
    one_row = model.fit(X[:1], ["b"])
    assert one_row.tree_.n_nodes == 1
    assert one_row.predict([[np.nan, 1e300]]).tolist() == ["b"]
    two_rows = model.fit(X[:2], ["b", "c"])
    assert two_rows.predict_proba(X).shape == (40, 2)
    one_column = model.fit(X[:, :1], (X[:, 0] > 0))
    assert one_column.score(X[:, :1], X[:, 0] > 0) > 0.9


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (pd.DataFrame(), [], "0 sample"),
        ([[1.0], [2.0]], [], "label"),
        ([[1.0], [2.0]], [0, 1, 0], "2 and 3"),
        ([[1.0], [2.0]], ["a", None], "NaN|missing"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "'a'"),
        (pd.DataFrame({"a": [1, "x"]}), [0, 1], "one type"),
        (pd.DataFrame({"a": [[1], [2]]}), [0, 1], "'a'"),
    ],
    ids=lambda value: None if isinstance(value, np.ndarray | pd.DataFrame | list) else value,
)
def test_what_is_no_table_or_no_labels_is_refused_in_words(X, y, message):
    model = TreeClassifier.c45()
    with pytest.raises(SureleafError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "tree_")


def test_wrong_types_at_predict_are_refused_with_the_column_and_what_it_held():
    X = pd.DataFrame({"age": [20.0, 30, 40, 50] * 5, "town": ["Rome", "Rome", "Oslo", "Oslo"] * 5})
    model = TreeClassifier.c45().fit(X, [0, 0, 1, 1] * 5)
    with pytest.raises(InvalidTypeError, match=r"'age'.*text"):
        model.predict(X.assign(age="old"))
    with pytest.raises(InvalidTypeError, match=r"'town'.*number"):
        model.predict(X.assign(town=1.5))
    with pytest.raises(InvalidArgumentError, match="town"):
        model.predict(X[["age"]])
    with pytest.raises(SureleafError):
        model.predict([[1.0], [2.0]])
    np.testing.assert_array_equal(model.predict(X.astype({"age": "int8"})), model.predict(X))


def test_dates_as_text_at_predict_are_told_how_to_become_dates():
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40)})
    model = TreeClassifier.c45().fit(days, np.arange(40) > 20)
    with pytest.raises(SureleafError, match=r"got text, first '2024-02-01' .*pandas.to_datetime"):
        model.predict(pd.DataFrame({"day": ["2024-02-01"]}))


# ---- numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-np.inf, np.inf),
        (-np.inf, 0.0),
        (0.0, np.inf),
        (1e308, 1.7e308),
        (-1.7e308, 1.7e308),
        (-1.7e308, -1e308),
        (0.0, 1e-4),
        (1e300, np.nextafter(1e300, np.inf)),
    ],
)
def test_a_cut_between_any_two_numbers_parts_them(low, high, criterion):
    X = np.array([low, high] * 5)[:, np.newaxis]
    model = TreeClassifier.c45(criterion=criterion, **PLAIN).fit(X, [0, 1] * 5)
    assert model.tree_.n_leaves == 2
    assert low <= model.tree_.threshold[0] < high
    assert model.predict([[low], [high]]).tolist() == [0, 1]
    assert "nan" not in model.rules()


@pytest.mark.parametrize("n_values", [2, 254, 255, 256, 257, 300])
@pytest.mark.parametrize("kind", ["numbers", "text", "ordered"])
def test_columns_at_the_edge_of_small_codes_give_the_oracles_tree(n_values, kind):
    random = np.random.default_rng(n_values)
    n_rows = 900
    codes = np.append(np.arange(n_values), random.integers(0, n_values, n_rows - n_values))
    labels = (codes > n_values // 3).astype(int) ^ (random.random(n_rows) < 0.1)
    is_missing = random.random(n_rows) < 0.05
    is_missing[:n_values] = False
    names = [f"v{code:03d}" for code in range(n_values)]
    if kind == "numbers":
        column = np.where(is_missing, np.nan, codes)
    else:
        text = [None if hole else names[code] for code, hole in zip(codes, is_missing, strict=True)]
        column = pd.Categorical(text, names, ordered=kind == "ordered")
    model = TreeClassifier.c45().fit(pd.DataFrame({"x": column}), labels)
    if kind == "text":
        data = c45.table([np.where(is_missing, -1, codes)], [n_values], labels, 2)
    else:
        data = c45.table([np.where(is_missing, np.nan, codes)], [0], labels, 2)
    assert first_difference(model.tree_, c45.fit(data)) is None


@pytest.mark.parametrize("criterion", CRITERIA)
def test_more_columns_than_rows_and_hundreds_of_classes(criterion):
    random = np.random.default_rng(0)
    wide = random.normal(size=(60, 2_000))
    y = (wide[:, 1_234] > 0).astype(int)
    model = TreeClassifier.c45(criterion=criterion).fit(wide, y)
    assert model.feature_importances_[1_234] == 1.0
    X = np.repeat(np.arange(300.0), 4)[:, np.newaxis]
    labels = np.repeat(np.arange(300), 4)
    many = TreeClassifier.c45(criterion=criterion, **PLAIN).fit(X, labels)
    assert many.score(X, labels) == 1.0
    assert many.tree_.n_leaves == 300


def test_a_million_categories_are_no_trouble():
    n_rows = 1_000_000
    ids = pd.DataFrame({"id": pd.Categorical.from_codes(np.arange(n_rows), np.arange(n_rows))})
    y = np.random.default_rng(0).integers(0, 2, n_rows)
    # C4.5 has no use for a column that tells every row apart
    for split in ("multiway", "subset"):
        assert TreeClassifier.c45(categorical_split=split, **PLAIN).fit(ids, y).tree_.n_nodes == 1
    one_each = {"criterion": "gini", "min_samples_leaf": 1, **PLAIN}
    multiway = TreeClassifier.c45(**one_each).fit(ids, y)
    assert multiway.tree_.n_leaves == n_rows
    grouped = TreeClassifier.c45(**one_each, categorical_split="subset").fit(ids, y)
    assert grouped.tree_.n_leaves == 1  # it gains no more than it may by chance


@pytest.mark.slow
def test_a_tree_that_would_not_fit_is_refused_in_words():
    codes = np.arange(600_000) // 2
    X = pd.DataFrame({"id": pd.Categorical.from_codes(codes, np.arange(300_000))})
    y = np.random.default_rng(1).integers(0, 2, len(codes)).astype(np.int32)
    with pytest.raises(InvalidArgumentError, match=r"column 'id' has 300,000 categories"):
        grow(TrainingRows(read_table(X), y, 2), GrowthRules("gini", "subset"))


# ---- depth ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1_500, pytest.param(4_000, marks=pytest.mark.slow)])
def test_very_deep_trees_do_not_overflow_a_stack(n_rows):
    X = np.arange(float(n_rows))[:, np.newaxis]
    y = np.arange(n_rows) % 2
    model = TreeClassifier.c45(
        criterion="gini", min_samples_leaf=1, collapse=False, pruning=None
    ).fit(X, y)
    assert model.tree_.depth == n_rows - 1
    assert model.score(X, y) == 1.0
    last = int(model.apply(X[-1:])[0])
    path = model.decision_path(X[-1:])
    assert path.nnz == model.tree_.node_depth[last] + 1
    assert len(model.rules().splitlines()) == model.tree_.n_nodes - 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), y)
    assert model.prune("pessimistic").tree_.n_leaves <= n_rows
    assert model.prune("reduced_error", X=X, y=1 - y).tree_.n_leaves == 1
    assert model.prune(n_leaves=1).tree_.n_leaves == 1
    assert model.prune(nodes=int(model.tree_.parent[last])).tree_.n_leaves < n_rows
    assert model.cost_complexity_path().n_leaves[-1] == 1
    collapsed = TreeClassifier.c45(criterion="gini", min_samples_leaf=1).fit(X, y)
    assert collapsed.tree_.n_leaves <= n_rows


# ---- weights -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, -1.0), "not negative; got -1.0 in row 0"),
        (np.r_[np.ones(39), np.nan], "got nan in row 39"),
        (np.r_[np.inf, np.ones(39)], "got inf in row 0"),
        (np.zeros(40), "all zeros"),
        (np.ones(39), r"shape \(39,\)"),
        (np.ones((40, 1)), r"shape \(40, 1\)"),
        (np.full(40, 1e300), "at most 1e[+]150"),
        (np.full(40, "heavy"), "one number per row"),
        (np.ma.masked_array(np.ones(40), np.arange(40) == 7), "got nan in row 7"),
        (np.ones(40) + 1j, "not a number.*complex128"),
        (np.full(40, "2024-01-01", "M8[D]"), "not a number.*datetime64"),
        ([None] * 40, "nan"),
    ],
    ids=str,
)
def test_weights_that_are_none_are_refused_in_words(weights, message):
    X, y = numbers()
    with pytest.raises(SureleafError, match=message):
        TreeClassifier.c45().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(39), r"one entry per row, shape \(40,\); got shape \(39,\)"),
        (np.ones((40, 1)), r"got shape \(40, 1\)"),
        (5, r"got shape \(\)"),
        ([None] * 40, "never missing"),
        (np.r_[np.ones(39), np.nan], "got nan"),
        (np.full(40, "NaT", "M8[D]"), "got NaT"),
        (np.array([1, "a"] * 20, dtype=object), "one type"),
    ],
    ids=str,
)
def test_groups_that_are_none_are_refused_in_words_and_at_once(groups, message):
    X, y = numbers()
    with pytest.raises(SureleafError, match=f"groups.*{message}"):
        TreeClassifier.c45().fit(X, y, groups=groups)


def test_weights_at_the_ends_of_the_numbers_have_a_result():
    X, y = numbers()
    for criterion in CRITERIA:
        model = TreeClassifier.c45(criterion=criterion)
        for weight in (5e-324, 1e145):
            with pytest.warns(UserWarning, match="cannot be counts"):
                model.fit(X, y, sample_weight=np.full(40, weight))
            assert model.score(X, y) == 1.0
        assert model.fit(X, y, sample_weight=np.full(40, 2.0**33)).score(X, y) == 1.0
    scaled = TreeClassifier.c45(weights="importance").fit(X, y, sample_weight=np.full(40, 5e-324))
    assert scaled.tree_.class_counts[0].sum() == pytest.approx(40)


def test_a_row_of_weight_zero_is_no_row_even_if_it_is_the_only_one_of_its_class():
    X, y = numbers()
    y[0] = 2
    weights = (np.arange(40) > 0).astype(float)
    model = TreeClassifier.c45(leaf_estimate="frequency").fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X)[:, 2].max() == 0.0


# ---- parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_jobs": 0}, "n_jobs .* got 0"),
        ({"n_jobs": "a"}, "n_jobs .* got 'a'"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"max_depth": 2.5}, "max_depth"),
        ({"min_samples_leaf": np.nan}, "min_samples_leaf"),
        ({"confidence_factor": 25}, "confidence_factor .* got 25"),
        ({"categorical_split": []}, "categorical_split"),
        ({"collapse": "no"}, "collapse"),
        ({"leaf_estimate": 3}, "leaf_estimate"),
        ({"random_state": "a"}, "random_state"),
        ({"pruning": "cost_complexity", "cv": 1}, "cv must be at least 2"),
        ({"pruning": "cost_complexity", "cv": [([0], [1, 2]), ([0], [2])]}, "at most once"),
        ({"categorical_features": "x0"}, "categorical_features"),
        ({"categorical_features": [7]}, "categorical_features"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused_in_words(parameters, message):
    X, y = numbers()
    with pytest.raises(SureleafError, match=message):
        TreeClassifier.c45(**parameters).fit(X, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_limits_at_their_ends_have_a_result(criterion):
    X, y = numbers()
    assert TreeClassifier.c45(criterion=criterion, max_depth=0).fit(X, y).tree_.n_nodes == 1
    assert TreeClassifier.c45(criterion=criterion, max_depth=10**30).fit(X, y).score(X, y) == 1.0
    for least in (21, 1e300, np.inf):
        model = TreeClassifier.c45(criterion=criterion, min_samples_leaf=least).fit(X, y)
        assert model.tree_.n_nodes == 1
    assert (
        TreeClassifier.c45(criterion=criterion, min_samples_leaf=1e-9).fit(X, y).score(X, y) == 1.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = TreeClassifier.c45(criterion=criterion, pruning="cost_complexity", cv=1_000)
        assert folds.fit(X, y).score(X, y) == 1.0
