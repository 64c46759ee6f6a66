"""Sentences say what the numbers say."""

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from sureleaf.report.estimates import IntervalEstimate
from sureleaf.report.sections.answer import answer_section, costs_sentence, leaves_sentence
from sureleaf.report.sections.error import RowsForGain, rows_text
from sureleaf.report.sections.models import models_text, verdict_text
from tests.report.tables import mixed, noise, quick_report

Document = dict[str, Any]


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
    assert headline == (
        "This tree is expected to predict “class” correctly for 72.1 % of unseen rows "
        "(95 % interval 68.4 to 75.7)."
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


def test_the_one_leaf_of_a_tree_is_not_called_each() -> None:
    leaf = {"id": 0, "parent": None, "column": None, "n": 40.0, "flagged": False}
    wanted = {"confidence": 0.95, "utility": None}
    text = leaves_sentence(record({"nodes": [leaf], "wanted": wanted}), [])[1]
    assert text.startswith("The only leaf reaches the wanted level: the probability that")


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
        (0.01, 0.02, 0.03, "More rows of the same kind would help"),
        (-0.01, 0.01, 0.03, "It is not clear whether more rows of the same kind would help"),
        (-0.002, 0.001, 0.006, "More rows of the same kind would hardly help"),
    ],
)
def test_more_rows_help_only_as_far_as_the_interval_says(
    low: float, value: float, high: float, start: str
) -> None:
    gain = IntervalEstimate(value=value, low=low, high=high, level=0.95, method="")
    more_rows = RowsForGain(0.8, None, 300, None)
    assert rows_text(gain, more_rows, 100, 0.01).startswith(start)


@pytest.mark.parametrize(
    ("verdict", "low", "high", "short", "bagged"),
    [
        (
            "equivalent",
            -0.005,
            0.005,
            "is as accurate, within 1 percentage",
            "One tree is enough",
        ),
        ("better", 0.02, 0.04, "Prefer it", "Prefer them"),
        ("worse", -0.04, -0.02, "is not enough", "One tree is enough"),
        ("undecided", -0.02, 0.04, "do not show whether", "do not show whether"),
        ("undecided", 0.002, 0.04, "Prefer it", "Prefer them"),
    ],
)
def test_a_model_is_preferred_only_where_the_interval_prefers_it(
    verdict: str, low: float, high: float, short: str, bagged: str
) -> None:
    found = {"verdict": verdict, "low": low, "high": high, "difference": (low + high) / 2}
    rows = [{"name": name, "comparison": found} for name in ("short tree", "bagged trees")]
    simpler, larger = models_text(record(rows), 0.01, 9).split(" Larger: ")
    assert short in simpler
    assert bagged in larger


def test_the_table_and_the_sentence_say_the_same_of_a_gap_that_may_be_small() -> None:
    found = {"verdict": "undecided", "low": 0.007, "high": 0.076, "difference": 0.041}
    perhaps = "but perhaps by less than 1 percentage point"
    rows = record([{"name": "bagged trees", "comparison": found}])
    assert f"(0.7 to 7.6: better, {perhaps})" in models_text(rows, 0.01, 9)
    assert verdict_text("undecided", 0.007, 0.076, 0.01) == f"better, {perhaps}"
    assert verdict_text("undecided", -0.076, -0.007, 0.01) == f"worse, {perhaps}"
    assert verdict_text("better", 0.02, 0.04, 0.01) == "better by more than 1 percentage point"


def test_a_simple_tree_is_not_told_to_be_simpler() -> None:
    found = {"verdict": "undecided", "low": -0.02, "high": 0.04, "difference": 0.01}
    rows = record([{"name": "short tree", "comparison": found}])
    assert "already simple (at most 2 tests per row)" in models_text(rows, 0.01, 2)
    assert "already simple (no tests)" in models_text(rows, 0.01, 0)


def test_any_other_model_that_is_surely_better_is_named() -> None:
    found = {"verdict": "undecided", "low": 0.002, "high": 0.04, "difference": 0.021}
    rows = record([{"name": "scikit-learn's tree", "comparison": found}])
    text = models_text(rows, 0.01, 9)
    assert "Also: scikit-learn's tree is more accurate by 2.1 percentage points" in text


def costs(
    best: float,
    threshold: float | None,
    *,
    decided: Any = ((25, 5), (25, 45)),
    untuned: float = 0.55,
    cost: Any = ((0, 5), (1, 0)),
    n_leaves: int = 9,
) -> tuple[str, str]:
    classes = [{"label": "bad", "count": 30.0}, {"label": "good", "count": 70.0}]
    quality = {
        "cost": cost,
        "confusion": [[12, 18], [10, 60]],
        "positive": 0,
        "decision": {"threshold": threshold, "cost_per_row": best, "confusion": decided},
        "measures": [{"name": "decided_cost", "value": untuned}],
    }
    return costs_sentence(record(quality), record(classes), n_leaves)


def test_the_best_threshold_is_named_beside_what_it_beats() -> None:
    tone, text = costs(0.5, 0.25)
    assert tone == "good"
    assert "predict bad if its probability is at least 25.0 %: mean cost 0.5 per row" in text
    assert "Predicting the most probable class costs 1 per row" in text  # (18 * 5 + 10) / 100
    assert "always predicting bad costs 0.7" in text  # 70 good rows at 1; always good is 1.5


def test_a_tuned_threshold_is_distinguished_from_the_one_that_costs_imply() -> None:
    tuned = (
        "(this threshold was tuned on these rows; the one that the costs imply, 16.7 %, costs 0.55)"
    )
    assert tuned in costs(0.5, 0.25)[1]  # 1 / (1 + 5)
    assert "tuned" not in costs(0.5, 0.25, untuned=0.5004)[1]


@pytest.mark.parametrize("best", [0.6999, 0.7, 0.71])
def test_it_says_so_if_no_threshold_pays(best: float) -> None:
    tone, text = costs(best, 0.0)
    assert tone == "bad"
    assert "nothing is cheaper on these rows than always predicting bad: mean cost 0.7" in text


def test_more_classes_are_decided_by_expected_cost() -> None:
    assert "the class of least expected cost: mean cost 0.6 per row" in costs(0.6, None)[1]


def test_the_costs_are_said_once_in_words() -> None:
    text = costs(0.5, 0.25)[1]
    assert text.startswith(
        "At your costs (bad predicted as good costs 5 and good predicted as bad costs 1), predict"
    )
    text = costs(-0.4, 0.25, cost=((-2, 5), (1, 0)))[1]
    assert "good predicted as bad costs 1 and bad predicted as bad costs -2)" in text
    assert text.endswith("A cost below 0 is a gain.")


def test_a_decision_that_predicts_one_class_for_nearly_all_rows_is_told() -> None:
    tone, text = costs(0.65, 0.02, decided=((30, 0), (66, 4)))
    assert tone == "warn"
    assert text.endswith("Then 96.0 % of the rows are predicted bad.")
    assert "Then" not in costs(0.65, 0.02)[1]


def test_a_tree_of_one_leaf_has_no_threshold_to_decide_by() -> None:
    tone, text = costs(0.5, 0.25, n_leaves=1)
    assert tone == "bad"
    assert "always predict bad: mean cost 0.7 per row. This tree does not distinguish" in text
