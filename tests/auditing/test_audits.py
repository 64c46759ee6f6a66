"""Counts, levels and errors of audits, for models as people fit them."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import sureleaf
from sureleaf import (
    InvalidArgumentError,
    InvalidTypeError,
    TrainingRowsWarning,
    TreeClassifier,
    audit,
)
from sureleaf.model.leaf_table import kind_of_confidence
from tests.naive.audit import count
from tests.scale.tables import in_parts

X, CODES = load_breast_cancer(return_X_y=True)
Y = np.array(["bad", "good"])[CODES]
SEEN, UNSEEN = slice(0, None, 2), slice(1, None, 2)


def tree(**options) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0, **options).fit(X[SEEN], Y[SEEN])


def check_counts(found, model, rows, labels) -> None:
    expected = count(model.tree_, rows, labels, model.classes_.tolist())
    assert found.leaf.tolist() == sorted(expected)
    assert found.counts.tolist() == [expected[leaf] for leaf in sorted(expected)]


# ---- what is counted ------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"max_depth": 3}, {}, {"max_leaf_nodes": 9}])
def test_the_leaves_of_a_tree_are_counted_as_by_hand(options):
    model = tree(**options)
    found = audit(model, X[UNSEEN], Y[UNSEEN])
    check_counts(found.leaves, model, X[UNSEEN], Y[UNSEEN])
    right = model.score(X[UNSEEN], Y[UNSEEN])
    assert found.accuracy.value == pytest.approx(right)
    assert found.utility == pytest.approx(right)  # the utilities of leaves add up to it
    assert found.leaves.prediction[found.leaves.n > 0].tolist() == [
        model.predict(X[UNSEEN])[model.apply(X[UNSEEN]) == leaf][0]
        for leaf in found.leaves.leaf[found.leaves.n > 0]
    ]


def test_missing_values_go_where_the_tree_sends_them_and_the_rule_says_so():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows[SEEN], Y[SEEN])
    found = audit(model, rows[UNSEEN], Y[UNSEEN])
    check_counts(found.leaves, model, rows[UNSEEN], Y[UNSEEN])
    assert all(" or missing" in rule for rule in found.leaves.rule if rule.count(" and ") < 2)


def test_rules_hold_for_the_rows_of_their_leaves():
    model = tree(max_depth=4)
    found = audit(model, X[UNSEEN], Y[UNSEEN])
    at = model.apply(X[UNSEEN])
    for leaf, rule in zip(found.leaves.leaf, found.leaves.rule, strict=True):
        holds = np.ones(len(at), dtype=bool)
        for test in rule.split(" and "):
            name, sign, bound = test.split(" ")
            column = X[UNSEEN][:, int(name[1:])]
            holds &= column <= float(bound) if sign == "<=" else column > float(bound)
        assert np.array_equal(holds, at == leaf), rule


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, max_depth=4, random_state=0),
        ExtraTreesClassifier(5, max_depth=4, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=4), 5, random_state=0),
        BaggingClassifier(ExtraTreeClassifier(), 4, max_features=0.4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_tree_of_an_ensemble_is_counted_as_by_hand(model):
    model.fit(X[SEEN], Y[SEEN])
    found = audit(model, X[UNSEEN], Y[UNSEEN])
    columns = getattr(model, "estimators_features_", [slice(None)] * len(model.estimators_))
    for number, (member, used) in enumerate(zip(model.estimators_, columns, strict=True)):
        expected = count(member.tree_, X[UNSEEN][:, used], CODES[UNSEEN].tolist(), [0, 1])
        own = found.leaves.tree == number
        assert found.leaves.counts[own].tolist() == [expected[leaf] for leaf in sorted(expected)]
        right = np.mean(member.predict(X[UNSEEN][:, used]) == CODES[UNSEEN])
        assert found.trees.utility[number] == pytest.approx(right)
        assert found.trees.leaves[number] == own.sum()
    assert found.table is found.bins
    assert found.utility == pytest.approx(model.score(X[UNSEEN], Y[UNSEEN]))


def test_a_bag_that_lacks_a_class_gives_it_probability_zero():
    rows, labels = np.arange(12.0)[:, None], np.array(list("aaaaaabbbbbc"))
    model = BaggingClassifier(DecisionTreeClassifier(), 2, random_state=1).fit(rows, labels)
    without_b = [*range(6), 11]
    codes = np.array([0] * 6 + [1] * 5 + [2])
    model.estimators_[0] = DecisionTreeClassifier().fit(rows[without_b], codes[without_b])
    found = audit(model, rows + 0.2, labels)
    first = found.leaves.tree == 0
    assert found.leaves.prediction[first].tolist() == ["a", "c"]
    assert found.leaves.counts[first].tolist() == [[6, 2, 0], [0, 3, 1]]  # the cut is at 8


def test_bins_hold_every_row_once_with_one_prediction_each():
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X[SEEN], Y[SEEN])
    found = audit(model, X[UNSEEN], Y[UNSEEN], n_bins=6)
    assert found.leaves is None
    assert found.trees is None
    stated, predicted = model.predict_proba(X[UNSEEN]), model.predict(X[UNSEEN])
    lines = zip(found.bins.prediction, found.bins.stated_from, found.bins.stated_to, strict=True)
    seen = np.zeros(len(predicted), dtype=int)
    for line, (prediction, low, high) in enumerate(lines):
        own = stated.max(axis=1)
        inside = (predicted == prediction) & (own >= low) & (own <= high)
        seen += inside
        labels = Y[UNSEEN][inside]
        assert found.bins.counts[line].tolist() == [np.sum(labels == c) for c in model.classes_]
        assert found.bins.stated[line] == pytest.approx(own[inside].mean())
    assert (seen == 1).all()


@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_our_own_trees_are_audited_with_missing_values(missing):
    rows = X[:, :4].copy()
    rows[::5, 0] = np.nan
    rows[::7, 1:] = np.nan
    model = TreeClassifier(max_depth=2, pruning=None, missing=missing)
    model.fit(rows[SEEN], Y[SEEN])
    found = audit(model, rows[UNSEEN], Y[UNSEEN])
    in_several = np.diff(model.leaf_shares(rows[UNSEEN]).indptr) > 1
    assert in_several.any() == (missing == "fraction")
    assert any("missing" in rule for rule in found.leaves.rule) == (missing == "branch")
    shares = model.leaf_shares(rows[UNSEEN]).toarray()[:, model.tree_.leaf_ids]
    for code, label in enumerate(model.classes_):
        expected = [
            sum(shares[row, leaf] for row in range(len(shares)) if Y[UNSEEN][row] == label)
            for leaf in range(shares.shape[1])
        ]
        assert found.leaves.counts[:, code] == pytest.approx(expected)
    assert found.leaves.rule.tolist() == model.leaves().rule.tolist()
    bagged = sureleaf.BaggedTreesClassifier(n_estimators=3, random_state=0).fit(X[SEEN], Y[SEEN])
    assert len(audit(bagged, X[UNSEEN], Y[UNSEEN]).trees) == 3


# ---- how models and tables come -------------------------------------------------------------


def test_a_pipeline_is_audited_in_its_own_columns_and_a_search_by_its_best():
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 18, "big", "small")})
    encode = make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["kind"])
    )
    pipeline = make_pipeline(encode, DecisionTreeClassifier(max_depth=2, random_state=0))
    pipeline.fit(frame[SEEN], Y[SEEN])
    found = audit(pipeline, frame[UNSEEN], Y[UNSEEN])
    assert "standardscaler__size <=" in found.leaves.rule[0]
    inner = encode.transform(frame[UNSEEN])
    check_counts(found.leaves, pipeline[-1], inner, Y[UNSEEN])
    search = GridSearchCV(pipeline, {"decisiontreeclassifier__max_depth": [2]}, cv=2)
    again = audit(search.fit(frame[SEEN], Y[SEEN]), frame[UNSEEN], Y[UNSEEN])
    assert again.leaves.counts.tolist() == found.leaves.counts.tolist()


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_matched_by_name_in_any_table(form):
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X[:, :3], columns=names)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[SEEN], Y[SEEN])
    columns = {"id": np.arange(len(X)), "c": X[:, 2], "a": X[:, 0], "b": X[:, 1]}
    given = form({name: column[UNSEEN] for name, column in columns.items()})
    check_counts(audit(model, given, Y[UNSEEN]).leaves, model, X[UNSEEN, :3], Y[UNSEEN])
    nameless = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[SEEN, :3], Y[SEEN])
    given = form({name: columns[name][UNSEEN] for name in names})
    check_counts(audit(nameless, given, Y[UNSEEN]).leaves, nameless, X[UNSEEN, :3], Y[UNSEEN])


@pytest.mark.parametrize("names", [[0, 1], [False, True], [1.0, 2.0], ["b", "a"]])
def test_labels_may_be_of_any_type(names):
    labels = [names[code] for code in CODES]
    model = DecisionTreeClassifier(max_depth=2).fit(X[SEEN], labels[SEEN])
    found = audit(model, X[UNSEEN], labels[UNSEEN])
    assert found.classes.tolist() == sorted(names)
    assert found.leaves.counts.sum(axis=0).tolist() == [
        labels[UNSEEN].count(name) for name in sorted(names)
    ]


def test_results_turn_into_frames_and_json_and_print():
    found = audit(tree(max_depth=3), X[UNSEEN], Y[UNSEEN])
    assert found.table.to_pandas().shape[0] == found.table.to_polars().shape[0] == len(found.leaves)
    read = json.loads(found.to_json())
    assert [leaf["counts"] for leaf in read["leaves"]] == found.leaves.counts.tolist()
    assert read["accuracy"]["value"] == found.accuracy.value
    shown = repr(found)
    assert "DecisionTreeClassifier on 284 rows: accuracy" in shown
    assert "accuracy 9" in shown
    assert "the predicted probability is outside" in " ".join(shown.split())
    assert "<table>" in found._repr_html_()


# ---- training rows --------------------------------------------------------------------------


def test_training_rows_give_a_warning_and_the_levels_of_the_theory():
    model = tree(max_depth=2)
    with pytest.warns(TrainingRowsWarning, match="too optimistic"):
        found = audit(model, X[SEEN], Y[SEEN], rows="training")
    assert found.notes()[-1] == kind_of_confidence("training")
    y, n = found.leaves.counts.max(axis=1), found.leaves.n
    p = sureleaf.levels.estimate_p_max(y, n)
    assert found.leaves.probability == pytest.approx(p)
    assert found.leaves.confidence == pytest.approx(sureleaf.levels.confidence(n, p))
    assert found.leaves.utility == pytest.approx(sureleaf.levels.utility(n, p))
    assert "every figure here is too good" in repr(found)


# ---- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (DecisionTreeClassifier(), InvalidArgumentError, "model must be fitted"),
        (make_pipeline(StandardScaler(), GaussianNB()), InvalidArgumentError, "must be fitted"),
        (DecisionTreeClassifier, InvalidTypeError, "the class DecisionTreeClassifier"),
        (DecisionTreeRegressor().fit(X, CODES), InvalidTypeError, "a regressor"),
        (RidgeClassifier().fit(X, CODES), InvalidTypeError, "must have predict_proba"),
        ("tree.joblib", InvalidTypeError, "got str"),
        (
            DecisionTreeClassifier().fit(X, np.column_stack([CODES, CODES])),
            InvalidTypeError,
            "one label per row",
        ),
    ],
)
def test_anything_but_a_fitted_classifier_is_an_error(model, kind, message):
    with pytest.raises(kind, match=message):
        audit(model, X, CODES)


def test_wrong_rows_and_labels_are_errors_that_name_them():
    model = tree()
    with pytest.raises(InvalidArgumentError, match=r"the 30 columns .* got 29"):
        audit(model, X[:, 1:], Y)
    with pytest.raises(InvalidArgumentError, match="got 'ugly' in row 1"):
        audit(model, X[:2], ["good", "ugly"])
    with pytest.raises(InvalidArgumentError, match=r"got 0 in row 0"):
        audit(model, X, CODES)
    with pytest.raises(InvalidArgumentError, match="same number of rows"):
        audit(model, X, Y[:-1])
    with pytest.raises(InvalidArgumentError, match="rows must be one of"):
        audit(model, X, Y, rows="new")
    with pytest.raises(InvalidArgumentError, match=r"Did you mean 0\.95"):
        audit(model, X, Y, level=95)
    with pytest.raises(InvalidArgumentError, match=r"confidence must be .*an 0\.95"):
        audit(model, X, Y, confidence=95)
    with pytest.raises(InvalidArgumentError, match="could not read X"):
        audit(model, np.full((1, 30), "big"), ["good"])


def test_missing_columns_and_text_are_named():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = DecisionTreeClassifier().fit(frame, Y)
    with pytest.raises(InvalidArgumentError, match=r"it lacks 'b'\. It has: 'a', 'c'"):
        audit(model, frame.rename(columns={"b": "c"}), Y)
    nameless = DecisionTreeClassifier().fit(frame.to_numpy(), Y)
    with pytest.raises(InvalidArgumentError, match=r"without column names.*other values in 'b'"):
        audit(nameless, frame.assign(b="big"), Y)


def test_models_of_one_leaf_and_without_trees_are_audited():
    stump = DecisionTreeClassifier().fit([[1], [1]], ["a", "b"])
    found = audit(stump, [[1]] * 8, ["a"] * 6 + ["b"] * 2)
    assert found.leaves.rule.tolist() == ["all rows"]
    assert found.leaves.counts.tolist() == [[6, 2]]
    assert audit(DummyClassifier().fit(X, Y), X, Y).bins.n.tolist() == [569]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        line = LogisticRegression(max_iter=20).fit(X[SEEN], Y[SEEN])
    assert audit(line, X[UNSEEN], Y[UNSEEN]).leaves is None


# ---- measures, costs, weights and groups ----------------------------------------------------


COST = [[0, 1], [5, 0]]


def test_measures_are_those_of_an_evaluation_of_the_rows():
    model = GaussianNB().fit(X[SEEN, :3], Y[SEEN])
    found = audit(model, X[UNSEEN, :3], Y[UNSEEN], cost=COST)
    truth, table = Y[UNSEEN], model.predict_proba(X[UNSEEN, :3])
    value = dict(zip(found.measures.measure, found.measures.value, strict=True))
    assert value["accuracy"] == found.accuracy.value
    assert value["auc"] == pytest.approx(sureleaf.measures.auc(truth == "good", table[:, 1]))
    assert value["nce"] == pytest.approx(sureleaf.measures.nce(truth, table))
    assert value["quadratic_loss"] == pytest.approx(sureleaf.measures.quadratic_loss(truth, table))
    actual, predicted = (labels == "good" for labels in (truth, model.predict(X[UNSEEN, :3])))
    costs = np.array(COST)[actual.astype(int), predicted.astype(int)]
    assert value["cost"] == pytest.approx(costs.mean())
    line = sureleaf.measures.calibration_line(truth == "good", table[:, 1])
    intercept, slope = line.intercept, line.slope
    assert value["calibration_slope"] == slope.value
    assert value["calibration_intercept"] == intercept.value
    inside = (found.measures.low < found.measures.value) & (
        found.measures.value < found.measures.high
    )
    assert inside.all()
    assert found.to_dict()["measures"] == found.measures.records()


def test_calibration_is_about_the_positive_class_that_is_named():
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(X[SEEN, :1], Y[SEEN])
    truth, table = Y[UNSEEN], model.predict_proba(X[UNSEEN, :1])
    found = audit(model, X[UNSEEN, :1], truth, positive="bad")
    value = dict(zip(found.measures.measure, found.measures.value, strict=True))
    intercept = sureleaf.measures.calibration_line(truth == "bad", table[:, 0]).intercept
    assert value["calibration_intercept"] == intercept.value
    assert found.measures.method[-1].endswith("; of the probability of bad")
    assert found.evaluation.positive == "bad"
    assert found.where().event == "bad"
    assert found.where("accuracy").event == "correct"
    with pytest.raises(ValueError, match="positive"):
        audit(model, X[UNSEEN, :1], truth, positive="ugly")


def test_costs_are_given_for_sorted_classes_whatever_the_order_of_the_model():
    labels = np.array(["good", "bad"])  # a booster with the classes in this order
    model = GaussianNB().fit(X[SEEN, :3], 1 - CODES[SEEN])
    swapped = audit(model, X[UNSEEN, :3], Y[UNSEEN], classes=labels, cost=COST)
    plain = audit(GaussianNB().fit(X[SEEN, :3], Y[SEEN]), X[UNSEEN, :3], Y[UNSEEN], cost=COST)
    assert swapped.measures.value == pytest.approx(plain.measures.value)
    assert swapped.compare(plain).difference == 0
    with pytest.raises(InvalidArgumentError, match="cost must be a square matrix"):
        audit(model, X[UNSEEN, :3], CODES[UNSEEN], cost=[[0, 1]])


def test_models_are_compared_at_the_costs_of_the_first_that_was_fitted_with_some():
    """The cheaper model is the less accurate one, so accuracy would name the other."""
    grown = {"pruning": None, "min_samples_leaf": 20, "levels_from": "training"}
    plain = TreeClassifier(**grown).fit(X[SEEN, :1], Y[SEEN])
    frugal = TreeClassifier(cost=[[0, 50], [1, 0]], **grown).fit(X[SEEN, :1], Y[SEEN])
    one, other = (audit(model, X[UNSEEN, :1], Y[UNSEEN]) for model in (frugal, plain))
    found = one.compare(other)
    same = one.compare(audit(plain, X[UNSEEN, :1], Y[UNSEEN], cost=[[0, 50], [1, 0]]))
    assert (found.measure, found.values, found.p_value) == ("cost", same.values, same.p_value)
    assert found.values[0] < found.values[1]
    assert one.compare(other, measure="accuracy").difference < 0
    assert found.sentence.endswith("Both are judged at the costs of the first.")
    turned = other.compare(one)
    assert turned.values == found.values[::-1]
    assert turned.sentence.endswith("Both are judged at the costs of the second.")


def test_weights_count_as_so_many_rows_and_know_less():
    weights = np.where(np.arange(284) % 2 == 0, 3.0, 1.0)
    plain = audit(tree(max_depth=3), X[UNSEEN], Y[UNSEEN])
    found = audit(tree(max_depth=3), X[UNSEEN], Y[UNSEEN], sample_weight=weights)
    times = (2 * weights / weights.mean()).astype(int)
    expected = count(tree(max_depth=3).tree_, X[UNSEEN], Y[UNSEEN], ["bad", "good"])
    assert found.leaves.n.sum() == pytest.approx(284)
    assert plain.leaves.counts.sum(axis=1).tolist() == [sum(c) for c in expected.values()]
    copies = audit(
        tree(max_depth=3), np.repeat(X[UNSEEN], times, axis=0), np.repeat(Y[UNSEEN], times)
    )
    assert found.leaves.counts == pytest.approx(copies.leaves.counts / 2)
    assert found.accuracy.value == pytest.approx(copies.accuracy.value)
    assert found.bins.stated.min() > 0.5
    assert found.effective_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert found.accuracy.high - found.accuracy.low > plain.accuracy.high - plain.accuracy.low
    assert plain.leaves.effective is None
    assert plain.effective_rows is None


def test_rows_in_groups_count_as_one():
    groups = np.repeat(np.arange(71), 4)
    found = audit(tree(max_depth=2), X[UNSEEN], Y[UNSEEN], groups=groups)
    assert found.effective_rows == pytest.approx(71)
    assert (found.bins.effective <= found.bins.n).all()
    of_bin = [len(set(groups[found_rows])) for found_rows in _rows_of_leaves(found)]
    assert (found.leaves.effective <= np.array(of_bin) + 1e-9).all()
    assert "groups" in found.accuracy.method
    assert found.by("x0").n.sum() == 284


def _rows_of_leaves(found):
    at = tree(max_depth=2).apply(X[UNSEEN])
    return [np.flatnonzero(at == leaf) for leaf in found.leaves.leaf]


# ---- tables that are read in batches -------------------------------------------------------------


def numbers_table(n_rows):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(n_rows, 3)), 1)
    X[: n_rows // 5, 1] = np.nan  # in the first parts alone
    label = np.where(np.nan_to_num(X[:, 1]) + X[:, 0] + rng.normal(size=n_rows) > 0, "yes", "no")
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"class": label}
    return pa.table(columns | {"w": rng.integers(1, 4, n_rows), "g": rng.integers(0, 50, n_rows)})


@pytest.mark.parametrize("has_groups", [False, True])
def test_a_table_in_batches_is_audited_as_one_in_memory(has_groups):
    every = numbers_table(600)
    rows = every.slice(0, 400)
    X, y = rows.select(["x0", "x1", "x2"]), rows["class"].to_numpy(zero_copy_only=False)
    names = {"sample_weight": "w", "groups": "g"} if has_groups else {}
    columns = {name: rows[column].to_numpy() for name, column in names.items()}
    source = replace(in_parts(rows, 70), drop=() if has_groups else ("w", "g"))
    train = every.slice(400).select(["x0", "x1", "x2"])
    labels = every["class"].to_numpy(zero_copy_only=False)[400:]
    models = (
        TreeClassifier(random_state=0).fit(train, labels),
        TreeClassifier.c45().fit(train, labels),  # divides rows with missing values
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(train.to_pandas(), labels),
        RandomForestClassifier(3, random_state=0).fit(train.to_pandas(), labels),
    )
    for model in models[:1] if has_groups else models:
        expected = audit(model, X, y, **columns)
        got = audit(model, source, "class", **names)
        assert got.to_json() == expected.to_json()
        assert got.by("x0").records() == expected.by("x0").records()
        with pytest.raises(InvalidArgumentError, match="Give a sample of the rows"):
            got.where()


def test_the_rows_that_a_remark_needs_are_read_again():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"class": y})
    model = GradientBoostingClassifier(n_estimators=200, max_depth=5, random_state=0)
    model.fit(table.drop_columns(["class"]).to_pandas(), y)
    with pytest.warns(TrainingRowsWarning, match="look like training rows"):
        expected = audit(model, table.drop_columns(["class"]), y)
    with pytest.warns(TrainingRowsWarning, match="look like training rows"):
        got = audit(model, in_parts(table, 90), "class")
    assert got.remarks == expected.remarks


def test_arguments_of_an_audit_in_batches_are_names_of_columns():
    rows = numbers_table(60)
    model = TreeClassifier(random_state=0).fit(rows.select(["x0", "x1", "x2"]), rows["class"])
    with pytest.raises(InvalidArgumentError, match="groups must be the name of a column"):
        audit(model, in_parts(rows, 20), "class", groups=rows["g"].to_numpy())
    unlabelled = rows.set_column(3, "class", pa.array([None, *["no"] * 59]))
    unlabelled = unlabelled.drop_columns(["w", "g"])
    with pytest.raises(InvalidArgumentError, match="has 1 rows without a value in 'class'"):
        audit(model, in_parts(unlabelled, 20), "class")
    with pytest.warns(TrainingRowsWarning, match="of 59 rows are equal to rows that the model"):
        kept = audit(model, replace(in_parts(unlabelled, 20), skips_unlabelled=True), "class")
    assert (kept.n_rows, kept.audited.n_unlabelled) == (59, 1)
    with pytest.raises(InvalidArgumentError, match="'x9' must be a column of"):
        kept.by("x9")


def test_more_bins_than_rows_are_as_many_as_rows_can_fill():
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X[SEEN], Y[SEEN])
    many = audit(model, X[UNSEEN], Y[UNSEEN], n_bins=10**23)
    assert 2 <= len(many.bins.stated) <= len(Y[UNSEEN])
