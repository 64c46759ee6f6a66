"""make_report: the whole document, for tables of every kind."""

import datetime
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from sureleaf import InvalidArgumentError, TreeClassifier
from sureleaf.report import Origin, Report, make_report
from tests.report.document_check import check_document
from tests.report.tables import HOSTILE, QUICK, mixed, noise, quick_report, three_classes


@pytest.fixture(scope="module")
def report() -> Report:
    return quick_report(*mixed())


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    provenance = document["provenance"].items()
    kept = {key: value for key, value in provenance if key not in ("date", "seconds")}
    return document | {"provenance": kept}


def test_missing_values_dates_and_bools_make_a_whole_document(report: Report) -> None:
    document = report.to_dict()
    check_document(document)
    kinds = {column["name"]: column["kind"] for column in document["data"]["columns"]}
    assert kinds == {"size": "number", HOSTILE: "category", "day": "date", "old": "bool"}


def test_the_same_seed_gives_the_same_numbers_and_another_one_other_folds(report: Report) -> None:
    again = quick_report(*mixed()).to_dict()
    assert timeless(again) == timeless(report.to_dict())
    other = quick_report(*mixed(), seed=1).to_dict()
    assert other["data"]["classes"] == report.to_dict()["data"]["classes"]
    assert other["quality"]["measures"] != report.to_dict()["quality"]["measures"]


def without_thresholds(rules: str) -> str:
    return re.sub(r"\d+\.\d{3,}", "", rules)


def test_the_positive_class_is_the_rarest_unless_one_is_named(report: Report) -> None:
    assert report.to_dict()["quality"]["positive"] == 0  # "<bad>"
    X, y = mixed()
    other = quick_report(X, y, positive="good & fine").to_dict()
    check_document(other)
    assert other["quality"]["positive"] == 1


def test_costs_are_priced_and_the_threshold_moves_with_them(report: Report) -> None:
    X, y = mixed()
    dear = quick_report(X, y, cost=[[0, 20], [1, 0]]).to_dict()
    check_document(dear)
    quality, plain = dear["quality"], report.to_dict()["quality"]
    assert quality["cost_given"]
    assert not plain["cost_given"]
    assert quality["decision"]["threshold"] < plain["decision"]["threshold"]
    figures = {measure["name"]: measure["value"] for measure in quality["measures"]}
    assert "cost" not in {measure["name"] for measure in plain["measures"]}
    decided, most_probable = (
        (np.array(each["confusion"]) * [[0, 20], [1, 0]]).sum() / len(y)
        for each in (quality, plain)
    )
    assert quality["decision"]["cost_per_row"] <= decided + 1e-12
    assert figures["cost"] < most_probable
    missed = np.array(quality["decision"]["confusion"])[0, 1]
    assert missed < np.array(plain["decision"]["confusion"])[0, 1]


def test_weights_are_scaled_to_rows() -> None:
    X, y = noise()
    weights = np.where(y == "yes", 3000.0, 1000.0)
    document = quick_report(X, y, sample_weight=weights).to_dict()
    check_document(document)
    counts = {one["label"]: one["count"] for one in document["data"]["classes"]}
    assert sum(counts.values()) == pytest.approx(len(y))
    assert counts["yes"] / counts["no"] == pytest.approx(3 * (y == "yes").sum() / (y == "no").sum())


def test_groups_stay_whole_in_every_fold() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 6)
    label_of = rng.random(30) < 0.5
    y = np.where(label_of[groups], "yes", "no")
    X = np.array([[f"g{group}"] for group in groups], dtype=object)
    apart = quick_report(X, y).to_dict()
    whole = quick_report(X, y, groups=groups).to_dict()
    check_document(whole)
    # The column names the group: without groups in the folds, that is as good as the label.
    assert apart["answer"]["accuracy"]["value"] == 1
    assert whole["answer"]["accuracy"]["value"] < 0.7
    assert whole["data"]["n_groups"] == 30
    assert whole["error"]["bootstrap"] is None
    assert "groups" in whole["error"]["bootstrap_note"]


def test_a_perfect_column_has_an_interval_with_width() -> None:
    y = np.array(["no", "yes"] * 60)
    X = (y == "yes").astype(float).reshape(-1, 1)
    document = quick_report(X, y).to_dict()
    check_document(document)
    accuracy = document["answer"]["accuracy"]
    assert accuracy["value"] == 1
    assert accuracy["low"] < 0.99
    assert document["answer"]["sentences"][2]["short"] == "First check x0."  # a leak


def test_a_tiny_class_is_warned_of_and_breaks_nothing() -> None:
    X, y = three_classes()
    y = y.copy()
    y[:] = np.where(y == "c", "b", y)
    y[:2] = "c"
    document = quick_report(X, y).to_dict()
    check_document(document)
    warned = [w["text"] for w in document["data"]["warnings"] if w["kind"] == "tiny_class"]
    assert len(warned) == 1
    assert "Class c has only 2 rows" in warned[0]


def test_very_few_rows_are_reported_without_a_curve() -> None:
    X, y = mixed(24)
    document = quick_report(X, y).to_dict()
    check_document(document)
    assert document["error"]["curve"] is None
    assert document["error"]["curve_note"] == "24 rows are too few for a learning curve."


def test_the_curve_of_a_large_table_ends_at_the_rows_of_the_budget_and_says_so() -> None:
    X, y = mixed(240)
    document = quick_report(X, y, budget=replace(QUICK, curve_rows=80)).to_dict()
    check_document(document)
    assert document["error"]["curve"]["sizes"][-1] == 80
    methods = {one["name"]: one["text"] for one in document["methods"]["definitions"]}
    assert "training sets of up to 80 rows, because the table is large" in methods["learning curve"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"] * 20, "at least two classes"),
        ([], "at least two classes"),
        (["a", "b"], "at least three rows.*got 2 rows"),
    ],
)
def test_one_class_or_two_rows_are_refused_in_a_sentence(labels: list[str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make_report([[i] for i in range(len(labels))], labels)


def test_progress_names_its_stages_and_never_goes_back() -> None:
    told: list[tuple[str, float]] = []
    quick_report(*noise(40), progress=lambda stage, share: told.append((stage, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert any("bagged trees" in stage for stage, _ in told)


def test_a_report_is_written_as_strict_json(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    report.to_json(path)
    assert json.loads(path.read_text(encoding="utf-8")) == report.to_dict()
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_lists_of_rows_and_labels_that_are_numbers_are_taken() -> None:
    rows = [[i % 9, "ab"[i % 2]] for i in range(60)]
    document = make_report(
        rows, [i % 2 for i in range(60)], budget=QUICK, origin=Origin("parity"), n_jobs=1
    ).to_dict()
    check_document(document)
    assert [one["label"] for one in document["data"]["classes"]] == ["0", "1"]


def test_what_is_predicted_is_called_by_the_name_of_y() -> None:
    rows, labels = (
        [[i % 9] for i in range(60)],
        pd.Series([i % 2 for i in range(60)], name="parity"),
    )
    named = make_report(rows, labels, budget=QUICK, n_jobs=1).to_dict()
    assert named["data"]["target"] == "parity"
    plain = make_report(rows, labels.rename(3), target="odd", budget=QUICK, n_jobs=1).to_dict()
    assert plain["data"]["target"] == "odd"


def test_the_margin_is_less_where_there_is_less_to_gain() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) < 6, "rare", "common")
    rare = quick_report(rng.normal(size=(200, 1)), y).to_dict()
    check_document(rare)
    assert rare["models"]["measure"] == "auc"
    assert rare["models"]["margin"] == 0.01
    y = np.where(np.arange(200) < 12, "scarce", "common")
    scarce = quick_report(rng.normal(size=(200, 1)), y, cost=[[0, 1], [1, 0]]).to_dict()
    assert scarce["models"]["margin"] == pytest.approx(0.1 * 12 / 200)
    asked = quick_report(rng.normal(size=(200, 1)), y, margin=0.05).to_dict()
    assert asked["models"]["margin"] == 0.05


def test_ordered_categories_are_compared_by_their_place() -> None:
    rng = np.random.default_rng(0)
    grades = pd.Categorical(rng.choice(["lo", "mid", "hi"], 90), ["lo", "mid", "hi"], ordered=True)
    frame = pd.DataFrame({"grade": grades})
    frame.loc[::9, "grade"] = None
    document = quick_report(frame, np.where(grades.codes >= 1, "yes", "no")).to_dict()
    check_document(document)
    column = document["data"]["columns"][0]
    assert (column["kind"], column["low"], column["high"]) == ("ordered", "lo", "hi")
    root = document["tree"]["nodes"][0]
    assert (root["threshold"], root["threshold_text"]) == (0.0, "lo")
    assert document["tree"]["columns"][0]["categories"] == ["lo", "mid", "hi"]


def test_parameters_of_the_tree_are_those_of_the_report() -> None:
    X, y = mixed()
    short = quick_report(X, y, max_depth=1).document.tree
    assert short.depth == 1
    by_tree = quick_report(X, y, tree=TreeClassifier(max_depth=1)).document.tree
    assert by_tree.rules == short.rules
    assert quick_report(X, y, max_depth=1, unseen="error").document.tree.unseen == "error"
    both = quick_report(X, y, tree=TreeClassifier(max_depth=9), max_depth=1).document.tree
    assert both.rules == short.rules


def test_a_wrong_tree_parameter_or_cost_is_told_by_name() -> None:
    X, y = mixed()
    with pytest.raises(TypeError, match="got 'max_leavs'\\. Did you mean 'max_leaves'"):
        quick_report(X, y, max_leavs=3)
    with pytest.raises(TypeError, match="tree must be a TreeClassifier; got GaussianNB"):
        quick_report(X, y, tree=GaussianNB())
    with pytest.raises(TypeError, match=r"got 'model'\. Give a tree as tree="):
        quick_report(X, y, model=TreeClassifier())
    with pytest.raises(InvalidArgumentError, match="cost must be a matrix of numbers"):
        quick_report(X, y, cost={"bad": 5})


def test_a_fitted_tree_is_reported_as_it_is() -> None:
    X, y = mixed()
    fitted = TreeClassifier.c45(random_state=0).fit(X, y)
    document = quick_report(X, y, tree=fitted).to_dict()
    check_document(document)
    shown = document["tree"]["rules"]
    assert without_thresholds(shown) == without_thresholds(fitted.rules())
    assert not any("was fitted before" in note for note in document["tree"]["notes"])
    pruned = fitted.prune(n_leaves=2)
    document = quick_report(X, y, tree=pruned).to_dict()
    check_document(document)
    assert document["tree"]["n_leaves"] == 2
    shown = document["tree"]["rules"]
    assert without_thresholds(shown) == without_thresholds(pruned.rules())
    assert document["tree"]["n_regrown_leaves"] == fitted.tree_.n_leaves
    told = f"it has {fitted.tree_.n_leaves} leaves and not these 2."
    assert any(told in note for note in document["tree"]["notes"])
    assert "grown anew, this tree" in document["answer"]["headline"].lower()
    assert "tree below was fitted before" in document["answer"]["detail"]


def test_rows_that_did_not_grow_a_fitted_tree_say_nothing_about_it() -> None:
    """Once a tree that was wrong in every row was called right in 91 % of new rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((400, 2)), columns=["a", "b"])
    y = np.where(X["a"] > 0.5, "yes", "no")
    fitted = TreeClassifier().fit(X, y)
    with pytest.raises(InvalidArgumentError, match=r"0 of \d+ that can be compared"):
        quick_report(X, np.where(y == "yes", "no", "yes"), tree=fitted)
    assert quick_report(X, y, tree=fitted).document.tree.n_regrown_leaves is None


def test_a_fitted_tree_of_other_classes_is_refused() -> None:
    X, y = mixed()
    fitted = TreeClassifier.c45().fit(X, np.where(y == "<bad>", "worse", y))
    with pytest.raises(InvalidArgumentError, match="y must have the classes that the tree was"):
        quick_report(X, y, tree=fitted)


def test_a_margin_is_that_of_the_tree_and_of_the_comparisons() -> None:
    X, y = mixed()
    document = quick_report(X, y, pruning="auto", margin=0).to_dict()
    check_document(document)
    this, best = document["models"]["rows"][0], document["models"]["rows"][2]
    assert best["kind"] == "size"
    assert (this["leaves"], this["accuracy"]) == (best["leaves"], best["accuracy"])
    assert document["models"]["margin"] == 0
    assert "hosen by accuracy alone, the tree would have" in document["simplicity"]["text"]


@pytest.mark.parametrize("label", [datetime.date(2020, 1, 1), datetime.timedelta(days=2)])
def test_labels_that_scikit_learn_does_not_take_are_named(label: object) -> None:
    labels = np.array([label, label + datetime.timedelta(days=1)] * 10)
    with pytest.raises(InvalidArgumentError, match=r"text, bools or whole numbers.*as text first"):
        make_report([[i] for i in range(20)], labels)


def test_the_costs_of_a_tree_are_those_of_its_report():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 2))
    y = np.where(random.random(150) < 0.2 + 0.3 * (X[:, 0] > 0), "bad", "good")
    cost = [[0, 5], [1, 0]]
    tree = TreeClassifier(cost=cost, random_state=0).fit(X, y)
    without, given = (
        make_report(X, y, tree=tree, cost=each, budget=QUICK).sentences for each in (None, cost)
    )
    assert without == given
    assert "cost" in without[1]


@pytest.mark.parametrize("tree", [TreeClassifier(random_state=0), TreeClassifier.c45()])
@pytest.mark.parametrize("is_fitted", [True, False])
def test_a_tree_that_was_grown_without_costs_decides_by_them_in_all_sections(
    tree: TreeClassifier, is_fitted: bool
) -> None:
    X, y = mixed()
    cost = [[0, 4], [1, 0]]
    tree = clone(tree)
    if is_fitted:
        tree.fit(X, y)
    document = quick_report(X, y, tree=tree, cost=cost).to_dict()
    check_document(document)
    accuracy = next(m for m in document["quality"]["measures"] if m["name"] == "accuracy")
    error = document["error"]["cross_validation"]
    assert error["value"] == pytest.approx(1 - accuracy["value"])
    assert abs(document["error"]["bootstrap"]["e632_plus"] - error["value"]) < 0.15
    assert document["tree"]["at_costs"]
    told = any("chosen without these costs" in note for note in document["tree"]["notes"])
    assert told == (is_fitted or tree.pruning == "pessimistic")
    if is_fitted:
        leaves = {n["id"]: n for n in document["tree"]["nodes"] if not n["children"]}
        decided = tree.with_cost(cost).leaves()
        for leaf, label in zip(decided.leaf, decided.prediction, strict=True):
            assert document["data"]["classes"][leaves[leaf]["prediction"]]["label"] == label
        plain = quick_report(X, y, tree=tree).to_dict()
        assert plain["models"]["rows"][0]["auc"] == document["models"]["rows"][0]["auc"]
        assert plain["tree"]["n_leaves"] == document["tree"]["n_leaves"]
