"""Sentences say what the numbers say."""

import copy
import re
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from sureleaf.evaluation.bootstrap_errors import BootstrapError
from sureleaf.report.document_schema import IntervalEstimate
from sureleaf.report.sections.answer import answer_section, costs_text, round_ticks
from sureleaf.report.sections.error import (
    Curve,
    EndOfCurve,
    ErrorSection,
    differences_text,
    rows_text,
    without_tests,
)
from sureleaf.report.sections.error import _bootstrap as bootstrap_values
from sureleaf.report.sections.models import MeasureWords, price_text
from tests.report.document_check import check_document
from tests.report.tables import mixed, noise, quick_report

Document = dict[str, Any]
SIZED: Document = {"pruning": "auto", "collapse": False}


@pytest.fixture(scope="module")
def original() -> Document:
    return quick_report(*mixed()).to_dict()


@pytest.fixture
def document(original: Document) -> Document:
    return copy.deepcopy(original)


def record(value: Any) -> Any:
    """Plain values with attributes, as the sections have them."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: record(one) for key, one in value.items()})
    return [record(one) for one in value] if isinstance(value, list) else value


def answer(document: Document) -> Any:
    names = ("data", "tree", "quality", "error", "models")
    return answer_section(*(record(document[name]) for name in names))


def told(document: Document, topic: str) -> Any:
    return next(one for one in answer(document).sentences if one.topic == topic)


def whole(sentence: Any) -> str:
    return f"{sentence.short} {sentence.text}"


def against_majority(document: Document, low: float, high: float) -> None:
    row = next(r for r in document["models"]["rows"] if r["kind"] == "constant")
    row["comparison"] |= {"low": low, "high": high, "difference": (low + high) / 2}


def others(document: Document, low: float, high: float, verdict: str = "undecided") -> None:
    found = {"low": low, "high": high, "difference": (low + high) / 2, "verdict": verdict}
    for row in document["models"]["rows"]:
        if row["kind"] == "other":
            row["comparison"] |= found


@pytest.mark.parametrize(
    ("low", "high", "tone", "short", "headline"),
    [
        (-0.3, -0.1, "good", "Yes, better than always predicting “good & fine”.", "correctly."),
        (-0.1, 0.02, "warn", "Not proven.", "no better than always predicting “good & fine”."),
        (0.05, 0.2, "bad", "No, worse than always", "worse than always predicting “good & fine”."),
    ],
)
def test_a_tree_is_as_good_as_its_interval_against_the_majority(
    document: Document, low: float, high: float, tone: str, short: str, headline: str
) -> None:
    against_majority(document, low, high)
    others(document, -0.1, 0.1)
    document["quality"]["confusion"] = [[60, 4], [6, 90]]
    found = answer(document)
    assert found.tone == told(document, "good").tone == tone
    assert told(document, "good").short.startswith(short)
    assert found.headline.endswith(headline)
    assert found.emphasis.endswith(" %")
    if tone == "good":
        assert "20.0 percentage points (10.0 to 30.0)" in told(document, "good").text
    else:
        assert told(document, "next").short.startswith("Do not use it")


def test_a_class_that_is_missed_takes_the_praise_away(document: Document) -> None:
    against_majority(document, -0.3, -0.1)
    document["quality"]["confusion"] = [[20, 44], [1, 95]]
    assert told(document, "good").tone == "warn"
    assert "It finds only 31 % of the “<bad>” rows." in told(document, "good").text


def test_the_best_other_model_is_named_where_it_is_shown_to_be_better(document: Document) -> None:
    assert re.search(r"highest AUC(, | is )0\.\d{3}", document["models"]["text"])
    against_majority(document, -0.3, -0.1)
    others(document, -0.1, 0.1)
    assert "No other model is clearly more accurate." in told(document, "good").text
    others(document, -0.1, document["models"]["margin"] / 2)
    assert "No other model is better by more than" in told(document, "good").text
    others(document, 0.02, 0.06, "better")
    assert "is more accurate by 4.0 percentage points (2.0 to 6.0)." in whole(
        told(document, "good")
    )
    assert told(document, "good").tone == "warn"
    leaves = [node for node in document["tree"]["nodes"] if not node["children"]]
    smallest = min(leaves, key=lambda leaf: leaf["n"])
    for leaf in leaves:
        leaf["flagged"] = leaf is smallest
    assert told(document, "next").short == (
        "Use it if its rules must be readable, but check the flagged leaf by hand."
    )
    smallest["flagged"] = False
    assert told(document, "next").short == "Use it if its rules must be readable."
    others(document, -0.1, 0.1)
    assert told(document, "next").short == "Use it."


def test_a_flagged_leaf_without_a_number_of_rows_is_not_called_balanced(document: Document) -> None:
    against_majority(document, -0.3, -0.1)
    leaves = [node for node in document["tree"]["nodes"] if not node["children"]]
    for leaf in leaves:
        leaf |= {"flagged": leaf is leaves[0], "total_rows_needed": None}
    text = told(document, "next").text
    assert text.startswith("Whether more rows would settle the flagged leaf is not known.")


def test_flagged_leaves_are_counted_with_their_share(document: Document) -> None:
    leaves = [node for node in document["tree"]["nodes"] if node["column"] is None]
    for leaf in leaves:
        leaf["flagged"] = False
    assert told(document, "trust").tone == "good"
    assert "with at least 95 %" not in told(document, "trust").short
    worst = max(leaves, key=lambda leaf: leaf["n"])
    worst |= {"flagged": True, "confidence": 0.9496}
    share = round(100 * worst["n"] / sum(leaf["n"] for leaf in leaves))
    found = told(document, "trust")
    assert found.tone == ("bad" if share > 50 else "warn")
    assert found.short.startswith(f"In {len(leaves) - 1} of {len(leaves)} leaves, {100 - share} %")
    assert f"the flagged leaf ({share} % of the rows): the confidence" in found.text
    assert "predicts the majority class is 94.9 %, not 95 %" in found.text
    empty = next(leaf for leaf in leaves if leaf is not worst)
    empty |= {"flagged": True, "confidence": 0.97, "n": 0.0}
    assert told(document, "trust").text.endswith(" is below 95 %, or it has no rows.")
    empty |= {"flagged": False, "n": 1.0}
    against_majority(document, -0.3, -0.1)
    assert (
        "flagged leaf" in told(document, "next").short
        or "first look" in told(document, "next").short
    )


@pytest.fixture(scope="module")
def without_columns() -> Document:
    return quick_report(*noise()).to_dict()


def test_a_tree_of_one_leaf_is_never_praised(without_columns: Document) -> None:
    document = copy.deepcopy(without_columns)
    assert document["tree"]["n_leaves"] == 1
    others(document, 0.05, 0.1)
    found = answer(document)
    assert found.headline == "This tree has no splits: it always predicts “no”."
    assert found.emphasis == ""
    assert all(one.tone not in ("good",) for one in found.sentences)
    assert "Other models do find a pattern" in told(document, "good").text
    assert told(document, "next").short == "Use another model."
    others(document, -0.1, document["models"]["margin"] / 2)
    assert "Other models found nothing that helps" in told(document, "good").text
    others(document, -0.1, 0.1)
    assert "No column was found that helps" in told(document, "good").text


@pytest.mark.parametrize(
    ("low", "value", "high", "told", "text"),
    [
        (0.01, 0.02, 0.03, {}, "More rows would help: twice as many (200) should raise the acc"),
        (0.001, 0.008, 0.017, {}, "More rows would help a little: "),
        (
            -0.01,
            0.01,
            0.03,
            {},
            "More rows may help: twice as many (200) may raise the accuracy",
        ),
        (-0.002, 0.001, 0.006, {}, "More rows of this kind would change little: "),
        (-0.002, 0.001, 0.006, {}, "would still raise the confidence"),
        # above a curve that still rises
        (0.0, 0.001, 0.006, {"last_gain": 0.005}, "change little"),
        (0.0, 0.001, 0.006, {"last_gain": 0.03}, "More rows may help"),
        # a measure that cannot be above 1
        (-0.2, 0.03, 0.271, {}, "by up to 27.1 percentage points"),
        (-0.2, 0.03, 0.271, {"room": 0.136}, "by up to 13.6 percentage points"),
        (
            *(-0.3, -0.2, -0.1, {"words": MeasureWords("cost")}),
            "should lower the cost by about 0.200 per row (0.100 to 0.300).",
        ),
    ],
)
def test_more_rows_help_only_as_far_as_the_interval_says(
    low: float, value: float, high: float, told: Document, text: str
) -> None:
    gain = IntervalEstimate(value=value, low=low, high=high, level=0.95, method="")
    assert text in rows_text(gain, 100, 0.01, **told)
    assert "confidence" not in rows_text(gain, 1000, 0.01, **told)


def sized(leaves: int, accuracy: float, gain: float | None = None) -> Document:
    found = None
    if gain is not None:
        found = {
            "difference": gain,
            "low": gain - 0.01,
            "high": gain + 0.01,
            "verdict": "undecided",
        }
    return {"leaves": leaves, "accuracy": {"value": accuracy}, "comparison": found}


def priced(best: Document) -> str:
    rows = [sized(12, 0.741) | {"name": "this tree"}, best | {"name": "size chosen with margin 0"}]
    for row in rows:
        row["estimate"] = lambda measure, row=row: record(row["accuracy"])
    return price_text(record(rows), MeasureWords())


def test_the_price_of_simplicity_is_told() -> None:
    assert priced(sized(98, 0.745, 0.004)) == (
        "The tree has 12 leaves (accuracy 74.1 %). Chosen by accuracy alone, it would have 98 "
        "(accuracy 74.5 %); the difference may be chance (\u22120.6 to +1.4 percentage points)."
    )
    assert "it is more accurate by 3.0 percentage points (2.0 to 4.0)" in priced(
        sized(98, 0.771, 0.03)
    )
    assert priced(sized(98, 0.731, -0.01)).startswith("Nothing is given up: the tree has 12 leaves")
    assert "would have 12 leaves, too" in priced(sized(12, 0.741, 0.0))


def test_costs_are_named_with_their_unit() -> None:
    cost = np.array([[0.0, 5.0], [1.0, 0.0]])
    assert costs_text(cost, ["default", "paid"], "€") == (
        " (“default” taken for “paid”: €5; “paid” taken for “default”: €1)"
    )


@pytest.mark.parametrize(("low", "high"), [(0.517, 0.712), (0.0, 1.5), (0.981, 0.984), (3, 3)])
def test_ticks_are_round_and_around_the_values(low: float, high: float) -> None:
    ticks = round_ticks(low, high)
    assert ticks[0] <= low
    assert high <= ticks[-1]
    assert 2 <= len(ticks) <= 7
    assert all(len(f"{tick:.6g}") <= 5 for tick in ticks)


@pytest.fixture(scope="module")
def rare() -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    y = np.array(["healthy"] * 300 + ["ill"] * 12)
    random.shuffle(y)
    X = random.normal(size=(312, 2))
    X[:, 0] += 3 * (y == "ill")
    return X, y


def test_rare_classes_make_the_report_lead_with_the_auc(rare: tuple[Any, Any]) -> None:
    document = quick_report(*rare).to_dict()
    check_document(document)
    found = document["answer"]
    assert found["lead"]["measure"] == "auc"
    assert found["headline"].startswith("This tree ranks “ill” rows above the others ")
    assert "always predicting “healthy” is correct for 96.2 %" in found["detail"]
    for node in document["tree"]["nodes"]:
        node["prediction"] = 0
    document["quality"]["confusion"] = [[300.0, 0.0], [9.0, 3.0]]
    assert "It finds" not in told(document, "good").text
    assert "Every leaf predicts “healthy”." in told(document, "good").text
    advice = told(document, "next")
    assert (advice.tone, advice.short) == (
        "warn",
        "Use it to rank rows, not to predict their class.",
    )
    assert "--cost" in advice.text


def test_rare_classes_with_costs_make_it_lead_with_the_cost_in_its_unit(
    rare: tuple[Any, Any],
) -> None:
    names = {"ill": "sick", "healthy": "well"}
    document = quick_report(*rare, cost=[[0, 1], [25, 0]], unit="€", labels=names).to_dict()
    assert document["answer"]["lead"]["measure"] == "cost"
    assert "Mean cost on unseen rows was €" in document["paper"]["text"]
    assert "on average, so €" in document["methods"]["definitions"][0]["text"]
    assert " if always “well”" in document["answer"]["detail"]
    assert " if always “sick”" in document["answer"]["detail"]
    assert "accuracy" not in document["error"]["curve"]["text"]
    assert [one["value"] for one in document["data"]["classes"]] == ["healthy", "ill"]
    assert {"always well", "always sick"} < {row["name"] for row in document["models"]["rows"]}


def test_a_single_leaf_for_rare_classes_says_what_could_help(rare: tuple[Any, Any]) -> None:
    document = quick_report(np.ones((312, 1)), rare[1]).to_dict()
    check_document(document)
    assert document["tree"]["n_leaves"] == 1
    assert all(one["tone"] != "good" for one in document["answer"]["sentences"])
    text = document["answer"]["sentences"][2]["text"]
    assert "--cost" in text
    assert "100 are recommended, about 2,600 rows in all" in text


def test_estimates_that_differ_are_explained() -> None:
    estimate = IntervalEstimate(value=0.27, low=0.24, high=0.30, level=0.95, method="")
    training, bootstrap, levels = differences_text(estimate, (0.1, 0.33), 0.6)
    assert "10.0 % on the training rows and 27.0 % on unseen rows" in training
    assert training.endswith("only the second figure counts.")
    assert "the former is outside the interval of the latter" in bootstrap
    assert bootstrap.endswith("Use cross-validation.")
    assert "treat the levels of the leaves with caution" in levels
    assert "within the interval" in next(differences_text(estimate, (0.27, 0.28), 0.73))
    assert list(differences_text(estimate, (0.27, 0.27), 0.73)) == []
    assert list(differences_text(estimate, None, 0.73, EndOfCurve(0.275, 900, 600))) == []
    (curve,) = differences_text(estimate, None, 0.73, EndOfCurve(0.30, 900, 600))
    assert curve.startswith(
        "With 900 rows the learning curve predicts an error of 30.0 %; cross-validation measures "
        "27.0 %. The curve was measured less often, with at most 600 rows"
    )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(-0.1, 0.0, "would change little"), (-0.1, 0.1, "Whether more rows would help is not known")],
)
def test_the_flat_curve_of_trees_without_tests_is_no_proof_that_more_rows_are_useless(
    without_columns: Document, low: float, high: float, text: str
) -> None:
    document = copy.deepcopy(without_columns)
    others(document, low, high)
    curve = Curve(
        "accuracy", [10], [0.7], [0.6], [0.8], 0.95, 1, help="hardly", text="would change little"
    )
    fields_of = {one.name: record(document["error"].get(one.name)) for one in fields(ErrorSection)}
    error = ErrorSection(**fields_of | {"curve": curve})
    settled = without_tests(error, record(document["models"])).curve
    assert text in settled.text


def test_a_constant_that_decides_as_the_only_leaf_costs_the_same() -> None:
    document = quick_report(*noise(), cost=[[0, 1], [100, 0]]).to_dict()
    assert document["tree"]["n_leaves"] == 1
    label = document["data"]["classes"][document["tree"]["nodes"][0]["prediction"]]["label"]
    row = next(one for one in document["models"]["rows"] if one["name"] == f"always {label}")
    assert row["comparison"]["text"].startswith(f"Always {label}: costs the same as this tree (")


@pytest.mark.parametrize(
    ("freedom", "is_known"), [(0.1, False), (1.9, False), (2.0, True), (8.0, True), (np.inf, True)]
)
def test_bootstrap_samples_that_do_not_tell_the_standard_error_give_no_interval(
    freedom: float, is_known: bool
) -> None:
    names = ("training", "plain", "leave_one_out", "e632", "e632_plus")
    errors = BootstrapError(
        *(0.4,) * 5, no_information=0.5, relative_overfitting=0.2,
        standard_errors=dict.fromkeys(names, 0.02), rows_without_term=0,
        n_bootstraps=33, failures={}, degrees_of_freedom=freedom,
    )  # fmt: skip
    results = SimpleNamespace(request=SimpleNamespace(level=0.95), n_rows=1000)
    found = bootstrap_values(errors, results)
    assert (found.low is not None, found.high is not None) == (is_known, is_known)
    assert (found.standard_errors["e632"] is not None) == is_known
    assert found.method.startswith("no interval") != is_known
    if found.low is not None and found.high is not None:  # as wide as the t distribution says
        half = 0.02 * student.ppf(0.975, freedom if np.isfinite(freedom) else 999)
        assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.1)
