"""A row's way through the tree, and its probabilities, are those of Python."""

import random
from typing import Any

import numpy as np
import pytest

from tests.browser.conftest import Show
from tests.report.document_check import UNSEEN, walk
from tests.report.page_documents import document


def reached(tree: Any, row: list[float | None]) -> tuple[dict[int, float], list[float]]:
    """Where the row ends, with which share, and the probabilities of its classes."""
    shares = walk(tree, row)
    stated = [np.multiply(tree["nodes"][k]["probabilities"], part) for k, part in shares.items()]
    return shares, np.sum(stated, axis=0).tolist()


@pytest.mark.parametrize("unseen", ["mixture", "stop"])
@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_paths_and_probabilities_are_those_of_the_rules(show, unseen, missing) -> None:
    made = document(n_leaves=30, labels=["a", "b", "c"], unseen=unseen, missing=missing)
    tree, draw = made["tree"], random.Random(2)
    thresholds = [node["threshold"] for node in tree["nodes"] if node["threshold"] is not None]
    rows: list[list[float | None]] = [
        [
            draw.choice([None, draw.uniform(0, 100), draw.choice(thresholds)]),
            draw.choice([None, 0, 1, 2, UNSEEN]),
            draw.choice([None, draw.uniform(15000, 20000)]),
            draw.choice([None, 0, 1, 2]),
        ]
        for _ in range(60)
    ]
    page = show(made)
    answers = page.evaluate(
        "rows => rows.map(row => { const found = Sureleaf.rowPath(row); return "
        "{ends: found.ends, probabilities: found.probabilities, prediction: found.prediction} })",
        rows,
    )
    for row, answer in zip(rows, answers, strict=True):
        expected, mixed = reached(tree, row)
        found = {end["id"]: end["share"] for end in answer["ends"]}
        assert found == pytest.approx(expected, abs=1e-12)
        assert answer["probabilities"] == pytest.approx(mixed, abs=1e-12)
        assert answer["prediction"] == mixed.index(max(mixed))


def test_an_example_and_typed_values_are_followed_and_nonsense_is_said(show: Show) -> None:
    made = document(n_leaves=12)
    tree = made["tree"]
    labels = [one["label"] for one in made["data"]["classes"]]
    page = show(made)
    page.locator("#row-path summary").click()

    def told(values: list[float | None]) -> None:
        nodes, share = reached(tree, values)
        assert page.locator("#row-prediction").inner_text() == labels[share.index(max(share))]
        stated = page.locator("#row-result [data-probability]").first.get_attribute(
            "data-probability"
        )
        assert float(stated) == pytest.approx(max(share), abs=1e-12)
        marked = page.locator("#tree-view .leaf.on-path").evaluate_all(
            "all => all.map(one => Number(one.dataset.node))"
        )
        assert sorted(marked) == sorted(nodes)

    page.select_option("#row-chooser", "1")
    told(tree["example_rows"][1]["codes"])
    fields = page.locator("#row-form label:not(.choose) :is(input, select)")
    fields.nth(0).fill("42.5")
    fields.nth(1).select_option("other")
    fields.nth(2).fill("2019-07-01")
    told([42.5, UNSEEN, 18078.0, None])
    assert page.input_value("#row-chooser") == ""
    fields.nth(0).fill("forty")
    assert "age" in page.locator("#row-result").inner_text()
    assert fields.nth(0).get_attribute("aria-invalid") == "true"


def test_rules_and_labels_say_where_missing_values_go(show: Show) -> None:
    made = document(n_leaves=40, missing="branch")
    nodes = made["tree"]["nodes"]
    page = show(made)
    rules = page.evaluate(
        "Sureleaf.report.tree.nodes.filter(node => !node.children.length)"
        ".map(node => Sureleaf.treeParts.ruleOf(node.id))"
    )
    assert rules == [node["rule"] for node in nodes if not node["children"]]
    assert any("or missing)" in rule for rule in rules)
    labels = page.evaluate(
        "Sureleaf.report.tree.nodes.slice(1).map(node => Sureleaf.treeParts.edgeLabel(node))"
    )
    for node, label in zip(nodes[1:], labels, strict=True):
        assert label.endswith(" or missing") == node["edge"].endswith(" or missing")
        assert (label == "missing") == node["edge"].endswith(" is missing")
        assert (label == "known") == node["edge"].endswith(" is known")


def test_only_what_divides_a_row_is_named(show: Show) -> None:
    page = show(document(n_leaves=30, missing="branch"))
    new = page.evaluate(f"Sureleaf.rowPath([null, {UNSEEN}, null, null]).reasons")
    assert new == ["new"]
    assert page.evaluate("Sureleaf.rowPath([null, null, null, null]).ends.length") == 1
    page = show(document(n_leaves=30))
    assert page.evaluate("Sureleaf.rowPath([null, 0, null, null]).reasons") == ["missing"]


def test_a_tree_that_refuses_new_categories_says_so(show: Show) -> None:
    page = show(document(n_leaves=30, unseen="error"))
    refused = page.evaluate(f"Sureleaf.rowPath([null, {UNSEEN}, null, null]).refused")
    assert refused == 1


def test_the_flag_of_the_leaf_where_a_row_ends_is_shown(show: Show) -> None:
    made = document(n_leaves=2)
    tree = made["tree"]
    weak, sure = (node for node in tree["nodes"] if not node["children"])
    weak |= {"flagged": True, "confidence": 0.836}
    sure |= {"flagged": False, "confidence": 0.99}
    page = show(made)
    page.locator("#row-path summary").click()
    assert page.locator("#row-chooser option").nth(1).inner_text().startswith("row 1 ")
    column = tree["nodes"][0]["column"]
    field = page.locator("#row-form label:not(.choose) :is(input, select)").nth(column)
    threshold = tree["nodes"][0]["threshold"]
    field.fill(str(threshold))
    assert page.locator("#row-result .flag").count() == 1
    assert page.locator("#row-warning").inner_text() == (
        f"Leaf {weak['id']} is flagged: confidence 83.6\u00a0% is below the wanted 95\u00a0%."
    )
    field.fill(str(threshold + 1))
    assert page.locator("#row-result .flag, #row-warning").count() == 0
    field.fill("")
    assert page.locator("#row-warning").inner_text().startswith("1 of these 2 leaves or nodes")
