"""Two reports: better, worse, equivalent or undecided, by a test that is valid."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sureleaf import InvalidArgumentError
from sureleaf.comparison import paired_t
from sureleaf.report import compare_reports, read_report
from tests.report.tables import mixed, quick_report, three_classes

Document = dict[str, Any]


@pytest.fixture(scope="module")
def old() -> Document:
    return quick_report(*mixed()).to_dict()


def changed(document: Document, change: Any) -> Document:
    """The same report with other accuracies, fold by fold."""
    other = copy.deepcopy(document)
    values = other["quality"]["folds"]["values"]
    values["accuracy"] = (np.array(values["accuracy"]) + change).tolist()
    return other


def test_the_same_folds_are_compared_in_pairs(old: Document) -> None:
    gaps = np.array([0.01, 0.02, -0.01, 0.03, 0.0, 0.015])
    found = compare_reports(old, changed(old, gaps))
    test = paired_t(gaps, corrected=old["quality"]["folds"]["test_to_train"])
    assert found.difference == pytest.approx(test.difference)
    assert (found.low, found.high) == pytest.approx((test.low, test.high))
    assert "folds of the same rows" in found.method


@pytest.mark.parametrize(
    ("change", "margin", "verdict"),
    [
        (-0.05, 0.01, "worse"),
        (0.05, 0.01, "better"),
        (-0.05, 0.1, "equivalent"),
        (0.005, 0.01, "equivalent"),
    ],
)
def test_a_steady_change_is_judged_by_the_margin(
    old: Document, change: float, margin: float, verdict: str
) -> None:
    wiggle = np.array([1, -1, 1, -1, 1, -1]) * 1e-4
    found = compare_reports(old, changed(old, change + wiggle), margin=margin)
    assert found.verdict == verdict
    assert "new tree" in found.sentence


def test_a_noisy_fall_within_chance_is_undecided(old: Document) -> None:
    noisy = np.array([0.1, -0.15, 0.08, -0.12, 0.05, -0.06])
    assert compare_reports(old, changed(old, noisy)).verdict == "undecided"


def test_the_same_report_does_not_differ_and_claims_no_certainty(old: Document) -> None:
    found = compare_reports(old, old)
    assert found.difference == 0
    assert found.low < 0 < found.high


def test_other_seeds_and_other_rows_are_compared_by_their_intervals(old: Document) -> None:
    for new in (quick_report(*mixed(), seed=5), quick_report(*mixed(seed=9))):
        found = compare_reports(old, new.to_dict())
        assert found.method == "z from both intervals"
        assert "conservative" in found.assumption
        assert found.low <= found.difference <= found.high


def test_losses_are_worse_when_they_rise(old: Document) -> None:
    new = copy.deepcopy(old)
    values = new["quality"]["folds"]["values"]
    losses = values["quadratic_loss"]
    values["quadratic_loss"] = [loss + 0.1 + 0.001 * i for i, loss in enumerate(losses)]
    assert compare_reports(old, new, measure="quadratic_loss").verdict == "worse"


def test_other_questions_weights_and_measures_are_refused(old: Document) -> None:
    with pytest.raises(InvalidArgumentError, match="same target and classes"):
        compare_reports(old, quick_report(*three_classes()).to_dict())
    weighed = copy.deepcopy(old)
    weighed["quality"]["folds"]["weights_id"] = "0" * 64
    with pytest.raises(InvalidArgumentError, match="weight the same rows equally"):
        compare_reports(old, weighed)
    with pytest.raises(InvalidArgumentError, match="--measure"):
        compare_reports(old, old, measure="cost")
    without = copy.deepcopy(old)
    del without["quality"]["folds"]
    with pytest.raises(InvalidArgumentError, match="fold by fold"):
        compare_reports(old, without)


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"schema": "other/1"}', "{", "[" * 100_000])
def test_foreign_files_are_refused_in_a_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.json"
    path.write_text(text)
    with pytest.raises(InvalidArgumentError, match=r"foreign\.json must be a file that"):
        read_report(path)


def test_a_written_report_is_read_again(old: Document, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(old))
    assert read_report(path) == old


def test_a_report_of_the_first_version_is_read_and_compared(old: Document, tmp_path: Path) -> None:
    first = copy.deepcopy(old) | {"schema": "sureleaf-report/1"}
    first["made"] = first.pop("provenance")
    first["quality"]["decision"]["cost_a_row"] = first["quality"]["decision"].pop("cost_per_row")
    path = tmp_path / "report.json"
    path.write_text(json.dumps(first))
    assert compare_reports(read_report(path), old).difference == 0


def test_a_report_of_the_second_version_is_read_and_compared(old: Document, tmp_path: Path) -> None:
    second = copy.deepcopy(old) | {"schema": "sureleaf-report/2"}
    del second["simplicity"], second["answer"]["lead"]
    path = tmp_path / "report.json"
    path.write_text(json.dumps(second))
    assert compare_reports(read_report(path), old).difference == 0


def test_the_margin_of_a_report_by_cost_is_not_one_of_accuracy(old: Document) -> None:
    by_cost = copy.deepcopy(old)
    by_cost["models"] |= {"measure": "cost", "margin": 40.0}
    assert compare_reports(by_cost, old, measure="accuracy").margin == 0.01


def test_reports_with_costs_are_judged_by_them_with_their_margin_unless_told_otherwise() -> None:
    dear = quick_report(*mixed(), cost=[[0, 20], [1, 0]]).to_dict()
    worse = copy.deepcopy(dear)
    values = worse["quality"]["folds"]["values"]
    values["decided_cost"] = [v + 0.5 + 0.001 * i for i, v in enumerate(values["decided_cost"])]
    found = compare_reports(dear, worse)
    assert (found.measure, found.margin) == ("decided_cost", dear["models"]["margin"])
    assert found.verdict == "worse"
    assert compare_reports(dear, worse, measure="accuracy").difference == 0


def test_reports_of_rare_classes_are_judged_by_what_they_lead_with(old: Document) -> None:
    rare = copy.deepcopy(old)
    rare["models"] |= {"measure": "auc", "margin": 0.03}
    found = compare_reports(rare, rare)
    assert (found.measure, found.margin) == ("auc", 0.03)
    assert compare_reports(rare, old).measure == "accuracy"


def test_reports_with_other_costs_or_none_are_not_judged_by_accuracy_silently(
    old: Document,
) -> None:
    dear = copy.deepcopy(old)
    dear["quality"]["folds"]["cost_id"] = "0" * 64
    with pytest.raises(InvalidArgumentError, match=r"costs in the new one only.*--measure acc"):
        compare_reports(old, dear)
    other = copy.deepcopy(dear)
    other["quality"]["folds"]["cost_id"] = "1" * 64
    with pytest.raises(InvalidArgumentError, match=r"got different costs\. Make both"):
        compare_reports(dear, other)
    assert compare_reports(old, dear, measure="accuracy").difference == 0


@pytest.mark.parametrize("measure", ["cost", "decided_cost"])
def test_reports_with_the_same_costs_are_compared_by_them(measure: str) -> None:
    dear = quick_report(*mixed(), cost=[[0, 20], [1, 0]]).to_dict()
    worse = copy.deepcopy(dear)
    values = worse["quality"]["folds"]["values"]
    values[measure] = [value + 0.5 + 0.001 * i for i, value in enumerate(values[measure])]
    assert compare_reports(dear, worse, measure=measure).verdict == "worse"
    assert compare_reports(dear, dear, measure=measure).difference == 0
    worse["quality"]["folds"]["cost_id"] = "0" * 64
    with pytest.raises(InvalidArgumentError, match="same costs"):
        compare_reports(dear, worse, measure=measure)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("data.target", 7),
        ("data.classes", [{"label": 3}]),
        ("data.classes", "ab"),
        ("quality.folds.rows", "many"),
        ("quality.folds.rows", True),
        ("quality.folds.test_to_train", None),
        ("quality.folds.values", {"accuracy": [0.5, "high"]}),
        ("quality.folds.values", []),
        ("quality.folds.splits_id", {}),
        ("quality.folds", 3),
        ("quality", []),
        ("models", None),
        ("models.margin", "wide"),
        ("tree", 1e999),
    ],
)
def test_a_malformed_report_is_never_a_verdict(
    old: Document, tmp_path: Path, where: str, value: Any
) -> None:
    document = copy.deepcopy(old)
    *parents, last = where.split(".")
    part = document
    for name in parents:
        part = part[name]
    part[last] = value
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidArgumentError, match=r"damaged.json must be .* a damaged one: "):
        read_report(path)


def test_reports_without_numbers_are_not_compared(old: Document) -> None:
    for name, value in {"rows": 0, "test_to_train": 0.0, "values": {"accuracy": [None]}}.items():
        document = copy.deepcopy(old)
        document["quality"]["folds"][name] = value
        with pytest.raises(InvalidArgumentError, match=r"quality\.folds"):
            compare_reports(old, document)
