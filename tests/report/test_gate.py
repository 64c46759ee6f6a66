"""Two reports: their trees are compared on the same rows, by a test that is valid."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sureleaf import InvalidArgumentError, SureleafError
from sureleaf.exports import from_json
from sureleaf.report import compare_reports, read_report
from tests.report.tables import mixed, quick_report, three_classes

Document = dict[str, Any]


@pytest.fixture(scope="module")
def old() -> Document:
    return quick_report(*mixed()).to_dict()


@pytest.fixture(scope="module")
def new() -> Document:
    return quick_report(*mixed(seed=9), seed=5).to_dict()


def with_value(document: Document, where: str, value: Any) -> Document:
    """Return the document with another value in one place."""
    found = copy.deepcopy(document)
    *parents, last = where.split(".")
    part = found
    for name in parents:
        part = part[name]
    part[last] = value
    return found


def accuracy(document: Document) -> float:
    return next(m["value"] for m in document["quality"]["measures"] if m["name"] == "accuracy")


def test_on_the_rows_of_the_new_report_its_tree_has_the_accuracy_that_the_report_states(
    old: Document, new: Document
) -> None:
    X, y = mixed(seed=9)
    found = compare_reports(old, new, X, y)
    assert found.values[0] == pytest.approx(accuracy(new))
    assert found.values[1] == pytest.approx((from_json(old["model"]).predict(X) == y).mean())
    assert (found.margin, found.measure) == (0.0, "accuracy")
    assert "The new tree" in found.sentence or "the new tree" in found.sentence


def test_a_report_holds_its_tree_with_the_fingerprints_of_its_rows(old: Document) -> None:
    X, y = mixed()
    tree = from_json(old["model"])
    assert tree.tree_.n_leaves == old["tree"]["n_leaves"]
    assert tree.model_.seen is not None
    same = compare_reports(old, old, X, y)
    assert (same.difference, same.verdict) == (0, "undecided")
    assert same.low < 0 < same.high
    assert "grew the new tree and the old tree" in same.sentence


def test_reports_with_costs_are_judged_by_them_unless_told_otherwise() -> None:
    X, y = mixed()
    dear = quick_report(X, y, cost=[[0, 20], [1, 0]]).to_dict()
    found = compare_reports(dear, dear, X, y)
    assert (found.measure, found.margin) == ("decided_cost", 0.0)
    cost = next(m["value"] for m in dear["quality"]["measures"] if m["name"] == "cost")
    assert found.values[0] == pytest.approx(cost)
    assert compare_reports(dear, dear, X, y, measure="accuracy").measure == "accuracy"


def test_names_of_classes_do_not_matter(old: Document) -> None:
    X, y = mixed()
    named = quick_report(X, y, labels={"<bad>": "default"}).to_dict()
    for first, second in ((named, named), (old, named), (named, old)):
        assert compare_reports(first, second, X, y).difference == 0


def test_other_targets_and_costs_are_refused(old: Document) -> None:
    X, y = mixed()
    with pytest.raises(InvalidArgumentError, match="same target and classes"):
        compare_reports(old, quick_report(*three_classes()).to_dict(), X, y)
    dear = with_value(old, "quality.cost", [[0, 20], [1, 0]])
    dear = with_value(dear, "quality.cost_given", True)
    with pytest.raises(InvalidArgumentError, match=r"costs in the new one only.*--measure acc"):
        compare_reports(old, dear, X, y)
    other = with_value(dear, "quality.cost", [[0, 2], [1, 0]])
    with pytest.raises(InvalidArgumentError, match=r"got different costs\. Give the costs"):
        compare_reports(dear, other, X, y)
    assert compare_reports(dear, other, X, y, cost=[[0, 3], [1, 0]]).measure == "decided_cost"


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"schema": "other/1"}', "{", "[" * 100_000])
def test_foreign_files_are_refused_in_a_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.json"
    path.write_text(text)
    with pytest.raises(InvalidArgumentError, match=r"foreign\.json must be a file that"):
        read_report(path)


def test_a_report_without_its_tree_says_that_it_must_be_made_again(
    old: Document, tmp_path: Path
) -> None:
    earlier = {name: value for name, value in old.items() if name != "model"}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(earlier | {"schema": "sureleaf-report/3"}))
    with pytest.raises(InvalidArgumentError, match=r"does not hold its tree\. Write one"):
        read_report(path)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("data.target", 7),
        ("data.classes", [{"label": 3}]),
        ("data.classes", "ab"),
        ("quality.folds", "many"),
        ("quality.repeats", True),
        ("quality.cost", [[0, "high"], [1, 0]]),
        ("quality", []),
        ("quality", {}),
        ("models", None),
        ("model", 3),
    ],
)
def test_a_malformed_report_is_never_a_verdict(
    old: Document, tmp_path: Path, where: str, value: Any
) -> None:
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(with_value(old, where, value)))
    with pytest.raises(InvalidArgumentError, match=r"damaged.json must be .* a damaged one: "):
        read_report(path)


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("model", "{}", "must hold its tree"),
        ("quality.positive", 2, "quality.positive"),
        ("quality.folds", 1, "n_splits"),
        ("provenance.seed", -1, "random_state"),
    ],
)
def test_values_that_no_report_has_are_refused(
    old: Document, where: str, value: Any, message: str
) -> None:
    with pytest.raises(SureleafError, match=message):
        compare_reports(old, with_value(old, where, value), *mixed())
