"""The paragraph for the paper: every number is one of the document."""

import re

import numpy as np
import pytest

from sureleaf.report import make_report
from sureleaf.report.sections.paper import signed


@pytest.fixture(scope="module", params=["two classes", "three classes"])
def document(request, small_budget):
    rng = np.random.default_rng(0)
    x = rng.random((150, 3))
    x[:7, 1] = np.nan
    score = 2.0 * (x[:, 0] > 0.5) + rng.normal(0, 0.8, 150)
    y = np.digitize(score, [1.0] if request.param == "two classes" else [0.7, 1.9])
    return make_report(x, np.array(["a", "b", "c"])[y], seed=0).to_dict()


def test_the_paragraph_has_no_other_numbers(document):
    paper = document["paper"]
    rest = paper["text"]
    for reference in paper["references"]:
        assert reference["citation"] in rest
        rest = rest.replace(reference["citation"], "")
    for number in paper["numbers"]:  # in their order, each once
        before, found, after = rest.partition(number["text"])
        assert found, number
        rest = before + after
    labels = {one["label"] for one in document["data"]["classes"]}
    assert not re.findall(r"\d", rest), rest
    assert all(label in rest for label in labels)


def test_the_paragraph_answers_the_four_items(document):
    text = document["paper"]["text"]
    for words in ("The sample has", "cross-validation", "Accuracy on unseen rows was", "TRIPOD+AI"):
        assert words in text
    assert "alibration" in text


def test_the_paragraph_says_how_many_values_were_missing_and_what_became_of_them(document):
    assert document["data"]["missing_cells"] == 7
    assert (
        "Missing values: 7; none was imputed, and each test of the tree sends rows without the"
        in (document["paper"]["text"])
    )


def test_the_paragraph_has_slope_and_intercept_of_calibration_with_their_intervals(document):
    text, curve = document["paper"]["text"], document["quality"]["calibration"]
    for name in ("slope", "intercept"):
        low = signed(curve[name]["low"])
        assert f"alibration {name} was {signed(curve[name]['value'])} (95 % inter" in text
        assert f"interval {low} to" in text
