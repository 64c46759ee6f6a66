"""What costs make of the tree is said with the numbers that follow from the document."""

import pytest

from sureleaf.report.findings.cost_words import costs_sentence


def document(best: float, threshold: float | None, *, given: bool = True) -> dict:
    classes = [{"label": "bad", "count": 30.0}, {"label": "good", "count": 70.0}]
    quality = {
        "cost_given": given,
        "cost": [[0, 5], [1, 0]],
        "confusion": [[12, 18], [10, 60]],
        "positive": 0,
        "decision": {"threshold": threshold, "cost_a_row": best},
    }
    return {"data": {"classes": classes}, "quality": quality}


def test_without_costs_nothing_is_said():
    assert costs_sentence(document(0.2, 0.5, given=False)) is None


def test_the_best_threshold_is_named_beside_what_it_beats():
    tone, text = costs_sentence(document(0.5, 0.25))
    assert tone == "good"
    assert "say bad where its probability is 25.0 % or more: 0.5 a row" in text
    assert "against 1 for the most probable class" in text  # (18 * 5 + 10) / 100
    assert "0.7 for always saying bad" in text  # 70 good rows at 1; always good is 1.5


@pytest.mark.parametrize("best", [0.7, 0.71])
def test_where_no_threshold_pays_it_says_so(best):
    tone, text = costs_sentence(document(best, 0.0))
    assert tone == "bad"
    assert "nothing is cheaper on these rows than always saying bad: 0.7 a row" in text


def test_more_classes_are_decided_by_expected_cost():
    assert "the class of least expected cost: 0.6 a row" in costs_sentence(document(0.6, None))[1]
