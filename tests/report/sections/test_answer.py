"""Sentences say what the numbers say."""

import copy
from typing import Any

import pytest

from sureleaf.report.sections.answer import answer_section, costs_sentence, leaves_sentence
from sureleaf.report.sections.error import rows_text
from sureleaf.report.sections.models import models_text, verdict_words
from tests.report.tables import mixed, noise, quick_report

Document = dict[str, Any]


@pytest.fixture(scope="module")
def original() -> Document:
    return quick_report(*mixed()).to_dict()


@pytest.fixture
def document(original: Document) -> Document:
    return copy.deepcopy(original)


def sentence(document: Document, topic: str) -> dict[str, str]:
    told = answer_section(document)["sentences"]
    return next(one for one in told if one["topic"] == topic)


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
    assert told["tone"] == "good"
    assert "right 20.0 times more (+10.0 to +30.0), so it has learned something" in told["text"]


def test_a_tree_that_may_be_no_better_is_bad_or_a_ranking_at_most(document: Document) -> None:
    against_majority(document, -0.1, 0.02)
    ranking(document, 0.45)
    told = sentence(document, "accuracy")
    assert told["tone"] == "bad"
    assert "do not show that it does better" in told["text"]
    ranking(document, 0.6)
    told = sentence(document, "accuracy")
    assert told["tone"] == "warn"
    assert "tell rows apart" in told["text"]


def test_a_tree_that_surely_does_worse_is_told_so(document: Document) -> None:
    against_majority(document, 0.05, 0.2)
    ranking(document, 0.45)
    told = sentence(document, "accuracy")
    assert told["tone"] == "bad"
    assert "less (\u221220.0 to \u22125.0): it does worse" in told["text"]


def test_a_class_that_is_missed_takes_the_praise_away(document: Document) -> None:
    against_majority(document, -0.3, -0.1)
    document["quality"]["confusion"] = [[20, 44], [1, 95]]
    told = sentence(document, "accuracy")
    assert told["tone"] == "warn"
    assert "Of the rows whose “class” is <bad> it finds 31 %" in told["text"]
    document["quality"]["confusion"] = [[0, 64], [0, 96]]
    assert "It never says <bad>." in sentence(document, "accuracy")["text"]


def test_the_headline_has_the_accuracy_and_its_interval(document: Document) -> None:
    for measure in document["quality"]["measures"]:
        if measure["name"] == "accuracy":
            measure |= {"value": 0.721, "low": 0.684, "high": 0.757}
    told = answer_section(document)["headline"]
    assert "some 72 times in 100 (95 % interval 68 to 76)" in told


def test_leaves_are_counted_and_the_largest_weak_ones_named(document: Document) -> None:
    leaves = [node for node in document["tree"]["nodes"] if node["column"] is None]
    for leaf in leaves:
        leaf["flagged"] = False
    assert leaves_sentence(document)[0] == "good"
    worst = max(leaves, key=lambda leaf: leaf["n"])
    worst["flagged"] = True
    tone, text = leaves_sentence(document)
    share = worst["n"] / sum(leaf["n"] for leaf in leaves)
    assert tone == ("bad" if share > 0.5 else "warn")
    assert f"Do not trust 1 of the {len(leaves)} leaves ({100 * share:.0f} % of the rows)" in text
    assert f"leaf {worst['id']} (" in text
    assert f"chance {100 * worst['confidence']:.1f} %." in text


def test_the_one_leaf_of_a_tree_is_not_called_each() -> None:
    leaf = {"id": 0, "parent": None, "column": None, "n": 40.0, "flagged": False}
    wanted = {"confidence": 0.95, "utility": None}
    text = leaves_sentence({"tree": {"nodes": [leaf], "wanted": wanted}})[1]
    assert text.startswith("The only leaf can be trusted: the chance that")


def test_a_tree_of_one_leaf_is_not_said_to_find_what_it_never_says() -> None:
    document = quick_report(*noise()).to_dict()
    assert document["tree"]["n_leaves"] == 1
    label = document["data"]["classes"][0]["label"]
    document["quality"]["confusion"] = [[80, 4], [34, 2]]
    told = sentence(document, "accuracy")
    assert told["tone"] == "bad"
    assert told["text"].startswith(f"Always saying {label} is right")
    assert "gave 5.0 % of the rows another class" in told["text"]
    assert "it finds" not in told["text"]
    document["quality"]["confusion"] = [[84, 0], [36, 0]]
    assert "no column was found that does better" in sentence(document, "accuracy")["text"]


@pytest.mark.parametrize(
    ("low", "value", "high", "start"),
    [
        (0.01, 0.02, 0.03, "More rows of the same kind would help"),
        (-0.01, 0.01, 0.03, "Whether more rows of the same kind would help is open"),
        (-0.002, 0.001, 0.006, "More rows of the same kind would hardly help"),
    ],
)
def test_more_rows_help_only_as_far_as_the_interval_says(
    low: float, value: float, high: float, start: str
) -> None:
    gain = {"low": low, "value": value, "high": high}
    more = {"target": 0.8, "rows": None, "low": 300, "high": None}
    assert rows_text({"gain_of_doubling": gain, "more_rows": more}, 100, 0.01).startswith(start)


@pytest.mark.parametrize(
    ("verdict", "low", "high", "short", "bagged"),
    [
        ("equivalent", -0.005, 0.005, "does as well, within 1 time in 100", "one tree is enough"),
        ("better", 0.02, 0.04, "prefer it", "prefer them"),
        ("worse", -0.04, -0.02, "is not enough", "one tree is enough"),
        ("undecided", -0.02, 0.04, "cannot tell", "cannot tell whether"),
        ("undecided", 0.002, 0.04, "prefer it", "prefer them"),
    ],
)
def test_a_model_is_preferred_only_where_the_interval_prefers_it(
    verdict: str, low: float, high: float, short: str, bagged: str
) -> None:
    found = {"verdict": verdict, "low": low, "high": high, "difference": (low + high) / 2}
    rows = [{"name": name, "comparison": found} for name in ("short tree", "bagged trees")]
    simpler, larger = models_text(rows, 0.01, 9).split(" Larger: ")
    assert short in simpler
    assert bagged in larger


def test_the_table_and_the_sentence_say_the_same_of_a_gap_that_may_be_small() -> None:
    found = {"verdict": "undecided", "low": 0.007, "high": 0.076, "difference": 0.041}
    perhaps = "but perhaps by less than 1 in 100"
    told = models_text([{"name": "bagged trees", "comparison": found}], 0.01, 9)
    assert f"(from 0.7 to 7.6: better, {perhaps})" in told
    assert verdict_words("undecided", 0.007, 0.076, 0.01) == f"better, {perhaps}"
    assert verdict_words("undecided", -0.076, -0.007, 0.01) == f"worse, {perhaps}"
    assert verdict_words("better", 0.02, 0.04, 0.01) == "better, by more than 1 in 100"


def test_a_simple_tree_is_not_told_to_be_simpler() -> None:
    found = {"verdict": "undecided", "low": -0.02, "high": 0.04, "difference": 0.01}
    rows = [{"name": "short tree", "comparison": found}]
    assert "simple as it is (2 questions in a row at most)" in models_text(rows, 0.01, 2)
    assert "simple as it is (no questions)" in models_text(rows, 0.01, 0)


def test_any_other_model_that_is_surely_better_is_named() -> None:
    found = {"verdict": "undecided", "low": 0.002, "high": 0.04, "difference": 0.021}
    rows = [{"name": "scikit-learn's tree", "comparison": found}]
    assert "Besides: scikit-learn's tree is right 2.1 times" in models_text(rows, 0.01, 9)


def document_cost_words(
    best: float,
    threshold: float | None,
    *,
    given: bool = True,
    decided=((25, 5), (25, 45)),
    untuned: float = 0.55,
) -> dict:
    classes = [{"label": "bad", "count": 30.0}, {"label": "good", "count": 70.0}]
    quality = {
        "cost_given": given,
        "cost": [[0, 5], [1, 0]],
        "confusion": [[12, 18], [10, 60]],
        "positive": 0,
        "decision": {
            "threshold": threshold,
            "cost_a_row": best,
            "confusion": [list(line) for line in decided],
        },
        "measures": [{"name": "decided_cost", "value": untuned}],
    }
    return {"data": {"classes": classes}, "tree": {"n_leaves": 9}, "quality": quality}


def test_without_costs_nothing_is_said():
    assert costs_sentence(document_cost_words(0.2, 0.5, given=False)) is None


def test_the_best_threshold_is_named_beside_what_it_beats():
    tone, text = costs_sentence(document_cost_words(0.5, 0.25))
    assert tone == "good"
    assert "say bad where its probability is 25.0 % or more: a mean cost of 0.5 a row" in text
    assert "against 1 when the most probable class is named" in text  # (18 * 5 + 10) / 100
    assert "0.7 when bad is always said" in text  # 70 good rows at 1; always good is 1.5


def test_a_threshold_that_was_chosen_is_told_from_the_one_that_costs_imply():
    told = "0.5 a row, chosen on these rows (0.55 at 16.7 %, the threshold that the costs imply)"
    assert told in costs_sentence(document_cost_words(0.5, 0.25))[1]  # 1 / (1 + 5)
    assert "chosen" not in costs_sentence(document_cost_words(0.5, 0.25, untuned=0.5004))[1]


@pytest.mark.parametrize("best", [0.6999, 0.7, 0.71])
def test_where_no_threshold_pays_it_says_so(best):
    tone, text = costs_sentence(document_cost_words(best, 0.0))
    assert tone == "bad"
    assert (
        "nothing is cheaper on these rows than always saying bad: a mean cost of 0.7 a row" in text
    )


def test_more_classes_are_decided_by_expected_cost():
    text = costs_sentence(document_cost_words(0.6, None))[1]
    assert "the class of least expected cost: a mean cost of 0.6 a row" in text


def test_the_costs_are_said_once_in_words():
    text = costs_sentence(document_cost_words(0.5, 0.25))[1]
    assert text.startswith("At your costs (a bad called good costs 5, a good called bad 1), say")
    gains = document_cost_words(0.5, 0.25)
    gains["quality"]["cost"] = [[-2, 5], [1, 0]]
    gains["quality"]["decision"]["cost_a_row"] = -0.4
    text = costs_sentence(gains)[1]
    assert "a good called bad 1 and a bad called bad -2)" in text
    assert text.endswith("A cost below 0 is counted as a gain.")


def test_a_decision_that_calls_nearly_all_rows_one_class_is_told():
    tone, text = costs_sentence(document_cost_words(0.65, 0.02, decided=((30, 0), (66, 4))))
    assert tone == "warn"
    assert text.endswith("That calls 96.0 % of the rows bad.")
    assert "That calls" not in costs_sentence(document_cost_words(0.65, 0.02))[1]


def test_a_tree_of_one_leaf_has_no_threshold_to_decide_by():
    found = document_cost_words(0.5, 0.25)
    found["tree"]["n_leaves"] = 1
    tone, text = costs_sentence(found)
    assert tone == "bad"
    assert "always say bad, a mean cost of 0.7 a row: this tree tells no row" in text
