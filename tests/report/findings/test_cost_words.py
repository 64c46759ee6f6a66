"""What costs make of the tree is said with the numbers that follow from the document."""

import pytest

from sureleaf.report.findings.cost_words import costs_sentence


def document(
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
    assert costs_sentence(document(0.2, 0.5, given=False)) is None


def test_the_best_threshold_is_named_beside_what_it_beats():
    tone, text = costs_sentence(document(0.5, 0.25))
    assert tone == "good"
    assert "say bad where its probability is 25.0 % or more: a mean cost of 0.5 a row" in text
    assert "against 1 when the most probable class is named" in text  # (18 * 5 + 10) / 100
    assert "0.7 when bad is always said" in text  # 70 good rows at 1; always good is 1.5


def test_a_threshold_that_was_chosen_is_told_from_the_one_that_costs_imply():
    told = "0.5 a row, chosen on these rows (0.55 at 16.7 %, the threshold that the costs imply)"
    assert told in costs_sentence(document(0.5, 0.25))[1]  # 1 / (1 + 5)
    assert "chosen" not in costs_sentence(document(0.5, 0.25, untuned=0.5004))[1]


@pytest.mark.parametrize("best", [0.6999, 0.7, 0.71])
def test_where_no_threshold_pays_it_says_so(best):
    tone, text = costs_sentence(document(best, 0.0))
    assert tone == "bad"
    assert (
        "nothing is cheaper on these rows than always saying bad: a mean cost of 0.7 a row" in text
    )


def test_more_classes_are_decided_by_expected_cost():
    text = costs_sentence(document(0.6, None))[1]
    assert "the class of least expected cost: a mean cost of 0.6 a row" in text


def test_the_costs_are_said_once_in_words():
    text = costs_sentence(document(0.5, 0.25))[1]
    assert text.startswith("At your costs (a bad called good costs 5, a good called bad 1), say")
    gains = document(0.5, 0.25)
    gains["quality"]["cost"] = [[-2, 5], [1, 0]]
    gains["quality"]["decision"]["cost_a_row"] = -0.4
    text = costs_sentence(gains)[1]
    assert "a good called bad 1 and a bad called bad -2)" in text
    assert text.endswith("A cost below 0 is counted as a gain.")


def test_a_decision_that_calls_nearly_all_rows_one_class_is_told():
    tone, text = costs_sentence(document(0.65, 0.02, decided=((30, 0), (66, 4))))
    assert tone == "warn"
    assert text.endswith("That calls 96.0 % of the rows bad.")
    assert "That calls" not in costs_sentence(document(0.65, 0.02))[1]


def test_a_tree_of_one_leaf_has_no_threshold_to_decide_by():
    found = document(0.5, 0.25)
    found["tree"]["n_leaves"] = 1
    tone, text = costs_sentence(found)
    assert tone == "bad"
    assert "always say bad, a mean cost of 0.7 a row: this tree tells no row" in text
