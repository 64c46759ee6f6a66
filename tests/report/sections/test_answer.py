"""Sentences say what the numbers say."""

import copy
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from sureleaf.evaluation import BootstrapError
from sureleaf.report.estimates import IntervalEstimate
from sureleaf.report.sections.answer import answer_section, costs_sentence, leaves_sentence
from sureleaf.report.sections.error import (
    Curve,
    EndOfCurve,
    ErrorSection,
    differences_text,
    rows_text,
    without_tests,
)
from sureleaf.report.sections.error import _bootstrap as bootstrap_values
from sureleaf.report.sections.models import MeasureWords, models_text
from sureleaf.report.sections.simplicity import price_text
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
    names = ("data", "tree", "quality", "error", "models", "simplicity")
    return answer_section(*(record(document[name]) for name in names))


def sentence(document: Document, topic: str) -> Any:
    return next(one for one in answer(document).sentences if one.topic == topic)


def leaves_told(document: Document) -> tuple[str, str]:
    return leaves_sentence(record(document["tree"]), record(document["data"]["classes"]))


def against_majority(document: Document, low: float, high: float) -> None:
    row = next(r for r in document["models"]["rows"] if r["name"] == "majority class")
    row["comparison"] |= {"low": low, "high": high, "difference": (low + high) / 2}


def ranking(document: Document, low: float) -> None:
    for measure in document["quality"]["measures"]:
        if measure["name"] == "auc":
            measure |= {"low": low}


def test_a_tree_that_surely_beats_the_majority_is_good(document: Document) -> None:
    against_majority(document, -0.3, -0.1)
    document["quality"]["confusion"] = [[60, 4], [6, 90]]
    told = sentence(document, "accuracy")
    assert told.tone == "good"
    assert "20.0 percentage points higher (+10.0 to +30.0): the tree is better than" in told.text


def test_a_tree_that_may_be_no_better_is_bad_or_a_ranking_at_most(document: Document) -> None:
    against_majority(document, -0.1, 0.02)
    ranking(document, 0.45)
    told = sentence(document, "accuracy")
    assert told.tone == "bad"
    assert "do not show that the tree is better" in told.text
    ranking(document, 0.6)
    told = sentence(document, "accuracy")
    assert told.tone == "warn"
    assert "get different probabilities" in told.text


def test_a_tree_that_surely_does_worse_is_told_so(document: Document) -> None:
    against_majority(document, 0.05, 0.2)
    ranking(document, 0.45)
    told = sentence(document, "accuracy")
    assert told.tone == "bad"
    assert "lower (\u221220.0 to \u22125.0): the tree is worse" in told.text


def test_the_difference_to_the_baseline_is_that_of_the_numbers_in_the_sentence(
    document: Document,
) -> None:
    against_majority(document, -0.02, 0.22)
    row = next(r for r in document["models"]["rows"] if r["name"] == "majority class")
    share = max(one["share"] for one in document["data"]["classes"])
    row["accuracy"] |= {"value": share}
    assert "mean over the folds" not in sentence(document, "accuracy").text
    row["accuracy"] |= {"value": 0.7}
    text = f"is correct for {100 * share:.1f} % of the rows, and for 70.0 % as the mean over the "
    text += "folds. The accuracy of the tree is 10.0 percentage points lower"
    assert text in sentence(document, "accuracy").text


def test_a_class_that_is_missed_takes_the_praise_away(document: Document) -> None:
    against_majority(document, -0.3, -0.1)
    document["quality"]["confusion"] = [[20, 44], [1, 95]]
    told = sentence(document, "accuracy")
    assert told.tone == "warn"
    assert "It finds 31 % of the rows whose “class” is <bad>" in told.text
    document["quality"]["confusion"] = [[0, 64], [0, 96]]
    assert "It never predicts <bad>." in sentence(document, "accuracy").text


def test_the_headline_has_the_accuracy_and_its_interval(document: Document) -> None:
    for measure in document["quality"]["measures"]:
        if measure["name"] == "accuracy":
            measure |= {"value": 0.721, "low": 0.684, "high": 0.757}
    headline = answer(document).headline
    n_leaves = document["tree"]["n_leaves"]
    assert headline == (
        f"This tree with {n_leaves} leaves is expected to predict “class” correctly for 72.1 % of "
        "unseen rows (95 % interval 68.4 to 75.7)."
    )


def test_leaves_are_counted_and_the_largest_weak_ones_named(document: Document) -> None:
    leaves = [node for node in document["tree"]["nodes"] if node["column"] is None]
    for leaf in leaves:
        leaf["flagged"] = False
    assert leaves_told(document)[0] == "good"
    worst = max(leaves, key=lambda leaf: leaf["n"])
    worst |= {"flagged": True, "confidence": 0.8423}
    tone, text = leaves_told(document)
    share = worst["n"] / sum(leaf["n"] for leaf in leaves)
    assert tone == ("bad" if share > 0.5 else "warn")
    assert f"Do not rely on 1 of the {len(leaves)} leaves ({100 * share:.0f} % of the rows)" in text
    assert f" Leaf {worst['id']} (" in text
    assert f"confidence {100 * worst['confidence']:.1f} %." in text


def test_a_leaf_whose_class_is_probably_wrong_is_not_only_called_mixed(document: Document) -> None:
    leaves = [node for node in document["tree"]["nodes"] if node["column"] is None]
    for leaf in leaves:
        leaf["flagged"] = False
    leaves[0] |= {"flagged": True, "confidence": 0.122}
    told = leaves_told(document)[1]
    assert "or unseen rows are predicted worse than these" in told
    unlike = "confidence 12.2 % (by out-of-fold predictions, another class is probably more"
    assert unlike in told
    document["tree"]["at_costs"] = True
    assert "12.2 % (another decision is probably cheaper)." in leaves_told(document)[1]


def test_the_one_leaf_of_a_tree_is_not_praised() -> None:
    leaf = {"id": 0, "parent": None, "column": None, "n": 40.0, "flagged": False, "prediction": 0}
    wanted = {"confidence": 0.95, "utility": None}
    classes = record([{"label": "no", "count": 40.0}])
    tone, text = leaves_sentence(
        record({"nodes": [leaf], "wanted": wanted, "at_costs": False}), classes
    )
    assert tone == "plain"
    assert text.startswith("The only leaf says that no is the most frequent class, and nothing")


def test_a_tree_of_one_leaf_is_not_said_to_find_what_it_never_predicts() -> None:
    document = quick_report(*noise()).to_dict()
    assert document["tree"]["n_leaves"] == 1
    label = document["data"]["classes"][0]["label"]
    document["quality"]["confusion"] = [[80, 4], [34, 2]]
    told = sentence(document, "accuracy")
    assert told.tone == "bad"
    assert told.text.startswith(f"Always predicting {label} is correct for")
    assert "predict another class for 5.0 % of the rows" in told.text
    assert "It finds" not in told.text
    document["quality"]["confusion"] = [[84, 0], [36, 0]]
    assert "no column was found that improves on it" in sentence(document, "accuracy").text


@pytest.mark.parametrize(
    ("low", "value", "high", "start"),
    [
        (0.01, 0.02, 0.03, "More rows of the same kind would help:"),
        (0.001, 0.008, 0.017, "More rows of the same kind would help, perhaps only a little: "),
        (-0.01, 0.01, 0.03, "It is not clear whether more rows of the same kind would help"),
        (-0.002, 0.001, 0.006, "More rows of the same kind would hardly help"),
    ],
)
def test_more_rows_help_only_as_far_as_the_interval_says(
    low: float, value: float, high: float, start: str
) -> None:
    gain = IntervalEstimate(value=value, low=low, high=high, level=0.95, method="")
    assert rows_text(gain, 100, 0.01).startswith(start)


@pytest.mark.parametrize(
    ("verdict", "low", "high", "text"),
    [
        (
            "equivalent",
            -0.005,
            0.005,
            "no better and no worse, within 1 percentage point. One tree",
        ),
        ("better", 0.02, 0.04, "are more accurate by 3.0 percentage points (2.0 to 4.0). Prefer"),
        (
            "worse",
            -0.04,
            -0.02,
            "are less accurate by 3.0 percentage points (2.0 to 4.0). One tree",
        ),
        ("undecided", -0.02, 0.04, "are not shown to be more accurate than this tree (difference"),
        ("undecided", 0.002, 0.04, "Prefer them"),
    ],
)
def test_a_model_is_preferred_only_where_the_interval_prefers_it(
    verdict: str, low: float, high: float, text: str
) -> None:
    found = {"verdict": verdict, "low": low, "high": high, "difference": (low + high) / 2}
    rows = [{"name": "bagged trees", "comparison": found}]
    assert text in models_text(record(rows), 0.01, MeasureWords())


@pytest.mark.parametrize(
    ("low", "high", "word"), [(-3.0, -1.0, "cheaper"), (1.0, 3.0, "expensive")]
)
def test_at_costs_a_model_is_preferred_for_its_cost(low: float, high: float, word: str) -> None:
    found = {"verdict": "better" if high < 0 else "worse", "low": low, "high": high}
    rows = [{"name": "bagged trees", "comparison": found | {"difference": (low + high) / 2}}]
    text = models_text(record(rows), 0.1, MeasureWords("cost"))
    assert f"{word} by 2 per row (1 to 3)" in text
    assert ("Prefer them if the cost matters" in text) == (high < 0)


def test_the_table_and_the_sentence_say_the_same_of_a_gap_that_may_be_small() -> None:
    found = {"verdict": "undecided", "low": 0.007, "high": 0.076, "difference": 0.041}
    perhaps, words = "but perhaps by less than 1 percentage point", MeasureWords()
    rows = record([{"name": "bagged trees", "comparison": found}])
    assert f"(0.7 to 7.6: better, {perhaps})" in models_text(rows, 0.01, words)
    assert words.verdict("undecided", 0.007, 0.076, 0.01) == f"better, {perhaps}"
    assert words.verdict("undecided", -0.076, -0.007, 0.01) == f"worse, {perhaps}"
    assert words.verdict("better", 0.02, 0.04, 0.01) == "better by more than 1 percentage point"


def test_any_other_tree_that_is_surely_better_is_named() -> None:
    found = {"verdict": "undecided", "low": 0.002, "high": 0.04, "difference": 0.021}
    for name in ("C4.5's tree", "scikit-learn's tree"):
        rows = record([{"name": name, "comparison": found}])
        text = models_text(rows, 0.01, MeasureWords())
        assert f"{name} is more accurate by 2.1 percentage points" in text


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


def priced(best: Document, *others: Document) -> str:
    rows = [sized(12, 0.741) | {"name": "this tree"}, best | {"name": "size chosen with margin 0"}]
    rows += others
    for row in rows:
        row["estimate"] = lambda measure, row=row: record(row["accuracy"])
    return price_text(record(rows), MeasureWords(), 0.01)


def test_the_price_of_simplicity_is_one_sentence() -> None:
    assert priced(sized(98, 0.745, 0.004)) == (
        "12 leaves instead of 98 (size chosen with margin 0): accuracy 74.1 % instead of 74.5 %; "
        "the larger tree is not shown to be more accurate (\u22120.6 to +1.4 percentage points)."
    )
    assert "more accurate by 3.0 percentage points (2.0 to 4.0)" in priced(sized(98, 0.771, 0.03))
    assert priced(sized(98, 0.731, -0.01)).startswith("Nothing is given up: 12 leaves, accuracy")


def test_nothing_is_given_up_only_where_no_other_model_is_estimated_to_be_better() -> None:
    c45, best = sized(30, 0.787, 0.046) | {"name": "C4.5's tree"}, sized(12, 0.741, 0.0)
    named = "Another kind of model is estimated to be more accurate: C4.5's tree by 4.6 percentage "
    for other in (best, sized(98, 0.731, -0.01)):
        assert priced(other).startswith("Nothing is given up: ")
        assert "Nothing" not in priced(other, c45)
        assert f"{named}points (see “Other models”)." in priced(other, c45)
        hardly = sized(30, 0.745, 0.004) | {"name": "C4.5's tree"}
        assert priced(other, hardly).startswith("Nothing is given up: ")
    assert priced(sized(12, 0.741, 0.0)).startswith("Nothing is given up: chosen by ")


CHEAPEST = "always bad"


def costs(
    low: float,
    high: float,
    *,
    confusion: Any = ((25, 5), (25, 45)),
    cost: Any = ((0, 5), (1, 0)),
    n_leaves: int = 9,
) -> tuple[str, str]:
    found = {"difference": (low + high) / 2, "low": low, "high": high}
    quality = {
        "cost": cost,
        "confusion": confusion,
        "positive": 0,
        "labels": ["bad", "good"],
        "constants": [{"label": "good", "cost": 1.5}, {"label": "bad", "cost": 0.7}],
    }
    models = {"measure": "cost", "rows": [{"name": CHEAPEST, "comparison": found}]}
    return costs_sentence(record(quality), record(models), n_leaves)


def test_what_the_tree_saves_is_said_with_its_interval() -> None:
    tone, text = costs(0.1, 0.3)
    assert tone == "good"
    assert text == (
        "At your costs (bad predicted as good costs 5 and good predicted as bad costs 1), decide "
        "bad if its probability is at least 16.7 %. This saves 0.200 per row (+0.100 to +0.300) "
        "against always deciding bad, the cheapest decision without a tree."
    )


def test_a_saving_that_is_not_shown_is_not_claimed() -> None:
    tone, text = costs(-0.1, 0.3)
    assert tone == "bad"
    assert "not shown to be cheaper than always deciding bad, which costs 0.700 per row" in text
    assert "(saving \u22120.100 to +0.300 per row)" in text
    assert "more expensive than always deciding bad" in costs(-0.3, -0.1)[1]


def test_gains_are_told_as_costs_below_0() -> None:
    text = costs(0.1, 0.3, cost=((-2, 5), (1, 0)))[1]
    assert "good predicted as bad costs 1 and bad predicted as bad costs -2)" in text
    assert text.endswith("A cost below 0 is a gain.")


def test_a_decision_for_one_class_in_nearly_all_rows_is_told() -> None:
    tone, text = costs(0.1, 0.3, confusion=((30, 0), (66, 4)))
    assert tone == "warn"
    assert text.endswith("Then 96.0 % of the decisions are bad.")
    assert "Then" not in costs(0.1, 0.3)[1]


def test_a_tree_of_one_leaf_has_nothing_to_decide_by() -> None:
    tone, text = costs(0.1, 0.3, n_leaves=1)
    assert tone == "bad"
    assert "always decide bad: mean cost 0.700 per row. This tree does not distinguish" in text


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
    told = document["answer"]
    assert told["rare"]
    assert told["lead"]["measure"] == "auc"
    assert told["headline"].startswith(
        "Accuracy is the wrong question: always predicting healthy is correct for 96.2 % of the "
    )
    value = f"{100 * told['lead']['value']:.1f} % of the cases (AUC, 95 % interval"
    assert value in told["headline"]
    accuracy = next(one for one in told["sentences"] if one["topic"] == "accuracy")
    assert "the rare classes matter here, not the accuracy" in accuracy["text"]
    assert accuracy["tone"] != "good"


def test_rare_classes_with_costs_make_it_lead_with_the_cost(rare: tuple[Any, Any]) -> None:
    document = quick_report(*rare, cost=[[0, 1], [25, 0]]).to_dict()
    check_document(document)
    assert document["answer"]["lead"]["measure"] == "cost"
    assert "always deciding healthy costs" in document["answer"]["headline"]
    assert "always deciding ill costs" in document["answer"]["headline"]


def test_a_single_leaf_for_rare_classes_is_never_praised(rare: tuple[Any, Any]) -> None:
    document = quick_report(np.ones((312, 1)), rare[1]).to_dict()
    check_document(document)
    assert document["tree"]["n_leaves"] == 1
    assert "It finds no row of class ill" in document["answer"]["headline"]
    assert all(one["tone"] != "good" for one in document["answer"]["sentences"])


def test_at_costs_leaves_and_more_rows_are_told_in_costs(rare: tuple[Any, Any]) -> None:
    X, y = rare
    told = quick_report(X, y, cost=[[0, 1], [25, 0]], **SIZED).to_dict()["answer"]["sentences"]
    texts = {one["topic"]: one["text"] for one in told}
    assert "the probability that its decision is the cheapest one for its rows" in texts["leaves"]
    assert "accuracy" not in texts["rows"]


def test_more_rows_lower_a_cost() -> None:
    gain = IntervalEstimate(value=-0.2, low=-0.3, high=-0.1, level=0.95, method="")
    text = rows_text(gain, 100, 0.05, MeasureWords("cost"))
    assert text == (
        "More rows of the same kind would help: twice as many (200) are expected to lower the cost "
        "by 0.200 per row (0.100 to 0.300)."
    )


def test_estimates_that_differ_are_explained() -> None:
    estimate = IntervalEstimate(value=0.27, low=0.24, high=0.30, level=0.95, method="")
    training, bootstrap, levels = differences_text(estimate, (0.1, 0.33), 0.6)
    assert "Training rows 10.0 %, unseen rows 27.0 %" in training
    assert training.endswith("Use the second.")
    assert "outside the interval of the cross-validated error" in bootstrap
    assert bootstrap.endswith("Use cross-validation.")
    assert "take the levels of the leaves with caution" in levels
    assert "within the interval" in next(differences_text(estimate, (0.27, 0.28), 0.73))
    assert list(differences_text(estimate, (0.27, 0.27), 0.73)) == []
    assert list(differences_text(estimate, None, 0.73, EndOfCurve(0.275, 900, 600))) == []
    (curve,) = differences_text(estimate, None, 0.73, EndOfCurve(0.30, 900, 600))
    assert curve.startswith(
        "The learning curve leads to 30.0 % with 900 rows, cross-validation gives 27.0 %: the "
        "curve was measured with at most 600 rows"
    )


def one_leaf(document: Document, low: float, high: float) -> Document:
    """Let every other kind of model differ from a tree of one leaf by this much accuracy."""
    assert document["tree"]["n_leaves"] == 1
    document["quality"]["confusion"] = [[84, 0], [36, 0]]
    found = {"low": low, "high": high, "difference": (low + high) / 2, "verdict": "undecided"}
    for row in document["models"]["rows"]:
        if row["name"] in ("C4.5's tree", "bagged trees", "scikit-learn's tree"):
            row["comparison"] |= found
    return document


@pytest.fixture(scope="module")
def without_columns() -> Document:
    return quick_report(*noise()).to_dict()


def test_a_tree_of_one_leaf_says_of_the_columns_what_other_models_show(
    without_columns: Document,
) -> None:
    document = copy.deepcopy(without_columns)
    margin = document["models"]["margin"]
    text = sentence(one_leaf(document, -0.1, margin / 2), "predicts").text
    assert text.startswith("The columns do not help to predict")
    text = sentence(one_leaf(document, -0.1, 0.1), "predicts").text
    assert text.startswith(f"In these {document['data']['rows']} rows, no column was shown to help")
    text = sentence(one_leaf(document, 0.05, 0.1), "predicts").text
    assert text.startswith("This tree found no useful test for ")
    assert "C4.5's tree, bagged trees and scikit-learn's tree (see “Other models”)" in text
    text = sentence(document, "accuracy").text
    assert "no column was found" not in text
    assert "This tree does no more than that." in text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.1, 0.0, "More rows of the same kind would hardly help: twice"),
        (-0.1, 0.1, "It is not known whether more rows of the same kind would help: the trees"),
        (0.05, 0.1, "Other models find more in these rows: C4.5's tree, bagged"),
    ],
)
def test_the_flat_curve_of_trees_without_tests_is_no_proof_that_more_rows_are_useless(
    without_columns: Document, low: float, high: float, text: str
) -> None:
    document = one_leaf(copy.deepcopy(without_columns), low, high)
    told = "More rows of the same kind would hardly help: twice as many. Other columns might help."
    curve = Curve("accuracy", [10], [0.7], [0.6], [0.8], 0.95, 1, help="hardly", text=told)
    error = ErrorSection(**error_fields(document) | {"curve": curve})
    settled = without_tests(error, record(document["models"])).curve
    assert settled is not None
    assert text in settled.text
    assert ("Other columns" in settled.text) == (high == 0.0)


def error_fields(document: Document) -> Document:
    return {one.name: record(document["error"].get(one.name)) for one in fields(ErrorSection)}


def test_few_rows_that_hardly_raise_the_accuracy_still_make_leaves_surer() -> None:
    gain = IntervalEstimate(value=0.0, low=-0.002, high=0.006, level=0.95, method="")
    assert "would still make its leaves surer" in rows_text(gain, 60, 0.01)
    assert "surer" not in rows_text(gain, 1000, 0.01)


def test_at_costs_the_only_leaf_has_the_cheapest_class_and_better_models_are_named() -> None:
    leaf = {"id": 0, "parent": None, "column": None, "n": 40.0, "flagged": False, "prediction": 0}
    wanted = {"confidence": 0.95, "utility": None}
    classes = record([{"label": "bad", "count": 12.0}, {"label": "good", "count": 28.0}])
    tree = record({"nodes": [leaf], "wanted": wanted, "at_costs": True})
    text = leaves_sentence(tree, classes)[1]
    assert text.startswith("The only leaf says that deciding bad is cheapest, and nothing about")
    found = {"low": -0.2, "high": -0.1, "difference": -0.15, "verdict": "better"}
    models = {"measure": "cost", "rows": [{"name": "bagged trees", "comparison": found}]}
    quality = {
        "cost": [[0.0, 5.0], [1.0, 0.0]],
        "confusion": [[12.0, 0.0], [28.0, 0.0]],
        "labels": ["bad", "good"],
        "positive": 0,
        "constants": [{"label": "bad", "cost": 0.7}, {"label": "good", "cost": 1.5}],
    }
    text = costs_sentence(record(quality), record(models), 1)[1]
    assert "always deciding bad costs 0.700 per row. This tree does not distinguish rows" in text
    assert text.endswith("cheaper: bagged trees.")


def test_a_constant_that_decides_as_the_only_leaf_costs_the_same() -> None:
    document = quick_report(*noise(), cost=[[0, 1], [100, 0]]).to_dict()
    assert document["tree"]["n_leaves"] == 1
    label = document["data"]["classes"][document["tree"]["nodes"][0]["prediction"]]["label"]
    row = next(one for one in document["models"]["rows"] if one["name"] == f"always {label}")
    assert row["comparison"]["text"].startswith(f"Always {label}: costs the same as this tree (")


def test_at_costs_a_tree_of_one_leaf_costs_what_its_decision_costs() -> None:
    document = quick_report(*noise(), cost=[[0, 1], [100, 0]]).to_dict()
    assert document["tree"]["n_leaves"] == 1
    decided = document["quality"]["constants"][document["tree"]["nodes"][0]["prediction"]]
    start = f"At your costs, this tree with 1 leaf always decides {decided['label']}, which costs "
    for measure in document["quality"]["measures"]:
        if measure["name"] == "cost":
            measure |= {"value": decided["cost"]}
    headline = answer(document).headline
    assert headline.startswith(f"{start}{decided['cost']:.3f} per row; always deciding ")
    assert "grown in the same way" not in headline
    for measure in document["quality"]["measures"]:
        if measure["name"] == "cost":
            measure |= {"value": decided["cost"] + 0.1, "low": 0.5, "high": 1.5}
    of_others = f"expected to cost {decided['cost'] + 0.1:.3f} (95 % interval 0.500 to 1.500)"
    assert f"{of_others}, because some of them have tests." in answer(document).headline
    told = sentence(document, "predicts").text
    assert "the cost of deciding about “class”: the tree has no tests and always decides" in told
    document["quality"]["confusion"] = [[80, 4], [34, 2]]
    assert "so the cross-validated cost and accuracy differ" in sentence(document, "accuracy").text


@pytest.mark.parametrize(
    ("freedom", "is_known"), [(0.1, False), (1.9, False), (2.0, True), (8.0, True), (np.inf, True)]
)
def test_bootstrap_samples_that_do_not_tell_the_standard_error_give_no_interval(
    freedom: float, is_known: bool
) -> None:
    names = ("training", "plain", "leave_one_out", "e632", "e632_plus")
    errors = BootstrapError(
        *(0.4,) * 5, no_information=0.5, relative_overfitting=0.2,
        standard_errors=dict.fromkeys(names, 0.02), rows_without_term=0, loss="error",
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
